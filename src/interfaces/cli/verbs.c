/*
 * The verbs and their options: the one source of parsing, help, man pages and
 * shell completion.
 *
 * `dwell --dump-verbs` prints them for tools/make/manual, one per line, with fields separated
 * by tabs; an option of VERB "" belongs to the command itself:
 *   verb    NAME  SUMMARY
 *   option  VERB  --LONG  -LETTER  ARGUMENT  HELP  CHOICE,CHOICE...
 *   columns VIEW  COLUMN,COLUMN...
 * An ARGUMENT "[=NAME]" is optional and can be given only as --LONG=NAME.
 */
#include <string.h>

#include "cli/cli.h"

#define HEADING(text) { .help = text }
#define HELP { DW_OPTION_HELP, "help", 'h', .help = "show this help and exit" }
#define OUTPUT { DW_OPTION_OUTPUT, "output", 'o', "FILE", .help = "write to FILE" }
#define FORMAT(text) { DW_OPTION_FORMAT, "format", 'f', "FORMAT", .help = text, .choices = "@renderers" }
#define STEPS(doing) { DW_OPTION_STEPS, "steps", .argument = "A..B", .help = doing " steps A to B, counted from 0" }
/* Options that select the part of a trace to read. */
#define SCOPE(doing) \
	STEPS(doing), \
	{ DW_OPTION_TIME, "time", .argument = "A..B", \
	  .help = doing " what begins between these times since the start of the run, as 1.5s..2s, and " \
	          "steps that begin and end between them" }, \
	{ DW_OPTION_PROFILE, "profile", .argument = "P", .help = doing " the ranges of the profile with this name or id" }, \
	{ DW_OPTION_ACTION, "action", .argument = "NAME", .help = doing " what begins within this action or zone" }, \
	{ DW_OPTION_THREAD, "thread", .argument = "T", .help = doing " the thread with this name or number" }

