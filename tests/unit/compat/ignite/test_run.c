/*
 * Runs: failures, requests at the wrong time, nesting, state, times and the timer.
 */
#include <pthread.h>
#include <time.h>

#include "script.h"

static struct dwell_ignite_engine *engine;
static struct dwell_error error;

static void setup(dwell_ignite_process *process)
{
	clear_page();
	memset(&error, 0, sizeof error);
	if (dwell_ignite_engine_create(&engine, "trainer", process, NULL, &error) != 0)
		abort();
}

static int run_for(uint64_t epochs, uint64_t length)
{
	struct dwell_ignite_limits limits = limits_of(epochs, 0, length);

	return dwell_ignite_engine_run(engine, NULL, &limits, &error);
}

static void sleep_ms(long ms)
{
	struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

static int write_text(struct dwell_ignite_engine *from, void *user)
{
	(void)from;
	say("%s ", (const char *)user);
	return 0;
}

/* ---- bad input ----------------------------------------------------------------- */

TEST(bad_input_is_an_error_and_harms_nothing)
{
	struct dwell_ignite_limits both = limits_of(2, 3, 0), bad = { 0, 0, 0, 0 };
	struct dwell_ignite_data data = DWELL_IGNITE_DATA_INIT;

	CHECK_EQ(dwell_ignite_engine_create(&engine, "x", NULL, NULL, &error), DWELL_E_ARGUMENT);
	CHECK(engine == NULL);
	dwell_ignite_engine_destroy(NULL);
	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_run(engine, NULL, NULL, &error), DWELL_E_ARGUMENT);
	CHECK_HAS(error.message, "epoch_length should be provided");
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, NULL, &error), DWELL_E_ARGUMENT);
	CHECK_EQ(dwell_ignite_engine_run(engine, NULL, &both, &error), DWELL_E_ARGUMENT);
	CHECK_HAS(error.message, "mutually exclusive");
	CHECK_EQ(dwell_ignite_engine_run(engine, NULL, &bad, &error), DWELL_E_ARGUMENT);
	CHECK_EQ(dwell_ignite_engine_resume(engine, &error), DWELL_E_STATE);
	CHECK_HAS(error.message, "'trainer' was not interrupted");
	CHECK_EQ(dwell_ignite_engine_terminate(engine, false, &error), DWELL_E_STATE);
	CHECK_EQ(dwell_ignite_engine_terminate_epoch(engine, false, &error), DWELL_E_STATE);
	CHECK_EQ(dwell_ignite_engine_interrupt(engine, &error), DWELL_E_STATE);
	CHECK_HAS(error.message, "does not run");
	CHECK_EQ(run_for(1, 2), 0);
	CHECK_EQ(dwell_ignite_engine_resume(engine, &error), DWELL_E_STATE);
	dwell_ignite_engine_destroy(engine);
}

static int run_self(struct dwell_ignite_engine *from, void *user)
{
	struct dwell_ignite_limits limits = limits_of(1, 0, 1);
	struct dwell_error inner;

	(void)user;
	CHECK_EQ(dwell_ignite_engine_run(from, NULL, &limits, &inner), DWELL_E_STATE);
	CHECK_HAS(inner.message, "'trainer' runs");
	CHECK_EQ(dwell_ignite_engine_resume(from, &inner), DWELL_E_STATE);
	return 0;
}

TEST(an_engine_cannot_run_itself)
{
	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_on(engine, "ITERATION_STARTED", run_self, NULL, &error), 0);
	CHECK_EQ(run_for(1, 2), 0);
	CHECK_EQ(dwell_ignite_engine_state(engine)->iteration, 2);
	dwell_ignite_engine_destroy(engine);
}

TEST(data_without_batches_fails_and_does_not_hang)
{
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 0, false, true);
	struct dwell_ignite_limits limits = limits_of(0, 5, 0);

	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, &limits, &error), DWELL_E_NO_DATA);
	CHECK_HAS(error.message, "no batch at all");
	CHECK_EQ(dwell_ignite_engine_on(engine, "EXCEPTION_RAISED", write_text, "handled", &error), 0);
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, &limits, &error), 0);
	CHECK_STR(page, "handled ");
	data = numbers_init(&numbers, 0, 3, false, false); /* 3 and no more, 5 wanted */
	limits.epoch_length = 4;
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, &limits, &error), 0);
	CHECK_EQ(dwell_ignite_engine_state(engine)->iteration, 3);
	CHECK(dwell_ignite_engine_state(engine)->exhausted);
	dwell_ignite_engine_destroy(engine);
}

