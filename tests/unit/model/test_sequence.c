/* Iterations aligned position by position, compared with known orders and times. */
#include "made.h"

#include <math.h>

#include "model/sequence/sequence.h"
#include "model/sequence/drift.h"
#include "model/sequence/positions.h"
#include "model/sequence/repeats.h"

static struct made made;
static uint64_t now, step_number, step_start;

/* Operators by letter: "abc" are three of 1 us, +1 us each, so that times tell them apart. */
static uint32_t ops[26];

static void start(void)
{
	made_init(&made);
	now = 1000;
	step_number = 0;
	for (unsigned i = 0; i < 26; i++)
		ops[i] = made_op(&made, DWELL_CATEGORY_OPERATOR, (char[]){ (char)('a' + i), '\0' });
}

static void op_of(char letter, uint64_t duration)
{
	dw_encode_begin(&made.stream, now += 10, ops[letter - 'a']);
	dw_encode_end(&made.stream, now += duration);
}

static void begin_step(void)
{
	step_start = now += 10;
}

static void end_step(void)
{
	dw_encode_step(&made.process, made.thread, step_number++, step_start, now += 10, 0,
	               DW_STEP_RECORDED);
}

static void iteration(const char *letters)
{
	begin_step();
	for (const char *at = letters; *at; at++)
		op_of(*at, 1000 * (uint64_t)(*at - 'a' + 1));
	end_step();
}

static const struct dw_sequence *sequence_of(uint64_t skip)
{
	struct dw_sequence_ask ask = { skip };

	return dw_model_sequence(made.model, &ask, &made.error);
}

/* "a3 b2": the letters of the positions with how many timed iterations have each. */
static const char *text_of(const struct dw_sequence *sequence)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; sequence && i < sequence->count && used < sizeof text - 32; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%llu", i ? " " : "",
		                         dw_model_symbols(made.model, NULL)[sequence->ops[i].symbol].name,
		                         (unsigned long long)sequence->ops[i].stat.count);
	return text;
}

TEST(equal_iterations_are_one_position_each)
{
	start();
	for (int i = 0; i < 3; i++)
		iteration("abca");
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a3 b3 c3 a3");
	CHECK_EQ(sequence->iterations, 3);
	CHECK_EQ(sequence->changes, 0);
	CHECK_NEAR(sequence->ops[1].mean_ns, 2000, 0);
	CHECK_EQ(sequence->ops[1].stat.p99_ns, 2000);
	CHECK_NEAR(sequence->iteration_ns, 7000 + 50, 0);
	made_close(&made);
}

TEST(a_branch_shifts_nobody)
{
	start();
	for (int i = 0; i < 12; i++)
		iteration(i % 3 == 2 ? "abxyef" : "abcdef");
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a12 b12 c8 d8 x4 y4 e12 f12");
	CHECK_EQ(sequence->changes, 7);
	CHECK_NEAR(sequence->ops[6].mean_ns, 5000, 0);
	CHECK_NEAR(sequence->ops[6].std_ns, 0, 0);
	made_close(&made);
}

TEST(operators_come_and_go_by_neighbours)
{
	start();
	iteration("abab");
	iteration("ababab"); /* a loop that runs once more */
	iteration("zabab");  /* one before */
	iteration("aba");    /* one less */
	iteration("");       /* none at all */
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	uint64_t calls = 0;
	for (uint32_t i = 0; i < sequence->count; i++) {
		calls += sequence->ops[i].stat.count;
		/* whatever the position, it is of one operator */
		CHECK_EQ(sequence->ops[i].stat.min_ns, sequence->ops[i].stat.max_ns);
	}
	CHECK_EQ(calls, 4 + 6 + 5 + 3);
	CHECK_EQ(sequence->count, 7);
	CHECK_EQ(sequence->iterations, 5);
	made_close(&made);
}

TEST(a_new_graph_gets_positions_of_its_own)
{
	start();
	for (int i = 0; i < 4; i++)
		iteration("abcd");
	for (int i = 0; i < 4; i++)
		iteration("wxyz");
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a4 b4 c4 d4 w4 x4 y4 z4");
	CHECK_EQ(sequence->changes, 1);
	made_close(&made);
}

