/*
 * Steps and their parts against a reference division, over random streams with steps of several
 * threads (random_steps.h).
 *
 * The reference cuts a step where a range begins or ends, and divides it by the table in
 * doc/reference/figures.md: at each moment the first row that applies has the time.
 */
#include "random_steps.h"

#include "model/joint/joint.h"
#include "model/steps/steps.h"

/* ---- drawing ----------------------------------------------------------------------------- */

/* `meaning`: the row of the table that the range's name or category has there; NO_ROW: none, and the
 * category decides. */
enum { NO_ROW = DW_SHARE_COUNT };

static const struct random_name names[] = {
	{ .name = "zone a", .category = DWELL_CATEGORY_ZONE, .meaning = NO_ROW },
	{ .name = "phase a", .category = DWELL_CATEGORY_PHASE, .meaning = NO_ROW },
	{ .name = "phase b", .category = DWELL_CATEGORY_PHASE, .meaning = NO_ROW },
	{ .name = "event", .category = DWELL_CATEGORY_EVENT, .meaning = NO_ROW },
	{ .name = "handler", .category = DWELL_CATEGORY_HANDLER, .meaning = NO_ROW },
	{ .name = "action", .category = DWELL_CATEGORY_ACTION, .meaning = NO_ROW },
	{ .name = "op a", .category = DWELL_CATEGORY_OPERATOR, .meaning = NO_ROW },
	{ .name = "op b", .category = DWELL_CATEGORY_OPERATOR, .meaning = NO_ROW },
	{ .name = "op c", .category = DWELL_CATEGORY_OPERATOR, .meaning = NO_ROW },
	{ .name = "net.a", .category = DWELL_CATEGORY_LAYER, .meaning = NO_ROW },
	{ .name = "fn a", .category = DWELL_CATEGORY_FUNCTION, .meaning = NO_ROW },
	{ .name = "forward", .category = DWELL_CATEGORY_PHASE, .meaning = DW_SHARE_FORWARD },
	{ .name = "Backward", .category = DWELL_CATEGORY_ZONE, .meaning = DW_SHARE_BACKWARD },
	{ .name = "backward", .category = DWELL_CATEGORY_PHASE, .meaning = DW_SHARE_BACKWARD },
	{ .name = "optimizer", .category = DWELL_CATEGORY_PHASE, .meaning = DW_SHARE_OPTIMIZER },
	{ .name = "eval", .category = DWELL_CATEGORY_ZONE, .meaning = DW_SHARE_EVALUATION },
	{ .name = "checkpoint", .category = DWELL_CATEGORY_CHECKPOINT, .meaning = DW_SHARE_CHECKPOINT },
	{ .name = "memcpy", .category = DWELL_CATEGORY_DEVICE, .meaning = DW_SHARE_DEVICE },
	{ .name = "c10d::x", .category = DWELL_CATEGORY_OPERATOR, .meaning = DW_SHARE_COMMUNICATION },
	{ .name = "send", .category = DWELL_CATEGORY_COMMUNICATION, .meaning = DW_SHARE_COMMUNICATION },
	{ .name = "data loading", .category = DWELL_CATEGORY_ZONE, .meaning = DW_SHARE_DATA },
	{ .name = "collect", .category = DWELL_CATEGORY_COLLECTOR, .meaning = DW_SHARE_COLLECTOR },
	{ .name = "write", .category = DWELL_CATEGORY_PROFILER, .meaning = DW_SHARE_PROFILER },
};
enum { OPS = sizeof names / sizeof *names };

static bool python;

static void steps_draw_begin(void)
{
	random_steps_start();
	python = random_below(2);
	dw_encode_process_entry(&made.process)->flags = python ? DW_PROCESS_PYTHON : 0;
}

static bool steps_has_steps(uint32_t thread)
{
	for (size_t i = 0; i < random_step_count; i++)
		if (random_steps[i].thread == thread)
			return true;
	return false;
}

/* ---- the reference division of a step ---------------------------------------------------- */

