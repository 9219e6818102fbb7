/* dwell attach: records the stacks of a program that runs already. */
#include <stdlib.h>
#include <unistd.h>

#include "attach/attach.h"
#include "cli/cli.h"
#include "import/import.h"

static int attach_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct dw_attach_request *request = context;
	unsigned long number;
	char *end;

	switch (option->id) {
	case DW_OPTION_OUTPUT: request->output = value; return 0;
	case DW_OPTION_FOR: return dw_parse_time("for", value, 1, &request->for_ms) ? 0 : -1;
	case DW_OPTION_SAMPLE:
		number = strtoul(value, &end, 10);
		request->hz = (unsigned)number;
		if (*value >= '1' && *value <= '9' && !*end && number <= 1000)
			return 0;
		dw_say("--sample %s: give a number from 1 to 1000", value);
		return -1;
	default: return 0;
	}
}

int dw_cmd_attach(const struct dw_verb *verb, int argc, char **argv)
{
	struct dw_attach_request request = { .hz = DW_ATTACH_HZ };
	size_t operands = dw_options_take(verb, argc, argv, attach_take_option, &request);
	char trace[4096], what[DW_FORM_TEXT] = "", *end;
	bool let_go;
	int status;

	request.pid = operands == 1 ? (uint32_t)strtoul(argv[0], &end, 10) : 0;
	if (!request.pid || *end) {
		if (operands)
			dw_form_of_path(argv[0], what);
		dw_say("dwell attach needs the number of one process: dwell attach PID%s%s%s%s", *what ? "; " : "", *what ? argv[0] : "",
		       *what ? ": " : "", what);
		return DW_EXIT_USAGE;
	}
	if (request.pid == (uint32_t)getpid()) {
		dw_say("process %u is this dwell", request.pid);
		return DW_EXIT_USAGE;
	}
	status = dw_attach(&request, trace, &let_go);
	if (status)
		return status;
	/* The report takes a while; the end of this process lets threads go that still stop late. */
	if (let_go)
		dw_report_after_run(trace);
	else
		dw_say("dwell report %s shows the trace", trace);
	return 0;
}
