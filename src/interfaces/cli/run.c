/* Runs a program under dwell; see run.h. */
#include "cli/run.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/preload.h"
#include "cli/run_apart.h"
#include "cli/run_end.h"
#include "cli/run_entry.h"
#include "cli/run_gather.h"
#include "cli/run_injected.h"
#include "cli/run_lacks.h"
#include "cli/run_note.h"
#include "cli/run_program.h"
#include "cli/run_serve.h"
#include "cli/run_summary.h"
#include "format/keys.h"
#include "record/file.h"
#include "record/record.h"

/* ---- the trace's name ------------------------------------------------------------ */

static const char *run_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void dw_run_name(char **command, char *name, size_t size)
{
	const char *word = run_last_part(command[0]);

	if (strncmp(word, "python", 6) == 0)
		for (int i = 1; command[i]; i++) {
			size_t length = strlen(command[i]);

			if (length > 3 && strcmp(command[i] + length - 3, ".py") == 0) {
				word = run_last_part(command[i]);
				break;
			}
			if (strcmp(command[i], "-m") == 0 && command[i + 1]) {
				word = command[i + 1];
				break;
			}
		}
	snprintf(name, size, "%s", word);
	size_t length = strlen(name);
	if (length > 3 && strcmp(name + length - 3, ".py") == 0)
		name[length - 3] = '\0';
}

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

/* Creates the first of NAME.dwell, NAME-2.dwell, ... that does not exist in a folder. */
static int run_create_in(const char *folder, const struct dw_run_request *request,
                         const char *spill,
                         char *wanted, char *actual, struct dwell_error *error)
{
	struct dwell_options options = request->options;
	char name[256], path[4096];
	int fd = DWELL_E_EXISTS;

	dw_run_name(request->command, name, sizeof name);
	for (int i = 1; i < 10000 && fd == DWELL_E_EXISTS; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof number, "-%d", i);
		snprintf(path, sizeof path, "%s%s%s%s.dwell", folder, *folder ? "/" : "", name, number);
		fd = run_absolute_path(path, wanted, error);
		if (fd == 0 && i == 1)
			run_bound_in_memory(wanted, &options);
		if (fd == 0)
			fd = dw_file_create(wanted, &options, NULL, spill, actual, error);
	}
	return fd;
}

/* Creates the trace in this folder, or in the folder of temporary files if this one was removed or is read-only. */
static int run_create_new(const struct dw_run_request *request, const char *spill, char *wanted,
                          char *actual, struct dwell_error *error)
{
	const char *temporary = getenv("TMPDIR");
	char folder[2048];
	bool is_there = getcwd(folder, sizeof folder) || errno != ENOENT;
	int fd;

	if (is_there && access(".", W_OK) == 0)
		return run_create_in("", request, spill, wanted, actual, error);
	if (!temporary || temporary[0] != '/')
		temporary = "/tmp";
	fd = run_create_in(temporary, request, spill, wanted, actual, error);
	if (fd >= 0)
		dw_say("this folder %s; recording to %s", is_there ? "cannot be written to" : "was removed", wanted);
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
	dw_injected_set(request->command[0], !request->no_itt, !request->no_nvtx);
	dw_injected_set_cuda(request->command[0], !request->no_cuda);
	dw_preload(request->command[0], &preload);
	execvp(request->command[0], request->command);
	int status = errno == ENOENT || errno == ENOTDIR ? DW_EXIT_NOT_FOUND : DW_EXIT_CANNOT_RUN;
	fprintf(stderr, "dwell: cannot run %s: %s\n", request->command[0], strerror(errno));
	_exit(status);
}

static uint64_t run_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The program has ended and is not reaped. */
static void run_note_end(pid_t program)
{
	dw_run_note_delay(program);
	dw_machine_end();
	dw_apart_last_look(program);
}

