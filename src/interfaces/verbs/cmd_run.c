/* dwell run, and dwell COMMAND. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "capture/pack_part.h"
#include "cli/cli.h"
#include "dwell/probe.h"
#include "launch/run.h"
#include "launch/run_end.h"
#include "launch/run_program.h"
#include "program/injected.h"
#include "program/lacks.h"
#include "program/script.h"
#include "rank/gather.h"
#include "rank/run_summary.h"
#include "read/source.h"
#include "record/file.h"
#include "record/layer_paths.h"
#include "trace/trace.h"
#include "views/views.h"

#define RUN_COST 10000u /* 1% */

static int run_take_layers(const char *value, const char **layers)
{
	struct dwell_error error = { 0, "" };

	*layers = value;
	if (dw_layers_fit(value, &error))
		return 0;
	dw_say("--layers: %s", error.message);
	return -1;
}

/* `value` is "all", "python" or NULL, which means all. */
static int run_take_functions(const char *value, uint32_t *categories)
{
	bool all = !value || strcmp(value, "all") == 0;

	*categories &= ~DWELL_DETAIL_C_FUNCTIONS;
	*categories |= 1u << DWELL_CATEGORY_FUNCTION | (all ? DWELL_DETAIL_C_FUNCTIONS : 0);
	return 0;
}

/* Rejects sizes below the minimum: such a trace would be empty, or larger than requested. */
static int run_take_max_size(const char *value, uint64_t *bytes)
{
	if (!dw_parse_size(value, bytes))
		return -1;
	if (*bytes >= DW_FILE_LEAST_BYTES)
		return 0;
	dw_say("--max-size %s is too small: give at least %uM", value, DW_FILE_LEAST_BYTES >> 20);
	return -1;
}

static int run_take_sample(const char *value, struct dw_run_request *request)
{
	const char *hz = strncmp(value, "perf:", 5) == 0 ? value + 5 : value;
	char *end;
	unsigned long number = strtoul(hz, &end, 10);

	request->no_samples = strcmp(value, "off") == 0;
	request->sample_perf = hz != value || strcmp(value, "perf") == 0;
	request->sample_hz = 0;
	if (*hz >= '1' && *hz <= '9' && !*end && number <= 1000) {
		request->sample_hz = (unsigned)number;
	} else if (!request->no_samples && strcmp(value, "perf") != 0) {
		dw_say("--sample %s: give a number from 1 to 1000, perf, perf:NUMBER or off", value);
		return -1;
	}
	return 0;
}

#define HEAP_BYTES ((uint64_t)512 << 10)
#define HEAP_LEAST_BYTES 1024u
#define HEAP_MOST_BYTES (8u << 20)

/* NULL, "malloc" or "malloc:SIZE". */
static int run_take_memory(const char *value, struct dw_run_request *request)
{
	request->options.categories |= 1u << DWELL_CATEGORY_ALLOCATION;
	if (!value)
		return 0;
	request->heap_bytes = HEAP_BYTES;
	if (strcmp(value, "malloc") == 0)
		return 0;
	if (strncmp(value, "malloc:", 7) == 0 && !dw_parse_size(value + 7, &request->heap_bytes))
		return -1;
	if (strncmp(value, "malloc:", 7) == 0 && request->heap_bytes >= HEAP_LEAST_BYTES && request->heap_bytes <= HEAP_MOST_BYTES)
		return 0;
	dw_say("--memory=%s: give malloc, or malloc:SIZE with a size from 1K to 8M", value);
	return -1;
}

/* "full", or a part of the time as "1%". */
static int run_take_cost(const char *value, struct dw_run_request *request)
{
	char *end;
	double percent = strtod(value, &end);

	request->cost_given = true;
	request->cost = 0;
	if (strcmp(value, "full") == 0)
		return 0;
	if (end != value && strcmp(end, "%") == 0 && percent >= 0.01 && percent <= 100) {
		request->cost = (uint32_t)(percent * 1e4 + 0.5);
		return 0;
	}
	dw_say("--cost %s: give a part of the time, from 0.01%% to 100%%, or full", value);
	return -1;
}

