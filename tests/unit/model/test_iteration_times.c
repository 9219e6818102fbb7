/* How long iterations take: from one begin to the next, with what lies between the steps. */
#include "made.h"

static struct made made;
static const uint64_t ms = 1000000;

static void step(uint64_t number, uint64_t from_ms, uint64_t to_ms)
{
	dw_encode_step(&made.process, made.thread, number, from_ms * ms, to_ms * ms, ms, DW_STEP_RECORDED);
}

/* Steps of 2 ms, each 10 ms after the one before; 50 ms more before the one at `pause`. */
static void make_steps(uint64_t count, uint64_t pause)
{
	made_init(&made);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = 100 + i * 10 + (i >= pause) * 50;

		dw_encode_begin(&made.stream, at * ms, made_op(&made, DWELL_CATEGORY_PHASE, "forward"));
		dw_encode_end(&made.stream, (at + 1) * ms);
		step(i, at, at + 2);
	}
}

static const struct dw_steps *steps_of(const struct dw_scope *scope)
{
	return made_open(&made, scope) ? NULL : dw_model_steps(made.model, &made.error);
}

TEST(an_iteration_has_what_lies_between_the_steps)
{
	make_steps(100, 100);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps && steps->count == 100 && steps->thread_count == 1);
	const struct dw_iteration_times *iterations = &steps->loops[0].iterations;

	CHECK_EQ(steps->p50_ns, 2 * ms);
	CHECK_EQ(iterations->count, 99);
	CHECK_EQ(iterations->steps, 100);
	CHECK_EQ(iterations->loop_ns, 992 * ms);
	CHECK_EQ(iterations->mean_ns, 9920000);
	CHECK_EQ(iterations->p50_ns, 10 * ms);
	CHECK_EQ(iterations->p99_ns, 10 * ms);
	CHECK_EQ(steps->loops[0].end_ns - steps->loops[0].start_ns, 992 * ms);
	CHECK_EQ(steps->iterations.mean_ns, 9920000);
	CHECK_EQ(steps->steps[98].next_ns, steps->steps[99].start_ns);
	CHECK_EQ(steps->steps[99].next_ns, 0);
	made_close(&made);
}

TEST(a_pause_is_in_the_mean_and_not_in_the_median)
{
	make_steps(11, 6);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps && steps->thread_count == 1);
	CHECK_EQ(steps->loops[0].iterations.loop_ns, 152 * ms);
	CHECK_EQ(steps->loops[0].iterations.mean_ns, (152 * ms + 5) / 11);
	CHECK_EQ(steps->loops[0].iterations.p50_ns, 10 * ms);
	CHECK_EQ(steps->loops[0].iterations.p99_ns, 60 * ms);
	made_close(&made);
}

/* The step after those in scope still ends their iteration. */
TEST(a_step_out_of_scope_ends_an_iteration)
{
	const struct dw_scope scope = { .has_steps = true, .steps_from = 3, .steps_to = 5 };

	make_steps(10, 10);
	const struct dw_steps *steps = steps_of(&scope);
	REQUIRE(steps && steps->count == 3);
	CHECK_EQ(steps->loops[0].iterations.count, 3);
	CHECK_EQ(steps->loops[0].iterations.loop_ns, 30 * ms);
	CHECK_EQ(steps->loops[0].end_ns - steps->loops[0].start_ns, 22 * ms);
	made_close(&made);
}

TEST(a_single_step_takes_its_own_time)
{
	make_steps(1, 1);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps && steps->count == 1);
	CHECK_EQ(steps->loops[0].iterations.count, 0);
	CHECK_EQ(steps->loops[0].iterations.mean_ns, 2 * ms);
	CHECK_EQ(steps->loops[0].iterations.p50_ns, 2 * ms);
	made_close(&made);
}

TEST(a_step_without_an_end_ends_the_iteration_before_it)
{
	make_steps(3, 3);
	dw_encode_step(&made.process, made.thread, 3, 130 * ms, 0, 0, DW_STEP_RECORDED);
	dw_encode_record(&made.stream, 190 * ms, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"), NULL, 0);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps && steps->count == 4 && steps->open_count == 1);
	CHECK_EQ(steps->loops[0].iterations.count, 3);
	CHECK_EQ(steps->loops[0].iterations.mean_ns, 10 * ms);
	made_close(&made);
}

TEST(each_loop_has_iterations_of_its_own)
{
	uint32_t other;

	make_steps(4, 4);
	other = dw_encode_thread(&made.process, 101, 0, 0, "other");
	for (uint64_t i = 0; i < 3; i++)
		dw_encode_step(&made.process, other, 4 + i, (100 + i * 20) * ms, (105 + i * 20) * ms, ms, DW_STEP_RECORDED);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps && steps->count == 7 && steps->thread_count == 2);
	CHECK_EQ(steps->loops[0].iterations.mean_ns, 8 * ms);
	CHECK_EQ(steps->loops[1].iterations.mean_ns, 15 * ms);
	CHECK_EQ(steps->iterations.count, 5);
	CHECK_EQ(steps->iterations.loop_ns, 77 * ms);
	CHECK_EQ(steps->iterations.mean_ns, 11 * ms);
	made_close(&made);
}

/* Damaged steps that overlap: time belongs to the first of them. */
TEST(an_iteration_is_never_shorter_than_its_step)
{
	made_init(&made);
	step(0, 100, 120);
	step(1, 110, 130);
	step(2, 140, 150);
	const struct dw_steps *steps = steps_of(NULL);
	REQUIRE(steps && steps->count == 3);
	CHECK_EQ(steps->steps[0].next_ns, 120 * ms);
	CHECK_EQ(steps->loops[0].iterations.loop_ns, 50 * ms);
	made_close(&made);
}

CHECK_MAIN
