/* Runs a program under dwell; see run.h. */
#include "cli/run.h"
#include "cli/run_summary.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/bandwidth.h"
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/peak.h"
#include "cli/preload.h"
#include "cli/run_apart.h"
#include "cli/run_entry.h"
#include "cli/run_gather.h"
#include "cli/run_injected.h"
#include "cli/run_lacks.h"
#include "cli/symbolize.h"
#include "format/keys.h"
#include "format/perf_event.h"
#include "record/cost.h"
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

static int run_absolute_path(const char *path, char *result, size_t size)
{
	char folder[2048];

	if (path[0] == '/')
		return snprintf(result, size, "%s", path) < (int)size ? 0 : -1;
	if (!getcwd(folder, sizeof folder))
		return -1;
	return snprintf(result, size, "%s/%s", folder, path) < (int)size ? 0 : -1;
}

/* Creates the first of NAME.dwell, NAME-2.dwell, ... that does not exist in a folder. */
static int run_create_in(const char *folder, const struct dw_run_request *request,
                         const char *spill,
                         char *wanted, char *actual, struct dwell_error *error)
{
	char name[256], path[4096];
	int fd = DWELL_E_EXISTS;

	dw_run_name(request->command, name, sizeof name);
	for (int i = 1; i < 10000 && fd == DWELL_E_EXISTS; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof number, "-%d", i);
		if (snprintf(path, sizeof path, "%s%s%s%s.dwell", folder, *folder ? "/" : "", name,
		             number) >= (int)sizeof path || run_absolute_path(path, wanted, 4096) != 0)
			return DWELL_E_IO;
		fd = dw_file_create(wanted, &request->options, NULL, spill, actual, error);
	}
	return fd;
}

/* Creates the trace in this folder, or in the folder of temporary files if this one is read-only. */
static int run_create_new(const struct dw_run_request *request, const char *spill, char *wanted,
                          char *actual, struct dwell_error *error)
{
	const char *temporary = getenv("TMPDIR");
	int fd;

	if (access(".", W_OK) == 0)
		return run_create_in("", request, spill, wanted, actual, error);
	if (!temporary || temporary[0] != '/')
		temporary = "/tmp";
	fd = run_create_in(temporary, request, spill, wanted, actual, error);
	if (fd >= 0)
		dw_say("this folder cannot be written to; recording to %s", wanted);
	return fd;
}

static int run_create_trace(const struct dw_run_request *request, char *wanted, char *actual,
                            struct dwell_error *error)
{
	struct dwell_options options = request->options;
	const char *spill = getenv("DWELL_SPILL");

	if (!options.path)
		return run_create_new(request, spill, wanted, actual, error);
	if (run_absolute_path(options.path, wanted, 4096) != 0) {
		snprintf(error->message, sizeof error->message, "the path %.64s... is too long",
		         options.path);
		return DWELL_E_ARGUMENT;
	}
	options.overwrite = true; /* the user named the file, so it may be replaced */
	return dw_file_create(wanted, &options, NULL, spill, actual, error);
}

/* ---- what the machine is ---------------------------------------------------------- */