/* Steps, stacks and functions that the user asks for are recorded whole. */
static void run_bound_cost(struct dw_run_request *request)
{
	const uint32_t asked = 1u << DWELL_CATEGORY_FUNCTION | DWELL_DETAIL_STACKS;

	if (!request->cost_given && !(request->options.categories & asked))
		request->cost = RUN_COST;
}

#define RUN_ALWAYS_BYTES ((uint64_t)512 << 20)
#define RUN_ALWAYS_COST 1000u /* millionths of the time */
#define RUN_ALWAYS_EVERY_MS 30000u

/* Half of the size is for the newest records, half for those around slow steps. */
static void run_set_always(struct dw_run_request *request)
{
	struct dwell_options *options = &request->options;
	uint64_t bytes = options->max_size_bytes ? options->max_size_bytes : RUN_ALWAYS_BYTES;

	options->max_size_bytes = bytes / 2;
	request->slow_bytes = bytes / 2;
	options->keep = DWELL_KEEP_NEWEST;
	if (!request->cost_given)
		request->cost = RUN_ALWAYS_COST;
	request->cost_given = true;
	if (!request->summary_every_ms)
		request->summary_every_ms = RUN_ALWAYS_EVERY_MS;
}

static int run_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct dw_run_request *request = context;
	struct dwell_options *options = &request->options;

	switch (option->id) {
	case DW_OPTION_OUTPUT: options->path = value; return 0;
	case DW_OPTION_MAX_SIZE: return run_take_max_size(value, &options->max_size_bytes);
	case DW_OPTION_KEEP: return dw_parse_keep(value, &options->keep) ? 0 : -1;
	case DW_OPTION_STEPS:
		return dw_parse_steps(value, &options->steps_from, &options->steps_to) ? 0 : -1;
	case DW_OPTION_STEP_ON: request->step_on = value; return 0;
	case DW_OPTION_SCHEDULE: return dw_parse_schedule(value, &options->schedule) ? 0 : -1;
	case DW_OPTION_LAYERS: return run_take_layers(value, &options->layers);
	case DW_OPTION_SERVE: request->serve = value; return 0;
	case DW_OPTION_SHAPES: options->categories |= DWELL_DETAIL_SHAPES; return 0;
	case DW_OPTION_STACKS: options->categories |= DWELL_DETAIL_STACKS; return 0;
	case DW_OPTION_FLOPS: options->categories |= DWELL_DETAIL_FLOPS | DWELL_DETAIL_SHAPES; return 0;
	case DW_OPTION_MEMORY: return run_take_memory(value, request);
	case DW_OPTION_NO_MEMORY: options->categories &= ~(1u << DWELL_CATEGORY_ALLOCATION); return 0;
	case DW_OPTION_COUNTERS: request->counters = true; return 0;
	case DW_OPTION_NO_ITT: request->no_itt = true; return 0;
	case DW_OPTION_NO_NVTX: request->no_nvtx = true; return 0;
	case DW_OPTION_NO_CUDA: request->no_cuda = true; return 0;
	case DW_OPTION_CUDA: request->cuda = value; return 0;
	case DW_OPTION_NO_MPI: request->no_mpi = true; return 0;
	case DW_OPTION_SAMPLE: return run_take_sample(value, request);
	case DW_OPTION_NO_ONNX: request->no_onnx = true; return 0;
	case DW_OPTION_NO_GGML: request->no_ggml = true; return 0;
	case DW_OPTION_SUMMARY_EVERY:
		return dw_parse_time("summary-every", value, 1000, &request->summary_every_ms) ? 0 : -1;
	case DW_OPTION_GATHER: request->gather = value; return 0;
	case DW_OPTION_ALWAYS: request->always = true; return 0;
	case DW_OPTION_COST: return run_take_cost(value, request);
	case DW_OPTION_PACK: request->pack = true; return 0;
	case DW_OPTION_FUNCTIONS: return run_take_functions(value, &options->categories);
	default: return 0;
	}
}