static struct division {
	uint64_t shares[DW_SHARE_COUNT], parts[OPS], helped;
	uint64_t sum_shares[DW_SHARE_COUNT], sum_parts[OPS]; /* of the counted steps */
	uint64_t all_helped;
} division;

/* What touches the step: ranges of its own thread by start, and ranges of threads without steps
 * that communicate or run operators. */
static const struct range **own, **others;
static size_t own_count, own_capacity, other_count, other_capacity;
static uint64_t *borders;
static size_t border_count, border_capacity;

static bool helps[THREADS];

static int steps_compare_starts(const void *left, const void *right)
{
	const struct range *a = *(const struct range *const *)left;
	const struct range *b = *(const struct range *const *)right;

	return (a->start > b->start) - (a->start < b->start);
}

static int steps_compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void steps_add_border(const struct random_step *step, uint64_t ticks)
{
	if (ticks < step->start || ticks > step->end)
		return;
	borders = random_grow(borders, &border_capacity, border_count, sizeof *borders);
	borders[border_count++] = ticks;
}

static bool steps_is_help(const struct range *range)
{
	return helps[range->thread] && (names[range->op].meaning == DW_SHARE_COMMUNICATION ||
	                                names[range->op].category == DWELL_CATEGORY_OPERATOR);
}

static void steps_find_ranges(const struct random_step *step)
{
	own_count = other_count = border_count = 0;
	for (size_t i = 0; i < reference.closed_count; i++) {
		const struct range *range = &reference.closed[i];

		if (range->start >= step->end || range->end <= step->start)
			continue;
		if (range->thread == step->thread) {
			own = random_grow(own, &own_capacity, own_count, sizeof *own);
			own[own_count++] = range;
		} else if (steps_is_help(range)) {
			others = random_grow(others, &other_capacity, other_count, sizeof *others);
			others[other_count++] = range;
		} else {
			continue;
		}
		steps_add_border(step, range->start);
		steps_add_border(step, range->end);
	}
	steps_add_border(step, step->start);
	steps_add_border(step, step->end);
	if (own_count)
		qsort(own, own_count, sizeof *own, steps_compare_starts);
	qsort(borders, border_count, sizeof *borders, steps_compare_times);
}

/* What is open from `from` to `to`. */
struct moment {
	const struct random_step *step;
	uint64_t from, to;
	uint32_t set;                /* rows of the table that ranges stand for, as bits */
	bool operator, layer, function;
	const struct range *phase, *named; /* outermost ones that began in the step */
	const struct range *around;  /* innermost one that began before it */
	uint32_t innermost;          /* of optimizer, backward and forward; or NO_ROW */
	bool other_communicates, other_operates;
};

static void steps_add_named(struct moment *moment, const struct range *range)
{
	bool phase = names[range->op].category == DWELL_CATEGORY_PHASE;

	if (range->start < moment->step->start)
		moment->around = range;
	else if (phase && !moment->phase)
		moment->phase = range;
	else if (!phase && !moment->named)
		moment->named = range;
}

static void steps_add_range(struct moment *moment, const struct range *range)
{
	const struct random_name *name = &names[range->op];

	if (name->meaning != NO_ROW)
		moment->set |= 1u << name->meaning;
	if (name->meaning >= DW_SHARE_OPTIMIZER && name->meaning <= DW_SHARE_FORWARD)
		moment->innermost = name->meaning;
	switch (name->category) {
	case DWELL_CATEGORY_OPERATOR: moment->operator = true; break;
	case DWELL_CATEGORY_LAYER: moment->layer = true; break;
	case DWELL_CATEGORY_FUNCTION: moment->function = true; break;
	case DWELL_CATEGORY_PHASE:
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_ACTION:
	case DWELL_CATEGORY_EVENT:
	case DWELL_CATEGORY_HANDLER:
		if (name->meaning == NO_ROW)
			steps_add_named(moment, range);
		break;
	default: break;
	}
}

