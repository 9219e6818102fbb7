/* Moves what `dwell run` wrote to a shared folder; see gather.h. */
#include "rank/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/pack_part.h"
#include "say/say.h"

#define GATHER_PATH 4096

static struct {
	char folder[GATHER_PATH], trace[GATHER_PATH];
	char place[GATHER_PATH];   /* of the trace in the folder; "": none is reserved */
	unsigned failed;           /* summaries that were not copied */
	int failed_errno;
	bool held;
} gather;

/* ---- copies ------------------------------------------------------------------------------------------------ */

static int gather_copy_bytes(int from, int to)
{
	static char buffer[1 << 16];
	ssize_t got, put;

	while ((got = read(from, buffer, sizeof buffer)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		for (ssize_t done = 0; done < got; done += put > 0 ? put : 0) {
			put = write(to, buffer + done, (size_t)(got - done));
			if (put < 0 && errno != EINTR)
				return -errno;
		}
	}
	return fsync(to) ? -errno : 0;
}

/* Copies a file with its access rights. Returns 0 or a negative errno. */
static int gather_copy(const char *path, const char *place)
{
	char part[GATHER_PATH + 32];
	int from = open(path, O_RDONLY | O_CLOEXEC), to, code;
	struct stat status;

	if (from < 0)
		return -errno;
	snprintf(part, sizeof part, "%s.%d.part", place, (int)getpid());
	unlink(part); /* of an earlier process with this id; no link of another user is followed */
	to = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	code = to < 0 ? -errno : gather_copy_bytes(from, to);
	if (!code && (fstat(from, &status) != 0 || fchmod(to, status.st_mode & 0777) != 0))
		code = -errno;
	close(from);
	if (to >= 0 && close(to) != 0 && !code)
		code = -errno;
	if (!code && rename(part, place) != 0)
		code = -errno;
	if (code && to >= 0)
		unlink(part);
	return code;
}

/* Returns 0, or -1 after a message. */
static int gather_move(const char *path, const char *place)
{
	int code = gather_copy(path, place);

	if (!code)
		unlink(path);
	else
		dw_say("--gather: cannot copy to %s: %s; the file stays in %s", place, strerror(-code), path);
	return code ? -1 : 0;
}

/* ---- the name in the folder -------------------------------------------------------------------------------- */

static void gather_where(char path[GATHER_PATH + 8])
{
	snprintf(path, GATHER_PATH + 8, "%s.where", gather.place);
}

/* Reserves a name. False after setting errno; EEXIST: it is taken. */
static bool gather_try(void)
{
	char where[GATHER_PATH + 8], line[GATHER_PATH + 80], host[64] = "";
	struct stat status;
	int fd, length;
	bool good;

	gather_where(where);
	fd = open(where, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	gethostname(host, sizeof host - 1);
	length = snprintf(line, sizeof line, "%s:%s\n", host, gather.trace);
	errno = ENOSPC; /* of an incomplete write */
	good = write(fd, line, (size_t)length) == length;
	good = close(fd) == 0 && good;
	/* Looked at only now: whoever had the name moved its trace before it removed its NAME.where. */
	if (good && lstat(gather.place, &status) == 0) {
		errno = EEXIST;
		good = false;
	}
	if (!good) {
		int why = errno;

		unlink(where);
		errno = why;
	}
	return good;
}

/* Returns 0 or a negative errno. */
static int gather_reserve(void)
{
	const char *name = strrchr(gather.trace, '/');
	size_t length;
	bool has_end;

	name = name ? name + 1 : gather.trace;
	length = strlen(name);
	has_end = length > 6 && strcmp(name + length - 6, ".dwell") == 0;
	for (unsigned i = 1; i < 10000; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof number, "-%u", i);
		if (snprintf(gather.place, sizeof gather.place, "%s/%.*s%s%s", gather.folder,
		             (int)(has_end ? length - 6 : length), name, number, has_end ? ".dwell" : "") >= GATHER_PATH - 300)
			errno = ENAMETOOLONG;
		else if (gather_try())
			return 0;
		if (errno != EEXIST)
			break;
	}
	*gather.place = '\0';
	return errno ? -errno : -EEXIST;
}

/* The trace may be in the folder already. */
static bool gather_is_same_folder(void)
{
	char folder[GATHER_PATH];
	struct stat here, there;
	char *slash;

	snprintf(folder, sizeof folder, "%s", gather.trace);
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	slash[slash == folder] = '\0';
	return stat(folder, &here) == 0 && stat(gather.folder, &there) == 0 && here.st_ino == there.st_ino &&
	       here.st_dev == there.st_dev;
}

/* Makes the folder and those around it. */
static void gather_make_folder(void)
{
	for (char *slash = strchr(gather.folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(gather.folder, 0777);
		*slash = '/';
	}
	mkdir(gather.folder, 0777);
}

bool dw_gather_begin(const char *folder, const char *trace)
{
	int code;

	if (!folder)
		return true;
	snprintf(gather.folder, sizeof gather.folder, "%s", folder);
	snprintf(gather.trace, sizeof gather.trace, "%s", trace);
	if (gather_is_same_folder()) {
		*gather.folder = '\0';
		return true;
	}
	gather_make_folder(); /* if that fails, so does what follows */
	code = gather_reserve();
	if (code)
		dw_say("--gather: cannot write to %s: %s", folder, strerror(-code));
	return code == 0;
}

const char *dw_gather_place(void)
{
	return *gather.place ? gather.place : NULL;
}

void dw_gather_summary(void)
{
	char path[GATHER_PATH + 8], place[GATHER_PATH + 8];
	int code;

	if (!*gather.place)
		return;
	snprintf(path, sizeof path, "%s.sum", gather.trace);
	snprintf(place, sizeof place, "%s.sum", gather.place);
	code = gather_copy(path, place);
	gather.failed += code != 0;
	gather.failed_errno = code ? -code : gather.failed_errno;
}

void dw_gather_hold(void)
{
	gather.held = true;
}

/* ---- the end ----------------------------------------------------------------------------------------------- */

/* The traces of slow steps (slow_steps.h). */
static void gather_move_slow_steps(const char *trace)
{
	char pattern[GATHER_PATH + 32], place[2 * GATHER_PATH];
	size_t prefix;
	glob_t found;

	dw_pack_part_path(trace, "slow-*", ".dwell", pattern, sizeof pattern);
	prefix = strlen(pattern) - strlen("slow-*.dwell");
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char word[256];

		snprintf(word, sizeof word, "%s", found.gl_pathv[i] + prefix);
		word[strlen(word) - strlen(".dwell")] = '\0';
		dw_pack_part_path(gather.place, word, ".dwell", place, sizeof place);
		gather_move(found.gl_pathv[i], place);
	}
	globfree(&found);
}

static void gather_move_all(char *trace)
{
	char path[GATHER_PATH + 8], place[GATHER_PATH + 8], quoted[DW_QUOTED_BYTES];
	struct stat status;

	if (gather_move(trace, gather.place) != 0)
		return; /* NAME.where still says where it is */
	snprintf(path, sizeof path, "%s.sum", trace);
	snprintf(place, sizeof place, "%s.sum", gather.place);
	if (stat(path, &status) == 0 && gather_move(path, place) == 0)
		dw_say("summary in %s (dwell ranks %s)", place, dw_quote(place, quoted));
	gather_move_slow_steps(trace);
	gather_where(path);
	unlink(path);
	memcpy(trace, gather.place, strlen(gather.place) + 1);
}

void dw_gather_end(char *trace)
{
	char where[GATHER_PATH + 8];
	int code = 0;

	if (!*gather.folder)
		return;
	if (!*trace) {
		gather_where(where);
		if (*gather.place)
			unlink(where);
		return;
	}
	if (gather.failed)
		dw_say("--gather: %u summaries were not copied to %s: %s", gather.failed, gather.folder, strerror(gather.failed_errno));
	if (gather.held) {
		dw_say("--gather: processes still record to %s: copy it to %s when they have ended", trace, gather.folder);
		return;
	}
	if (!*gather.place)
		code = gather_reserve();
	if (code)
		dw_say("--gather: cannot write to %s: %s; the trace stays in %s", gather.folder, strerror(-code), trace);
	else
		gather_move_all(trace);
}
