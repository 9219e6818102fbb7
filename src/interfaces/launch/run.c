/* Runs a program under dwell; see run.h. */
#include "launch/run.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/limits.h"
#include "base/text.h"
#include "format/keys.h"
#include "launch/new_trace.h"
#include "launch/run_end.h"
#include "launch/run_entry.h"
#include "launch/run_note.h"
#include "launch/run_program.h"
#include "machine/apart.h"
#include "machine/machine.h"
#include "program/injected.h"
#include "program/lacks.h"
#include "program/preload.h"
#include "rank/gather.h"
#include "rank/run_serve.h"
#include "rank/run_summary.h"
#include "record/file.h"
#include "record/process_state.h"
#include "record/session_state.h"
#include "say/say.h"

/* ---- the trace's file ------------------------------------------------------------ */

/* Returns 0, or a negative DWELL_E_* after setting `error`. */
static int run_absolute_path(const char *path, char result[4096], struct dwell_error *error)
{
	char folder[2048] = "";
	int length = -1;

	if (path[0] == '/')
		length = snprintf(result, 4096, "%s", path);
	else if (getcwd(folder, sizeof folder))
		length = snprintf(result, 4096, "%s/%s", strcmp(folder, "/") ? folder : "", path);
	else if (errno == ENOENT)
		return dw_error_set(error, DWELL_E_IO, "the working folder was removed: name the trace by its whole path with -o");
	if (length >= 0 && length < 4096)
		return 0;
	return dw_error_set(error, DWELL_E_ARGUMENT, "the path of the trace is too long: %.64s...", path);
}

#define RUN_MEMORY_SHARE 10 /* of the limit of memory: what a trace in memory may take */

/* A file of tmpfs counts as memory of the control group: a trace there must not take what the program needs. Lowers the
 * size limit that the user did not choose. */
static void run_bound_in_memory(const char *path, struct dwell_options *options)
{
	double limit = dw_limits_of_groups(DW_LIMIT_MEMORY, "/proc/self/cgroup", "/sys/fs/cgroup");
	uint64_t most = (uint64_t)(limit / RUN_MEMORY_SHARE);
	bool chosen = options->max_size_bytes != 0;
	char folder[4096];
	struct statfs system;

	snprintf(folder, sizeof folder, "%s", path);
	*(strrchr(folder, '/') + 1) = '\0';
	if (!(limit > 0) || statfs(folder, &system) != 0 || (system.f_type != TMPFS_MAGIC && system.f_type != RAMFS_MAGIC) ||
	    most >= (chosen ? options->max_size_bytes : (uint64_t)2 << 30))
		return;
	if (most < DW_FILE_LEAST_BYTES)
		most = DW_FILE_LEAST_BYTES;
	if (!chosen)
		options->max_size_bytes = most;
	dw_say("%s is in memory, and this control group may use %s: the trace may grow to %s (--max-size, or a file on a disk with -o)",
	       folder, dw_text_bytes(limit, " ").at, dw_text_bytes((double)options->max_size_bytes, " ").at);
}

/* A new trace of a run. */
struct run_new {
	struct dwell_options options;
	bool bounded;
	const char *spill;
	char *wanted, *actual;
	struct dwell_error *error;
};

static int run_create_one(void *context, const char *path)
{
	struct run_new *new = context;
	int code = run_absolute_path(path, new->wanted, new->error);

	if (code)
		return code;
	if (!new->bounded)
		run_bound_in_memory(new->wanted, &new->options);
	new->bounded = true;
	return dw_file_create(new->wanted, &new->options, NULL, new->spill, new->actual, new->error);
}

static int run_create_new(const struct dw_run_request *request, const char *spill, char *wanted,
                          char *actual, struct dwell_error *error)
{
	struct run_new new = { .options = request->options, .spill = spill, .wanted = wanted, .actual = actual, .error = error };
	const char *elsewhere;
	int fd = dw_new_trace(request->command, run_create_one, &new, &elsewhere);

	if (fd >= 0 && elsewhere)
		dw_say("this folder %s; recording to %s", elsewhere, wanted);
	return fd;
}

