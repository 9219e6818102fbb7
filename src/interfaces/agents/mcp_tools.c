/* The tools, and a call of one; see mcp.h. */
#include "agents/mcp_tools.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agents/mcp_message.h"
#include "cli/cli.h"
#include "render/json_writer.h"
#include "render/render.h"
#include "say/output.h"

#define TOOLS_MOST_WORDS 128u
#define TOOLS_NOTES 1024u /* bytes of what a verb says besides its answer */

enum tools_kind { TOOLS_NONE, TOOLS_TEXT, TOOLS_NUMBER, TOOLS_LIST };

/* An argument of a tool. */
struct tools_parameter {
	const char *name;
	enum tools_kind kind;
	const char *option; /* of the verb; NULL: an operand */
	const char *help;
	bool required;
	bool is_path;
	const char *before; /* a word before it */
};

#define TOOLS_MOST_PARAMETERS 9

struct tools_tool {
	const char *name, *help, *verb; /* verb NULL: the list of traces */
	const char *words[4];           /* of the verb, before the arguments */
	struct tools_parameter parameters[TOOLS_MOST_PARAMETERS];
};

#define TOOLS_OPTION(name_, kind_, option_, help_) { .name = name_, .kind = TOOLS_##kind_, .option = option_, .help = help_ }
#define TOOLS_TRACE \
	{ "trace", TOOLS_TEXT, NULL, "path of a trace (default: the newest *.dwell where the server runs)", .is_path = true }
#define TOOLS_STEPS TOOLS_OPTION("steps", TEXT, "steps", "only these steps, as 10..20")
#define TOOLS_THREAD TOOLS_OPTION("thread", TEXT, "thread", "only this thread, by name or number")

static const struct tools_tool tools[] = {
	{ "list_traces", "Lists the traces in a folder, the newest first.", NULL, { NULL },
	  { { "folder", TOOLS_TEXT, NULL, "the folder (default: that in which the server runs)", .is_path = true } } },
	{ "verdicts",
	  "What makes a program slow, by rules: each with its share and what that is of, its 95% interval, its remedy, and what that "
	  "saves at most. Begin here.",
	  "report", { "--view=verdict", "--format=json" }, { TOOLS_TRACE, TOOLS_STEPS } },
	{ "overview", "The first screen: what ran, what is slow, what to try, the parts of a step, and what the figures rest on.",
	  "report", { "--view=overview", "--format=json" }, { TOOLS_TRACE, TOOLS_STEPS } },
	{ "view",
	  "A table of a trace. Views are, among others: operators, layers, phases, steps, functions, hot (functions by CPU time), "
	  "waits, memory, heap, dataloader, threads, device, kernels, streams, account, facts, tree.",
	  "report", { "--format=json" },
	  { { "view", TOOLS_TEXT, "view", "name of the view; a wrong one is answered with the nearest", .required = true },
	    TOOLS_TRACE, TOOLS_STEPS, TOOLS_THREAD,
	    TOOLS_OPTION("sort", TEXT, "sort", "name of the column by which rows are sorted"),
	    TOOLS_OPTION("limit", NUMBER, "limit", "most rows"),
	    TOOLS_OPTION("name", TEXT, "name", "only rows with such a name, as 'aten::conv*'"),
	    TOOLS_OPTION("group_by", TEXT, "group-by", "what is one row: shape, thread, line and others, by view") } },
	{ "query",
	  "Answers one statement of SQL about a trace; '.schema' lists tables and columns. Times are in ns. It may take 5 s and 200 MB.",
	  "query", { "--format=json" },
	  { TOOLS_TRACE, { "sql", TOOLS_TEXT, NULL, "the statement", .required = true } } },
	{ "compare",
	  "Compares runs before and after a change: faster, slower, no difference or not proven, with intervals, and where.",
	  "diff", { "--format=json" },
	  { TOOLS_OPTION("by", TEXT, "by", "fast: let the fast steps decide, on a busy machine; needs 4 runs a side"),
	    { "before", TOOLS_LIST, NULL, "paths of the traces before", .required = true, .is_path = true },
	    { "after", TOOLS_LIST, NULL, "paths of the traces after", .required = true, .is_path = true, .before = "--" } } },
};
#define TOOLS (sizeof tools / sizeof *tools)

