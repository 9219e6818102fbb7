/* The files by which `dwell capture` and `dwell run` talk; see capture_ask.h. */
#include "capture/capture_ask.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/pack_part.h"

void dw_capture_part_path(const char *trace, const struct dw_capture_ask *ask, char path[DW_CAPTURE_PATH])
{
	dw_pack_part_path(trace, ask->id, ask->what & DW_CAPTURE_STACKS ? ".stacks" : ".dwell", path, DW_CAPTURE_PATH);
}

bool dw_capture_write(const char *trace, const char *suffix, const char *line)
{
	char path[DW_CAPTURE_PATH], part[DW_CAPTURE_PATH + 32];
	ssize_t length = (ssize_t)strlen(line);
	bool good;
	int fd;

	snprintf(path, sizeof path, "%s%s", trace, suffix);
	snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
	unlink(part); /* of an earlier process with this id; no link of another user is followed */
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	good = write(fd, line, (size_t)length) == length;
	good = close(fd) == 0 && good && rename(part, path) == 0;
	if (!good)
		unlink(part);
	return good;
}

bool dw_capture_is_asked(const char *trace, struct dw_capture_seen *seen)
{
	struct dw_capture_seen now = { .looked = true };
	char path[DW_CAPTURE_PATH];
	struct stat status;
	bool is_new;

	snprintf(path, sizeof path, "%s.ask", trace);
	if (stat(path, &status) == 0) {
		now.file = status.st_ino;
		now.seconds = status.st_mtim.tv_sec;
		now.nanoseconds = status.st_mtim.tv_nsec;
	}
	is_new = seen->looked && now.file && (now.file != seen->file || now.seconds != seen->seconds ||
	                                      now.nanoseconds != seen->nanoseconds);
	*seen = now;
	return is_new;
}
