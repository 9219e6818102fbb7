/*
 * Sessions that start and stop while threads record, and programs that interfere with the recorder:
 * they close its descriptors, change the folder, or delete the trace.
 */
#include "stress.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static uint32_t *shared;

static void *keep_recording(void *number)
{
	uint32_t own = 0, round = 0;
	char name[32];

	while (!__atomic_load_n(&shared[0], __ATOMIC_ACQUIRE)) {
		if (!own) {
			snprintf(name, sizeof name, "thread%d", (int)(uintptr_t)number);
			own = dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
		}
		DWELL_ZONE("site");
		if (own)
			stress_ranges(own, 10);
		snprintf(name, sizeof name, "n%u", round++ % 3000);
		stress_ranges(dwell_intern(DWELL_CATEGORY_ZONE, name, NULL), dwell_active());
		if (round % 16 == 0)
			dwell_step();
	}
	return NULL;
}

static void restart(void *unused)
{
	pthread_t threads[3];
	char path[64];

	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, keep_recording, (void *)i);
	for (uint32_t i = 0; i < shared[1]; i++) {
		snprintf(path, sizeof path, "session%u.dwell", i);
		stress_start(path, NULL);
		if (!dwell_active() || strcmp(strrchr(dwell_trace_path(), '/') + 1, path) != 0)
			FAIL("the session is not active as %s", path);
		stress_sleep_us((unsigned)(stress_random() % 6000));
		{
			DWELL_MARK("starter");
		}
		stress_stop();
		if (i % 3 == 0)
			stress_sleep_us((unsigned)(stress_random() % 2000));
	}
	__atomic_store_n(&shared[0], 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void count_unnamed(void *context, const struct trace_record *record)
{
	*(uint64_t *)context += record->kind == DW_BEGIN && !*record->name;
}

static void session_restarts(void)
{
	uint64_t ranges = 0;

	shared = stress_shared(4096);
	shared[1] = STRESS_TIMES(120, 1000);
	CHECK_EXITED(stress_child(restart, NULL), 0);
	for (uint32_t i = 0; i < shared[1]; i++) {
		uint64_t unnamed = 0;
		struct trace trace;
		char path[64];

		snprintf(path, sizeof path, "session%u.dwell", i);
		if (!stress_read(&trace, path))
			continue;
		trace_walk(&trace, count_unnamed, &unnamed);
		if (unnamed && !trace_lost(&trace, DW_LOSS_DICTIONARY))
			FAIL("%s: %llu ranges without a name", path, (unsigned long long)unnamed);
		/* Threads wait for each other for a limited time: what is not recorded is counted. */
		CHECK(trace_count(&trace, DW_MARK, "starter") == 1 || trace_lost_all(&trace));
		CHECK_U64(trace_entries(&trace, DW_ENTRY_PROCESS), 1);
		ranges += trace_count(&trace, TRACE_END, "site");
		trace_close(&trace);
		unlink(path);
	}
	CHECK(ranges > shared[1]);
}

/* Two threads that start at once: one session, and nobody is harmed. */
static void *start_stop(void *number)
{
	for (int i = 0; i < 50; i++) {
		struct dwell_options options = DWELL_OPTIONS_INIT;
		char path[64];
		int result;

		snprintf(path, sizeof path, "race%d-%d.dwell", (int)(uintptr_t)number, i);
		options.path = path;
		result = dwell_start(&options, NULL);
		if (result != 0 && result != DWELL_E_STATE)
			FAIL("dwell_start: %s", dwell_error_text(result));
		for (int j = 0; j < 100; j++) {
			DWELL_ZONE("raced");
		}
		dwell_stop(NULL);
	}
	STRESS_THREAD_ENDS();
	return NULL;
}

static void race_starts(void *unused)
{
	pthread_t threads[3];

	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, start_stop, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void session_race(void)
{
	CHECK_EXITED(stress_child(race_starts, NULL), 0);
	for (int number = 0; number < 3; number++) {
		for (int i = 0; i < 50; i++) {
			struct trace trace;
			char path[64];

			snprintf(path, sizeof path, "race%d-%d.dwell", number, i);
			if (access(path, F_OK) != 0)
				continue;
			stress_read(&trace, path);
			trace_close(&trace);
		}
	}
}

/* ---- errors ------------------------------------------------------------------------ */

static void misuse(void *unused)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0 };

	options.path = "once.dwell";
	CHECK(dwell_start(&options, &error) == 0);
	CHECK(dwell_start(&options, &error) == DWELL_E_STATE && *error.message);
	stress_stop();
	CHECK(dwell_start(&options, &error) == DWELL_E_EXISTS && strstr(error.message, "once.dwell"));
	options.overwrite = true;
	CHECK(dwell_start(&options, &error) == 0);
	stress_stop();
	options.path = "/nowhere/x.dwell";
	CHECK(dwell_start(&options, &error) == DWELL_E_IO);
	options.size = 3;
	CHECK(dwell_start(&options, NULL) == DWELL_E_ARGUMENT);
	CHECK(!dwell_active() && !dwell_trace_path());
}

