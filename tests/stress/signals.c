/*
 * Probes in signal handlers that interrupt probes.
 *
 * Handlers of several signals, which also interrupt each other, record zones, counters, marks and
 * new names while the interrupted code records. All lost records are counted, and no record is
 * torn.
 */
#include "stress.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

struct made {
	uint64_t records;  /* begins, ends, marks and counters that were called for */
	uint64_t handlers; /* times a handler ran */
	uint64_t names;
	uint32_t stop;
};
static struct made *made;

static void add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static void handler(int signal)
{
	uint64_t n = __atomic_fetch_add(&made->handlers, 1, __ATOMIC_RELAXED);
	char name[32];

	{
		DWELL_ZONE("handler");
		DWELL_MARK("handler.mark");
		DWELL_COUNTER("handler.counter", (double)n);
		{
			DWELL_OP("handler.inner");
		}
	}
	add(&made->records, 6);
	if (n % 4 == 0) {
		/* snprintf is no function for handlers, but no other code here uses it. */
		size_t at = sizeof name - 1;

		name[at] = '\0';
		for (uint64_t left = n; at > 4; left /= 10)
			name[--at] = (char)('0' + left % 10);
		name[--at] = signal == SIGALRM ? 'a' : 'u';
		uint32_t id = dwell_intern(DWELL_CATEGORY_ZONE, name + at, NULL);
		if (id) {
			stress_ranges(id, 2);
			add(&made->records, 4);
			add(&made->names, 1);
		}
	}
}

static void *storm(void *target)
{
	while (!__atomic_load_n(&made->stop, __ATOMIC_ACQUIRE)) {
		syscall(SYS_tgkill, getpid(), (pid_t)(uintptr_t)target, SIGUSR1);
		if (stress_random() % 4 == 0)
			syscall(SYS_tgkill, getpid(), (pid_t)(uintptr_t)target, SIGUSR2);
		stress_sleep_us(20);
	}
	return NULL;
}