static struct moment steps_find_moment(const struct random_step *step, uint64_t from, uint64_t to)
{
	struct moment moment = { .step = step, .from = from, .to = to, .innermost = NO_ROW };

	for (size_t i = 0; i < own_count && own[i]->start <= from; i++)
		if (own[i]->end >= to)
			steps_add_range(&moment, own[i]);
	for (size_t i = 0; i < other_count; i++)
		if (others[i]->start <= from && others[i]->end >= to) {
			bool communicates = names[others[i]->op].meaning == DW_SHARE_COMMUNICATION;

			moment.other_communicates |= communicates;
			moment.other_operates |= !communicates;
		}
	return moment;
}

#define ROW(share) (1u << DW_SHARE_##share)

/* The rows "your own names" and below; `range` has the name. */
static enum dw_share steps_lower_row(const struct moment *moment, const struct range **range)
{
	*range = moment->phase ? moment->phase : moment->named;
	if (*range)
		return DW_SHARE_NAMED;
	if (moment->operator)
		return DW_SHARE_OPERATORS;
	if (moment->layer)
		return DW_SHARE_LAYERS;
	if (moment->function)
		return DW_SHARE_FUNCTIONS;
	*range = moment->around;
	return *range ? DW_SHARE_NAMED : DW_SHARE_OTHER;
}

static enum dw_share steps_row(const struct moment *moment, const struct range **range)
{
	const uint32_t phases = ROW(EVALUATION) | ROW(OPTIMIZER) | ROW(BACKWARD) | ROW(FORWARD);
	uint32_t set = moment->set;

	*range = NULL;
	/* Of an optimizer and a forward or backward at once the innermost has the time. */
	if (set & ROW(OPTIMIZER) && moment->innermost != DW_SHARE_OPTIMIZER)
		set &= ~ROW(OPTIMIZER);
	else if (set & ROW(OPTIMIZER))
		set &= ~(ROW(BACKWARD) | ROW(FORWARD));
	for (uint32_t row = 0; row < DW_SHARE_EVALUATION; row++)
		if (set & 1u << row)
			return (enum dw_share)row;
	if (set & ROW(BACKWARD) && !moment->operator) { /* it may wait for another thread */
		if (moment->other_communicates)
			return DW_SHARE_COMMUNICATION;
		if (moment->other_operates) {
			division.helped += moment->to - moment->from;
			return DW_SHARE_BACKWARD;
		}
	}
	if (python && set & phases && !moment->operator)
		return DW_SHARE_PYTHON;
	for (uint32_t row = DW_SHARE_EVALUATION; row <= DW_SHARE_FORWARD; row++)
		if (set & 1u << row)
			return (enum dw_share)row;
	return steps_lower_row(moment, range);
}

static void steps_divide(const struct random_step *step)
{
	memset(division.shares, 0, sizeof division.shares);
	memset(division.parts, 0, sizeof division.parts);
	division.helped = 0;
	steps_find_ranges(step);
	for (size_t i = 0; i + 1 < border_count; i++) {
		struct moment moment;
		const struct range *range;
		enum dw_share share;

		if (borders[i] == borders[i + 1])
			continue;
		moment = steps_find_moment(step, borders[i], borders[i + 1]);
		share = steps_row(&moment, &range);
		division.shares[share] += moment.to - moment.from;
		if (range)
			division.parts[range->op] += moment.to - moment.from;
	}
}

/* ---- comparing steps --------------------------------------------------------------------- */

static const char *const share_labels[] = {
#define X(name, label) label,
	DW_SHARES(X)
#undef X
};

static uint64_t steps_part_of(const struct dw_step_part *parts, size_t count, uint32_t op)
{
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);
	uint64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		if (strcmp(symbols[parts[i].symbol].name, names[op].name) == 0)
			ns += parts[i].ns;
	return ns;
}