static const struct tools_parameter *tools_parameter(const struct tools_tool *tool, size_t index)
{
	return index < TOOLS_MOST_PARAMETERS && tool->parameters[index].name ? &tool->parameters[index] : NULL;
}

/* ---- the list ----------------------------------------------------------------------------------- */

static void tools_put_parameter(struct dw_json *json, const struct tools_parameter *parameter)
{
	static const char *const types[] = { NULL, "string", "integer", "array" };

	dw_json_open(json, parameter->name, '{');
	dw_json_put_text(json, "type", types[parameter->kind]);
	if (parameter->kind == TOOLS_LIST) {
		dw_json_open(json, "items", '{');
		dw_json_put_text(json, "type", "string");
		dw_json_close(json, '}');
	}
	dw_json_put_text(json, "description", parameter->help);
	dw_json_close(json, '}');
}

static void tools_put(struct dw_json *json, const struct tools_tool *tool)
{
	const struct tools_parameter *parameter;

	dw_json_open(json, NULL, '{');
	dw_json_put_text(json, "name", tool->name);
	dw_json_put_text(json, "description", tool->help);
	dw_json_open(json, "inputSchema", '{');
	dw_json_put_text(json, "type", "object");
	dw_json_open(json, "properties", '{');
	for (size_t i = 0; (parameter = tools_parameter(tool, i)); i++)
		tools_put_parameter(json, parameter);
	dw_json_close(json, '}');
	dw_json_open(json, "required", '[');
	for (size_t i = 0; (parameter = tools_parameter(tool, i)); i++)
		if (parameter->required)
			dw_json_put_text(json, NULL, parameter->name);
	dw_json_close(json, ']');
	dw_json_put_flag(json, "additionalProperties", false);
	dw_json_close(json, '}');
	dw_json_open(json, "annotations", '{');
	dw_json_put_flag(json, "readOnlyHint", true);
	dw_json_put_flag(json, "openWorldHint", false);
	dw_json_close(json, '}');
	dw_json_close(json, '}');
}

void dw_mcp_put_tools(struct dw_json *json)
{
	dw_json_open(json, "tools", '[');
	for (size_t i = 0; i < TOOLS; i++)
		tools_put(json, &tools[i]);
	dw_json_close(json, ']');
}

const char *dw_mcp_tool_names(char text[256])
{
	size_t used = 0;

	for (size_t i = 0; i < TOOLS && used < 256; i++)
		used += (size_t)snprintf(text + used, 256 - used, "%s%s", i ? ", " : "", tools[i].name);
	return text;
}

/* ---- arguments ---------------------------------------------------------------------------------- */

/* The words of a command. */
struct tools_command {
	char *words[TOOLS_MOST_WORDS + 1]; /* each allocated; ends with NULL */
	int count;
	char wrong[400]; /* what is wrong with the arguments; "": nothing */
};

/* Takes a word, which may be NULL: out of memory. */
static void tools_push(struct tools_command *command, char *word)
{
	if (word && command->count < (int)TOOLS_MOST_WORDS) {
		command->words[command->count++] = word;
		return;
	}
	free(word);
	snprintf(command->wrong, sizeof command->wrong, word ? "too many arguments: at most %u" : "out of memory", TOOLS_MOST_WORDS);
}

/* A value as a word of the command, which does not begin like an option. Takes the text. */
static void tools_push_value(struct tools_command *command, const struct tools_parameter *parameter, char *text)
{
	char *word = NULL;
	int made = 0;

	if (!text) {
		snprintf(command->wrong, sizeof command->wrong, "%s must be a text", parameter->name);
		return;
	}
	if (parameter->option)
		made = asprintf(&word, "--%s=%s", parameter->option, text);
	else
		made = asprintf(&word, "%s%s", *text != '-' ? "" : parameter->is_path ? "./" : " ", text);
	tools_push(command, made < 0 ? NULL : word);
	free(text);
}

static void tools_take_value(struct tools_command *command, const struct tools_parameter *parameter, const char *value)
{
	const char *item = NULL;
	size_t count = 0;

	if (parameter->before)
		tools_push(command, strdup(parameter->before));
	if (parameter->kind != TOOLS_LIST) {
		tools_push_value(command, parameter, dw_mcp_text(value));
		return;
	}
	while (!*command->wrong && (item = dw_mcp_item(value, item))) {
		tools_push_value(command, parameter, dw_mcp_text(item));
		count++;
	}
	if (!count && !*command->wrong)
		snprintf(command->wrong, sizeof command->wrong, "%s must be a list of at least one path", parameter->name);
}

