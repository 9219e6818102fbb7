/*
 * libdwell-lightning: stages; actions that nest, recur, overlap and run in threads; the report's
 * path and name; errors for misuse. Runs in its own folder, which contains the trace.
 */
#include "check.h"
#include "folder.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dwell/compat/lightning.h>

static void sleep_ms(unsigned ms)
{
	usleep(ms * 1000);
}

static char *summary_of(struct dwell_lightning_profiler *actions)
{
	struct dwell_error error = { 0, "" };
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	CHECK_EQ(dwell_lightning_summary(actions, file, &error), 0);
	fclose(file);
	return text;
}

/* The row's mean, calls and total; calls 0: there is none. */
struct row {
	double mean, total;
	unsigned calls;
};

static struct row row_of(const char *report, const char *action)
{
	struct row row = { 0, 0, 0 };
	char start[128];
	const char *at;

	snprintf(start, sizeof start, "|  %s ", action);
	at = strstr(report, start);
	if (!at) {
		snprintf(start, sizeof start, "|  %s\t", action);
		at = strstr(report, start);
	}
	if (at)
		sscanf(strchr(at, '\t'), " | %lf | %u | %lf", &row.mean, &row.calls, &row.total);
	return row;
}

static void recur(struct dwell_lightning_profiler *actions, int depth)
{
	DWELL_LIGHTNING_ACTION(actions, "recur");

	sleep_ms(5);
	if (depth > 1)
		recur(actions, depth - 1);
}

static void *work(void *actions)
{
	DWELL_LIGHTNING_ACTION((struct dwell_lightning_profiler *)actions, "work");

	sleep_ms(20);
	dwell_lightning_start(actions, "by name");
	sleep_ms(20);
	CHECK_EQ(dwell_lightning_stop(actions, "by name", NULL), 0);
	return NULL;
}

TEST(actions_nest_recur_and_run_in_threads)
{
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions = dwell_lightning_create("Simple", NULL, &error);
	pthread_t threads[2];
	struct row row;
	char *report;

	REQUIRE(actions);
	REQUIRE(dwell_lightning_setup(actions, "fit", -1, NULL, &error) == 0);
	dwell_lightning_start(actions, "outer");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, actions);
	recur(actions, 3);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(dwell_lightning_stop(actions, "outer", &error), 0);
	report = summary_of(actions);
	CHECK(strncmp(report, "FIT Profiler Report\n\n---", 24) == 0);
	row = row_of(report, "work");
	CHECK_EQ(row.calls, 2);
	CHECK_RANGE(row.mean, 0.040, 0.1);
	row = row_of(report, "by name");
	CHECK_EQ(row.calls, 2);
	CHECK_RANGE(row.mean, 0.020, 0.08);
	row = row_of(report, "recur");
	CHECK_EQ(row.calls, 3);
	CHECK_RANGE(row.total, 0.030, 0.09); /* 15 + 10 + 5 ms */
	row = row_of(report, "outer");
	CHECK_EQ(row.calls, 1);
	CHECK_EQ(dwell_lightning_teardown(actions, &error), 0);
	free(report);

	/* The next stage begins with nothing. */
	REQUIRE(dwell_lightning_setup(actions, "fit", -1, NULL, &error) == 0);
	CHECK_EQ(dwell_lightning_setup(actions, "test", -1, NULL, &error), DWELL_E_STATE);
	report = summary_of(actions);
	CHECK_STR(report, "FIT Profiler Report\n\n");
	free(report);
	dwell_lightning_destroy(actions);
}

TEST(actions_that_overlap_keep_their_times)
{
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions = dwell_lightning_create("simple", NULL, &error);
	char *report;

	REQUIRE(actions && dwell_lightning_setup(actions, "validate", -1, NULL, &error) == 0);
	dwell_lightning_start(actions, "first");
	sleep_ms(20);
	dwell_lightning_start(actions, "second");
	sleep_ms(20);
	CHECK_EQ(dwell_lightning_stop(actions, "first", &error), 0);
	sleep_ms(40);
	CHECK_EQ(dwell_lightning_stop(actions, "second", &error), 0);
	report = summary_of(actions);
	CHECK_RANGE(row_of(report, "first").total, 0.040, 0.075);
	CHECK_RANGE(row_of(report, "second").total, 0.060, 0.1);
	free(report);
	dwell_lightning_destroy(actions);
}

/* A handler's range ends while the action that it started goes on; and one that is open
 * when the action stops goes on. */