static void session_misuse(void)
{
	CHECK_EXITED(stress_child(misuse, NULL), 0);
}

/* ---- the ground moves ---------------------------------------------------------------- */

#define MANY 400000u /* ranges: 4.8 MB, more than one window */

static void become_daemon(void *unused)
{
	uint32_t id;
	int file;

	stress_start("daemon.dwell", NULL); /* a relative path */
	id = dwell_intern(DWELL_CATEGORY_ZONE, "daemonic", NULL);
	stress_ranges(id, 10);
	for (int i = 3; i < 200; i++)
		close(i);
	/* Ours have the trace's old number. */
	file = open("mine.txt", O_RDWR | O_CREAT, 0600);
	for (int i = 4; i < 200; i++)
		(void)!dup(file);
	for (int i = 0; i < 20000; i++)
		if (write(file, "0123456789", 10) != 10)
			FAIL("cannot write a file of our own");
	if (chdir("/") != 0)
		FAIL("chdir");
	stress_ranges(id, MANY);
}

static void session_closed_files(void)
{
	struct stat status;
	struct trace trace;

	CHECK_EXITED(stress_child(become_daemon, NULL), 0);
	CHECK(stat("mine.txt", &status) == 0);
	CHECK_U64((uint64_t)status.st_size, 200000);
	if (stress_read(&trace, "daemon.dwell")) {
		CHECK_U64(trace_count(&trace, TRACE_END, "daemonic"), MANY + 10);
		CHECK_U64(trace_lost_all(&trace), 0);
		/* It was trimmed all the same. */
		CHECK(trace.size_bytes < (uint64_t)6 << 20);
	}
	trace_close(&trace);
}

static void lose_the_file(void *unused)
{
	uint32_t id;

	stress_start("gone.dwell", NULL);
	id = dwell_intern(DWELL_CATEGORY_ZONE, "somewhere", NULL);
	stress_ranges(id, 10);
	unlink("gone.dwell");
	close_range(3, ~0u, 0);
	stress_ranges(id, MANY);
}

static void session_deleted_file(void)
{
	CHECK_EXITED(stress_child(lose_the_file, NULL), 0);
}

/* ---- a trace of another machine ------------------------------------------------------ */

/* Writes `bytes` into the head of a run's file before a program joins the run. */
static void join_changed(const char *what, unsigned offset, const char *bytes)
{
	char command[8192], path[64], side[96];
	char *arguments[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c", command, NULL };
	struct trace trace;
	glob_t found;

	snprintf(path, sizeof path, "foreign-%s.dwell", what);
	snprintf(side, sizeof side, "foreign-%s.?*.dwell", what);
	snprintf(command, sizeof command,
	         "printf '%s' | dd of=$DWELL_TRACE bs=1 seek=%u conv=notrunc 2>/dev/null && "
	         "exec '%s/stress_worker' w 100 steps 1", bytes, offset, stress_programs);
	setenv("STRESS_STEPS", "0-1000", 1);
	CHECK_EXITED(stress_launched(path, arguments), 0);
	unsetenv("STRESS_STEPS");
	if (!stress_read(&trace, path))
		return;
	if (trace_entries(&trace, DW_ENTRY_PROCESS))
		FAIL("%s: a process of this machine has joined", what);
	trace_close(&trace);
	if (glob(side, 0, NULL, &found) != 0) {
		FAIL("%s: there is no file of its own (%s)", what, side);
		return;
	}
	CHECK_U64(found.gl_pathc, 1);
	if (stress_read(&trace, found.gl_pathv[0])) {
		const struct dw_head *head = (const void *)trace.data;
		const struct dw_control *control = (const void *)((const char *)trace.data + DW_CONTROL_OFFSET);

		CHECK_U64(trace_count(&trace, TRACE_END, "w"), 100);
		CHECK_U64(control->steps_from, 0); /* what the run was asked for */
		CHECK_U64(control->steps_to, 1000);
		CHECK(head->end_blocks > 1 && trace.size_bytes == head->end_blocks * (uint64_t)DW_BLOCK_BYTES);
	}
	trace_close(&trace);
	globfree(&found);
}

static void session_other_machine(void)
{
	join_changed("boot", offsetof(struct dw_head, boot_id), "another boot id ");
	join_changed("clock", offsetof(struct dw_head, clock_kind), "\\7");
	join_changed("rate", offsetof(struct dw_head, ticks_per_second), "\\0\\0\\0\\0\\0\\0\\0\\0");
	join_changed("ticks", offsetof(struct dw_head, start_ticks), "\\0\\0\\0\\0\\0\\0\\377");
	join_changed("time", offsetof(struct dw_head, start_monotonic_ns), "\\0\\0\\0\\0\\0\\1");
	join_changed("namespace", offsetof(struct dw_head, time_namespace), "\\1");
	/* Where the boot has no id, the host's name decides. */
	join_changed("host", offsetof(struct dw_head, boot_id),
	             "\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0another-host");
}

/* A process that records nothing leaves no file, and a child of fork has one of its own. */
static void side_files(const char *what, size_t files, uint64_t ranges)
{
	char command[8192], path[64], pattern[96];
	char *arguments[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t)"-c", command, NULL };
	glob_t found = { 0 };

	snprintf(path, sizeof path, "side-%s.dwell", what);
	snprintf(pattern, sizeof pattern, "side-%s.?*.dwell", what);
	snprintf(command, sizeof command,
	         "printf 'another boot id ' | dd of=$DWELL_TRACE bs=1 seek=%zu conv=notrunc 2>/dev/null && "
	         "exec '%s/stress_guest' %s", offsetof(struct dw_head, boot_id), stress_programs, what);
	CHECK_EXITED(stress_launched(path, arguments), 0);
	glob(pattern, 0, NULL, &found);
	CHECK_U64(found.gl_pathc, files);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct trace trace;

		if (stress_read(&trace, found.gl_pathv[i])) {
			CHECK_U64(trace_count(&trace, TRACE_END, "guest"), ranges);
			CHECK_U64(trace_lost_all(&trace), 0);
		}
		trace_close(&trace);
	}
	globfree(&found);
}