TEST(skipped_iterations_give_numbers_and_no_times)
{
	struct dw_sequence_ask ask = { 4 };

	start();
	begin_step();
	op_of('w', 900000);
	op_of('a', 500000);
	end_step();
	for (int i = 0; i < 3; i++)
		iteration("a");
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(1);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "w0 a3");
	CHECK_EQ(sequence->skipped, 1);
	CHECK_EQ(sequence->ops[1].iterations, 4);
	CHECK_NEAR(sequence->ops[1].mean_ns, 1000, 0);
	CHECK_EQ(dw_sequence_check(sequence, &ask, &made.error), 0);
	/* as many as there are, and more */
	for (uint64_t skip = 4; skip < 10; skip += 5) {
		ask.skip = skip;
		sequence = sequence_of(skip);
		REQUIRE(sequence);
		CHECK_EQ(sequence->iterations, 0);
		CHECK_EQ(dw_sequence_check(sequence, &ask, &made.error), DWELL_E_NO_DATA);
		CHECK(strstr(made.error.message, "--skip-iteration 3 leaves one") != NULL);
	}
	made_close(&made);
}

TEST(only_operators_that_lie_in_no_other_count)
{
	start();
	uint32_t phase = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	uint32_t dist = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "Dist_allreduce");

	for (int i = 0; i < 2; i++) {
		begin_step();
		op_of('a', 100);
		dw_encode_begin(&made.stream, now += 10, phase);
		dw_encode_begin(&made.stream, now += 10, ops['b' - 'a']);
		op_of('c', 100);
		op_of('d', 100);
		dw_encode_end(&made.stream, now += 10);
		dw_encode_begin(&made.stream, now += 10, dist);
		dw_encode_end(&made.stream, now += 70);
		dw_encode_end(&made.stream, now += 10);
		op_of('e', 100);
		end_step();
		op_of('f', 100); /* outside any step */
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a2 b2 Dist_allreduce2 e2");
	CHECK_EQ(sequence->ops[0].phase, DW_IN_NO_PHASE);
	CHECK_EQ(sequence->ops[1].phase, DW_IN_BACKWARD);
	CHECK_EQ(sequence->ops[2].phase, DW_IN_BACKWARD);
	CHECK_EQ(sequence->ops[3].phase, DW_IN_NO_PHASE);
	CHECK_NEAR(sequence->ops[1].mean_ns, 230, 0);
	CHECK(sequence->has_backward);
	CHECK(!sequence->has_forward);
	made_close(&made);
}