/* Says what is known only after the run. Returns whether it has ranks. */
static bool run_say(const char *trace, const char *step_on)
{
	struct dwell_error error = { 0, "" };
	struct dw_source *source;
	bool ranks = false;
	char text[1024];

	if (dw_source_open(&source, &trace, 1, &error) != 0)
		return false;
	if (step_on && dw_view_step_on(source, text, sizeof text))
		dw_say("%s", text);
	dw_injected_say(source);
	dw_lacks_say(source);
	for (size_t i = 0; i < source->process_count; i++)
		ranks |= source->processes[i].world_size > 1;
	dw_source_close(source);
	return ranks;
}

int dw_cmd_run(const struct dw_verb *verb, int argc, char **argv)
{
	struct dw_run_request request = { .options = DWELL_OPTIONS_INIT };
	char trace[4096];
	bool done;

	request.options.categories = DWELL_MASK_DEFAULT;
	int operands = dw_options_parse(verb, argc, argv, true, run_take_option, &request, &done);
	if (done)
		return 0;
	if (operands < 0)
		return DW_EXIT_USAGE;
	if (operands == 0) {
		dw_say("no command is given (dwell run [OPTION...] COMMAND...)");
		return DW_EXIT_USAGE;
	}
	request.command = dw_script_command(argv);
	if (request.serve)
		request.options.categories = DWELL_MASK_NONE;
	if (request.always)
		run_set_always(&request);
	run_bound_cost(&request);
	int status = dw_run(&request, trace);
	if (trace[0]) {
		if (run_say(trace, request.step_on) || request.summary_every_ms)
			dw_run_summary_write(trace, request.gather);
		if (request.pack)
			dw_pack_after_run(trace);
	}
	dw_gather_end(trace);
	if (trace[0])
		dw_run_say_where(trace);
	return dw_program_end(status);
}

#define RUN_TIMED_OUT 124 /* what timeout(1) exits with */

/* Whether the program failed: not if somebody ended it, as by Ctrl-C or timeout(1). */
static bool run_has_failed(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) != SIGINT && WTERMSIG(status) != SIGTERM && WTERMSIG(status) != SIGHUP;
	status = WEXITSTATUS(status);
	return status && status != RUN_TIMED_OUT && status != 128 + SIGINT && status != 128 + SIGTERM;
}

/* What the program mainly did, and which exception ended it, as far as the trace says it; or "". */
static void run_until_end(const char *path, char *text, size_t size, char *uncaught, size_t uncaught_size)
{
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;

	text[0] = uncaught[0] = '\0';
	if (dwell_trace_open(&trace, &path, 1, NULL, &error))
		return;
	dw_view_until_end(dw_trace_model(trace), text, size);
	snprintf(uncaught, uncaught_size, "%s", dw_view_uncaught(dw_model_source(dw_trace_model(trace))));
	dwell_trace_close(trace);
}

/* In place of a report below the program's own message. */
static void run_say_failed(const char *name, int status, const char *trace)
{
	char quoted[DW_QUOTED_BYTES], did[1200], uncaught[300];

	run_until_end(trace, did, sizeof did, uncaught, sizeof uncaught);
	if (WIFSIGNALED(status))
		dw_say("%s was ended by signal %d (%s)", name, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		dw_say("%s failed: exit status %d%s%s", name, WEXITSTATUS(status), *uncaught ? ", by the exception " : "",
		       uncaught);
	dw_say("%s%s: dwell report %s", *did ? "until then: " : "what it did until then", did, dw_quote(trace, quoted));
}

int dw_run_command(char **command)
{
	struct dw_run_request request = { .options = DWELL_OPTIONS_INIT };
	char trace[4096];

	if (!*command) {
		dw_say("no command is given (dwell COMMAND...)");
		return DW_EXIT_USAGE;
	}
	request.command = dw_script_command(command);
	run_bound_cost(&request);
	int status = dw_run(&request, trace);
	if (trace[0] && run_has_failed(status)) {
		run_say_failed(command[0], status, trace);
	} else if (trace[0]) {
		run_say(trace, NULL);
		dw_report_after_run(trace);
	}
	return dw_program_end(status);
}
