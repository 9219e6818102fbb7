/*
 * The phases of loops over random streams with steps of several threads (random_steps.h): what must hold of any.
 */
#include "random_steps.h"

#include "model/steps/loop_phases.h"

static const struct random_name names[] = {
	{ .name = "DataLoader.__next__", .category = DWELL_CATEGORY_DATA },
	{ .name = "DataLoader.__iter__", .category = DWELL_CATEGORY_DATA },
	{ .name = "forward", .category = DWELL_CATEGORY_PHASE },
	{ .name = "backward", .category = DWELL_CATEGORY_PHASE },
	{ .name = "optimizer", .category = DWELL_CATEGORY_PHASE },
	{ .name = "optimizer", .category = DWELL_CATEGORY_PHASE, .detail = "2" },
	{ .name = "optimizer", .category = DWELL_CATEGORY_PHASE, .detail = "zero_grad" },
	{ .name = "Optimizer.step#SGD.step", .category = DWELL_CATEGORY_ZONE },
	{ .name = "Optimizer.zero_grad#SGD.zero_grad", .category = DWELL_CATEGORY_ZONE },
	{ .name = "evaluation", .category = DWELL_CATEGORY_EVALUATION },
	{ .name = "inference", .category = DWELL_CATEGORY_EVALUATION },
	{ .name = "torch.save", .category = DWELL_CATEGORY_CHECKPOINT },
	{ .name = "op", .category = DWELL_CATEGORY_OPERATOR },
	{ .name = "zone", .category = DWELL_CATEGORY_ZONE },
};
enum { OPS = sizeof names / sizeof *names, LAST_EVENT = 11 };

static int phases_compare_ranges(const void *left, const void *right)
{
	const struct range *const *a = left, *const *b = right;

	return ((*a)->start > (*b)->start) - ((*a)->start < (*b)->start);
}

/* The time in which at least one range of an event is open. */
static uint64_t phases_open_ns(uint32_t thread)
{
	const struct range **list = calloc(reference.closed_count + 1, sizeof *list);
	uint64_t sum = 0, until = 0;
	size_t count = 0;

	for (size_t i = 0; i < reference.closed_count; i++)
		if (reference.closed[i].thread == thread && reference.closed[i].op <= LAST_EVENT)
			list[count++] = &reference.closed[i];
	qsort(list, count, sizeof *list, phases_compare_ranges);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = list[i]->start > until ? list[i]->start : until;

		if (list[i]->end <= from)
			continue;
		sum += list[i]->end - from;
		until = list[i]->end;
	}
	free(list);
	return sum;
}

/* Which of the drawn threads it is. */
static uint32_t phases_thread(const struct dw_source *source, uint32_t thread)
{
	for (uint32_t i = 0; i < THREADS; i++)
		if (source->files[0].thread_by_id[random_threads[i]] == thread)
			return i;
	return THREADS;
}

static void phases_check_sums(const struct dw_phase_sums *sums)
{
	CHECK(sums->run_ns <= sums->until_ns);
	CHECK(sums->ns <= sums->run_ns);
}

static void phases_check_loop(const struct dw_loop_phases *phases, const struct dw_loop *loop, uint64_t open_ns)
{
	uint64_t ns = 0, until_ns = 0;

	CHECK(phases->iterations <= loop->count);
	for (unsigned kind = 0; kind < DW_LOOP_EVENT_KINDS; kind++) {
		const struct dw_loop_event *event = &phases->events[kind];

		CHECK(event->least <= event->p50 && event->p50 <= event->most);
		CHECK(event->between <= event->count);
		CHECK(event->mean * (double)phases->iterations <= (double)event->count + 1e-6);
	}
	for (unsigned kind = 0; kind < DW_PHASE_KINDS; kind++) {
		const struct dw_phase *phase = &phases->phases[kind];

		phases_check_sums(&phase->all);
		phases_check_sums(&phase->loop);
		CHECK(phase->loop.times <= phase->all.times);
		CHECK(phase->least <= phase->p50 && phase->p50 <= phase->most);
		ns += phase->all.ns;
		until_ns += kind == DW_PHASE_CHECKPOINT ? 0 : phase->loop.until_ns;
	}
	CHECK(ns <= open_ns);
	CHECK(until_ns <= loop->end_ns - loop->start_ns);
}

static void phases_compare(void)
{
	const struct dw_steps *steps = dw_model_steps(made.model, &made.error);
	const struct dw_loop_phases *phases = dw_model_loop_phases(made.model, &made.error);

	REQUIRE(steps && phases);
	for (size_t i = 0; i < steps->thread_count; i++) {
		uint32_t thread = phases_thread(made.source, steps->threads[i]);

		REQUIRE(thread < THREADS);
		phases_check_loop(&phases[i], &steps->loops[i], phases_open_ns(thread));
	}
}

TEST(phases_hold_in_any_trace)
{
	static const struct random_ask ask = { .names = names,
		                                   .name_count = OPS,
		                                   .others = 40,
		                                   .draw_other = random_steps_draw,
		                                   .draw_begin = random_steps_start };

	random_test(&ask, random_steps_open, phases_compare, 150);
}

CHECK_MAIN