/* The outer operator ends while one within is open: what follows is not within it. */
TEST(an_operator_that_ends_out_of_turn_is_one)
{
	uint32_t one = 1;

	start();
	for (int i = 0; i < 3; i++) {
		begin_step();
		dw_encode_begin(&made.stream, now += 10, ops[0]);
		dw_encode_begin(&made.stream, now += 10, ops[1]);
		dw_encode_record(&made.stream, now += 480, DW_END_OF, 0, &one, 1); /* a */
		op_of('c', 100);
		dw_encode_end(&made.stream, now += 10);                            /* b */
		op_of('d', 100);
		end_step();
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a3 c3 d3");
	CHECK_NEAR(sequence->ops[0].mean_ns, 490, 0);
	made_close(&made);
}

/* Another thread has the stream for a while in the middle of each step. */
TEST(operators_of_another_thread_in_the_stream_are_none)
{
	uint32_t other;

	start();
	other = dw_encode_thread(&made.process, 101, 0, 0, "other");
	for (int i = 0; i < 3; i++) {
		begin_step();
		op_of('a', 100);
		dw_encode_record(&made.stream, now += 10, DW_THREAD, other, NULL, 0);
		op_of('b', 100);
		dw_encode_record(&made.stream, now += 10, DW_THREAD, made.thread, NULL, 0);
		op_of('c', 100);
		end_step();
	}
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_STR(text_of(sequence_of(0)), "a3 c3");
	made_close(&made);
}

/* Whether the end of the forward has been read when the step is finished must not matter. */
TEST(a_forward_that_outlives_its_step_does_not_count)
{
	uint32_t forward;

	start();
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	for (int i = 0; i < 2; i++) {
		begin_step();
		dw_encode_begin(&made.stream, now += 10, forward);
		op_of('a', 100);
		end_step();
		if (i == 1)
			dw_encode_close(&made.stream); /* the end is in another chunk */
		dw_encode_end(&made.stream, now += 10);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_STR(text_of(sequence_of(0)), "a2");
	CHECK(!sequence_of(0)->has_forward);
	CHECK_NEAR(sequence_of(0)->forward_ns, 0, 0);
	made_close(&made);
}

/* A second process steps too; its operators are those of the first, and one more. */
TEST(processes_that_step_are_one_sequence)
{
	struct dw_encode_process second;
	struct dw_encode_stream stream;

	start();
	for (int i = 0; i < 4; i++)
		iteration("ab");
	dw_encode_process_init(&second, &made.encode, 0)->pid = 0x7ffffffd;
	uint32_t thread = dw_encode_thread(&second, 200, 0, 0, "main");
	uint32_t a = dw_encode_op(&second, DWELL_CATEGORY_OPERATOR, "a", NULL, 0, NULL, 0);
	uint32_t z = dw_encode_op(&second, DWELL_CATEGORY_OPERATOR, "z", NULL, 0, NULL, 0);
	dw_encode_stream_init(&stream, &second, 0, thread);
	now = 2000;
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t from = now;

		dw_encode_begin(&stream, now += 10, a);
		dw_encode_end(&stream, now += 3000);
		dw_encode_begin(&stream, now += 10, z);
		dw_encode_end(&stream, now += 500);
		dw_encode_step(&second, thread, i, from, now += 10, 0, DW_STEP_RECORDED);
	}
	dw_encode_close(&stream);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(1); /* of each process */
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a5 b3 z2");
	CHECK_EQ(sequence->process_count, 2);
	CHECK_EQ(sequence->skipped, 2);
	CHECK_EQ(sequence->iterations, 5);
	CHECK_NEAR(sequence->ops[0].mean_ns, (3 * 1000 + 2 * 3000) / 5.0, 0);
	made_close(&made);
}

/* A file of the same run whose clock ticks twice as fast. */
TEST(times_of_several_clocks_are_told_in_one)
{
	static struct made other;
	const char *paths[2] = { made.path, other.path };
	struct dw_sequence_ask ask = { 0 };
	struct dw_source *source;
	struct dw_model *model;

	start();
	for (int i = 0; i < 3; i++)
		iteration("ab");
	dw_encode_close(&made.stream);
	REQUIRE(made_write(&made, made.encode.image, dw_encode_bytes(&made.encode)) == 0);
	memset(&other, 0, sizeof other);
	other.file = -1;
	dw_encode_init(&other.encode, DW_CLOCK_TSC, 2000000000);
	dw_encode_process_init(&other.process, &other.encode, 0)->pid = 0x7ffffffd;
	other.thread = dw_encode_thread(&other.process, 100, 0, 0, "main");
	dw_encode_stream_init(&other.stream, &other.process, 0, other.thread);
	uint32_t a = made_op(&other, DWELL_CATEGORY_OPERATOR, "a");
	for (uint64_t i = 0; i < 3; i++) {
		dw_encode_begin(&other.stream, 10000 * i + 10, a);
		dw_encode_end(&other.stream, 10000 * i + 2010);
		dw_encode_step(&other.process, other.thread, i, 10000 * i, 10000 * i + 4000, 0,
		               DW_STEP_RECORDED);
	}
	dw_encode_close(&other.stream);
	REQUIRE(made_write(&other, other.encode.image, dw_encode_bytes(&other.encode)) == 0);
	REQUIRE(dw_source_open(&source, paths, 2, &made.error) == 0);
	REQUIRE(dw_model_create(&model, source, NULL, &made.error) == 0);
	const struct dw_sequence *sequence = dw_model_sequence(model, &ask, NULL);
	REQUIRE(sequence && sequence->count == 2);
	CHECK_EQ(sequence->ops[0].stat.count, 6);
	CHECK_EQ(sequence->ops[0].stat.max_ns, 1000);
	CHECK_NEAR(sequence->ops[0].mean_ns, 1000, 1e-6);
	CHECK_NEAR(sequence->iteration_ns, (3 * 3030 + 3 * 2000) / 6.0, 1e-6);
	dw_model_destroy(model);
	dw_source_close(source);
	close(made.file);
	close(other.file);
	dw_encode_reset(&made.encode);
	dw_encode_reset(&other.encode);
}

TEST(phases_alone_have_their_time)
{
	start();
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");

	for (uint64_t i = 0; i < 4; i++) {
		begin_step();
		dw_encode_begin(&made.stream, now += 10, forward);
		dw_encode_end(&made.stream, now += 1000 * (i + 1));
		end_step();
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(2);
	REQUIRE(sequence);
	CHECK_EQ(sequence->count, 0);
	CHECK(sequence->has_forward);
	CHECK_NEAR(sequence->forward_ns, 3500, 0);
	made_close(&made);
}

/* Twice another thread's operators: one runs backward for the step's thread. */
TEST(a_backward_thread_belongs_to_the_steps_of_its_forward)
{
	struct dw_encode_stream autograd, loader;
	uint32_t link[3] = { 7, 0, 0 };

	start();
	uint32_t second = dw_encode_thread(&made.process, 101, 1, 0, "autograd");
	uint32_t third = dw_encode_thread(&made.process, 102, 2, 0, "loader");
	dw_encode_stream_init(&autograd, &made.process, 1, second);
	dw_encode_stream_init(&loader, &made.process, 2, third);
	link[2] = made.thread;
	for (int i = 0; i < 3; i++) {
		begin_step();
		op_of('a', 1000);
		dw_encode_begin(&loader, now + 5, ops['l' - 'a']);
		dw_encode_end(&loader, now + 500);
		dw_encode_begin(&autograd, now += 10, ops['x' - 'a']);
		dw_encode_record(&autograd, now, DW_LINK, 0, link, 3);
		dw_encode_end(&autograd, now += 100);
		dw_encode_begin(&autograd, now += 10, ops['y' - 'a']);
		dw_encode_end(&autograd, now += 100);
		op_of('b', 1000);
		end_step();
	}
	dw_encode_close(&autograd);
	dw_encode_close(&loader);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a3 x3 y3 b3");
	CHECK_EQ(sequence->ops[1].phase, DW_IN_BACKWARD);
	CHECK(!sequence->has_backward); /* nobody marked it */
	made_close(&made);
}

TEST(what_is_not_whole_is_left_out)
{
	start();
	iteration("abc");
	begin_step();
	op_of('a', 1000);
	dw_encode_gap(&made.stream, 3); /* recycled */
	now += 100;
	op_of('c', 99000);
	end_step();
	iteration("abc");
	begin_step();
	op_of('a', 1000);
	uint64_t lost = 5;
	dw_encode_record(&made.stream, now += 10, DW_LOSS, 0, &lost, 2);
	op_of('c', 99000);
	end_step();
	iteration("abc");
	dw_encode_step(&made.process, made.thread, step_number, now += 10, 0, 0, DW_STEP_RECORDED);
	op_of('a', 1000);
	dw_encode_begin(&made.stream, now += 10, ops[1]);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a3 b3 c3");
	CHECK_EQ(sequence->incomplete, 3);
	CHECK_NEAR(sequence->ops[2].mean_ns, 3000, 0);
	made_close(&made);
}

TEST(a_scope_of_steps_keeps_the_runs_count)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 4, .steps_to = 7 };

	start();
	for (int i = 0; i < 10; i++)
		iteration(i < 6 ? "ab" : "abc");
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_sequence *sequence = sequence_of(5);
	REQUIRE(sequence);
	CHECK_STR(text_of(sequence), "a3 b3 c2");
	CHECK_EQ(sequence->skipped, 1);
	made_close(&made);
}