static int fail_second(void *user, void **batch)
{
	struct numbers *numbers = user;

	return numbers->at == 1 ? DWELL_E_IO : numbers_next(user, batch);
}

TEST(a_failing_source_is_named)
{
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 3, true, true);

	setup(do_nothing);
	data.next = fail_second;
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, NULL, &error), DWELL_E_IO);
	CHECK_HAS(error.message, "fetching a batch of engine 'trainer' failed at epoch 1, iteration 1");
	CHECK_HAS(error.message, "input or output failed");
	dwell_ignite_engine_destroy(engine);
}

/* ---- failures ------------------------------------------------------------------ */

static int fail_with(struct dwell_ignite_engine *from, void *user)
{
	(void)from;
	return *(int *)user;
}

static int rethrow(struct dwell_ignite_engine *from, void *user)
{
	(void)user;
	return dwell_ignite_engine_state(from)->failure.code;
}

TEST(a_failing_handler_is_named_with_its_event)
{
	int code = 7;

	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_on(engine, "COMPLETED", write_text, "completed", &error), 0);
	CHECK_EQ(dwell_ignite_engine_on(engine, "ITERATION_COMPLETED(once=2)", fail_with, &code, &error), 0);
	CHECK_EQ(run_for(2, 3), DWELL_E_STATE);
	CHECK_EQ(error.code, DWELL_E_STATE);
	CHECK_STR(error.message, "handler 'fail_with' on ITERATION_COMPLETED of engine 'trainer' failed "
	          "at epoch 1, iteration 2: it returned 7");
	CHECK_STR(dwell_ignite_engine_state(engine)->failure.message, error.message);
	code = DWELL_E_NOSPACE;
	CHECK_EQ(run_for(2, 3), DWELL_E_NOSPACE);
	CHECK_HAS(error.message, "iteration 2: no space left");
	CHECK_EQ(dwell_ignite_engine_on(engine, "EXCEPTION_RAISED", rethrow, NULL, &error), 0);
	error.message[0] = '\0';
	CHECK_EQ(run_for(2, 3), DWELL_E_NOSPACE);
	CHECK_HAS(error.message, "handler 'fail_with' on ITERATION_COMPLETED");
	CHECK_STR(page, "");
	code = 0;
	CHECK_EQ(run_for(2, 3), 0);
	CHECK_EQ(dwell_ignite_engine_state(engine)->failure.code, 0);
	dwell_ignite_engine_destroy(engine);
}

TEST(a_failure_outside_iterations_that_is_handled_ends_the_run)
{
	int code = DWELL_E_IO;

	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_on(engine, "EPOCH_COMPLETED", fail_with, &code, &error), 0);
	CHECK_EQ(dwell_ignite_engine_on(engine, "EXCEPTION_RAISED", write_text, "raised", &error), 0);
	CHECK_EQ(dwell_ignite_engine_on(engine, "COMPLETED", write_text, "completed", &error), 0);
	CHECK_EQ(run_for(2, 3), 0);
	CHECK_STR(page, "raised ");
	CHECK_EQ(dwell_ignite_engine_state(engine)->epoch, 1);
	CHECK_EQ(dwell_ignite_engine_state(engine)->failure.code, DWELL_E_IO);
	dwell_ignite_engine_destroy(engine);
}

static int fail_long(struct dwell_ignite_engine *from, void *batch, void *user)
{
	char text[600];

	(void)batch, (void)user;
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	return dwell_ignite_engine_fail(from, 0, "%s", text);
}

TEST(long_messages_are_cut)
{
	setup(fail_long);
	CHECK_EQ(run_for(1, 1), DWELL_E_STATE);
	CHECK_EQ(strlen(error.message), sizeof error.message - 1);
	CHECK_HAS(error.message, "iteration 1: xxxxx");
	dwell_ignite_engine_destroy(engine);
}

/* ---- requests ------------------------------------------------------------------ */

static int interrupt(struct dwell_ignite_engine *from, void *user)
{
	(void)user;
	say("interrupt ");
	return dwell_ignite_engine_interrupt(from, NULL);
}

