/* dwell stacks: prints once what all threads of a process and of its descendants are doing. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#include "cli/output.h"
#include "cli/preload.h"
#include "render/render.h"
#include "top/stacks.h"
#include "top/top.h"

#define STACKS_LIBRARY "libdwell-process.so"

/* Functions of process.h, in a library of their own. */
static struct {
	int (*read)(struct dw_process *process, uint32_t pid, struct dwell_error *error);
	void (*reset)(struct dw_process *process);
} stacks_process;

struct stacks_request {
	const struct dw_renderer *renderer; /* NULL: text */
	const char *output;
	bool all;
	struct dwell_print_options print;
	struct dw_top_insides insides;
};

static int stacks_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct stacks_request *request = context;
	struct dwell_error error = { 0, "" };

	switch (option->id) {
	case DW_OPTION_OUTPUT: request->output = value; return 0;
	case DW_OPTION_ALL: request->all = true; return 0;
	case DW_OPTION_FORMAT:
		request->renderer = dw_renderer_find(value, &error);
		if (error.code)
			dw_say_error(&error, error.code);
		else if (request->renderer == dw_renderer_at(0))
			request->renderer = NULL;
		return error.code ? -1 : 0;
	default: return 0;
	}
}

/* Loads the library. False after an error message. */
static bool stacks_load(void)
{
	static const char *const places[] = { STACKS_LIBRARY, DW_PROBES_FROM_COMMAND "/" STACKS_LIBRARY };
	char path[4096];
	void *library;

	if (!dw_find_installed(places, path)) {
		dw_say("this dwell was built without elfutils, which reading stacks needs: install Debian's libdw-dev and build "
		       "again");
		return false;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library) {
		*(void **)&stacks_process.read = dlsym(library, "dw_process_read");
		*(void **)&stacks_process.reset = dlsym(library, "dw_process_reset");
	}
	if (!stacks_process.read || !stacks_process.reset)
		dw_say("stacks cannot be read: %s", dlerror());
	return stacks_process.read && stacks_process.reset;
}

/* A process without a trace has stacks all the same. */
static void stacks_read_insides(struct stacks_request *request, uint32_t pid)
{
	struct dwell_error error = { 0, "" };
	char trace[4096];

	if (dw_top_find(pid, trace, sizeof trace, &error) == 0 && dw_top_insides_read(&request->insides, trace, &error) != 0)
		dw_say("the steps of process %u are not known: %s", pid, error.message);
}

/* Prints the processes or adds them to the table. Returns how many could be read. */
static size_t stacks_read(struct stacks_request *request, const uint32_t *pids, size_t count, struct dwell_table *table,
                          FILE *file, int *status)
{
	size_t done = 0;

	for (size_t i = 0; i < count; i++) {
		struct dw_process process;
		struct dwell_error error = { 0, "" };
		int code;

		if (pids[i] == (uint32_t)getpid())
			continue;
		code = stacks_process.read(&process, pids[i], &error);
		if (code) {
			*status = dw_say_error(&error, code);
		} else if (table) {
			dw_top_stacks_add(table, &process, &request->insides);
		} else {
			fputs(done ? "\n" : "", file);
			dw_top_stacks_print(&process, &request->insides, request->all, file);
		}
		done += code == 0;
		stacks_process.reset(&process);
	}
	return done;
}

static int stacks_print(struct stacks_request *request, const uint32_t *pids, size_t count, FILE *file)
{
	struct dwell_table *table = request->renderer ? dw_top_stacks_table() : NULL;
	struct dwell_error error = { 0, "" };
	int status = 0, code = 0;

	if (request->renderer && !table) {
		dw_say("out of memory");
		return DW_EXIT_BAD_INPUT;
	}
	/* Processes that ended meanwhile do not matter if there are others. */
	if (stacks_read(request, pids, count, table, file, &status))
		status = 0;
	if (table && !status)
		code = dw_render(request->renderer, (const struct dwell_table *const *)&table, 1, file, &request->print, &error);
	if (table)
		dw_table_destroy(table);
	if (dw_output_left(file))
		return DW_EXIT_PIPE;
	return code ? dw_say_error(&error, code) : status;
}

int dw_cmd_stacks(const struct dw_verb *verb, int argc, char **argv)
{
	struct stacks_request request = { .print.size = sizeof request.print };
	struct dwell_error error = { 0, "" };
	struct dw_output output;
	uint32_t *pids, pid;
	size_t count;
	bool done;
	char *end;
	int operands = dw_options_parse(verb, argc, argv, false, stacks_take_option, &request, &done), status;

	if (done)
		return 0;
	if (operands < 0)
		return DW_EXIT_USAGE;
	pid = operands == 1 ? (uint32_t)strtoul(argv[0], &end, 10) : 0;
	if (!pid || *end) {
		dw_say("dwell stacks needs the number of one process: dwell stacks PID");
		return DW_EXIT_USAGE;
	}
	if (!stacks_load())
		return DW_EXIT_BAD_INPUT;
	status = dw_top_find_processes(pid, &pids, &count, &error);
	if (status)
		return dw_say_error(&error, status);
	stacks_read_insides(&request, pid);
	if (!request.output)
		dw_terminal(STDOUT_FILENO, &request.print);
	status = dw_output_open(&output, request.output);
	if (!status)
		status = dw_output_close(&output, stacks_print(&request, pids, count, output.file));
	dw_top_insides_reset(&request.insides);
	free(pids);
	return status;
}