static const struct dw_option run_options[] = {
	HEADING("What to record"),
	{ DW_OPTION_SHAPES, "shapes", .help = "record the shapes of operators' arguments" },
	{ DW_OPTION_STACKS, "stacks", .help = "record the call stacks of operators" },
	{ DW_OPTION_FLOPS, "flops",
	  .help = "record shapes, from which FLOPs are counted, and this machine's peak, which "
	          "is measured for 50 ms before the program starts" },
	{ DW_OPTION_MEMORY, "memory", .argument = "[=malloc]",
	  .help =
	      "record allocations and frees of tensors, and those that the program names (the default); =malloc, any program: "
	      "also blocks of malloc: of each 512K bytes one block on average is recorded, with its call stack (=malloc:SIZE: "
	"of each SIZE bytes)" },
	{ DW_OPTION_NO_MEMORY, "no-memory", .help = "do not record allocations and frees" },
	{ DW_OPTION_FUNCTIONS, "functions", .argument = "[=WHICH]",
	  .help = "record function calls of Python programs and "
	          "of programs built for libdwell-functions; =python records Python functions only and costs less (default "
	          "all)",
	  .choices = "all python" },
	{ DW_OPTION_LAYERS, "layers", .argument = "LIST",
	  .help = "record only these layers, by path or pattern, as Net.stem,Net.block.*" },
	{ DW_OPTION_COUNTERS, "counters",
	  .help = "record the processor's cycles, instructions and cache misses of each "
	          "step, where the kernel permits it, and the energy that NVIDIA's devices use" },
	{ DW_OPTION_SAMPLE, "sample", 0, "HZ|perf|perf:HZ|off",
	  .help =
	      "record call stacks, HZ times a second of a thread's CPU time; perf: with the kernel's functions, where the "
	      "kernel permits it; off: never. Without HZ 100, and at most 0.4% of the time, later 0.1%" },
	{ DW_OPTION_CUDA, "cuda", .argument = "WHICH",
	  .help = "what to record of NVIDIA's devices: full; light: only kernels, copies, memory sets, and calls that submit these or "
	          "wait; light-callbacks: the same, with calls noted by dwell and not by CUPTI (default full)",
	  .choices = "full light light-callbacks" },
	{ DW_OPTION_COST, "cost", .argument = "PART",
	  .help = "PyTorch: where recording operators would take more than "
	          "this part of the time, record operators and layers in some steps only, which are chosen at random; full "
	          "records them in all steps (default 1%, full with --stacks or --functions)" },
	HEADING("Which steps"),
	STEPS("record only"),
	{ DW_OPTION_STEP_ON, "step-on", .argument = "NAME",
	  .help =
	      "Python: a step begins at each call of the function NAME, as a report calls it; PyTorch: a step is such a call, begins at a "
	      "call of the module with this class or path, or ends with a step of this optimizer; ITT, NVTX: a step is a range of this "
	      "name or pattern, or a frame of this domain; native programs: a step begins at each call of the function NAME" },
	{ DW_OPTION_SCHEDULE, "schedule", .argument = "PLAN",
	  .help = "record steps in cycles: skip=N,wait=N,warmup=N,active=N,repeat=N" },
	HEADING("The trace"),
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE",
	  .help = "write the trace to FILE, replacing it (default: a new file named after the program)" },
	{ DW_OPTION_MAX_SIZE, "max-size", .argument = "SIZE",
	  .help = "keep the trace below SIZE, as 512M or 8G (default "
	          "2G, at most a tenth of the free space)" },
	{ DW_OPTION_KEEP, "keep", .argument = "WHICH",
	  .help = "keep the oldest records, the newest ones or half of each "
	          "when the trace reaches its size (default both)",
	  .choices = "both oldest newest" },
	{ DW_OPTION_PACK, "pack",
	  .help = "store the trace in a fraction of its size when the program has ended (dwell pack)" },
	HEADING("Long runs, jobs and captures"),
	{ DW_OPTION_ALWAYS, "always",
	  .help =
	      "for long runs: keep the newest records in half of --max-size (default 512M) and what was recorded around slow "
	      "steps in the other half; --cost 0.1% and --summary-every 30s unless given" },
	{ DW_OPTION_SUMMARY_EVERY, "summary-every", .argument = "TIME",
	  .help = "write a summary for dwell ranks to "
	          "TRACE.sum every TIME, as 30s or 10m, and at the end (default: at the end, if there are ranks)" },
	{ DW_OPTION_GATHER, "gather", .argument = "FOLDER",
	  .help = "when the program has ended, move the trace and its "
	          "summary from a local disk to FOLDER; with --summary-every the summary is copied there during the run" },
	{ DW_OPTION_SERVE, "serve", .argument = "PORT",
	  .help = "serve captures at this port and record only what they ask for (dwell serve)" },
	HEADING("What to leave out"),
	{ DW_OPTION_NO_CUDA, "no-cuda", .help = "do not record the work of NVIDIA's devices" },
	{ DW_OPTION_NO_NVTX, "no-nvtx", .help = "do not record NVTX ranges" },
	{ DW_OPTION_NO_ITT, "no-itt",
	  .help = "do not record what libraries such as oneDNN and OpenCV announce through ITT" },
	{ DW_OPTION_NO_MPI, "no-mpi", .help = "do not record calls of MPI" },
	{ DW_OPTION_NO_ONNX, "no-onnx", .help = "do not record calls of ONNX Runtime" },
	{ DW_OPTION_NO_GGML, "no-ggml", .help = "do not record calls of ggml and llama.cpp" },
	HELP,
};

