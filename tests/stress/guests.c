/* Programs that must not notice the recorder: see guest.c. */
#include "stress.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* What happens in the process before it becomes the program. */
static void (*guests_prepare)(void);

/* Runs a guest, and reads its trace. */
static bool guests_run(const char *what, int number, struct trace *trace)
{
	char program[4096], argument[16], path[64];
	char *command[] = { program, (char *)(uintptr_t)what, argument, NULL };
	pid_t pid;

	snprintf(program, sizeof program, "%s/stress_guest", stress_programs);
	snprintf(argument, sizeof argument, "%d", number);
	snprintf(path, sizeof path, "%s-%d.dwell", what, number);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (guests_prepare)
			guests_prepare();
		stress_launch(path, command);
	}
	CHECK_EXITED(stress_wait(pid), 0);
	return stress_read(trace, path);
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
	CHECK(stat("own.txt", &status) == 0 && status.st_size == 0);
	trace_close(&trace);
}

const struct stress_test guest_tests[] = {
	{ "guests.open-files", guests_open_files },
	{ "guests.without-standard-error", guests_without_standard_error },
	{ "guests.with-few-descriptors", guests_with_few_descriptors },
	{ "guests.reuse-numbers", guests_reuse_numbers },
	{ NULL, NULL },
};
