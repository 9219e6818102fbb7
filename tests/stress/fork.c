/*
 * Child processes of every kind: each is a separate and complete process in the trace, and contains
 * nothing from its parent's streams.
 */
#include "stress.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>

#define RANGES 5000u

static uint32_t *pids;

static void ranges_named(const char *name, unsigned n)
{
	stress_ranges(dwell_intern(DWELL_CATEGORY_ZONE, name, NULL), n);
}

/* Complete ranges of `name`, all of them by process `pid`. */
static void check_ranges(struct trace *trace, uint32_t pid, const char *name, uint64_t n)
{
	CHECK_U64(trace_count(trace, DW_BEGIN, name), n);
	CHECK_U64(trace_count(trace, TRACE_END, name), n);
	CHECK_U64(trace_count_pid(trace, pid, DW_BEGIN, name), n);
}

static void family(void *path)
{
	pid_t child;

	stress_start(path, NULL);
	pids[0] = (uint32_t)getpid();
	ranges_named("father before", RANGES);
	unsigned open = dwell_begin_id(dwell_intern(DWELL_CATEGORY_ZONE, "around", NULL),
	                               DWELL_CATEGORY_ZONE);
	child = fork();
	if (child == 0) {
		pid_t grand;

		pids[1] = (uint32_t)getpid();
		ranges_named("child", RANGES);
		grand = fork();
		if (grand == 0) {
			pids[2] = (uint32_t)getpid();
			ranges_named("grandchild", RANGES);
			_exit(0);
		}
		ranges_named("child after", RANGES);
		stress_wait(grand);
		_exit(0);
	}
	ranges_named("father after", RANGES);
	dwell_end_id(open);
	stress_wait(child);
}

static void fork_family(void)
{
	struct trace trace;

	pids = stress_shared(4096);
	CHECK_EXITED(stress_child(family, (void *)(uintptr_t) "fork.dwell"), 0);
	if (!stress_read(&trace, "fork.dwell"))
		return;
	check_ranges(&trace, pids[0], "father before", RANGES);
	check_ranges(&trace, pids[0], "father after", RANGES);
	check_ranges(&trace, pids[0], "around", 1);
	check_ranges(&trace, pids[1], "child", RANGES);
	check_ranges(&trace, pids[1], "child after", RANGES);
	check_ranges(&trace, pids[2], "grandchild", RANGES);
	CHECK_U64(trace_entries(&trace, DW_ENTRY_PROCESS), 3);
	CHECK_U64(trace_lost_all(&trace), 0);
	CHECK_U64(trace.surplus_ends, 0);
	for (size_t i = 0; i < trace.all_count; i++) {
		const struct dw_entry_process *process = (const void *)trace.all[i];

		if (process->entry.tag == DW_ENTRY_TAG(DW_ENTRY_PROCESS) && process->pid == pids[1]) {
			const struct dw_entry_process *father = (const void *)trace.entries[process->entry.aux];

			CHECK(father && father->pid == pids[0]);
			CHECK_U64(process->ppid, pids[0]);
		}
	}
	trace_close(&trace);
}

/* ---- fork while other threads record ----------------------------------------------- */

static uint64_t *made;

