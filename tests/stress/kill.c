/*
 * Programs that are killed at any moment: everything recorded before the kill is in the file.
 *
 * Each thread counts a range outside the trace after its end was written. The trace must contain at
 * least this number of ranges and at most one more, and the file must have no other errors.
 */
#include "stress.h"

#include <pthread.h>
#include <signal.h>

#define THREADS 3

struct tally {
	uint64_t ranges[THREADS]; /* completed, by thread */
	uint32_t started;
};
static struct tally *tally;

static void record_for_ever(unsigned thread)
{
	char name[16];
	uint32_t outer, inner;

	snprintf(name, sizeof name, "outer%u", thread);
	outer = dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
	snprintf(name, sizeof name, "inner%u", thread);
	inner = dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
	for (;;) {
		unsigned a = dwell_begin_id(outer, DWELL_CATEGORY_ZONE);
		unsigned b = dwell_begin_id(inner, DWELL_CATEGORY_ZONE);

		dwell_end_id(b);
		DWELL_COUNTER("progress", (double)tally->ranges[thread]);
		dwell_end_id(a);
		__atomic_store_n(&tally->ranges[thread], tally->ranges[thread] + 1, __ATOMIC_RELAXED);
	}
}

static void *thread_main(void *number)
{
	record_for_ever((unsigned)(uintptr_t)number);
	return NULL;
}

static void victim(void *path)
{
	pthread_t thread;

	stress_start(path, NULL);
	__atomic_store_n(&tally->started, 1, __ATOMIC_RELEASE);
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, thread_main, (void *)i);
	record_for_ever(0);
}

/* A thread waits for another one in the recorder for a limited time, which passes where that one gets no processor: then
 * records are counted as lost. Returns whether some are. */
static bool check_trace(const char *path, unsigned round)
{
	struct trace trace;
	uint64_t lost;

	if (trace_open(&trace, path) != 0) {
		/* Killed before the head was whole: nothing can have been recorded. */
		for (int i = 0; i < THREADS; i++)
			CHECK_U64(tally->ranges[i], 0);
		return false;
	}
	lost = trace_lost(&trace, DW_LOSS_BUSY);
	for (unsigned i = 0; i < THREADS; i++) {
		char name[16];
		uint64_t ends;

		snprintf(name, sizeof name, "outer%u", i);
		ends = trace_count(&trace, TRACE_END, name);
		if (ends + lost < tally->ranges[i] || ends > tally->ranges[i] + 1)
			FAIL("round %u, thread %u: %llu ranges in the file, %llu were completed", round, i,
			     (unsigned long long)ends, (unsigned long long)tally->ranges[i]);
	}
	if (trace.bad)
		FAIL("round %u: %s", round, trace.why);
	CHECK_U64(trace_lost_all(&trace), lost);
	if (trace.surplus_ends > lost)
		FAIL("round %u: %llu ends without a begin", round, (unsigned long long)trace.surplus_ends);
	trace_close(&trace);
	return lost > 0;
}

static void killed_at_random(void)
{
	unsigned rounds = STRESS_TIMES(200, 1000), waited = 0;

	tally = stress_shared(sizeof *tally);
	for (unsigned round = 0; round < rounds; round++) {
		pid_t pid;

		memset(tally, 0, sizeof *tally);
		unlink("kill.dwell");
		pid = stress_spawn(victim, (void *)(uintptr_t) "kill.dwell");
		/* One round in eight: at any moment of starting up. */
		if (round % 8) {
			while (!__atomic_load_n(&tally->started, __ATOMIC_ACQUIRE))
				stress_sleep_us(50);
			stress_sleep_us((unsigned)(stress_random() % 12000));
		} else {
			stress_sleep_us((unsigned)(stress_random() % 4000));
		}
		kill(pid, SIGKILL);
		stress_wait(pid);
		waited += check_trace("kill.dwell", round);
	}
	CHECK(waited <= rounds / 20);
}

/* Stepping as well: the step in which the program was killed is there, open. */
static void stepper(void *path)
{
	stress_start(path, NULL);
	for (;;) {
		DWELL_STEP();
		{
			DWELL_ZONE("work");
		}
		__atomic_fetch_add(&tally->ranges[0], 1, __ATOMIC_RELEASE);
	}
}

static void killed_in_a_step(void)
{
	tally = stress_shared(sizeof *tally);
	for (int round = 0; round < STRESS_TIMES(20, 100); round++) {
		struct trace trace;
		pid_t pid;
		uint64_t open = 0, whole = 0;

		memset(tally, 0, sizeof *tally);
		unlink("step.dwell");
		pid = stress_spawn(stepper, (void *)(uintptr_t) "step.dwell");
		while (__atomic_load_n(&tally->ranges[0], __ATOMIC_ACQUIRE) < 10)
			stress_sleep_us(100);
		stress_sleep_us((unsigned)(stress_random() % 5000));
		kill(pid, SIGKILL);
		stress_wait(pid);
		if (stress_read(&trace, "step.dwell")) {
			for (size_t i = 0; i < trace.all_count; i++) {
				const struct dw_entry_step *step = (const void *)trace.all[i];

				if (step->entry.tag != DW_ENTRY_TAG(DW_ENTRY_STEP))
					continue;
				whole += step->end_ticks != 0;
				open += step->end_ticks == 0;
				CHECK(!step->end_ticks || step->end_ticks >= step->start_ticks);
			}
			CHECK(open <= 1);
			/* Counted before the end of the step: the last may be under way. */
			if (whole + 1 < tally->ranges[0] || whole > tally->ranges[0])
				FAIL("%llu whole steps, %llu were made", (unsigned long long)whole,
				     (unsigned long long)tally->ranges[0]);
		}
		trace_close(&trace);
	}
}

const struct stress_test kill_tests[] = {
	{ "kill.random", killed_at_random },
	{ "kill.step", killed_in_a_step },
	{ NULL, NULL },
};
