/*
 * The profiler of an engine: its counts, the meaning of its indices, its output; and errors of
 * Ignite's originals.
 */
#include <dwell/compat/ignite.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static struct {
	int at, length;
	uint64_t gone; /* handle of the handler that removes itself */
	struct dwell_ignite_engine *inner;
	int fail_at;
} job;

static void sleep_ms(int ms)
{
	struct timespec span = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&span, &span) != 0)
		;
}

static int restart(void *user)
{
	job.at = 0;
	return 0;
}

/* The k-th fetch of a run takes 20 k ms: a busy machine adds less than the next one has more. */
static int next(void *user, void **batch)
{
	struct dwell_ignite_engine *engine = user;

	if (job.at == job.length)
		return 0;
	*batch = &job;
	job.at++;
	if (engine)
		sleep_ms(20 * (int)(dwell_ignite_engine_state(engine)->iteration + 1));
	return 1;
}

static int process(struct dwell_ignite_engine *engine, void *batch, void *user)
{
	uint64_t iteration = dwell_ignite_engine_state(engine)->iteration;

	if (job.fail_at && iteration == (uint64_t)job.fail_at)
		return dwell_ignite_engine_fail(engine, 0, "boom");
	if (iteration == 5)
		sleep_ms(20);
	return 0;
}

static int pass(struct dwell_ignite_engine *engine, void *user)
{
	return 0;
}

static int slow(struct dwell_ignite_engine *engine, void *user)
{
	sleep_ms(20);
	return 0;
}

static int leave(struct dwell_ignite_engine *engine, void *user)
{
	return dwell_ignite_engine_remove(engine, job.gone, NULL);
}

static int stop(struct dwell_ignite_engine *engine, void *user)
{
	return dwell_ignite_engine_terminate(engine, true, NULL);
}

static const struct dwell_ignite_handler_time *row_of(const struct dwell_ignite_handlers_results *results,
                                                      const char *handler, const char *event)
{
	static const struct dwell_ignite_handler_time none;

	for (size_t i = 0; i < results->count; i++)
		if (strcmp(results->handlers[i].handler, handler) == 0 &&
		    strcmp(results->handlers[i].event, event) == 0)
			return &results->handlers[i];
	CHECK_FAIL("no row %s (%s)", handler, event);
	return &none;
}

static void run(struct dwell_ignite_engine *engine, bool sleeps, uint64_t epochs)
{
	struct dwell_ignite_data data = { .length = 3, .next = next, .restart = restart,
		                       .user = sleeps ? engine : NULL };
	struct dwell_ignite_limits limits = DWELL_IGNITE_LIMITS_INIT;

	job.length = 3;
	limits.max_epochs = epochs;
	dwell_ignite_engine_run(engine, &data, &limits, NULL);
}

static struct dwell_ignite_engine *make(struct dwell_ignite_profiler **profiler, bool keep_times)
{
	struct dwell_ignite_engine *engine;
	struct dwell_error error = { 0, "" };

	memset(&job, 0, sizeof job);
	CHECK_EQ(dwell_ignite_engine_create(&engine, "trainer", process, NULL, &error), 0);
	CHECK_EQ(dwell_ignite_profiler_attach(profiler, engine, keep_times, &error), 0);
	CHECK_STR(error.message, "");
	return engine;
}

