/*
 * The gate: exactly the steps that --steps or a schedule names are recorded.
 *
 * The expected letters were printed by torch.profiler.schedule itself (1.13 and,
 * for skip_first_wait, the newest): R and S are recorded, w and . are not.
 */
#include "stress.h"

#include <pthread.h>

struct plan {
	const char *steps; /* a letter a step */
	struct dwell_schedule schedule;
};

/* skip_first, skip_first_wait, wait, warmup, active, repeat */
static const struct plan plans[] = {
	{ ".wRS.wRS.wRS.wRS.wRS.wRS.wRS.wRS.wRS.wRS", { 0, 0, 1, 1, 2, 0 } },
	{ ".wRS....................................", { 0, 0, 1, 1, 2, 1 } },
	{ ".wRS.wRS................................", { 0, 0, 1, 1, 2, 2 } },
	{ "...............wRRS.....wRRS............", { 10, 0, 5, 1, 3, 2 } },
	{ ".....wRRS...............................", { 0, 0, 5, 1, 3, 1 } },
	{ "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS", { 0, 0, 0, 0, 1, 0 } },
	{ "RRSRRSRRSRRSRRSRRSRRSRRSRRSRRSRRSRRSRRSR", { 0, 0, 0, 0, 3, 0 } },
	{ "wSwSwSwSwSwSwSwSwSwSwSwSwSwSwSwSwSwSwSwS", { 0, 0, 0, 1, 1, 0 } },
	{ "..S..S..S...............................", { 0, 0, 2, 0, 1, 3 } },
	{ ".wRRS.wRRS.wRRS.wRRS.wRRS.wRRS.wRRS.wRRS", { 0, 0, 1, 1, 3, 0 } },
	{ "....wwwwS.wwwwS.wwwwS.wwwwS.wwwwS.wwwwS.", { 3, 0, 1, 4, 1, 0 } },
	{ "......wwRRRS............................", { 6, 0, 0, 2, 4, 1 } },
	{ "..............................wRS....................wRS....", { 10, 0, 20, 1, 2, 0 } },
	{ "..........wRS....................wRS....................wRS.", { 10, 1, 20, 1, 2, 0 } },
	{ "...wRS.....wRS..............................................", { 3, 1, 5, 1, 2, 2 } },
	{ "........wRS.....wRS.........................................", { 3, 0, 5, 1, 2, 2 } },
};

static const struct plan *plan;
static struct dwell_options options;

static void zone_of_step(const char *prefix, size_t step)
{
	char name[32];

	snprintf(name, sizeof name, "%s%zu", prefix, step);
	stress_ranges(dwell_intern(DWELL_CATEGORY_ZONE, name, NULL), 1);
}

/* Blocks or dwell_step(): the same. Even plans one way, odd ones the other. */
static void take_steps(const char *prefix, size_t count, bool blocks)
{
	for (size_t step = 0; step < count; step++) {
		if (blocks) {
			DWELL_STEP();
			zone_of_step(prefix, step);
		} else {
			dwell_step();
			zone_of_step(prefix, step);
		}
	}
	dwell_step_end();
}

static void stepping(void *path)
{
	stress_start(path, &options);
	zone_of_step("before", 0);
	take_steps("s", strlen(plan->steps), (plan - plans) % 2);
}

static bool recorded(char letter)
{
	return letter == 'R' || letter == 'S';
}

static void check_steps(struct trace *trace, const char *prefix, const char *letters)
{
	for (size_t step = 0; letters[step]; step++) {
		char name[32];
		uint64_t count;

		snprintf(name, sizeof name, "%s%zu", prefix, step);
		count = trace_count(trace, TRACE_END, name);
		if (count != recorded(letters[step]))
			FAIL("plan %s: %s was recorded %llu times", letters, name, (unsigned long long)count);
	}
}

