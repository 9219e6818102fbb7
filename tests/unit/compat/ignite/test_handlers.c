/*
 * Handlers: their order, adding and removing while firing, custom events, names.
 */
#include "script.h"

static struct dwell_ignite_engine *engine;
static struct dwell_error error;
static uint64_t handle_a, handle_b;

static void setup(void)
{
	clear_page();
	memset(&error, 0, sizeof error);
	if (dwell_ignite_engine_create(&engine, "trainer", do_nothing, NULL, &error) != 0)
		abort();
}

static int run_once(uint64_t iterations)
{
	struct dwell_ignite_limits limits = limits_of(1, 0, iterations);

	return dwell_ignite_engine_run(engine, NULL, &limits, &error);
}

static int write_text(struct dwell_ignite_engine *from, void *user)
{
	(void)from;
	say("%s ", (const char *)user);
	return 0;
}

static int add_text(const char *when, const char *text, uint64_t *handle)
{
	return dwell_ignite_engine_add(engine, when, "write_text", write_text, NULL, (void *)(uintptr_t)text,
	                               handle, &error);
}

static int add_another(struct dwell_ignite_engine *from, void *user)
{
	(void)user;
	say("add ");
	/* more than the list has room for */
	for (int i = 0; i < 9; i++)
		if (dwell_ignite_engine_on(from, "ITERATION_COMPLETED", write_text, "new", NULL) != 0)
			return -1;
	return 0;
}

TEST(a_handler_added_in_a_firing_runs_in_it_as_the_last)
{
	setup();
	CHECK_EQ(add_text("ITERATION_COMPLETED", "a", NULL), 0);
	CHECK_EQ(dwell_ignite_engine_on(engine, "ITERATION_COMPLETED(once=1)", add_another, NULL, &error), 0);
	CHECK_EQ(add_text("ITERATION_COMPLETED", "b", NULL), 0);
	CHECK_EQ(run_once(1), 0);
	CHECK_STR(page, "a add b new new new new new new new new new ");
	dwell_ignite_engine_destroy(engine);
}

static int remove_both(struct dwell_ignite_engine *from, void *user)
{
	(void)user;
	say("remove ");
	CHECK_EQ(dwell_ignite_engine_remove(from, handle_a, &error), 0);
	CHECK_EQ(dwell_ignite_engine_remove(from, handle_b, &error), 0);
	CHECK_EQ(dwell_ignite_engine_remove(from, handle_b, &error), DWELL_E_STATE);
	return 0;
}

TEST(what_is_removed_in_a_firing_is_not_called_again)
{
	uint64_t third;

	setup();
	CHECK_EQ(dwell_ignite_engine_add(engine, "ITERATION_COMPLETED", "remove_both", remove_both, NULL,
	                                 NULL, &handle_a, &error), 0);
	CHECK_EQ(add_text("STARTED | ITERATION_COMPLETED | COMPLETED", "later", &handle_b), 0);
	CHECK_EQ(add_text("ITERATION_COMPLETED", "next", &third), 0);
	CHECK_EQ(run_once(2), 0);
	CHECK_STR(page, "later remove next next ");
	CHECK_EQ(dwell_ignite_engine_remove(engine, third, &error), 0);
	CHECK_EQ(dwell_ignite_engine_remove(engine, third, &error), DWELL_E_STATE);
	CHECK_HAS(error.message, "was removed from engine 'trainer' before");
	CHECK_EQ(dwell_ignite_engine_remove(engine, 0, &error), DWELL_E_ARGUMENT);
	CHECK_EQ(dwell_ignite_engine_remove(engine, 999, &error), DWELL_E_ARGUMENT);
	CHECK_HAS(error.message, "never gave a handle 999");
	clear_page();
	CHECK_EQ(run_once(2), 0);
	CHECK_STR(page, "");
	dwell_ignite_engine_destroy(engine);
}

static int swap_self(struct dwell_ignite_engine *from, void *user)
{
	uint64_t *handle = user;

	say("x ");
	CHECK_EQ(dwell_ignite_engine_remove(from, *handle, NULL), 0);
	return dwell_ignite_engine_add(from, "ITERATION_STARTED(once=1)", "swap_self", swap_self, NULL,
	                               user, handle, NULL);
}

TEST(a_handler_may_replace_itself_for_ever)
{
	uint64_t handle;

	setup();
	/* Added in its own firing, it would run in it again and again. */
	CHECK_EQ(dwell_ignite_engine_add(engine, "ITERATION_COMPLETED", "swap_self", swap_self, NULL,
	                                 &handle, &handle, &error), 0);
	CHECK_EQ(run_once(1), 0);
	CHECK_STR(page, "x ");
	dwell_ignite_engine_destroy(engine);
}

static int backward, count_event;
static uint64_t backward_count;

static int fires(struct dwell_ignite_engine *from, void *batch, void *user)
{
	(void)batch, (void)user;
	backward_count = dwell_ignite_engine_state(from)->iteration * 10;
	return dwell_ignite_engine_fire(from, backward, NULL);
}

