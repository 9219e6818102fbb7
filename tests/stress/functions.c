/*
 * The functions probe in programs that load and unload libraries and start many threads.
 *
 * Both libraries have one function at the same offset, so one gets the address of the other. The
 * decoder names a function after its module.
 */
#include "stress.h"

static void run_host(bool preload, const char *trace, const char *what, const char *number)
{
	char library[4300], host[4300], a[4300], b[4300];

	snprintf(library, sizeof library, "%s/../../probes/functions/libdwell-functions.so",
	         stress_programs);
	snprintf(host, sizeof host, "%s/stress_function_host", stress_programs);
	snprintf(a, sizeof a, "%s/stress_function_a.so", stress_programs);
	snprintf(b, sizeof b, "%s/stress_function_b.so", stress_programs);
	if (preload)
		setenv("LD_PRELOAD", library, 1);
	execl(host, host, trace, a, b, what, number, (char *)NULL);
	_exit(127);
}

static void load_and_unload(void *preload)
{
	run_host(preload != NULL, preload ? "preloaded.dwell" : "loaded.dwell", NULL, NULL);
}

/* Without the probe before libc, libc's own functions of these names are called. The library
 * must load all the same: it must not need much thread-local memory. */
static void functions_loaded(void)
{
	CHECK_EXITED(stress_child(load_and_unload, NULL), 0);
}

static void functions_unloaded(void)
{
	struct trace trace;

	if (STRESS_SANITIZED)
		stress_skip("a sanitizer's runtime must be the first library");
	CHECK_EXITED(stress_child(load_and_unload, (void *)(intptr_t)1), 0);
	if (!stress_read(&trace, "preloaded.dwell"))
		return;
	CHECK_U64(trace_count(&trace, TRACE_END, "function of stress_function_a.so"), 50);
	CHECK_U64(trace_count(&trace, TRACE_END, "function of stress_function_b.so"), 5000);
	CHECK_U64(trace_lost_all(&trace), 0);
	trace_close(&trace);
}

static void start_threads(void *unused)
{
	(void)unused;
	if (!freopen("grown", "w", stdout))
		_exit(3);
	run_host(true, "threads.dwell", "threads", stress_long ? "100000" : "5000");
}

static void functions_threads(void)
{
	struct trace trace;
	long grown = -1;
	FILE *file;

	if (STRESS_SANITIZED)
		stress_skip("a sanitizer's runtime must be the first library");
	CHECK_EXITED(stress_child(start_threads, NULL), 0);
	file = fopen("grown", "r");
	CHECK(file && fscanf(file, "%ld", &grown) == 1);
	if (grown > 1024)
		FAIL("the memory of threads that ended is not used again: %ld KiB more", grown);
	if (file)
		fclose(file);
	if (!stress_read(&trace, "threads.dwell"))
		return;
	CHECK_U64(trace_count(&trace, TRACE_END, "function of stress_function_a.so"),
	          stress_long ? 100000 : 5000);
	trace_close(&trace);
}

/* ---- Pythons that the probe does not know ------------------------------------------------ */

static void start_free_threaded(void *unused)
{
	char library[4300], program[4300];

	(void)unused;
	if (!freopen("refused", "w", stderr))
		_exit(3);
	snprintf(library, sizeof library, "%s/../../probes/libdwell-attach.so", stress_programs);
	snprintf(program, sizeof program, "%s/stress_free_threaded", stress_programs);
	if (access(library, R_OK) != 0)
		_exit(STRESS_SKIP);
	setenv("LD_PRELOAD", library, 1);
	setenv("DWELL_TRACE", "no.dwell", 1);
	execl(program, program, (char *)NULL);
	_exit(127);
}

static void functions_free_threaded(void)
{
	char line[400] = "";
	FILE *file;
	int status;

	if (STRESS_SANITIZED)
		stress_skip("a sanitizer's runtime must be the first library");
	status = stress_child(start_free_threaded, NULL);
	if (WIFEXITED(status) && WEXITSTATUS(status) == STRESS_SKIP)
		stress_skip("the Python probe was not built");
	CHECK_EXITED(status, 0);
	file = fopen("refused", "r");
	CHECK(file && fgets(line, sizeof line, file) && strstr(line, "free-threaded"));
	if (file)
		fclose(file);
}

const struct stress_test function_tests[] = {
	{ "functions.loaded", functions_loaded },
	{ "functions.unloaded", functions_unloaded },
	{ "functions.threads", functions_threads },
	{ "functions.free-threaded", functions_free_threaded },
	{ NULL, NULL },
};