static void check_step_entries(struct trace *trace, uint32_t process, const char *letters)
{
	size_t steps = 0;

	for (size_t i = 0; i < trace->all_count; i++) {
		const struct dw_entry_step *step = (const void *)trace->all[i];
		const struct dw_entry_thread *thread;

		if (step->entry.tag != DW_ENTRY_TAG(DW_ENTRY_STEP))
			continue;
		thread = (const void *)trace->entries[step->entry.id];
		if (process && thread->entry.aux != process)
			continue;
		steps++;
		CHECK(step->number < strlen(letters));
		CHECK(step->end_ticks != 0);
		CHECK_U64(step->entry.aux & DW_STEP_RECORDED, recorded(letters[step->number]));
	}
	CHECK_U64(steps, strlen(letters));
}

static void gate_schedules(void)
{
	struct trace trace;

	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
		plan = &plans[i];
		options = (struct dwell_options)DWELL_OPTIONS_INIT;
		options.schedule = plan->schedule;
		unlink("gate.dwell");
		CHECK_EXITED(stress_child(stepping, (void *)(uintptr_t) "gate.dwell"), 0);
		if (stress_read(&trace, "gate.dwell")) {
			check_steps(&trace, "s", plan->steps);
			check_step_entries(&trace, 0, plan->steps);
			CHECK_U64(trace_count(&trace, DW_BEGIN, "before0"), 0);
		}
		trace_close(&trace);
	}
}

static void gate_steps(void)
{
	static const struct plan range = { "...RRR......", { 0, 0, 0, 0, 0, 0 } };
	struct trace trace;

	plan = &range;
	options = (struct dwell_options)DWELL_OPTIONS_INIT;
	options.steps_from = 3;
	options.steps_to = 5;
	CHECK_EXITED(stress_child(stepping, (void *)(uintptr_t) "steps.dwell"), 0);
	if (stress_read(&trace, "steps.dwell")) {
		check_steps(&trace, "s", range.steps);
		check_step_entries(&trace, 0, range.steps);
	}
	trace_close(&trace);
}

/* ---- across fork ------------------------------------------------------------------ */

static uint32_t *told;

static void tell(uint32_t at)
{
	__atomic_store_n(&told[at], 1, __ATOMIC_RELEASE);
}

static void await(uint32_t at)
{
	while (!__atomic_load_n(&told[at], __ATOMIC_ACQUIRE))
		stress_sleep_us(50);
}

/* A child process that marks no steps follows its parent's steps (a data loader's worker). One that
 * marks steps has a gate of its own. */
static void gated_family(void *path)
{
	pid_t follower, stepper;

	stress_start(path, &options);
	follower = fork();
	if (follower == 0) {
		for (uint32_t step = 0; step < 6; step++) {
			await(step);
			zone_of_step("f", step);
			tell(16 + step);
		}
		_exit(0);
	}
	stepper = fork();
	if (stepper == 0) {
		told[40] = (uint32_t)getpid();
		take_steps("c", 6, false);
		_exit(0);
	}
	stress_wait(stepper);
	for (uint32_t step = 0; step < 6; step++) {
		dwell_step();
		zone_of_step("s", step);
		tell(step);
		await(16 + step);
	}
	dwell_step_end();
	stress_wait(follower);
}

static void gate_fork(void)
{
	static const char letters[] = "..RR..";
	struct trace trace;

	told = stress_shared(4096);
	options = (struct dwell_options)DWELL_OPTIONS_INIT;
	options.steps_from = 2;
	options.steps_to = 3;
	CHECK_EXITED(stress_child(gated_family, (void *)(uintptr_t) "family.dwell"), 0);
	if (stress_read(&trace, "family.dwell")) {
		check_steps(&trace, "s", letters);
		check_steps(&trace, "f", letters);
		check_steps(&trace, "c", letters);
	}
	trace_close(&trace);
}

