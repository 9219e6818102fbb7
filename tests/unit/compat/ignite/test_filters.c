/*
 * The values that each filter passes, compared with Ignite's (tests/golden/ignite/filters.txt), and
 * the errors for invalid filters.
 */
#include "script.h"

static bool one_or_five(struct dwell_ignite_engine *engine, uint64_t value, void *user)
{
	(void)engine, (void)user;
	return value == 1 || value == 5;
}

struct seen {
	uint64_t values[64];
	int count;
};

static int see(struct dwell_ignite_engine *engine, void *user)
{
	struct seen *seen = user;

	seen->values[seen->count++ % 64] = dwell_ignite_engine_state(engine)->iteration;
	return 0;
}

static int run_with(const char *when, dwell_ignite_event_filter *filter, struct seen *seen)
{
	struct dwell_ignite_engine *engine;
	struct numbers numbers;
	struct dwell_ignite_data data = numbers_init(&numbers, 0, 12, true, true);
	int result;

	seen->count = 0;
	if (dwell_ignite_engine_create(&engine, "trainer", do_nothing, NULL, NULL) != 0)
		return -1;
	result = dwell_ignite_engine_add(engine, when, "see", see, filter, seen, NULL, NULL);
	if (!result)
		result = dwell_ignite_engine_run(engine, &data, NULL, NULL);
	dwell_ignite_engine_destroy(engine);
	return result;
}

/* A line of the file is "  EVENT(filter): [1, 2]", with words around the list. */
static void check_line(char *line)
{
	char *end = strstr(line, "): "), got[256] = "[", *list = end ? strchr(end, '[') : NULL;
	bool function = strstr(line, "event_filter") != NULL;
	struct seen seen;

	REQUIRE(list && strchr(list, ']'));
	strchr(list, ']')[1] = '\0';
	end[1] = '\0';
	if (function)
		memcpy(strchr(line, '='), ")", 2);
	CHECK_EQ(run_with(line, function ? one_or_five : NULL, &seen), 0);
	for (int i = 0; i < seen.count; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), i ? ", %d" : "%d",
		         (int)seen.values[i]);
	snprintf(got + strlen(got), sizeof got - strlen(got), "]");
	if (strcmp(got, list) != 0)
		CHECK_FAIL("%s: %s, not %s", line, got, list);
}

TEST(filters_pass_what_ignites_pass)
{
	const char *folder = getenv("DWELL_GOLDEN");
	char path[1024], line[256];
	FILE *golden;
	int lines = 0;

	snprintf(path, sizeof path, "%s/ignite/filters.txt", folder ? folder : "tests/golden");
	golden = fopen(path, "r");
	REQUIRE(golden);
	while (fgets(line, sizeof line, golden))
		if (line[0] == ' ') {
			check_line(line);
			lines++;
		}
	CHECK_EQ(lines, 15);
	fclose(golden);
}

TEST(every_one_keeps_its_bounds)
{
	/* Ignite forgets them. */
	struct seen seen;

	CHECK_EQ(run_with("ITERATION_STARTED(every=1, before=4)", NULL, &seen), 0);
	CHECK_EQ(seen.count, 3);
}

TEST(joined_events_keep_their_filters)
{
	struct seen seen;

	CHECK_EQ(run_with("STARTED|ITERATION_COMPLETED( every = 5 ) | COMPLETED", NULL, &seen), 0);
	CHECK_EQ(seen.count, 4);
	CHECK_EQ(seen.values[0], 0);
	CHECK_EQ(seen.values[1], 5);
	CHECK_EQ(seen.values[2], 10);
	CHECK_EQ(seen.values[3], 12);
}

