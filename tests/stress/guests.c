/* Programs that must not notice the recorder: see guest.c. */
#include "stress.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* What happens in the process before it becomes the program. */
static void (*guests_prepare)(void);

static char guests_trace[64];

/* Starts a guest. */
static pid_t guests_start(const char *what, int number)
{
	char program[4096], argument[16];
	char *command[] = { program, (char *)(uintptr_t)what, argument, NULL };
	pid_t pid;

	snprintf(program, sizeof program, "%s/stress_guest", stress_programs);
	snprintf(argument, sizeof argument, "%d", number);
	snprintf(guests_trace, sizeof guests_trace, "%s-%d.dwell", what, number);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (guests_prepare)
			guests_prepare();
		stress_launch(guests_trace, command);
	}
	return pid;
}

/* Runs a guest, and reads its trace. */
static bool guests_run(const char *what, int number, struct trace *trace)
{
	CHECK_EXITED(stress_wait(guests_start(what, number)), 0);
	return stress_read(trace, guests_trace);
}

/* All that the guest recorded is in the trace. */
static void guests_record(const char *what, int number, uint64_t ranges)
{
	struct trace trace;

	if (guests_run(what, number, &trace)) {
		CHECK_U64(trace_count(&trace, TRACE_END, "guest"), ranges);
		CHECK_U64(trace_lost_all(&trace), 0);
	}
	trace_close(&trace);
}

/* ---- descriptors ---------------------------------------------------------------------- */

static void close_all(void)
{
	close_range(0, ~0u, 0);
}

static void close_from_three(void)
{
	close_range(3, ~0u, 0);
}

static void guests_open_files(void)
{
	guests_prepare = close_from_three;
	guests_record("opens-next", 3, 800000);
	guests_prepare = close_all;
	guests_record("opens-next", 0, 800000);
}

static void close_standard_error(void)
{
	close_from_three();
	close(2);
}

static void guests_without_standard_error(void)
{
	guests_prepare = close_standard_error;
	guests_record("no-standard-error", 0, 400000);
}

static void limit_descriptors(void)
{
	struct rlimit limit = { 4, 4 };

	close_from_three();
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void guests_with_few_descriptors(void)
{
	if (STRESS_SANITIZED)
		stress_skip("sanitizers need descriptors");
	guests_prepare = limit_descriptors;
	guests_record("all-descriptors", 4, 400010);
}

/* The program's file stays empty: nothing that was meant for the trace is written to it. */
static void guests_reuse_numbers(void)
{
	struct stat status;
	struct trace trace;

	guests_prepare = close_from_three;
	if (guests_run("closes-everything", 0, &trace))
		CHECK(trace_count(&trace, TRACE_END, "guest") > 100000);
	status.st_size = -1;
	CHECK(stat("own.txt", &status) == 0);
	CHECK_U64(status.st_size, 0);
	trace_close(&trace);
}

/* ---- address space --------------------------------------------------------------------- */

#define MOST_OWN_KB (16 << 10) /* of a program that records little */

static long guests_size_kb(bool recorded)
{
	char program[4096], size[] = "size", none[] = "0";
	char *command[] = { program, size, none, NULL };
	FILE *file;
	long kb = 0;
	pid_t pid;

	snprintf(program, sizeof program, "%s/stress_guest", stress_programs);
	fflush(NULL);
	pid = fork();
	if (pid == 0 && recorded)
		stress_launch("size.dwell", command);
	if (pid == 0) {
		execv(program, command);
		_exit(127);
	}
	CHECK_EXITED(stress_wait(pid), 0);
	file = fopen("size", "r");
	if (!file || fscanf(file, "%ld", &kb) != 1)
		FAIL("no size");
	if (file)
		fclose(file);
	return kb;
}

static void limit_space(void)
{
	struct rlimit limit = { 60u << 20, 60u << 20 };

	setrlimit(RLIMIT_AS, &limit);
}

static void guests_need_space(void)
{
	long own;

	if (STRESS_SANITIZED)
		stress_skip("sanitizers need more memory");
	own = guests_size_kb(true) - guests_size_kb(false);
	printf("    %ld kB of address space\n", own);
	CHECK(own <= MOST_OWN_KB);
	guests_prepare = limit_space;
	guests_record("uses-space", 40, 1010);
}

/* Where memory cannot be had, records are lost and nothing else. */
static void limit_space_more(void)
{
	struct rlimit limit = { 7u << 20, 7u << 20 };

	setrlimit(RLIMIT_AS, &limit);
}

static void guests_have_no_space(void)
{
	struct trace trace;

	if (STRESS_SANITIZED)
		stress_skip("sanitizers need more memory");
	guests_prepare = limit_space_more;
	if (guests_run("uses-space", 1, &trace))
		CHECK_U64(2 * trace_count(&trace, TRACE_END, "guest") + trace_lost_all(&trace), 2020); /* begins and ends */
	trace_close(&trace);
}

/* ---- the trace is cut -------------------------------------------------------------------- */

#define MOST_WAIT_MS 60000

/* Waits for a file of the guest. Fails, and ends the guest, if it does not come. */
static bool guests_wait_for(const char *file, pid_t pid)
{
	int status;

	for (int ms = 0; access(file, F_OK) != 0; ms++) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			FAIL("the program ended with status %#x", status);
			return false;
		}
		if (ms == MOST_WAIT_MS) {
			FAIL("the program does not make the file %s", file);
			kill(pid, SIGKILL);
			stress_wait(pid);
			return false;
		}
		stress_sleep_us(1000);
	}
	return true;
}