static void run_note_machine(void)
{
	struct utsname kernel;
	char line[256], text[64];
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof line, file)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && value) {
			value[strcspn(value, "\n")] = '\0';
			dwell_meta("host.cpu", value + 2);
			break;
		}
	}
	if (file)
		fclose(file);
	snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	dwell_meta_json("host.cpus", text);
	snprintf(text, sizeof text, "%u", dw_limits_cpus());
	dwell_meta_json(DW_KEY_CPUS_ALLOWED, text);
	snprintf(text, sizeof text, "%.0f",
	         (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
	dwell_meta_json("host.memory", text);
	snprintf(text, sizeof text, "%.0f", dw_limits_memory());
	dwell_meta_json(DW_KEY_MEMORY_ALLOWED, text);
	if (uname(&kernel) == 0) {
		dwell_meta("host.kernel", kernel.release);
		dwell_meta("host.machine", kernel.machine);
	}
	dw_machine_note();
}

static void run_note_cost(void)
{
	char text[32];

	snprintf(text, sizeof text, "%.2f", dw_cost_range_ns(dw_session.clock_kind));
	dwell_meta_json(DW_KEY_COST_RANGE_NS, text);
}

/* Stores the peaks that FLOPs and bytes are compared with. */
static void run_note_peaks(void)
{
	struct dw_peak peak;
	char text[160];

	dw_peak_measure(&peak);
	snprintf(text, sizeof text, "%.0f", peak.flops_per_second);
	dwell_meta_json(DW_KEY_PEAK_FLOPS, text);
	snprintf(text, sizeof text,
	         "single precision multiply-adds in registers, %s, %u thread%s at once; one of them "
	         "%.1f GFLOP/s", peak.vectors, peak.threads, peak.threads == 1 ? "" : "s",
	         peak.one_thread / 1e9);
	dwell_meta("peak_flops_measured_as", text);
	snprintf(text, sizeof text, "%.0f", dw_bandwidth_measure());
	dwell_meta_json("host.bandwidth", text);
}

/* Lets the program's threads read the processor's counters, if the kernel permits it. */
static void run_allow_counters(void)
{
	struct dw_counters counters = { { 0 }, { 0 }, false };
	int error = dw_counters_open(&counters);
	const char *reason = "this machine offers none, as most virtual machines";
	char text[200];

	dw_counters_close(&counters);
	if (!error) {
		__atomic_fetch_or(&dw_session.map->flags, DW_HEAD_COUNTERS, __ATOMIC_RELEASE);
		return;
	}
	if (error == EACCES || error == EPERM)
		reason = "not permitted: write 2 or less to /proc/sys/kernel/perf_event_paranoid, or permit "
		         "perf_event_open in this container";
	snprintf(text, sizeof text, "the processor's counters cannot be read: %s (perf_event_open: %s)", reason,
	         strerror(error));
	dw_say("%s", text);
	dwell_meta(DW_KEY_COUNTERS_LACK, text);
}

/* Says how stacks are sampled. Without the permission the program's sampler uses timers. */
static void run_note_perf(void)
{
	char text[300];
	int fd = dw_perf_event_open_samples(1000000000), error = errno;

	if (fd >= 0) {
		close(fd);
		dw_say("stacks are sampled by perf events, with the kernel's functions");
		return;
	}
	snprintf(text, sizeof text, "perf events are not permitted (perf_event_open: %s): set kernel.perf_event_paranoid to 1 or "
	         "less, give the program CAP_PERFMON, or permit perf_event_open in this container; timers of CPU time sample the "
	         "other functions", strerror(error));
	dw_say("--sample=perf: %s", text);
	dwell_meta(DW_KEY_SAMPLE_KERNEL_LACKS, text);
}

static void run_note_status(int status, pid_t pid)
{
	char text[48];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof text, "{\"signal\":%d,\"pid\":%d}", WTERMSIG(status), (int)pid);
	else
		snprintf(text, sizeof text, "{\"exit\":%d,\"pid\":%d}", WEXITSTATUS(status), (int)pid);
	dwell_meta_json(DW_KEY_STATUS, text);
}

/* Stores how long the program's main thread was ready to run and had no core. Without it a busy
 * machine looks like a program that waits. Must be called after the program ended and before
 * waitpid() reaps it. */
static void run_note_delay(pid_t pid)
{
	unsigned long long ran_ns, delayed_ns;
	char path[48], text[24];
	siginfo_t info = { 0 };
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != pid ||
	    !(file = fopen(path, "r")))
		return;
	if (fscanf(file, "%llu %llu", &ran_ns, &delayed_ns) == 2) {
		snprintf(text, sizeof text, "%llu", delayed_ns);
		dwell_meta_json(DW_KEY_DELAY_NS, text);
	}
	fclose(file);
}

#define SAMPLE_HZ 100u /* if the user does not say it */

/* ---- the program ------------------------------------------------------------------- */

static volatile sig_atomic_t child;

/* A signal sent to this process alone is meant for the program and is forwarded. A terminal sends
 * signals to the whole process group, so the program has received those already. */
static void run_pass_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (child > 0 && info->si_code <= 0 && info->si_pid != child)
		kill((pid_t)child, signal);
}

