/* dwell ranks: compares the ranks of a job, from traces or summaries. */
#include <unistd.h>

#include "cli/cli.h"
#include "job/ranks_mpi.h"
#include "job/summaries.h"
#include "ranks/ranks.h"
#include "say/output.h"

struct ranks_request {
	const struct dw_renderer *renderer; /* NULL: the picture */
	const char *output;
	bool mpi;
	struct dwell_print_options print;
};

static int ranks_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct ranks_request *request = context;

	if (option->id == DW_OPTION_OUTPUT)
		request->output = value;
	if (option->id == DW_OPTION_MPI)
		request->mpi = true;
	if (option->id == DW_OPTION_FORMAT && strcmp(value, "svg") != 0)
		return dw_take_renderer(&request->renderer, value);
	if (option->id == DW_OPTION_FORMAT)
		request->renderer = NULL;
	return 0;
}

static int ranks_print(const struct ranks_request *request, const struct dw_ranks *ranks, FILE *file)
{
	struct dwell_table *table;
	int status;

	if (!request->renderer) {
		dw_ranks_picture(ranks, file);
		return 0;
	}
	table = dw_ranks_table(ranks);
	if (!table) {
		dw_say("no memory for the comparison");
		return DW_EXIT_BAD_INPUT;
	}
	status = dw_output_tables(file, request->renderer, &table, 1, &request->print);
	dw_table_destroy(table);
	return status;
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

int dw_cmd_ranks(const struct dw_verb *verb, int argc, char **argv)
{
	struct ranks_request request = { .renderer = dw_renderer_at(0),
		                             .print.size = sizeof request.print };
	struct dw_summary summary = { .ranks = NULL };
	size_t operands = dw_options_take(verb, argc, argv, ranks_take_option, &request);
	bool first = true; /* this process has the result */
	int status;

	if (!operands) {
		dw_say("no files are given: dwell ranks TRACE|SUMMARY...");
		return DW_EXIT_USAGE;
	}
	if (!request.output)
		dw_terminal(STDOUT_FILENO, &request.print);
	status = request.mpi ? dw_ranks_read_mpi(&summary, argv, operands, &first)
	                     : dw_summaries_read_parallel(&summary, argv, operands);
	if (!status && first)
		status = ranks_compare(&request, &summary);
	dw_summary_reset(&summary);
	return status;
}