static const struct dw_option report_options[] = {
	HEADING("What to show"),
	{ DW_OPTION_VIEW, "view", 'v', "NAME", .help = "a view of the list below (default overview); may be given several "
	          "times", .choices = "@views" },
	{ DW_OPTION_LAYOUT, "layout", .argument = "NAME", .help = "a layout of the list below: what another profiler would "
	          "have printed", .choices = "@layouts" },
	FORMAT("how to print views (default text); csv and json have raw values and all rows"),
	{ DW_OPTION_SUMMARY, "summary", .help = "print a summary of at most 64 KB instead of views: verdicts with their "
	          "evidence, what was not measured, losses, the machine; --format json for programs, md for pull requests" },
	OUTPUT,
	HELP,

	HEADING("Which part of the trace"),
	SCOPE("look only at"),

	HEADING("Options of views and layouts"),
#define OPTION(scope, kind_, field_, name, letter, argument, choices, help) \
	{ DW_OPTION_VIEW_FIELD, \
	  name, \
	  letter, \
	  argument, \
	  help, \
	  choices, \
	  { DW_OPTION_##kind_, offsetof(struct dwell_view_options, field_), HAS_##kind_(field_) }, false },
#define HAS_TEXT(field_) 0
#define HAS_FLAG(field_) 0
#define HAS_ROWS(field_) 0
#define HAS_NUMBER(field_) offsetof(struct dwell_view_options, has_##field_)
#include "views/view_options.def"
#undef OPTION
};

static const struct dw_option export_options[] = {
	{ DW_OPTION_FORMAT, "format", 'f', "FORMAT", .help = "the format to write (required)", .choices = "@exports" },
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE", .help = "write to FILE, compressed if its name ends in .gz (default: "
	          "standard output); with xplane FILE may be a folder, which is used as TensorBoard's log directory; with parquet it "
	          "is a folder" },
	SCOPE("export only"),
	{ DW_OPTION_NAME, "name", .argument = "PATTERN", .help = "export only events of this name, as 'aten::conv*': * is "
	          "any text, ? any character; steps stay (chrome, perfetto, speedscope, xplane)" },
	{ DW_OPTION_MIN_DURATION, "min-duration", .argument = "TIME",
	  .help = "export only ranges of at least this time, as 10us or 1.5ms (chrome, perfetto, speedscope, xplane)" },
	{ DW_OPTION_METRIC, "metric", .argument = "METRIC",
	  .help = "what to count in pictures and stacks: time (the default), samples (CPU time of "
	          "functions), waits (their time of waiting), self_cpu; in pictures of layers: layers, memory, backward" },
	{ DW_OPTION_TITLE, "title", .argument = "TEXT", .help = "the title of a picture" },
	HELP,
};

static const struct dw_option import_options[] = {
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE", .help = "write the trace to FILE, replacing it (required)" },
	HELP,
};

static const struct dw_option pack_options[] = {
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE",
	  .help = "write to FILE, replacing it (default: replace the trace, and the other files of its run)" },
	{ DW_OPTION_STEPS, "steps", .argument = "A..B", .help = "store only what was recorded in steps A to B; needs -o" },
	{ DW_OPTION_TIME, "time", .argument = "A..B",
	  .help = "store only what was recorded between these times since the start of the run, as 1.5s..2s; needs -o" },
	HELP,
};

static const struct dw_option unpack_options[] = {
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE", .help = "write to FILE, replacing it (default: replace the stored form)" },
	HELP,
};

static const struct dw_option summarize_options[] = {
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE", .help = "write the summary to FILE, replacing it (required)" },
	{ DW_OPTION_SLOW_STEPS, "slow-steps", .argument = "SINCE:BYTES", .internal = true,
	  .help = "used by dwell run --always: add what is new to the summary, and store what was recorded "
	          "around the slowest step since then, in ns since 1970" },
	HELP,
};

static const struct dw_option ranks_options[] = {
	FORMAT("how to print the comparison (default text); csv and json have raw values; svg is a picture of rank and "
	       "step"),
	{ DW_OPTION_MPI, "mpi", .help = "under mpirun: each process reads a part of the files" },
	OUTPUT,
	HELP,
};

static const struct dw_option watch_options[] = {
	{ DW_OPTION_EVERY, "every", .argument = "TIME", .help = "look again every TIME (default 5s)" },
	{ DW_OPTION_ONCE, "once", .help = "look once and exit" },
	{ DW_OPTION_FORMAT, "format", 'f', "FORMAT", .help = "how to print an event (default text)", .choices = "text json" },
	{ DW_OPTION_ON, "on", .argument = "EVENT=COMMAND",
	  .help = "run COMMAND by sh when hang, lost, slow, memory or slower begins; it gets DWELL_EVENT, DWELL_TEXT, DWELL_RANKS "
	          "and DWELL_PIDS: the ranks' processes on this machine" },
	{ DW_OPTION_METRICS, "metrics", 'm', "FILE",
	  .help = "write the figures for Prometheus to FILE at each look, as for node_exporter" },
	{ DW_OPTION_MPI, "mpi", .help = "as an MPI job with one process on each machine, whose folders it brings together" },
	{ DW_OPTION_PORT, "port", 'p', "PORT",
	  .help = "serve the figures at /metrics of this port of 127.0.0.1; 0 means any free port" },
	HELP,
};

static const struct dw_option diff_options[] = {
	FORMAT("how to print the comparison (default text); csv and json have raw values; md is for pull requests; "
	       "html is one file for a browser; svg is a flame graph coloured by what changed"),
	{ DW_OPTION_FAIL_ON, "fail-on", .argument = "PERCENT", .help = "end with status 3 if the runs after are slower by "
	          "PERCENT, as 5%, or more, and with status 4 if they are not comparable" },
	{ DW_OPTION_BY, "by", .argument = "WHAT", .help = "what decides: step, the mean time per step (default), or fast, "
	          "the fast steps of the runs that others disturbed least, for busy machines; needs 4 runs a side",
	  .choices = "step fast" },
	{ DW_OPTION_ACCEPT, "accept", .argument = "LIST", .help = "compare although these differ: a list of machine, "
	          "versions, ranks, batch, shapes, recording, contention" },
	OUTPUT,
	SCOPE("compare only"),
	HELP,
};

static const struct dw_option query_options[] = {
	FORMAT("how to print the answer (default text)"),
	OUTPUT,
	{ DW_OPTION_FOR, "for", .argument = "TIME", .help = "end the statement after TIME, as 500ms or 1m (default 5s)" },
	HELP,
};

static const struct dw_option mcp_options[] = {
	HELP,
};

static const struct dw_option info_options[] = {
	{ DW_OPTION_TEXTS, "texts", .help = "print every text that is stored in the trace, one per line" },
	HELP,
};

static const struct dw_option view_options[] = {
	{ DW_OPTION_PORT, "port", 'p', "PORT", .help = "listen at this port of 127.0.0.1 (default 0: any free port)" },
	{ DW_OPTION_NO_BROWSER, "no-browser", .help = "print the address and start no browser" },
	HELP,
};

static const struct dw_option top_options[] = {
	{ DW_OPTION_VIEW, "view", 'v', "NAME", .help = "begin with this view (default operators)", .choices = "@views" },
	{ DW_OPTION_LAST, "last", .argument = "TIME",
	  .help = "show the last TIME, as 10s or 5m, or all of the run (default 10s)" },
	{ DW_OPTION_EVERY, "every", .argument = "TIME",
	  .help = "look again every TIME (default 1s); less often if that would take more than 1% of a CPU" },
	{ DW_OPTION_THREAD, "thread", .argument = "T", .help = "show only the thread with this name or number" },
	{ DW_OPTION_ONCE, "once", .help = "print one state and exit" },
	HELP,
};

static const struct dw_option attach_options[] = {
	{ DW_OPTION_SAMPLE, "sample", 0, "HZ", .help = "look at each thread HZ times a second, from 1 to 1000 (default 100)" },
	{ DW_OPTION_FOR, "for", .argument = "TIME",
	  .help = "stop after TIME, as 10s or 5m (default: at Ctrl-C, or when the program ends)" },
	{ DW_OPTION_OUTPUT, "output", 'o', "FILE",
	  .help = "write the trace to FILE, replacing it (default: a new file named after the program)" },
	HELP,
};

static const struct dw_option stacks_options[] = {
	{ DW_OPTION_ALL, "all",
	  .help = "print also frames of the interpreter between frames of Python, and of the start of threads" },
	FORMAT("how to print the stacks (default text); csv and json have a row for each frame"),
	OUTPUT,
	HELP,
};

static const struct dw_option serve_options[] = {
	{ DW_OPTION_PORT, "port", 'p', "PORT", .help = "listen at this port; 0 means any free port (default 9001)" },
	{ DW_OPTION_HOST, "host", .argument = "ADDRESS", .help = "listen at this address of the machine; any but 127.0.0.1 "
	          "requires DWELL_TOKEN to be set" },
	{ DW_OPTION_INHERITED, "inherited", .help = "for programs that start a server: serve at the socket on standard "
	          "input until standard output is closed" },
	HELP,
};

static const struct dw_option capture_options[] = {
	HEADING("From HOST:PORT, where dwell serve, dwell run --serve or XLA's profiler listens"),
	{ DW_OPTION_OUTPUT, "output", 'o', "FOLDER", .help = "store in this log directory, as "
	          "plugins/profile/TIME/HOST_PORT.xplane.pb (default: here)" },
	{ DW_OPTION_DELAY, "delay", .argument = "TIME", .help = "wait TIME before recording" },
	HEADING("From the ranks of a job: a folder of traces, or traces, of dwell run --summary-every"),
	{ DW_OPTION_STEPS, "steps", .argument = "N", .help = "record N whole steps (default 5); 0: record for --duration" },
	{ DW_OPTION_RANKS, "ranks", .argument = "LIST",
	  .help = "only these ranks, as 0,17,slowest, and those in the same traces (default: all)" },
	{ DW_OPTION_STACKS, "stacks", .help = "record nothing, but print the stacks of all threads, as dwell stacks does" },
	{ DW_OPTION_ANSWER, "answer", .internal = true, .help = "used by dwell run, to do what was asked for" },
	HEADING("Both"),
	{ DW_OPTION_DURATION, "duration", 'd', "TIME",
	  .help = "record for TIME, as 500ms or 2s (default 1s); with --steps at most TIME (default 30s)" },
	{ DW_OPTION_FUNCTIONS, "functions", .help = "also record Python's function calls" },
	HELP,
};

#define OPTIONS(options) options, sizeof options / sizeof *options

/* In the order of --help. A group begins with its first verb. */
const struct dw_verb dw_verbs[] = {
	{ "run", "run a program and record it", "[--] COMMAND [ARGUMENT...]", OPTIONS(run_options), dw_cmd_run,
	  "Record",
	  "dwell run python train.py\n"
	  "dwell run --shapes -o base.dwell -- ./engine --steps 200\n"
	  "mpirun -n 4 dwell run ./solver\n" },
	{ "attach", "record the stacks of a program that runs, until Ctrl-C", "PID", OPTIONS(attach_options), dw_cmd_attach,
	  NULL,
	  "dwell attach 4711\n"
	  "dwell attach --for 10s -o server.dwell 4711\n" },
	{ "report", "show where a trace's time goes", "[TRACE...]", OPTIONS(report_options), dw_cmd_report,
	  "Read",
	  "dwell report\n"
	  "dwell report --view operators --sort calls -n 20 train.dwell\n"
	  "dwell report -o train.html train.dwell\n" },
	{ "view", "show a trace in a browser, also while it is written", "[TRACE...]", OPTIONS(view_options), dw_cmd_view,
	  NULL,
	  "dwell view\n"
	  "dwell view rank0.dwell rank1.dwell\n" },
	{ "query", "answer a question in SQL about a trace", "[TRACE] SQL", OPTIONS(query_options), dw_cmd_query,
	  NULL,
	  "dwell query train.dwell 'select step, duration_ns from steps order by 2'\n" },
	{ "info", "list what a trace holds", "[TRACE]", OPTIONS(info_options), dw_cmd_info,
	  NULL,
	  "dwell info train.dwell\n" },
	{ "mcp", "answer an agent's program about traces (Model Context Protocol)", "", OPTIONS(mcp_options), dw_cmd_mcp,
	  NULL,
	  "dwell mcp        as the command of a server, in the settings of the agent's program\n" },
	{ "diff", "compare runs before and after a change", "BEFORE... -- AFTER...", OPTIONS(diff_options), dw_cmd_diff,
	  "Compare",
	  "dwell diff before.dwell -- after.dwell\n"
	  "dwell diff --by fast before-*.dwell -- after-*.dwell\n"
	  "dwell diff --fail-on 5% main/*.dwell -- change/*.dwell\n" },
	{ "ranks", "compare the ranks of a job: which one is slow, and where", "TRACE|SUMMARY...", OPTIONS(ranks_options), dw_cmd_ranks,
	  NULL,
	  "dwell ranks job/*.sum\n"
	  "dwell ranks -o ranks.svg job/*.dwell\n" },
	{ "top", "show what a running program does, in a terminal", "[TRACE|PID]", OPTIONS(top_options), dw_cmd_top,
	  "While a program runs",
	  "dwell top\n"
	  "dwell top --view hot 4711\n" },
	{ "stacks", "print the stacks of all threads of running programs", "PID...", OPTIONS(stacks_options), dw_cmd_stacks,
	  NULL,
	  "dwell stacks 4711\n" },
	{ "watch", "say when a running job hangs, loses a rank or becomes slow", "FOLDER|SUMMARY|TRACE...",
	  OPTIONS(watch_options), dw_cmd_watch,
	  NULL,
	  "dwell watch job\n"
	  "dwell watch --on hang='echo $DWELL_TEXT | mail admin' job\n" },
	{ "capture", "record some steps of a running job or server", "FOLDER|TRACE...|HOST:PORT",
	  OPTIONS(capture_options), dw_cmd_capture,
	  NULL,
	  "dwell capture --steps 5 job\n"
	  "dwell capture --duration 2s localhost:9001\n" },
	{ "serve", "let TensorBoard capture from a running program", "TRACE", OPTIONS(serve_options), dw_cmd_serve,
	  NULL,
	  "dwell serve --port 9001 train.dwell\n" },
	{ "export", "write a trace for another tool", "[TRACE]", OPTIONS(export_options), dw_cmd_export,
	  "Files",
	  "dwell export -f perfetto -o train.pb train.dwell\n"
	  "dwell export -f flamegraph -o train.svg train.dwell\n" },
	{ "import", "store another tool's files as a trace", "FILE...", OPTIONS(import_options), dw_cmd_import,
	  NULL,
	  "dwell import -o run.dwell trace.json.gz\n" },
	{ "pack", "store a trace in a fraction of its size", "TRACE...", OPTIONS(pack_options), dw_cmd_pack,
	  NULL,
	  "dwell pack train.dwell\n"
	  "dwell pack --steps 100..200 -o part.dwell train.dwell\n" },
	{ "unpack", "write the trace that dwell pack stored", "TRACE...", OPTIONS(unpack_options), dw_cmd_pack,
	  NULL,
	  "dwell unpack train.dwell\n" },
	{ "summarize", "store what the steps of traces took, in a small file", "TRACE...", OPTIONS(summarize_options), dw_cmd_summarize,
	  NULL,
	  "dwell summarize -o rank0.sum rank0.dwell\n" },
};
const size_t dw_verb_count = sizeof dw_verbs / sizeof *dw_verbs;

const struct dw_verb *dw_verb_find(const char *name)
{
	for (size_t i = 0; i < dw_verb_count; i++)
		if (strcmp(dw_verbs[i].name, name) == 0)
			return &dw_verbs[i];
	return NULL;
}
