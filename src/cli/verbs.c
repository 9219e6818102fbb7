/*
 * The verbs and their options: the one source of parsing, help, man pages and
 * shell completion.
 *
 * `dwell --dump-verbs` prints them for tools/manual, a line each, fields apart by
 * tabs; an option of VERB "" is the command's own:
 *   verb    NAME  SUMMARY
 *   option  VERB  --LONG  -LETTER  ARGUMENT  HELP  CHOICE,CHOICE...
 * An ARGUMENT "[=NAME]" may be left out and is given as --LONG=NAME only.
 */
#include <string.h>

#include "cli/cli.h"

#define HELP { DW_OPTION_HELP, "help", 'h', NULL, "say what this does and exit", NULL }
#define STEPS(what) { DW_OPTION_STEPS, "steps", 0, "A..B", what, NULL }

static const struct dw_option run_options[] = {
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE",
	  "write the trace to FILE, replacing it (default: a new file named after the program)", NULL },
	{ DW_OPTION_MAX_SIZE, "max-size", 0, "SIZE",
	  "keep the trace below SIZE, as 512M or 8G (default 2G, at most a tenth of the free space)", NULL },
	{ DW_OPTION_KEEP, "keep", 0, "WHICH",
	  "what to keep when that is reached: the oldest half and the newest, or one of them (default both)",
	  "both oldest newest" },
	STEPS("record only steps A to B, counted from 0"),
	{ DW_OPTION_STEP_ON, "step-on", 0, "NAME", "PyTorch: a step is a call of this function, begins at a "
	  "call of this module's class or path, or ends with this optimizer's", NULL },
	{ DW_OPTION_SCHEDULE, "schedule", 0, "PLAN",
	  "record steps in cycles: skip=N,wait=N,warmup=N,active=N,repeat=N", NULL },
	{ DW_OPTION_LAYERS, "layers", 0, "LIST",
	  "of layers record only these, by path or pattern, as Net.stem,Net.block.*", NULL },
	{ DW_OPTION_SERVE, "serve", 0, "PORT",
	  "record only what captures at this port of the machine ask for (dwell serve)", NULL },
	{ DW_OPTION_SHAPES, "shapes", 0, NULL, "record the shapes of operators' arguments", NULL },
	{ DW_OPTION_STACKS, "stacks", 0, NULL, "record the call stacks of operators", NULL },
	{ DW_OPTION_FUNCTIONS, "functions", 0, "[=WHICH]", "record function calls, where something reports "
	  "them; python: of a Python program not those of C functions, at a lower cost (default all)",
	  "all python" },
	{ DW_OPTION_FLOPS, "flops", 0, NULL, "record what counting FLOPs needs: shapes, and this machine's peak, measured in 50 ms before "
	  "the program starts", NULL },
	{ DW_OPTION_MEMORY, "memory", 0, NULL, "record allocations and frees (the default)", NULL },
	{ DW_OPTION_NO_MEMORY, "no-memory", 0, NULL, "leave allocations and frees out", NULL },
	HELP,
};

