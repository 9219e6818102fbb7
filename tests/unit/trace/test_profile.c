/*
 * Profile objects, from the call to the table: the content of each, read from the trace that the
 * same process is writing.
 */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwell/probe.h"
#include "dwell/trace.h"
#include "model/core/model_data.h"
#include "model/model.h"
#include "trace/trace.h"

static char folder[64], path[96];

static bool begin_session(uint32_t categories)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0, "" };

	snprintf(folder, sizeof folder, "/tmp/dwell-unit-XXXXXX");
	if (!mkdtemp(folder))
		return false;
	snprintf(path, sizeof path, "%s/t.dwell", folder);
	options.path = path;
	options.categories = categories;
	if (dwell_start(&options, &error) == 0)
		return true;
	printf("%s\n", error.message);
	return false;
}

static void end_session(void)
{
	dwell_stop(NULL);
	unlink(path);
	rmdir(folder);
}

/* ---- what the trace says ----------------------------------------------------------- */

/* Calls of `name` in what the scope means. */
static uint64_t calls_in(const struct dwell_scope *scope, const char *name)
{
	struct dwell_error error = { 0, "" };
	const char *paths[] = { path };
	struct dwell_trace *trace;
	uint64_t calls = 0;

	if (dwell_trace_open(&trace, paths, 1, scope, &error)) {
		CHECK_FAIL("%s", error.message);
		return 0;
	}
	struct dw_model *model = dw_trace_model(trace);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const struct dw_flat *flat = dw_model_flat(model, UINT32_MAX, &error);

	for (size_t i = 0; flat && i < flat->count; i++)
		if (strcmp(symbols[flat->rows[i].symbol].name, name) == 0)
			calls += flat->rows[i].stat.count;
	dwell_trace_close(trace);
	return calls;
}

static uint64_t calls_of(const char *profile, const char *name)
{
	struct dwell_scope scope = { .size = sizeof scope, .profile = profile };

	return calls_in(&scope, name);
}

static uint64_t calls_of_result(const struct dwell_profile_result *result, const char *name)
{
	struct dwell_scope scope = { .size = sizeof scope, .profile_id = result->id };

	return calls_in(&scope, name);
}

static struct dwell_profile *make(const char *name)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;

	options.name = name;
	return dwell_profile_create(&options, NULL);
}

static void work(const char *name, int times)
{
	uint32_t id = dwell_intern(DWELL_CATEGORY_OPERATOR, name, NULL);

	for (int i = 0; i < times; i++) {
		DWELL_SCOPE_ID(DWELL_CATEGORY_OPERATOR, id);
	}
}

/* ---- ranges ---------------------------------------------------------------------------- */

TEST(a_profile_sees_its_own_range_and_nothing_else)
{
	struct dwell_profile_result result;
	struct dwell_profile *profile;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	profile = make("mine");
	REQUIRE(profile);
	work("before", 3);
	CHECK_EQ(dwell_profile_result(profile, &result, NULL), DWELL_E_NO_DATA);
	CHECK_EQ(dwell_profile_start(profile, NULL), 0);
	CHECK_EQ(dwell_profile_start(profile, NULL), DWELL_E_STATE);
	CHECK_EQ(dwell_profile_action(profile), DWELL_ACTION_RECORD);
	work("within", 5);
	CHECK_EQ(dwell_profile_stop(profile, NULL), 0);
	CHECK_EQ(dwell_profile_stop(profile, NULL), DWELL_E_STATE);
	work("after", 7);
	CHECK_EQ(dwell_profile_result(profile, &result, NULL), 0);
	CHECK_EQ(calls_of("mine", "within"), 5);
	CHECK_EQ(calls_of_result(&result, "within"), 5);
	/* Nothing else wanted anything: the rest was not recorded at all. */
	CHECK_EQ(calls_in(NULL, "before") + calls_in(NULL, "after"), 0);
	CHECK_EQ(calls_in(NULL, "within"), 5);
	dwell_profile_destroy(profile);
	end_session();
}

TEST(beside_a_session_that_records_all)
{
	struct dwell_profile *profile;

	REQUIRE(begin_session(0));
	profile = make("part");
	work("op", 3);
	dwell_profile_start(profile, NULL);
	work("op", 4);
	dwell_profile_stop(profile, NULL);
	work("op", 5);
	CHECK_EQ(calls_in(NULL, "op"), 12);
	CHECK_EQ(calls_of("part", "op"), 4);
	dwell_profile_destroy(profile);
	end_session();
}