static const struct {
	const char *when;
	int code;
	const char *part;
} errors[] = {
	{ "nope", DWELL_E_NAME, "'nope' is not an event of engine 'trainer'" },
	{ "", DWELL_E_ARGUMENT, "name is missing" },
	{ "STARTED |", DWELL_E_ARGUMENT, "name is missing" },
	{ "STARTED COMPLETED", DWELL_E_ARGUMENT, "join events with '|'" },
	{ "STARTED()", DWELL_E_ARGUMENT, "only one of" },
	{ "STARTED(every=2, once=3)", DWELL_E_ARGUMENT, "STARTED(every=2, once=3): only one of" },
	{ "STARTED(before=2, once=3)", DWELL_E_ARGUMENT, "only one of" },
	{ "STARTED(every=2, event_filter)", DWELL_E_ARGUMENT, "only one of" },
	{ "STARTED(every=2, every=3)", DWELL_E_ARGUMENT, "given twice" },
	{ "STARTED(event_filter)", DWELL_E_ARGUMENT, "event_filter needs a function" },
	{ "STARTED(every=0)", DWELL_E_ARGUMENT, "every should be an integer greater than zero" },
	{ "STARTED(every=-1)", DWELL_E_ARGUMENT, "every should be" },
	{ "STARTED(every=1.5)", DWELL_E_ARGUMENT, "every should be" },
	{ "STARTED(every=99999999999999999999)", DWELL_E_ARGUMENT, "every should be" },
	{ "STARTED(every=)", DWELL_E_ARGUMENT, "every should be" },
	{ "STARTED(every)", DWELL_E_ARGUMENT, "needs a value" },
	{ "STARTED(every=3", DWELL_E_ARGUMENT, "every should be" },
	{ "STARTED(once=0)", DWELL_E_ARGUMENT, "once is a positive integer or a list" },
	{ "STARTED(once=[])", DWELL_E_ARGUMENT, "once is a positive integer or a list" },
	{ "STARTED(once=[1,a])", DWELL_E_ARGUMENT, "once is a positive integer or a list" },
	{ "STARTED(once=[1, 2)", DWELL_E_ARGUMENT, "once is a positive integer or a list" },
	{ "STARTED(before=-1)", DWELL_E_ARGUMENT, "before should be an integer greater than or" },
	{ "STARTED(after=x)", DWELL_E_ARGUMENT, "after should be an integer greater than or" },
	{ "STARTED(often=2)", DWELL_E_ARGUMENT, "a filter is every=N" },
	{ "STARTED(every=2]", DWELL_E_ARGUMENT, "')' is missing" },
	{ "TERMINATE(every=2)", DWELL_E_ARGUMENT, "has no value" },
	{ "COMPLETED | STARTED(every=0)", DWELL_E_ARGUMENT, "STARTED(every=0): every" },
};

TEST(wrong_text_is_named_and_adds_nothing)
{
	struct dwell_ignite_engine *engine;
	struct seen seen = { .count = 0 };
	struct dwell_ignite_limits limits = limits_of(1, 0, 2);
	uint64_t handle = 77;

	REQUIRE(dwell_ignite_engine_create(&engine, "trainer", do_nothing, NULL, NULL) == 0);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		struct dwell_error error = { 0, "" };

		CHECK_EQ(dwell_ignite_engine_add(engine, errors[i].when, "see", see, NULL, &seen, &handle,
		                                 &error), errors[i].code);
		CHECK_EQ(error.code, errors[i].code);
		CHECK_HAS(error.message, errors[i].part);
		CHECK_EQ(dwell_ignite_engine_on(engine, errors[i].when, see, &seen, NULL), errors[i].code);
	}
	CHECK_EQ(handle, 77);
	CHECK_EQ(dwell_ignite_engine_run(engine, NULL, &limits, NULL), 0);
	CHECK_EQ(seen.count, 0);
	dwell_ignite_engine_destroy(engine);
}

TEST(a_filter_function_needs_its_place)
{
	struct dwell_ignite_engine *engine;
	struct dwell_error error;

	REQUIRE(dwell_ignite_engine_create(&engine, "trainer", do_nothing, NULL, NULL) == 0);
	CHECK_EQ(dwell_ignite_engine_add(engine, "STARTED", "see", see, one_or_five, NULL, NULL, &error),
	         DWELL_E_ARGUMENT);
	CHECK_HAS(error.message, "write EVENT(event_filter)");
	CHECK_EQ(dwell_ignite_engine_add(engine, "STARTED", "see", NULL, NULL, NULL, NULL, &error),
	         DWELL_E_ARGUMENT);
	CHECK_EQ(dwell_ignite_engine_add(engine, NULL, "see", see, NULL, NULL, NULL, &error),
	         DWELL_E_ARGUMENT);
	dwell_ignite_engine_destroy(engine);
}

CHECK_MAIN
