/*
 * A program that is recorded and has expectations of its own: what it opens, closes and may do. It ends with 0 if
 * everything is as it would be without the recorder.
 *
 *     stress_guest WHAT [NUMBER]
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "dwell/probe.h"
#include "dwell/probe_abi.h"

#define MANY 400000 /* ranges: more than one window of the file */

static void record(int count)
{
	for (int i = 0; i < count; i++) {
		DWELL_ZONE("guest");
	}
}

/* ---- descriptors --------------------------------------------------------------------- */

/* The next file has the expected number, before and after ranges were recorded. */
static int opens_next(int expected)
{
	for (int times = 0; times < 2; times++) {
		int fd = open("/dev/null", O_RDONLY);

		if (fd != expected)
			return 1;
		close(fd);
		record(MANY);
	}
	return 0;
}

static int finished;

/* Writes to a standard error that is closed. */
static void *complains(void *failures)
{
	static const char message[] = "an error message\n";

	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED))
		if (write(2, message, sizeof message - 1) >= 0 || errno != EBADF)
			__atomic_fetch_add((int *)failures, 1, __ATOMIC_RELAXED);
	return NULL;
}

static int has_no_standard_error(void)
{
	int failures = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, complains, &failures) != 0)
		return 2;
	record(MANY);
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return failures != 0;
}

/* Uses each descriptor that its limit permits. */
static int uses_all_descriptors(int limit)
{
	record(10);
	for (int i = 3; i < limit; i++)
		if (open("/dev/null", O_RDONLY) != i)
			return 1;
	close(limit - 1);
	record(MANY);
	return open("/dev/null", O_RDONLY) != limit - 1;
}

/* Closes all descriptors again and again, and has files of its own with every number that may have been dwell's. */
static void *takes_all_numbers(void *failures)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		struct stat status;

		for (int fd = 3; fd < 200; fd++)
			close(fd);
		for (int fd = 3; fd < 200; fd++)
			if (open("own.txt", O_RDWR | O_CREAT | O_APPEND, 0600) < 0)
				break;
		if (stat("own.txt", &status) != 0 || status.st_size != 0)
			__atomic_fetch_add((int *)failures, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int closes_everything(void)
{
	int failures = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, takes_all_numbers, &failures) != 0)
		return 2;
	for (int i = 0; i < 8; i++)
		record(MANY);
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return failures != 0;
}

/* ---- side files --------------------------------------------------------------------------- */

static int child_records(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		record(10);
		exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

/* ---- errors of libc ------------------------------------------------------------------------ */

#define OWN_ERRNO 4711

/* Between a call that fails and the program's look at the error. */
static int keeps_errors(void)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	bool joined = dwell_active();

	options.path = "own.dwell";
	if (dlopen("/no/such/library.so", RTLD_NOW))
		return 2;
	errno = OWN_ERRNO;
	if (dwell_start(&options, NULL) != 0 || errno != OWN_ERRNO)
		return 3;
	record(MANY);
	dwell_step();
	dwell_meta("guest", "a value");
	dwell_intern(DWELL_CATEGORY_ZONE, "a new name", NULL);
	dwell_thread_name("a name");
	dwell_layers_only("a.*", NULL);
	if (errno != OWN_ERRNO)
		return 4;
	if (dwell_stop(NULL) != 0 || errno != OWN_ERRNO || dwell_active() != joined)
		return 5;
	return dlerror() == NULL;
}

/* ---- the trace is cut ------------------------------------------------------------------- */

#define MOST_THREADS 16

/* How often each thread has recorded. */
static unsigned rounds[MOST_THREADS];

static void *records_on(void *mine)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		record(1000);
		__atomic_add_fetch((unsigned *)mine, 1, __ATOMIC_RELEASE);
		usleep(100);
	}
	return NULL;
}

static bool make_file(const char *name)
{
	FILE *file = fopen(name, "w");

	return file && fclose(file) == 0;
}