TEST(profiles_nest_and_overlap)
{
	struct dwell_profile *outer, *inner, *late;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	outer = make("outer");
	inner = make("inner");
	late = make("late");
	dwell_profile_start(outer, NULL);
	work("op", 1);
	dwell_profile_start(inner, NULL);
	work("op", 2);
	dwell_profile_start(late, NULL);
	work("op", 4);
	dwell_profile_stop(inner, NULL);
	work("op", 8);
	dwell_profile_stop(outer, NULL);
	work("op", 16);
	dwell_profile_stop(late, NULL);
	work("op", 32);
	CHECK_EQ(calls_of("outer", "op"), 1 + 2 + 4 + 8);
	CHECK_EQ(calls_of("inner", "op"), 2 + 4);
	CHECK_EQ(calls_of("late", "op"), 4 + 8 + 16);
	dwell_profile_destroy(outer);
	dwell_profile_destroy(inner);
	dwell_profile_destroy(late);
	end_session();
}

TEST(a_scope_ends_with_its_block)
{
	struct dwell_profile *profile;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	profile = make("block");
	{
		DWELL_PROFILE(profile);
		work("op", 2);
	}
	work("op", 1);
	CHECK_EQ(dwell_profile_action(profile), DWELL_ACTION_NONE);
	CHECK_EQ(calls_of("block", "op"), 2);
	dwell_profile_destroy(profile);
	end_session();
}

static pthread_barrier_t barrier;

static void *thread_with_its_own(void *unused)
{
	struct dwell_profile *profile = make("theirs");

	dwell_profile_start(profile, NULL);
	pthread_barrier_wait(&barrier);
	work("own", 3);
	dwell_profile_stop(profile, NULL);
	work("helped", 2);
	pthread_barrier_wait(&barrier);
	dwell_profile_destroy(profile);
	return unused;
}

TEST(a_thread_inside_its_own_profile_is_that_ones_affair)
{
	struct dwell_profile *profile;
	pthread_t thread;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	profile = make("ours");
	pthread_barrier_init(&barrier, NULL, 2);
	dwell_profile_start(profile, NULL);
	pthread_create(&thread, NULL, thread_with_its_own, NULL);
	pthread_barrier_wait(&barrier);
	work("main", 4);
	pthread_barrier_wait(&barrier);
	dwell_profile_stop(profile, NULL);
	pthread_join(thread, NULL);
	CHECK_EQ(calls_of("ours", "main"), 4);
	CHECK_EQ(calls_of("ours", "own"), 0);
	CHECK_EQ(calls_of("ours", "helped"), 2);
	CHECK_EQ(calls_of("theirs", "own"), 3);
	/* Main was inside a profile of its own then. */
	CHECK_EQ(calls_of("theirs", "main"), 0);
	dwell_profile_destroy(profile);
	pthread_barrier_destroy(&barrier);
	end_session();
}

TEST(what_is_asked_for_is_recorded_while_it_is_open)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile *plain, *detailed;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	plain = make("plain");
	options.with_flops = options.profile_memory = options.with_stack = true;
	detailed = dwell_profile_create(&options, NULL);
	CHECK(!dwell_wants(~DWELL_MASK_NONE));
	dwell_profile_start(plain, NULL);
	CHECK(dwell_wants(1u << DWELL_CATEGORY_OPERATOR));
	CHECK(!dwell_wants(1u << DWELL_CATEGORY_ALLOCATION | DWELL_DETAIL_SHAPES));
	dwell_profile_start(detailed, NULL);
	CHECK(dwell_wants(DWELL_DETAIL_SHAPES));
	CHECK(dwell_wants(DWELL_DETAIL_STACKS));
	CHECK(dwell_wants(1u << DWELL_CATEGORY_ALLOCATION));
	dwell_profile_stop(plain, NULL);
	CHECK(dwell_wants(1u << DWELL_CATEGORY_OPERATOR));
	dwell_profile_stop(detailed, NULL);
	CHECK(!dwell_wants(~DWELL_MASK_NONE));
	dwell_profile_destroy(plain);
	dwell_profile_destroy(detailed);
	end_session();
}

TEST(categories_alone_are_recorded)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_error error = { 0, "" };
	struct dwell_profile *profile;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	options.categories = 1u << DWELL_CATEGORY_PHASE;
	profile = dwell_profile_create(&options, NULL);
	dwell_profile_start(profile, NULL);
	CHECK(dwell_wants(1u << DWELL_CATEGORY_PHASE));
	CHECK(!dwell_wants(~(1u << DWELL_CATEGORY_PHASE | DWELL_MASK_NONE)));
	dwell_profile_stop(profile, NULL);
	CHECK(!dwell_wants(~DWELL_MASK_NONE));
	dwell_profile_destroy(profile);
	options.categories = 1u << DWELL_CATEGORY_COUNT;
	CHECK(dwell_profile_create(&options, &error) == NULL);
	CHECK_EQ(error.code, DWELL_E_ARGUMENT);
	end_session();
}

