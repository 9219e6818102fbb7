/* Classes of iterations: by the time from a begin to the next one. */
#include "made.h"

#include "model/steps/steps.h"

static struct made made;
static const uint64_t ms = 1000000;
static uint64_t now_ms, number;

static void begin(void)
{
	made_init(&made);
	now_ms = 100;
	number = 0;
}

/* A step, and what the loop does after it. */
static void iterate(uint64_t step_ms, uint64_t after_ms)
{
	dw_encode_begin(&made.stream, now_ms * ms, made_op(&made, DWELL_CATEGORY_PHASE, "forward"));
	dw_encode_end(&made.stream, (now_ms + 1) * ms);
	dw_encode_step(&made.process, made.thread, number++, now_ms * ms, (now_ms + step_ms) * ms, ms, DW_STEP_RECORDED);
	now_ms += step_ms + after_ms;
}

/* How many iterations of a class there are. */
static size_t count_class(const struct dw_steps *steps, enum dw_iteration_class class)
{
	size_t count = 0;

	for (size_t i = 0; i < steps->count; i++)
		count += steps->steps[i].class == class;
	return count;
}

static const struct dw_steps *steps_of(const struct dw_scope *scope)
{
	return made_open(&made, scope) ? NULL : dw_model_steps(made.model, &made.error);
}

/* The first one is slow, as each tenth later on: by its step, or by what comes after it. */
TEST(what_comes_after_a_step_makes_an_iteration_slow)
{
	begin();
	for (unsigned i = 0; i < 60; i++)
		iterate(i == 0 ? 40 : i == 20 ? 50 : 8, i % 20 == 10 ? 70 : 2);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps && steps->count == 60);
	CHECK_EQ(steps->steps[0].class, DW_ITERATION_WARM_UP);
	CHECK_EQ(count_class(steps, DW_ITERATION_WARM_UP), 1);
	CHECK_EQ(count_class(steps, DW_ITERATION_SLOW), 4);
	CHECK_EQ(steps->steps[20].class, DW_ITERATION_SLOW);
	for (unsigned i = 10; i < 60; i += 20)
		CHECK_EQ(steps->steps[i].class, DW_ITERATION_SLOW);
	made_close(&made);
}

/* The time between steps is that of the iteration before it. The last one ends with its step. */
TEST(the_time_between_steps_has_the_class_of_its_iteration)
{
	const uint64_t *ns;

	begin();
	for (unsigned i = 0; i < 40; i++)
		iterate(8, i == 30 ? 90 : 2);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps && steps->thread_count == 1);
	ns = steps->loops[0].outside_class_ns[DW_ITERATION_SLOW];
	CHECK_EQ(ns[DW_SHARE_OTHER], 90 * ms);
	CHECK_EQ(steps->loops[0].outside_class_ns[DW_ITERATION_STEADY][DW_SHARE_OTHER], 38 * 2 * ms);
	CHECK_EQ(steps->loops[0].outside_ns[DW_SHARE_OTHER], 90 * ms + 38 * 2 * ms);
	made_close(&made);
}

/* What is one of two usual lengths is not slow. */
TEST(a_third_of_the_iterations_is_not_slow)
{
	begin();
	for (unsigned i = 0; i < 60; i++)
		iterate(8, i % 3 == 2 ? 30 : 2);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps);
	CHECK_EQ(count_class(steps, DW_ITERATION_STEADY), 60);
	made_close(&made);
}

/* Where the first step is not in scope, no iteration is the warm-up. */
TEST(a_part_of_the_run_has_no_warm_up)
{
	const struct dw_scope scope = { .has_steps = true, .steps_from = 5, .steps_to = 40 };

	begin();
	for (unsigned i = 0; i < 60; i++)
		iterate(i == 5 ? 80 : 8, 2);
	const struct dw_steps *steps = steps_of(&scope);
	REQUIRE(steps && steps->count == 36);
	CHECK_EQ(count_class(steps, DW_ITERATION_WARM_UP), 0);
	CHECK_EQ(steps->steps[0].class, DW_ITERATION_SLOW);
	made_close(&made);
}

CHECK_MAIN