/* Waits until no thread is in a record that it began before now. */
static void let_records_end(int threads)
{
	for (int i = 0; i < threads; i++) {
		unsigned before = __atomic_load_n(&rounds[i], __ATOMIC_ACQUIRE);

		while (__atomic_load_n(&rounds[i], __ATOMIC_ACQUIRE) - before < 2)
			usleep(1000);
	}
}

/* Records in so many threads until the trace is cut, says with the file `noticed` that nobody writes to it any more, and
 * goes on for a while after `ready` is gone. */
static int is_cut(int threads)
{
	pthread_t others[MOST_THREADS];
	bool said = false;

	for (int i = 0; i < threads; i++)
		if (pthread_create(&others[i], NULL, records_on, &rounds[i]) != 0)
			return 2;
	usleep(50000);
	if (!make_file("ready"))
		return 3;
	while (access("ready", F_OK) == 0) {
		record(1000);
		dwell_step();
		if (!said && !dwell_active()) {
			let_records_end(threads);
			said = make_file("noticed");
		}
	}
	for (int i = 0; i < 200; i++) {
		record(1000);
		usleep(1000);
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < threads; i++)
		pthread_join(others[i], NULL);
	return dwell_active();
}

/* ---- its own faults ----------------------------------------------------------------------- */

static sigjmp_buf fault_target;
static siginfo_t fault_info;
static int fault_count;
static sigset_t fault_mask;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	fault_info = *info;
	fault_count++;
	pthread_sigmask(SIG_SETMASK, NULL, &fault_mask);
	if (info->si_code > 0)
		siglongjmp(fault_target, 1);
}

/* Memory of a file that has no bytes. */
static char *map_nothing(void)
{
	FILE *file = fopen("nothing", "w+");
	char *memory = file ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0) : MAP_FAILED;

	if (file)
		fclose(file);
	return memory == MAP_FAILED ? NULL : memory;
}

/* `behind`: as with the sampler, which keeps the program's action behind the recorder's. */
static int handles_its_faults(bool behind)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, before;
	char *volatile memory = map_nothing();

	sigaddset(&action.sa_mask, SIGUSR2);
	if (!memory || (behind ? !dwell_bus_action(&action, &before) : sigaction(SIGBUS, &action, &before) != 0))
		return 2;
	if (behind && (before.sa_handler != SIG_DFL || !dwell_bus_action(NULL, &before) || before.sa_sigaction != on_fault ||
	               before.sa_flags != SA_SIGINFO || !sigismember(&before.sa_mask, SIGUSR2)))
		return 7;
	for (volatile int times = 1; times <= 3; times++) {
		record(MANY); /* another window */
		if (sigsetjmp(fault_target, 1) == 0)
			*memory = 1;
		if (fault_count != times || fault_info.si_code != BUS_ADRERR || fault_info.si_addr != memory)
			return 3;
		if (!sigismember(&fault_mask, SIGUSR2) || !sigismember(&fault_mask, SIGBUS) || sigismember(&fault_mask, SIGUSR1))
			return 4;
	}
	record(MANY);
	if (sigqueue(getpid(), SIGBUS, (union sigval){ .sival_int = 4711 }) != 0 || fault_count != 4 ||
	    fault_info.si_code != SI_QUEUE || fault_info.si_value.sival_int != 4711)
		return 5;
	record(MANY);
	if (raise(SIGBUS) != 0 || fault_count != 5 || fault_info.si_code != SI_TKILL || fault_info.si_pid != getpid())
		return 6;
	return 0;
}

/* Ends by its own fault, or by a signal that it sends itself. */
static int dies(bool sends)
{
	char *memory = map_nothing();

	record(10);
	if (!memory)
		return 2;
	if (sends)
		raise(SIGBUS);
	else
		*(volatile char *)memory = 1;
	return 3;
}

/* Ignores SIGBUS, as what it executes does then. */
static int ignores(char *program)
{
	char *command[] = { program, (char *)(uintptr_t)"was-ignored", NULL };

	signal(SIGBUS, SIG_IGN);
	record(MANY);
	if (raise(SIGBUS) != 0)
		return 2;
	execv(program, command);
	return 3;
}