TEST(an_index_names_the_iteration_or_the_epoch)
{
	struct dwell_ignite_profiler *profiler;
	struct dwell_ignite_engine *engine = make(&profiler, false);
	const struct dwell_ignite_basic_results *basic;
	const struct dwell_ignite_handlers_results *handlers;

	dwell_ignite_engine_on(engine, "EPOCH_COMPLETED(once=2)", slow, NULL, NULL);
	dwell_ignite_engine_on(engine, "EPOCH_COMPLETED", pass, NULL, NULL);
	run(engine, true, 2);
	basic = dwell_ignite_profiler_basic(profiler, NULL);
	REQUIRE(basic);
	CHECK_EQ(basic->dataflow.count, 6);
	CHECK_RANGE(basic->dataflow.min_index, 1, 3); /* the first sleep is the shortest, unless the machine is busy */
	CHECK_EQ(basic->dataflow.max_index, 6);
	CHECK_RANGE((int64_t)(basic->dataflow.min_s * 1e6), 20000, 1000000);
	CHECK_RANGE((int64_t)(basic->dataflow.max_s * 1e6), 120000, 1000000);
	CHECK_EQ(basic->processing.count, 6);
	CHECK_EQ(basic->processing.max_index, 5);
	CHECK_RANGE((int64_t)(basic->processing.max_s * 1e6), 20000, 1000000);
	CHECK_EQ(basic->events[DWELL_IGNITE_EVENT_EPOCH_COMPLETED].count, 2);
	CHECK_EQ(basic->events[DWELL_IGNITE_EVENT_EPOCH_COMPLETED].max_index, 2);
	CHECK_EQ(basic->events[DWELL_IGNITE_EVENT_GET_BATCH_STARTED].count, 6);
	CHECK_EQ(basic->events[DWELL_IGNITE_EVENT_DATALOADER_STOP_ITERATION].count, 1);
	CHECK_STR(basic->handlers[DWELL_IGNITE_EVENT_EPOCH_COMPLETED][0], "slow");
	CHECK_STR(basic->handlers[DWELL_IGNITE_EVENT_EPOCH_COMPLETED][1], "pass");
	CHECK(!basic->handlers[DWELL_IGNITE_EVENT_EPOCH_COMPLETED][2]);
	CHECK(!basic->handlers[DWELL_IGNITE_EVENT_STARTED][0]);
	handlers = dwell_ignite_profiler_handlers(profiler, NULL);
	REQUIRE(handlers);
	CHECK_EQ(handlers->count, 2);
	CHECK_EQ(row_of(handlers, "slow", "EPOCH_COMPLETED")->stat.count, 1);
	CHECK_EQ(row_of(handlers, "slow", "EPOCH_COMPLETED")->stat.max_index, 2);
	CHECK_RANGE((int64_t)(row_of(handlers, "slow", "EPOCH_COMPLETED")->stat.total_s * 1e6), 20000,
	            1000000);
	CHECK_EQ(row_of(handlers, "pass", "EPOCH_COMPLETED")->stat.count, 2);
	dwell_ignite_engine_destroy(engine); /* first: the results stay */
	CHECK_EQ(dwell_ignite_profiler_basic(profiler, NULL)->processing.count, 6);
	dwell_ignite_profiler_destroy(profiler);
}

TEST(runs_do_not_pile_up)
{
	struct dwell_ignite_profiler *profiler;
	struct dwell_ignite_engine *engine = make(&profiler, false);

	dwell_ignite_engine_on(engine, "ITERATION_COMPLETED", pass, NULL, NULL);
	for (uint64_t epochs = 3; epochs >= 1; epochs--) {
		run(engine, false, epochs);
		CHECK_EQ(dwell_ignite_profiler_basic(profiler, NULL)->processing.count, 3 * epochs);
		CHECK_EQ(dwell_ignite_profiler_handlers(profiler, NULL)->count, 1);
		CHECK_EQ(dwell_ignite_profiler_handlers(profiler, NULL)->handlers[0].stat.count, 3 * epochs);
	}
	dwell_ignite_profiler_destroy(profiler);
	dwell_ignite_engine_destroy(engine);
}

TEST(handlers_may_come_and_go)
{
	struct dwell_ignite_profiler *profiler;
	struct dwell_ignite_engine *engine = make(&profiler, false);
	const struct dwell_ignite_handlers_results *handlers;

	dwell_ignite_engine_add(engine, "ITERATION_STARTED", "leave", leave, NULL, NULL, &job.gone, NULL);
	dwell_ignite_engine_on(engine, "ITERATION_STARTED", pass, NULL, NULL);
	dwell_ignite_engine_on(engine, "ITERATION_STARTED", pass, NULL, NULL);
	dwell_ignite_engine_on(engine, "ITERATION_STARTED(every=2)", pass, NULL, NULL);
	run(engine, false, 2);
	handlers = dwell_ignite_profiler_handlers(profiler, NULL);
	REQUIRE(handlers);
	CHECK_EQ(handlers->count, 4);
	CHECK_EQ(row_of(handlers, "leave", "ITERATION_STARTED")->stat.count, 1);
	CHECK_EQ(row_of(handlers, "pass", "ITERATION_STARTED")->stat.count, 6);
	CHECK_EQ(row_of(handlers, "pass #2", "ITERATION_STARTED")->stat.count, 6);
	CHECK_EQ(row_of(handlers, "pass #3", "ITERATION_STARTED")->stat.count, 3);
	CHECK(dwell_ignite_engine_has_handler(engine, NULL, pass));
	CHECK(!dwell_ignite_engine_has_handler(engine, "STARTED", pass));
	CHECK(!dwell_ignite_engine_has_handler(engine, NULL, leave));
	dwell_ignite_profiler_destroy(profiler);
	dwell_ignite_engine_destroy(engine);
}

