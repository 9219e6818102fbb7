/* `dwell run --gather FOLDER`: the name in the folder, and what is moved there. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rank/gather.h"

/* A folder with a local trace and a shared folder in it. */
static char top[64], trace[4096], shared[96];

static bool is_there(const char *name)
{
	char path[300];

	snprintf(path, sizeof path, "%s/%s", top, name);
	return access(path, F_OK) == 0;
}

static void put(const char *name, const char *text)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", top, name);
	file = fopen(path, "w");
	if (!file)
		return;
	fputs(text, file);
	fclose(file);
}

static bool begin(void)
{
	snprintf(top, sizeof top, "/tmp/dwell-unit-XXXXXX");
	if (!mkdtemp(top))
		return false;
	snprintf(trace, sizeof trace, "%s/job.dwell", top);
	snprintf(shared, sizeof shared, "%s/shared", top);
	put("job.dwell", "trace");
	put("job.dwell.sum", "summary");
	return mkdir(shared, 0700) == 0;
}

static void end(void)
{
	char command[100];

	snprintf(command, sizeof command, "rm -r %s", top);
	CHECK_EQ(system(command), 0);
}

TEST(what_a_run_wrote_is_moved_and_its_name_is_reserved_meanwhile)
{
	REQUIRE(begin());
	put("job.slow-12.dwell", "slow");
	dw_gather_begin(shared, trace);
	CHECK(dw_gather_place() != NULL);
	CHECK(is_there("shared/job.dwell.where"));
	dw_gather_summary();
	CHECK(is_there("shared/job.dwell.sum"));
	CHECK(is_there("job.dwell.sum"));
	dw_gather_end(trace);
	CHECK_STR(trace, dw_gather_place());
	CHECK(is_there("shared/job.dwell"));
	CHECK(is_there("shared/job.slow-12.dwell"));
	CHECK(!is_there("shared/job.dwell.where"));
	CHECK(!is_there("job.dwell"));
	CHECK(!is_there("job.dwell.sum"));
	CHECK(!is_there("job.slow-12.dwell"));
	end();
}

TEST(a_file_that_is_there_is_not_replaced)
{
	REQUIRE(begin());
	put("shared/job.dwell", "another");
	dw_gather_begin(shared, trace);
	dw_gather_end(trace);
	CHECK(is_there("shared/job-2.dwell"));
	CHECK(is_there("shared/job-2.dwell.sum"));
	CHECK(!is_there("shared/job-2.dwell.where"));
	CHECK(!is_there("shared/job.dwell.where"));
	end();
}

TEST(a_run_without_a_trace_leaves_nothing)
{
	char none[4096] = "";

	REQUIRE(begin());
	dw_gather_begin(shared, trace);
	dw_gather_end(none);
	CHECK(!is_there("shared/job.dwell.where"));
	CHECK(!is_there("shared/job.dwell"));
	end();
}

CHECK_MAIN