/* ---- trends -------------------------------------------------------------------------- */

/* A run of noisy iterations; operator b grows by `growth` of itself over it. */
static const struct dw_sequence *drifting(unsigned iterations, double growth)
{
	uint64_t random = 1;

	start();
	for (unsigned i = 0; i < iterations; i++) {
		double part = (double)i / iterations;

		begin_step();
		for (char letter = 'a'; letter <= 'd'; letter++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			uint64_t noise = (random >> 40) % 1000;         /* of 10,000: 10% */
			uint64_t outlier = (random >> 20) % 50 ? 0 : 300000;
			double grown = letter == 'b' ? 10000 * growth * part : 0;

			/* d is slow every 31st time: no trend */
			if (letter == 'd' && i % 31 == 0)
				outlier = 50000;
			op_of(letter, (uint64_t)((double)(10000 + noise + outlier) + grown));
		}
		end_step();
	}
	if (made_open(&made, NULL))
		return NULL;
	return sequence_of(0);
}

TEST(a_known_drift_is_found_and_nothing_else)
{
	static const unsigned runs[] = { 60, 500, 5000 };

	for (unsigned r = 0; r < 3; r++) {
		const struct dw_sequence *sequence = drifting(runs[r], 0.5);
		REQUIRE(sequence && sequence->count == 4);
		CHECK(!sequence->ops[0].drifts);
		CHECK(sequence->ops[1].drifts);
		CHECK(!sequence->ops[2].drifts);
		CHECK(!sequence->ops[3].drifts);
		CHECK(sequence->drifts && sequence->drift > 0.05); /* b's part of the whole */
		CHECK_NEAR(sequence->ops[1].drift, 5000 / 13000.0, 0.05);
		made_close(&made);
	}
}

