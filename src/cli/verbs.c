/*
 * The verbs and their options: the one source of parsing, help, man pages and
 * shell completion.
 *
 * `dwell --dump-verbs` prints them for tools/manual, one per line, with fields separated
 * by tabs; an option of VERB "" belongs to the command itself:
 *   verb    NAME  SUMMARY
 *   option  VERB  --LONG  -LETTER  ARGUMENT  HELP  CHOICE,CHOICE...
 * An ARGUMENT "[=NAME]" is optional and can be given only as --LONG=NAME.
 */
#include <string.h>

#include "cli/cli.h"

#define HELP { DW_OPTION_HELP, "help", 'h', NULL, "show this help and exit", NULL }
#define STEPS(what) { DW_OPTION_STEPS, "steps", 0, "A..B", what, NULL }

static const struct dw_option run_options[] = {
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE",
	  "write the trace to FILE, replacing it (default: a new file named after the program)", NULL },
	{ DW_OPTION_MAX_SIZE, "max-size", 0, "SIZE",
	  "keep the trace below SIZE, as 512M or 8G (default 2G, at most a tenth of the free space)", NULL },
	{ DW_OPTION_KEEP, "keep", 0, "WHICH",
	  "which records to keep when the trace reaches its size: the oldest half and the newest half, or "
	  "one of them (default both)", "both oldest newest" },
	STEPS("record only steps A to B, counted from 0"),
	{ DW_OPTION_STEP_ON, "step-on", 0, "NAME", "PyTorch: a step is a call of this function, begins at a "
	  "call of this module's class or path, or ends with this optimizer's", NULL },
	{ DW_OPTION_SCHEDULE, "schedule", 0, "PLAN",
	  "record steps in cycles: skip=N,wait=N,warmup=N,active=N,repeat=N", NULL },
	{ DW_OPTION_LAYERS, "layers", 0, "LIST",
	  "record only these layers, by path or pattern, as Net.stem,Net.block.*", NULL },
	{ DW_OPTION_SERVE, "serve", 0, "PORT",
	  "serve captures at this port and record only what they ask for (dwell serve)", NULL },
	{ DW_OPTION_SHAPES, "shapes", 0, NULL, "record the shapes of operators' arguments", NULL },
	{ DW_OPTION_STACKS, "stacks", 0, NULL, "record the call stacks of operators", NULL },
	{ DW_OPTION_FUNCTIONS, "functions", 0, "[=WHICH]", "record function calls (of Python programs, and of "
	  "programs built for libdwell-functions); =python: Python functions only, cheaper (default all)",
	  "all python" },
	{ DW_OPTION_FLOPS, "flops", 0, NULL, "record shapes, from which FLOPs are counted, and this machine's peak, "
	  "which is measured for 50 ms before the program starts", NULL },
	{ DW_OPTION_MEMORY, "memory", 0, NULL, "record allocations and frees (the default)", NULL },
	{ DW_OPTION_NO_MEMORY, "no-memory", 0, NULL, "do not record allocations and frees", NULL },
	HELP,
};

static const struct dw_option report_options[] = {
	{ DW_OPTION_VIEW, "view", 'v', "NAME", "what to show; may be given several times (default overview)",
	  "@views" },
	{ DW_OPTION_FORMAT, "format", 'f', "FORMAT",
	  "text, md or html for people; csv or json with raw values and all rows", "text csv json md html" },
	{ DW_OPTION_SORT, "sort", 0, "COLUMN",
	  "sort rows by a column, by its label or as CSV names it", NULL },
	{ DW_OPTION_LIMIT, "limit", 'n', "N", "show the first N rows, or all", NULL },
	STEPS("look only at steps A to B, counted from 0"),
	{ DW_OPTION_PROFILE, "profile", 0, "P", "look only at the ranges of the profile with this name or id",
	  NULL },
	{ DW_OPTION_ACTION, "action", 0, "NAME", "look only at what begins within this action or zone",
	  NULL },
	{ DW_OPTION_THREAD, "thread", 0, "T", "look only at the thread with this name or number", NULL },
	{ DW_OPTION_GROUP_BY, "group-by", 0, "WHAT",
	  "separate operators by shape, overload or stack:N (the N innermost frames), or by several of them",
	  NULL },
	{ DW_OPTION_TOP_LEVEL, "top-level", 0, NULL, "show only operators that no other operator called", NULL },
	{ DW_OPTION_TIME_UNIT, "time-unit", 0, "UNIT", "print all times in one unit", "s ms us ns" },
	{ DW_OPTION_ENGINE, "engine", 0, "NAME", "show this one of several nested engines", NULL },
	{ DW_OPTION_EVENTS, "events", 0, NULL, "layers: show the operators within each", NULL },
	{ DW_OPTION_PATHS, "paths", 0, "LIST",
	  "layers: show only these and those below them, as Net.stem,Net.block.*", NULL },
	{ DW_OPTION_LEAVES, "leaves", 0, NULL, "layers: show only those that hold no others", NULL },
	{ DW_OPTION_PER_CALL, "per-call", 0, NULL, "layers: show each call", NULL },
	{ DW_OPTION_LAYOUT, "layout", 0, "NAME", "print what another profiler would have printed",
	  "@layouts" },
	{ DW_OPTION_HEADER, "header", 0, "TEXT", "print TEXT above the table, in layouts that have such a line",
	  NULL },
	{ DW_OPTION_WIDTHS, "widths", 0, "LIST",
	  "most characters in columns of a layout: name=N,shapes=N,source=N", NULL },
	{ DW_OPTION_VERBOSITY, "verbosity", 0, "LEVEL",
	  "layout singa: 1 forward and backward, 2 every operation, 3 the distributed ones "
	  "(default: the program's, else 2)", "0 1 2 3" },
	{ DW_OPTION_SKIP_ITERATION, "skip-iteration", 0, "N",
	  "leave the run's first N iterations out of the view sequence and the layout singa (default 0; in "
	  "the layout the program's number)", NULL },
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE", "write to FILE", NULL },
	HELP,
};

