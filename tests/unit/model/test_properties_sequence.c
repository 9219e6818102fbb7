/*
 * The operators of steps in order against lists of them, over random streams with steps of several
 * threads (random_steps.h).
 *
 * Which positions operators of different steps share is a matter of taste (sequence.h), so single
 * positions are not compared. By operator and phase the positions must add up to the calls of all
 * steps, and the operators of each step must lie in the line of positions in their order. Operators
 * of other threads, which a LINK names, are not drawn.
 */
#include "random_steps.h"

#include "model/core/share_names.h"
#include "model/sequence/sequence.h"

/* `meaning`: the phase of the operators in the range, or what else it is. */
enum { OTHER_RANGE = DW_IN_OTHER_PHASE + 1, OPERATION, PHASES = DW_IN_OTHER_PHASE + 1 };

static const struct random_name names[] = {
	{ .name = "op a", .category = DWELL_CATEGORY_OPERATOR, .meaning = OPERATION },
	{ .name = "op b", .category = DWELL_CATEGORY_OPERATOR, .meaning = OPERATION },
	{ .name = "op c", .category = DWELL_CATEGORY_OPERATOR, .meaning = OPERATION },
	{ .name = "op d", .category = DWELL_CATEGORY_OPERATOR, .meaning = OPERATION },
	{ .name = "c10d::x", .category = DWELL_CATEGORY_OPERATOR, .meaning = OPERATION },
	{ .name = "send", .category = DWELL_CATEGORY_COMMUNICATION, .meaning = OPERATION },
	{ .name = "zone a", .category = DWELL_CATEGORY_ZONE, .meaning = OTHER_RANGE },
	{ .name = "phase a", .category = DWELL_CATEGORY_PHASE, .meaning = OTHER_RANGE },
	{ .name = "net.a", .category = DWELL_CATEGORY_LAYER, .meaning = OTHER_RANGE },
	{ .name = "fn a", .category = DWELL_CATEGORY_FUNCTION, .meaning = OTHER_RANGE },
	{ .name = "forward", .category = DWELL_CATEGORY_PHASE, .meaning = DW_IN_FORWARD },
	{ .name = "backward", .category = DWELL_CATEGORY_ZONE, .meaning = DW_IN_BACKWARD },
	{ .name = "optimizer", .category = DWELL_CATEGORY_PHASE, .meaning = DW_IN_OTHER_PHASE },
	{ .name = "eval", .category = DWELL_CATEGORY_PHASE, .meaning = DW_IN_OTHER_PHASE },
};
enum { OPS = sizeof names / sizeof *names };

/* ---- the reference lists ----------------------------------------------------------------- */

/* A range of the thread that steps, with what is open when it begins. */
struct call {
	const struct range *range;
	enum dw_sequence_phase phase;
	/* For an operator: no open operator around it is outermost. One that began in an outermost
	 * operator and outlived it is not outermost. The same for a forward. */
	bool outermost;
};

struct sum {
	uint64_t iterations, calls, total, least, most;
};

static struct call *calls; /* by start */
static size_t call_count, call_capacity;
static struct lists {
	uint32_t thread;
	struct sum sums[OPS][PHASES];
	uint64_t iterations, skipped, incomplete, changes, last_index;
	uint64_t steps_ns, forward_ns;
	bool has_forward;
	/* The operators of the last complete step and of the one before it. */
	uint32_t *keys, *previous;
	size_t key_count, key_capacity, previous_count, previous_capacity;
	bool any;
} lists;

/* The thread that has most steps, of several the first. */
static bool sequence_find_thread(void)
{
	size_t counts[THREADS] = { 0 };

	for (size_t i = 0; i < random_step_count; i++)
		counts[random_steps[i].thread]++;
	lists.thread = 0;
	for (uint32_t thread = 1; thread < THREADS; thread++)
		if (counts[thread] > counts[lists.thread])
			lists.thread = thread;
	return counts[lists.thread] > 0;
}

static int sequence_compare_calls(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	return (a->range->start > b->range->start) - (a->range->start < b->range->start);
}

static bool sequence_is_around(const struct range *around, const struct range *range)
{
	return around->start < range->start && around->end >= range->start;
}

static void sequence_look_around(struct call *call)
{
	uint32_t meaning = names[call->range->op].meaning;

	call->outermost = true;
	for (const struct call *at = calls; at < call; at++) {
		uint32_t around = names[at->range->op].meaning;

		if (!sequence_is_around(at->range, call->range))
			continue;
		if (around <= DW_IN_OTHER_PHASE)
			call->phase = (enum dw_sequence_phase)around;
		if (around == meaning && at->outermost)
			call->outermost = false;
	}
}

