/* Words for a shell, and output files that are replaced only when they are complete. */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "say/output.h"
#include "say/say.h"

static char folder[64], path[96];

static bool begin(void)
{
	snprintf(folder, sizeof folder, "/tmp/dwell-unit-XXXXXX");
	if (!mkdtemp(folder))
		return false;
	snprintf(path, sizeof path, "%s/report", folder);
	return true;
}

static void end(void)
{
	unlink(path);
	CHECK_EQ(rmdir(folder), 0); /* no other file is left */
}

/* The first line of the output file; "" if there is none. */
static const char *content(void)
{
	static char line[64];
	FILE *file = fopen(path, "r");

	line[0] = '\0';
	if (file && !fgets(line, sizeof line, file))
		line[0] = '\0';
	if (file)
		fclose(file);
	return line;
}

static int write_output(const char *text, int status)
{
	struct dw_output output;

	if (dw_output_open(&output, path) != 0)
		return -1;
	fputs(text, output.file);
	return dw_output_close(&output, status);
}

TEST(a_word_is_quoted_as_a_shell_reads_it)
{
	char quoted[DW_QUOTED_BYTES];

	CHECK_STR(dw_quote("/tmp/train-2.dwell", quoted), "/tmp/train-2.dwell");
	CHECK_STR(dw_quote("my run.dwell", quoted), "'my run.dwell'");
	CHECK_STR(dw_quote("it's", quoted), "'it'\\''s'");
	CHECK_STR(dw_quote("", quoted), "''");
	CHECK_STR(dw_quote("a\nb", quoted), "$'a\\x0ab'");
}

TEST(an_output_is_there_when_it_is_complete)
{
	REQUIRE(begin());
	CHECK_EQ(write_output("first\n", 0), 0);
	CHECK_STR(content(), "first\n");
	CHECK_EQ(write_output("second\n", 0), 0);
	CHECK_STR(content(), "second\n");
	end();
}

TEST(a_report_that_failed_leaves_the_older_file)
{
	REQUIRE(begin());
	CHECK_EQ(write_output("first\n", 0), 0);
	CHECK_EQ(write_output("half", DW_EXIT_BAD_INPUT), DW_EXIT_BAD_INPUT);
	CHECK_STR(content(), "first\n");
	end();
}

TEST(an_output_has_the_rights_that_the_process_gives_its_files)
{
	struct stat status;
	mode_t before = umask(027);

	REQUIRE(begin());
	CHECK_EQ(write_output("x\n", 0), 0);
	CHECK_EQ(stat(path, &status), 0);
	CHECK_EQ(status.st_mode & 0777, 0640);
	umask(before);
	end();
}

TEST(a_fifo_is_not_waited_for)
{
	REQUIRE(begin());
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK(dw_regular_open(path) == NULL);
	end();
}

TEST(a_name_and_a_bad_argument_are_errors_of_usage)
{
	const struct dwell_error error = { 0, "a message of the test" };

	CHECK_EQ(dw_say_error(&error, DWELL_E_NAME), DW_EXIT_USAGE);
	CHECK_EQ(dw_say_error(&error, DWELL_E_ARGUMENT), DW_EXIT_USAGE);
	CHECK_EQ(dw_say_error(&error, DWELL_E_IO), DW_EXIT_BAD_INPUT);
	CHECK(dw_has_said());
}

CHECK_MAIN
