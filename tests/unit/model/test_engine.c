/* Engines: rows of processing, data, events and handlers; runs, nested runs, single times. */
#include "made.h"

#include "model/engine/engine.h"

static struct made made;

static uint32_t op(uint32_t category, const char *name, const char *detail)
{
	return dw_encode_op(&made.process, category, name, detail, 0, NULL, 0);
}

static void range(uint64_t from, uint64_t to, uint32_t id)
{
	dw_encode_begin(&made.stream, from, id);
	dw_encode_end(&made.stream, to);
}

static void count(uint64_t ticks, uint32_t id, double value)
{
	dw_encode_record(&made.stream, ticks, DW_COUNTER, id, &value, 2);
}

static struct { uint32_t run, started, completed, batch, handler, processing, dataflow, iteration, epoch; } ids;

static void name_trainer(void)
{
	ids.run = op(DWELL_CATEGORY_ACTION, "run", "trainer");
	ids.completed = op(DWELL_CATEGORY_EVENT, "ITERATION_COMPLETED", "trainer");
	ids.started = op(DWELL_CATEGORY_EVENT, "STARTED", "trainer");
	ids.batch = op(DWELL_CATEGORY_EVENT, "GET_BATCH_COMPLETED", "trainer");
	ids.handler = op(DWELL_CATEGORY_HANDLER, "log_loss", "trainer.ITERATION_COMPLETED");
	ids.processing = op(DWELL_CATEGORY_ACTION, "processing", "trainer");
	ids.dataflow = op(DWELL_CATEGORY_DATA, "dataflow", "trainer");
	ids.iteration = op(DWELL_CATEGORY_COUNTER, "trainer.iteration", NULL);
	ids.epoch = op(DWELL_CATEGORY_COUNTER, "trainer.epoch", NULL);
}

/* A run of two iterations: fetches of 3, processing of `took` and one more, handlers of 5. */
static uint64_t put_run(uint64_t at, uint64_t took)
{
	dw_encode_begin(&made.stream, at, ids.run);
	count(at, ids.epoch, 1);
	range(at, at + 1, ids.started);
	for (uint64_t i = 1; i <= 2; i++) {
		uint64_t start = at + 100 * i;

		count(start, ids.iteration, (double)i);
		range(start, start + 3, ids.dataflow);
		range(start + 3, start + 4, ids.batch);
		range(start + 10, start + 10 + took + i, ids.processing);
		dw_encode_begin(&made.stream, start + 60, ids.completed);
		range(start + 61, start + 66, ids.handler);
		dw_encode_end(&made.stream, start + 67);
	}
	range(at + 300, at + 309, ids.dataflow); /* the data ended: no batch */
	dw_encode_end(&made.stream, at + 400);
	return at + 400;
}

TEST(rows_come_in_ignites_order)
{
	made_init(&made);
	name_trainer();
	put_run(1000, 20);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_engine *engine =
	    dw_model_engine(made.model, NULL, DW_ENGINE_ALL_RUNS, &made.error);

	REQUIRE(engine != NULL);
	CHECK_STR(engine->name, "trainer");
	CHECK_EQ(engine->event_count, 3);
	CHECK_EQ(engine->handler_count, 1);
	CHECK_EQ(engine->runs, 1);
	CHECK_EQ(engine->run_ns, 400);
	CHECK_EQ(engine->open, 0);
	/* STARTED is number 2, ITERATION_COMPLETED 5, GET_BATCH_COMPLETED 8 */
	CHECK_STR(engine->rows[DW_ENGINE_EVENTS].event, "STARTED");
	CHECK(engine->rows[DW_ENGINE_EVENTS].by_epoch);
	CHECK_STR(engine->rows[DW_ENGINE_EVENTS + 1].event, "ITERATION_COMPLETED");
	CHECK_STR(engine->rows[DW_ENGINE_EVENTS + 2].event, "GET_BATCH_COMPLETED");
	CHECK_STR(dw_engine_handlers(engine)->handler, "log_loss");
	CHECK_STR(dw_engine_handlers(engine)->event, "ITERATION_COMPLETED");
	made_close(&made);
}

TEST(times_are_summed_by_row)
{
	made_init(&made);
	name_trainer();
	put_run(1000, 20);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_engine *engine =
	    dw_model_engine(made.model, "trainer", DW_ENGINE_ALL_RUNS, &made.error);

	REQUIRE(engine != NULL);
	const struct dw_time_stat *processing = &engine->rows[DW_ENGINE_PROCESSING].stat;
	const struct dw_time_stat *dataflow = &engine->rows[DW_ENGINE_DATAFLOW].stat;

	CHECK_EQ(processing->count, 2);
	CHECK_NEAR(processing->total, 43e-9, 1e-15);
	CHECK_NEAR(processing->min, 21e-9, 1e-15);
	CHECK_EQ(processing->min_index, 1);
	CHECK_EQ(processing->max_index, 2);
	CHECK_NEAR(processing->mean, 21.5e-9, 1e-15);
	CHECK_NEAR(dw_time_stat_std(processing), 0.70710678e-9, 1e-15);
	CHECK_EQ(dataflow->count, 2); /* not the fetch without a batch */
	CHECK_NEAR(dataflow->total, 6e-9, 1e-15);
	CHECK_EQ(dw_engine_handlers(engine)->stat.count, 2);
	CHECK_NEAR(dw_engine_handlers(engine)->stat.total, 10e-9, 1e-15);
	CHECK_NEAR(engine->rows[DW_ENGINE_EVENTS + 1].stat.total, 14e-9, 1e-15);
	made_close(&made);
}

