/* dwell stacks: prints once what all threads of processes and of their descendants are doing. */
#include <unistd.h>

#include "base/grow.h"
#include "cli/cli.h"
#include "import/import.h"

#include "program/process_library.h"
#include "say/output.h"
#include "top/deadlock.h"
#include "top/stacks.h"
#include "top/top.h"

/* Functions of process.h, in a library of their own. */
static struct {
	int (*read)(struct dw_process *process, uint32_t pid, struct dwell_error *error);
	void (*reset)(struct dw_process *process);
} stacks_process;

struct stacks_request {
	const struct dw_renderer *renderer;
	const char *output;
	bool all;
	FILE *first;           /* where deadlocks are said: before all stacks */
	struct dwell_print_options print;
	struct dw_top_insides insides;
	uint32_t *pids;        /* those of the command line */
	size_t count;
	size_t done;           /* processes that could be read */
	uint32_t *read;        /* processes that were tried */
	size_t read_count, read_capacity;
};

static int stacks_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct stacks_request *request = context;

	switch (option->id) {
	case DW_OPTION_OUTPUT: request->output = value; return 0;
	case DW_OPTION_ALL: request->all = true; return 0;
	case DW_OPTION_FORMAT: return dw_take_renderer(&request->renderer, value);
	default: return 0;
	}
}

/* Loads the library. False after an error message. */
static bool stacks_load(void)
{
	void *library = dw_process_library("reading stacks");

	if (!library)
		return false;
	*(void **)&stacks_process.read = dw_process_function(library, dw_process_read);
	*(void **)&stacks_process.reset = dw_process_function(library, dw_process_reset);
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

/* Prints the process or adds it to the table. */
static void stacks_read_process(struct stacks_request *request, uint32_t pid, struct dwell_table *table, FILE *file,
                                int *status)
{
	struct dw_process process;
	struct dwell_error error = { 0, "" };
	char text[2000];
	int code = stacks_process.read(&process, pid, &error);

	dw_top_insides_name(&request->insides, &process);
	if (code) {
		*status = dw_say_error(&error, code);
	} else if (table) {
		dw_top_stacks_add(table, &process, &request->insides);
	} else {
		for (size_t from = 0; dw_top_deadlock(&process, &from, text, sizeof text);)
			fprintf(request->first, "%s\n", text);
		fputs(request->done ? "\n" : "", file);
		dw_top_stacks_print(&process, &request->insides, request->all, file);
	}
	request->done += code == 0;
	stacks_process.reset(&process);
}

static bool stacks_was_read(const struct stacks_request *request, uint32_t pid)
{
	for (size_t i = 0; i < request->read_count; i++)
		if (request->read[i] == pid)
			return true;
	return false;
}

/* The process and its descendants, each once however many operands it belongs to. */
static void stacks_read(struct stacks_request *request, uint32_t pid, struct dwell_table *table, FILE *file, int *status)
{
	struct dwell_error error = { 0, "" };
	uint32_t *pids, *to;
	size_t count;
	int code = dw_top_find_processes(pid, &pids, &count, &error);

	if (code) {
		*status = dw_say_error(&error, code);
		return;
	}
	stacks_read_insides(request, pid);
	for (size_t i = 0; i < count; i++) {
		if (pids[i] == (uint32_t)getpid() || stacks_was_read(request, pids[i]))
			continue;
		to = DW_GROW(&request->read, &request->read_capacity, request->read_count);
		if (to) {
			*to = pids[i];
			request->read_count++;
		}
		stacks_read_process(request, pids[i], table, file, status);
	}
	dw_top_insides_reset(&request->insides);
	free(pids);
}

static int stacks_print(struct stacks_request *request, FILE *file)
{
	bool text = request->renderer == dw_renderer_at(0);
	struct dwell_table *table = text ? NULL : dw_top_stacks_table();
	char *stacks = NULL;
	size_t size = 0;
	int status = 0;
	FILE *body;

	if (!text && !table) {
		dw_say("out of memory");
		return DW_EXIT_BAD_INPUT;
	}
	body = open_memstream(&stacks, &size);
	request->first = file;
	/* Processes that ended meanwhile do not matter if there are others. */
	for (size_t i = 0; body && i < request->count; i++)
		stacks_read(request, request->pids[i], table, body, &status);
	if (body && fclose(body) == 0)
		fwrite(stacks, 1, size, file);
	free(stacks);
	if (request->done)
		status = 0;
	if (table && !status)
		status = dw_output_tables(file, request->renderer, &table, 1, &request->print);
	dw_table_destroy(table);
	return dw_output_left(file) ? DW_EXIT_PIPE : status;
}

/* False after an error message. */
static bool stacks_take_pids(struct stacks_request *request, char **words, size_t count)
{
	char what[DW_FORM_TEXT] = "";

	request->pids = calloc(count + 1, sizeof *request->pids);
	for (size_t i = 0; request->pids && i < count; i++) {
		char *end;

		request->pids[i] = (uint32_t)strtoul(words[i], &end, 10);
		if (request->pids[i] && !*end)
			request->count++;
	}
	if (count && request->count == count)
		return true;
	if (count)
		dw_form_of_path(words[0], what);
	dw_say("dwell stacks needs the numbers of processes: dwell stacks PID...%s%s%s%s", *what ? "; " : "", *what ? words[0] : "",
	       *what ? ": " : "", what);
	return false;
}

int dw_cmd_stacks(const struct dw_verb *verb, int argc, char **argv)
{
	struct stacks_request request = { .renderer = dw_renderer_at(0), .print.size = sizeof request.print };
	size_t operands = dw_options_take(verb, argc, argv, stacks_take_option, &request);
	struct dw_output output;
	int status = DW_EXIT_USAGE;

	if (stacks_take_pids(&request, argv, operands))
		status = stacks_load() ? 0 : DW_EXIT_BAD_INPUT;
	if (!status && !request.output)
		dw_terminal(STDOUT_FILENO, &request.print);
	if (!status)
		status = dw_output_open(&output, request.output);
	if (!status)
		status = dw_output_close(&output, stacks_print(&request, output.file));
	free(request.pids);
	free(request.read);
	return status;
}
