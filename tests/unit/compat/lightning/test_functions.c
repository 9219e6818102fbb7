/*
 * The functions probe in a program compiled with -finstrument-functions: every call is recorded
 * once and under its name, however it ends and wherever recording begins.
 */
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

#include <dwell/compat/lightning.h>
#include <dwell/trace.h>

#define QUIET __attribute__((no_instrument_function))
#define OUT_OF_LINE __attribute__((noinline))

static char path[] = "/tmp/dwell-functions-XXXXXX";
static jmp_buf place;
static volatile bool far = true;

/* ---- what is recorded ----------------------------------------------------------------- */

OUT_OF_LINE static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

OUT_OF_LINE static void leap(int n)
{
	if (n)
		leap(n - 1);
	else if (far)
		longjmp(place, 1);
}

OUT_OF_LINE static void leapt_over(void)
{
	if (!setjmp(place))
		leap(3);
}

OUT_OF_LINE static void sleeper(void)
{
	usleep(30000);
}

OUT_OF_LINE static void outermost(void)
{
	sleeper();
	sleeper();
}

static void *thread_main(void *unused)
{
	fib(10);
	return unused;
}

OUT_OF_LINE static void start_within(void)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;

	options.path = path;
	options.overwrite = true;
	options.categories = DWELL_MASK_DEFAULT | 1u << DWELL_CATEGORY_FUNCTION;
	CHECK_EQ(dwell_start(&options, NULL), 0);
	fib(1);
}

OUT_OF_LINE static void stop_within(void)
{
	fib(1);
	CHECK_EQ(dwell_stop(NULL), 0);
	fib(1);
}

static struct dwell_lightning_profiler *held;
static unsigned zone;

OUT_OF_LINE static void begin_both(void)
{
	fib(3);
	zone = dwell_begin_id(dwell_intern(DWELL_CATEGORY_ZONE, "zone", NULL), DWELL_CATEGORY_ZONE);
	dwell_lightning_start(held, "held");
	fib(3);
}

OUT_OF_LINE static void end_zone(void)
{
	dwell_end_id(zone);
	sleeper(); /* is no part of the zone any more */
}

OUT_OF_LINE static void outlived(void)
{
	begin_both();
	sleeper();
	end_zone();
	dwell_lightning_stop(held, "held", NULL);
	sleeper();
}

/* ---- reading it -------------------------------------------------------------------------- */

#define MOST_NS 20000000000u /* of a sleep, on a busy machine */

struct found {
	const char *name;
	unsigned calls;
	uint64_t longest_ns;
	uint32_t depth;
};

QUIET static int count(const struct dwell_trace_event *event, void *context)
{
	for (struct found *found = context; found->name; found++)
		if (event->type == DWELL_TRACE_RANGE && strcmp(event->name, found->name) == 0) {
			found->calls++;
			found->depth = event->depth;
			if (event->end_ns - event->start_ns > found->longest_ns)
				found->longest_ns = event->end_ns - event->start_ns;
		}
	return 0;
}

QUIET static void find(struct found *found)
{
	const char *paths[] = { path };
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;

	REQUIRE(dwell_trace_open(&trace, paths, 1, NULL, &error) == 0);
	CHECK_EQ(dwell_trace_events(trace, count, found, &error), 0);
	dwell_trace_close(trace);
}

TEST(every_call_is_there_once)
{
	struct found found[] = { { .name = "fib" }, { .name = "leap" }, { .name = "leapt_over" },
		{ .name = "sleeper" }, { .name = "outermost" }, { .name = "after" },
		{ .name = "start_within" }, { .name = "stop_within" }, { .name = NULL } };
	int file = mkstemp(path);
	pthread_t thread;

	REQUIRE(file >= 0);
	close(file);
	start_within();
	fib(15);
	for (int i = 0; i < 5; i++)
		leapt_over();
	{
		DWELL_ZONE("after");
		leapt_over();
	}
	outermost();
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	stop_within();
	find(found);
	/* 2 fib(n + 1) - 1 calls each, and those of start_within() and stop_within() */
	CHECK_EQ(found[0].calls, 1973 + 177 + 2);
	CHECK_EQ(found[1].calls, 6 * 4);
	CHECK_EQ(found[2].calls, 6);
	CHECK_EQ(found[3].calls, 2);
	CHECK_RANGE(found[3].longest_ns, 30000000, MOST_NS);
	CHECK_EQ(found[4].calls, 1);
	CHECK_RANGE(found[4].longest_ns, 60000000, MOST_NS);
	CHECK_EQ(found[5].depth, 0);
	CHECK_EQ(found[6].calls, 0); /* it began before the recording */
	CHECK_EQ(found[7].calls, 1);
	unlink(path);
}

/* Ranges that begin in a function and end in another, out of order: all are as long as
 * they were, the functions too. */
TEST(ranges_outlive_the_functions_they_began_in)
{
	struct found found[] = { { .name = "zone" }, { .name = "held" }, { .name = "begin_both" },
		{ .name = "sleeper" }, { .name = "outlived" }, { .name = "fib" }, { .name = NULL } };
	struct dwell_options session = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0, "" };

	session.path = path;
	session.categories = DWELL_MASK_DEFAULT | 1u << DWELL_CATEGORY_FUNCTION;
	REQUIRE(dwell_start(&session, &error) == 0);
	held = dwell_lightning_create("simple", NULL, &error);
	REQUIRE(held);
	outlived();
	dwell_lightning_destroy(held);
	CHECK_EQ(dwell_stop(NULL), 0);
	find(found);
	for (unsigned i = 0; i < 6; i++)
		CHECK_EQ(found[i].calls, i == 3 ? 3 : i == 5 ? 10 : 1);
	/* One sleep, two of three, all three; whatever sleeps a busy machine adds to. */
	CHECK(found[0].longest_ns >= 30000000);
	CHECK(found[1].longest_ns >= 60000000);
	CHECK(found[4].longest_ns >= found[1].longest_ns + 30000000);
	CHECK(found[4].longest_ns >= found[2].longest_ns + 90000000);
	unlink(path);
}

TEST(advanced_prints_functions_by_action)
{
	struct dwell_lightning_options options = DWELL_LIGHTNING_OPTIONS_INIT;
	struct dwell_options session = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions;
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	session.path = path;
	session.categories = DWELL_MASK_NONE;
	options.line_restriction = 1;
	REQUIRE(dwell_start(&session, &error) == 0);
	actions = dwell_lightning_create("advanced", &options, &error);
	REQUIRE(actions && dwell_lightning_setup(actions, "fit", -1, NULL, &error) == 0);
	fib(3);
	{
		DWELL_LIGHTNING_ACTION(actions, "training_step");
		fib(10);
		{
			DWELL_LIGHTNING_ACTION(actions, "backward");
			outermost();
		}
	}
	CHECK_EQ(dwell_lightning_summary(actions, file, &error), 0);
	fclose(file);
	dwell_lightning_destroy(actions);
	CHECK_EQ(dwell_stop(NULL), 0);
	CHECK(strncmp(text, "FIT Profiler Report\nProfile stats for: training_step\n         180 function calls "
	              "(4 primitive calls) in ", 97) == 0);
	CHECK_HAS(text, "    177/1    ");
	CHECK_HAS(text, ":0(fib)\n");
	CHECK_HAS(text, "\n\n\n\nProfile stats for: backward\n         3 function calls in ");
	CHECK_HAS(text, "\n        2    ");
	free(text);
	unlink(path);
}

CHECK_MAIN
