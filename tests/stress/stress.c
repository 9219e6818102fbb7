/*
 * The driver of the stress tests: runs each test in a child process with its own folder and a
 * deadline.
 *
 *     stress [--long] [part of a name ...]
 *
 * Prints one line per test and "N passed, N failed, N skipped"; exits with 1 if a test failed.
 */
#include "stress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

bool stress_long;
const char *stress_programs;
static struct { int failures; char skip[160]; } *verdict;

void stress_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (__atomic_fetch_add(&verdict->failures, 1, __ATOMIC_RELAXED) < 20)
		dprintf(1, "    %s:%d: %s\n", base ? base + 1 : file, line, text);
}

void stress_skip(const char *reason)
{
	snprintf(verdict->skip, sizeof verdict->skip, "%s", reason);
	_exit(STRESS_SKIP);
}

void *stress_shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

void stress_start(const char *path, const struct dwell_options *given)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0 };

	if (given)
		options = *given;
	/* The long form writes more than the default keeps; what is tested is not that. */
	if (stress_long && !options.max_size_bytes)
		options.max_size_bytes = (uint64_t)8 << 30;
	options.path = path;
	if (dwell_start(&options, &error) != 0) {
		FAIL("dwell_start: %s", error.message);
		_exit(3);
	}
}

void stress_stop(void)
{
	struct dwell_error error = { 0 };

	if (dwell_stop(&error) != 0)
		FAIL("dwell_stop: %s", error.message);
}

pid_t stress_spawn(void (*fn)(void *), void *argument)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		fn(argument);
		exit(0);
	}
	return pid;
}

int stress_wait(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int stress_child(void (*fn)(void *), void *argument)
{
	return stress_wait(stress_spawn(fn, argument));
}

void stress_launch(const char *trace, char *const command[])
{
	char launcher[4096], *arguments[16];
	int n = 0;

	snprintf(launcher, sizeof launcher, "%s/stress_launch", stress_programs);
	arguments[n++] = launcher;
	arguments[n++] = (char *)(uintptr_t)trace;
	while (*command && n < 15)
		arguments[n++] = *command++;
	arguments[n] = NULL;
	execv(launcher, arguments);
	_exit(127);
}

int stress_launched(const char *trace, char *const command[])
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		stress_launch(trace, command);
	return stress_wait(pid);
}

bool stress_read(struct trace *trace, const char *path)
{
	if (trace_open(trace, path) == 0)
		trace_walk(trace, NULL, NULL);
	if (trace->bad)
		FAIL("%s: %llu things wrong, the first: %s", path, (unsigned long long)trace->bad, trace->why);
	return trace->data != NULL;
}

void stress_sleep_us(unsigned us)
{
	struct timespec time = { us / 1000000, (long)(us % 1000000) * 1000 };

	while (nanosleep(&time, &time) != 0 && errno == EINTR)
		;
}

uint64_t stress_random(void)
{
	uint64_t value = 0;

	(void)!getrandom(&value, sizeof value, 0);
	return value;
}

uint64_t stress_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

long stress_status_kb(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long value = -1;

	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, key, strlen(key)) == 0)
			value = atol(line + strlen(key) + 1);
	if (file)
		fclose(file);
	return value;
}

void stress_ranges(uint32_t id, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		DWELL_SCOPE_ID(DWELL_CATEGORY_ZONE, id);
	}
}

/* ---- running ------------------------------------------------------------------- */

/* Names of tests that start no thread begin with these: ThreadSanitizer has nothing to find there. */
static const char *const alone[] = {
	"kill.step", "fork.family", "fork.other-", "fork.race-with-stop", "fork.exec", "fork.plugin", "disk.", "steps.all",
	"steps.killed", "session.misuse", "session.closed-files", "session.deleted-file", "session.other-machine",
	"session.side-files", "session.limited-memory", "session.overwrites-traces-only", "gate.schedules", "gate.steps", "gate.fork",
	"gate.launched", "gate.given-back", "probes.", "stacks.callers", "functions.loaded", "functions.unloaded", "guests.open-files",
	"guests.with-few-descriptors", "guests.have-faults", "guests.in-sandbox", "guests.keep-errors",
};
static const char *running = "";

static bool is_alone(const char *name)
{
	for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
		if (strncmp(name, alone[i], strlen(alone[i])) == 0)
			return true;
	return false;
}

/* The linker puts this in the place of pthread_create(). */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	if (is_alone(running))
		FAIL("%s starts a thread, and is in the list `alone` of stress.c", running);
	return __real_pthread_create(thread, attributes, run, argument);
}

static void remove_folder(const char *path)
{
	char command[4200];

	snprintf(command, sizeof command, "rm -rf '%s'", path);
	(void)!system(command);
}

static int run_one(const struct stress_test *test, double *seconds)
{
	char folder[] = "/tmp/dwell-stress-XXXXXX";
	uint64_t start = stress_now_ns();
	int status = -1, deadline = stress_long ? 900 : 150;
	pid_t pid;

	if (!mkdtemp(folder))
		return -1;
	memset(verdict, 0, sizeof *verdict);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		if (chdir(folder) != 0)
			_exit(3);
		test->run();
		fflush(NULL);
		_exit(verdict->failures ? 1 : 0);
	}
	setpgid(pid, pid);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (stress_now_ns() - start > (uint64_t)deadline * 1000000000u) {
			dprintf(1, "    took more than %d s\n", deadline);
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			break;
		}
		stress_sleep_us(2000);
	}
	kill(-pid, SIGKILL); /* what a test left behind */
	if (getenv("STRESS_KEEP"))
		printf("    kept %s\n", folder);
	else
		remove_folder(folder);
	*seconds = (double)(stress_now_ns() - start) / 1e9;
	if (WIFSIGNALED(status))
		dprintf(1, "    the test was killed by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool wanted(const char *name, int count, char **parts)
{
	bool any = false;

	for (int i = 1; i < count; i++) {
		if (parts[i][0] == '-')
			continue;
		any = true;
		if (strstr(name, parts[i]))
			return true;
	}
	return !any;
}

static const struct stress_test *const tables[] = { kill_tests, thread_tests, fork_tests,
	                                                signal_tests, disk_tests, bound_tests, step_tests, kernel_tests,
	                                                session_tests, gate_tests, probe_tests,
	                                                stack_tests, function_tests, guest_tests };

int main(int count, char **arguments)
{
	unsigned passed = 0, failed = 0, skipped = 0;
	char program[4096];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	program[length > 0 ? length : 0] = '\0';
	*strrchr(program, '/') = '\0';
	stress_programs = program;
	for (int i = 1; i < count; i++)
		stress_long |= strcmp(arguments[i], "--long") == 0;
	verdict = stress_shared(sizeof *verdict);
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
		for (const struct stress_test *test = tables[t]; test->name; test++) {
			double seconds = 0;
			int result;

			if (!wanted(test->name, count, arguments) || (STRESS_TSAN && is_alone(test->name)))
				continue;
			running = test->name;
			result = run_one(test, &seconds);
			if (result == STRESS_SKIP) {
				printf("skip  %-28s %5.1f s  %s\n", test->name, seconds, verdict->skip);
				skipped++;
			} else if (result == 0 && !verdict->failures) {
				printf("ok    %-28s %5.1f s\n", test->name, seconds);
				passed++;
			} else {
				printf("FAIL  %-28s %5.1f s\n", test->name, seconds);
				failed++;
			}
			fflush(stdout);
		}
	}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed != 0;
}
