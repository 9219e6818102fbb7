/*
 * Runs with very many steps in a small file: each step is in the trace, alone or in a summary, new
 * names still fit, and the step in which the program was killed is there.
 */
#include "stress.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#define STEPS 300000u
#define BUDGET ((uint64_t)8 << 20)

static uint64_t *begun;

static void make_steps(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		dwell_step();
		for (int k = 0; k < 5; k++) {
			DWELL_ZONE("work");
		}
		__atomic_store_n(begun, i + 1, __ATOMIC_RELEASE);
	}
	dwell_step_end();
}

static void begin(void *path, enum dwell_keep keep)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;

	options.max_size_bytes = BUDGET;
	options.keep = keep;
	stress_start(path, &options);
}

static void many_steps(void *path)
{
	begin(path, DWELL_KEEP_BOTH);
	make_steps(STEPS);
	for (int i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof name, "a name that came late %d", i);
		dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
	}
}

struct found {
	uint64_t single, lowest, highest; /* steps with entries of their own */
	uint64_t summarised, first, next, open, entries, durations;
	uint64_t open_number, start_ticks, end_ticks;
	bool lacks_one; /* the last summary: its count was not yet written when the program was killed */
};

/* A step that began before the end of a summary is in it, even if the summary does not count it yet. */
static void add_step(struct found *found, const struct dw_entry_step *step)
{
	if (step->entry.aux & DW_STEP_CANCELLED ||
	    (found->entries && step->start_ticks >= found->start_ticks && step->start_ticks < found->end_ticks)) {
		if (!(step->entry.aux & DW_STEP_CANCELLED) && found->lacks_one) {
			found->lacks_one = false;
			found->summarised++;
			found->next++;
		}
		return;
	}
	if (!step->end_ticks) {
		found->open++;
		found->open_number = step->number;
		return;
	}
	if (!found->single || step->number < found->lowest)
		found->lowest = step->number;
	if (!found->single || step->number > found->highest)
		found->highest = step->number;
	found->single++;
}

static void add_summary(struct found *found, const struct dw_entry_steps *steps)
{
	uint64_t durations = 0;

	if (!steps->count)
		return;
	if (!found->entries) {
		found->first = found->next = steps->first_number;
		found->start_ticks = steps->start_ticks;
	}
	CHECK_U64(steps->first_number, found->next);
	/* Of a killed process the sums may hold one step more. */
	CHECK(steps->end_ticks - steps->start_ticks + steps->longest_ticks >= steps->step_ticks);
	CHECK(steps->start_ticks >= found->end_ticks);
	CHECK(steps->shortest_ticks <= steps->longest_ticks);
	CHECK(steps->longest_ticks <= steps->step_ticks);
	for (unsigned i = 0; i < DW_STEPS_BUCKETS; i++)
		durations += steps->durations[i];
	found->durations += durations;
	found->lacks_one = durations == steps->count + 1;
	found->summarised += steps->count;
	found->next += steps->count;
	found->end_ticks = steps->end_ticks;
	found->entries++;
}

/* Numbers follow one another without a gap: single steps first or, if the newest are kept, last. */
static struct found find_steps(const struct trace *trace)
{
	struct found found = { 0 };

	for (size_t i = 0; i < trace->all_count; i++)
		if (trace->all[i]->tag == DW_ENTRY_TAG(DW_ENTRY_STEPS))
			add_summary(&found, (const void *)trace->all[i]);
	for (size_t i = 0; i < trace->all_count; i++)
		if (trace->all[i]->tag == DW_ENTRY_TAG(DW_ENTRY_STEP))
			add_step(&found, (const void *)trace->all[i]);
	if (found.single)
		CHECK_U64(found.highest - found.lowest + 1, found.single);
	if (found.single && found.entries && found.lowest)
		CHECK_U64(found.lowest, found.next);
	else if (found.entries)
		CHECK_U64(found.first, found.single);
	return found;
}

