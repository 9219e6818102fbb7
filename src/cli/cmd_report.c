/* dwell report: views of traces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "render/render.h"
#include "trace/trace.h"

#define MOST_VIEWS 32

struct request {
	const char *views[MOST_VIEWS];
	size_t view_count;
	const char *output;
	struct dwell_scope scope;
	struct dwell_view_options view;
	const char *layout;
	const char *header;
	unsigned widths[3]; /* of names, shapes, sources */
	bool has_verbosity, has_skip_iteration;
	uint64_t verbosity;
	struct dwell_print_options print;
};

static int parse_limit(const char *value, size_t *limit)
{
	char *end;

	if (strcmp(value, "all") == 0) {
		*limit = SIZE_MAX;
		return 0;
	}
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || number == 0) {
		dw_say("--limit takes a number of rows, at least 1, or all; not '%s'", value);
		return -1;
	}
	*limit = (size_t)number;
	return 0;
}

/* "name=40,shapes=120" */
static int parse_widths(const char *value, unsigned widths[3])
{
	static const char *const names[] = { "name=", "shapes=", "source=" };
	const char *at = value;

	while (*at) {
		unsigned long number = 0;
		size_t i = 0;
		char *end = NULL;

		while (i < 3 && strncmp(at, names[i], strlen(names[i])) != 0)
			i++;
		if (i < 3)
			number = strtoul(at + strlen(names[i]), &end, 10);
		if (i == 3 || number < 4 || number > 100000 || (*end && *end != ',')) {
			dw_say("--widths takes name=N,shapes=N,source=N, each at least 4; not '%s'", value);
			return -1;
		}
		widths[i] = (unsigned)number;
		at = end + (*end == ',');
	}
	return 0;
}

/* A number from 0 to `most`. */
static int parse_number(const char *name, const char *value, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end && !errno && *number <= most)
		return 0;
	if (most == UINT64_MAX)
		dw_say("--%s takes a number, 0 or more; not '%s'", name, value);
	else
		dw_say("--%s takes a number from 0 to %llu; not '%s'", name, (unsigned long long)most, value);
	return -1;
}

static int parse_unit(const char *value, const char **unit)
{
	static const char *const units[] = { "s", "ms", "us", "ns" };

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(value, units[i]) == 0) {
			*unit = units[i];
			return 0;
		}
	dw_say("--time-unit takes s, ms, us or ns, not '%s'", value);
	return -1;
}

static int take(void *context, enum dw_option_id id, const char *value)
{
	struct request *request = context;

	switch (id) {
	case DW_OPTION_VIEW:
		if (request->view_count == MOST_VIEWS) {
			dw_say("more than %d views at once", MOST_VIEWS);
			return -1;
		}
		request->views[request->view_count++] = value;
		return 0;
	case DW_OPTION_FORMAT: request->print.format = value; return 0;
	case DW_OPTION_SORT: request->view.sort = value; return 0;
	case DW_OPTION_LIMIT: return parse_limit(value, &request->view.limit);
	case DW_OPTION_GROUP_BY: request->view.group_by = value; return 0;
	case DW_OPTION_TOP_LEVEL: request->view.top_level = true; return 0;
	case DW_OPTION_ENGINE: request->view.engine = value; return 0;
	case DW_OPTION_EVENTS: request->view.events = true; return 0;
	case DW_OPTION_PATHS: request->view.paths = value; return 0;
	case DW_OPTION_LEAVES: request->view.leaves = true; return 0;
	case DW_OPTION_PER_CALL: request->view.per_call = true; return 0;
	case DW_OPTION_TIME_UNIT: return parse_unit(value, &request->print.time_unit);
	case DW_OPTION_LAYOUT: request->layout = value; return 0;
	case DW_OPTION_WIDTHS: return parse_widths(value, request->widths);
	case DW_OPTION_VERBOSITY:
		request->has_verbosity = true;
		return parse_number("verbosity", value, 3, &request->verbosity);
	case DW_OPTION_SKIP_ITERATION:
		request->has_skip_iteration = true;
		return parse_number("skip-iteration", value, UINT64_MAX, &request->view.skip_iteration);
	case DW_OPTION_HEADER: request->header = value; return 0;
	case DW_OPTION_OUTPUT: request->output = value; return 0;
	default: return dw_take_scope(&request->scope, id, value);
	}
}

/* Prints what another profiler would have printed, instead of views. */
static int run_layout(const struct request *request, struct dwell_trace *trace, FILE *file)
{
	struct dwell_layout_options options = { .size = sizeof options,
		.sort = request->view.sort, .has_limit = request->view.limit > 0,
		.limit = request->view.limit, .group_by = request->view.group_by,
		.top_level = request->view.top_level, .header = request->header,
		.time_unit = request->print.time_unit, .engine = request->view.engine,
		.name_width = request->widths[0], .shapes_width = request->widths[1],
		.source_width = request->widths[2], .has_verbosity = request->has_verbosity,
		.verbosity = (unsigned)request->verbosity,
		.has_skip_iteration = request->has_skip_iteration,
		.skip_iteration = request->view.skip_iteration,
		.events = request->view.events, .paths = request->view.paths };
	struct dwell_error error = { 0, "" };
	int code = dwell_trace_layout(trace, request->layout, &options, file, &error);

	dw_say_progress(NULL);
	if (!code && error.message[0])
		dw_say("%s", error.message);
	if (code && dw_output_left(file))
		return DW_EXIT_PIPE;
	return code ? dw_say_error(&error, code) : 0;
}