TEST(too_few_iterations_have_no_drift)
{
	const struct dw_sequence *sequence = drifting(9, 5);

	REQUIRE(sequence && sequence->count == 4);
	CHECK(!sequence->ops[1].drifts);
	CHECK(isnan(sequence->ops[1].drift));
	made_close(&made);
}

TEST(a_fall_is_a_drift_and_a_small_one_is_none)
{
	const struct dw_sequence *sequence = drifting(400, -0.4);

	REQUIRE(sequence && sequence->count == 4);
	CHECK(sequence->ops[1].drifts);
	CHECK(sequence->ops[1].drift < -0.3);
	made_close(&made);
	sequence = drifting(4000, 0.03);
	REQUIRE(sequence && sequence->count == 4);
	CHECK(!sequence->ops[1].drifts);
	made_close(&made);
}

/* ---- blocks -------------------------------------------------------------------------- */

static const char *fold(const char *letters)
{
	static char text[256];
	struct dw_sequence_block blocks[64];
	uint64_t keys[256];
	uint32_t count = (uint32_t)strlen(letters), found = 0;
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++)
		keys[i] = (uint64_t)letters[i];
	CHECK(dw_sequence_fold(keys, count, blocks, &found));
	text[0] = '\0';
	for (uint32_t b = 0; b < found; b++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%u:%ux%u", b ? " " : "",
		                         blocks[b].first, blocks[b].length, blocks[b].repeats);
	return text;
}

TEST(repeated_blocks_are_found)
{
	CHECK_STR(fold(""), "");
	CHECK_STR(fold("abcdef"), "");
	CHECK_STR(fold("aab"), "");            /* saves one */
	CHECK_STR(fold("xaaay"), "1:1x3");
	CHECK_STR(fold("sabcabcabct"), "1:3x3");
	CHECK_STR(fold("abababxyzxyz"), "0:2x3 6:3x2");
	CHECK_STR(fold("aabaabaab"), "0:3x3"); /* not the small ones in it */
	CHECK_STR(fold("abcabcab"), "0:3x2");
}

TEST(a_block_joins_its_repetitions)
{
	start();
	for (int i = 0; i < 20; i++) {
		begin_step();
		for (uint64_t b = 0; b < 16; b++) {
			op_of('a', 1000 + 100 * b);
			op_of('b', 5000);
		}
		end_step();
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence && sequence->block_count == 1);
	const struct dw_sequence_block *block = &sequence->blocks[0];
	CHECK_EQ(block->first, 0);
	CHECK_EQ(block->length, 2);
	CHECK_EQ(block->repeats, 16);
	CHECK_EQ(block->ops[0].stat.count, 320);
	CHECK_NEAR(block->ops[0].mean_ns, 1750, 0);
	CHECK_EQ(block->ops[0].stat.min_ns, 1000);
	CHECK_EQ(block->ops[0].stat.max_ns, 2500);
	/* of 16 values 100 apart, 20 times each */
	CHECK_NEAR(block->ops[0].std_ns, 461.7, 0.1);
	made_close(&made);
}