struct tools_check {
	const struct tools_tool *tool;
	struct tools_command *command;
};

static bool tools_check_name(void *to, const char *name)
{
	struct tools_check *check = to;
	const struct tools_parameter *parameter;
	char *wrong = check->command->wrong;
	size_t size = sizeof check->command->wrong, used;

	for (size_t i = 0; (parameter = tools_parameter(check->tool, i)); i++)
		if (strcmp(parameter->name, name) == 0)
			return true;
	used = (size_t)snprintf(wrong, size, "%s has no argument '%.60s'; there are:", check->tool->name, name);
	for (size_t i = 0; (parameter = tools_parameter(check->tool, i)) && used < size; i++)
		used += (size_t)snprintf(wrong + used, size - used, " %s", parameter->name);
	return false;
}

static void tools_take_arguments(struct tools_command *command, const struct tools_tool *tool, const char *arguments)
{
	struct tools_check check = { tool, command };
	const struct tools_parameter *parameter;

	dw_mcp_names(arguments, tools_check_name, &check);
	tools_push(command, strdup(tool->verb ? tool->verb : tool->name));
	for (size_t i = 0; i < sizeof tool->words / sizeof *tool->words && tool->words[i]; i++)
		tools_push(command, strdup(tool->words[i]));
	for (size_t i = 0; !*command->wrong && (parameter = tools_parameter(tool, i)); i++) {
		const char *value = dw_mcp_member(arguments, parameter->name);

		if (value && strncmp(value, "null", 4) != 0)
			tools_take_value(command, parameter, value);
		else if (parameter->required)
			snprintf(command->wrong, sizeof command->wrong, "%s needs the argument %s: %s", tool->name, parameter->name,
			         parameter->help);
	}
}

/* ---- the list of traces ----------------------------------------------------------------------------- */

struct tools_found {
	const char *path;
	struct timespec time;
	uint64_t bytes;
};

static int tools_compare_found(const void *left, const void *right)
{
	const struct tools_found *a = left, *b = right;

	if (a->time.tv_sec != b->time.tv_sec)
		return a->time.tv_sec < b->time.tv_sec ? 1 : -1;
	return a->time.tv_nsec < b->time.tv_nsec ? 1 : a->time.tv_nsec > b->time.tv_nsec ? -1 : strcmp(a->path, b->path);
}

static struct dwell_table *tools_table(const char *folder, const struct tools_found *found, size_t count)
{
	static const struct dw_column columns[] = { DW_COLUMN("trace", "trace", NONE, TEXT), DW_COLUMN("bytes", "size", BYTES, INT),
		                                        DW_COLUMN("age_ns", "written before", NS, INT) };
	struct dwell_table *table = dw_table_create("list_traces", columns, sizeof columns / sizeof *columns);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; table && i < count; i++) {
		struct dw_cell *row = dw_table_row(table, 0);
		char path[8192];

		snprintf(path, sizeof path, "%s%s%s", folder ? folder : "", folder ? "/" : "", found[i].path);
		dw_cell_text(table, &row[0], path);
		dw_cell_int(&row[1], (int64_t)found[i].bytes);
		dw_cell_int(&row[2], (int64_t)(now.tv_sec - found[i].time.tv_sec) * 1000000000 + now.tv_nsec - found[i].time.tv_nsec);
	}
	if (table)
		table->coverage = 1;
	return table;
}