TEST(a_run_interrupted_at_every_event_goes_on)
{
	static const char *const where[] = { "STARTED", "EPOCH_STARTED(once=2)",
		"GET_BATCH_STARTED(once=3)", "GET_BATCH_COMPLETED(once=3)", "DATALOADER_STOP_ITERATION",
		"ITERATION_STARTED(once=4)", "ITERATION_COMPLETED(once=6)", "EPOCH_COMPLETED(once=2)" };
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 3, true, true);
	struct dwell_ignite_limits limits = limits_of(2, 0, 0);

	for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
		setup(do_nothing);
		CHECK_EQ(dwell_ignite_engine_on(engine, where[i], interrupt, NULL, &error), 0);
		CHECK_EQ(dwell_ignite_engine_on(engine, "COMPLETED", write_text, "completed", &error), 0);
		CHECK_EQ(dwell_ignite_engine_run(engine, &data, &limits, &error), 0);
		CHECK(dwell_ignite_engine_state(engine)->interrupted);
		CHECK_STR(page, "interrupt ");
		CHECK_EQ(dwell_ignite_engine_terminate(engine, false, &error), DWELL_E_STATE);
		CHECK_EQ(dwell_ignite_engine_resume(engine, &error), 0);
		CHECK(!dwell_ignite_engine_state(engine)->interrupted);
		CHECK_EQ(dwell_ignite_engine_state(engine)->iteration, 6);
		CHECK_EQ(dwell_ignite_engine_state(engine)->epoch, 2);
		CHECK_STR(page, "interrupt completed ");
		CHECK_EQ(dwell_ignite_engine_resume(engine, &error), DWELL_E_STATE);
		dwell_ignite_engine_destroy(engine);
	}
}

TEST(run_forgets_an_interrupted_run)
{
	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_on(engine, "ITERATION_STARTED(once=2)", interrupt, NULL, &error), 0);
	CHECK_EQ(run_for(1, 3), 0);
	CHECK_EQ(run_for(1, 3), 0);
	CHECK_EQ(dwell_ignite_engine_state(engine)->iteration, 2);
	CHECK(dwell_ignite_engine_state(engine)->interrupted);
	dwell_ignite_engine_destroy(engine);
}

static int runs; /* atomic: the run has begun */

static int begin_slowly(struct dwell_ignite_engine *from, void *batch, void *user)
{
	(void)from, (void)batch, (void)user;
	__atomic_store_n(&runs, 1, __ATOMIC_RELAXED);
	sleep_ms(1);
	return 0;
}

static void *terminate_from_outside(void *user)
{
	while (!__atomic_load_n(&runs, __ATOMIC_RELAXED))
		sleep_ms(1);
	if (dwell_ignite_engine_terminate_epoch(user, true, NULL) != 0)
		sleep_ms(1); /* it was between epochs */
	dwell_ignite_engine_terminate(user, true, NULL);
	return NULL;
}

TEST(another_thread_may_end_a_run)
{
	struct dwell_ignite_limits limits = limits_of(UINT64_MAX, 0, 10);
	pthread_t thread;

	setup(begin_slowly);
	CHECK_EQ(dwell_ignite_engine_on(engine, "COMPLETED", write_text, "completed", &error), 0);
	REQUIRE(pthread_create(&thread, NULL, terminate_from_outside, engine) == 0);
	CHECK_EQ(dwell_ignite_engine_run(engine, NULL, &limits, &error), 0);
	pthread_join(thread, NULL);
	CHECK(dwell_ignite_engine_state(engine)->terminated);
	CHECK_STR(page, "");
	dwell_ignite_engine_destroy(engine);
}

static int end_epoch(struct dwell_ignite_engine *from, void *user)
{
	(void)user;
	return dwell_ignite_engine_terminate_epoch(from, false, NULL);
}

TEST(an_epoch_ended_starts_a_new_pass)
{
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 3, true, true);
	struct dwell_ignite_limits limits = limits_of(3, 0, 0);

	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_on(engine, "ITERATION_STARTED(every=2)", end_epoch, NULL, &error), 0);
	CHECK_EQ(dwell_ignite_engine_on(engine, "EPOCH_COMPLETED", write_text, "epoch", &error), 0);
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, &limits, &error), 0);
	CHECK_STR(page, "epoch epoch epoch ");
	CHECK_EQ(dwell_ignite_engine_state(engine)->iteration, 6);
	CHECK_EQ(numbers.restarts, 4);
	CHECK_EQ(dwell_ignite_engine_on(engine, "EPOCH_COMPLETED", end_epoch, NULL, &error), 0);
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, &limits, &error), DWELL_E_STATE);
	CHECK_HAS(error.message, "handler 'end_epoch' on EPOCH_COMPLETED");
	dwell_ignite_engine_destroy(engine);
}