static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT,
                              SIGWINCH };
#define PASSED (sizeof passed / sizeof *passed)

static void run_catch_signals(struct sigaction old[PASSED])
{
	struct sigaction action = { .sa_sigaction = run_pass_signal,
	                            .sa_flags = SA_SIGINFO | SA_RESTART };

	for (size_t i = 0; i < PASSED; i++) {
		sigaction(passed[i], NULL, &old[i]);
		/* nohup and background jobs of shells ignore some signals: keep them ignored, here and in
		 * the program */
		if (old[i].sa_handler != SIG_IGN)
			sigaction(passed[i], &action, &old[i]);
	}
}

static void run_start_child(const struct dw_run_request *request, const char *trace,
                            const uint8_t run_id[16], const struct sigaction old[PASSED],
                            const sigset_t *mask)
{
	char id[33], options[320], period[24];

	for (int i = 0; i < 16; i++)
		snprintf(id + (size_t)i * 2, 3, "%02x", run_id[i]);
	setenv("DWELL_TRACE", trace, 1);
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
	const uint32_t functions = 1u << DWELL_CATEGORY_FUNCTION | DWELL_DETAIL_C_FUNCTIONS;
	const struct dw_preload preload = {
		.functions = (request->options.categories & functions) == functions,
		.mpi = !request->no_mpi,
		.ggml = !request->no_ggml,
		.onnx = !request->no_onnx,
		.sampler = !request->no_samples || request->step_on,
		.heap = request->heap_bytes > 0,
	};
	dw_injected_set(request->command[0], !request->no_itt, !request->no_nvtx);
	dw_injected_set_cuda(request->command[0], !request->no_cuda);
	dw_preload(request->command[0], &preload);
	for (size_t i = 0; i < PASSED; i++)
		sigaction(passed[i], &old[i], NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(request->command[0], request->command);
	int status = errno == ENOENT || errno == ENOTDIR ? DW_EXIT_NOT_FOUND : DW_EXIT_CANNOT_RUN;
	fprintf(stderr, "dwell: cannot run %s: %s\n", request->command[0], strerror(errno));
	_exit(status);
}

/* Waits for the child process. If it is stopped, this process stops too, so that the shell sees a
 * stopped job. */
static int run_wait_for_child(void)
{
	int status;

	for (;;) {
		siginfo_t info;

		if (waitid(P_PID, (id_t)child, &info, WEXITED | WSTOPPED | WNOWAIT) == 0)
			run_note_delay((pid_t)child);
		pid_t done = waitpid((pid_t)child, &status, WUNTRACED);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		if (!WIFSTOPPED(status))
			return status;
		raise(SIGSTOP);
		kill((pid_t)child, SIGCONT);
	}
}

static uint64_t run_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Stores how long the program ran: it may have recorded little of it. */
static void run_note_wall(uint64_t began_ns)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)(run_now_ns() - began_ns));
	dwell_meta_json(DW_KEY_WALL_NS, text);
}

static int run_child(const struct dw_run_request *request, const char *trace,
                     const uint8_t run_id[16])
{
	struct sigaction old[PASSED];
	sigset_t all, mask;
	enum dw_loss cause;
	uint64_t began_ns;
	int status;

	/* Signals are blocked from the fork until the child's id is known, because they are
	 * forwarded. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	run_catch_signals(old);
	fflush(NULL);
	began_ns = run_now_ns();
	child = (sig_atomic_t)fork();
	if (child == 0)
		run_start_child(request, trace, run_id, old, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (child < 0) {
		fprintf(stderr, "dwell: cannot start %s: %s\n", request->command[0], strerror(errno));
		return -1;
	}
	dw_machine_watch((pid_t)child);
	dw_file_measure_clock(dw_session.map);
	if (dw_process_ready(&cause)) {
		/* while the program starts, so that it does not wait for this */
		run_note_machine();
		run_note_cost();
	}
	dw_run_summary_begin(trace, (pid_t)child, request->summary_every_ms, request->slow_bytes);
	status = run_wait_for_child();
	run_note_wall(began_ns);
	if (status >= 0)
		run_note_status(status, (pid_t)child);
	dw_run_summary_end();
	dw_machine_end();
	dw_apart_note(request->command[0]);
	child = 0;
	return status;
}