static int run_create_trace(const struct dw_run_request *request, char *wanted, char *actual,
                            struct dwell_error *error)
{
	struct dwell_options options = request->options;
	const char *spill = getenv("DWELL_SPILL");
	int code;

	if (!options.path)
		return run_create_new(request, spill, wanted, actual, error);
	options.overwrite = true; /* the user named the file, so it may be replaced */
	code = run_absolute_path(options.path, wanted, error);
	if (!code)
		run_bound_in_memory(wanted, &options);
	return code ? code : dw_file_create(wanted, &options, NULL, spill, actual, error);
}

#define SAMPLE_HZ 100u /* if the user does not say it */

/* ---- the program ------------------------------------------------------------------- */

struct run_start {
	const struct dw_run_request *request;
	const struct dw_executable *executable;
	const char *trace;
	const uint8_t *run_id;
};

/* The variables by which the recorder in the program knows what to do. */
static void run_set_environment(const struct run_start *start)
{
	const struct dw_run_request *request = start->request;
	char id[33], options[320], period[24];

	for (int i = 0; i < 16; i++)
		snprintf(id + (size_t)i * 2, 3, "%02x", start->run_id[i]);
	setenv("DWELL_TRACE", start->trace, 1);
	setenv("DWELL_RUN", id, 1);
	snprintf(options, sizeof options, "cost=%u step-on=%s", request->cost,
	         request->step_on ? request->step_on : "");
	setenv("DWELL_OPTIONS", options, 1);
	/* Their cost has a limit where the user did not choose their number. */
	snprintf(period, sizeof period, "%u%s%s", 1000000000u / (request->sample_hz ? request->sample_hz : SAMPLE_HZ),
	         request->sample_hz ? "" : "/1000", request->sample_perf ? " perf" : "");
	if (request->no_samples)
		snprintf(period, sizeof period, "0");
	setenv("DWELL_SAMPLE", period, 1);
	snprintf(period, sizeof period, "%llu", (unsigned long long)request->heap_bytes);
	setenv("DWELL_HEAP", period, 1);
	if (request->counters)
		setenv("DWELL_ENERGY", "1", 1);
	if (request->cuda)
		setenv("DWELL_CUDA", request->cuda, 1);
	snprintf(period, sizeof period, "%ld", (long)getppid());
	setenv("DWELL_RUNNER", period, 1);
}

/* In the child process. */
static void run_execute(const void *context)
{
	const struct run_start *start = context;
	const struct dw_run_request *request = start->request;
	const uint32_t functions = 1u << DWELL_CATEGORY_FUNCTION | DWELL_DETAIL_C_FUNCTIONS;
	const struct dw_preload preload = {
		.functions = (request->options.categories & functions) == functions,
		.mpi = !request->no_mpi,
		.ggml = !request->no_ggml,
		.onnx = !request->no_onnx,
		.sampler = !request->no_samples || request->step_on,
		.heap = request->heap_bytes > 0,
	};

	close(dw_session.fd); /* where few files may be open */
	run_set_environment(start);
	dw_injected_set(start->executable, !request->no_itt, !request->no_nvtx);
	dw_injected_set_cuda(start->executable, !request->no_cuda);
	dw_preload(start->executable, &preload);
	execvp(request->command[0], request->command);
	int why = dw_executable_why_not(request->command[0], errno);
	bool is_here = why == ENOENT && !strchr(request->command[0], '/') && access(request->command[0], X_OK) == 0;
	fprintf(stderr, "dwell: cannot run %s: %s%s%s\n", request->command[0], strerror(why),
	        is_here ? "; this folder has one: ./" : "", is_here ? request->command[0] : "");
	_exit(why == ENOENT || why == ENOTDIR ? DW_EXIT_NOT_FOUND : DW_EXIT_CANNOT_RUN);
}