TEST(failures_stay_failures_and_a_skipped_end_is_none)
{
	struct dwell_ignite_profiler *profiler;
	struct dwell_ignite_engine *engine = make(&profiler, false);
	struct dwell_ignite_data data = { .length = 3, .next = next, .restart = restart };
	struct dwell_error error = { 0, "" };

	job.length = 3;
	job.fail_at = 2;
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, NULL, &error), DWELL_E_STATE);
	CHECK_HAS(error.message, "boom");
	CHECK_EQ(dwell_ignite_profiler_basic(profiler, NULL)->processing.count, 1);
	CHECK_EQ(dwell_ignite_profiler_basic(profiler, NULL)->dataflow.count, 2);
	job.fail_at = 0;
	dwell_ignite_engine_on(engine, "ITERATION_COMPLETED(once=2)", stop, NULL, NULL);
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, NULL, &error), 0);
	CHECK_EQ(dwell_ignite_profiler_basic(profiler, NULL)->events[DWELL_IGNITE_EVENT_COMPLETED].count, 0);
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, NULL, &error), 0);
	CHECK_EQ(dwell_ignite_profiler_basic(profiler, NULL)->processing.count, 2);
	dwell_ignite_profiler_destroy(profiler);
	dwell_ignite_engine_destroy(engine);
}

TEST(what_is_wrong_is_said)
{
	struct dwell_ignite_profiler *profiler, *second;
	struct dwell_ignite_engine *engine = make(&profiler, false);
	struct dwell_error error = { 0, "" };

	CHECK(!dwell_ignite_profiler_basic(profiler, &error));
	CHECK_EQ(error.code, DWELL_E_STATE);
	CHECK_HAS(error.message, "run its engine first");
	CHECK_EQ(dwell_ignite_profiler_attach(&second, engine, false, &error), DWELL_E_STATE);
	CHECK_HAS(error.message, "'trainer' has a profiler");
	run(engine, false, 1);
	CHECK_EQ(dwell_ignite_profiler_write_basic(profiler, "/tmp/x.csv", &error), DWELL_E_STATE);
	CHECK_HAS(error.message, "keep_times");
	dwell_ignite_profiler_destroy(profiler);
	CHECK_EQ(dwell_ignite_profiler_attach(&profiler, engine, true, &error), 0);
	run(engine, false, 1);
	CHECK_EQ(dwell_ignite_profiler_write_basic(profiler, "/no/such/folder/x.csv", &error), DWELL_E_IO);
	CHECK_HAS(error.message, "/no/such/folder/x.csv");
	dwell_ignite_profiler_destroy(profiler);
	dwell_ignite_engine_destroy(engine);
}

static void read_lines(const char *path, char lines[8][512], int *count)
{
	FILE *file = fopen(path, "r");

	*count = 0;
	REQUIRE(file);
	while (*count < 8 && fgets(lines[*count], 512, file))
		++*count;
	fclose(file);
	unlink(path);
}

TEST(files_are_as_ignites)
{
	char path[64], lines[8][512];
	struct dwell_ignite_profiler *profiler;
	struct dwell_ignite_engine *engine = make(&profiler, true);
	struct dwell_error error = { 0, "" };
	double v[12];
	int count;

	snprintf(path, sizeof path, "/tmp/dwell-profile-%d.csv", (int)getpid());
	dwell_ignite_engine_on(engine, "EPOCH_COMPLETED(once=2)", slow, NULL, NULL);
	dwell_ignite_engine_add(engine, "STARTED", "a, \"b\"", pass, NULL, NULL, NULL, NULL);
	run(engine, false, 3); /* a longer run before leaves nothing behind */
	run(engine, true, 2);
	CHECK_EQ(dwell_ignite_profiler_write_basic(profiler, path, &error), 0);
	CHECK_STR(error.message, "");
	read_lines(path, lines, &count);
	CHECK_EQ(count, 7);
	CHECK_STR(lines[0], "epoch,iteration,processing_stats,dataflow_stats,Event_STARTED,"
	          "Event_COMPLETED,Event_EPOCH_STARTED,Event_EPOCH_COMPLETED,"
	          "Event_ITERATION_STARTED,Event_ITERATION_COMPLETED,"
	          "Event_GET_BATCH_STARTED,Event_GET_BATCH_COMPLETED\n");
	for (int i = 1; i < count; i++) {
		CHECK_EQ(sscanf(lines[i], "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &v[0], &v[1],
		                &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9], &v[10], &v[11]),
		         12);
		CHECK_EQ(v[0], 1 + (i - 1) / 3);
		CHECK_EQ(v[1], i);
		CHECK_RANGE((int64_t)(v[3] * 1e6), 20000 * i, 20000 * i + 1000000);
		CHECK_EQ(v[7] > 0.02, i > 3);
	}
	CHECK_EQ(dwell_ignite_profiler_write_handlers(profiler, path, &error), 0);
	read_lines(path, lines, &count);
	CHECK_EQ(count, 7);
	CHECK_STR(lines[0], "#,processing_stats,dataflow_stats,slow (EPOCH_COMPLETED),"
	          "\"a, \"\"b\"\" (STARTED)\"\n");
	CHECK_HAS(lines[2], ",0,0\n");
	dwell_ignite_profiler_destroy(profiler);
	dwell_ignite_engine_destroy(engine);
}

CHECK_MAIN
