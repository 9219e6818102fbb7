/* The processes of `dwell watch --mpi`; see watch_mpi.h. A file is sent as two messages: the lengths of its
 * name and content, and then both. The only message of process 0 is one byte, which tells the others to end. */
#include "job/watch_mpi.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "format/mpi_abi.h"
#include "job/mpi_library.h"
#include "say/say.h"

#define MPI_LAST_MS 5000u /* that processes have for their last messages */
#define MPI_MOST_BYTES (1u << 30)

struct head {
	uint32_t name_length; /* 0: the process ends */
	uint32_t size;        /* of the file, whose bytes follow its name */
};

/* What comes from a process. */
struct dw_watch_mpi_source {
	uintptr_t request;
	struct head head;
	char *body; /* NULL: the next message is a head */
	bool ended;
};

static void mpi_nap(unsigned ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

static bool mpi_is_done(uintptr_t *request)
{
	uint64_t status[DW_MPI_STATUS_BYTES / sizeof(uint64_t)];
	int done = 0;

	dw_mpi.test(request, &done, status);
	return done;
}

/* ---- process 0 ----------------------------------------------------------------------------------------------- */

static void mpi_expect_head(struct dw_watch_mpi_source *source, int from)
{
	dw_mpi.start_receive(&source->head, (int)sizeof source->head, dw_mpi.byte, from, 0, dw_mpi.world, &source->request);
}

/* A copy has the time at which it came, so that the clocks of machines may differ. */
static void mpi_store(const struct dw_watch_mpi *mpi, int from, const struct dw_watch_mpi_source *source)
{
	static bool said;
	char part[8192], path[8192];
	FILE *file;
	bool good;

	snprintf(path, sizeof path, "%s/%.*s", mpi->folders[from], (int)source->head.name_length, source->body);
	snprintf(part, sizeof part, "%s/part", mpi->folders[from]);
	file = fopen(part, "we");
	good = file && fwrite(source->body + source->head.name_length, 1, source->head.size, file) == source->head.size;
	good = file && fclose(file) == 0 && good;
	if ((!good || rename(part, path) != 0) && !said) {
		dw_say("--mpi: cannot write to %s: %s", path, strerror(errno));
		said = true;
	}
}

/* Takes what has come from one process. */
static void mpi_take_from(const struct dw_watch_mpi *mpi, int from)
{
	struct dw_watch_mpi_source *source = &mpi->sources[from];

	while (!source->ended && mpi_is_done(&source->request)) {
		const struct head *head = &source->head;

		if (source->body) {
			if (mpi->folder_count)
				mpi_store(mpi, from, source);
			free(source->body);
			source->body = NULL;
			mpi_expect_head(source, from);
			continue;
		}
		source->ended = !head->name_length;
		if (source->ended)
			return;
		source->body = malloc((size_t)head->name_length + head->size);
		if (!source->body) {
			dw_say("--mpi: no memory for a summary of process %d, which is not watched any more", from);
			source->ended = true;
			return;
		}
		dw_mpi.start_receive(source->body, (int)(head->name_length + head->size), dw_mpi.byte, from, 0, dw_mpi.world,
		                     &source->request);
	}
}

void dw_watch_mpi_take(struct dw_watch_mpi *mpi)
{
	for (int i = 1; i < mpi->processes; i++)
		mpi_take_from(mpi, i);
}

bool dw_watch_mpi_take_rest(struct dw_watch_mpi *mpi)
{
	uint64_t until_ms = dw_clock_monotonic_ms() + MPI_LAST_MS;
	bool ended = false;

	while (!ended && dw_clock_monotonic_ms() < until_ms) {
		dw_watch_mpi_take(mpi);
		ended = true;
		for (int i = 1; i < mpi->processes; i++)
			ended &= mpi->sources[i].ended;
		if (!ended)
			mpi_nap(10);
	}
	return ended;
}

/* Makes a folder for the copies of each process. False after setting errno. */
static bool mpi_make_folders(struct dw_watch_mpi *mpi, char *folder)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(mpi->place, sizeof mpi->place, "%s/dwell-watch-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	mpi->sources = calloc((size_t)mpi->processes, sizeof *mpi->sources);
	mpi->folders = calloc((size_t)mpi->processes, sizeof *mpi->folders);
	if (!mpi->sources || !mpi->folders || !mkdtemp(mpi->place))
		return false;
	mpi->folders[mpi->folder_count++] = folder;
	for (int i = 1; i < mpi->processes; i++) {
		if (asprintf(&mpi->folders[i], "%s/%d", mpi->place, i) < 0 || mkdir(mpi->folders[i], 0700) != 0)
			return false;
		mpi->folder_count++;
	}
	return true;
}

int dw_watch_mpi_begin(struct dw_watch_mpi *mpi, char *folder)
{
	int status = dw_mpi_start(&mpi->process, &mpi->processes);

	if (status || mpi->process)
		return status;
	if (!mpi_make_folders(mpi, folder)) {
		dw_say("--mpi: cannot make a folder for copies: %s: %s", mpi->place, strerror(errno));
		dw_mpi.abort(dw_mpi.world, DW_EXIT_BAD_INPUT);
		return DW_EXIT_BAD_INPUT;
	}
	for (int i = 1; i < mpi->processes; i++)
		mpi_expect_head(&mpi->sources[i], i);
	return 0;
}

static void mpi_remove_folders(struct dw_watch_mpi *mpi)
{
	for (size_t i = 1; i < mpi->folder_count; i++) {
		DIR *folder = opendir(mpi->folders[i]);
		struct dirent *entry;

		while (folder && (entry = readdir(folder)))
			unlinkat(dirfd(folder), entry->d_name, 0);
		if (folder)
			closedir(folder);
		rmdir(mpi->folders[i]);
		free(mpi->folders[i]);
	}
	rmdir(mpi->place);
	mpi->folder_count = 0;
}

void dw_watch_mpi_end(struct dw_watch_mpi *mpi)
{
	static const char end;
	uintptr_t *requests = calloc((size_t)mpi->processes, sizeof *requests);

	mpi_remove_folders(mpi); /* first: launchers kill processes soon after a signal */
	for (int i = 1; requests && i < mpi->processes; i++)
		dw_mpi.start_send(&end, 1, dw_mpi.byte, i, 0, dw_mpi.world, &requests[i]);
	/* A process that does not answer would let MPI wait for ever; the launcher ends it when this one has ended. */
	if (dw_watch_mpi_take_rest(mpi)) {
		for (int i = 1; requests && i < mpi->processes; i++)
			while (!mpi_is_done(&requests[i]))
				mpi_nap(10);
		dw_mpi.finalize();
	}
	free(mpi->folders);
	free(mpi->sources);
	free(requests);
}

/* ---- the other processes --------------------------------------------------------------------------------------- */

struct sender {
	time_t since_s;  /* of the look before, since 1970 */
	uintptr_t stop; /* the byte of process 0 */
	char byte;
	bool ended;     /* it came */
	uint64_t until_ms; /* when to end after a signal; 0: there was none */
	const volatile int *stopped;
};

static bool sender_goes_on(struct sender *sender)
{
	if (*sender->stopped && !sender->until_ms)
		sender->until_ms = dw_clock_monotonic_ms() + MPI_LAST_MS;
	sender->ended = sender->ended || mpi_is_done(&sender->stop);
	return !sender->ended && !sender->until_ms;
}

/* Sends bytes, which takes as long as process 0 has other things to do. */
static void sender_send(struct sender *sender, const void *bytes, size_t size)
{
	uintptr_t request;

	dw_mpi.start_send(bytes, (int)size, dw_mpi.byte, 0, 0, dw_mpi.world, &request);
	while (!mpi_is_done(&request)) {
		sender_goes_on(sender);
		if (sender->until_ms && dw_clock_monotonic_ms() > sender->until_ms)
			_exit(1); /* process 0 takes nothing any more */
		mpi_nap(10);
	}
}

/* Sends a file that came into the folder since the look before; one of the second before that is sent again. */
static void sender_send_file(struct sender *sender, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct head head = { .name_length = (uint32_t)strlen(name) };
	struct stat status;
	char *body = NULL;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ctim.tv_sec >= sender->since_s - 1 &&
	    status.st_size < MPI_MOST_BYTES && (body = malloc(head.name_length + (size_t)status.st_size))) {
		memcpy(body, name, head.name_length);
		head.size = (uint32_t)status.st_size;
		if (read(fd, body + head.name_length, head.size) == (ssize_t)head.size) {
			sender_send(sender, &head, sizeof head);
			sender_send(sender, body, head.name_length + head.size);
		}
	}
	free(body);
	if (fd >= 0)
		close(fd);
}

