/* Iterations that the reader decides: loops in which the probe's choice is right, and loops in which it cannot be. */
#include "learning_loop.h"

#include "model/steps/learned.h"

static uint32_t second; /* the phase of the second optimizer */

static void begin_torch(void)
{
	begin_trace();
	dw_encode_meta(&made.process, "torch.version", "2.13.0", false);
	dw_encode_meta(&made.process, "torch.optimizers", "numbered", false);
	dw_encode_meta(&made.process, "torch.steps", "found", false);
	second = dw_encode_op(&made.process, DWELL_CATEGORY_PHASE, "optimizer", "2", 0, NULL, 0);
}

static void learn_second(void)
{
	clear_gradients();
	range(forward, 200);
	range(backward, 300);
	begin(second);
	range(update, 60);
	end();
}

static const struct dw_learned *learned_of(void)
{
	dw_encode_record(&made.stream, now_us * 1000, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"), NULL, 0);
	return made_open(&made, NULL) ? NULL : dw_model_learned(made.model, &made.error);
}

static void check_learned(size_t count, size_t same)
{
	const struct dw_learned *learned = learned_of();

	REQUIRE(learned && learned->loop_count == 1);
	CHECK_EQ(learned->loops[0].why, DW_LEARNED_DECIDED);
	CHECK_EQ(learned->loops[0].count, count);
	CHECK_EQ(learned->loops[0].same, same);
	for (size_t i = 0; i < learned->count; i++) {
		CHECK(learned->steps[i].start_ns < learned->steps[i].end_ns);
		CHECK(!i || learned->steps[i - 1].end_ns <= learned->steps[i].start_ns);
		CHECK_EQ(learned->steps[i].number, i);
	}
	made_close(&made);
}

static void check_undecided(enum dw_learned_why why)
{
	const struct dw_learned *learned = learned_of();

	REQUIRE(learned && learned->loop_count == 1);
	CHECK_EQ(learned->loops[0].why, why);
	CHECK_EQ(learned->count, 0);
	made_close(&made);
}

/* ---- as the probe ---------------------------------------------------------------------------------------- */

TEST(an_update_is_an_iteration)
{
	begin_torch();
	for (int i = 0; i < 10; i++) {
		learn_step();
		pass(100);
	}
	const struct dw_learned *learned = learned_of();
	REQUIRE(learned && learned->count == 10);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);

	CHECK_EQ(learned->loops[0].same, 10);
	for (size_t i = 0; i < 10; i++) {
		CHECK_EQ(learned->steps[i].start_ns, steps->steps[i].start_ns);
		CHECK_EQ(learned->steps[i].end_ns, steps->steps[i].end_ns);
		CHECK(learned->steps[i].recorded);
	}
	made_close(&made);
}

TEST(a_batch_begins_an_iteration)
{
	begin_torch();
	for (int epoch = 0; epoch < 2; epoch++) {
		range(loader, 20);
		for (int i = 0; i < 5; i++) {
			step_begins();
			range(data, 30);
			learn();
			step_ends();
		}
		range(data, 5);
		for (int i = 0; i < 4; i++)
			range(evaluation, 100);
	}
	check_learned(10, 10);
}

TEST(accumulated_gradients_are_one_iteration)
{
	begin_torch();
	step_begins();
	for (int i = 0; i < 6; i++) {
		for (int micro = 0; micro < 4; micro++) {
			range(data, 10);
			range(forward, 100);
			range(backward, 200);
		}
		update_parameters();
		step_ends();
		step_begins();
		clear_gradients(); /* begins the next one */
	}
	check_learned(6, 6);
}

TEST(two_optimizers_that_step_in_turn_are_one_iteration)
{
	begin_torch();
	for (int i = 0; i < 8; i++) {
		step_begins();
		range(data, 10);
		learn();
		learn_second();
		step_ends();
	}
	check_learned(8, 8);
}

TEST(a_closure_is_one_iteration)
{
	begin_torch();
	for (int i = 0; i < 5; i++) {
		step_begins();
		begin(update);
		for (int k = 0; k < 3; k++) {
			clear_gradients();
			range(forward, 100);
			range(backward, 200);
		}
		begin(optimizer);
		pass(50);
		end();
		end();
		step_ends();
	}
	check_learned(5, 5);
}

TEST(optimizers_that_step_in_a_backward_are_one_iteration)
{
	begin_torch();
	for (int i = 0; i < 5; i++) {
		step_begins();
		range(forward, 100);
		begin(backward);
		for (int k = 0; k < 40; k++) {
			begin(k % 2 ? second : optimizer);
			range(update, 5);
			end();
		}
		end();
		step_ends();
	}
	check_learned(5, 5);
}

