/* Iterations that the reader decides of the pieces that a probe wrote. */
#include "made.h"

static struct made made;
static uint64_t now, number;

enum { PIECE = 100, BETWEEN = 10 };

static void begin_pieces(void)
{
	made_init(&made);
	now = 1000;
	number = 0;
}

static void piece(uint32_t what)
{
	uint32_t kind = what & DWELL_STEP_KIND;
	bool tentative = kind == DWELL_STEP_CALL || kind == DWELL_STEP_LOOP;

	dw_encode_step(&made.process, made.thread, number++, now, now + PIECE, 7,
	               DW_STEP_RECORDED | (tentative ? DW_STEP_TENTATIVE : 0) | what);
	now += PIECE + BETWEEN;
}

static void update(uint32_t optimizer)
{
	piece(DWELL_STEP_UPDATE | DWELL_STEP_OPTIMIZER(optimizer));
}

static void batch(uint32_t optimizer)
{
	piece(DWELL_STEP_UPDATE | DWELL_STEP_BATCH | DWELL_STEP_OPTIMIZER(optimizer));
}

static void say(const char *key, const char *value)
{
	dw_encode_meta(&made.process, key, value, false);
}

/* The process trains from now on. */
static void trains(void)
{
	struct dw_entry_withdrawal *entry = dw_encode_entry(
		&made.process, DW_ENTRY_WITHDRAWAL, dw_encode_process_entry(&made.process)->entry.id, 0, sizeof *entry);

	REQUIRE(entry);
	entry->ticks = now;
	number = 0;
}

static void open_pieces(void)
{
	dw_encode_record(&made.stream, now + 1, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"), NULL, 0);
	if (made_open(&made, NULL))
		CHECK_FAIL("%s", made.error.message);
}

/* Iterations of so many pieces each, or of different lengths if `pieces` is 0. */
static void check_pieces(size_t count, uint64_t pieces)
{
	open_pieces();
	CHECK_EQ(made.source->step_count, count);
	for (size_t i = 0; i < made.source->step_count; i++) {
		const struct dw_source_step *step = &made.source->steps[i];

		CHECK_EQ(step->number, i);
		if (pieces) {
			CHECK_EQ(step->end_ticks - step->start_ticks, pieces * (PIECE + BETWEEN) - BETWEEN);
			CHECK_EQ(step->cpu_ns, pieces * 7);
		}
		CHECK(!i || step[-1].end_ticks <= step->start_ticks);
	}
	made_close(&made);
}

/* ---- several optimizers ------------------------------------------------------------------------------------ */

TEST(an_update_is_an_iteration)
{
	begin_pieces();
	for (int i = 0; i < 10; i++)
		update(0);
	check_pieces(10, 1);
}

TEST(optimizers_that_step_in_turn_are_one_iteration)
{
	begin_pieces();
	for (int i = 0; i < 8; i++) {
		batch(0);
		update(1);
		update(2);
	}
	check_pieces(8, 3);
}

/* Two optimizers, the second of which steps `times` times before each step of the first one. */
static void learn_twice(int times, const char *loops)
{
	begin_pieces();
	if (loops)
		say("torch.optimizer_loops", loops);
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < times; k++)
			update(1);
		update(0);
	}
}

TEST(an_optimizer_in_an_inner_loop_steps_several_times_in_an_iteration)
{
	learn_twice(5, "1=1 2=1/2 ");
	check_pieces(6, 6);
}

TEST(an_optimizer_in_the_same_loop_steps_once_in_an_iteration)
{
	learn_twice(3, "1=1 2=1 ");
	check_pieces(18, 0);
}

/* As one that learns alone first, and once in an iteration of the second loop. */
TEST(an_optimizer_that_steps_in_the_same_loop_too_is_not_inner)
{
	learn_twice(1, "1=1 2=1/2 2=1 ");
	check_pieces(6, 2);
}

TEST(a_long_inner_loop_makes_the_iterations)
{
	learn_twice(12, "1=1 2=1/2 ");
	check_pieces(72, 0);
}

/* As in C++, where loops are not known. */
TEST(the_optimizer_that_steps_most_seldom_makes_the_iterations)
{
	learn_twice(3, NULL);
	check_pieces(6, 4);
	learn_twice(12, NULL);
	check_pieces(72, 0);
}

