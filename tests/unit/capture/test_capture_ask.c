/* The files by which `dwell capture` asks and `dwell run` answers. */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_ask.h"

static char folder[64], trace[96], ask[112];

static bool begin(void)
{
	snprintf(folder, sizeof folder, "/tmp/dwell-unit-XXXXXX");
	if (!mkdtemp(folder))
		return false;
	snprintf(trace, sizeof trace, "%s/job.dwell", folder);
	snprintf(ask, sizeof ask, "%s.ask", trace);
	return true;
}

static void end(void)
{
	unlink(ask);
	rmdir(folder);
}

TEST(a_capture_lies_beside_the_trace_and_has_its_id)
{
	const struct dw_capture_ask steps = { .id = "a-1" }, stacks = { .id = "a-1", .what = DW_CAPTURE_STACKS };
	char path[DW_CAPTURE_PATH];

	dw_capture_part_path("/x/job.dwell", &steps, path);
	CHECK_STR(path, "/x/job.a-1.dwell");
	dw_capture_part_path("/x/job.dwell", &stacks, path);
	CHECK_STR(path, "/x/job.a-1.stacks");
	dw_capture_part_path("/x/job", &steps, path);
	CHECK_STR(path, "/x/job.a-1.dwell");
}

TEST(what_was_asked_before_the_run_is_not_answered)
{
	struct dw_capture_seen seen = { .looked = false };

	REQUIRE(begin());
	CHECK(dw_capture_write(trace, ".ask", "dwell-capture 1 old 5 100 0\n"));
	CHECK(!dw_capture_is_asked(trace, &seen));
	CHECK(!dw_capture_is_asked(trace, &seen));
	end();
}

TEST(each_request_is_seen_once)
{
	struct dw_capture_seen seen = { .looked = false };

	REQUIRE(begin());
	CHECK(!dw_capture_is_asked(trace, &seen));
	CHECK(dw_capture_write(trace, ".ask", "dwell-capture 1 one 5 100 0\n"));
	CHECK(dw_capture_is_asked(trace, &seen));
	CHECK(!dw_capture_is_asked(trace, &seen));
	CHECK(dw_capture_write(trace, ".ask", "dwell-capture 1 two 5 100 0\n"));
	CHECK(dw_capture_is_asked(trace, &seen));
	end();
}

TEST(a_request_is_readable_for_its_owner_only)
{
	struct stat status;

	REQUIRE(begin());
	CHECK(dw_capture_write(trace, ".ask", "x\n"));
	CHECK_EQ(stat(ask, &status), 0);
	CHECK_EQ(status.st_mode & 0777, 0600);
	end();
}

TEST(a_request_that_cannot_be_written_leaves_nothing)
{
	CHECK(!dw_capture_write("/nowhere/job.dwell", ".ask", "x\n"));
}

TEST(a_request_is_read_as_it_was_written)
{
	struct dw_capture_ask one = { .id = "host-12", .steps = 5, .duration_ms = 1000, .what = DW_CAPTURE_FUNCTIONS };
	struct dw_capture_ask read = { .id = "" };
	char line[200];

	snprintf(line, sizeof line, DW_CAPTURE_ASK, one.id, one.steps, one.duration_ms, one.what);
	CHECK_EQ(sscanf(line, DW_CAPTURE_ASK_READ, read.id, &read.steps, &read.duration_ms, &read.what), 4);
	CHECK_STR(read.id, one.id);
	CHECK_EQ(read.steps, one.steps);
	CHECK_EQ(read.duration_ms, one.duration_ms);
	CHECK_EQ(read.what, one.what);
}

CHECK_MAIN
