/* dwell diff: compares runs before and after a change. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "page/comparison.h"
#include "say/output.h"
#include "trace/trace.h"

#define DIFF_MOST_RUNS 1000
#define DIFF_OPERATORS 15 /* in text and Markdown; data formats have all */

struct diff_request {
	const struct dw_renderer *renderer; /* NULL: the picture or the page */
	bool page;
	const char *output;
	double fail_on; /* a ratio; negative: not given */
	unsigned accepted;
	enum dw_diff_by by;
	struct dwell_scope scope;
	struct dwell_print_options print;
};

/* Parses "5%", "2.5%" or "5". */
static bool diff_parse_percent(const char *text, double *ratio)
{
	char *end;
	double value = strtod(text, &end);

	*ratio = value / 100;
	if (end != text && (!*end || strcmp(end, "%") == 0) && value >= 0 && value <= 1000)
		return true;
	dw_say("--fail-on takes a percentage of 0%% or more, as 5%%; not '%s'", text);
	return false;
}

/* Writes "machine, versions, ...". */
static void diff_list_reasons(char *text, size_t size)
{
	size_t length = 0;

	for (unsigned reason = 0; reason < DW_DIFF_REASON_COUNT && length < size; reason++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", reason ? ", " : "",
		                           dw_diff_reason_name((enum dw_diff_reason)reason));
}

/* Parses "machine,versions". */
static bool diff_parse_reasons(const char *text, unsigned *accepted)
{
	char all[256];

	for (const char *at = text; *at; ) {
		size_t length = strcspn(at, ",");
		unsigned reason = 0;

		while (reason < DW_DIFF_REASON_COUNT && (strlen(dw_diff_reason_name((enum dw_diff_reason)reason)) != length ||
		                                         strncmp(dw_diff_reason_name((enum dw_diff_reason)reason), at, length) != 0))
			reason++;
		if (reason == DW_DIFF_REASON_COUNT) {
			diff_list_reasons(all, sizeof all);
			dw_say("--accept takes a list of %s; not '%.*s'", all, (int)length, at);
			return false;
		}
		*accepted |= 1u << reason;
		at += length + (at[length] == ',');
	}
	return true;
}

static int diff_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct diff_request *request = context;

	switch (option->id) {
	case DW_OPTION_OUTPUT: request->output = value; return 0;
	case DW_OPTION_FAIL_ON: return diff_parse_percent(value, &request->fail_on) ? 0 : -1;
	case DW_OPTION_ACCEPT: return diff_parse_reasons(value, &request->accepted) ? 0 : -1;
	case DW_OPTION_BY:
		request->by = strcmp(value, "fast") == 0 ? DW_DIFF_BY_FAST : DW_DIFF_BY_PACE;
		return 0;
	case DW_OPTION_FORMAT:
		request->page = strcmp(value, "html") == 0;
		request->renderer = NULL;
		return request->page || strcmp(value, "svg") == 0 ? 0 : dw_take_renderer(&request->renderer, value);
	default: return dw_take_scope(&request->scope, option, value);
	}
}

/* ---- operands ---------------------------------------------------------------------------------- */

struct diff_operands {
	char **paths[DW_DIFF_SIDES];
	int counts[DW_DIFF_SIDES];
};

/* Options may be on both sides of "--". Without it there are two operands, one a side. False after an error message. */
static bool diff_parse(const struct dw_verb *verb, int argc, char **argv,
                      struct diff_request *request, struct diff_operands *operands)
{
	int middle = 0;

	while (middle < argc && strcmp(argv[middle], "--") != 0)
		middle++;
	operands->paths[0] = argv;
	operands->counts[0] = (int)dw_options_take(verb, middle, argv, diff_take_option, request);
	if (middle == argc) {
		if (operands->counts[0] != 2) {
			if (operands->counts[0] < 2)
				dw_say("%s trace is given, and a comparison needs two: dwell diff BEFORE... -- AFTER...",
				       operands->counts[0] ? "one" : "no");
			else
				dw_say("%d traces are given and no '--' between those before and those after a change: "
				       "dwell diff BEFORE... -- AFTER...", operands->counts[0]);
			return false;
		}
		operands->paths[1] = argv + 1;
		operands->counts[0] = operands->counts[1] = 1;
		return true;
	}
	operands->paths[1] = argv + middle + 1;
	operands->counts[1] = (int)dw_options_take(verb, argc - middle - 1, argv + middle + 1, diff_take_option, request);
	if (operands->counts[0] && operands->counts[1])
		return true;
	dw_say("no trace is given %s '--': dwell diff BEFORE... -- AFTER...", operands->counts[0] ? "after" : "before");
	return false;
}

/* A run counts once: a trace that is given twice would make the runs seem to vary less. */
static bool diff_check_twice(const struct diff_operands *operands)
{
	int all = operands->counts[0] + operands->counts[1], count = 0;
	struct stat *seen = calloc((size_t)all, sizeof *seen);
	bool good = seen != NULL;

	for (int i = 0; good && i < all; i++) {
		const char *path = i < operands->counts[0] ? operands->paths[0][i]
		                                           : operands->paths[1][i - operands->counts[0]];

		if (stat(path, &seen[count]) != 0)
			continue;
		for (int other = 0; good && other < count; other++)
			good = seen[other].st_ino != seen[count].st_ino || seen[other].st_dev != seen[count].st_dev;
		if (!good)
			dw_say("%s is given twice: each run counts once", path);
		count++;
	}
	free(seen);
	return good;
}

/* ---- the comparison -------------------------------------------------------------------------- */