static void arm(void)
{
	static const int signals[] = { SIGALRM, SIGUSR1, SIGUSR2 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	for (int i = 0; i < 3; i++)
		sigaction(signals[i], &action, NULL);
}

/* So many handlers are enough, and on a slow machine so much time. */
static bool is_enough(uint64_t begin_ns)
{
	return __atomic_load_n(&made->handlers, __ATOMIC_RELAXED) >= STRESS_TIMES(20000u, 400000u) || stress_now_ns() - begin_ns > 60000000000u;
}

static void interrupted_program(void *path)
{
	struct itimerval interval = { { 0, 67 }, { 0, 67 } }, none = { { 0, 0 }, { 0, 0 } };
	uint64_t begin = stress_now_ns();
	uint64_t records = 0, round = 0;
	pthread_t thread;
	char name[32];

	stress_start(path, NULL);
	arm();
	pthread_create(&thread, NULL, storm, (void *)(uintptr_t)(pid_t)syscall(SYS_gettid));
	setitimer(ITIMER_REAL, &interval, NULL);
	while (!is_enough(begin)) {
		for (int i = 0; i < 200; i++) {
			DWELL_ZONE("main");
			DWELL_MARK("main.mark");
			{
				DWELL_OP("main.inner");
			}
			DWELL_COUNTER("main.counter", (double)i);
		}
		records += 200 * 6;
		snprintf(name, sizeof name, "m%llu", (unsigned long long)round++);
		stress_ranges(dwell_intern(DWELL_CATEGORY_ZONE, name, NULL), 1);
		records += 2;
	}
	setitimer(ITIMER_REAL, &none, NULL);
	__atomic_store_n(&made->stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	add(&made->records, records);
}

struct balance {
	const struct dw_chunk *chunk;
	uint64_t wrong_nesting; /* a handler's zone that holds the interrupted code's records */
	uint64_t nested_records;
};

static void look(void *context, const struct trace_record *record)
{
	struct balance *balance = context;

	balance->nested_records += (record->chunk->stream & DW_STREAM_NESTED) != 0;
	if (record->kind == DW_BEGIN && (record->chunk->stream & DW_STREAM_NESTED) &&
	    strncmp(record->name, "main", 4) == 0)
		balance->wrong_nesting++;
}

static void check(const char *path)
{
	struct balance balance = { 0 };
	uint64_t lost, kept;
	struct trace trace;

	made = stress_shared(sizeof *made);
	CHECK_EXITED(stress_child(interrupted_program, (void *)(uintptr_t)path), 0);
	if (!stress_read(&trace, path))
		return;
	kept = trace.records - trace.own;
	/* Names that could not be interned are counted too, and are no records. */
	lost = trace_lost_all(&trace) - trace_lost(&trace, DW_LOSS_DICTIONARY);
	if (kept + lost != made->records)
		FAIL("%llu records kept + %llu lost, but %llu made; %s", (unsigned long long)kept,
		     (unsigned long long)lost, (unsigned long long)made->records, trace_losses(&trace));
	CHECK_U64(lost, trace_lost(&trace, DW_LOSS_BUSY));
	CHECK(trace.surplus_ends + trace.open <= lost);
	trace_walk(&trace, look, &balance);
	CHECK_U64(balance.wrong_nesting, 0);
	CHECK(made->handlers > STRESS_TIMES(1000, 1000));
	printf("    %llu handlers, %llu records in nested streams, %llu lost as busy, %llu names\n",
	       (unsigned long long)made->handlers, (unsigned long long)balance.nested_records,
	       (unsigned long long)lost, (unsigned long long)made->names);
	trace_close(&trace);
}

static void storm_inline(void)
{
	check("signals.dwell");
}

/* On the clock that is a call, every record is slow: more is interrupted. */
static void storm_slow(void)
{
	setenv("DWELL_CLOCK", "monotonic", 1);
	check("slow.dwell");
}

/* Handlers hit threads at their first record, while they register. */
static void *brief_thread(void *unused)
{
	for (int i = 0; i < 10; i++) {
		DWELL_ZONE("brief");
	}
	add(&made->records, 20);
	return unused;
}

static void registering_program(void *path)
{
	struct itimerval interval = { { 0, 41 }, { 0, 41 } }, none = { { 0, 0 }, { 0, 0 } };
	uint64_t begin = stress_now_ns();

	stress_start(path, NULL);
	arm();
	setitimer(ITIMER_REAL, &interval, NULL);
	while (!is_enough(begin)) {
		pthread_t threads[8];

		for (int i = 0; i < 8; i++)
			while (pthread_create(&threads[i], NULL, brief_thread, NULL) != 0)
				;
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	setitimer(ITIMER_REAL, &none, NULL);
}

static void registering(void)
{
	uint64_t lost, kept;
	struct trace trace;

	if (STRESS_TSAN)
		stress_skip("TSan does not see that the end of a thread with two slots orders");
	made = stress_shared(sizeof *made);
	CHECK_EXITED(stress_child(registering_program, (void *)(uintptr_t) "register.dwell"), 0);
	if (!stress_read(&trace, "register.dwell"))
		return;
	kept = trace.records - trace.own;
	lost = trace_lost_all(&trace) - trace_lost(&trace, DW_LOSS_DICTIONARY);
	if (kept + lost != made->records)
		FAIL("%llu records kept + %llu lost, but %llu made; %s", (unsigned long long)kept,
		     (unsigned long long)lost, (unsigned long long)made->records, trace_losses(&trace));
	CHECK_U64(lost, trace_lost(&trace, DW_LOSS_BUSY));
	CHECK(trace.surplus_ends + trace.open <= lost);
	trace_close(&trace);
}

/* ---- handlers that do not return ----------------------------------------------------- */

static sigjmp_buf jump_target;
static volatile sig_atomic_t jump_armed;

static void jumper(int unused)
{
	if (jump_armed) {
		jump_armed = 0;
		siglongjmp(jump_target, 1);
	}
}

/* Whether a range of this thread arrives in the thread's own stream. */
static bool records_again(void)
{
	const struct dwell_stream *before = dwell_this_stream;
	const char *cursor = before->cursor;

	{
		DWELL_ZONE("soon after");
	}
	return dwell_this_stream == before && !before->busy && before->cursor != cursor;
}

/* That a record or the holder of a lock was abandoned is seen after a second and some hundred
 * records at least; on a busy machine later. */
static void record_later(void)
{
	uint64_t end = stress_now_ns() + 60000000000u;

	while (!records_again() && stress_now_ns() < end)
		stress_sleep_us(1000);
	for (int i = 0; i < 1000; i++) {
		DWELL_ZONE("later");
		made->records++;
	}
}

/* Jumps out of records and, on the way into the first ones, out of registration. After that
 * the thread goes on and ends its session; what it records then must be there. */
static void jumping_program(void *path)
{
	struct itimerval interval = { { 0, 137 }, { 0, 137 } }, none = { { 0, 0 }, { 0, 0 } };
	uint64_t end = stress_now_ns() + 700000000u;

	stress_start(path, NULL);
	signal(SIGALRM, jumper);
	setitimer(ITIMER_REAL, &interval, NULL);
	while (stress_now_ns() < end) {
		if (sigsetjmp(jump_target, 1) == 0) {
			jump_armed = 1;
			for (;;) {
				DWELL_ZONE("work");
			}
		}
		made->handlers++;
		if (made->handlers % 16 == 0) {
			/* Names as well: they take the process's lock. */
			char name[32];

			snprintf(name, sizeof name, "n%llu", (unsigned long long)made->handlers);
			if (sigsetjmp(jump_target, 1) == 0) {
				jump_armed = 1;
				for (;;)
					dwell_meta("key", name);
			}
		}
	}
	jump_armed = 0;
	setitimer(ITIMER_REAL, &none, NULL);
	record_later();
}

struct later {
	uint64_t main, nested;
};

static void see_later(void *context, const struct trace_record *record)
{
	struct later *later = context;

	if (record->kind != DW_BEGIN || strcmp(record->name, "later") != 0)
		return;
	if (record->chunk->stream & DW_STREAM_NESTED)
		later->nested++;
	else
		later->main++;
}

static void jumping(void)
{
	struct trace trace;

	if (STRESS_SANITIZED)
		stress_skip("a sanitizer's own locks do not survive siglongjmp()");
	made = stress_shared(sizeof *made);
	for (int round = 0; round < (stress_long ? 20 : 1); round++) {
		struct later later = { 0 };

		made->records = made->handlers = 0;
		unlink("jump.dwell");
		CHECK_EXITED(stress_child(jumping_program, (void *)(uintptr_t) "jump.dwell"), 0);
		if (!stress_read(&trace, "jump.dwell"))
			return;
		trace_walk(&trace, see_later, &later);
		CHECK_U64(made->records, 1000);
		CHECK_U64(later.main, 1000);
		CHECK_U64(later.nested, 0);
		CHECK(made->handlers > 100);
		printf("    %llu jumps; %s\n", (unsigned long long)made->handlers, trace_losses(&trace));
		trace_close(&trace);
	}
}

/* The same in a thread of its own, which another one must not wait for. */
static void *jump_at_first(void *unused)
{
	if (sigsetjmp(jump_target, 1) == 0) {
		jump_armed = 1;
		for (;;) {
			DWELL_ZONE("first");
		}
	}
	return unused;
}

static void jumping_first_program(void *path)
{
	struct itimerval interval = { { 0, 200 }, { 0, 200 } }, none = { { 0, 0 }, { 0, 0 } };

	stress_start(path, NULL);
	signal(SIGALRM, jumper);
	setitimer(ITIMER_REAL, &interval, NULL);
	jump_at_first(NULL);
	setitimer(ITIMER_REAL, &none, NULL);
	record_later();
}

static void jumping_out_of_registration(void)
{
	if (STRESS_SANITIZED)
		stress_skip("a sanitizer's own locks do not survive siglongjmp()");
	made = stress_shared(sizeof *made);
	for (int round = 0; round < (stress_long ? 50 : 2); round++) {
		struct later later = { 0 };
		struct trace trace;

		unlink("first.dwell");
		CHECK_EXITED(stress_child(jumping_first_program, (void *)(uintptr_t) "first.dwell"), 0);
		if (!stress_read(&trace, "first.dwell"))
			return;
		trace_walk(&trace, see_later, &later);
		CHECK_U64(later.main, 1000);
		trace_close(&trace);
	}
}

const struct stress_test signal_tests[] = {
	{ "signals.storm", storm_inline }, { "signals.storm-monotonic", storm_slow },
	{ "signals.registering", registering }, { "signals.jumping", jumping },
	{ "signals.jumping-first", jumping_out_of_registration }, { NULL, NULL },
};