TEST(a_child_of_fork_leaves_the_fathers_profile_alone)
{
	struct dwell_profile *profile;
	int status = 1;
	pid_t child;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	profile = make("father");
	dwell_profile_start(profile, NULL);
	child = fork();
	if (child == 0) {
		work("child", 2);
		dwell_profile_step(profile, NULL);
		_exit(dwell_profile_stop(profile, NULL));
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	work("father", 3);
	dwell_profile_stop(profile, NULL);
	CHECK_EQ(calls_of("father", "child"), 2);
	CHECK_EQ(calls_of("father", "father"), 3);
	dwell_profile_destroy(profile);
	end_session();
}

/* ---- schedules ------------------------------------------------------------------------- */

struct ready {
	char text[256];
	uint64_t calls;
	bool read;
};

static void note_ready(struct dwell_profile *profile, const struct dwell_profile_result *result,
                       void *context)
{
	struct ready *ready = context;
	size_t used = strlen(ready->text);

	snprintf(ready->text + used, sizeof ready->text - used, "%" PRIu64 "@%" PRIu64 " ",
	         result->cycle, result->step_num);
	if (ready->read)
		ready->calls += calls_of_result(result, "op");
}

TEST(cycles_are_handed_out_while_the_program_goes_on)
{
	for (int background = 0; background < 2; background++) {
		struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
		struct ready ready = { .read = true };
		struct dwell_profile *profile;

		REQUIRE(begin_session(DWELL_MASK_NONE));
		options.name = "cycles";
		options.schedule = (struct dwell_schedule){ .skip_first = 1, .wait = 1, .warmup = 1,
			                                        .active = 2, .repeat = 2 };
		options.on_trace_ready = note_ready;
		options.context = &ready;
		options.background = background;
		profile = dwell_profile_create(&options, NULL);
		dwell_profile_start(profile, NULL);
		for (int step = 0; step < 14; step++) {
			static const char actions[] = "NNWRSNWRSNNNNN";
			static const char names[] = "NWRS";

			CHECK_EQ(names[dwell_profile_action(profile)], actions[step]);
			CHECK_EQ(dwell_profile_step_num(profile), step);
			work("op", 1 << step);
			CHECK_EQ(dwell_profile_step(profile, NULL), 0);
		}
		CHECK_EQ(dwell_profile_stop(profile, NULL), 0);
		CHECK(strcmp(ready.text, "0@5 1@9 ") == 0);
		CHECK_EQ(ready.calls, 1 << 3 | 1 << 4 | 1 << 7 | 1 << 8);
		/* Warm-up is not recorded. */
		CHECK_EQ(calls_in(NULL, "op"), ready.calls);
		dwell_profile_destroy(profile);
		end_session();
	}
}

/* The action of each step as a letter; a letter more is the exit. */
static const char *letters;

static enum dwell_action by_letters(uint64_t step, void *unused)
{
	switch (letters[step]) {
	case 'W': return DWELL_ACTION_WARMUP;
	case 'R': return DWELL_ACTION_RECORD;
	case 'S': return DWELL_ACTION_RECORD_AND_SAVE;
	default: return DWELL_ACTION_NONE;
	}
}

/*
 * torch.profiler's table of transitions: `ready` as that calls on_trace_ready, an error
 * where that warns of an incorrect schedule.
 */
static void check_transitions(const char *actions, const char *wanted, bool wants_error)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct ready ready = { .read = false };
	struct dwell_profile *profile;
	int failed = 0;

	letters = actions;
	options.action = by_letters;
	options.on_trace_ready = note_ready;
	options.context = &ready;
	profile = dwell_profile_create(&options, NULL);
	dwell_profile_start(profile, NULL);
	for (size_t step = 0; step + 1 < strlen(actions); step++)
		failed |= dwell_profile_step(profile, NULL);
	dwell_profile_stop(profile, NULL);
	if (strcmp(ready.text, wanted) != 0)
		CHECK_FAIL("%s: results %s, not %s", actions, ready.text, wanted);
	if ((failed == DWELL_E_ARGUMENT) != wants_error)
		CHECK_FAIL("%s: error %d", actions, failed);
	CHECK(!dwell_wants(~DWELL_MASK_NONE));
	dwell_profile_destroy(profile);
}

