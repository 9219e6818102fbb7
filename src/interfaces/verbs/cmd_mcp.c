/* dwell mcp: answers agents, by the Model Context Protocol. */
#include <unistd.h>

#include "agents/mcp.h"
#include "cli/cli.h"

static int mcp_take_option(void *context, const struct dw_option *option, const char *value)
{
	return 0;
}

int dw_cmd_mcp(const struct dw_verb *verb, int argc, char **argv)
{
	if (dw_options_take(verb, argc, argv, mcp_take_option, NULL)) {
		dw_say("mcp takes no traces: agents name them in their calls");
		return DW_EXIT_USAGE;
	}
	if (isatty(STDIN_FILENO))
		dw_say("an agent's program starts this command and talks to it over standard input: see dwell mcp --help");
	return dw_mcp_serve(stdin, STDOUT_FILENO);
}
