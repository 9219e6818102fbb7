/* dwell watch: says when a running job hangs, loses a rank, or becomes slow. */
#include <string.h>

#include "cli/cli.h"
#include "job/watch_job.h"

static int watch_take_command(struct dw_watch_request *request, const char *value)
{
	const char *command = strchr(value, '=');

	for (unsigned kind = 0; command && command[1] && kind < DW_WATCH_KINDS; kind++) {
		const char *name = dw_watch_kind_name((enum dw_watch_kind)kind);

		if (strncmp(value, name, (size_t)(command - value)) != 0 || name[command - value])
			continue;
		if (request->command_count == DW_WATCH_COMMANDS) {
			dw_say("--on: at most %u commands", DW_WATCH_COMMANDS);
			return -1;
		}
		request->commands[request->command_count].kind = (enum dw_watch_kind)kind;
		request->commands[request->command_count++].command = command + 1;
		return 0;
	}
	dw_say("--on %s: give hang, lost, slow, memory or slower, then '=' and a command, as --on hang='dwell capture --stacks FOLDER'",
	       value);
	return -1;
}

static int watch_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct dw_watch_request *request = context;

	switch (option->id) {
	case DW_OPTION_EVERY: return dw_parse_time("every", value, 100, &request->every_ms) ? 0 : -1;
	case DW_OPTION_ONCE: request->once = true; return 0;
	case DW_OPTION_FORMAT: request->json = strcmp(value, "json") == 0; return 0;
	case DW_OPTION_MPI: request->has_mpi = true; return 0;
	case DW_OPTION_METRICS: request->metrics = value; return 0;
	case DW_OPTION_ON: return watch_take_command(request, value);
	case DW_OPTION_PORT: request->has_port = true; return dw_take_port(&request->port, value);
	default: return 0;
	}
}

int dw_cmd_watch(const struct dw_verb *verb, int argc, char **argv)
{
	struct dw_watch_request request = { .every_ms = DW_WATCH_EVERY_MS };

	request.path_count = dw_options_take(verb, argc, argv, watch_take_option, &request);
	request.paths = argv;
	if (request.path_count)
		return dw_watch_job(&request);
	dw_say("no files are given: dwell watch FOLDER|SUMMARY|TRACE...");
	return DW_EXIT_USAGE;
}