/* Names are checked before a large trace is read. */
static bool known_names(const struct request *request)
{
	struct dwell_error error;
	struct dwell_table *table;
	int code = 0;

	for (size_t v = 0; v < request->view_count && !code; v++)
		code = dwell_trace_view(NULL, request->views[v], &request->view, &table, &error);
	if (!code && request->layout)
		code = dwell_trace_layout(NULL, request->layout, NULL, NULL, &error);
	if (code)
		dw_say_error(&error, code);
	return code == 0;
}

static bool known_format(const struct request *request)
{
	struct dwell_error error;
	FILE *nowhere = fopen("/dev/null", "w");
	int code = nowhere ? dwell_table_print(NULL, 0, nowhere, &request->print, &error) : 0;

	if (nowhere)
		fclose(nowhere);
	if (code)
		dw_say_error(&error, code);
	return code == 0;
}

/* `dwell report operators` deserves a better answer than ENOENT. */
static bool is_slip(const char *path)
{
	const char *name;

	if (access(path, F_OK) == 0)
		return false;
	for (size_t i = 0; (name = dwell_view_name(i, NULL)); i++)
		if (strcmp(name, path) == 0) {
			dw_say("no trace '%s'; did you mean '--view %s'?", path, path);
			return true;
		}
	return false;
}

/* CSV has no place for losses and coverage: they go to stderr. */
static void say_missing(const struct request *request, const struct dwell_table *table)
{
	if (!request->print.format || strcmp(request->print.format, "csv") != 0)
		return;
	for (size_t i = 0; i < table->loss_count; i++)
		dw_say("lost: %s records: %s", dw_text_count((int64_t)table->losses[i].records).at,
		       table->losses[i].why);
	if (table->coverage < 0.9995)
		dw_say("recorded: %s of this time", dw_text_percent(table->coverage).at);
}

/* Formats for programs have all rows, those for people the first ones. */
static size_t own_limit(const struct request *request)
{
	const struct dw_renderer *renderer =
	    request->print.format ? dw_renderer_find(request->print.format, NULL) : NULL;

	return renderer && !renderer->for_people ? SIZE_MAX : 0;
}

static int run_views(const struct request *request, struct dwell_trace *trace, FILE *file)
{
	struct dwell_table *tables[MOST_VIEWS] = { NULL };
	struct dwell_error error = { 0, "" };
	int code = 0, status = 0;
	size_t done = 0;

	for (; done < request->view_count && !code; done++)
		code = dwell_trace_view(trace, request->views[done], &request->view, &tables[done], &error);
	dw_say_progress(NULL);
	if (!code) {
		say_missing(request, tables[0]);
		code = dwell_table_print((const struct dwell_table *const *)tables, request->view_count, file,
		                         &request->print, &error);
		if (code && dw_output_left(file))
			status = DW_EXIT_PIPE;
	}
	if (code && !status)
		status = dw_say_error(&error, code);
	for (size_t i = 0; i < done; i++)
		dwell_table_destroy(tables[i]);
	return status;
}

static int report(const struct request *request, char **paths, size_t count)
{
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;
	struct dw_output output;
	int status;

	for (size_t i = 0; i < count; i++)
		if (is_slip(paths[i]))
			return DW_EXIT_USAGE;
	dw_say_progress(paths[0]);
	int code = dwell_trace_open(&trace, (const char *const *)paths, count, &request->scope, &error);
	if (code) {
		dw_say_progress(NULL);
		return dw_say_error(&error, code);
	}
	dw_say_state(trace);
	status = dw_output_open(&output, request->output);
	if (!status) {
		status = request->layout ? run_layout(request, trace, output.file)
		                         : run_views(request, trace, output.file);
		status = dw_output_close(&output, status);
	}
	dwell_trace_close(trace);
	return status;
}

int dw_cmd_report(const struct dw_verb *verb, int argc, char **argv)
{
	struct request request = { .scope.size = sizeof request.scope,
		                       .view.size = sizeof request.view,
		                       .print.size = sizeof request.print };
	char newest[4096], *paths[1] = { newest };
	bool done;

	int operands = dw_options_parse(verb, argc, argv, false, take, &request, &done);
	if (done)
		return 0;
	if (operands < 0)
		return DW_EXIT_USAGE;
	if (!request.view_count)
		request.views[request.view_count++] = "overview";
	if (!known_names(&request) || !known_format(&request))
		return DW_EXIT_USAGE;
	if (!request.view.limit)
		request.view.limit = own_limit(&request);
	if (!request.output)
		dw_terminal(STDOUT_FILENO, &request.print);
	if (operands)
		return report(&request, argv, (size_t)operands);
	if (!dw_newest_trace(newest, sizeof newest))
		return DW_EXIT_BAD_INPUT;
	return report(&request, paths, 1);
}

void dw_report_after_run(const char *path)
{
	struct dwell_print_options print = { .size = sizeof print };
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;
	struct dwell_table *table;
	struct stat status;

	fputc('\n', stderr);
	dw_say("%s, %s", path,
	       dw_text_bytes(stat(path, &status) == 0 ? (double)status.st_size : 0, " ").at);
	fputc('\n', stderr);
	int code = dwell_trace_open(&trace, &path, 1, NULL, &error);
	if (code) {
		dw_say_error(&error, code);
		return;
	}
	dw_say_state(trace);
	code = dwell_trace_view(trace, "overview", NULL, &table, &error);
	if (code) {
		dw_say_error(&error, code);
	} else {
		dw_terminal(STDERR_FILENO, &print);
		dwell_table_print((const struct dwell_table *const *)&table, 1, stderr, &print, &error);
		dwell_table_destroy(table);
	}
	dwell_trace_close(trace);
}