TEST(max_iters_without_data_is_one_epoch)
{
	struct dwell_ignite_limits limits = limits_of(0, 5, 0);

	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_run(engine, NULL, &limits, &error), 0);
	CHECK_EQ(dwell_ignite_engine_state(engine)->iteration, 5);
	CHECK_EQ(dwell_ignite_engine_state(engine)->epoch, 1);
	CHECK(!dwell_ignite_engine_state(engine)->terminated);
	dwell_ignite_engine_destroy(engine);
}

/* ---- nesting ------------------------------------------------------------------- */

static int add_up(struct dwell_ignite_engine *from, void *batch, void *user)
{
	(void)user;
	dwell_ignite_engine_state(from)->output = *(int *)batch;
	return *(int *)batch == 99 ? dwell_ignite_engine_fail(from, DWELL_E_CORRUPT, "99 is bad") : 0;
}

static struct numbers numbers_inside;
static struct dwell_ignite_data data_inside;

static int validate(struct dwell_ignite_engine *from, void *user)
{
	struct dwell_ignite_engine *evaluator = user;
	int result = dwell_ignite_engine_run(evaluator, &data_inside, NULL, NULL);

	(void)from;
	return result ? result
	              : dwell_ignite_engine_set_metric(evaluator, "last",
	                                               dwell_ignite_engine_state(evaluator)->output, NULL);
}

TEST(engines_nest_and_failures_come_through)
{
	struct dwell_ignite_engine *evaluator;

	setup(do_nothing);
	data_inside = numbers_init(&numbers_inside, 40, 3, true, true);
	REQUIRE(dwell_ignite_engine_create(&evaluator, "evaluator", add_up, NULL, &error) == 0);
	CHECK(isnan(dwell_ignite_engine_metric(evaluator, "last")));
	CHECK_EQ(dwell_ignite_engine_on(engine, "EPOCH_COMPLETED", validate, evaluator, &error), 0);
	CHECK_EQ(run_for(2, 4), 0);
	CHECK_NEAR(dwell_ignite_engine_metric(evaluator, "last"), 42, 0);
	CHECK_EQ(dwell_ignite_engine_state(evaluator)->iteration, 3);
	CHECK_EQ(dwell_ignite_engine_state(engine)->iteration, 8);
	numbers_inside.values[1] = 99;
	CHECK_EQ(run_for(2, 4), DWELL_E_CORRUPT);
	CHECK_HAS(error.message, "handler 'validate' on EPOCH_COMPLETED of engine 'trainer' failed");
	CHECK_HAS(error.message, "the process function of engine 'evaluator' failed at epoch 1, "
	          "iteration 2: 99 is bad");
	dwell_ignite_engine_destroy(evaluator);
	dwell_ignite_engine_destroy(engine);
}

/* ---- state and times ------------------------------------------------------------- */

TEST(the_state_prints_as_ignites)
{
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 3, true, true);
	struct dwell_ignite_limits limits = limits_of(2, 0, 0);
	char *text = NULL;
	size_t size;
	FILE *out;

	setup(add_up);
	CHECK(isnan(dwell_ignite_engine_state(engine)->times.completed_s));
	CHECK(isnan(dwell_ignite_engine_state(engine)->times.epoch_completed_s));
	CHECK(isnan(dwell_ignite_engine_state(engine)->output));
	CHECK_STR(dwell_ignite_engine_name(engine), "trainer");
	CHECK_EQ(dwell_ignite_engine_run(engine, &data, &limits, &error), 0);
	dwell_ignite_engine_state(engine)->output = 0.09705401211977005;
	out = open_memstream(&text, &size);
	dwell_ignite_engine_print_state(engine, out);
	fclose(out);
	CHECK_STR(text, "State:\n\titeration: 6\n\tepoch: 2\n\tepoch_length: 3\n\tmax_epochs: 2\n"
	          "\tmax_iters: <class 'NoneType'>\n\toutput: 0.09705401211977005\n"
	          "\tbatch: <class 'object'>\n\tmetrics: <class 'dict'>\n"
	          "\tdataloader: <class 'Data'>\n\tseed: <class 'NoneType'>\n"
	          "\ttimes: <class 'dict'>\n");
	free(text);
	dwell_ignite_engine_destroy(engine);
}