/* The program learns of a cut when it writes where the file has ended. What is copied over the file before the program
 * ran again cuts nothing, as far as it can see: so it has the time to notice. */
static bool copy_over(pid_t pid)
{
	char command[256];

	CHECK(truncate(guests_trace, 0) == 0);
	if (!guests_wait_for("noticed", pid))
		return false;
	snprintf(command, sizeof command, "cp copy %s", guests_trace);
	CHECK(system(command) == 0);
	return true;
}

static void cut_in_the_middle(const char *how, int threads)
{
	pid_t pid = guests_start("is-cut", threads);

	if (!guests_wait_for("ready", pid))
		return;
	if (strcmp(how, "truncate") == 0)
		CHECK(truncate(guests_trace, 0) == 0);
	else if (strcmp(how, "shorten") == 0)
		CHECK(truncate(guests_trace, 2 * DW_BLOCK_BYTES + 100) == 0);
	else if (!copy_over(pid))
		return;
	unlink("ready");
	CHECK_EXITED(stress_wait(pid), 0);
	if (strcmp(how, "copy") == 0) /* what was copied stays as it is */
		CHECK(system("cmp copy is-cut-*.dwell") == 0);
	unlink(guests_trace);
	unlink("noticed");
}

static void guests_go_on_when_cut(void)
{
	if (STRESS_SANITIZED)
		stress_skip("sanitizers handle faults themselves");
	CHECK(system("head -c 300000 /dev/urandom >copy") == 0);
	for (int threads = 0; threads <= 7; threads += 7) {
		cut_in_the_middle("truncate", threads);
		cut_in_the_middle("shorten", threads);
		cut_in_the_middle("copy", threads);
	}
}

static void guests_have_faults(void)
{
	struct trace trace;

	if (STRESS_SANITIZED)
		stress_skip("sanitizers handle faults themselves");
	for (int behind = 0; behind < 2; behind++) {
		if (guests_run("handles-faults", behind, &trace))
			CHECK(trace_count(&trace, TRACE_END, "guest") > 400000);
		trace_close(&trace);
	}
	for (int sends = 0; sends < 2; sends++) {
		int status = stress_wait(guests_start("dies", sends));

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGBUS)
			FAIL("the program ended with status %#x", status);
	}
	CHECK_EXITED(stress_wait(guests_start("ignores", 0)), 0);
}

/* ---- errors of libc ------------------------------------------------------------------------ */

static void guests_keep_errors(void)
{
	char command[4200];
	struct trace trace;

	guests_run("keeps-errors", 0, &trace);
	trace_close(&trace);
	snprintf(command, sizeof command, "'%s/stress_guest' keeps-errors", stress_programs);
	CHECK_EXITED(system(command), 0);
	stress_read(&trace, "own.dwell");
	trace_close(&trace);
}

/* ---- sandboxes ------------------------------------------------------------------------------ */

static void guests_in_sandbox(void)
{
	struct trace trace;

	if (STRESS_SANITIZED)
		stress_skip("sanitizers call the kernel");
	guests_record("sandbox", 0, 1000);
	if (guests_run("sandbox", 1, &trace)) {
		uint64_t kept = trace_count(&trace, TRACE_END, "guest");

		printf("    %llu of 2001000 ranges had space\n", (unsigned long long)kept);
		CHECK(kept > 100000); /* a window has a few MiB */
		CHECK(trace_lost(&trace, DW_LOSS_SANDBOX) > 0);
	}
	trace_close(&trace);
}

const struct stress_test guest_tests[] = {
	{ "guests.open-files", guests_open_files },
	{ "guests.without-standard-error", guests_without_standard_error },
	{ "guests.with-few-descriptors", guests_with_few_descriptors },
	{ "guests.reuse-numbers", guests_reuse_numbers },
	{ "guests.need-space", guests_need_space },
	{ "guests.have-no-space", guests_have_no_space },
	{ "guests.go-on-when-cut", guests_go_on_when_cut },
	{ "guests.have-faults", guests_have_faults },
	{ "guests.in-sandbox", guests_in_sandbox },
	{ "guests.keep-errors", guests_keep_errors },
	{ NULL, NULL },
};
