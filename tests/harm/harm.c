/* What the programs share, and the list of them. */
#define _GNU_SOURCE
#include "harm.h"
#include <stdarg.h>
#include <stdatomic.h>

int harm_run(char **arguments);

const char *harm_path;
volatile int harm_stop;
volatile sig_atomic_t harm_seen[65], harm_code[65], harm_value[65];

static const struct harm_program *const files[] = {
	harm_signals, harm_handlers, harm_stacks,    harm_interrupted, harm_timers, harm_threads,
	harm_locks,   harm_cancel,   harm_processes, harm_descriptors, harm_limits, harm_loader,
	harm_faults,  harm_files,    harm_memory,    harm_hangs,
};

void harm_say(const char *format, ...)
{
	char line[1024];
	va_list more;
	va_start(more, format);
	int size = vsnprintf(line, sizeof line, format, more);
	va_end(more);
	if (size >= (int)sizeof line)
		size = sizeof line - 1;
	for (char *at = line; size > 0;) {
		ssize_t wrote = syscall(SYS_write, 1, at, size);
		if (wrote < 0 && errno != EINTR)
			return;
		at += wrote > 0 ? wrote : 0;
		size -= wrote > 0 ? (int)wrote : 0;
	}
}

void harm_result(const char *call, long result)
{
	if (result < 0)
		harm_say("%s: %ld %s\n", call, result, strerrorname_np(errno));
	else
		harm_say("%s: %ld\n", call, result);
}

void harm_about(const char *what, long value, long more)
{
	harm_say("~ %s %ld %ld\n", what, value, more);
}

struct timespec harm_time(double seconds)
{
	time_t whole = (time_t)seconds;
	return (struct timespec){ whole, (long)((seconds - (double)whole) * 1e9) };
}

struct timespec harm_after(clockid_t clock, double seconds)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return harm_time((double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds);
}

static double seconds_of(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double harm_now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

NOINLINE void harm_compute(double seconds)
{
	static volatile double sink;
	double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + seconds;
	while (seconds_of(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			sink = sink + i;
}

static void handler_note(int signal, siginfo_t *info, void *context UNUSED)
{
	harm_seen[signal]++;
	harm_code[signal] = info->si_code;
	harm_value[signal] = info->si_value.sival_int;
}

void harm_handle(int signal, int flags)
{
	struct sigaction action = { .sa_sigaction = handler_note, .sa_flags = SA_SIGINFO | flags };
	sigaction(signal, &action, NULL);
}

void harm_block_all(void)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
}

void harm_alarm(double seconds)
{
	struct itimerval timer = { .it_value = { (time_t)seconds,
		                                     (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6) } };
	setitimer(ITIMER_REAL, &timer, NULL);
}

void harm_say_set(const char *what, const sigset_t *set)
{
	char line[512];
	int size = snprintf(line, sizeof line, "%s:", what);
	for (int i = 1; i <= 64; i++)
		if (sigismember(set, i) == 1)
			size += snprintf(line + size, sizeof line - (size_t)size, " %d", i);
	harm_say("%s\n", line);
}

void harm_say_mask(const char *where)
{
	sigset_t set;
	char what[64];
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	snprintf(what, sizeof what, "%s blocks", where);
	harm_say_set(what, &set);
	sigpending(&set);
	snprintf(what, sizeof what, "%s pending", where);
	harm_say_set(what, &set);
}

void harm_say_status(const char *what, int status)
{
	if (WIFEXITED(status))
		harm_say("%s: exit status %d\n", what, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		harm_say("%s: signal %d\n", what, WTERMSIG(status));
	else
		harm_say("%s: status %x\n", what, (unsigned)status);
}

void harm_child(const char *what, void (*child)(long), long value)
{
	pid_t pid = fork();
	if (pid == 0) {
		child(value);
		_exit(0);
	}
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	harm_say_status(what, status);
}

void harm_execute(const char *kind, const char *name)
{
	pid_t pid = fork();
	if (pid == 0) {
		execl(harm_path, harm_path, kind, name, (char *)NULL);
		_exit(127);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	harm_say_status(name, status);
}

void harm_thread(void *(*begin)(void *), void *value, const pthread_attr_t *attributes)
{
	pthread_t thread;
	int error = pthread_create(&thread, attributes, begin, value);
	if (error)
		harm_say("pthread_create: %s\n", strerrorname_np(error));
	else
		pthread_join(thread, NULL);
}

char *harm_painted(size_t size)
{
	char *memory = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory, 4096, PROT_NONE);
	memset(memory + 4096, 0xa5, size);
	return memory + 4096;
}

size_t harm_used(const char *low, size_t size)
{
	size_t unused = 0;
	while (unused < size && low[unused] == (char)0xa5)
		unused++;
	return size - unused;
}

const char *harm_plugin(const char *name)
{
	static _Thread_local char path[4096];
	snprintf(path, sizeof path, "%.*s/%s.so", (int)(strrchr(harm_path, '/') - harm_path), harm_path, name);
	return path;
}

void *harm_exchange(void *value)
{
	static _Atomic(void *) box[64];
	unsigned random = (unsigned)(long)value;
	while (!harm_stop)
		for (int i = 0; i < 200; i++) {
			random = random * 1103515245 + 12345;
			free(atomic_exchange(&box[random % 64], malloc(1100 + (random >> 16) % 3000)));
		}
	return NULL;
}

/* A profiler that samples a running program begins while it waits for the file. */
static void gate_wait(void)
{
	const char *gate = getenv("HARM_GATE");
	while (gate && access(gate, F_OK))
		usleep(2000);
	unsetenv("HARM_GATE");
}

static const struct harm_program *program_find(const char *kind, const char *name)
{
	for (size_t f = 0; f < COUNT_OF(files); f++)
		for (const struct harm_program *one = files[f]; one->kind; one++)
			if (!strcmp(one->kind, kind) && !strcmp(one->name, name))
				return one;
	return NULL;
}

static int programs_list(void)
{
	for (size_t f = 0; f < COUNT_OF(files); f++)
		for (const struct harm_program *one = files[f]; one->kind; one++)
			if (one->name[0] != '.') /* one that another program executes */
				printf("%s\t%s\n", one->kind, one->name);
	return 0;
}

int main(int count, char **arguments)
{
	harm_path = "/proc/self/exe";
	char *copy = realpath(harm_path, NULL);
	if (copy)
		harm_path = copy;
	if (count == 2 && !strcmp(arguments[1], "--list"))
		return programs_list();
	if (count > 4 && !strcmp(arguments[1], "--run"))
		return harm_run(arguments + 2);
	gate_wait();
	if (count > 2 && !strcmp(arguments[1], "--gate")) {
		execvp(arguments[2], arguments + 2);
		perror(arguments[2]);
		return 127;
	}
	const struct harm_program *one = count == 3 ? program_find(arguments[1], arguments[2]) : NULL;
	if (!one) {
		fprintf(stderr, "usage: harm KIND NAME | --list\n");
		return 2;
	}
	one->run(one->value);
	harm_say_mask("the end");
	return 0;
}
