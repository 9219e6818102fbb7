/* What became of a trace's file while it was recorded: dw_file_fate(). */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/file.h"
#include "record/session_state.h"

static char folder[64], path[96], moved[96], now_at[4096];

/* Creates a trace that no session uses: a process that has it mapped would end when it is cut. */
static int open_trace(uint64_t *bytes)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct stat status = { 0 };
	char actual[4096];
	int fd;

	snprintf(folder, sizeof folder, "/tmp/dwell-unit-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/t.dwell", folder);
	snprintf(moved, sizeof moved, "%s/moved", folder);
	fd = dw_file_create(path, &options, NULL, NULL, actual, NULL);
	fstat(fd, &status);
	*bytes = (uint64_t)status.st_size;
	return fd;
}

static void close_trace(int fd)
{
	close(fd);
	unlink(path);
	unlink(moved);
	rmdir(folder);
}

TEST(a_file_that_nobody_touched_is_there)
{
	uint64_t bytes;
	int fd = open_trace(&bytes);

	CHECK_EQ(dw_file_fate(fd, path, bytes, now_at), DW_FILE_THERE);
	CHECK(strcmp(now_at, path) == 0);
	CHECK_EQ(dw_file_fate(fd, path, 0, now_at), DW_FILE_THERE);
	close_trace(fd);
}

TEST(a_moved_file_has_its_new_name)
{
	uint64_t bytes;
	int fd = open_trace(&bytes), other;

	CHECK_EQ(rename(path, moved), 0);
	CHECK_EQ(dw_file_fate(fd, path, bytes, now_at), DW_FILE_MOVED);
	CHECK(strcmp(now_at, moved) == 0);
	other = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK_EQ(dw_file_fate(fd, path, bytes, now_at), DW_FILE_MOVED);
	close(other);
	CHECK_EQ(truncate(moved, 0), 0);
	CHECK_EQ(dw_file_fate(fd, path, bytes, now_at), DW_FILE_CUT);
	CHECK(strcmp(now_at, moved) == 0);
	close_trace(fd);
}

TEST(a_removed_file_has_no_name)
{
	uint64_t bytes;
	int fd = open_trace(&bytes), other;

	unlink(path);
	CHECK_EQ(dw_file_fate(fd, path, bytes, now_at), DW_FILE_REMOVED);
	CHECK_EQ(*now_at, 0);
	other = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK_EQ(dw_file_fate(fd, path, bytes, now_at), DW_FILE_REPLACED);
	CHECK_EQ(*now_at, 0);
	close(other);
	close_trace(fd);
}

TEST(a_file_that_was_cut_or_written_over_is_cut)
{
	uint64_t bytes;
	int fd = open_trace(&bytes);
	struct dw_head head;
	struct stat status;

	CHECK_EQ(dw_file_fate(fd, path, bytes + 1, now_at), DW_FILE_CUT);
	CHECK_EQ(pread(fd, &head, sizeof head, 0), sizeof head);
	fstat(fd, &status);
	dw_session.device = status.st_dev;
	dw_session.inode = status.st_ino;
	memcpy(dw_session.run_id, head.run_id, sizeof head.run_id);
	CHECK_EQ(dw_file_fate(fd, path, bytes, now_at), DW_FILE_THERE);
	head.run_id[3]++; /* another trace was copied over it, of the same size or larger */
	CHECK_EQ(pwrite(fd, &head, sizeof head, 0), sizeof head);
	CHECK_EQ(dw_file_fate(fd, path, bytes, now_at), DW_FILE_CUT);
	CHECK(strcmp(now_at, path) == 0);
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(dw_file_fate(fd, path, 0, now_at), DW_FILE_CUT);
	close_trace(fd);
}

CHECK_MAIN
