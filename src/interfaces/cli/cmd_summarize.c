/* dwell summarize: stores what the steps of traces took, in a file of bounded size. */

#include "cli/cli.h"
#include "cli/summaries.h"

static int summarize_take_option(void *context, const struct dw_option *option, const char *value)
{
	if (option->id == DW_OPTION_OUTPUT)
		*(const char **)context = value;
	return 0;
}

int dw_cmd_summarize(const struct dw_verb *verb, int argc, char **argv)
{
	struct dw_summary summary = { .ranks = NULL };
	const char *output = NULL;
	bool done;
	int operands = dw_options_parse(verb, argc, argv, false, summarize_take_option, &output, &done);
	int status;

	if (done)
		return 0;
	if (operands < 0)
		return DW_EXIT_USAGE;
	if (!operands || !output) {
		dw_say(operands ? "no output is given: dwell summarize TRACE... -o FILE"
		                : "no trace is given: dwell summarize TRACE... -o FILE");
		return DW_EXIT_USAGE;
	}
	status = dw_summaries_read_parallel(&summary, argv, (size_t)operands);
	if (!status && !summary.count) {
		dw_say("no process of %s%s has steps: there is nothing to summarize", argv[0],
		       operands > 1 ? " and the other files" : "");
		status = DW_EXIT_BAD_INPUT;
	}
	if (!status)
		status = dw_summaries_write(&summary, output);
	dw_summary_reset(&summary);
	return status;
}