static void sequence_find_calls(void)
{
	call_count = 0;
	for (size_t i = 0; i < reference.closed_count; i++) {
		const struct range *range = &reference.closed[i];

		if (range->thread != lists.thread || names[range->op].meaning == OTHER_RANGE)
			continue;
		calls = random_grow(calls, &call_capacity, call_count, sizeof *calls);
		calls[call_count++] = (struct call){ .range = range };
	}
	if (call_count)
		qsort(calls, call_count, sizeof *calls, sequence_compare_calls);
	for (size_t i = 0; i < call_count; i++)
		sequence_look_around(&calls[i]);
}

static bool sequence_is_operation(const struct call *call)
{
	return call->outermost && names[call->range->op].meaning == OPERATION;
}

/* Whether records of the thread are missing in the step, or the end of an operation that touches
 * it. */
static bool sequence_is_complete(const struct random_step *step)
{
	for (size_t i = 0; i < reference.missing_count; i++) {
		const struct missing *missing = &reference.missing[i];

		if (missing->thread == lists.thread && missing->ticks >= step->start &&
		    missing->ticks < step->end)
			return false;
	}
	for (size_t i = 0; i < call_count; i++) {
		const struct range *range = calls[i].range;

		if (sequence_is_operation(&calls[i]) && range->why != ENDED && range->start < step->end &&
		    range->end >= step->start)
			return false;
	}
	return true;
}

static uint32_t sequence_key(uint32_t op, enum dw_sequence_phase phase)
{
	return op * PHASES + phase;
}

static void sequence_add_call(const struct call *call, bool timed)
{
	struct sum *sum = &lists.sums[call->range->op][call->phase];
	uint64_t time = call->range->end - call->range->start;

	sum->iterations++;
	lists.keys = random_grow(lists.keys, &lists.key_capacity, lists.key_count, sizeof *lists.keys);
	lists.keys[lists.key_count++] = sequence_key(call->range->op, call->phase);
	if (!timed)
		return;
	if (!sum->calls || time < sum->least)
		sum->least = time;
	if (time > sum->most)
		sum->most = time;
	sum->calls++;
	sum->total += time;
}

static void sequence_add_step(const struct random_step *step, uint64_t index, bool timed)
{
	lists.key_count = 0;
	lists.last_index = index;
	for (size_t i = 0; i < call_count; i++) {
		const struct range *range = calls[i].range;

		if (range->start < step->start || range->start >= step->end || !calls[i].outermost)
			continue;
		if (names[range->op].meaning == OPERATION) {
			sequence_add_call(&calls[i], timed);
		} else if (names[range->op].meaning == DW_IN_FORWARD && range->why == ENDED &&
		           range->end <= step->end && timed) {
			lists.forward_ns += range->end - range->start;
			lists.has_forward = true;
		}
	}
	lists.iterations += timed;
	lists.skipped += !timed;
	lists.steps_ns += timed ? step->end - step->start : 0;
}

/* Whether the operators of the last step lie in the line in their order. */
static bool sequence_is_in_line(const struct dw_sequence *sequence, const uint32_t *line)
{
	size_t at = 0;

	for (uint32_t i = 0; i < sequence->count && at < lists.key_count; i++)
		at += line[i] == lists.keys[at];
	return at == lists.key_count;
}

static void sequence_compare_order(const struct dw_sequence *sequence, const uint32_t *line)
{
	bool same = lists.key_count == lists.previous_count &&
	            (!lists.key_count ||
	             memcmp(lists.keys, lists.previous, lists.key_count * sizeof *lists.keys) == 0);

	if (!sequence_is_in_line(sequence, line))
		CHECK_FAIL("the operators of step %" PRIu64 " do not lie in the line in their order",
		           lists.last_index);
	lists.changes += lists.any && !same;
	lists.any = true;
	lists.previous_count = 0;
	for (size_t i = 0; i < lists.key_count; i++) {
		lists.previous = random_grow(lists.previous, &lists.previous_capacity,
		                             lists.previous_count, sizeof *lists.previous);
		lists.previous[lists.previous_count++] = lists.keys[i];
	}
}

static void sequence_take_steps(const struct dw_sequence *sequence, const uint32_t *line,
                                uint64_t skip)
{
	uint64_t index = 0;

	for (size_t i = 0; i < random_step_count; i++) {
		const struct random_step *step = &random_steps[i];

		if (step->thread != lists.thread)
			continue;
		index++;
		if (!step->recorded)
			continue;
		if (step->open || step->start == step->end || !sequence_is_complete(step)) {
			lists.incomplete++;
			continue;
		}
		sequence_add_step(step, index - 1, index > skip);
		sequence_compare_order(sequence, line);
	}
}

/* ---- the comparison ---------------------------------------------------------------------- */