static void steps_compare_step(const struct dw_step *got, const struct random_step *want)
{
	uint64_t sum = 0, parts = 0;

	steps_divide(want);
	CHECK_EQ(got->start_ns, want->start);
	CHECK_EQ(got->end_ns, want->end);
	CHECK_EQ(got->open, want->open);
	CHECK_EQ(got->recorded, want->recorded);
	for (uint32_t share = 0; share < DW_SHARE_COUNT; share++) {
		sum += got->share_ns[share];
		CHECK(got->share_ns[share] <= got->end_ns - got->start_ns);
		if (got->share_ns[share] != division.shares[share])
			CHECK_FAIL("step %" PRIu64 " of thread %u from %" PRIu64 " to %" PRIu64 ": %s is %" PRIu64
			           ", not %" PRIu64, want->number, want->thread, want->start, want->end,
			           share_labels[share], got->share_ns[share], division.shares[share]);
		division.sum_shares[share] += got->counted ? division.shares[share] : 0;
	}
	CHECK_EQ(sum, got->end_ns - got->start_ns);
	for (uint32_t i = 0; i < got->part_count; i++)
		parts += got->parts[i].ns;
	CHECK_EQ(parts, got->share_ns[DW_SHARE_NAMED]);
	for (uint32_t op = 0; op < OPS; op++) {
		CHECK_EQ(steps_part_of(got->parts, got->part_count, op), division.parts[op]);
		division.sum_parts[op] += got->counted ? division.parts[op] : 0;
	}
	division.all_helped += division.helped;
}

/* Of which steps the figures a step are: of those that ended, that were recorded, and of which no
 * record is missing. Where no step ended, those that did not end count too. Only traces in which
 * nothing is missing tell exactly which steps those are. */
static void steps_compare_counted(const struct dw_steps *got, const struct dw_step *step,
                                  const struct random_step *want)
{
	bool may_count = want->recorded && (!want->open || got->open_count == got->count);

	CHECK(!step->counted || (may_count && step->whole));
	if (!reference.missing_count)
		CHECK_EQ(step->counted, may_count);
}

static void steps_compare_lengths(const struct dw_steps *got)
{
	uint64_t *lengths = calloc(random_step_count + 1, sizeof *lengths);
	size_t count = 0;

	for (size_t i = 0; i < random_step_count; i++)
		if (!random_steps[i].open || got->open_count == random_step_count)
			lengths[count++] = random_steps[i].end - random_steps[i].start;
	qsort(lengths, count, sizeof *lengths, steps_compare_times);
	CHECK_EQ(got->ended_count, count);
	/* nearest rank: at least half of the lengths are not longer */
	if (count)
		CHECK_EQ(got->p50_ns, lengths[(count + 1) / 2 - 1]);
	free(lengths);
}

static void steps_compare_sums(const struct dw_steps *got)
{
	uint64_t wall = 0, all = 0, expected = 0;

	for (size_t i = 0; i < got->count; i++)
		wall += got->steps[i].end_ns - got->steps[i].start_ns;
	CHECK_EQ(got->steps_ns, wall);
	for (size_t i = 0; i < got->beside_count; i++)
		wall += got->besides[i].ns;
	CHECK_EQ(got->wall_ns, wall);
	for (uint32_t share = 0; share < DW_SHARE_COUNT; share++) {
		CHECK_EQ(got->share_ns[share], division.sum_shares[share]);
		all += got->share_ns[share];
	}
	CHECK_EQ(got->recorded_ns, all);
	for (uint32_t op = 0; op < OPS; op++) {
		CHECK_EQ(steps_part_of(got->parts, got->part_count, op), division.sum_parts[op]);
		expected += division.sum_parts[op];
	}
	CHECK_EQ(got->share_ns[DW_SHARE_NAMED], expected);
	CHECK_EQ(got->helped_ns, division.all_helped);
}

/* ---- the joint walk ---------------------------------------------------------------------- */

static void steps_compare_rows(const struct dw_loop_row *got, const struct dw_loop_row *want,
                               size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CHECK_EQ(got[i].symbol, want[i].symbol);
		CHECK_EQ(got[i].ns, want[i].ns);
		CHECK_EQ(got[i].count, want[i].count);
	}
}

