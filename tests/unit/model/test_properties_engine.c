/*
 * Engines against lists of their times, over random streams (random_stream.h).
 *
 * Ranges of two engines (runs, events, handlers, processing, fetches) and their counters are drawn
 * without the order that a training loop has. Compared are, by event and handler: calls, total,
 * shortest and longest time with their iteration or epoch, of all runs and of the last one.
 */
#include "random_stream.h"

#include "model/engine/engine.h"

/* ---- drawing ----------------------------------------------------------------------------- */

enum { TRAINER, EVALUATOR, ENGINES };

/* `meaning` of a range. A time is an event's, a handler's or processing; so are these three: the
 * event STARTED begins a run, and a fetch counts when GET_BATCH_COMPLETED follows it. */
enum { NO_TIME, RUN, NESTED_RUN, TIME, START, FETCH, BATCH };

#define RANGE(of, called, detailed, means) \
	{ .name = called, .category = DWELL_CATEGORY_##of, .detail = detailed, .meaning = means }

static const struct random_name names[] = {
	RANGE(ZONE, "zone a", NULL, NO_TIME),
	RANGE(OPERATOR, "op a", NULL, NO_TIME),
	RANGE(FUNCTION, "fn a", NULL, NO_TIME),
	RANGE(ACTION, "run", "trainer", RUN),
	RANGE(ACTION, "processing", "trainer", TIME),
	RANGE(DATA, "dataflow", "trainer", FETCH),
	RANGE(EVENT, "STARTED", "trainer", START),
	RANGE(EVENT, "EPOCH_COMPLETED", "trainer", TIME),
	RANGE(EVENT, "ITERATION_COMPLETED", "trainer", TIME),
	RANGE(EVENT, "GET_BATCH_COMPLETED", "trainer", BATCH),
	RANGE(EVENT, "CUSTOM", "trainer", TIME),
	RANGE(HANDLER, "log", "trainer.ITERATION_COMPLETED", TIME),
	RANGE(HANDLER, "log", "trainer.EPOCH_COMPLETED", TIME),
	RANGE(HANDLER, "save", "trainer.EPOCH_COMPLETED", TIME),
	RANGE(EVALUATION, "run", "evaluator", NESTED_RUN),
	RANGE(ACTION, "processing", "evaluator", TIME),
	RANGE(EVENT, "STARTED", "evaluator", START),
	RANGE(EVENT, "COMPLETED", "evaluator", TIME),
	RANGE(HANDLER, "log", "evaluator.STARTED", TIME),
};
enum { OPS = sizeof names / sizeof *names };

static const char *const engine_names[ENGINES] = { "trainer", "evaluator" };

struct counter {
	uint64_t ticks, value;
	uint32_t stream, engine;
	bool epoch;
};

static struct counter *counters;
static size_t counter_count, counter_capacity;
static uint32_t counter_ids[ENGINES][2];

static void engine_draw_begin(void)
{
	counter_count = 0;
	for (uint32_t engine = 0; engine < ENGINES; engine++)
		for (uint32_t epoch = 0; epoch < 2; epoch++) {
			char name[64];

			snprintf(name, sizeof name, "%s.%s", engine_names[engine],
			         epoch ? "epoch" : "iteration");
			counter_ids[engine][epoch] =
			    dw_encode_op(&made.process, DWELL_CATEGORY_COUNTER, name, NULL, 0, NULL, 0);
		}
}

static void engine_draw_other(void)
{
	struct counter counter = { .ticks = random_next_time(), .value = random_below(1000),
		.stream = reference.stream, .engine = random_below(ENGINES), .epoch = random_below(2) };
	double value = (double)counter.value;

	dw_encode_record(random_stream(), counter.ticks, DW_COUNTER,
	                 counter_ids[counter.engine][counter.epoch], &value, 2);
	counters = random_grow(counters, &counter_capacity, counter_count, sizeof *counters);
	counters[counter_count++] = counter;
}

/* ---- the reference lists ----------------------------------------------------------------- */

static uint32_t engine_of(uint32_t op)
{
	return strncmp(names[op].detail, "evaluator", 9) == 0 ? EVALUATOR : TRAINER;
}

static bool engine_by_epoch(const char *event)
{
	return event && (strstr(event, "EPOCH_") || strcmp(event, "STARTED") == 0 ||
	                 strcmp(event, "COMPLETED") == 0);
}

/* The event of an event or a handler; NULL: it is of neither. */
static const char *engine_event(uint32_t op)
{
	if (names[op].category == DWELL_CATEGORY_HANDLER)
		return strchr(names[op].detail, '.') + 1;
	return names[op].category == DWELL_CATEGORY_EVENT ? names[op].name : NULL;
}

/* The last value of the engine's counter before the range began. */
static uint64_t engine_index(const struct range *range)
{
	bool epoch = engine_by_epoch(engine_event(range->op));
	uint64_t value = 0;

	for (size_t i = 0; i < counter_count; i++)
		if (counters[i].stream == range->stream && counters[i].engine == engine_of(range->op) &&
		    counters[i].epoch == epoch && counters[i].ticks < range->start)
			value = counters[i].value;
	return value;
}

static bool engine_is(const struct range *range, const struct range *like, uint32_t meaning)
{
	return names[range->op].meaning == meaning && range->stream == like->stream &&
	       engine_of(range->op) == engine_of(like->op);
}

/* The next thing after a fetch is its batch: no other fetch, no new run. */
static bool engine_has_batch(const struct range *fetch)
{
	uint64_t batch = UINT64_MAX;

	for (size_t i = 0; i < reference.closed_count; i++) {
		const struct range *range = &reference.closed[i];

		if (engine_is(range, fetch, BATCH) && range->start > fetch->end && range->start < batch)
			batch = range->start;
	}
	for (size_t i = 0; i < reference.closed_count; i++) {
		const struct range *range = &reference.closed[i];

		if (engine_is(range, fetch, FETCH) && range->why == ENDED && range->counts &&
		    range->end > fetch->end && range->end < batch)
			return false;
		if (engine_is(range, fetch, START) && range->start > fetch->end && range->start < batch)
			return false;
	}
	return batch != UINT64_MAX;
}

/* The run that a time is of: how many have started. */
static uint64_t engine_run(const struct range *time)
{
	uint64_t run = 0;

	for (size_t i = 0; i < reference.closed_count; i++)
		run += engine_is(&reference.closed[i], time, START) &&
		       reference.closed[i].start <= time->end;
	return run;
}

struct time {
	const struct range *range;
	uint64_t run;
};

static struct time *times; /* of one engine */
static size_t time_count, time_capacity;
static struct engine_sums {
	uint64_t runs, nested_runs, run_ns, open;
	uint64_t last_run[2]; /* by stream */
} sums;

static void engine_take_range(const struct range *range)
{
	uint32_t meaning = names[range->op].meaning;

	if (meaning == RUN)
		sums.run_ns += range->end - range->start;
	sums.nested_runs += meaning == NESTED_RUN;
	if (meaning <= NESTED_RUN)
		return;
	if (range->why != ENDED) {
		sums.open++;
		return;
	}
	if (meaning == FETCH && !engine_has_batch(range))
		return;
	times = random_grow(times, &time_capacity, time_count, sizeof *times);
	times[time_count++] = (struct time){ range, engine_run(range) };
}

static void engine_find_times(uint32_t engine)
{
	time_count = 0;
	memset(&sums, 0, sizeof sums);
	for (size_t i = 0; i < reference.closed_count; i++) {
		const struct range *range = &reference.closed[i];

		if (range->counts && names[range->op].meaning != NO_TIME && engine_of(range->op) == engine)
			engine_take_range(range);
	}
	for (size_t i = 0; i < time_count; i++) {
		uint32_t stream = times[i].range->stream;
		bool known = false;

		if (times[i].run > sums.last_run[stream])
			sums.last_run[stream] = times[i].run;
		for (size_t at = 0; at < i; at++)
			known |= times[at].range->stream == stream && times[at].run == times[i].run;
		sums.runs += !known;
	}
}

/* ---- the comparison ---------------------------------------------------------------------- */

static bool engine_is_row(uint32_t op, const struct dw_engine_row *row, size_t index)
{
	const char *event = engine_event(op);
	bool handler = names[op].category == DWELL_CATEGORY_HANDLER;

	if (!event)
		return names[op].meaning == (index == DW_ENGINE_DATAFLOW ? FETCH : TIME) && !row->event;
	return row->event && strcmp(row->event, event) == 0 && handler == (row->handler != NULL) &&
	       (!handler || strcmp(row->handler, names[op].name) == 0);
}

static void engine_compare_row(const struct dw_engine *engine, size_t index, bool last_run)
{
	const struct dw_engine_row *row = &engine->rows[index];
	uint64_t count = 0, total = 0, least = UINT64_MAX, most = 0, min_index = 0, max_index = 0;
	const struct dw_time_stat *stat = &row->stat;

	for (size_t i = 0; i < time_count; i++) {
		const struct range *range = times[i].range;
		uint64_t time = range->end - range->start;

		if (!engine_is_row(range->op, row, index) ||
		    (last_run && times[i].run != sums.last_run[range->stream]))
			continue;
		count++;
		total += time;
		if (time < least) {
			least = time;
			min_index = engine_index(range);
		}
		if (count == 1 || time > most) {
			most = time;
			max_index = engine_index(range);
		}
	}
	if (stat->count != count || fabs(stat->total * 1e9 - (double)total) > 0.001 * (double)count ||
	    (count && (fabs(stat->min * 1e9 - (double)least) > 0.001 ||
	               fabs(stat->max * 1e9 - (double)most) > 0.001 || stat->min_index != min_index ||
	               stat->max_index != max_index)))
		CHECK_FAIL("%s, row %zu%s: %" PRIu64 " calls total %.3f min %.3f (%" PRIu64
		           ") max %.3f (%" PRIu64 "), must be %" PRIu64 " %" PRIu64 " %" PRIu64 " (%" PRIu64
		           ") %" PRIu64 " (%" PRIu64 ")", engine->name, index, last_run ? " of last run" : "",
		           stat->count, stat->total * 1e9, stat->min * 1e9, stat->min_index,
		           stat->max * 1e9, stat->max_index, count, total, least, min_index, most,
		           max_index);
}

static size_t engine_row_count(const struct dw_engine *engine)
{
	return DW_ENGINE_EVENTS + engine->event_count + engine->handler_count;
}

struct seen {
	uint64_t count, ns, indices;
};

static int engine_see_time(void *context, const struct dw_engine_time *time)
{
	struct seen *seen = (struct seen *)context + time->row;

	seen->count++;
	seen->ns += time->ns;
	return 0;
}

/* Single times add up to the rows. */
static void engine_compare_times(const struct dw_engine *engine)
{
	struct seen seen[OPS + DW_ENGINE_EVENTS] = { { 0 } };

	CHECK_EQ(dw_model_engine_times(made.model, engine, engine_see_time, seen, &made.error), 0);
	for (size_t i = 0; i < engine_row_count(engine); i++) {
		CHECK_EQ(seen[i].count, engine->rows[i].stat.count);
		CHECK_NEAR((double)seen[i].ns, engine->rows[i].stat.total * 1e9,
		           0.001 * (double)seen[i].count);
	}
}

static void engine_compare_runs(uint32_t which, enum dw_engine_runs runs)
{
	const struct dw_engine *engine =
	    dw_model_engine(made.model, engine_names[which], runs, &made.error);

	REQUIRE(engine != NULL);
	CHECK_EQ(engine->event_count, which == TRAINER ? 5 : 2);
	CHECK_EQ(engine->handler_count, which == TRAINER ? 3 : 1);
	CHECK_EQ(engine->runs, sums.runs);
	CHECK_EQ(engine->nested_runs, sums.nested_runs);
	CHECK_EQ(engine->run_ns, sums.run_ns);
	CHECK_EQ(engine->open, sums.open);
	for (size_t i = 0; i < engine_row_count(engine); i++)
		engine_compare_row(engine, i, runs == DW_ENGINE_LAST_RUN);
	if (runs == DW_ENGINE_ALL_RUNS)
		engine_compare_times(engine);
}

static void engine_compare(void)
{
	for (uint32_t engine = 0; engine < ENGINES; engine++) {
		engine_find_times(engine);
		engine_compare_runs(engine, DW_ENGINE_ALL_RUNS);
		engine_compare_runs(engine, DW_ENGINE_LAST_RUN);
	}
}

TEST(engines_agree_with_the_reference_lists)
{
	static const struct random_ask ask = { .names = names, .name_count = OPS, .others = 60,
		.draw_other = engine_draw_other, .draw_begin = engine_draw_begin, .windows = true };

	random_test(&ask, NULL, engine_compare, 60);
}

CHECK_MAIN