static const struct dw_option export_options[] = {
	{ DW_OPTION_FORMAT, "format", 'f', "FORMAT", "the format to write (required)", "@exports" },
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE",
	  "write to FILE, compressed if its name ends in .gz (default: standard output); xplane: a folder "
	  "is taken as TensorBoard's log directory", NULL },
	STEPS("export only steps A to B, counted from 0"),
	{ DW_OPTION_PROFILE, "profile", 0, "P", "export only the ranges of the profile with this name or id",
	  NULL },
	{ DW_OPTION_ACTION, "action", 0, "NAME", "export only what begins within this action or zone",
	  NULL },
	{ DW_OPTION_THREAD, "thread", 0, "T", "export only the thread with this name or number", NULL },
	{ DW_OPTION_METRIC, "metric", 0, "METRIC", "what to count in pictures and stacks: time (the default), self_cpu; in pictures "
	  "of layers: layers, memory, backward",
	  NULL },
	{ DW_OPTION_TITLE, "title", 0, "TEXT", "the title of a picture", NULL },
	HELP,
};

static const struct dw_option info_options[] = {
	{ DW_OPTION_TEXTS, "texts", 0, NULL, "print every text that is stored in the trace, one per line",
	  NULL },
	HELP,
};

static const struct dw_option serve_options[] = {
	{ DW_OPTION_PORT, "port", 'p', "PORT", "listen at this port; 0 means any free port (default 9001)",
	  NULL },
	{ DW_OPTION_HOST, "host", 0, "ADDRESS",
	  "listen at this address of the machine; any but 127.0.0.1 requires DWELL_TOKEN to be set", NULL },
	{ DW_OPTION_INHERITED, "inherited", 0, NULL,
	  "for programs that start a server: serve at the socket on standard input until standard output "
	  "is closed", NULL },
	HELP,
};

static const struct dw_option capture_options[] = {
	{ DW_OPTION_DURATION, "duration", 'd', "TIME", "record for TIME, as 500ms or 2s (default 1s)",
	  NULL },
	{ DW_OPTION_OUTPUT, "output", 'o', "FOLDER",
	  "store in this log directory, as plugins/profile/TIME/HOST_PORT.xplane.pb (default: here)", NULL },
	{ DW_OPTION_DELAY, "delay", 0, "TIME", "wait TIME before recording", NULL },
	{ DW_OPTION_FUNCTIONS, "functions", 0, NULL, "also record Python's function calls", NULL },
	HELP,
};

#define OPTIONS(options) options, sizeof options / sizeof *options

const struct dw_verb dw_verbs[] = {
	{ "run", "run a program and record it", "[--] COMMAND [ARGUMENT...]", OPTIONS(run_options),
	  dw_cmd_run },
	{ "report", "show where a trace's time goes", "[TRACE...]", OPTIONS(report_options),
	  dw_cmd_report },
	{ "export", "write a trace for another tool", "[TRACE]", OPTIONS(export_options), dw_cmd_export },
	{ "serve", "let TensorBoard capture from a running program", "TRACE", OPTIONS(serve_options),
	  dw_cmd_serve },
	{ "capture", "capture from a program that is serving", "HOST:PORT",
	  OPTIONS(capture_options), dw_cmd_capture },
	{ "info", "list what a trace holds", "[TRACE]", OPTIONS(info_options), dw_cmd_info },
};
const size_t dw_verb_count = sizeof dw_verbs / sizeof *dw_verbs;

const struct dw_verb *dw_verb_find(const char *name)
{
	for (size_t i = 0; i < dw_verb_count; i++)
		if (strcmp(dw_verbs[i].name, name) == 0)
			return &dw_verbs[i];
	return NULL;
}