/* Opens a socket that listens at the port ("0" means any free port). Returns its descriptor, or -1
 * after an error message. The socket is opened before the program starts, so that a long run cannot
 * go on without the service that it was started with. */
static int run_listen_for_captures(const char *text, unsigned *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int on = 1, listener;
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number > 65535) {
		dw_say("--serve %s: give a port from 0 (any that is free) to 65535", text);
		return -1;
	}
	address.sin_port = htons((uint16_t)number);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener >= 0)
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (listener < 0 || bind(listener, (const struct sockaddr *)&address, length) != 0 ||
	    listen(listener, 64) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
		dw_say("--serve %s: cannot listen at this port: %s%s", text, strerror(errno),
		       errno == EADDRINUSE ? "; give another, or 0 for any that is free" : "");
		if (listener >= 0)
			close(listener);
		return -1;
	}
	*port = ntohs(address.sin_port);
	return listener;
}

/* Whether the service reports within 20 seconds that it is ready. */
static bool run_is_ready(int channel)
{
	struct pollfd polled = { channel, POLLIN, 0 };
	char word[6];
	int ready;

	do
		ready = poll(&polled, 1, 20000);
	while (ready < 0 && errno == EINTR);
	return ready > 0 && read(channel, word, sizeof word) == (ssize_t)sizeof word &&
	       memcmp(word, "ready\n", sizeof word) == 0;
}