static void *recording_thread(void *number)
{
	char name[24];
	uint32_t round = 0;

	while (!__atomic_load_n(&made[15], __ATOMIC_ACQUIRE)) {
		snprintf(name, sizeof name, "other%d.%u", (int)(uintptr_t)number, round++ % 500);
		ranges_named(name, 200);
		__atomic_fetch_add(&made[(uintptr_t)number], 200, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void busy_father(void *path)
{
	pthread_t threads[3];
	int children = STRESS_TIMES(60, 400);

	stress_start(path, NULL);
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, recording_thread, (void *)i);
	for (int i = 0; i < children; i++) {
		pid_t child = fork();

		if (child == 0) {
			ranges_named("forked", 100);
			DWELL_ZONE("left open");
			_exit(0);
		}
		if (stress_wait(child) != 0)
			__atomic_fetch_add(&made[14], 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&made[15], 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

struct sum {
	uint64_t begins, ends;
};

static void sum_others(void *context, const struct trace_record *record)
{
	struct sum *sum = context;

	if (strncmp(record->name, "other", 5) == 0) {
		sum->begins += record->kind == DW_BEGIN;
		sum->ends += record->kind == TRACE_END;
	}
}

static void fork_while_recording(void)
{
	uint64_t children = STRESS_TIMES(60, 400);
	struct sum sum = { 0 };
	struct trace trace;

	made = stress_shared(4096);
	CHECK_EXITED(stress_child(busy_father, (void *)(uintptr_t) "busy.dwell"), 0);
	CHECK_U64(made[14], 0);
	if (!stress_read(&trace, "busy.dwell"))
		return;
	trace_walk(&trace, sum_others, &sum);
	/* A thread waits 100 ms for another one that has no processor. Each record that then had no space is counted. */
	CHECK_U64(trace.records - trace.own + trace_lost_all(&trace),
	          2 * (made[0] + made[1] + made[2] + children * 100) + children);
	CHECK_U64(trace_lost_all(&trace), trace_lost(&trace, DW_LOSS_BUSY));
	CHECK(trace_lost_all(&trace) < 100);
	if (!trace_lost_all(&trace)) {
		CHECK_U64(sum.begins, made[0] + made[1] + made[2]);
		CHECK_U64(sum.ends, made[0] + made[1] + made[2]);
		CHECK_U64(trace_count(&trace, TRACE_END, "forked"), children * 100);
		CHECK_U64(trace_count(&trace, DW_BEGIN, "left open"), children);
		CHECK_U64(trace.open, children);
	}
	trace_close(&trace);
}

/* ---- other ways to a child ------------------------------------------------------------ */

extern char **environ;

static void other_ways(void *path)
{
	char *arguments[] = { (char *)(uintptr_t) "/bin/true", NULL };
	pid_t child;
	int status;

	stress_start(path, NULL);
	ranges_named("before", 100);
	child = vfork();
	if (child == 0) {
		/* The child runs on the parent's memory and records as the parent's thread. */
		DWELL_MARK("in vfork");
		execv("/bin/true", arguments);
		_exit(127);
	}
	CHECK_EXITED(stress_wait(child), 0);
	ranges_named("after vfork", 100);
	if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0)
		FAIL("posix_spawn failed");
	CHECK_EXITED(stress_wait(child), 0);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		pids[1] = (uint32_t)getpid();
		ranges_named("raw clone", 100);
		syscall(SYS_exit_group, 0);
	}
	waitpid(child, &status, 0);
	CHECK_EXITED(status, 0);
	child = fork();
	if (child == 0) {
		pids[2] = (uint32_t)getpid();
		ranges_named("aborts", 100);
		signal(SIGABRT, SIG_DFL);
		abort();
	}
	status = stress_wait(child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	ranges_named("at the end", 100);
	pids[0] = (uint32_t)getpid();
	_exit(0); /* no destructor: the file is not trimmed, and whole */
}

static void fork_other_ways(void)
{
	struct trace trace;

	pids = stress_shared(4096);
	CHECK_EXITED(stress_child(other_ways, (void *)(uintptr_t) "ways.dwell"), 0);
	if (!stress_read(&trace, "ways.dwell"))
		return;
	check_ranges(&trace, pids[0], "before", 100);
	check_ranges(&trace, pids[0], "after vfork", 100);
	check_ranges(&trace, pids[0], "at the end", 100);
	check_ranges(&trace, pids[1], "raw clone", 100);
	check_ranges(&trace, pids[2], "aborts", 100);
	CHECK_U64(trace_count(&trace, DW_MARK, "in vfork"), 1);
	CHECK_U64(trace.open, 0);
	CHECK_U64(trace_lost_all(&trace), 0);
	trace_close(&trace);
}

/* A vfork child that makes the process's very first record must not register. */
static void first_in_vfork(void *path)
{
	char *arguments[] = { (char *)(uintptr_t) "/bin/true", NULL };
	pid_t child;

	stress_start(path, NULL);
	child = vfork();
	if (child == 0) {
		DWELL_MARK("first");
		execv("/bin/true", arguments);
		_exit(127);
	}
	stress_wait(child);
	ranges_named("father", 10);
}

static void fork_first_in_vfork(void)
{
	struct trace trace;

	if (STRESS_TSAN)
		stress_skip("TSan makes a fork of each vfork");
	CHECK_EXITED(stress_child(first_in_vfork, (void *)(uintptr_t) "first.dwell"), 0);
	if (!stress_read(&trace, "first.dwell"))
		return;
	CHECK_U64(trace_count(&trace, TRACE_END, "father"), 10);
	CHECK_U64(trace_count(&trace, DW_MARK, "first") + trace_lost(&trace, DW_LOSS_FOREIGN), 1);
	CHECK_U64(trace_entries(&trace, DW_ENTRY_PROCESS), 1);
	trace_close(&trace);
}

/* A thread without a slot calls vfork, and its child makes the thread's first record. The
 * child must not register, or the thread and a later one would share a stream. */
static void *vforking_thread(void *unused)
{
	char *arguments[] = { (char *)(uintptr_t) "/bin/true", NULL };
	pid_t child = vfork();

	if (child == 0) {
		DWELL_MARK("of a vfork child");
		execv("/bin/true", arguments);
		_exit(127);
	}
	stress_wait(child);
	__atomic_store_n(&made[0], 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&made[0], __ATOMIC_ACQUIRE) != 2)
		sched_yield();
	ranges_named("vforked", RANGES);
	return NULL;
}

static void *later_thread(void *unused)
{
	while (__atomic_load_n(&made[0], __ATOMIC_ACQUIRE) != 1)
		sched_yield();
	ranges_named("later", 1);
	__atomic_store_n(&made[0], 2, __ATOMIC_RELEASE);
	ranges_named("later", RANGES);
	return NULL;
}

static void vfork_in_new_thread(void *path)
{
	pthread_t threads[2];

	stress_start(path, NULL);
	ranges_named("main", 1);
	pthread_create(&threads[0], NULL, vforking_thread, NULL);
	pthread_create(&threads[1], NULL, later_thread, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void fork_vfork_in_new_thread(void)
{
	struct trace trace;

	if (STRESS_TSAN)
		stress_skip("TSan makes a fork of each vfork");
	made = stress_shared(4096);
	CHECK_EXITED(stress_child(vfork_in_new_thread, (void *)(uintptr_t) "vforked.dwell"), 0);
	if (!stress_read(&trace, "vforked.dwell"))
		return;
	CHECK_U64(trace_count(&trace, TRACE_END, "vforked"), RANGES);
	CHECK_U64(trace_count(&trace, TRACE_END, "later"), RANGES + 1);
	CHECK_U64(trace_count(&trace, DW_MARK, "of a vfork child"), 0);
	CHECK_U64(trace_lost(&trace, DW_LOSS_FOREIGN), 1);
	CHECK_U64(trace_entries(&trace, DW_ENTRY_THREAD), 3);
	trace_close(&trace);
}

/* ---- children that outlive the session ------------------------------------------------ */

#define STOP_RACES STRESS_TIMES(40, 40)

/*
 * A child makes its first records while its parent stops the session, which removes the
 * blocks of the file that nobody uses. The child's blocks must not be among them: it would
 * end by SIGBUS. made[0] is when the parent stops, made[1] how long that took.
 */
static void race_with_stop(void *unused)
{
	for (int round = 0; round < STOP_RACES; round++) {
		struct dwell_options options = DWELL_OPTIONS_INIT;
		uint64_t began;
		pid_t child;

		options.overwrite = true;
		stress_start("race.dwell", &options);
		ranges_named("parent", 200000); /* more blocks to look at: the race takes longer */
		__atomic_store_n(&made[0], 0, __ATOMIC_RELEASE);
		child = fork();
		if (child == 0) {
			uint64_t until;

			__atomic_store_n(&made[2], 1, __ATOMIC_RELEASE);
			while (!(until = __atomic_load_n(&made[0], __ATOMIC_ACQUIRE)))
				;
			until += made[1] * (uint64_t)(round * 40 / STOP_RACES % 20) / 20;
			while (stress_now_ns() < until)
				;
			ranges_named("child", 50000);
			stress_sleep_us(2000);
			ranges_named("child", 50000);
			_exit(0);
		}
		while (!__atomic_load_n(&made[2], __ATOMIC_ACQUIRE))
			sched_yield();
		made[2] = 0;
		began = stress_now_ns();
		__atomic_store_n(&made[0], began, __ATOMIC_RELEASE);
		stress_stop();
		made[1] = stress_now_ns() - began;
		made[3] += stress_wait(child) == 0;
	}
}

static void fork_race_with_stop(void)
{
	struct trace trace;

	made = stress_shared(4096);
	CHECK_EXITED(stress_child(race_with_stop, NULL), 0);
	CHECK_U64(made[3], STOP_RACES);
	if (stress_read(&trace, "race.dwell"))
		CHECK_U64(trace_count(&trace, TRACE_END, "parent"), 200000);
	trace_close(&trace);
}

/*
 * A process in a pid namespace of its own goes on after the session's end. Its id exists
 * nowhere else: taken for dead, it would lose its blocks and end by SIGBUS.
 */
static void write_in_namespace(void)
{
	pid_t writer;

	for (int i = 0; i < 400; i++) /* an id that the namespace outside does not use */
		if ((writer = fork()) == 0)
			_exit(0);
		else
			waitpid(writer, NULL, 0);
	writer = fork();
	if (writer == 0) {
		ranges_named("inside", 1000);
		__atomic_store_n(&made[0], 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&made[0], __ATOMIC_ACQUIRE) != 2)
			stress_sleep_us(100);
		ranges_named("inside", 400000); /* beyond the window that it had */
		_exit(0);
	}
	made[1] = stress_wait(writer) == 0;
	_exit(0);
}

static void stop_outside_namespace(void *path)
{
	pid_t first;

	stress_start(path, NULL);
	ranges_named("outside", 1000);
	if (unshare(CLONE_NEWPID) != 0)
		_exit(STRESS_SKIP);
	first = fork();
	if (first == 0)
		write_in_namespace();
	while (!__atomic_load_n(&made[0], __ATOMIC_ACQUIRE))
		stress_sleep_us(100);
	stress_stop();
	__atomic_store_n(&made[0], 2, __ATOMIC_RELEASE);
	stress_wait(first);
}

static void fork_other_pid_namespace(void)
{
	struct trace trace;
	int status;

	if (STRESS_SANITIZED)
		stress_skip("the leak sanitizer finds no threads in another pid namespace");
	made = stress_shared(4096);
	status = stress_child(stop_outside_namespace, (void *)(uintptr_t) "namespace.dwell");
	if (WIFEXITED(status) && WEXITSTATUS(status) == STRESS_SKIP)
		stress_skip("no pid namespace may be made here");
	CHECK_EXITED(status, 0);
	CHECK_U64(made[1], 1);
	if (stress_read(&trace, "namespace.dwell"))
		CHECK_U64(trace_count(&trace, TRACE_END, "inside"), 401000);
	trace_close(&trace);
}

/* ---- another program in the same run ------------------------------------------------ */

static void check_exec(const char *how)
{
	char path[64], worker[4096], *command[] = { worker, (char *)(uintptr_t) "w",
		                                        (char *)(uintptr_t) "1000", (char *)(uintptr_t)how, NULL };
	struct trace trace;

	snprintf(path, sizeof path, "exec-%s.dwell", how);
	snprintf(worker, sizeof worker, "%s/stress_worker", stress_programs);
	CHECK_EXITED(stress_launched(path, command), 0);
	if (!stress_read(&trace, path))
		return;
	CHECK_U64(trace_count(&trace, TRACE_END, "w"), 1000);
	CHECK_U64(trace_count(&trace, TRACE_END, "w.next"), 1000);
	CHECK_U64(trace_entries(&trace, DW_ENTRY_PROCESS), 2);
	CHECK_U64(trace_lost_all(&trace), 0);
	trace_close(&trace);
}

static void fork_exec(void)
{
	check_exec("exec");
	check_exec("fork");
	check_exec("posix");
}

/* ---- plugins -------------------------------------------------------------------------- */

static void load_plugin(void *path)
{
	char plugin[4200];

	snprintf(plugin, sizeof plugin, "%s/stress_plugin.so", stress_programs);
	stress_start(path, NULL);
	for (int i = 0; i < 50; i++) {
		void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
		void (*work)(int);

		if (!handle) {
			FAIL("dlopen: %s", dlerror());
			return;
		}
		*(void **)&work = dlsym(handle, "plugin_work");
		work(20);
		dlclose(handle); /* its names' memory is gone: nothing may look there again */
	}
	ranges_named("after", 10);
	stress_stop();
	stress_start("plugin2.dwell", NULL); /* replays the names */
	ranges_named("again", 10);
}

static void fork_plugin(void)
{
	struct trace trace;

	CHECK_EXITED(stress_child(load_plugin, (void *)(uintptr_t) "plugin.dwell"), 0);
	if (!stress_read(&trace, "plugin.dwell"))
		return;
	CHECK_U64(trace_count(&trace, TRACE_END, "plugin.work"), 1000);
	CHECK_U64(trace_count(&trace, DW_MARK, "plugin.mark"), 1000);
	trace_close(&trace);
	if (stress_read(&trace, "plugin2.dwell"))
		CHECK_U64(trace_count(&trace, TRACE_END, "again"), 10);
	trace_close(&trace);
}

const struct stress_test fork_tests[] = {
	{ "fork.family", fork_family }, { "fork.while-recording", fork_while_recording },
	{ "fork.other-ways", fork_other_ways }, { "fork.first-in-vfork", fork_first_in_vfork },
	{ "fork.vfork-in-new-thread", fork_vfork_in_new_thread },
	{ "fork.race-with-stop", fork_race_with_stop },
	{ "fork.other-pid-namespace", fork_other_pid_namespace },
	{ "fork.exec", fork_exec }, { "fork.plugin", fork_plugin }, { NULL, NULL },
};
