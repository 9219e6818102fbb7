/* dwell query: answers a question in SQL about a trace. */
#include <unistd.h>

#include "cli/cli.h"
#include "query/query.h"
#include "say/output.h"
#include "trace/trace.h"

struct query_request {
	const struct dw_renderer *renderer;
	const char *output;
	uint64_t most_ms;
	struct dwell_print_options print;
};

static int query_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct query_request *request = context;

	if (option->id == DW_OPTION_OUTPUT)
		request->output = value;
	if (option->id == DW_OPTION_FOR)
		return dw_parse_time("for", value, 1, &request->most_ms) ? 0 : -1;
	return option->id == DW_OPTION_FORMAT ? dw_take_renderer(&request->renderer, value) : 0;
}

static int query_print(const struct query_request *request, struct dwell_table *table)
{
	struct dw_output output;
	int status = dw_output_open(&output, request->output);

	if (status)
		return status;
	return dw_output_close(&output, dw_output_tables(output.file, request->renderer, &table, 1, &request->print));
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
	code = dw_query_run(dw_trace_model(trace), sql, request->most_ms, &table, &error);
	status = code ? dw_say_error(&error, code) : query_print(request, table);
	dw_table_destroy(table);
	dwell_trace_close(trace);
	return status;
}

int dw_cmd_query(const struct dw_verb *verb, int argc, char **argv)
{
	struct query_request request = { .renderer = dw_renderer_at(0), .most_ms = DW_QUERY_MS, .print.size = sizeof request.print };
	size_t operands = dw_options_take(verb, argc, argv, query_take_option, &request);
	const char *path;

	if (operands < 1 || operands > 2) {
		dw_say("give a trace and one statement in quotes: dwell query TRACE 'select ...'; '.schema' lists tables");
		return DW_EXIT_USAGE;
	}
	if (!request.output)
		dw_terminal(STDOUT_FILENO, &request.print);
	path = operands == 2 ? argv[0] : dw_newest_trace();
	return path ? query_trace(&request, path, argv[operands - 1]) : DW_EXIT_BAD_INPUT;
}