/* ---- orders that have little in common ----------------------------------------------- */

TEST(any_orders_are_placed_whole_and_in_order)
{
	uint64_t random = 99;
	uint64_t calls = 0, kept = 0;
	char letters[1500];

	start();
	for (int i = 0; i < 40; i++) {
		unsigned length = (unsigned)(random >> 33) % 1400;

		for (unsigned n = 0; n < length; n++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			letters[n] = (char)('a' + (random >> 50) % (i % 2 ? 26 : 3));
		}
		letters[length] = '\0';
		calls += length;
		iteration(letters);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_EQ(sequence->iterations, 40);
	for (uint32_t i = 0; i < sequence->count; i++) {
		const struct dw_sequence_op *op = &sequence->ops[i];
		char letter = dw_model_symbols(made.model, NULL)[op->symbol].name[0];

		kept += op->stat.count;
		CHECK_EQ(op->stat.min_ns, 1000 * (uint64_t)(letter - 'a' + 1));
		CHECK_EQ(op->stat.max_ns, op->stat.min_ns);
		CHECK(op->stat.count <= 40);
	}
	CHECK_EQ(kept + sequence->left_out, calls);
	made_close(&made);
}

/* A long graph that goes for ever, and one of the same operators in other orders that comes
 * for it and varies: its own positions are found again, not namesakes of the first one. */
TEST(a_graph_that_varies_after_another_keeps_its_positions)
{
	char first[601] = "", second[601] = "", varied[601];
	uint64_t random = 7;
	uint32_t usual = 0, placed;

	start();
	for (int i = 0; i < 600; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		first[i] = (char)('a' + (random >> 50) % 26);
		second[i] = (char)('a' + (random >> 40) % 26);
	}
	for (int i = 0; i < 3; i++)
		iteration(first);
	iteration(second);
	for (int i = 0; i < 40; i++) { /* without its i-th tenth operator */
		memcpy(varied, second, sizeof varied);
		memmove(varied + i * 10, varied + i * 10 + 1, sizeof varied - (size_t)i * 10 - 1);
		iteration(varied);
	}
	iteration(first);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	placed = sequence->count;
	for (uint32_t i = 0; i < sequence->count; i++)
		usual += sequence->ops[i].stat.count >= 40;
	CHECK_EQ(usual, 600);
	CHECK(placed <= 1200);
	CHECK_EQ(sequence->changes, 42);
	made_close(&made);
}

TEST(positions_are_bounded_and_the_rest_is_counted)
{
	const int graphs = check_is_slow() ? 7 : 10;
	char letters[5001];
	uint64_t kept = 0;

	start();
	/* graphs without a common operator two by two: 5,000 positions wanted for each */
	for (int i = 0; i < graphs; i++) {
		memset(letters, 'a' + i, sizeof letters - 1);
		letters[sizeof letters - 1] = '\0';
		iteration(letters);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	for (uint32_t i = 0; i < sequence->count; i++)
		kept += sequence->ops[i].stat.count;
	CHECK_EQ(sequence->count, DW_SEQUENCE_POSITIONS);
	CHECK_EQ(kept, DW_SEQUENCE_POSITIONS);
	CHECK_EQ(sequence->left_out, (unsigned)graphs * 5000 - DW_SEQUENCE_POSITIONS);
	made_close(&made);
}

/* More orders than are remembered: they are found again by comparison. */
TEST(many_orders_do_not_make_many_positions)
{
	char letters[12];

	start();
	for (int i = 0; i < 1500; i++) {
		unsigned at = 0;

		for (int bit = 0; bit < 11; bit++)
			if (i >> bit & 1)
				letters[at++] = (char)('a' + bit);
		letters[at] = '\0';
		iteration(letters);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_sequence *sequence = sequence_of(0);
	REQUIRE(sequence);
	CHECK_EQ(sequence->count, 11);
	CHECK_EQ(sequence->changes, 1499);
	made_close(&made);
}

CHECK_MAIN
