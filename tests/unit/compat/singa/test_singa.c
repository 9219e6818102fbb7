/*
 * Time profiling: what each verbosity records, in a program with and without a session of its own;
 * what is refused; the listing.
 */
#include "check.h"
#include "folder.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dwell/probe.h>
#include <dwell/compat/singa.h>
#include <dwell/trace.h>

enum { ITERATIONS = 4 };

static char path[512]; /* of the trace that train() wrote */

static void iteration(void)
{
	DWELL_STEP();
	{
		DWELL_PHASE("forward");
		{
			DWELL_OP("Conv");
			usleep(20000);
		}
		DWELL_OP("ReLU");
		usleep(1000); /* what takes no tick of a coarse clock is not listed */
	}
	{
		DWELL_PHASE("backward");
		DWELL_OP("ConvBackward");
		usleep(20000);
	}
	DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "Dist_s_synch_allreduce");
	usleep(1000);
	DWELL_ZONE("not of the graph");
}

static void train(int iterations)
{
	for (int i = 0; i < iterations; i++)
		iteration();
	snprintf(path, sizeof path, "%s", dwell_trace_path() ? dwell_trace_path() : "");
}

/* ---- what is recorded ----------------------------------------------------------------- */

struct found {
	int phases, operators, communication, others, steps;
};

static int count(const struct dwell_trace_event *event, void *context)
{
	struct found *found = context;

	if (event->type == DWELL_TRACE_STEP)
		found->steps++;
	if (event->type != DWELL_TRACE_RANGE)
		return 0;
	switch (event->category) {
	case DWELL_CATEGORY_PHASE:
		found->phases++;
		break;
	case DWELL_CATEGORY_OPERATOR:
		found->operators++;
		break;
	case DWELL_CATEGORY_COMMUNICATION:
		found->communication++;
		break;
	case DWELL_CATEGORY_PROFILER:
		break;
	default:
		found->others++;
	}
	return 0;
}

static void find(struct found *found)
{
	const char *paths[] = { path };
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;

	*found = (struct found){ 0 };
	REQUIRE(dwell_trace_open(&trace, paths, 1, NULL, &error) == 0);
	CHECK_EQ(dwell_trace_events(trace, count, found, &error), 0);
	dwell_trace_close(trace);
	unlink(path);
}

static void record(int verbosity)
{
	struct dwell_error error = { 0, "" };

	CHECK_EQ(dwell_singa_set_verbosity(verbosity, &error), 0);
	train(ITERATIONS);
	CHECK_EQ(dwell_singa_set_verbosity(0, &error), 0);
	iteration(); /* nobody asks for it */
	CHECK_EQ(dwell_stop(&error), 0);
}

TEST(verbosity_0_starts_nothing)
{
	CHECK_EQ(dwell_singa_set_verbosity(0, NULL), 0);
	train(1);
	CHECK(!dwell_active());
	CHECK_EQ(dwell_singa_print_time_profiling(stderr, NULL), 0);
}

TEST(each_verbosity_records_its_categories_alone)
{
	static const struct found want[] = { { 0 }, { 2, 0, 0, 0, 0 }, { 2, 3, 1, 0, 0 }, { 2, 0, 1, 0, 0 } };

	for (int verbosity = 1; verbosity <= 3; verbosity++) {
		struct found found;

		record(verbosity);
		find(&found);
		CHECK_EQ(found.phases, ITERATIONS * want[verbosity].phases);
		CHECK_EQ(found.operators, ITERATIONS * want[verbosity].operators);
		CHECK_EQ(found.communication, ITERATIONS * want[verbosity].communication);
		CHECK_EQ(found.others, 0);
		CHECK_EQ(found.steps, ITERATIONS + 1);
	}
}

TEST(a_session_goes_on_beside_it)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct found found;

	options.path = "session.dwell";
	CHECK_EQ(dwell_start(&options, NULL), 0);
	record(1);
	find(&found);
	CHECK_EQ(found.phases, 2 * (ITERATIONS + 1));
	CHECK_EQ(found.operators, 3 * (ITERATIONS + 1));
	CHECK_EQ(found.others, ITERATIONS + 1);
}

TEST(a_child_of_fork_has_none)
{
	struct dwell_error error = { 0, "" };
	struct found found;
	int status = 1;
	pid_t child;

	CHECK_EQ(dwell_singa_set_verbosity(2, &error), 0);
	train(1);
	child = fork();
	if (child == 0) {
		int code = dwell_singa_print_time_profiling(stderr, &error);

		code |= dwell_singa_set_verbosity(1, &error);
		iteration();
		_exit(code ? 1 : 0);
	}
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
	iteration();
	CHECK_EQ(dwell_singa_set_verbosity(0, &error), 0);
	CHECK_EQ(dwell_stop(&error), 0);
	find(&found);
	CHECK_EQ(found.phases, 2 * 3);
}

/* ---- the listing ---------------------------------------------------------------------------- */

/* What is printed, or the error's message; the caller's. */
static char *listing(int *code)
{
	struct dwell_error error = { 0, "" };
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	*code = dwell_singa_print_time_profiling(file, &error);
	fclose(file);
	if (*code) {
		free(text);
		text = strdup(error.message);
	}
	return text;
}