/* Another model learns, when the first one does no more. */
TEST(an_optimizer_that_follows_another_one_begins_an_iteration)
{
	begin_pieces();
	for (int i = 0; i < 9; i++)
		update(i >= 4);
	check_pieces(9, 1);
}

TEST(an_optimizer_may_step_in_some_iterations_only)
{
	begin_pieces();
	say("torch.optimizer_loops", "1=1 2=1 ");
	for (int i = 0; i < 12; i++) {
		update(0);
		if (i % 2)
			update(1);
	}
	check_pieces(12, 0);
}

TEST(an_optimizer_may_join_later)
{
	begin_pieces();
	for (int i = 0; i < 12; i++) {
		update(0);
		if (i >= 6)
			update(1);
	}
	check_pieces(12, 0);
}

/* As in PyTorch-GAN's wgan_gp. */
TEST(each_batch_is_an_iteration_though_one_optimizer_steps_rarely)
{
	begin_pieces();
	say("torch.optimizer_loops", "1=1 2=1 ");
	for (int i = 0; i < 20; i++) {
		batch(0);
		if (i % 5 == 4)
			update(1);
	}
	check_pieces(20, 0);
}

TEST(an_iteration_is_recorded_if_all_of_it_is)
{
	begin_pieces();
	for (uint64_t i = 0; i < 8; i++)
		dw_encode_step(&made.process, made.thread, i, 200 * i, 200 * i + 100, i == 2 ? 0 : 5,
		               (i == 5 ? DW_STEP_REDUCED : DW_STEP_RECORDED) | DWELL_STEP_UPDATE |
		                   DWELL_STEP_OPTIMIZER((uint32_t)i % 2));
	now = 2000;
	open_pieces();
	REQUIRE(made.source->step_count == 4);
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(made.source->steps[i].recorded, i != 2);
		CHECK_EQ(made.source->steps[i].reduced, i == 2);
		CHECK_EQ(made.source->steps[i].cpu_ns, i == 1 ? 0 : 10);
	}
	made_close(&made);
}

/* ---- what was none ----------------------------------------------------------------------------------------- */

static void call_then_learn(bool withdraws, uint32_t kind, int calls)
{
	begin_pieces();
	for (int i = 0; i < calls; i++)
		piece(kind);
	if (withdraws)
		trains();
	for (int i = 0; i < 4; i++)
		update(0);
}

TEST(calls_of_a_process_that_trains_later_are_none)
{
	call_then_learn(true, DWELL_STEP_CALL, 20);
	check_pieces(4, 1);
	call_then_learn(true, DWELL_STEP_LOOP, 3);
	check_pieces(4, 1);
	call_then_learn(false, DWELL_STEP_CALL, 3);
	check_pieces(7, 1);
}

TEST(many_iterations_with_gradients_are_a_training_of_their_own)
{
	call_then_learn(false, DWELL_STEP_GRADIENTS, 15);
	check_pieces(4, 1);
	call_then_learn(false, DWELL_STEP_GRADIENTS, 16);
	check_pieces(20, 1);
}

TEST(a_call_goes_on_in_the_piece_that_says_so)
{
	begin_pieces();
	piece(DWELL_STEP_CALL);
	piece(DWELL_STEP_CALL);
	trains();
	piece(DWELL_STEP_BACKWARD | DWELL_STEP_JOINS);
	piece(DWELL_STEP_BACKWARD);
	open_pieces();
	REQUIRE(made.source->step_count == 2);
	CHECK_EQ(made.source->steps[0].start_ticks, 1000 + PIECE + BETWEEN);
	CHECK_EQ(made.source->steps[0].end_ticks, 1000 + 3 * PIECE + 2 * BETWEEN);
	CHECK_EQ(made.source->steps[0].number, 0);
	made_close(&made);
}

TEST(calls_of_layers_that_go_on_are_one_iteration)
{
	begin_pieces();
	for (int request = 0; request < 3; request++) {
		piece(DWELL_STEP_CALL);
		piece(DWELL_STEP_CALL | DWELL_STEP_JOINS);
		piece(DWELL_STEP_CALL | DWELL_STEP_JOINS);
	}
	open_pieces();
	REQUIRE(made.source->step_count == 3);
	CHECK_EQ(made.source->steps[1].end_ticks - made.source->steps[1].start_ticks, 3 * PIECE + 2 * BETWEEN);
	CHECK_EQ(made.source->steps[2].number, 2);
	made_close(&made);
}

