/* dwell summarize: stores what the steps of traces took, in a file of bounded size. */

#include "cli/cli.h"
#include "job/summaries.h"
#include "rank/slow_steps.h"

struct summarize_request {
	const char *output;
	unsigned long long slow_since_ns, slow_bytes; /* slow_bytes 0: slow steps are not stored */
};

static int summarize_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct summarize_request *request = context;

	if (option->id == DW_OPTION_OUTPUT)
		request->output = value;
	if (option->id == DW_OPTION_SLOW_STEPS &&
	    sscanf(value, "%llu:%llu", &request->slow_since_ns, &request->slow_bytes) != 2) {
		dw_say("--slow-steps %s: give nanoseconds since 1970 and bytes, with a colon between", value);
		return -1;
	}
	return 0;
}

int dw_cmd_summarize(const struct dw_verb *verb, int argc, char **argv)
{
	struct dw_summary summary = { .ranks = NULL }, before = { .ranks = NULL };
	struct summarize_request request = { .output = NULL };
	size_t operands = dw_options_take(verb, argc, argv, summarize_take_option, &request);
	int status;

	if (!operands || !request.output) {
		dw_say(operands ? "no output is given: dwell summarize TRACE... -o FILE"
		                : "no trace is given: dwell summarize TRACE... -o FILE");
		return DW_EXIT_USAGE;
	}
	dw_source_leave_stacks_unnamed(); /* the summary of a run that goes on has no functions */
	status = request.slow_bytes ? dw_summaries_continue(&summary, argv[0], &before, request.output)
	                            : dw_summaries_read_parallel(&summary, argv, operands);
	if (!status && !summary.count) {
		dw_say("no process of %s%s has steps: there is nothing to summarize", argv[0],
		       operands > 1 ? " and the other files" : "");
		status = DW_EXIT_BAD_INPUT;
	}
	if (!status)
		status = dw_summaries_write(&summary, request.output);
	dw_summary_reset(&summary);
	dw_summary_reset(&before);
	if (!status && request.slow_bytes)
		dw_slow_steps_store(argv[0], request.slow_since_ns, request.slow_bytes);
	return status;
}
