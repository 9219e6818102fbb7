/* Options of verbs, and their values. The verbs are of this test. */
#include "check.h"

#include "cli/cli.h"

static const struct dw_option options[] = {
	{ DW_OPTION_OUTPUT, "output", 'o', .argument = "FILE", .help = "" },
	{ DW_OPTION_PACK, "pack", .help = "" },
	{ DW_OPTION_FUNCTIONS, "functions", .argument = "[=WHICH]", .help = "" },
	{ DW_OPTION_KEEP, "keep", .argument = "WHICH", .help = "", .choices = "both oldest newest" },
	{ DW_OPTION_FORMAT, "format", 'f', "FORMAT", .help = "", .choices = "@renderers" },
};
const struct dw_verb dw_verbs[] = {
	{ "run", "run", "COMMAND...", options, sizeof options / sizeof *options, NULL, "Verbs", "" },
	{ "info", "info", "[TRACE]", options, 1, NULL, NULL, "" },
};
const size_t dw_verb_count = sizeof dw_verbs / sizeof *dw_verbs;

const struct dw_verb *dw_verb_find(const char *name)
{
	return strcmp(name, "info") == 0 ? &dw_verbs[1] : &dw_verbs[0];
}

static char taken[256]; /* "id=value id=value" */

static int take(void *context, const struct dw_option *option, const char *value)
{
	size_t length = strlen(taken);

	CHECK(context == options);
	snprintf(taken + length, sizeof taken - length, "%s%s%s%s", length ? " " : "", option->name, value ? "=" : "",
	         value ? value : "");
	return 0;
}

static char *words[16];

/* Parses the words of a line. Returns the number of operands. */
static int parse(const char *line, bool stop_early)
{
	static char text[256];
	int count = 0;
	bool done;

	taken[0] = '\0';
	snprintf(text, sizeof text, "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	return dw_options_parse(&dw_verbs[0], count, words, stop_early, take, (void *)(uintptr_t)options, &done);
}

TEST(options_and_operands_may_be_mixed)
{
	CHECK_EQ(parse("a --output=x b --pack -oy c", false), 3);
	CHECK_STR(taken, "output=x pack output=y");
	CHECK_STR(words[0], "a");
	CHECK_STR(words[2], "c");
	CHECK(words[3] == NULL);
}

TEST(of_a_command_that_is_run_nothing_is_taken)
{
	CHECK_EQ(parse("--pack app --output x", true), 3);
	CHECK_STR(taken, "pack");
	CHECK_STR(words[1], "--output");
}

TEST(after_two_dashes_all_are_operands)
{
	CHECK_EQ(parse("a -- --pack -", false), 3);
	CHECK_STR(taken, "");
	CHECK_STR(words[1], "--pack");
}

TEST(a_value_that_is_optional_stands_behind_an_equals_sign)
{
	CHECK_EQ(parse("--functions all", false), 1);
	CHECK_STR(taken, "functions");
	CHECK_EQ(parse("--functions=all", false), 0);
	CHECK_STR(taken, "functions=all");
}

TEST(the_name_of_a_file_says_its_format)
{
	CHECK_EQ(parse("-o page.HTML trace", false), 1);
	CHECK_STR(taken, "output=page.HTML format=html");
	CHECK_EQ(parse("-o table.json -f csv", false), 0);
	CHECK_STR(taken, "output=table.json format=csv");
	CHECK_EQ(parse("-o trace.txt", false), 0);
	CHECK_STR(taken, "output=trace.txt");
}

TEST(wrong_options_are_refused)
{
	CHECK_EQ(parse("--nothing", false), -1);
	CHECK_EQ(parse("--output", false), -1);
	CHECK_EQ(parse("--pack=1", false), -1);
	CHECK_EQ(parse("--keep=some", false), -1);
	CHECK_EQ(parse("--keep=oldest", false), 0);
}

TEST(ranges_of_steps)
{
	uint64_t from, to;

	CHECK(dw_parse_steps("3..5", &from, &to) && from == 3 && to == 5);
	CHECK(dw_parse_steps("3..", &from, &to) && from == 3 && to == UINT64_MAX);
	CHECK(dw_parse_steps("..5", &from, &to) && from == 0 && to == 5);
	CHECK(dw_parse_steps("7", &from, &to) && from == 7 && to == 7);
	CHECK(!dw_parse_steps("5..3", &from, &to));
	CHECK(!dw_parse_steps("a..b", &from, &to));
	CHECK(!dw_parse_steps("1..2x", &from, &to));
}

TEST(sizes_and_times_have_units)
{
	uint64_t value, end;

	CHECK(dw_parse_size("512K", &value) && value == 512 << 10);
	CHECK(dw_parse_size("2GiB", &value) && value == UINT64_C(2) << 30);
	CHECK(!dw_parse_size("0", &value) && !dw_parse_size("1X", &value) && !dw_parse_size("99999999999999T", &value));
	CHECK(dw_parse_time("every", "500ms", 100, &value) && value == 500);
	CHECK(dw_parse_time("every", "1.5m", 100, &value) && value == 90000);
	CHECK(!dw_parse_time("every", "50ms", 100, &value) && !dw_parse_time("every", "5", 0, &value));
	CHECK(dw_parse_span("1.5s..2s", &value, &end) && value == UINT64_C(1500000000) && end == UINT64_C(2000000000));
	CHECK(!dw_parse_span("2s..1s", &value, &end));
}

TEST(a_schedule_records_something)
{
	struct dwell_schedule schedule = { 0 };

	CHECK(dw_parse_schedule("skip=10,wait=5,warmup=1,active=3,repeat=2", &schedule));
	CHECK_EQ(schedule.skip_first, 10);
	CHECK_EQ(schedule.active, 3);
	CHECK_EQ(schedule.repeat, 2);
	schedule = (struct dwell_schedule){ 0 };
	CHECK(!dw_parse_schedule("wait=5", &schedule));
	CHECK(!dw_parse_schedule("active=3,often=1", &schedule));
}

CHECK_MAIN