static int diff_add_trace(const struct diff_request *request, struct dw_diff *diff, unsigned side, const char *path)
{
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;
	int code;

	dw_say_progress(path);
	code = dwell_trace_open(&trace, &path, 1, &request->scope, &error);
	if (!code) {
		code = dw_diff_add(diff, side, path, dw_trace_model(trace), &error);
		if (!code && !request->renderer)
			code = dw_diff_add_paths(diff, side, dw_trace_model(trace), &error);
		if (!code && request->page)
			code = dw_diff_add_environment(diff, side, dw_trace_model(trace), &error);
		dw_say_progress(NULL);
		dw_say_state(trace);
		dwell_trace_close(trace);
	}
	dw_say_progress(NULL);
	return code ? dw_say_error(&error, code) : 0;
}

static int diff_print(const struct diff_request *request, struct dw_diff *diff, struct dwell_table *table, FILE *file)
{
	struct dwell_error error = { 0, "" };
	int code;

	if (!request->renderer) {
		code = dw_page_comparison_flame(diff, dw_render_put, file, &error);
		return code ? dw_say_error(&error, code) : 0;
	}
	for (struct dwell_table *part = table; part && request->renderer->is_scaled; part = part->next)
		if (strcmp(part->part, "operators") == 0 || strcmp(part->part, "functions") == 0)
			dw_table_limit(part, DIFF_OPERATORS);
	return dw_output_tables(file, request->renderer, &table, 1, &request->print);
}

/* The page has more than the tables, and is written by another kind of output. */
static int diff_write_page(const struct diff_request *request, struct dw_diff *diff)
{
	struct dwell_error error = { 0, "" };
	struct dw_writer_out out;
	int code = dw_out_open(&out, dw_output_path(request->output), &error);

	if (code)
		return dw_say_error(&error, code);
	code = dw_page_comparison(diff, &out, &error);
	return dw_output_close_page(&out, code, &error);
}

/* The exit status with --fail-on. */
static int diff_status(const struct diff_request *request, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *by = dw_diff_deciding(diff);
	double change = by->difference / by->before;
	/* A change of this size, or of a larger one, could be missed. */
	double detectable = (diff->by == DW_DIFF_BY_FAST ? by->high : by->detectable) / by->before;

	if (request->fail_on < 0)
		return 0;
	if (diff->verdict == DW_DIFF_NOT_COMPARABLE)
		return DW_EXIT_NOT_COMPARABLE;
	if (diff->verdict == DW_DIFF_SLOWER && change >= request->fail_on)
		return DW_EXIT_SLOWER;
	if ((diff->verdict == DW_DIFF_NONE || diff->verdict == DW_DIFF_NOT_PROVEN) && detectable > request->fail_on)
		dw_say("runs that vary like these may hide a change of %.3g%%: --fail-on %.3g%% needs more runs, "
		       "or a quieter machine", 100 * request->fail_on, 100 * request->fail_on);
	return 0;
}

static int diff_compare(const struct diff_request *request, struct dw_diff *diff)
{
	struct dw_output output;
	struct dwell_table *table = dw_diff_compare(diff) ? dw_diff_table(diff) : NULL;
	int status;

	if (!table) {
		dw_say("out of memory for the comparison");
		return DW_EXIT_BAD_INPUT;
	}
	if (request->page) {
		dw_table_destroy(table);
		status = diff_write_page(request, diff);
		return status ? status : diff_status(request, diff);
	}
	status = dw_output_open(&output, request->output);
	if (!status)
		status = dw_output_close(&output, diff_print(request, diff, table, output.file));
	dw_table_destroy(table);
	return status ? status : diff_status(request, diff);
}

int dw_cmd_diff(const struct dw_verb *verb, int argc, char **argv)
{
	struct diff_request request = { .renderer = dw_renderer_at(0), .fail_on = -1,
		                            .scope.size = sizeof request.scope,
		                            .print.size = sizeof request.print };
	struct dw_diff diff = { .accepted = 0 };
	struct diff_operands operands;
	int status = 0;

	if (!diff_parse(verb, argc, argv, &request, &operands))
		return DW_EXIT_USAGE;
	if (operands.counts[0] + operands.counts[1] > DIFF_MOST_RUNS) {
		dw_say("more than %d traces", DIFF_MOST_RUNS);
		return DW_EXIT_USAGE;
	}
	if (request.fail_on >= 0 && operands.counts[0] + operands.counts[1] < 3) {
		dw_say("--fail-on needs several runs a side: two runs of one program differ too");
		return DW_EXIT_USAGE;
	}
	if (request.by == DW_DIFF_BY_FAST && !dw_diff_can_permute((size_t)operands.counts[0], (size_t)operands.counts[1])) {
		dw_say("--by fast needs at least 4 runs a side: fewer cannot be divided in enough other ways");
		return DW_EXIT_USAGE;
	}
	if (!diff_check_twice(&operands))
		return DW_EXIT_USAGE;
	if (request.page && !dw_output_path(request.output) && isatty(STDOUT_FILENO)) {
		dw_say("a page of HTML is not for a terminal: add -o diff.html");
		return DW_EXIT_USAGE;
	}
	if (!request.output)
		dw_terminal(STDOUT_FILENO, &request.print);
	diff.accepted = request.accepted;
	diff.by = request.by;
	diff.asks_slower = request.fail_on >= 0;
	diff.asked = request.fail_on;
	for (unsigned side = 0; side < DW_DIFF_SIDES; side++)
		for (int i = 0; i < operands.counts[side] && !status; i++)
			status = diff_add_trace(&request, &diff, side, operands.paths[side][i]);
	if (!status)
		status = diff_compare(&request, &diff);
	dw_diff_reset(&diff);
	return status;
}
