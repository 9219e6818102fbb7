/* dwell report: prints views of traces. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "layouts/layouts.h"
#include "page/report.h"
#include "report_summary/report_summary.h"
#include "say/output.h"
#include "trace/trace.h"
#include "views/views.h"

#define MOST_VIEWS 32

struct report_request {
	const struct dw_view *views[MOST_VIEWS];
	size_t view_count;
	const struct dw_layout *layout; /* printed instead of views; NULL: none */
	struct dw_layout_request layout_request;
	const struct dw_renderer *renderer;
	bool page;          /* the whole HTML report instead of views */
	bool summary;       /* the summary instead of views */
	const char *output;
	struct dwell_scope scope;
	struct dwell_view_options options;
	struct dwell_print_options print;
};

/* Names are looked up here, so that a wrong name is reported before a large trace is read. */
static int report_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct report_request *request = context;
	struct dwell_error error = { 0, "" };
	bool found;

	switch (option->id) {
	case DW_OPTION_VIEW:
		if (request->view_count == MOST_VIEWS) {
			dw_say("more than %d views at once", MOST_VIEWS);
			return -1;
		}
		found = (request->views[request->view_count++] = dw_view_find(value, &error));
		break;
	case DW_OPTION_LAYOUT:
		found = (request->layout = dw_layout_find(value, &request->layout_request.version, &error));
		break;
	case DW_OPTION_FORMAT: return dw_take_renderer(&request->renderer, value);
	case DW_OPTION_OUTPUT: request->output = value; return 0;
	case DW_OPTION_SUMMARY: request->summary = true; return 0;
	case DW_OPTION_VIEW_FIELD: return dw_option_set_field(&request->options, option, value);
	default: return dw_take_scope(&request->scope, option, value);
	}
	if (!found)
		dw_say_error(&error, error.code);
	return found ? 0 : -1;
}

/* A summary has two forms and holds what it holds: an option that could change nothing is an error. */
static int report_check_summary(const struct report_request *request)
{
	const char *option = dw_view_option_name(dw_view_options_given(&request->options));

	if (request->layout || request->view_count)
		dw_say("--summary and --%s: a summary is printed instead of views and layouts",
		       request->layout ? "layout" : "view");
	else if (option)
		dw_say("--summary takes no --%s, which is for views and layouts", option);
	else if (strcmp(request->renderer->name, "json") != 0 && strcmp(request->renderer->name, "md") != 0)
		dw_say("--summary has two formats: --format json for programs, --format md for people");
	else
		return 0;
	return -1;
}

/* Checks and sets what depends on several options. */
static int report_finish_options(struct report_request *request)
{
	struct dwell_error error = { 0, "" };
	int code = request->layout ? dw_layout_check(&request->options, &error) : 0;
	uint64_t given = dw_view_options_given(&request->options), wrong = given & dw_view_options_for_views();

	if (code) {
		dw_say_error(&error, code);
		return -1;
	}
	if (request->layout && request->view_count) {
		dw_say("--layout and --view: one of them");
		return -1;
	}
	if (request->layout && wrong) {
		dw_say("the layout %s has no --%s, which is for views", request->layout->name, dw_view_option_name(wrong));
		return -1;
	}
	if (request->summary && report_check_summary(request))
		return -1;
	request->page = !request->view_count && !request->layout && strcmp(request->renderer->name, "html") == 0;
	if (request->page && given) {
		dw_say("the page of --format html has no --%s; with --view NAME, html is a table", dw_view_option_name(given));
		return -1;
	}
	if (!request->view_count)
		request->views[request->view_count++] = dw_view_find("overview", &error);
	/* CSV and JSON contain all rows; text, Markdown and HTML contain the first ones. */
	if (!request->options.limit && !request->layout && !request->renderer->is_scaled)
		request->options.limit = SIZE_MAX;
	if (!request->output)
		dw_terminal(STDOUT_FILENO, &request->print);
	request->print.time_unit = request->options.time_unit;
	request->layout_request.options = &request->options;
	return 0;
}

static int report_layout(const struct report_request *request, struct dwell_trace *trace, FILE *file)
{
	struct dwell_error error = { 0, "" };
	int code = dw_layout_run(request->layout, dw_trace_model(trace), &request->layout_request, file, &error);

	dw_say_progress(NULL);
	if (!code && error.message[0])
		dw_say("%s", error.message);
	return dw_output_status(file, code, &error);
}

static int report_summary(const struct report_request *request, struct dwell_trace *trace, FILE *file)
{
	struct dwell_error error = { 0, "" };
	int code = dw_report_summary(dw_trace_model(trace), request->renderer->name, file, &error);

	dw_say_progress(NULL);
	return dw_output_status(file, code, &error);
}

/* Whether the operand is the name of a view: in `dwell report operators` the user has forgotten
 * --view. */