static int tools_list(const char *folder)
{
	glob_t all;
	struct tools_found *found;
	size_t count = 0;
	struct dwell_print_options print = { .size = sizeof print };
	struct dwell_error error;
	struct dwell_table *table;
	int status = DW_EXIT_BAD_INPUT;

	if (folder && chdir(folder) != 0) {
		dw_say("there is no folder %s that can be read", folder);
		return DW_EXIT_BAD_INPUT;
	}
	if (glob("*.dwell", 0, NULL, &all) != 0) {
		dw_say("%s has no *.dwell: record one with dwell run", folder ? folder : "this folder");
		return DW_EXIT_BAD_INPUT;
	}
	found = calloc(all.gl_pathc + 1, sizeof *found);
	for (size_t i = 0; found && i < all.gl_pathc; i++) {
		struct stat of;

		if (stat(all.gl_pathv[i], &of) == 0 && S_ISREG(of.st_mode))
			found[count++] = (struct tools_found){ all.gl_pathv[i], of.st_mtim, (uint64_t)of.st_size };
	}
	if (found)
		qsort(found, count, sizeof *found, tools_compare_found);
	table = found ? tools_table(folder, found, count) : NULL;
	if (table)
		status = dw_output_tables(stdout, dw_renderer_find("json", &error), &table, 1, &print);
	dw_table_destroy(table);
	free(found);
	globfree(&all);
	return status;
}

/* ---- a call -------------------------------------------------------------------------------------- */

/* Does what the words say, as the command would, and ends. */
static void __attribute__((noreturn)) tools_become(const struct tools_tool *tool, struct tools_command *command, int output, int said)
{
	const struct dw_verb *verb = tool->verb ? dw_verb_find(tool->verb) : NULL;

	if (dup2(output, STDOUT_FILENO) < 0 || dup2(said, STDERR_FILENO) < 0 || !freopen("/dev/null", "r", stdin))
		_exit(DW_EXIT_BAD_INPUT);
	dw_output_limit(DW_MCP_MOST_BYTES - TOOLS_NOTES);
	alarm(DW_MCP_MOST_SECONDS);
	exit(verb ? verb->run(verb, command->count - 1, command->words + 1) : tools_list(command->count > 1 ? command->words[1] : NULL));
}

/* At most `most` bytes of a file, of whole lines, with a NUL. NULL: out of memory. */
static char *tools_read(int file, size_t most)
{
	struct stat of;
	size_t length = fstat(file, &of) == 0 ? (size_t)of.st_size : 0;
	char *text = calloc(1, most + 1);
	ssize_t read = text ? pread(file, text, most, 0) : 0;

	if (text && read > 0 && length > (size_t)read) {
		char *end = strrchr(text, '\n');

		*(end ? end + 1 : text) = '\0';
	}
	return text;
}

/* What the child answered, and what it said; of one that ended by a signal, why. */
static void tools_take_answer(struct dw_mcp_answer *answer, int status, int output, int said)
{
	char *text = tools_read(output, DW_MCP_MOST_BYTES - TOOLS_NOTES), *notes = tools_read(said, TOOLS_NOTES - 256);
	char why[200] = "";

	answer->failed = !WIFEXITED(status) || WEXITSTATUS(status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(why, sizeof why, "The call took more than %u s and was ended: narrow it with steps or thread, or ask in SQL.\n",
		         DW_MCP_MOST_SECONDS);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof why, "The call was ended by signal %d. If memory is short, narrow it with steps or thread.\n",
		         WTERMSIG(status));
	if (!text || !notes || asprintf(&answer->text, "%s%s%s", answer->failed ? "" : text, notes, why) < 0)
		answer->text = NULL;
	free(text);
	free(notes);
}

static void tools_run(const struct tools_tool *tool, struct tools_command *command, struct dw_mcp_answer *answer)
{
	int output = memfd_create("answer", MFD_CLOEXEC), said = memfd_create("said", MFD_CLOEXEC), status = 0;
	pid_t child = output >= 0 && said >= 0 ? fork() : -1;

	if (child == 0)
		tools_become(tool, command, output, said);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child > 0)
		tools_take_answer(answer, status, output, said);
	if (output >= 0)
		close(output);
	if (said >= 0)
		close(said);
}

bool dw_mcp_call(const char *name, const char *arguments, struct dw_mcp_answer *answer)
{
	struct tools_command command = { .count = 0 };
	size_t i = 0;

	while (i < TOOLS && strcmp(tools[i].name, name) != 0)
		i++;
	if (i == TOOLS)
		return false;
	tools_take_arguments(&command, &tools[i], arguments);
	if (*command.wrong) {
		answer->failed = true;
		answer->text = strdup(command.wrong);
	} else {
		tools_run(&tools[i], &command, answer);
	}
	for (int word = 0; word < command.count; word++)
		free(command.words[word]);
	return true;
}