/* Of a few iterations at a verbosity, 2 of them skipped. */
static char *listing_of(int verbosity, int iterations, int *code)
{
	char *text;

	dwell_singa_set_skip_iteration(2);
	CHECK_EQ(dwell_singa_set_verbosity(verbosity, NULL), 0);
	train(iterations);
	text = listing(code);
	CHECK_EQ(dwell_singa_set_verbosity(0, NULL), 0);
	CHECK_EQ(dwell_stop(NULL), 0);
	unlink(path);
	dwell_singa_set_skip_iteration(DWELL_SINGA_SKIP_ITERATION);
	return text;
}

TEST(verbosity_1_prints_forward_and_backward)
{
	double forward = 0, backward = 0;
	int code = 1, end = 0;
	char *text = listing_of(1, 4, &code);

	CHECK_EQ(code, 0);
	CHECK_EQ(sscanf(text, "\nTime Profiling:\nForward Propagation Time : %lf sec\n"
	                "Backward Propagation Time : %lf sec\n%n", &forward, &backward, &end), 2);
	CHECK_EQ((size_t)end, strlen(text));
	CHECK_RANGE(forward, 0.02, 0.06);
	CHECK_RANGE(backward, 0.02, 0.06);
	free(text);
}

TEST(verbosity_2_prints_each_operation_in_order)
{
	double s[4] = { 0 };
	int code = 1;
	char *text = listing_of(2, 4, &code);

	CHECK_EQ(code, 0);
	CHECK_EQ(sscanf(text, "\nTime Profiling:\nOP_ID0. Conv : %lf sec\nOP_ID1. ReLU : %lf sec\n"
	                "OP_ID2. ConvBackward : %lf sec\n"
	                "OP_ID3. Dist_s_synch_allreduce : %lf sec\n", s, s + 1, s + 2, s + 3), 4);
	CHECK_RANGE(s[0], 0.02, 0.06);
	CHECK_RANGE(s[2], 0.02, 0.06);
	free(text);
}

TEST(verbosity_3_prints_the_distributed_alone)
{
	int code = 1, end = 0;
	char *text = listing_of(3, 4, &code);

	CHECK_EQ(code, 0);
	CHECK_EQ(sscanf(text, "\nTime Profiling:\nOP_ID0. Dist_s_synch_allreduce : %*f sec\n%n", &end), 0);
	CHECK_EQ((size_t)end, strlen(text));
	free(text);
}

/* Phases and communication were recorded: forward is the phase's time, not that of the
 * operations before the backward ones, of which there are none. */
TEST(verbosity_1_of_a_trace_of_verbosity_3)
{
	struct dwell_view_options options = { .size = sizeof options, .has_verbosity = true,
		.verbosity = 1, .has_skip_iteration = true, .skip_iteration = 1 };
	const char *paths[] = { path };
	struct dwell_trace *trace;
	double forward = 0;
	char *text = NULL;
	size_t length;
	FILE *file;

	record(3);
	REQUIRE(dwell_trace_open(&trace, paths, 1, NULL, NULL) == 0);
	file = open_memstream(&text, &length);
	CHECK_EQ(dwell_trace_layout(trace, "singa", &options, file, NULL), 0);
	fclose(file);
	dwell_trace_close(trace);
	unlink(path);
	CHECK_EQ(sscanf(text, "\nTime Profiling:\nForward Propagation Time : %lf sec\n", &forward), 1);
	CHECK_RANGE(forward, 0.012, 0.06);
	free(text);
}

TEST(no_iteration_beyond_the_skipped_is_said)
{
	int code = 0;
	char *text = listing_of(2, 2, &code);

	CHECK_EQ(code, DWELL_E_NO_DATA);
	CHECK_HAS(text, "the first 2 iterations are skipped");
	free(text);
	text = listing_of(1, 0, &code);
	CHECK_EQ(code, DWELL_E_NO_DATA);
	free(text);
}

TEST(the_last_verbosity_holds)
{
	int code = 1;
	char *text;

	dwell_singa_set_skip_iteration(0);
	CHECK_EQ(dwell_singa_set_verbosity(1, NULL), 0);
	iteration();
	CHECK_EQ(dwell_singa_set_verbosity(3, NULL), 0);
	train(2);
	text = listing(&code);
	CHECK_EQ(code, 0);
	CHECK_HAS(text, "OP_ID0. Dist_s_synch_allreduce");
	free(text);
	CHECK_EQ(dwell_stop(NULL), 0);
	text = listing(&code);
	CHECK_EQ(code, DWELL_E_NO_DATA);
	free(text);
	CHECK_EQ(dwell_singa_set_verbosity(0, NULL), 0);
	dwell_singa_set_skip_iteration(DWELL_SINGA_SKIP_ITERATION);
	unlink(path);
}

TEST(another_verbosity_is_refused)
{
	struct dwell_error error = { 0, "" };

	CHECK_EQ(dwell_singa_set_verbosity(4, &error), DWELL_E_ARGUMENT);
	CHECK(strncmp(error.message, "no verbosity 4: ", 16) == 0);
	CHECK_EQ(dwell_singa_set_verbosity(-1, NULL), DWELL_E_ARGUMENT);
	CHECK(!dwell_active());
}

CHECK_MAIN