static double seen_epoch_s, seen_run_s;

static int sleep_and_look(struct dwell_ignite_engine *from, void *user)
{
	(void)user;
	seen_epoch_s = dwell_ignite_engine_state(from)->times.epoch_completed_s;
	seen_run_s = dwell_ignite_engine_state(from)->times.completed_s;
	sleep_ms(40);
	return 0;
}

static int sleep_process(struct dwell_ignite_engine *from, void *batch, void *user)
{
	(void)from, (void)batch, (void)user;
	sleep_ms(20);
	return 0;
}

TEST(times_hold_their_handlers_after_they_ran)
{
	const struct dwell_ignite_state *state;

	setup(sleep_process);
	state = dwell_ignite_engine_state(engine);
	CHECK_EQ(dwell_ignite_engine_on(engine, "EPOCH_COMPLETED", sleep_and_look, NULL, &error), 0);
	CHECK_EQ(run_for(1, 2), 0);
	CHECK(seen_epoch_s >= 0.040 && state->times.epoch_completed_s >= seen_epoch_s + 0.040);
	CHECK_NEAR(seen_run_s, 0, 0);
	CHECK(state->times.completed_s >= state->times.epoch_completed_s);
	CHECK_EQ(dwell_ignite_engine_on(engine, "COMPLETED", sleep_and_look, NULL, &error), 0);
	CHECK_EQ(run_for(1, 2), 0);
	CHECK(seen_run_s >= 0.080 && state->times.completed_s >= seen_run_s + 0.040);
	dwell_ignite_engine_destroy(engine);
}

TEST(a_pause_is_not_counted)
{
	setup(do_nothing);
	CHECK_EQ(dwell_ignite_engine_on(engine, "ITERATION_STARTED", interrupt, NULL, &error), 0);
	CHECK_EQ(run_for(1, 1), 0);
	sleep_ms(300);
	CHECK_EQ(dwell_ignite_engine_resume(engine, &error), 0);
	CHECK(dwell_ignite_engine_state(engine)->times.completed_s < 0.250);
	CHECK(dwell_ignite_engine_state(engine)->times.epoch_completed_s < 0.250);
	dwell_ignite_engine_destroy(engine);
}

/* ---- the timer ------------------------------------------------------------------- */

TEST(a_timer_counts_what_runs)
{
	struct dwell_ignite_timer timer;

	dwell_ignite_timer_init(&timer, true);
	sleep_ms(20);
	dwell_ignite_timer_pause(&timer);
	dwell_ignite_timer_pause(&timer);
	sleep_ms(20);
	CHECK(dwell_ignite_timer_value_s(&timer) >= 0.020);
	CHECK_EQ(timer.total_ns, (uint64_t)(dwell_ignite_timer_value_s(&timer) * 1e9 + 0.5));
	dwell_ignite_timer_step(&timer);
	dwell_ignite_timer_step(&timer);
	CHECK_NEAR(dwell_ignite_timer_value_s(&timer), (double)timer.total_ns / 2e9, 1e-9);
	dwell_ignite_timer_resume(&timer);
	dwell_ignite_timer_resume(&timer);
	CHECK(timer.running);
	dwell_ignite_timer_reset(&timer);
	CHECK(timer.running && timer.total_ns == 0 && timer.step_count == 0);
}

TEST(a_timer_follows_events)
{
	struct dwell_ignite_timer timer;

	setup(sleep_process);
	dwell_ignite_timer_init(&timer, true);
	CHECK_EQ(dwell_ignite_timer_attach(&timer, engine, "EPOCH_STARTED", "nope", NULL, NULL, &error),
	         DWELL_E_NAME);
	CHECK_EQ(dwell_ignite_timer_attach(&timer, engine, "EPOCH_STARTED",
	                                   "EPOCH_STARTED | ITERATION_COMPLETED", "ITERATION_STARTED",
	                                   "ITERATION_COMPLETED", &error), 0);
	CHECK_EQ(run_for(1, 3), 0);
	CHECK_EQ(timer.step_count, 3);
	CHECK(!timer.running);
	CHECK(dwell_ignite_timer_value_s(&timer) >= 0.020);
	CHECK(timer.total_ns >= 60000000);
	dwell_ignite_engine_destroy(engine);
}

CHECK_MAIN