static const struct dw_option report_options[] = {
	{ DW_OPTION_VIEW, "view", 'v', "NAME", "what to show; may be given several times (default overview)",
	  "@views" },
	{ DW_OPTION_FORMAT, "format", 'f', "FORMAT",
	  "text or md for people; csv or json with raw values and all rows", "text csv json md" },
	{ DW_OPTION_SORT, "sort", 0, "COLUMN",
	  "sort rows by a column, by its label or as CSV names it", NULL },
	{ DW_OPTION_LIMIT, "limit", 'n', "N", "show the first N rows, or all", NULL },
	STEPS("look only at steps A to B, counted from 0"),
	{ DW_OPTION_PROFILE, "profile", 0, "P", "look only at what the profile of this name or id saw",
	  NULL },
	{ DW_OPTION_ACTION, "action", 0, "NAME", "look only at what begins within this action or zone",
	  NULL },
	{ DW_OPTION_THREAD, "thread", 0, "T", "look only at the thread of this name or number", NULL },
	{ DW_OPTION_GROUP_BY, "group-by", 0, "WHAT",
	  "keep operators apart by shape, overload, stack:N (so many innermost frames), or several of them",
	  NULL },
	{ DW_OPTION_TOP_LEVEL, "top-level", 0, NULL, "only operators that lie in no other operator", NULL },
	{ DW_OPTION_TIME_UNIT, "time-unit", 0, "UNIT", "print all times in one unit", "s ms us ns" },
	{ DW_OPTION_ENGINE, "engine", 0, "NAME", "of several nested engines, this one", NULL },
	{ DW_OPTION_EVENTS, "events", 0, NULL, "of layers: show the operators within each", NULL },
	{ DW_OPTION_PATHS, "paths", 0, "LIST",
	  "of layers: only these and what lies below them, as Net.stem,Net.block.*", NULL },
	{ DW_OPTION_LEAVES, "leaves", 0, NULL, "of layers: only those that hold no others", NULL },
	{ DW_OPTION_PER_CALL, "per-call", 0, NULL, "of layers: show each call", NULL },
	{ DW_OPTION_LAYOUT, "layout", 0, "NAME", "print what another profiler would have printed",
	  "@layouts" },
	{ DW_OPTION_HEADER, "header", 0, "TEXT", "a line above the table, for layouts that have one", NULL },
	{ DW_OPTION_WIDTHS, "widths", 0, "LIST",
	  "how wide columns of a layout may be, in characters: name=N,shapes=N,source=N", NULL },
	{ DW_OPTION_VERBOSITY, "verbosity", 0, "LEVEL",
	  "of the layout singa: 1 forward and backward, 2 every operation, 3 the distributed ones "
	  "(default: the program's, else 2)", "0 1 2 3" },
	{ DW_OPTION_SKIP_ITERATION, "skip-iteration", 0, "N",
	  "leave the run's first N iterations out of the view sequence and the layout singa (default: 0; of "
	  "the layout, the program's)", NULL },
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE", "write to FILE", NULL },
	HELP,
};

static const struct dw_option export_options[] = {
	{ DW_OPTION_FORMAT, "format", 'f', "FORMAT", "which tool it is for (needed)", "@exports" },
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE",
	  "write to FILE, compressed when its name ends in .gz (default: standard output); xplane: a folder "
	  "is TensorBoard's log directory", NULL },
	STEPS("export only steps A to B, counted from 0"),
	{ DW_OPTION_PROFILE, "profile", 0, "P", "export only what the profile of this name or id saw",
	  NULL },
	{ DW_OPTION_ACTION, "action", 0, "NAME", "export only what begins within this action or zone",
	  NULL },
	{ DW_OPTION_THREAD, "thread", 0, "T", "export only the thread of this name or number", NULL },
	{ DW_OPTION_METRIC, "metric", 0, "METRIC", "what a picture or a stack counts: time (the default), self_cpu, and in pictures "
	  "of layers: layers, memory, backward",
	  NULL },
	{ DW_OPTION_TITLE, "title", 0, "TEXT", "the title of a picture", NULL },
	HELP,
};

static const struct dw_option info_options[] = {
	{ DW_OPTION_TEXTS, "texts", 0, NULL, "print every text that is stored in the trace, a line each",
	  NULL },
	HELP,
};

static const struct dw_option serve_options[] = {
	{ DW_OPTION_PORT, "port", 'p', "PORT", "listen at this port; 0: any that is free (default 9001)",
	  NULL },
	{ DW_OPTION_HOST, "host", 0, "ADDRESS",
	  "listen at this address of the machine; others than 127.0.0.1 need DWELL_TOKEN to be set", NULL },
	{ DW_OPTION_INHERITED, "inherited", 0, NULL,
	  "serve at the socket that standard input is, until standard output is closed: for programs "
	  "that start a server", NULL },
	HELP,
};

static const struct dw_option capture_options[] = {
	{ DW_OPTION_DURATION, "duration", 'd', "TIME", "record for so long, as 500ms or 2s (default 1s)",
	  NULL },
	{ DW_OPTION_OUTPUT, "output", 'o', "FOLDER",
	  "store in this log directory, as plugins/profile/TIME/HOST_PORT.xplane.pb (default: here)", NULL },
	{ DW_OPTION_DELAY, "delay", 0, "TIME", "begin so much later", NULL },
	{ DW_OPTION_FUNCTIONS, "functions", 0, NULL, "record Python's function calls too", NULL },
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
	{ "capture", "record a while of a program that serves captures", "HOST:PORT",
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