/* The program has ended and is not reaped. */
static void run_note_end(pid_t program)
{
	dw_run_note_delay(program);
	dw_machine_end();
	dw_apart_last_look(program);
}

/* In the thread that watches the machine. */
static void run_look(const struct dw_processes *processes)
{
	dw_apart_look(processes);
	dw_run_see_size();
}

/* Returns the program's status as waitpid() does, or -1. */
static int run_program(const struct dw_run_request *request, const struct dw_executable *executable, const char *trace,
                       struct dw_run_usage *used)
{
	const struct run_start start = { request, executable, trace, dw_session.map->run_id };
	uint64_t began_ns = dw_clock_monotonic_ns();
	struct rusage usage = { .ru_nvcsw = 0 };
	enum dw_loss cause;
	int status;
	pid_t program = dw_program_start(request->command[0], run_execute, &start);

	if (program < 0)
		return -1;
	dw_run_note_kills_before();
	if (!executable->refusal)
		dw_apart_begin(program);
	dw_machine_watch(program, run_look);
	dw_file_measure_clock(dw_session.map);
	if (dw_process_ready(&cause)) /* while the program starts, so that it does not wait for this */
		dw_run_note_machine();
	dw_run_summary_begin(trace, program, request->summary_every_ms, request->slow_bytes);
	status = dw_program_wait(program, run_note_end, &usage);
	dw_run_note_wall(dw_clock_monotonic_ns() - began_ns);
	if (status >= 0) {
		dw_run_note_status(status, program);
		dw_run_note_kills(status);
	}
	used->cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
	               (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
	dw_run_summary_end();
	return status;
}

/* Whether a process of the program records. */
static bool run_has_joined(void)
{
	return dw_session.map->next_gate > 2; /* the first gate belongs to this process */
}

/* Says why no library was loaded into the program, if it is known, and returns whether it is. A static program may have executed
 * another one, as packed programs do: that one is recorded. */
static bool run_warn_apart(const struct dw_run_request *request, const struct dw_executable *executable)
{
	if (executable->own_refusal)
		dw_say("nothing was recorded: %s", executable->own_refusal);
	if (executable->own_refusal && !executable->refusal && !request->no_samples)
		dwell_meta(DW_KEY_SAMPLE_LACKS, executable->own_refusal);
	if (executable->rights)
		dw_say("nothing was recorded: %s is %s, and the system loads no other libraries into such "
		       "a program; run it as its owner, or a copy of it", executable->path, executable->rights);
	return executable->own_refusal || executable->rights;
}

/* Warns if the size limit is larger than the free disk space: it is no error, but not what the user
 * expects. */
static void run_warn_budget(const struct dw_run_request *request)
{
	uint64_t bytes = (uint64_t)dw_session.map->max_blocks * DW_BLOCK_BYTES;

	if (request->options.max_size_bytes / DW_BLOCK_BYTES > dw_session.map->max_blocks)
		dw_say("--max-size: the trace will grow to %.1f GiB at most, a tenth of the free disk space",
		       (double)bytes / (1 << 30));
}

/* Stores what is known before the program starts. */
static void run_note_before(const struct dw_run_request *request, const struct dw_executable *executable)
{
	const char *refusal = request->no_samples ? NULL : executable->refusal;

	dw_lacks_note(executable, !request->no_mpi, !request->no_ggml, !request->no_cuda, !request->no_nvtx, !request->no_itt);
	if (request->options.categories & DWELL_DETAIL_FLOPS)
		dw_run_note_peaks();
	if (request->counters)
		dw_run_allow_counters();
	if (refusal)
		dwell_meta(DW_KEY_SAMPLE_LACKS, refusal);
	if (request->sample_perf && !(request->no_samples ? NULL : executable->own_refusal))
		dw_run_note_perf();
}

/* Passes the name on to the processes. Each says itself what comes of it. */
static void run_set_step(const struct dw_executable *executable, const char *step_on)
{
	const char *problem = dw_run_set_entry(executable, step_on);

	if (problem)
		dwell_meta(DW_KEY_NATIVE_STEP_ON, problem);
}

/* Creates the trace and makes it this process's session. */
static int run_open_trace(const struct dw_run_request *request, char *wanted, char *actual)
{
	struct dwell_error error = { 0, "" };
	int fd = run_create_trace(request, wanted, actual, &error);

	if (fd < 0 || dw_session_adopt(fd, actual, false, &error) != 0) {
		dw_say("%s", error.message);
		return -1;
	}
	if (strcmp(wanted, actual) != 0)
		dw_say("%s cannot be mapped there; recording to %s and copying at the end", wanted, actual);
	run_warn_budget(request);
	return 0;
}

/* Runs the program and the capture service. Returns a status as of waitpid(), or minus an exit status if it did not start. */
static int run_with_service(const struct dw_run_request *request, const struct dw_executable *executable, const char *trace,
                            int listener, unsigned port, struct dw_run_usage *used)
{
	pid_t server = -1;
	int status;

	if (listener >= 0) {
		server = dw_run_serve_start(listener, port, trace);
		close(listener);
		if (server < 0)
			return -DW_EXIT_USAGE;
	}
	if (request->step_on)
		run_set_step(executable, request->step_on);
	status = run_program(request, executable, trace, used);
	dw_run_serve_end(server);
	return status < 0 ? -DW_EXIT_RUN_FAILED : status;
}

/* Whether the program was not executed: its child process has said why. */
static bool run_is_nothing(int status)
{
	return !run_has_joined() && WIFEXITED(status) &&
	       (WEXITSTATUS(status) == DW_EXIT_NOT_FOUND || WEXITSTATUS(status) == DW_EXIT_CANNOT_RUN);
}

int dw_run(const struct dw_run_request *request, char *trace)
{
	static char wanted[4096], actual[4096];
	static struct dw_executable executable;
	enum dw_loss cause;
	int status, listener = -1;
	struct dw_run_usage used = { .cpu_ns = 0 };
	unsigned port = 0;

	trace[0] = '\0';
	dw_program_begin();
	dw_executable_find(&executable, request->command[0]); /* while a file can be opened */
	if (executable.no_program) {
		dw_say("cannot run %s: %s", request->command[0], executable.no_program);
		return W_EXITCODE(DW_EXIT_CANNOT_RUN, 0);
	}
	if (request->heap_bytes && executable.own_refusal)
		dw_say("--memory=malloc records nothing: %s", executable.own_refusal);
	if (request->serve && (listener = dw_run_listen(request->serve, &port)) < 0)
		return W_EXITCODE(DW_EXIT_USAGE, 0);
	if (run_open_trace(request, wanted, actual) != 0)
		return W_EXITCODE(DW_EXIT_RUN_FAILED, 0);
	if (!dw_gather_begin(request->gather, actual)) {
		unlink(actual);
		return W_EXITCODE(DW_EXIT_RUN_FAILED, 0);
	}
	dw_session.runner = true;
	if (dw_process_ready(&cause))
		run_note_before(request, &executable);
	status = run_with_service(request, &executable, actual, listener, port, &used);
	if (status < 0) {
		unlink(actual);
		return W_EXITCODE(-status, 0);
	}
	if (request->step_on)
		dwell_meta(DW_KEY_STEP_ON, request->step_on);
	if (!run_has_joined() && !run_is_nothing(status))
		used.is_named = run_warn_apart(request, &executable);
	if (run_is_nothing(status))
		unlink(actual);
	else
		dw_run_finish(wanted, actual, &used, trace);
	dw_program_release();
	return status;
}