TEST(what_leads_to_no_update_is_in_no_iteration)
{
	begin_torch();
	range(forward, 500); /* a check before the loop */
	for (int i = 0; i < 10; i++)
		range(evaluation, 50);
	for (int i = 0; i < 4; i++)
		learn_step();
	const struct dw_learned *learned = learned_of();
	REQUIRE(learned && learned->count == 4);
	CHECK_EQ(learned->steps[0].start_ns, 2000000);
	made_close(&made);
}

/* ---- where the probe cannot know ------------------------------------------------------------------------- */

/* Two optimizers, the second of which steps `times` times for each step of the first one. */
static void learn_twice(int times, const char *loops)
{
	begin_torch();
	if (loops)
		dw_encode_meta(&made.process, "torch.optimizer_loops", loops, false);
	for (int i = 0; i < 6; i++) {
		step_begins();
		for (int k = 0; k < times; k++)
			learn_second();
		learn();
		step_ends();
	}
}

TEST(an_optimizer_in_an_inner_loop_steps_several_times_in_an_iteration)
{
	learn_twice(5, "1=1 2=1/2 ");
	check_learned(6, 6);
}

TEST(an_optimizer_in_the_same_loop_steps_once_in_an_iteration)
{
	learn_twice(3, "1=1 2=1 ");
	check_learned(18, 0);
}

/* As one that learns alone first, and once in an iteration of the second loop. */
TEST(an_optimizer_that_steps_in_the_same_loop_too_is_not_inner)
{
	learn_twice(1, "1=1 2=1/2 2=1 ");
	check_learned(6, 6);
}

TEST(a_long_inner_loop_makes_the_iterations)
{
	learn_twice(12, "1=1 2=1/2 ");
	check_learned(72, 0);
}

/* An older trace does not say in which loops optimizers step. */
TEST(steps_that_could_be_of_an_inner_loop_are_not_decided)
{
	learn_twice(3, NULL);
	check_undecided(DW_LEARNED_AMBIGUOUS);
}

/* Another model learns, when the first one does no more. */
TEST(an_optimizer_that_follows_another_one_begins_an_iteration)
{
	begin_torch();
	for (int i = 0; i < 4; i++)
		learn_step();
	for (int i = 0; i < 5; i++) {
		step_begins();
		learn_second();
		step_ends();
	}
	check_learned(9, 9);
}

/* As a scaler's, which skips the update after an overflow. */
TEST(a_step_without_update_is_an_iteration)
{
	begin_torch();
	for (int i = 0; i < 6; i++) {
		step_begins();
		range(forward, 100);
		range(backward, 200);
		if (i != 3)
			update_parameters();
		step_ends();
		pass(10);
	}
	check_learned(6, 6);
}

/* The probe ended steps with the optimizer made last, which steps in each second iteration only. */
TEST(an_optimizer_may_step_in_some_iterations_only)
{
	begin_torch();
	dw_encode_meta(&made.process, "torch.optimizer_loops", "1=1 2=1 ", false);
	step_begins();
	for (int i = 0; i < 12; i++) {
		learn();
		if (i % 2 == 0)
			continue;
		learn_second();
		step_ends();
		step_begins();
	}
	check_learned(12, 0);
}

/* An optimizer joins later, and is not the one that ends steps. */
TEST(an_optimizer_may_join_later)
{
	begin_torch();
	for (int i = 0; i < 12; i++) {
		step_begins();
		learn();
		step_ends();
		if (i >= 6)
			learn_second();
	}
	const struct dw_learned *learned = learned_of();
	REQUIRE(learned && learned->count == 12);
	CHECK_EQ(learned->steps[11].end_ns - learned->steps[11].start_ns, 1680000);
	CHECK_EQ(learned->loops[0].same, 12);
	made_close(&made);
}

/* As in PyTorch-GAN's wgan_gp: the probe's step is five batches long. */
TEST(each_batch_is_an_iteration_though_one_optimizer_steps_rarely)
{
	begin_torch();
	dw_encode_meta(&made.process, "torch.optimizer_loops", "1=1 2=1 ", false);
	range(loader, 20);
	step_begins();
	for (int i = 0; i < 20; i++) {
		range(data, 10);
		learn();
		if (i % 5 != 4)
			continue;
		learn_second();
		step_ends();
		step_begins();
	}
	check_learned(20, 0);
}

/* ---- as steps of the source ------------------------------------------------------------------------------ */

/* Opens the trace and gives it its iterations. Returns a model of it. */
static struct dw_model *apply(void)
{
	struct dw_model *model = NULL;