static void session_side_files(void)
{
	side_files("nothing", 0, 0);
	side_files("child-records", 1, 10);
	side_files("size", 1, 1000);
}

/* A program with limited private memory: the recorder requests memory in small parts, because a
 * kernel with vm.overcommit_memory=2 grants only what it has. */
static void limit_memory(void *unused)
{
	struct rlimit limit = { 48u << 20, 48u << 20 };

	setrlimit(RLIMIT_DATA, &limit);
	stress_start("limited.dwell", NULL);
	stress_ranges(dwell_intern(DWELL_CATEGORY_ZONE, "limited", NULL), 1000);
}

static void session_limited_memory(void)
{
	struct trace trace;

	if (STRESS_SANITIZED)
		stress_skip("sanitizers need more memory");
	CHECK_EXITED(stress_child(limit_memory, NULL), 0);
	if (stress_read(&trace, "limited.dwell"))
		CHECK_U64(trace_count(&trace, TRACE_END, "limited"), 1000);
	trace_close(&trace);
}

/* ---- what is in the way --------------------------------------------------------------- */

static void name_others(void *unused)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0 };
	static const char *const paths[] = { "results.csv", "link.dwell", "fifo" };

	options.overwrite = true;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		options.path = paths[i];
		CHECK(dwell_start(&options, &error) == DWELL_E_EXISTS && strstr(error.message, paths[i]));
	}
	options.path = "empty";
	CHECK(dwell_start(&options, &error) == 0);
	stress_stop();
}

static void session_overwrites_traces_only(void)
{
	struct stat status;
	int file = open("results.csv", O_WRONLY | O_CREAT, 0600);

	CHECK(write(file, "a,b\n1,2\n", 8) == 8);
	close(file);
	close(open("empty", O_WRONLY | O_CREAT, 0600));
	CHECK(symlink("results.csv", "link.dwell") == 0 && mkfifo("fifo", 0600) == 0);
	CHECK_EXITED(stress_child(name_others, NULL), 0);
	CHECK(lstat("results.csv", &status) == 0 && status.st_size == 8);
	CHECK(lstat("link.dwell", &status) == 0 && S_ISLNK(status.st_mode));
	CHECK(lstat("fifo", &status) == 0 && S_ISFIFO(status.st_mode));
}

const struct stress_test session_tests[] = {
	{ "session.restarts", session_restarts },
	{ "session.race", session_race },
	{ "session.misuse", session_misuse },
	{ "session.closed-files", session_closed_files },
	{ "session.deleted-file", session_deleted_file },
	{ "session.other-machine", session_other_machine },
	{ "session.side-files", session_side_files },
	{ "session.limited-memory", session_limited_memory },
	{ "session.overwrites-traces-only", session_overwrites_traces_only },
	{ NULL, NULL },
};