static int was_ignored(void)
{
	struct sigaction action;

	return sigaction(SIGBUS, NULL, &action) != 0 || action.sa_handler != SIG_IGN;
}

/* ---- sandboxes ----------------------------------------------------------------------------- */

/* Only what a program needs that computes and writes a result; all else ends the process. */
static bool begin_sandbox(void)
{
	static const unsigned short allowed[] = { SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_brk, SYS_munmap };
	enum { COUNT = sizeof allowed / sizeof *allowed };
	struct sock_filter rules[COUNT + 3] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { COUNT + 3, rules };

	for (int i = 0; i < COUNT; i++)
		rules[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (unsigned char)(COUNT - i), 0);
	rules[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	rules[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void records_in_steps(int steps)
{
	char name[32];

	for (int i = 0; i < steps; i++) {
		dwell_step();
		record(100);
		snprintf(name, sizeof name, "name %d", i);
		DWELL_SCOPE_ID(DWELL_CATEGORY_ZONE, dwell_intern(DWELL_CATEGORY_ZONE, name, NULL));
	}
}

/* `said`: the recorder is told, as by the sampler. Otherwise it does not know, and only the process's end is tried. */
static int is_in_sandbox(bool said)
{
	records_in_steps(10);
	if (said)
		dwell_sandbox(true);
	if (!begin_sandbox())
		return 77;
	if (said) {
		dwell_hurry(true);
		dwell_sample(0, 0, 1);
		dwell_hurry(false);
		records_in_steps(20000);
	}
	return write(1, "", 0) != 0;
}

/* ---- address space -------------------------------------------------------------------- */

/* Writes how much address space the process has when it has recorded little, in kB. */
static int writes_size(void)
{
	FILE *status = fopen("/proc/self/status", "r"), *size = fopen("size", "w");
	char line[256];
	long kb = 0;

	record(1000);
	while (status && fgets(line, sizeof line, status))
		sscanf(line, "VmSize: %ld", &kb);
	return !size || fprintf(size, "%ld\n", kb) < 0 || fclose(size) != 0;
}

static void *does_nothing(void *unused)
{
	(void)unused;
	record(10);
	return NULL;
}

/* Uses most of the address space that it may have. */
static int uses_its_space(int megabytes)
{
	char *memory = malloc((size_t)megabytes << 20);
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 18);
	record(1000);
	if (!memory || pthread_create(&thread, &small, does_nothing, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	memset(memory, 1, (size_t)megabytes << 20);
	return 0;
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	int number = count > 2 ? atoi(arguments[2]) : 0;

	if (strcmp(what, "size") == 0)
		return writes_size();
	if (strcmp(what, "nothing") == 0)
		return 0;
	if (strcmp(what, "child-records") == 0)
		return child_records();
	if (strcmp(what, "keeps-errors") == 0)
		return keeps_errors();
	if (strcmp(what, "was-ignored") == 0)
		return was_ignored();
	if (strcmp(what, "handles-faults") == 0)
		return handles_its_faults(number != 0);
	if (!dwell_active())
		return 99;
	if (strcmp(what, "is-cut") == 0)
		return is_cut(number);
	if (strcmp(what, "dies") == 0)
		return dies(number != 0);
	if (strcmp(what, "sandbox") == 0)
		return is_in_sandbox(number != 0);
	if (strcmp(what, "ignores") == 0)
		return ignores(arguments[0]);
	if (strcmp(what, "uses-space") == 0)
		return uses_its_space(number);
	if (strcmp(what, "opens-next") == 0)
		return opens_next(number);
	if (strcmp(what, "no-standard-error") == 0)
		return has_no_standard_error();
	if (strcmp(what, "all-descriptors") == 0)
		return uses_all_descriptors(number);
	if (strcmp(what, "closes-everything") == 0)
		return closes_everything();
	return 98;
}