static void run_end_serving(pid_t server)
{
	if (server <= 0)
		return;
	kill(server, SIGTERM);
	while (waitpid(server, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Starts the capture service. It ends at the latest with this process, which keeps the channel
 * open. Returns -1 after an error message if it did not start. */
static pid_t run_start_serving(int listener, unsigned port, const char *trace)
{
	int ends[2];
	pid_t server;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(listener, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		execl("/proc/self/exe", "dwell", "serve", "--inherited", trace, (char *)NULL);
		_exit(DW_EXIT_CANNOT_RUN);
	}
	close(ends[1]);
	if (server > 0 && run_is_ready(ends[0])) {
		dw_say("captures of %s at 127.0.0.1:%u", trace, port);
		return server;
	}
	run_end_serving(server);
	close(ends[0]);
	return -1;
}

/* ---- the end ------------------------------------------------------------------------ */

/* Helpers of a program, such as Python's resource tracker, often outlive it by milliseconds. Waits
 * up to a second: processes that still run then were left running by the program. */
static void run_wait_for_writers(void)
{
	struct timespec pause = { 0, 2000000 };

	for (long waited_ns = 0; waited_ns < 1000000000 &&
	                         dw_file_writers(dw_session.fd, dw_process->id);) {
		nanosleep(&pause, NULL);
		waited_ns += pause.tv_nsec;
		if (pause.tv_nsec < 100000000)
			pause.tv_nsec *= 2;
	}
}

static void run_warn_writers(const struct dw_finish *result)
{
	if (result->alive)
		fprintf(stderr, "dwell: %u process%s of this run still record%s to %s\n", result->alive,
		        result->alive == 1 ? "" : "es", result->alive == 1 ? "s" : "", result->path);
	else if (result->unknown)
		fprintf(stderr, "dwell: %u process%s of this run may still record to %s from another "
		        "container\n", result->unknown, result->unknown == 1 ? "" : "es", result->path);
}

/* Finishes the trace and copies its path to `trace`, or "" if there is none. */
static int run_finish(const char *wanted, const char *actual, bool nothing_ran, char *trace)
{
	struct dwell_error error = { 0, "" };
	struct dw_finish result = { .path = actual };
	bool spilled = strcmp(wanted, actual) != 0;

	if (nothing_ran) {
		unlink(actual);
		return 0;
	}
	dw_symbolize();
	dw_journal_clock();
	run_wait_for_writers();
	if (dw_file_finish(dw_session.fd, actual, spilled ? wanted : "", dw_process->id, &result,
	                   &error) != 0) {
		fprintf(stderr, "dwell: %s\n", error.message);
		return -1;
	}
	run_warn_writers(&result);
	if (result.alive || result.unknown)
		dw_gather_hold();
	memcpy(trace, result.path, strlen(result.path) + 1);
	return 0;
}

/* Warns if no library was loaded into the program: because of how it is linked, or because it runs with more rights than
 * its caller. The kernel then loads none of the caller's, and the recorder ignores the environment. */
static void run_warn_apart(const char *program)
{
	const char *what = NULL, *refusal = dw_preload_library_refusal(program);
	char path[4096], value[64];
	struct stat status;

	if (refusal)
		dw_say("nothing was recorded: %s", refusal);

	if (!dw_find_program(program, path) || stat(path, &status) != 0)
		return;
	if (status.st_mode & S_ISUID && status.st_uid != geteuid())
		what = "set-user-ID";
	else if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getegid())
		what = "set-group-ID";
	else if (geteuid() != 0 && getxattr(path, "security.capability", value, sizeof value) > 0)
		what = "given capabilities";
	if (what)
		dw_say("nothing was recorded: %s is %s, and the system loads no other libraries into such "
		       "a program; run it as its owner, or a copy of it", path, what);
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

static int run_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int dw_run(const struct dw_run_request *request, char *trace)
{
	static char wanted[4096], actual[4096];
	struct dwell_error error = { 0, "" };
	enum dw_loss cause;
	int fd, status, code, listener = -1;
	const char *problem;
	unsigned port = 0;
	pid_t server = -1;

	trace[0] = '\0';
	if (request->serve && (listener = run_listen_for_captures(request->serve, &port)) < 0)
		return DW_EXIT_USAGE;
	fd = run_create_trace(request, wanted, actual, &error);
	if (fd < 0 || dw_session_adopt(fd, actual, false, &error) != 0) {
		fprintf(stderr, "dwell: %s\n", error.message);
		return DW_EXIT_RUN_FAILED;
	}
	if (strcmp(wanted, actual) != 0)
		fprintf(stderr,
		        "dwell: %s cannot be mapped there; recording to %s and copying at the end\n",
		        wanted, actual);
	run_warn_budget(request);
	dw_gather_begin(request->gather, actual);
	dw_session.runner = true;
	if (dw_process_ready(&cause)) {
		dw_lacks_note(request->command[0], !request->no_mpi, !request->no_ggml, !request->no_cuda,
		              !request->no_nvtx, !request->no_itt);
		if (request->options.categories & DWELL_DETAIL_FLOPS)
			run_note_peaks();
		if (request->counters)
			run_allow_counters();
		problem = request->no_samples ? NULL : dw_preload_library_refusal(request->command[0]);
		if (problem)
			dwell_meta(DW_KEY_SAMPLE_LACKS, problem);
		if (request->sample_perf && !problem)
			run_note_perf();
	}
	if (request->serve) {
		server = run_start_serving(listener, port, actual);
		close(listener);
		if (server < 0) {
			unlink(actual);
			return DW_EXIT_USAGE;
		}
	}
	problem = request->step_on ? dw_run_set_entry(request->command[0], request->step_on) : NULL;
	if (request->step_on && (!problem || *problem)) /* the program itself says what comes of it */
		dwell_meta(DW_KEY_NATIVE_STEP_ON,
		           problem ? problem : "the program has this function, and loaded no library of dwell (it may be static)");
	status = run_child(request, actual, dw_session.map->run_id);
	run_end_serving(server);
	if (status < 0) {
		unlink(actual);
		return DW_EXIT_RUN_FAILED;
	}
	if (request->step_on)
		dwell_meta(DW_KEY_STEP_ON, request->step_on);
	code = run_exit_status(status);
	bool joined = dw_session.map->next_gate > 2; /* the first gate belongs to this process */
	bool nothing_ran = (code == DW_EXIT_NOT_FOUND || code == DW_EXIT_CANNOT_RUN) && !joined;
	if (!joined && !nothing_ran)
		run_warn_apart(request->command[0]);
	run_finish(wanted, actual, nothing_ran, trace);
	return code;
}