TEST(actions_outlive_the_ranges_they_began_in)
{
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions = dwell_lightning_create("simple", NULL, &error);
	char *report;

	REQUIRE(actions && dwell_lightning_setup(actions, "validate", -1, NULL, &error) == 0);
	{
		DWELL_LIGHTNING_ACTION(actions, "starts");
		sleep_ms(20);
		dwell_lightning_start(actions, "epoch");
	}
	sleep_ms(40);
	{
		DWELL_LIGHTNING_ACTION(actions, "stops");
		CHECK_EQ(dwell_lightning_stop(actions, "epoch", &error), 0);
		sleep_ms(60);
	}
	report = summary_of(actions);
	CHECK_RANGE(row_of(report, "starts").total, 0.020, 0.060);
	CHECK_RANGE(row_of(report, "epoch").total, 0.040, 0.100);
	CHECK_RANGE(row_of(report, "stops").total, 0.060, 0.140);
	free(report);
	dwell_lightning_destroy(actions);
}

static void count_cycle(struct dwell_profile *profile, const struct dwell_profile_result *result,
                        void *context)
{
	(void)profile;
	(void)result;
	++*(unsigned *)context;
}

/* A schedule counts the stage's own steps, and its `repeat` holds. */
TEST(operators_follow_a_schedule)
{
	struct dwell_profile_options profile = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_lightning_options options = DWELL_LIGHTNING_OPTIONS_INIT;
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions;
	unsigned cycles = 0;
	char *report;

	profile.schedule = (struct dwell_schedule){ .wait = 1, .active = 1, .repeat = 2 };
	profile.on_trace_ready = count_cycle;
	profile.context = &cycles;
	options.profile = &profile;
	options.record_functions = "optimizer_step,other";
	actions = dwell_lightning_create("operators", &options, &error);
	REQUIRE(actions && dwell_lightning_setup(actions, "fit", -1, NULL, &error) == 0);
	for (int i = 0; i < 8; i++) {
		DWELL_LIGHTNING_ACTION(actions, "[LightningModule]Net.optimizer_step");
		{
			DWELL_LIGHTNING_ACTION(actions, "[Strategy]Single.training_step");
			DWELL_OP("aten::conv2d");
		}
		{
			DWELL_LIGHTNING_ACTION(actions, "[Strategy]Single.validation_step"); /* no step of a fit */
			DWELL_OP("aten::relu");
		}
	}
	CHECK_EQ(dwell_lightning_teardown(actions, &error), 0);
	CHECK_EQ(cycles, 2);
	report = summary_of(actions);
	CHECK_HAS(report, "FIT Profiler Report\n");
	CHECK_HAS(report, "aten::");
	free(report);
	dwell_lightning_destroy(actions);
}

TEST(misuse_is_named)
{
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions = dwell_lightning_create("simple", NULL, &error);

	CHECK(!dwell_lightning_create("simpel", NULL, &error));
	CHECK_EQ(error.code, DWELL_E_NAME);
	CHECK_HAS(error.message, "'simpel': there are simple");
	REQUIRE(actions && dwell_lightning_setup(actions, "test", -1, NULL, &error) == 0);
	CHECK_EQ(dwell_lightning_stop(actions, "a\nb", &error), DWELL_E_STATE);
	CHECK_STR(error.message, "Attempting to stop recording an action (a\nb) which was never started.");
	dwell_lightning_start(actions, "left \x01 open");
	CHECK_EQ(dwell_lightning_teardown(actions, &error), DWELL_E_STATE);
	CHECK_HAS(error.message, "action 'left \x01 open' was open at the end of stage 'test'");
	/* The stop that comes late is no error, once. */
	CHECK_EQ(dwell_lightning_stop(actions, "left \x01 open", &error), 0);
	CHECK_EQ(dwell_lightning_stop(actions, "left \x01 open", &error), DWELL_E_STATE);
	dwell_lightning_destroy(actions);
}

/* What a profiler leaves open is neither reported twice nor inherited by the next one, whose
 * memory may be the same. */