static bool report_is_slip(const char *path)
{
	const struct dw_view *view;

	if (access(path, F_OK) == 0)
		return false;
	for (size_t i = 0; (view = dw_view_at(i)); i++)
		if (strcmp(view->name, path) == 0) {
			dw_say("no trace '%s'; did you mean '--view %s'?", path, path);
			return true;
		}
	return false;
}

/* CSV cannot contain losses and coverage, so they are printed to stderr. */
static void report_say_missing(const struct report_request *request, const struct dwell_table *table)
{
	if (strcmp(request->renderer->name, "csv") != 0)
		return;
	for (size_t i = 0; i < table->loss_count; i++)
		dw_say("lost: %s records: %s", dw_text_count((int64_t)table->losses[i].records).at, table->losses[i].why);
	if (table->coverage < 0.9995)
		dw_say("recorded: %s of this time", dw_text_percent(table->coverage).at);
}

static int report_views(const struct report_request *request, struct dwell_trace *trace, FILE *file)
{
	struct dwell_table *tables[MOST_VIEWS] = { NULL };
	struct dwell_error error = { 0, "" };
	int code = 0, status = 0;
	size_t done = 0;

	for (; done < request->view_count && !code; done++)
		code = dw_view_run(request->views[done], dw_trace_model(trace), &request->options, &tables[done], &error);
	dw_say_progress(NULL);
	if (!code) {
		report_say_missing(request, tables[0]);
		status = dw_output_tables(file, request->renderer, tables, request->view_count, &request->print);
	} else {
		status = dw_say_error(&error, code);
	}
	for (size_t i = 0; i < done; i++)
		dw_table_destroy(tables[i]);
	return status;
}

/* The page has more parts than a view, and is written by another kind of output. */
static int report_page(const struct report_request *request, struct dwell_trace *trace)
{
	const char *path = dw_output_path(request->output);
	struct dwell_error error = { 0, "" };
	struct dw_writer_out out;
	int code;

	if (!path && isatty(STDOUT_FILENO)) {
		dw_say_progress(NULL);
		dw_say("a page of HTML is not for a terminal: add -o report.html");
		return DW_EXIT_USAGE;
	}
	code = dw_out_open(&out, path, &error);
	if (code)
		return dw_say_error(&error, code);
	code = dw_page_report(dw_trace_model(trace), &out, &error);
	dw_say_progress(NULL);
	return dw_output_close_page(&out, code, &error);
}

static int report_traces(const struct report_request *request, const char *const *paths, size_t count)
{
	struct dwell_trace *trace;
	struct dw_output output;
	int status;

	for (size_t i = 0; i < count; i++)
		if (report_is_slip(paths[i]))
			return DW_EXIT_USAGE;
	status = dw_open_traces(&trace, paths, count, &request->scope);
	if (status)
		return status;
	if (request->page) {
		status = report_page(request, trace);
		dwell_trace_close(trace);
		return status;
	}
	status = dw_output_open(&output, request->output);
	if (!status) {
		status = request->summary  ? report_summary(request, trace, output.file)
		         : request->layout ? report_layout(request, trace, output.file)
		                           : report_views(request, trace, output.file);
		status = dw_output_close(&output, status);
	}
	dwell_trace_close(trace);
	return status;
}

int dw_cmd_report(const struct dw_verb *verb, int argc, char **argv)
{
	struct report_request request = { .scope.size = sizeof request.scope,
		                              .options.size = sizeof request.options,
		                              .print.size = sizeof request.print,
		                              .renderer = dw_renderer_at(0) };
	size_t operands = dw_options_take(verb, argc, argv, report_take_option, &request);
	const char *newest;

	if (report_finish_options(&request))
		return DW_EXIT_USAGE;
	if (operands)
		return report_traces(&request, (const char *const *)argv, operands);
	newest = dw_newest_trace();
	return newest ? report_traces(&request, &newest, 1) : DW_EXIT_BAD_INPUT;
}

void dw_report_after_run(const char *path)
{
	struct dwell_view_options options = { .size = sizeof options };
	struct dwell_print_options print = { .size = sizeof print };
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;
	struct dwell_table *table;
	struct stat status;

	fputc('\n', stderr);
	dw_say("%s, %s", path, dw_text_bytes(stat(path, &status) == 0 ? (double)status.st_size : 0, " ").at);
	fputc('\n', stderr);
	int code = dwell_trace_open(&trace, &path, 1, NULL, &error);
	if (code) {
		dw_say_error(&error, code);
		return;
	}
	dw_say_state(trace);
	code = dw_view_run(dw_view_find("overview", NULL), dw_trace_model(trace), &options, &table, &error);
	if (code) {
		dw_say_error(&error, code);
	} else {
		dw_terminal(STDERR_FILENO, &print);
		dw_render(dw_renderer_at(0), (const struct dwell_table *const *)&table, 1, stderr, &print, &error);
		dw_table_destroy(table);
	}
	dwell_trace_close(trace);
}
