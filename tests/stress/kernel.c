/*
 * Older kernels and sandboxes: features that Linux 4.18 does not have are refused (refuse.c), one
 * at a time and all together, and the trace must contain exactly what was recorded.
 *
 * With --long the recorder's other tests run under the refusals that concern it.
 */
#include "stress.h"

#define RANGES 3000

/* Runs a command under a refusal, without its messages. */
static int run_refused(const char *thing, const char *const command[])
{
	char refuse[4096], *arguments[16];
	int n = 0;
	pid_t pid;

	snprintf(refuse, sizeof refuse, "%s/stress_refuse", stress_programs);
	arguments[n++] = refuse;
	arguments[n++] = (char *)(uintptr_t)thing;
	while (*command && n < 15)
		arguments[n++] = (char *)(uintptr_t)*command++;
	arguments[n] = NULL;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (!freopen("messages.txt", "w", stderr))
			_exit(127);
		execv(refuse, arguments);
		_exit(127);
	}
	return stress_wait(pid);
}

/* A program and its child: a file, forks, windows, the ring, names. */
static void check_trace(const char *thing, const char *path)
{
	struct trace trace;

	if (!stress_read(&trace, path)) {
		FAIL("%s: no trace", thing);
		return;
	}
	if (trace_count(&trace, TRACE_END, "job") != RANGES ||
	    trace_count(&trace, TRACE_END, "job.next") != RANGES || trace_lost_all(&trace) != 0)
		FAIL("%s: %llu and %llu ranges, not %d each; %s", thing,
		     (unsigned long long)trace_count(&trace, TRACE_END, "job"),
		     (unsigned long long)trace_count(&trace, TRACE_END, "job.next"), RANGES,
		     trace_losses(&trace));
	trace_close(&trace);
}

static void check_launched(const char *thing, const char *worker, const char *dwell)
{
	char launch[4096], ranges[16];
	const char *plain[] = { launch, "plain.dwell", worker, "job", ranges, "fork", NULL };
	const char *run[] = { dwell, "run", "-o", "run.dwell", worker, "job", ranges, "fork", NULL };

	snprintf(launch, sizeof launch, "%s/stress_launch", stress_programs);
	snprintf(ranges, sizeof ranges, "%d", RANGES);
	unlink("plain.dwell");
	unlink("run.dwell");
	CHECK_EXITED(run_refused(thing, plain), 0);
	check_trace(thing, "plain.dwell");
	if (dwell && access(dwell, X_OK) == 0) {
		CHECK_EXITED(run_refused(thing, run), 0);
		check_trace(thing, "run.dwell");
	}
}

/* What the recorder itself asks for, where it is there. The rest is up to libc. */
static bool matters(const char *thing)
{
	return strcmp(thing, "madvise-populate-write") == 0 ||
	       (stress_long && (strcmp(thing, "madvise-hugepage") == 0 || strcmp(thing, "all") == 0));
}

/* The tests of this program itself: of bounds alone, or of all that records. */
static void check_tests(const char *thing)
{
	char program[4096];
	const char *few[] = { program, "bounds.newest", "steps.all", NULL };
	const char *all[] = { program,  "kill.",  "threads.", "fork.", "signals.storm",
		                  "bounds.", "steps.", "session.", "gate.", NULL };

	if (!matters(thing))
		return;
	snprintf(program, sizeof program, "%s/stress", stress_programs);
	CHECK_EXITED(run_refused(thing, stress_long ? all : few), 0);
}

static void refused(void)
{
	char command[4200], worker[4096], dwell[4096], line[128];
	unsigned count = 0;
	FILE *list;

	if (STRESS_SANITIZED)
		stress_skip("a sanitizer makes calls of its own");
	snprintf(worker, sizeof worker, "%s/stress_worker", stress_programs);
	snprintf(dwell, sizeof dwell, "%s/../../dwell", stress_programs);
	snprintf(command, sizeof command, "'%s/stress_refuse' --list", stress_programs);
	if (run_refused("mseal", (const char *const[]){ "/bin/true", NULL }) != 0)
		stress_skip("no seccomp filter can be installed here");
	list = popen(command, "r");
	while (list && fgets(line, sizeof line, list)) {
		line[strcspn(line, " \n")] = '\0';
		check_launched(line, worker, stress_long ? dwell : NULL);
		check_tests(line);
		count++;
	}
	if (list)
		pclose(list);
	check_launched("all", worker, dwell);
	check_tests("all");
	CHECK(count > 20);
	printf("    %u refusals\n", count);
}

const struct stress_test kernel_tests[] = {
	{ "kernel.refused", refused },
	{ NULL, NULL },
};