static void all_steps_are_there(void)
{
	struct trace trace;
	struct found found;

	begun = stress_shared(sizeof *begun);
	CHECK_EXITED(stress_child(many_steps, (void *)(uintptr_t) "steps.dwell"), 0);
	if (!stress_read(&trace, "steps.dwell"))
		return;
	found = find_steps(&trace);
	printf("    %llu single steps, %llu in %llu summaries\n", (unsigned long long)found.single,
	       (unsigned long long)found.summarised, (unsigned long long)found.entries);
	CHECK_U64(found.single + found.summarised, STEPS);
	CHECK_U64(found.first, found.single);
	CHECK_U64(found.durations, found.summarised);
	CHECK(found.single > 10000 && found.entries > 3);
	CHECK_U64(found.open, 0);
	CHECK_U64(trace_lost(&trace, DW_LOSS_DICTIONARY), 0);
	for (int i = 0; i < 200; i += 199) {
		char name[32];
		bool there = false;

		snprintf(name, sizeof name, "a name that came late %d", i);
		for (uint32_t id = 1; id < trace.id_count; id++)
			there |= trace_text_is(&trace, id, name);
		CHECK(there);
	}
	trace_close(&trace);
}

static void steps_for_ever(void *path)
{
	begin(path, DWELL_KEEP_NEWEST);
	make_steps(UINT64_MAX);
}

/* With the newest steps kept. The step in which the program was killed is open, or it had just ended. */
static void killed_in_a_summarised_step(void)
{
	for (int round = 0; round < STRESS_TIMES(10, 100); round++) {
		struct trace trace;
		pid_t pid;

		begun = stress_shared(sizeof *begun);
		unlink("killed.dwell");
		pid = stress_spawn(steps_for_ever, (void *)(uintptr_t) "killed.dwell");
		while (__atomic_load_n(begun, __ATOMIC_ACQUIRE) < 150000)
			stress_sleep_us(100);
		stress_sleep_us((unsigned)(stress_random() % 5000));
		kill(pid, SIGKILL);
		stress_wait(pid);
		if (stress_read(&trace, "killed.dwell")) {
			struct found found = find_steps(&trace);
			uint64_t ended = found.single + found.summarised;

			CHECK(found.summarised > 0);
			CHECK(found.single > 5000 && found.lowest);
			CHECK(found.open <= 1);
			if (found.open && found.open_number != ended && found.open_number + 1 != ended)
				FAIL("step %llu is open after %llu ended ones",
				     (unsigned long long)found.open_number, (unsigned long long)ended);
			/* A step is counted here when it has begun; the next may have ended it. */
			if (ended + 1 < *begun || ended > *begun)
				FAIL("%llu steps ended, %llu begun", (unsigned long long)ended,
				     (unsigned long long)*begun);
		}
		trace_close(&trace);
	}
}

/* ---- steps in signal handlers ------------------------------------------------------ */

static void step_in_handler(int signal)
{
	(void)signal;
	dwell_step();
}

static void interrupted_steps(void *path)
{
	struct itimerval interval = { { 0, 53 }, { 0, 53 } }, none = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = step_in_handler, .sa_flags = SA_RESTART };
	uint64_t end = stress_now_ns() + STRESS_TIMES(1000000000u, 20000000000u);

	stress_start(path, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
	while (stress_now_ns() < end)
		for (int i = 0; i < 20; i++)
			dwell_step();
	setitimer(ITIMER_REAL, &none, NULL);
	*begun = dwell_steps_begun();
}

/* Each step has an entry of its own or is counted as lost, also if a handler begins one while
 * another is being written. */
static void interrupted_steps_are_there(void)
{
	struct trace trace;
	uint64_t entries = 0, twice = 0;
	unsigned char *seen;

	begun = stress_shared(sizeof *begun);
	CHECK_EXITED(stress_child(interrupted_steps, (void *)(uintptr_t) "interrupted.dwell"), 0);
	seen = calloc(*begun, 1);
	if (!seen || !stress_read(&trace, "interrupted.dwell"))
		return;
	for (size_t i = 0; i < trace.all_count; i++) {
		const struct dw_entry_step *step = (const void *)trace.all[i];

		if (step->entry.tag != DW_ENTRY_TAG(DW_ENTRY_STEP))
			continue;
		CHECK(step->number < *begun);
		twice += step->number < *begun && seen[step->number]++;
		entries++;
	}
	/* A handler that interrupts a claim of space gets none. Entries of other types may be lost
	 * in the same way. */
	CHECK(entries <= *begun && entries + trace_lost(&trace, DW_LOSS_DICTIONARY) >= *begun);
	CHECK_U64(twice, 0);
	trace_close(&trace);
	free(seen);
}

const struct stress_test step_tests[] = {
	{ "steps.interrupted", interrupted_steps_are_there },
	{ "steps.all", all_steps_are_there },
	{ "steps.killed", killed_in_a_summarised_step },
	{ NULL, NULL },
};
