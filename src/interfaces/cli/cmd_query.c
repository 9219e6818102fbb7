/* dwell query: answers a question in SQL about a trace. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "query/query.h"
#include "render/render.h"
#include "trace/trace.h"

struct query_request {
	const struct dw_renderer *renderer;
	const char *output;
	struct dwell_print_options print;
};

static int query_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct query_request *request = context;
	struct dwell_error error = { 0, "" };

	if (option->id == DW_OPTION_OUTPUT)
		request->output = value;
	if (option->id != DW_OPTION_FORMAT)
		return 0;
	request->renderer = dw_renderer_find(value, &error);
	if (!request->renderer)
		dw_say_error(&error, error.code);
	return request->renderer ? 0 : -1;
}

static int query_print(const struct query_request *request, const struct dwell_table *table)
{
	struct dwell_error error = { 0, "" };
	struct dw_output output;
	int code, status = dw_output_open(&output, request->output);

	if (status)
		return status;
	code = dw_render(request->renderer, &table, 1, output.file, &request->print, &error);
	if (code)
		status = dw_output_left(output.file) ? DW_EXIT_PIPE : dw_say_error(&error, code);
	return dw_output_close(&output, status);
}

#define QUERY_QUIET_S 5u /* most answers take less; a statement may also run without end */

static char query_running[120];

static void query_say_running(int number)
{
	ssize_t written = write(STDERR_FILENO, query_running, strlen(query_running));

	(void)number;
	(void)written;
}

/* From now on, says once that the query still runs, if it takes long. 0 s: no longer. */
static void query_watch(unsigned seconds)
{
	struct sigaction action = { .sa_handler = query_say_running, .sa_flags = SA_RESTART };

	snprintf(query_running, sizeof query_running,
	         "dwell: the query still runs after %u s; Ctrl-C or 'kill %d' ends it\n", seconds, (int)getpid());
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	alarm(seconds);
}

/* Ctrl-C ends the command as usual: nothing is written before the answer is complete. */
static int query_trace(const struct query_request *request, const char *path, const char *sql)
{
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;
	struct dwell_table *table = NULL;
	int status, code = dwell_trace_open(&trace, &path, 1, NULL, &error);

	if (code)
		return dw_say_error(&error, code);
	dw_say_state(trace);
	query_watch(QUERY_QUIET_S);
	code = dw_query_run(dw_trace_model(trace), sql, &table, &error);
	query_watch(0);
	status = code ? dw_say_error(&error, code) : query_print(request, table);
	dw_table_destroy(table);
	dwell_trace_close(trace);
	return status;
}

int dw_cmd_query(const struct dw_verb *verb, int argc, char **argv)
{
	struct query_request request = { .renderer = dw_renderer_at(0), .print.size = sizeof request.print };
	char newest[4096];
	bool done;
	int operands = dw_options_parse(verb, argc, argv, false, query_take_option, &request, &done);

	if (done)
		return 0;
	if (operands < 0)
		return DW_EXIT_USAGE;
	if (operands < 1 || operands > 2) {
		dw_say("give a trace and one statement in quotes: dwell query TRACE 'select ...'; '.schema' lists tables");
		return DW_EXIT_USAGE;
	}
	if (!request.output)
		dw_terminal(STDOUT_FILENO, &request.print);
	if (operands == 2)
		return query_trace(&request, argv[0], argv[1]);
	return dw_newest_trace(newest, sizeof newest) ? query_trace(&request, newest, argv[0]) : DW_EXIT_BAD_INPUT;
}
