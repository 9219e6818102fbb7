/*
 * Repeats runs of Ignite 0.6.0 whose events were logged in tests/golden/ignite/event_order.txt.xz:
 * every line must be the same. DWELL_GOLDEN contains the path of the golden file.
 */
#include "script.h"

enum action {
	NOTHING, TERMINATE, SKIP_COMPLETED, END_EPOCH, SKIP_EPOCH, BOOM, BOOM_HANDLED, INTERRUPT
};

struct scenario {
	const char *title;
	struct dwell_ignite_limits limits;
	bool none, unsized, once;
	int first;               /* batch */
	enum action action;
	enum dwell_ignite_event on;     /* where the action is done ... */
	uint64_t value;          /* ... at this iteration or epoch */
};

#define LIMITS(epochs, iters, length) { sizeof(struct dwell_ignite_limits), epochs, iters, length }

static const struct scenario scenarios[] = {
	{ .title = "2 epochs x 3 iterations, sized data", .limits = LIMITS(2, 0, 0), .first = 10 },
	{ .title = "2 epochs, data is an iterable without __len__ (epoch_length discovered by "
	           "StopIteration in epoch 1)",
	  .limits = LIMITS(2, 0, 0), .unsized = true },
	{ .title = "1 epoch, epoch_length=5 over sized data of 3 (wraps: DATALOADER_STOP_ITERATION)",
	  .limits = LIMITS(1, 0, 5), .first = 10 },
	{ .title = "2 epochs, epoch_length=2 over sized data of 3 (iterator continues over the epoch "
	           "border)",
	  .limits = LIMITS(2, 0, 2), .first = 10 },
	{ .title = "data=None, epoch_length=2, 1 epoch (no GET_BATCH events)",
	  .limits = LIMITS(1, 0, 2), .none = true },
	{ .title = "max_iters=4 over sized data of 3", .limits = LIMITS(0, 4, 0), .first = 10 },
	{ .title = "exhausted generator: epoch_length=5, one-shot generator of 3",
	  .limits = LIMITS(1, 0, 5), .unsized = true, .once = true },
	{ "terminate() on ITERATION_COMPLETED of iteration 4", LIMITS(2, 0, 0), false, false, false,
	  10, TERMINATE, DWELL_IGNITE_EVENT_ITERATION_COMPLETED, 4 },
	{ "terminate() on ITERATION_STARTED of iteration 2", LIMITS(2, 0, 0), false, false, false, 10,
	  TERMINATE, DWELL_IGNITE_EVENT_ITERATION_STARTED, 2 },
	{ "terminate() on GET_BATCH_STARTED when iteration==1 (second fetch)", LIMITS(2, 0, 0), false,
	  false, false, 10, TERMINATE, DWELL_IGNITE_EVENT_GET_BATCH_STARTED, 1 },
	{ "terminate() on EPOCH_STARTED of epoch 2", LIMITS(2, 0, 0), false, false, false, 10,
	  TERMINATE, DWELL_IGNITE_EVENT_EPOCH_STARTED, 2 },
	{ "terminate() on EPOCH_COMPLETED of epoch 1", LIMITS(2, 0, 0), false, false, false, 10,
	  TERMINATE, DWELL_IGNITE_EVENT_EPOCH_COMPLETED, 1 },
	{ "terminate(skip_completed=True) on ITERATION_COMPLETED of iteration 4", LIMITS(2, 0, 0),
	  false, false, false, 10, SKIP_COMPLETED, DWELL_IGNITE_EVENT_ITERATION_COMPLETED, 4 },
	{ "terminate_epoch() on ITERATION_COMPLETED of iteration 2", LIMITS(2, 0, 0), false, false,
	  false, 10, END_EPOCH, DWELL_IGNITE_EVENT_ITERATION_COMPLETED, 2 },
	{ "terminate_epoch(skip_epoch_completed=True) on ITERATION_COMPLETED of iteration 2",
	  LIMITS(2, 0, 0), false, false, false, 10, SKIP_EPOCH, DWELL_IGNITE_EVENT_ITERATION_COMPLETED, 2 },
	{ "terminate_epoch() on EPOCH_STARTED", LIMITS(2, 0, 0), false, false, false, 10, END_EPOCH,
	  DWELL_IGNITE_EVENT_EPOCH_STARTED, 1 },
	{ "exception in process_function at iteration 2, no EXCEPTION_RAISED handler",
	  LIMITS(2, 0, 0), false, false, false, 10, BOOM, DWELL_IGNITE_EVENT_COUNT, 2 },
	{ "exception in process_function at iteration 2, with EXCEPTION_RAISED handler (swallows)",
	  LIMITS(2, 0, 0), false, false, false, 10, BOOM_HANDLED, DWELL_IGNITE_EVENT_COUNT, 2 },
	{ "interrupt() on ITERATION_COMPLETED of iteration 2, then run() again", LIMITS(2, 0, 0),
	  false, false, false, 10, INTERRUPT, DWELL_IGNITE_EVENT_ITERATION_COMPLETED, 2 },
};

