/* dwell ranks: compares the ranks of a job, from traces or summaries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/ranks_mpi.h"
#include "cli/summaries.h"
#include "ranks/ranks.h"
#include "render/render.h"

struct ranks_request {
	const struct dw_renderer *renderer; /* NULL: the picture */
	const char *output;
	bool mpi;
	struct dwell_print_options print;
};

static int ranks_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct ranks_request *request = context;
	struct dwell_error error = { 0, "" };

	if (option->id == DW_OPTION_OUTPUT) {
		request->output = value;
		return 0;
	}
	if (option->id == DW_OPTION_MPI)
		request->mpi = true;
	if (option->id != DW_OPTION_FORMAT)
		return 0;
	request->renderer = strcmp(value, "svg") == 0 ? NULL : dw_renderer_find(value, &error);
	if (error.code)
		dw_say_error(&error, error.code);
	return error.code ? -1 : 0;
}

static int ranks_print(const struct ranks_request *request, const struct dw_ranks *ranks, FILE *file)
{
	struct dwell_error error = { 0, "" };
	struct dwell_table *table;
	int code;

	if (!request->renderer) {
		dw_ranks_picture(ranks, file);
		return 0;
	}
	table = dw_ranks_table(ranks);
	if (!table) {
		dw_say("no memory for the comparison");
		return DW_EXIT_BAD_INPUT;
	}
	code = dw_render(request->renderer, (const struct dwell_table *const *)&table, 1, file, &request->print, &error);
	dw_table_destroy(table);
	if (code && dw_output_left(file))
		return DW_EXIT_PIPE;
	return code ? dw_say_error(&error, code) : 0;
}

static int ranks_compare(const struct ranks_request *request, struct dw_summary *summary)
{
	struct dwell_error error = { 0, "" };
	struct dw_output output;
	struct dw_ranks ranks;
	int status;

	if (!dw_ranks_compare(&ranks, summary, &error)) {
		dw_ranks_reset(&ranks);
		return dw_say_error(&error, error.code);
	}
	status = dw_output_open(&output, request->output);
	if (!status)
		status = dw_output_close(&output, ranks_print(request, &ranks, output.file));
	dw_ranks_reset(&ranks);
	return status;
}

/* Reads the files. *first: this process has the result. */
static int ranks_read(const struct ranks_request *request, struct dw_summary *summary, char **paths,
                      size_t count, bool *first)
{
	*first = true;
	if (request->mpi)
		return dw_ranks_read_mpi(summary, paths, count, first);
	return dw_summaries_read_parallel(summary, paths, count);
}

int dw_cmd_ranks(const struct dw_verb *verb, int argc, char **argv)
{
	struct ranks_request request = { .renderer = dw_renderer_at(0),
		                             .print.size = sizeof request.print };
	struct dw_summary summary = { .ranks = NULL };
	bool done, first;
	int operands, status;

	operands = dw_options_parse(verb, argc, argv, false, ranks_take_option, &request, &done);
	if (done)
		return 0;
	if (operands < 0)
		return DW_EXIT_USAGE;
	if (!operands) {
		dw_say("no files are given: dwell ranks TRACE|SUMMARY...");
		return DW_EXIT_USAGE;
	}
	if (!request.output)
		dw_terminal(STDOUT_FILENO, &request.print);
	status = ranks_read(&request, &summary, argv, (size_t)operands, &first);
	if (!status && first)
		status = ranks_compare(&request, &summary);
	dw_summary_reset(&summary);
	return status;
}