/* Returns the program's status as waitpid() does, or -1. */
static int run_program(const struct dw_run_request *request, const char *trace, struct dw_run_usage *used)
{
	const struct run_start start = { request, trace, dw_session.map->run_id };
	uint64_t began_ns = run_now_ns();
	struct rusage usage = { .ru_nvcsw = 0 };
	enum dw_loss cause;
	int status;
	pid_t program = dw_program_start(request->command[0], run_execute, &start);

	if (program < 0)
		return -1;
	if (!dw_preload_refusal(request->command[0]))
		dw_apart_begin(program);
	dw_machine_watch(program);
	dw_file_measure_clock(dw_session.map);
	if (dw_process_ready(&cause)) /* while the program starts, so that it does not wait for this */
		dw_run_note_machine();
	dw_run_summary_begin(trace, program, request->summary_every_ms, request->slow_bytes);
	status = dw_program_wait(program, run_note_end, &usage);
	dw_run_note_wall(run_now_ns() - began_ns);
	if (status >= 0)
		dw_run_note_status(status, program);
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

/* Says why no library was loaded into the program, if it is known, and returns whether it is: because of how it is linked, or because it runs with more rights than
 * its caller. The kernel then loads none of the caller's, and the recorder ignores the environment. */
static bool run_warn_apart(const char *program)
{
	const char *what = NULL, *refusal = dw_preload_library_refusal(program);
	char path[4096], value[64];
	struct stat status;

	if (refusal)
		dw_say("nothing was recorded: %s", refusal);

	if (!dw_find_program(program, path) || stat(path, &status) != 0)
		return refusal != NULL;
	if (status.st_mode & S_ISUID && status.st_uid != geteuid())
		what = "set-user-ID";
	else if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getegid())
		what = "set-group-ID";
	else if (geteuid() != 0 && getxattr(path, "security.capability", value, sizeof value) > 0)
		what = "given capabilities";
	if (what)
		dw_say("nothing was recorded: %s is %s, and the system loads no other libraries into such "
		       "a program; run it as its owner, or a copy of it", path, what);
	return refusal || what;
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
static void run_note_before(const struct dw_run_request *request)
{
	const char *program = request->command[0], *refusal;

	dw_lacks_note(program, !request->no_mpi, !request->no_ggml, !request->no_cuda, !request->no_nvtx, !request->no_itt);
	if (request->options.categories & DWELL_DETAIL_FLOPS)
		dw_run_note_peaks();
	if (request->counters)
		dw_run_allow_counters();
	refusal = request->no_samples ? NULL : dw_preload_library_refusal(program);
	if (refusal)
		dwell_meta(DW_KEY_SAMPLE_LACKS, refusal);
	if (request->sample_perf && !refusal)
		dw_run_note_perf();
}

/* Passes the name on to the processes. Each says itself what comes of it. */
static void run_set_step(const struct dw_run_request *request)
{
	const char *problem = dw_run_set_entry(request->command[0], request->step_on);

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
static int run_with_service(const struct dw_run_request *request, const char *trace, int listener, unsigned port,
                            struct dw_run_usage *used)
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
		run_set_step(request);
	status = run_program(request, trace, used);
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
	enum dw_loss cause;
	int status, listener = -1;
	struct dw_run_usage used = { .cpu_ns = 0 };
	unsigned port = 0;

	trace[0] = '\0';
	dw_program_begin();
	dw_preload_library_refusal(request->command[0]); /* while a file can be opened; the answer is kept */
	if (request->serve && (listener = dw_run_listen(request->serve, &port)) < 0)
		return W_EXITCODE(DW_EXIT_USAGE, 0);
	if (run_open_trace(request, wanted, actual) != 0)
		return W_EXITCODE(DW_EXIT_RUN_FAILED, 0);
	dw_gather_begin(request->gather, actual);
	dw_session.runner = true;
	if (dw_process_ready(&cause))
		run_note_before(request);
	status = run_with_service(request, actual, listener, port, &used);
	if (status < 0) {
		unlink(actual);
		return W_EXITCODE(-status, 0);
	}
	if (request->step_on)
		dwell_meta(DW_KEY_STEP_ON, request->step_on);
	if (!run_has_joined() && !run_is_nothing(status))
		used.is_named = run_warn_apart(request->command[0]);
	if (run_is_nothing(status))
		unlink(actual);
	else
		dw_run_finish(wanted, actual, &used, trace);
	dw_program_release();
	return status;
}