static const struct scenario *scenario;
static enum dwell_ignite_event numbers_of_events[DWELL_IGNITE_EVENT_COUNT];

static int act(struct dwell_ignite_engine *engine)
{
	switch (scenario->action) {
	case TERMINATE:
		say("  >> terminate({}) called\n");
		return dwell_ignite_engine_terminate(engine, false, NULL);
	case SKIP_COMPLETED:
		say("  >> terminate({'skip_completed': True}) called\n");
		return dwell_ignite_engine_terminate(engine, true, NULL);
	case END_EPOCH:
		say("  >> terminate_epoch({}) called\n");
		return dwell_ignite_engine_terminate_epoch(engine, false, NULL);
	case SKIP_EPOCH:
		say("  >> terminate_epoch({'skip_epoch_completed': True}) called\n");
		return dwell_ignite_engine_terminate_epoch(engine, true, NULL);
	case INTERRUPT:
		say("  >> interrupt() called\n");
		return dwell_ignite_engine_interrupt(engine, NULL);
	default:
		return 0;
	}
}

static bool acts_on_epoch(enum dwell_ignite_event event)
{
	return event == DWELL_IGNITE_EVENT_EPOCH_STARTED || event == DWELL_IGNITE_EVENT_EPOCH_COMPLETED;
}

static int write_event(struct dwell_ignite_engine *engine, void *user)
{
	enum dwell_ignite_event event = *(enum dwell_ignite_event *)user;
	const struct dwell_ignite_state *state = dwell_ignite_engine_state(engine);

	say("%s  epoch=%d iteration=%d", dwell_ignite_engine_event_name(engine, (int)event),
	    (int)state->epoch, (int)state->iteration);
	if (event == DWELL_IGNITE_EVENT_TERMINATE_SINGLE_EPOCH)
		say(" args={'iter_counter': %d}", (int)state->epoch_iteration);
	say("\n");
	if (scenario->action != NOTHING && event == scenario->on &&
	    (acts_on_epoch(event) ? state->epoch : state->iteration) == scenario->value)
		return act(engine);
	return 0;
}

static int write_exception(struct dwell_ignite_engine *engine, void *user)
{
	const struct dwell_ignite_state *state = dwell_ignite_engine_state(engine);

	(void)user;
	say("EXCEPTION_RAISED epoch=%d iteration=%d ex=RuntimeError('%s')\n", (int)state->epoch,
	    (int)state->iteration, strrchr(state->failure.message, ':') + 2);
	return 0;
}

static int process(struct dwell_ignite_engine *engine, void *batch, void *user)
{
	struct dwell_ignite_state *state = dwell_ignite_engine_state(engine);

	(void)user;
	if (batch)
		say("  process_function(batch=%d)\n", *(int *)batch);
	else
		say("  process_function(batch=None)\n");
	if ((scenario->action == BOOM || scenario->action == BOOM_HANDLED) &&
	    state->iteration == scenario->value)
		return dwell_ignite_engine_fail(engine, DWELL_E_IO, "boom");
	return 0;
}