static void steps_compare_loops(const struct dw_loop *got, const struct dw_loop *want)
{
	for (uint32_t share = 0; share < DW_SHARE_COUNT; share++) {
		CHECK_EQ(got->outside_ns[share], want->outside_ns[share]);
		CHECK_EQ(got->outside_counts[share], want->outside_counts[share]);
	}
	REQUIRE(got->outside_row_count == want->outside_row_count &&
	        got->operator_count == want->operator_count);
	steps_compare_rows(got->outside_rows, want->outside_rows, got->outside_row_count);
	steps_compare_rows(got->operators, want->operators, got->operator_count);
}

/* Steps of a joint walk, over segments or for summaries of ranks, are those of a walk for the steps alone. */
static void steps_compare_joint(const struct dw_steps *want, bool ranks)
{
	const struct dw_steps *got;
	struct dw_model *model = NULL;

	REQUIRE(dw_model_create(&model, dw_model_source(made.model), dw_model_scope(made.model),
	                        &made.error) == 0);
	model->segment_chunks = random_below(4);
	CHECK_EQ(ranks ? dw_model_compute_ranks_together(model, &made.error)
	               : dw_model_compute_together(&model, 1, true, &made.error), 0);
	got = dw_model_steps(model, &made.error);
	REQUIRE(got != NULL && got->count == want->count && got->beside_count == want->beside_count);
	for (size_t i = 0; i < got->count; i++) {
		const struct dw_step *a = &got->steps[i], *b = &want->steps[i];

		CHECK(memcmp(a->share_ns, b->share_ns, sizeof a->share_ns) == 0);
		CHECK(memcmp(a->whole_ns, b->whole_ns, sizeof a->whole_ns) == 0);
		CHECK_EQ(a->operator_ns, b->operator_ns);
		CHECK_EQ(a->operator_count, b->operator_count);
		CHECK_EQ(a->optimizer_count, b->optimizer_count);
		CHECK_EQ(a->helped_ns, b->helped_ns);
		CHECK_EQ(a->slow_symbol, b->slow_symbol);
		REQUIRE(a->part_count == b->part_count);
		for (uint32_t part = 0; part < a->part_count; part++)
			CHECK_EQ(a->parts[part].symbol, b->parts[part].symbol);
	}
	for (size_t i = 0; i < got->beside_count; i++) {
		CHECK_STR(got->besides[i].name, want->besides[i].name);
		CHECK_EQ(got->besides[i].ns, want->besides[i].ns);
		CHECK_EQ(got->besides[i].count, want->besides[i].count);
	}
	for (size_t i = 0; i < got->thread_count; i++)
		steps_compare_loops(&got->loops[i], &want->loops[i]);
	dw_model_destroy(model);
}

static void steps_compare(void)
{
	const struct dw_steps *got = dw_model_steps(made.model, &made.error);

	REQUIRE(got != NULL);
	memset(&division, 0, sizeof division);
	for (uint32_t thread = 0; thread < THREADS; thread++)
		helps[thread] = !steps_has_steps(thread);
	CHECK_EQ(got->count, random_step_count);
	for (size_t i = 0; i < got->count; i++) {
		const struct random_step *want = NULL;

		for (size_t s = 0; s < random_step_count; s++)
			if (random_steps[s].thread == got->steps[i].thread &&
			    random_steps[s].number == got->steps[i].number)
				want = &random_steps[s];
		REQUIRE(want != NULL);
		steps_compare_step(&got->steps[i], want);
		steps_compare_counted(got, &got->steps[i], want);
	}
	steps_compare_lengths(got);
	steps_compare_sums(got);
	steps_compare_joint(got, false);
	steps_compare_joint(got, true);
}

TEST(steps_agree_with_the_reference_division)
{
	static const struct random_ask ask = { .names = names, .name_count = OPS, .others = 40,
		.draw_other = random_steps_draw, .draw_begin = steps_draw_begin };

	random_test(&ask, random_steps_open, steps_compare, 150);
}

CHECK_MAIN