TEST(custom_events_fire_and_filter)
{
	clear_page();
	REQUIRE(dwell_ignite_engine_create(&engine, "gan", fires, NULL, &error) == 0);
	CHECK_EQ(dwell_ignite_engine_register_event(engine, "BACKWARD_STARTED", NULL, &backward, &error), 0);
	CHECK_EQ(add_text("BACKWARD_STARTED(every=20)", "no", NULL), DWELL_E_ARGUMENT);
	CHECK_EQ(dwell_ignite_engine_register_event(engine, "BACKWARD_STARTED", &backward_count,
	                                            &count_event, &error), 0);
	CHECK_EQ(backward, count_event);
	CHECK_EQ(backward, DWELL_IGNITE_EVENT_COUNT);
	CHECK_STR(dwell_ignite_engine_event_name(engine, backward), "BACKWARD_STARTED");
	CHECK_STR(dwell_ignite_engine_event_name(engine, 99), NULL);
	CHECK_STR(dwell_ignite_engine_event_name(engine, -1), NULL);
	CHECK_STR(dwell_ignite_engine_event_name(engine, DWELL_IGNITE_EVENT_INTERRUPT), "INTERRUPT");
	CHECK_EQ(add_text("BACKWARD_STARTED(every=20)", "even", NULL), 0);
	CHECK_EQ(add_text("BACKWARD_STARTED", "all", NULL), 0);
	CHECK_EQ(run_once(4), 0);
	CHECK_STR(page, "all even all all even all ");
	CHECK_EQ(dwell_ignite_engine_fire(engine, 99, &error), DWELL_E_NAME);
	CHECK_HAS(error.message, "99 is not an event of engine 'gan'");
	CHECK_EQ(dwell_ignite_engine_fire(engine, backward, &error), 0); /* outside of a run */
	for (size_t i = 0; i < 4; i++) {
		const char *bad[] = { "", "A B", "A.B", NULL };

		CHECK_EQ(dwell_ignite_engine_register_event(engine, bad[i], NULL, &backward, &error),
		         DWELL_E_ARGUMENT);
	}
	CHECK_EQ(dwell_ignite_engine_register_event(engine, "STARTED", NULL, &backward, &error),
	         DWELL_E_ARGUMENT);
	dwell_ignite_engine_destroy(engine);
}

static int many[100];

static int register_more(struct dwell_ignite_engine *from, void *user)
{
	char name[32];

	(void)user;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "EVENT_%d", i);
		if (dwell_ignite_engine_register_event(from, name, NULL, &many[i], NULL) != 0 ||
		    dwell_ignite_engine_on(from, name, write_text, "e", NULL) != 0)
			return -1;
	}
	return dwell_ignite_engine_fire(from, many[99], NULL);
}

TEST(events_may_be_registered_in_a_firing)
{
	int event;

	setup();
	CHECK_EQ(dwell_ignite_engine_register_event(engine, "FIRST", NULL, &event, &error), 0);
	CHECK_EQ(dwell_ignite_engine_on(engine, "FIRST", register_more, NULL, &error), 0);
	CHECK_EQ(add_text("FIRST", "after", NULL), 0);
	CHECK_EQ(dwell_ignite_engine_fire(engine, event, &error), 0);
	CHECK_STR(page, "e after ");
	dwell_ignite_engine_destroy(engine);
}

static int depth;

static int again(struct dwell_ignite_engine *from, void *user)
{
	const int *event = user;

	say("%d", depth);
	if (++depth == 3) /* the slots of two firings under way stay where they are */
		return dwell_ignite_engine_remove(from, handle_a, NULL);
	return dwell_ignite_engine_fire(from, *event, NULL);
}

TEST(an_event_may_fire_itself)
{
	int event;

	setup();
	depth = 0;
	CHECK_EQ(dwell_ignite_engine_register_event(engine, "LOOP", NULL, &event, &error), 0);
	CHECK_EQ(dwell_ignite_engine_add(engine, "LOOP", "again", again, NULL, &event, &handle_a, &error), 0);
	CHECK_EQ(add_text("LOOP", ".", NULL), 0);
	CHECK_EQ(dwell_ignite_engine_fire(engine, event, &error), 0);
	CHECK_STR(page, "012. . . ");
	dwell_ignite_engine_destroy(engine);
}

static int refuse(struct dwell_ignite_engine *from, void *user)
{
	(void)user;
	return dwell_ignite_engine_fail(from, DWELL_E_IO, "no disk");
}

TEST(a_failing_handler_of_a_custom_event_is_named_through)
{
	clear_page();
	REQUIRE(dwell_ignite_engine_create(&engine, "gan", fires, NULL, &error) == 0);
	CHECK_EQ(dwell_ignite_engine_register_event(engine, "BACKWARD_STARTED", NULL, &backward, &error), 0);
	CHECK_EQ(dwell_ignite_engine_on(engine, "BACKWARD_STARTED", refuse, NULL, &error), 0);
	CHECK_EQ(add_text("BACKWARD_STARTED", "not called", NULL), 0);
	CHECK_EQ(run_once(4), DWELL_E_IO);
	CHECK_HAS(error.message, "the process function of engine 'gan' failed at epoch 1, iteration 1");
	CHECK_HAS(error.message, "handler 'refuse' on BACKWARD_STARTED of engine 'gan' failed");
	CHECK_HAS(error.message, ": no disk");
	CHECK_STR(page, "");
	memset(&error, 0, sizeof error);
	CHECK_EQ(dwell_ignite_engine_fire(engine, backward, &error), DWELL_E_IO);
	CHECK_HAS(error.message, "handler 'refuse' on BACKWARD_STARTED");
	dwell_ignite_engine_destroy(engine);
}

CHECK_MAIN