TEST(open_actions_go_with_their_profiler)
{
	struct dwell_error error = { 0, "" };

	for (int i = 0; i < 8; i++) {
		struct dwell_lightning_profiler *actions = dwell_lightning_create("simple", NULL, &error);

		REQUIRE(actions && dwell_lightning_setup(actions, "fit", -1, NULL, &error) == 0);
		CHECK_EQ(dwell_lightning_stop(actions, "across", NULL), DWELL_E_STATE);
		dwell_lightning_start(actions, "across");
		CHECK_EQ(dwell_lightning_teardown(actions, NULL), DWELL_E_STATE);
		CHECK_EQ(dwell_lightning_setup(actions, "test", -1, NULL, &error), 0);
		CHECK_EQ(dwell_lightning_teardown(actions, NULL), 0);
		dwell_lightning_destroy(actions);
	}
}

/* A stage can be read while it runs. */
TEST(the_result_of_an_open_stage_is_what_it_recorded_so_far)
{
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions = dwell_lightning_create("simple", NULL, &error);
	struct dwell_profile_result open = { 0 }, ended = { 0 };

	REQUIRE(actions);
	CHECK_EQ(dwell_lightning_result(actions, &open, &error), DWELL_E_NO_DATA);
	CHECK_HAS(error.message, "begin one with dwell_lightning_setup()");
	REQUIRE(dwell_lightning_setup(actions, "fit", -1, NULL, &error) == 0);
	CHECK_EQ(dwell_lightning_result(actions, &open, &error), 0);
	CHECK_EQ(dwell_lightning_teardown(actions, &error), 0);
	CHECK_EQ(dwell_lightning_result(actions, &ended, &error), 0);
	CHECK_EQ(open.id, ended.id);
	CHECK_STR(open.path, ended.path);
	dwell_lightning_destroy(actions);
}

TEST(a_profiler_of_none_records_nothing)
{
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions = dwell_lightning_create("none", NULL, &error);
	char *report;

	REQUIRE(actions && dwell_lightning_setup(actions, "fit", -1, NULL, &error) == 0);
	recur(actions, 2);
	recur(NULL, 1);
	report = summary_of(actions);
	CHECK_STR(report, "");
	CHECK_EQ(dwell_lightning_describe(actions, &error), 0);
	free(report);
	dwell_lightning_destroy(actions);
}

static size_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (size_t)status.st_size : 0;
}

TEST(reports_are_appended_to_a_file_of_stage_and_rank)
{
	struct dwell_lightning_options options = DWELL_LIGHTNING_OPTIONS_INIT;
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *actions;
	size_t once;

	options.dirpath = "reports/of/today";
	options.filename = "perf";
	actions = dwell_lightning_create("simple", &options, &error);
	REQUIRE(actions && dwell_lightning_setup(actions, "fit", 3, "elsewhere", &error) == 0);
	recur(actions, 1);
	CHECK_EQ(dwell_lightning_describe(actions, &error), 0);
	once = size_of("reports/of/today/fit-perf-3.txt");
	CHECK(once > 300);
	CHECK_EQ(dwell_lightning_describe(actions, &error), 0);
	CHECK_RANGE(size_of("reports/of/today/fit-perf-3.txt"), 2 * once - 20, 2 * once + 20);
	dwell_lightning_destroy(actions);

	options.dirpath = "/proc/none";
	actions = dwell_lightning_create("simple", &options, &error);
	REQUIRE(actions && dwell_lightning_setup(actions, "fit", 0, NULL, &error) == 0);
	CHECK_EQ(dwell_lightning_describe(actions, &error), DWELL_E_IO);
	CHECK_HAS(error.message, "/proc/none/fit-perf-0.txt");
	dwell_lightning_destroy(actions);
}

TEST(file_names_are_lightnings)
{
	static const struct { const char *stage; int rank; const char *file, *action, *name; } cases[] = {
		{ "fit", -1, "perf", NULL, "fit-perf.txt" },
		{ "fit", 0, "perf", NULL, "fit-perf-0.txt" },
		{ "validate", 2, "perf", "[Strategy]X.training_step",
		  "validate-perf-2-[Strategy]X.training_step.txt" },
		{ NULL, -1, "perf", NULL, "perf.txt" },
		{ NULL, -1, NULL, NULL, "profile.txt" },
		{ "test", 1, "a/b:c*?<x>|\n\td", NULL, "test-a_b_c_x_d-1.txt" },
	};
	char name[128];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dwell_lightning_profiler actions = { .stage = cases[i].stage, .local_rank = cases[i].rank,
			.filename = cases[i].file };

		dwell_lightning_filename(&actions, cases[i].action, ".txt", name, sizeof name);
		CHECK_STR(name, cases[i].name);
	}
}

CHECK_MAIN