TEST(the_last_run_alone)
{
	made_init(&made);
	name_trainer();
	put_run(1000, 20);
	put_run(2000, 30);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_engine *all = dw_model_engine(made.model, NULL, DW_ENGINE_ALL_RUNS, &made.error);
	const struct dw_engine *last =
	    dw_model_engine(made.model, NULL, DW_ENGINE_LAST_RUN, &made.error);

	REQUIRE(all && last && all != last);
	CHECK_EQ(all->runs, 2);
	CHECK_EQ(all->rows[DW_ENGINE_PROCESSING].stat.count, 4);
	CHECK_NEAR(all->rows[DW_ENGINE_PROCESSING].stat.total, 106e-9, 1e-15);
	CHECK_EQ(last->rows[DW_ENGINE_PROCESSING].stat.count, 2);
	CHECK_NEAR(last->rows[DW_ENGINE_PROCESSING].stat.total, 63e-9, 1e-15);
	made_close(&made);
}

/* An evaluator that runs inside the trainer's run comes second, and its runs are nested ones. */
TEST(nested_runs_count_apart)
{
	size_t names;

	made_init(&made);
	name_trainer();
	uint32_t started = op(DWELL_CATEGORY_EVENT, "STARTED", "evaluator");
	uint32_t run = op(DWELL_CATEGORY_EVALUATION, "run", "evaluator");

	dw_encode_begin(&made.stream, 900, ids.run);
	dw_encode_begin(&made.stream, 910, run);
	range(911, 915, started);
	dw_encode_end(&made.stream, 950);
	dw_encode_end(&made.stream, 1900);
	REQUIRE(made_open(&made, NULL) == 0);
	const char *const *list = dw_model_engine_names(made.model, &names);

	REQUIRE(list && names == 2);
	CHECK_STR(list[0], "trainer");
	CHECK_STR(list[1], "evaluator");
	const struct dw_engine *engine =
	    dw_model_engine(made.model, "evaluator", DW_ENGINE_ALL_RUNS, &made.error);

	REQUIRE(engine != NULL);
	CHECK_EQ(engine->nested_runs, 1);
	CHECK_EQ(engine->run_ns, 0);
	made_close(&made);
}

/* A run's last fetch, which gave no batch, does not wait for the batch of the next run. */
TEST(a_fetch_without_a_batch_ends_with_its_run)
{
	made_init(&made);
	name_trainer();
	put_run(1000, 20);
	range(2000, 2001, ids.started); /* the fetch of this run's batch is missing */
	range(2100, 2101, ids.batch);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_engine *engine =
	    dw_model_engine(made.model, NULL, DW_ENGINE_ALL_RUNS, &made.error);

	REQUIRE(engine != NULL);
	CHECK_EQ(engine->rows[DW_ENGINE_DATAFLOW].stat.count, 2);
	CHECK_EQ(engine->runs, 2);
	engine = dw_model_engine(made.model, NULL, DW_ENGINE_LAST_RUN, &made.error);
	REQUIRE(engine != NULL);
	CHECK_EQ(engine->rows[DW_ENGINE_DATAFLOW].stat.count, 0);
	CHECK_EQ(engine->rows[DW_ENGINE_EVENTS].stat.count, 1);
	made_close(&made);
}

static int take_time(void *context, const struct dw_engine_time *time)
{
	struct dw_engine_time **to = context;

	*(*to)++ = *time;
	return 0;
}

TEST(single_times_know_their_iteration)
{
	struct dw_engine_time times[32], *to = times;
	size_t processing = 0;

	made_init(&made);
	name_trainer();
	put_run(1000, 20);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_engine *engine =
	    dw_model_engine(made.model, NULL, DW_ENGINE_ALL_RUNS, &made.error);

	REQUIRE(engine && dw_model_engine_times(made.model, engine, take_time, &to, &made.error) == 0);
	CHECK_EQ(to - times, 1 + 2 * 5); /* STARTED; fetch, batch, processing, handler, event twice */
	for (struct dw_engine_time *time = times; time < to; time++) {
		if (time->row != DW_ENGINE_PROCESSING)
			continue;
		processing++;
		CHECK_EQ(time->iteration, processing);
		CHECK_EQ(time->epoch, 1);
		CHECK_EQ(time->ns, 20 + processing);
	}
	CHECK_EQ(processing, 2);
	made_close(&made);
}

TEST(errors_name_the_nearest_engine)
{
	made_init(&made);
	name_trainer();
	put_run(1000, 20);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK(!dw_model_engine(made.model, "trayner", DW_ENGINE_ALL_RUNS, &made.error));
	CHECK_EQ(made.error.code, DWELL_E_NAME);
	CHECK_HAS(made.error.message, "did you mean 'trainer'?");
	made_close(&made);

	made_init(&made);
	range(100, 200, op(DWELL_CATEGORY_DATA, "dataflow", "trainer")); /* alone no engine */
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK(!dw_model_engine(made.model, NULL, DW_ENGINE_ALL_RUNS, &made.error));
	CHECK_EQ(made.error.code, DWELL_E_NO_DATA);
	made_close(&made);
}

CHECK_MAIN