TEST(transitions_as_torch_has_them)
{
	REQUIRE(begin_session(DWELL_MASK_NONE));
	check_transitions("NN", "", false);
	check_transitions("NW", "", false);
	check_transitions("NR", "0@1 ", false); /* the exit hands out what there is */
	check_transitions("NS", "0@1 ", false);
	check_transitions("WN", "", true);
	check_transitions("WW", "", false);
	check_transitions("WR", "0@1 ", false);
	check_transitions("WS", "0@1 ", false);
	check_transitions("RN", "", true);
	check_transitions("RW", "", true);
	check_transitions("RR", "0@1 ", false);
	check_transitions("RS", "0@1 ", false);
	check_transitions("SN", "0@1 ", false);
	check_transitions("SW", "0@1 ", false);
	check_transitions("SR", "0@1 1@1 ", false);
	check_transitions("SS", "0@1 1@1 ", false);
	end_session();
}

/* ---- steps ------------------------------------------------------------------------------ */

static uint64_t steps_in_trace(uint64_t *last)
{
	struct dwell_error error = { 0, "" };
	const char *paths[] = { path };
	struct dwell_trace *trace;
	uint64_t count = 0;

	if (dwell_trace_open(&trace, paths, 1, NULL, &error)) {
		CHECK_FAIL("%s", error.message);
		return 0;
	}
	count = dw_trace_source(trace)->step_count;
	*last = count ? dw_trace_source(trace)->steps[count - 1].number : UINT64_MAX;
	dwell_trace_close(trace);
	return count;
}

TEST(the_steps_of_a_profile_are_the_traces)
{
	struct dwell_profile *outer, *inner;
	uint64_t last;

	REQUIRE(begin_session(0));
	outer = make("outer");
	inner = make("inner");
	dwell_profile_start(outer, NULL);
	for (int i = 0; i < 4; i++) {
		dwell_profile_start(inner, NULL);
		for (int j = 0; j < 3; j++)
			dwell_profile_step(inner, NULL); /* not the ones that count: outer marks them */
		dwell_profile_stop(inner, NULL);
		dwell_profile_step(outer, NULL);
	}
	dwell_profile_stop(outer, NULL);
	dwell_profile_destroy(outer);
	dwell_profile_destroy(inner);
	dwell_profile_start(outer = make("second"), NULL);
	dwell_profile_step(outer, NULL);
	dwell_profile_stop(outer, NULL);
	dwell_profile_destroy(outer);
	CHECK_EQ(steps_in_trace(&last), last + 1);
	end_session();
}

TEST(a_program_that_marks_its_steps_keeps_them)
{
	struct dwell_profile *profile;
	uint64_t last;

	REQUIRE(begin_session(0));
	profile = make("beside");
	dwell_profile_start(profile, NULL);
	for (int i = 0; i < 5; i++) {
		{
			DWELL_STEP();
			work("op", 1);
		}
		dwell_profile_step(profile, NULL);
	}
	dwell_profile_stop(profile, NULL);
	CHECK_EQ(steps_in_trace(&last), 5);
	CHECK_EQ(last, 4);
	dwell_profile_destroy(profile);
	end_session();
}

TEST(a_profile_without_steps_marks_none)
{
	struct dwell_profile *profile;
	uint64_t last;

	REQUIRE(begin_session(0));
	profile = make("no steps");
	dwell_profile_start(profile, NULL);
	work("op", 1);
	CHECK_EQ(dwell_profile_stop(profile, NULL), 0);
	CHECK_EQ(steps_in_trace(&last), 0);
	dwell_profile_destroy(profile);
	end_session();
}

/* ---- thousands of results -------------------------------------------------------------- */

struct reading {
	size_t entries, chunks;
};

/* Reads a result as the Python package does, and counts what of the trace that takes. */
static struct reading read_result(const struct dwell_profile_result *result)
{
	struct dwell_error error = { 0, "" };
	struct reading reading = { 0, 0 };
	struct dwell_trace *trace;
	struct dwell_table *table = NULL;

	if (dwell_trace_open_result(&trace, result, &error)) {
		CHECK_FAIL("%s", error.message);
		return reading;
	}
	const struct dw_source *source = dw_trace_source(trace);
	struct dw_model *model = dw_trace_model(trace);
	uint32_t **visits = calloc(source->stream_count + 1, sizeof *visits);