static uint32_t sequence_op(const struct dw_sequence_op *op)
{
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);

	for (uint32_t i = 0; i < OPS; i++)
		if (strcmp(symbols[op->symbol].name, names[i].name) == 0)
			return i;
	CHECK_FAIL("a position of '%s'", symbols[op->symbol].name);
	return 0;
}

static void sequence_compare_sums(const struct dw_sequence *sequence)
{
	struct sum sums[OPS][PHASES];

	memset(sums, 0, sizeof sums);
	for (uint32_t i = 0; i < sequence->count; i++) {
		const struct dw_sequence_op *op = &sequence->ops[i];
		struct sum *sum = &sums[sequence_op(op)][op->phase];

		sum->iterations += op->iterations;
		if (!op->stat.count)
			continue;
		if (!sum->calls || op->stat.min_ns < sum->least)
			sum->least = op->stat.min_ns;
		if (op->stat.max_ns > sum->most)
			sum->most = op->stat.max_ns;
		sum->calls += op->stat.count;
		sum->total += op->stat.total_ns;
	}
	for (uint32_t op = 0; op < OPS; op++)
		for (uint32_t phase = 0; phase < PHASES; phase++) {
			const struct sum *got = &sums[op][phase], *want = &lists.sums[op][phase];

			if (memcmp(got, want, sizeof *got) != 0)
				CHECK_FAIL("'%s' in phase %u: %" PRIu64 " steps %" PRIu64 " calls, total %" PRIu64
				           " min %" PRIu64 " max %" PRIu64 ", must be %" PRIu64 " %" PRIu64 " %" PRIu64
				           " %" PRIu64 " %" PRIu64, names[op].name, phase, got->iterations, got->calls,
				           got->total, got->least, got->most, want->iterations, want->calls,
				           want->total, want->least, want->most);
		}
}

/* Blocks ascend, do not touch, and repeat the same operators. */
static void sequence_compare_blocks(const struct dw_sequence *sequence, const uint32_t *line)
{
	uint32_t end = 0;

	for (uint32_t b = 0; b < sequence->block_count; b++) {
		const struct dw_sequence_block *block = &sequence->blocks[b];
		uint32_t count = block->length * block->repeats;

		CHECK(block->first >= end && block->length > 0 && block->repeats > 1);
		end = block->first + count;
		REQUIRE(end <= sequence->count);
		for (uint32_t i = block->first; i + block->length < end; i++)
			CHECK_EQ(line[i], line[i + block->length]);
		for (uint32_t i = 0; i < block->length; i++) {
			uint64_t calls_of_all = 0, total = 0;

			for (uint32_t at = block->first + i; at < end; at += block->length) {
				calls_of_all += sequence->ops[at].stat.count;
				total += sequence->ops[at].stat.total_ns;
			}
			CHECK_EQ(block->ops[i].stat.count, calls_of_all);
			CHECK_EQ(block->ops[i].stat.total_ns, total);
		}
	}
}

static void sequence_compare(void)
{
	struct dw_sequence_ask ask = { random_below(4) };
	const struct dw_sequence *sequence = dw_model_sequence(made.model, &ask, &made.error);
	uint32_t *line;

	REQUIRE(sequence != NULL);
	free(lists.keys);
	free(lists.previous);
	memset(&lists, 0, sizeof lists);
	if (!sequence_find_thread()) {
		CHECK_EQ(sequence->count, 0);
		return;
	}
	line = calloc(sequence->count + 1, sizeof *line);
	for (uint32_t i = 0; i < sequence->count; i++)
		line[i] = sequence_key(sequence_op(&sequence->ops[i]), sequence->ops[i].phase);
	sequence_find_calls();
	sequence_take_steps(sequence, line, ask.skip);
	CHECK_EQ(sequence->iterations, lists.iterations);
	CHECK_EQ(sequence->skipped, lists.skipped);
	CHECK_EQ(sequence->incomplete, lists.incomplete);
	CHECK_EQ(sequence->changes, lists.changes);
	CHECK_EQ(sequence->left_out, 0);
	CHECK_EQ(sequence->last_index, lists.last_index);
	if (lists.iterations) {
		CHECK_NEAR(sequence->iteration_ns, (double)lists.steps_ns / (double)lists.iterations, 0.01);
		CHECK_NEAR(sequence->forward_ns, (double)lists.forward_ns / (double)lists.iterations, 0.01);
		CHECK_EQ(sequence->has_forward, lists.has_forward);
	}
	sequence_compare_sums(sequence);
	sequence_compare_blocks(sequence, line);
	free(line);
}

TEST(sequences_agree_with_the_reference_lists)
{
	static const struct random_ask ask = { .names = names, .name_count = OPS, .others = 40,
		.draw_other = random_steps_draw, .draw_begin = random_steps_start };

	random_test(&ask, random_steps_open, sequence_compare, 150);
}

CHECK_MAIN