	dw_encode_record(&made.stream, now_us * 1000, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"), NULL, 0);
	if (made_open(&made, NULL) || dw_learned_apply(made.source, &made.error) ||
	    dw_model_create(&model, made.source, NULL, &made.error))
		CHECK_FAIL("%s", made.error.message);
	return model;
}

static void check_applied(size_t count, uint64_t first_ns)
{
	struct dw_model *model = apply();
	const struct dw_steps *steps = dw_model_steps(model, &made.error);

	CHECK_EQ(made.source->step_count, count);
	CHECK(steps && steps->count == count);
	for (size_t i = 0; steps && i < steps->count; i++) {
		CHECK_EQ(steps->steps[i].number, i);
		CHECK(steps->steps[i].recorded);
		CHECK(steps->steps[i].whole_ns[DW_WHOLE_BACKWARD] > 0);
	}
	CHECK_EQ(steps->steps[0].end_ns - steps->steps[0].start_ns, first_ns);
	dw_model_destroy(model);
	made_close(&made);
}

TEST(iterations_become_the_steps)
{
	learn_twice(3, "1=1 2=1 ");
	check_applied(18, 570000);
}

TEST(steps_stay_if_iterations_are_the_same)
{
	learn_twice(3, "1=1 2=1/2 ");
	check_applied(6, 2820000);
}

TEST(steps_stay_if_nothing_says_in_which_loops_optimizers_step)
{
	learn_twice(3, NULL);
	check_applied(6, 2820000);
}

/* As in a thread, whose loops are not known. Which iterations have both optimizers is clear. */
TEST(iterations_that_are_clear_become_the_steps_without_loops)
{
	begin_torch();
	for (int i = 0; i < 12; i++) {
		step_begins();
		learn();
		if (i >= 6)
			learn_second();
		if (i < 6 || i % 2)
			step_ends();
	}
	check_applied(12, 1110000);
}

TEST(iterations_have_the_cpu_time_of_their_steps)
{
	struct dw_model *model;

	learn_twice(3, "1=1 2=1 ");
	model = apply();
	CHECK_EQ(made.source->steps[17].cpu_ns, 595);
	dw_model_destroy(model);
	made_close(&made);
}

/* ---- where the reader does not decide -------------------------------------------------------------------- */

TEST(steps_that_a_program_marks_are_not_decided)
{
	begin_torch();
	dw_encode_meta(&made.process, "torch.steps", "marked", false);
	for (int i = 0; i < 4; i++)
		learn_step();
	check_undecided(DW_LEARNED_MARKED);
}

TEST(steps_of_other_programs_are_not_decided)
{
	begin_trace();
	for (int i = 0; i < 4; i++) {
		learn_step();
		pass(10);
	}
	check_undecided(DW_LEARNED_MARKED);
}

TEST(steps_without_updates_are_not_decided)
{
	begin_torch();
	for (int i = 0; i < 4; i++) {
		step_begins();
		range(forward, 100);
		step_ends();
		pass(10);
	}
	check_undecided(DW_LEARNED_NO_UPDATES);
}

TEST(a_step_that_the_end_cuts_is_in_no_iteration)
{
	begin_torch();
	for (int i = 0; i < 6; i++) {
		learn_step();
		pass(10);
	}
	step_begins();
	range(forward, 100);
	step_ends();
	check_learned(6, 6);
}

TEST(steps_that_were_not_recorded_are_not_decided)
{
	begin_torch();
	for (int i = 0; i < 4; i++) {
		step_begins();
		learn();
		dw_encode_step(&made.process, made.thread, step_number++, step_began * 1000, now_us * 1000, 1000,
		               i == 2 ? 0 : DW_STEP_RECORDED);
	}
	check_undecided(DW_LEARNED_UNRECORDED);
}

/* An older trace does not say which optimizer steps. */
static void make_old(bool several)
{
	begin_trace();
	dw_encode_meta(&made.process, "torch.version", "2.13.0", false);
	for (int i = 0; i < 4; i++) {
		step_begins();
		learn();
		if (several)
			learn();
		step_ends();
		pass(10);
	}
}

TEST(an_older_trace_with_one_update_a_step_is_decided)
{
	make_old(false);
	check_learned(4, 4);
}

TEST(an_older_trace_with_several_updates_a_step_is_not_decided)
{
	make_old(true);
	check_undecided(DW_LEARNED_NAMELESS);
}

/* Updates that are known by PyTorch's own range alone. */
TEST(updates_of_nameless_optimizers_are_not_decided)
{
	begin_torch();
	for (int i = 0; i < 4; i++) {
		step_begins();
		for (int k = 0; k < 2; k++) {
			range(forward, 100);
			range(backward, 200);
			range(update, 50);
		}
		step_ends();
		pass(10);
	}
	check_undecided(DW_LEARNED_NAMELESS);
}

CHECK_MAIN