TEST(calls_that_go_on_are_a_part_of_the_training_that_goes_on_with_them)
{
	begin_pieces();
	piece(DWELL_STEP_CALL);
	piece(DWELL_STEP_CALL | DWELL_STEP_JOINS);
	trains();
	piece(DWELL_STEP_BACKWARD | DWELL_STEP_JOINS);
	piece(DWELL_STEP_BACKWARD);
	open_pieces();
	REQUIRE(made.source->step_count == 2);
	CHECK_EQ(made.source->steps[0].end_ticks - made.source->steps[0].start_ticks, 3 * PIECE + 2 * BETWEEN);
	made_close(&made);
}

TEST(a_loop_has_the_iterations_that_turned_out_to_be_its_parts)
{
	begin_pieces();
	for (int i = 0; i < 8; i++)
		piece(DWELL_STEP_LOOP);
	dw_encode_step(&made.process, made.thread, number++, 1000, now, 7,
	               DW_STEP_RECORDED | DW_STEP_TENTATIVE | DWELL_STEP_LOOP);
	now += BETWEEN;
	for (int i = 0; i < 3; i++)
		piece(DWELL_STEP_LOOP);
	check_pieces(4, 0);
}

/* ---- as they are ------------------------------------------------------------------------------------------- */

TEST(steps_that_were_marked_are_iterations)
{
	begin_pieces();
	for (int i = 0; i < 5; i++)
		piece(0);
	check_pieces(5, 1);
}

/* DWELL_STEP() in the last line of a loop's body holds no time: the loop's work is before it. */
TEST(marks_that_hold_nothing_are_where_iterations_end)
{
	static const struct {
		uint64_t count, length;
		bool moments;
	} cases[] = { { 40, 1, true }, { 40, 0, true }, { 40, 100, false }, { 40, 60, false }, { 40, 40, true }, { 3, 1, false } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_source_step *step;

		begin_pieces();
		for (uint64_t at = 0; at < cases[i].count; at++) {
			now += 1000;
			dw_encode_step(&made.process, made.thread, number++, now, now + cases[i].length, 7, DW_STEP_RECORDED);
		}
		open_pieces();
		CHECK_EQ(made.source->step_count, cases[i].count - cases[i].moments);
		step = made.source->steps;
		CHECK_EQ(step[1].end_ticks - step[1].start_ticks, cases[i].moments ? 1000 : cases[i].length);
		CHECK_EQ(step[1].start_ticks - step[0].end_ticks, cases[i].moments ? 0 : 1000 - cases[i].length);
		CHECK_EQ(step[1].number, 1 + cases[i].moments);
		CHECK_EQ(step[1].cpu_ns, cases[i].moments ? 0 : 7);
		made_close(&made);
	}
}

/* An evaluation between short steps is longer than all of them, and none of them is a mark. */
TEST(one_long_pause_makes_no_mark_of_a_step)
{
	begin_pieces();
	for (uint64_t at = 0; at < 40; at++) {
		now += at == 20 ? 1000000 : 1000;
		dw_encode_step(&made.process, made.thread, number++, now, now + 300, 7, DW_STEP_RECORDED);
	}
	open_pieces();
	CHECK_EQ(made.source->step_count, 40);
	CHECK_EQ(made.source->steps[1].end_ticks - made.source->steps[1].start_ticks, 300);
	made_close(&made);
}

/* A summary has iterations, and the single steps of a newer time go on with its numbers. */
TEST(numbers_go_on_after_a_summary)
{
	struct dw_entry_steps *summary;

	begin_pieces();
	summary = dw_encode_entry(&made.process, DW_ENTRY_STEPS, made.thread, 0, sizeof *summary);
	REQUIRE(summary);
	summary->start_ticks = 100;
	summary->end_ticks = 900;
	summary->step_ticks = 700;
	summary->shortest_ticks = summary->longest_ticks = 70;
	summary->count = summary->durations[0] = 10;
	number = 20;
	for (int i = 0; i < 6; i++)
		update((uint32_t)i % 2);
	open_pieces();
	REQUIRE(made.source->step_count == 3);
	for (size_t i = 0; i < 3; i++)
		CHECK_EQ(made.source->steps[i].number, 10 + i);
	made_close(&made);
}

CHECK_MAIN
