/* What happens in loops and in which phases: loops of known shapes. */
#include "learning_loop.h"

#include "model/steps/loop_phases.h"

static const struct dw_loop_phases *phases_of(void)
{
	dw_encode_record(&made.stream, now_us * 1000, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"), NULL, 0);
	return made_open(&made, NULL) ? NULL : dw_model_loop_phases(made.model, &made.error);
}

#define EVENT(phases, kind) (&(phases)->events[DW_LOOP_##kind])
#define PHASE(phases, kind) (&(phases)->phases[DW_PHASE_##kind])

static void check_event(const struct dw_loop_event *event, uint64_t count, uint32_t least, uint32_t p50, uint32_t most)
{
	CHECK_EQ(event->count, count);
	CHECK_EQ(event->least, least);
	CHECK_EQ(event->p50, p50);
	CHECK_EQ(event->most, most);
}

/* ---- what an iteration has ------------------------------------------------------------------------------ */

TEST(a_plain_loop_learns_once_an_iteration)
{
	begin_trace();
	for (int i = 0; i < 10; i++) {
		learn_step();
		pass(50);
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(phases->iterations, 9);
	check_event(EVENT(phases, FORWARD), 10, 1, 1, 1);
	check_event(EVENT(phases, BACKWARD), 10, 1, 1, 1);
	check_event(EVENT(phases, UPDATE), 10, 1, 1, 1);
	CHECK_EQ(EVENT(phases, FORWARD)->ns, 10 * 400000);
	CHECK_EQ(EVENT(phases, UPDATE)->ns, 10 * 110000);
	CHECK_EQ(EVENT(phases, UPDATE)->between, 0);
	CHECK_NEAR(phases->accumulated, 1, 0);
	CHECK_EQ(PHASE(phases, LEARNING)->all.times, 1);
	CHECK_EQ(PHASE(phases, LEARNING)->updates, 10);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 0);
	made_close(&made);
}

TEST(a_gan_updates_twice_an_iteration)
{
	begin_trace();
	for (int i = 0; i < 8; i++) {
		step_begins();
		learn();
		range(forward, 50); /* the generator */
		learn();
		step_ends();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	check_event(EVENT(phases, UPDATE), 16, 2, 2, 2);
	check_event(EVENT(phases, FORWARD), 24, 3, 3, 3);
	CHECK_NEAR(phases->accumulated, 1, 0);
	made_close(&made);
}

TEST(updates_that_differ_between_iterations_have_their_bounds)
{
	begin_trace();
	for (int i = 0; i < 12; i++) {
		step_begins();
		learn();
		if (i % 5 == 0)
			learn();
		step_ends();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	check_event(EVENT(phases, UPDATE), 15, 1, 1, 2);
	CHECK_NEAR(EVENT(phases, UPDATE)->mean, 14.0 / 11, 1e-9);
	made_close(&made);
}

TEST(accumulation_has_several_backwards_for_an_update)
{
	begin_trace();
	for (int i = 0; i < 6; i++) {
		step_begins();
		clear_gradients();
		for (int micro = 0; micro < 4; micro++) {
			range(forward, 100);
			range(backward, 200);
		}
		update_parameters();
		step_ends();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	check_event(EVENT(phases, BACKWARD), 24, 4, 4, 4);
	check_event(EVENT(phases, UPDATE), 6, 1, 1, 1);
	CHECK_NEAR(phases->accumulated, 4, 0);
	made_close(&made);
}

/* LBFGS, and Lightning's closure: the phase begins after the backward, PyTorch's own range is around all. */
TEST(a_closure_is_one_update)
{
	begin_trace();
	for (int i = 0; i < 5; i++) {
		step_begins();
		begin(update);
		range(forward, 100);
		range(backward, 200);
		begin(optimizer);
		pass(40);
		clear_gradients(); /* in the closure: it makes the update no zero_grad() */
		range(forward, 100);
		range(backward, 200);
		pass(10);
		end();
		end();
		step_ends();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	check_event(EVENT(phases, UPDATE), 5, 1, 1, 1);
	check_event(EVENT(phases, FORWARD), 10, 2, 2, 2);
	CHECK_EQ(EVENT(phases, FORWARD)->ns, 5 * 200000);
	CHECK_EQ(EVENT(phases, UPDATE)->ns, 5 * 60000);
	CHECK_EQ(phases->updates_of[0], 5);
	made_close(&made);
}

TEST(without_pytorchs_ranges_a_phase_is_an_update)
{
	begin_trace();
	uint32_t zero = dw_encode_op(&made.process, DWELL_CATEGORY_PHASE, "optimizer", "zero_grad", 0, NULL, 0);

	for (int i = 0; i < 4; i++) {
		step_begins();
		range(zero, 10);
		range(forward, 100);
		range(backward, 100);
		range(optimizer, 50);
		step_ends();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	check_event(EVENT(phases, UPDATE), 4, 1, 1, 1);
	CHECK_EQ(EVENT(phases, UPDATE)->ns, 4 * 60000);
	made_close(&made);
}

/* What PyTorch's probe writes: which optimizer it is, and which modules have no parameters. */
TEST(optimizers_have_numbers_and_a_loss_is_no_call)
{
	begin_trace();
	uint32_t second = dw_encode_op(&made.process, DWELL_CATEGORY_PHASE, "optimizer", "2", 0, NULL, 0);
	uint32_t loss = dw_encode_op(&made.process, DWELL_CATEGORY_PHASE, "forward", "no parameters", 0, NULL, 0);
	uint32_t score = dw_encode_op(&made.process, DWELL_CATEGORY_EVALUATION, "evaluation", "no parameters", 0, NULL, 0);

	for (int i = 0; i < 6; i++) {
		step_begins();
		range(forward, 100);
		range(loss, 10);
		range(backward, 100);
		range(optimizer, 50);
		if (i % 2) {
			begin(second);
			range(update, 40);
			end();
		}
		step_ends();
	}
	for (int i = 0; i < 3; i++) {
		range(evaluation, 50);
		range(score, 5);
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	check_event(EVENT(phases, FORWARD), 6, 1, 1, 1);
	CHECK_EQ(EVENT(phases, FORWARD)->ns, 6 * 110000);
	check_event(EVENT(phases, UPDATE), 9, 1, 1, 2);
	CHECK_EQ(phases->updates_of[0], 6);
	CHECK_EQ(phases->updates_of[1], 3);
	CHECK_EQ(phases->updates_of[2], 0);
	CHECK_EQ(PHASE(phases, EVALUATION)->calls, 3);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.run_ns, 3 * 55000);
	made_close(&made);
}

TEST(a_target_is_asked_in_the_iteration)
{
	begin_trace();
	for (int i = 0; i < 7; i++) {
		range(inference, 30); /* before the step, as the probe marks it */
		step_begins();
		range(forward, 100);
		range(inference, 40);
		range(backward, 100);
		update_parameters();
		step_ends();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	check_event(EVENT(phases, INFERENCE), 13, 2, 2, 2);
	CHECK_EQ(EVENT(phases, INFERENCE)->between, 6);
	CHECK_EQ(PHASE(phases, ACTING)->all.times, 0);
	CHECK_EQ(PHASE(phases, INFERENCE)->all.times, 14);
	made_close(&made);
}

/* ---- phases --------------------------------------------------------------------------------------------- */

/* 4 rounds of 32 calls with 100 us of the world after each, then 8 updates. */
static void make_rounds(uint32_t call)
{
	begin_trace();
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 32; i++) {
			range(call, 50);
			pass(100);
		}
		for (int i = 0; i < 8; i++)
			learn_step();
		pass(200);
	}
}

TEST(an_agent_acts_and_learns)
{
	make_rounds(inference);
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	const struct dw_phase *acting = PHASE(phases, ACTING), *learning = PHASE(phases, LEARNING);

	CHECK_EQ(acting->all.times, 4);
	CHECK_EQ(acting->calls, 128);
	CHECK_EQ(acting->p50, 32);
	CHECK_EQ(acting->all.ns, 128 * 50000);
	CHECK_EQ(acting->all.until_ns, 128 * 150000);
	CHECK_EQ(acting->loop.times, 3);
	CHECK_EQ(acting->loop.until_ns, 96 * 150000);
	CHECK_EQ(learning->all.times, 4);
	CHECK_EQ(learning->least, 8);
	CHECK_EQ(learning->most, 8);
	CHECK_EQ(learning->all.run_ns, 32 * 1110000);
	CHECK_EQ(learning->all.until_ns, 32 * 1110000 + 3 * 200000);
	CHECK_EQ(PHASE(phases, INFERENCE)->all.times, 0);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 0);
	made_close(&made);
}

/* An agent whose model is set to evaluation mode while it acts, as in Stable-Baselines3. */
TEST(an_agent_may_act_in_evaluation_mode)
{
	make_rounds(evaluation);
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(PHASE(phases, ACTING)->all.times, 4);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 0);
	made_close(&made);
}

/* The phases of a loop fill it: each instant is in the phase that began last. */
TEST(phases_sum_to_the_loop)
{
	make_rounds(inference);
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	const struct dw_loop *loop = &dw_model_steps(made.model, NULL)->loops[0];
	CHECK_EQ(PHASE(phases, ACTING)->loop.until_ns + PHASE(phases, LEARNING)->loop.until_ns, loop->end_ns - loop->start_ns);
	made_close(&made);
}

/* 3 epochs of 5 batches; after each an evaluation of 4 batches, where the loss is called too. */
static void make_epochs(void)
{
	begin_trace();
	for (int epoch = 0; epoch < 3; epoch++) {
		range(loader, 20);
		for (int i = 0; i < 5; i++) {
			step_begins();
			range(data, 30);
			learn();
			step_ends();
		}
		range(data, 5); /* finds the end */
		range(loader, 20);
		for (int i = 0; i < 4; i++) {
			range(data, 30);
			range(evaluation, 100);
			range(inference, 10);
		}
		range(data, 5);
		pass(60);
	}
}

TEST(an_evaluation_is_one_however_many_batches_it_has)
{
	make_epochs();
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	const struct dw_phase *evaluated = PHASE(phases, EVALUATION), *learning = PHASE(phases, LEARNING);

	CHECK_EQ(evaluated->all.times, 3);
	CHECK_EQ(evaluated->loop.times, 2);
	CHECK_EQ(evaluated->calls, 12);
	CHECK_EQ(evaluated->p50, 4);
	CHECK_EQ(evaluated->batches, 12);
	CHECK_EQ(evaluated->all.run_ns, 3 * (20 + 4 * 140 + 5) * 1000);
	CHECK_EQ(learning->all.times, 3);
	CHECK_EQ(learning->batches, 15);
	CHECK_EQ(learning->p50, 5);
	CHECK_EQ(phases->epochs, 3);
	check_event(EVENT(phases, DATA), 15, 1, 1, 1);
	CHECK_EQ(PHASE(phases, INFERENCE)->all.times, 0);
	CHECK_EQ(PHASE(phases, ACTING)->all.times, 0);
	made_close(&made);
}

/* An evaluation before the first step, then after each 5 steps, and a last step after the last one: no acting. */
TEST(an_evaluation_first_is_no_acting)
{
	begin_trace();
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 20; i++)
			range(evaluation, 50);
		for (int i = 0; i < (round < 3 ? 5 : 1); i++)
			learn_step();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 4);
	CHECK_EQ(PHASE(phases, EVALUATION)->p50, 20);
	CHECK_EQ(PHASE(phases, ACTING)->all.times, 0);
	made_close(&made);
}

TEST(samples_that_are_generated_are_inference)
{
	begin_trace();
	for (int i = 0; i < 30; i++) {
		learn_step();
		for (int k = 0; i % 10 == 9 && k < 50; k++)
			range(inference, 20);
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(PHASE(phases, INFERENCE)->all.times, 3);
	CHECK_EQ(PHASE(phases, INFERENCE)->p50, 50);
	CHECK_EQ(PHASE(phases, ACTING)->all.times, 0);
	made_close(&made);
}

TEST(files_that_are_saved_together_are_one_checkpoint)
{
	begin_trace();
	for (int i = 0; i < 9; i++) {
		learn_step();
		if (i % 3 != 2)
			continue;
		range(evaluation, 100);
		range(save, 500); /* within an evaluation, which it does not end */
		range(save, 50);
		range(evaluation, 100);
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(PHASE(phases, CHECKPOINT)->all.times, 3);
	CHECK_EQ(PHASE(phases, CHECKPOINT)->calls, 6);
	CHECK_EQ(PHASE(phases, CHECKPOINT)->all.run_ns, 3 * 550000);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 3);
	made_close(&made);
}

/* A program that marks its steps and names only its evaluations. */
TEST(steps_without_names_are_learning)
{
	begin_trace();
	for (int i = 0; i < 10; i++) {
		step_begins();
		pass(1000);
		step_ends();
		if (i == 4 || i == 5)
			range(evaluation, 300);
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 2);
	CHECK_EQ(PHASE(phases, LEARNING)->all.times, 3);
	CHECK_EQ(PHASE(phases, LEARNING)->all.run_ns, 10 * 1000000);
	made_close(&made);
}

/* Each of its steps evaluates, within the step. */
TEST(each_step_may_evaluate)
{
	begin_trace();
	for (int i = 0; i < 6; i++) {
		step_begins();
		pass(1000);
		range(evaluation, 200);
		range(evaluation, 200);
		step_ends();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	check_event(EVENT(phases, EVALUATION), 12, 2, 2, 2);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 6);
	made_close(&made);
}

/* A program that marks each batch of its evaluation as a step. */
TEST(steps_of_an_evaluation_are_one)
{
	begin_trace();
	for (int epoch = 0; epoch < 2; epoch++) {
		for (int i = 0; i < 3; i++)
			learn_step();
		for (int i = 0; i < 4; i++) {
			step_begins();
			range(evaluation, 100);
			step_ends();
		}
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 2);
	CHECK_EQ(PHASE(phases, EVALUATION)->p50, 4);
	made_close(&made);
}

/* In C an evaluation is often a range with what it calls in it. */
TEST(what_an_evaluation_calls_is_part_of_it)
{
	begin_trace();
	for (int i = 0; i < 6; i++) {
		learn_step();
		if (i % 2 == 0)
			continue;
		begin(evaluation);
		for (int k = 0; k < 3; k++) {
			range(data, 10);
			range(forward, 40);
		}
		end();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.times, 3);
	CHECK_EQ(PHASE(phases, EVALUATION)->batches, 9);
	CHECK_EQ(PHASE(phases, EVALUATION)->all.ns, 3 * 150000);
	CHECK_EQ(EVENT(phases, FORWARD)->count, 6);
	made_close(&made);
}

/* ---- other threads, other scopes ------------------------------------------------------------------------ */

TEST(a_loop_without_events_has_no_phases)
{
	begin_trace();
	for (int i = 0; i < 5; i++) {
		step_begins();
		pass(100);
		step_ends();
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	for (int kind = 0; kind < DW_PHASE_KINDS; kind++)
		CHECK_EQ(phases->phases[kind].all.times, 0);
	CHECK_NEAR(phases->accumulated, 0, 0);
	made_close(&made);
}

/* Two threads write one stream, one after the other: each has what it did itself. */
TEST(threads_in_turn_have_events_of_their_own)
{
	uint32_t other;

	begin_trace();
	learn_step();
	learn_step();
	other = dw_encode_thread(&made.process, 101, 0, 0, "other");
	dw_encode_record(&made.stream, now_us * 1000, DW_THREAD, other, NULL, 0);
	for (int i = 0; i < 3; i++) {
		step_begins();
		learn();
		learn();
		dw_encode_step(&made.process, other, step_number++, step_began * 1000, now_us * 1000, 1000, DW_STEP_RECORDED);
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->thread_count == 2);
	for (size_t i = 0; i < 2; i++)
		CHECK_EQ(EVENT(&phases[i], UPDATE)->count, steps->loops[i].count == 2 ? 2 : 6);
	made_close(&made);
}

TEST(events_of_steps_in_scope_count)
{
	const struct dw_scope scope = { .has_steps = true, .steps_from = 2, .steps_to = 4 };

	begin_trace();
	for (int i = 0; i < 10; i++) {
		learn_step();
		range(inference, 20);
	}
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_loop_phases *phases = dw_model_loop_phases(made.model, &made.error);
	REQUIRE(phases);
	CHECK_EQ(phases->iterations, 3);
	check_event(EVENT(phases, UPDATE), 3, 1, 1, 1);
	check_event(EVENT(phases, INFERENCE), 3, 1, 1, 1);
	made_close(&made);
}

TEST(iterations_that_were_not_recorded_are_not_averaged)
{
	begin_trace();
	for (int i = 0; i < 8; i++) {
		step_begins();
		if (i >= 2 && i < 6)
			learn();
		else
			pass(1110);
		dw_encode_step(&made.process, made.thread, step_number++, step_began * 1000, now_us * 1000, 1000,
		               i < 2 || i >= 6 ? 0 : i == 3 ? DW_STEP_REDUCED : DW_STEP_RECORDED);
	}
	const struct dw_loop_phases *phases = phases_of();
	REQUIRE(phases);
	CHECK_EQ(phases->iterations, 3);
	check_event(EVENT(phases, UPDATE), 4, 1, 1, 1);
	made_close(&made);
}

CHECK_MAIN
