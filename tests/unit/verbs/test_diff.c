/* dwell diff: which traces are before and which after the change, and what its options take. */
#include "cli/cli.h"

static const struct dw_option options[] = {
	{ DW_OPTION_FAIL_ON, "fail-on", .argument = "PERCENT", .help = "" },
	{ DW_OPTION_ACCEPT, "accept", .argument = "LIST", .help = "" },
	{ DW_OPTION_BY, "by", .argument = "WHAT", .help = "", .choices = "pace fast" },
};
#include "verbs.h"

#include "verbs/cmd_diff.c"

static char *words[16], text[256];
static struct diff_request request;
static struct diff_operands operands;

/* Parses the words of a line. */
static bool parse(const char *line)
{
	int count = 0;

	snprintf(text, sizeof text, "%s", line);
	request = (struct diff_request){ .fail_on = -1 };
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	return diff_parse(dw_verbs, count, words, &request, &operands);
}

TEST(two_traces_need_no_dashes)
{
	CHECK(parse("a b"));
	CHECK_EQ(operands.counts[0], 1);
	CHECK_EQ(operands.counts[1], 1);
	CHECK_STR(operands.paths[0][0], "a");
	CHECK_STR(operands.paths[1][0], "b");
	CHECK(!parse("a"));
	CHECK(!parse("a b c"));
}

TEST(dashes_divide_and_options_stand_on_both_sides)
{
	CHECK(parse("--fail-on 5% a b -- c --accept machine d e"));
	CHECK_EQ(operands.counts[0], 2);
	CHECK_EQ(operands.counts[1], 3);
	CHECK_STR(operands.paths[0][1], "b");
	CHECK_STR(operands.paths[1][0], "c");
	CHECK_STR(operands.paths[1][2], "e");
	CHECK_EQ(request.fail_on, .05);
	CHECK(request.accepted != 0);
	CHECK(!parse("a b --"));
	CHECK(!parse("-- a b"));
}

TEST(a_limit_is_a_percentage_of_its_own_kind)
{
	double ratio;

	CHECK(diff_parse_percent("2.5%", &ratio) && ratio == .025);
	CHECK(diff_parse_percent("0%", &ratio) && ratio == 0);
	CHECK(diff_parse_percent("5", &ratio) && ratio == .05);
	CHECK(!diff_parse_percent("%", &ratio));
	CHECK(!diff_parse_percent("-1%", &ratio));
	CHECK(!diff_parse_percent("5%%", &ratio));
	CHECK(!diff_parse_percent("nan%", &ratio));
}

TEST(each_reason_is_accepted_by_its_whole_name)
{
	char all[256];
	unsigned accepted = 0;

	for (unsigned reason = 0; reason < DW_DIFF_REASON_COUNT; reason++) {
		const char *name = dw_diff_reason_name((enum dw_diff_reason)reason);

		accepted = 0;
		CHECK(diff_parse_reasons(name, &accepted));
		CHECK_EQ(accepted, 1u << reason);
		snprintf(all, sizeof all, "%.*s", (int)strlen(name) - 1, name);
		CHECK(!diff_parse_reasons(all, &accepted));
	}
	accepted = 0;
	for (unsigned reason = 0, length = 0; reason < DW_DIFF_REASON_COUNT; reason++)
		length += (unsigned)snprintf(all + length, sizeof all - length, "%s,", dw_diff_reason_name((enum dw_diff_reason)reason));
	CHECK(diff_parse_reasons(all, &accepted));
	CHECK_EQ(accepted, (1u << DW_DIFF_REASON_COUNT) - 1);
	CHECK(!diff_parse_reasons("everything", &accepted));
}

TEST(a_run_that_is_given_twice_is_found_by_its_file)
{
	char folder[] = "/tmp/dwell-unit-XXXXXX", one[64], other[64], link[64];
	char *before[2] = { one, other }, *after[1] = { link };
	struct diff_operands given = { { before, after }, { 2, 1 } };

	REQUIRE(mkdtemp(folder));
	snprintf(one, sizeof one, "%s/one", folder);
	snprintf(other, sizeof other, "%s/other", folder);
	snprintf(link, sizeof link, "%s/link", folder);
	fclose(fopen(one, "w"));
	fclose(fopen(other, "w"));
	CHECK(diff_check_twice(&given)); /* a file that is not there is told of later */
	CHECK_EQ(symlink(other, link), 0);
	CHECK(!diff_check_twice(&given));
	given.counts[0] = 1;
	CHECK(diff_check_twice(&given));
	unlink(one);
	unlink(other);
	unlink(link);
	rmdir(folder);
}

TEST(the_exit_status_is_that_of_the_change_that_was_asked_for)
{
	struct dw_diff diff = { .verdict = DW_DIFF_SLOWER };

	diff.pace.before = 100;
	diff.pace.difference = 4;
	request = (struct diff_request){ .fail_on = -1 };
	CHECK_EQ(diff_status(&request, &diff), 0);
	request.fail_on = .05;
	CHECK_EQ(diff_status(&request, &diff), 0);
	request.fail_on = .03;
	CHECK_EQ(diff_status(&request, &diff), DW_EXIT_SLOWER);
	diff.verdict = DW_DIFF_NOT_COMPARABLE;
	CHECK_EQ(diff_status(&request, &diff), DW_EXIT_NOT_COMPARABLE);
}

CHECK_MAIN