static void sender_look(struct sender *sender, const char *folder)
{
	time_t now_s = time(NULL);
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof pattern, "%s/*.sum", folder);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			sender_send_file(sender, found.gl_pathv[i]);
		globfree(&found);
	}
	sender->since_s = now_s;
}

void dw_watch_mpi_send(const struct dw_watch_mpi *mpi, const char *folder, uint64_t every_ms, bool once, const volatile int *stopped)
{
	struct sender sender = { .stopped = stopped };
	const struct head end = { 0, 0 };
	uint64_t next_ms = 0;

	dw_mpi.start_receive(&sender.byte, 1, dw_mpi.byte, 0, 0, dw_mpi.world, &sender.stop);
	while (sender_goes_on(&sender)) {
		if (dw_clock_monotonic_ms() >= next_ms) {
			sender_look(&sender, folder);
			next_ms = dw_clock_monotonic_ms() + every_ms;
			if (once)
				break;
		}
		mpi_nap(DW_WATCH_MPI_MS);
	}
	sender_send(&sender, &end, sizeof end);
	sender.until_ms = dw_clock_monotonic_ms() + MPI_LAST_MS;
	while (!sender.ended && dw_clock_monotonic_ms() < sender.until_ms) {
		sender_goes_on(&sender);
		mpi_nap(10);
	}
	if (sender.ended)
		dw_mpi.finalize();
}