/* The same by DWELL_TRACE: the program knows nothing of the gate. */
static void gate_launched(void)
{
	char worker[4096], *command[] = { worker, (char *)(uintptr_t) "w", (char *)(uintptr_t) "7",
		                              (char *)(uintptr_t) "steps", (char *)(uintptr_t) "10", NULL };
	struct trace trace;

	snprintf(worker, sizeof worker, "%s/stress_worker", stress_programs);
	setenv("STRESS_STEPS", "4-5", 1);
	CHECK_EXITED(stress_launched("launched.dwell", command), 0);
	if (stress_read(&trace, "launched.dwell")) {
		CHECK_U64(trace_count(&trace, TRACE_END, "w"), 14);
		check_step_entries(&trace, 0, "....RR....");
	}
	trace_close(&trace);
}

/* ---- a controller changes the mask -------------------------------------------------- */

static void *both_categories(void *unused)
{
	while (!__atomic_load_n(&told[1], __ATOMIC_ACQUIRE)) {
		{
			DWELL_ZONE("zone");
		}
		{
			DWELL_OP("operator");
		}
		__atomic_fetch_add(&told[2], 1, __ATOMIC_RELAXED);
	}
	return unused;
}

static void masked_program(void *path)
{
	pthread_t thread;

	options.categories = 1u << DWELL_CATEGORY_OPERATOR;
	stress_start(path, &options);
	pthread_create(&thread, NULL, both_categories, NULL);
	stress_sleep_us(20000);
	tell(1);
	pthread_join(thread, NULL);
}

static void gate_mask(void)
{
	struct trace trace;

	told = stress_shared(4096);
	options = (struct dwell_options)DWELL_OPTIONS_INIT;
	CHECK_EXITED(stress_child(masked_program, (void *)(uintptr_t) "mask.dwell"), 0);
	if (stress_read(&trace, "mask.dwell")) {
		CHECK_U64(trace_count(&trace, DW_BEGIN, "zone"), 0);
		CHECK_U64(trace_count(&trace, TRACE_END, "operator"), told[2]);
	}
	trace_close(&trace);
}

/* A file has 2048 gates. Processes that end give theirs back, so that the next ones do not
 * step the gate of those that never step. */
static void gate_given_back(void)
{
	char command[9000];
	char *arguments[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c", command, NULL };
	struct trace trace;

	/* head.next_gate = 2047: one gate is left. The others have an owner. */
	snprintf(command, sizeof command,
	         "printf '\\377\\7' | dd of=$DWELL_TRACE bs=1 seek=%zu conv=notrunc 2>/dev/null && "
	         "head -c %zu /dev/zero | tr '\\0' '\\1' | "
	         "dd of=$DWELL_TRACE bs=%zu conv=notrunc oflag=seek_bytes seek=%zu 2>/dev/null && "
	         "W='%s/stress_worker' && for i in $(seq 8); do $W stepped 10 steps 3 || exit 1; done && "
	         "exec $W closed 10",
	         offsetof(struct dw_head, next_gate), (DW_GATES - 2) * sizeof(struct dw_gate),
	         sizeof(struct dw_gate),
	         DW_CONTROL_OFFSET + offsetof(struct dw_control, gates) + sizeof(struct dw_gate),
	         stress_programs);
	setenv("STRESS_STEPS", "0-1000", 1);
	CHECK_EXITED(stress_launched("gates.dwell", arguments), 0);
	unsetenv("STRESS_STEPS");
	if (stress_read(&trace, "gates.dwell")) {
		CHECK_U64(trace_count(&trace, TRACE_END, "stepped"), 8 * 3 * 10);
		CHECK_U64(trace_count(&trace, TRACE_END, "closed"), 0);
	}
	trace_close(&trace);
}

const struct stress_test gate_tests[] = {
	{ "gate.schedules", gate_schedules }, { "gate.steps", gate_steps },
	{ "gate.fork", gate_fork }, { "gate.launched", gate_launched }, { "gate.given-back", gate_given_back },
	{ "gate.mask", gate_mask }, { NULL, NULL },
};