static void write_number(const char *label, uint64_t number)
{
	if (number)
		say(" %s=%d", label, (int)number);
	else
		say(" %s=None", label);
}

static void write_state(const struct dwell_ignite_state *state)
{
	say("-> state: epoch=%d iteration=%d", (int)state->epoch, (int)state->iteration);
	write_number("epoch_length", state->epoch_length);
	write_number("max_epochs", state->max_epochs);
	write_number("max_iters", state->max_iters);
	CHECK(state->times.epoch_completed_s >= 0 && state->times.completed_s >= 0);
	say(" times={EPOCH_COMPLETED: <float>, COMPLETED: <float>}\n");
}

static void play(void)
{
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, scenario->first, 3, !scenario->unsized,
	                                             !scenario->once);
	struct dwell_error error;
	struct dwell_ignite_engine *engine;
	struct dwell_ignite_state *state;
	int result;

	REQUIRE(dwell_ignite_engine_create(&engine, "trainer", process, NULL, &error) == 0);
	state = dwell_ignite_engine_state(engine);
	for (int i = 0; i < DWELL_IGNITE_EVENT_COUNT; i++) {
		numbers_of_events[i] = (enum dwell_ignite_event)i;
		if (i != DWELL_IGNITE_EVENT_EXCEPTION_RAISED)
			CHECK_EQ(dwell_ignite_engine_on(engine, dwell_ignite_engine_event_name(engine, i), write_event,
			                                &numbers_of_events[i], &error), 0);
	}
	if (scenario->action == BOOM_HANDLED)
		CHECK_EQ(dwell_ignite_engine_on(engine, "EXCEPTION_RAISED", write_exception, NULL, &error), 0);
	result = dwell_ignite_engine_run(engine, scenario->none ? NULL : &data, &scenario->limits, &error);
	if (result)
		say("!! propagated out of run()\n");
	CHECK_EQ(state->interrupted, scenario->action == INTERRUPT);
	if (state->interrupted) {
		say("--- run() returned at epoch=%d iteration=%d; run() again:\n", (int)state->epoch,
		    (int)state->iteration);
		CHECK_EQ(dwell_ignite_engine_resume(engine, &error), 0);
	}
	write_state(state);
	CHECK_EQ(result != 0, scenario->action == BOOM || (scenario->action == END_EPOCH &&
	                                                   acts_on_epoch(scenario->on)));
	CHECK_EQ(state->exhausted, scenario->once);
	dwell_ignite_engine_destroy(engine);
}

static bool golden_line(FILE *golden, char *line, int size, int *number)
{
	do {
		if (!fgets(line, size, golden))
			return false;
		line[strcspn(line, "\n")] = '\0';
		++*number;
	} while (*line == '\0');
	return true;
}

/* Compares line by line, without empty ones; of "!! propagated out of run(): ..."
 * the beginning. */
static void compare(FILE *golden)
{
	char want[512], *line = page, *rest;
	int number = 0;

	for (; golden_line(golden, want, sizeof want, &number); line = NULL) {
		const char *got = strtok_r(line, "\n", &rest);

		if (strncmp(want, "!! propagated out of run()", 26) == 0)
			want[26] = '\0';
		CHECK_STR(got, want);
		if (!got || strcmp(got, want) != 0) {
			printf("at line %d of the golden file\n", number);
			return;
		}
	}
	CHECK(strtok_r(NULL, "\n", &rest) == NULL);
	CHECK(number > 500);
}

TEST(events_come_in_ignites_order)
{
	FILE *golden = popen("xz -dc \"${DWELL_GOLDEN:-tests/golden}/ignite/event_order.txt.xz\"", "r");

	REQUIRE(golden);
	clear_page();
	for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
		scenario = &scenarios[i];
		say("======== %s\n", scenario->title);
		play();
	}
	compare(golden);
	CHECK_EQ(pclose(golden), 0);
}

CHECK_MAIN