	for (size_t i = 0; i < source->stream_count; i++)
		visits[i] = calloc(source->streams[i].chunk_count, sizeof **visits);
	model->visits = visits;
	reading.entries = source->profile_count + source->step_count + source->files[0].symbol_count;
	CHECK_EQ(dwell_trace_view(trace, "calls", NULL, &table, &error), 0);
	for (size_t i = 0; i < source->stream_count; i++) {
		for (size_t c = 0; c < source->streams[i].chunk_count; c++)
			reading.chunks += visits[i][c];
		free(visits[i]);
	}
	model->visits = NULL;
	free(visits);
	dwell_table_destroy(table);
	dwell_trace_close(trace);
	return reading;
}

/* Each result takes as much of the trace as the first ones, whatever was recorded before it. */
TEST(a_result_is_read_without_what_was_before_it)
{
	enum { RESULTS = 8000, CHUNK = 65472 / 48 };
	static struct dwell_profile_result results[RESULTS], all;
	struct dwell_profile *outer;
	struct reading early = { 0, 0 }, late;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	outer = make("outer");
	CHECK_EQ(dwell_profile_start(outer, NULL), 0);
	for (int i = 0; i < RESULTS; i++) {
		struct dwell_profile *profile = make("short");

		dwell_profile_start(profile, NULL);
		dwell_step_begin();
		work("work", 1 + i % 7);
		dwell_step_end();
		dwell_profile_stop(profile, NULL);
		CHECK_EQ(dwell_profile_result(profile, &results[i], NULL), 0);
		dwell_profile_destroy(profile);
		if (i == CHUNK / 2)
			early = read_result(&results[i]);
	}
	late = read_result(&results[RESULTS - 1]);
	/* The chunk that is written, and that of `outer`. */
	CHECK(late.entries <= 2 * CHUNK + 100);
	CHECK(late.chunks <= early.chunks + 2);
	/* Results of before stay what they were, and so does that of the whole. */
	for (int i = 0; i < RESULTS; i += 997)
		CHECK_EQ(calls_of_result(&results[i], "work"), 1 + i % 7);
	CHECK_EQ(dwell_profile_stop(outer, NULL), 0);
	CHECK_EQ(dwell_profile_result(outer, &all, NULL), 0);
	CHECK_EQ(calls_of_result(&all, "work"), RESULTS / 7 * 28 + 21);
	dwell_profile_destroy(outer);
	end_session();
}

/* ---- bad input ---------------------------------------------------------------------------- */

static void check_refused(struct dwell_profile_options options, const char *says)
{
	struct dwell_error error = { 0, "" };

	CHECK(!dwell_profile_create(&options, &error));
	CHECK_EQ(error.code, DWELL_E_ARGUMENT);
	if (!strstr(error.message, says))
		CHECK_FAIL("'%s' does not say '%s'", error.message, says);
}

TEST(bad_input_is_named)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile *profile;
	struct dwell_error error = { 0, "" };

	REQUIRE(begin_session(DWELL_MASK_NONE));
	options.schedule.wait = 5;
	check_refused(options, "active is 0");
	options.schedule.active = 1;
	options.schedule.warmup = (uint32_t)-1;
	check_refused(options, "warmup is -1");
	options.schedule.warmup = 0;
	options.activities = 8;
	check_refused(options, "DWELL_ACTIVITY_CPU");
	options.activities = 0;
	options.size--;
	check_refused(options, "DWELL_PROFILE_OPTIONS_INIT");
	options.size++;
	profile = dwell_profile_create(&options, NULL);
	CHECK_EQ(dwell_profile_step(profile, NULL), DWELL_E_STATE);
	dwell_profile_start(profile, NULL);
	CHECK_EQ(dwell_profile_stop(profile, &error), DWELL_E_STATE);
	CHECK(strstr(error.message, "dwell_profile_step() was never called"));
	dwell_profile_destroy(profile);
	dwell_profile_destroy(NULL);
	end_session();
}

TEST(cuda_without_a_device_warns)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile *profile;

	REQUIRE(begin_session(DWELL_MASK_NONE));
	options.activities = DWELL_ACTIVITY_CPU | DWELL_ACTIVITY_CUDA;
	profile = dwell_profile_create(&options, NULL);
	REQUIRE(profile);
	CHECK(dwell_profile_warning(profile) && strstr(dwell_profile_warning(profile), "CUDA"));
	dwell_profile_destroy(profile);
	profile = make(NULL);
	CHECK(!dwell_profile_warning(profile));
	dwell_profile_destroy(profile);
	end_session();
}

CHECK_MAIN
