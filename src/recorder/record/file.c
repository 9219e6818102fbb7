/* Creates, opens and trims trace files; see file.h. */
#include "record/file.h"
#include "record/layer_paths.h"
#include "record/record.h"
#include "record/session_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/descriptor.h"
#include "base/system/system.h"

#ifndef RENAME_NOREPLACE /* some C libraries lack it */
#define RENAME_NOREPLACE 1u
#endif

#define DEFAULT_MAX_SIZE_BYTES ((uint64_t)2 << 30)

/* ---- creating ---------------------------------------------------------------- */

/* The budget in blocks: the requested size, but at most a tenth of the free space. Never less than
 * the smallest budget. */
static uint32_t file_budget(int fd, uint64_t max_size_bytes)
{
	struct statfs fs;
	uint64_t bytes = max_size_bytes ? max_size_bytes : DEFAULT_MAX_SIZE_BYTES;

	if (dw_call(SYS_fstatfs, fd, &fs) == 0) {
		uint64_t tenth = (uint64_t)fs.f_bavail * (uint64_t)(fs.f_frsize ? fs.f_frsize : fs.f_bsize) / 10;

		if (bytes > tenth)
			bytes = tenth;
	}
	uint64_t blocks = bytes / DW_BLOCK_BYTES;
	if (blocks < (DW_FILE_LEAST_BYTES / DW_BLOCK_BYTES))
		blocks = (DW_FILE_LEAST_BYTES / DW_BLOCK_BYTES);
	return blocks > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)blocks;
}

static void file_fill_creator(struct dw_head *head)
{
	struct dw_identity creator;

	dw_identify(&creator);
	head->creator_pid = creator.pid;
	head->creator_pid_namespace = creator.pid_namespace;
	head->creator_birth = creator.birth;
}

static void file_fill_identity(struct dw_head *head, const uint8_t *run_id)
{

	head->version_major = DW_VERSION_MAJOR;
	head->version_minor = DW_VERSION_MINOR;
	head->block_bytes = DW_BLOCK_BYTES;
	head->byte_order = DW_BYTE_ORDER;
	if (run_id)
		memcpy(head->run_id, run_id, sizeof head->run_id);
	else if (getrandom(head->run_id, sizeof head->run_id, 0) != sizeof head->run_id)
		memcpy(head->run_id, &(struct { uint64_t a, b; }){ dw_clock_read(1), (uint64_t)getpid() }, 16);
	dw_host_boot_id(head->boot_id);
	gethostname(head->hostname, sizeof head->hostname - 1);
	snprintf(head->writer, sizeof head->writer, "dwell %s", DWELL_VERSION);
	file_fill_creator(head);
}

static void file_fill_clock(struct dw_head *head)
{
	struct dw_clock_sample sample;

	head->clock_kind = dw_clock_pick(secure_getenv("DWELL_CLOCK"));
	dw_clock_sample(head->clock_kind, &sample);
	head->ticks_per_second = dw_clock_rate(head->clock_kind, &sample, 50000);
	head->start_ticks = sample.ticks;
	head->start_monotonic_ns = sample.monotonic_ns;
	head->start_realtime_ns = sample.realtime_ns;
	head->time_namespace = dw_host_namespace("time");
}

void dw_file_measure_clock(struct dw_head *head)
{
	const struct dw_clock_sample start = { .ticks = head->start_ticks, .monotonic_ns = head->start_monotonic_ns };

	/* Partner: none. Processes that joined already may use either rate. */
	DW_STORE(head->ticks_per_second, dw_clock_rate(head->clock_kind, &start, 1000000));
}

static void file_fill_allocation(struct dw_head *head, int fd, const struct dwell_options *options)
{
	head->next_block = 1;
	head->max_blocks = file_budget(fd, options->max_size_bytes);
	head->reserve_blocks = head->max_blocks / 8;
	head->keep = (uint32_t)options->keep;
	head->keep_blocks = options->keep == DWELL_KEEP_OLDEST   ? UINT32_MAX
	                    : options->keep == DWELL_KEEP_NEWEST ? 0
	                                                         : head->max_blocks / 2;
	head->next_id = 1;
	head->next_gate = 1;
}

static void file_fill_control(struct dw_control *control, const struct dwell_options *options)
{
	const struct dwell_schedule *schedule = &options->schedule;

	control->mask = options->categories ? options->categories : DWELL_MASK_DEFAULT;
	control->steps_from = options->steps_from;
	control->steps_to = options->steps_to;
	control->skip_first = schedule->skip_first;
	control->skip_first_wait = schedule->skip_first_wait;
	control->wait = schedule->wait;
	control->warmup = schedule->warmup;
	control->active = schedule->active;
	control->repeat = schedule->repeat;
	if (options->layers && *options->layers)
		dw_layers_fill(control, options->layers);
	control->gated = schedule->active > 0 || options->steps_from > 0 ||
	                 options->steps_to != UINT64_MAX;
	control->gates[0].open = !control->gated;
	control->gates[0].mask = control->gated ? 0 : control->mask;
}

void dw_file_fill_head(struct dw_head *head, const struct dwell_options *options, const uint8_t *run_id)
{
	file_fill_identity(head, run_id);
	file_fill_clock(head);
	head->keep = (uint32_t)options->keep;
	head->next_id = head->next_gate = head->next_block = 1;
	file_fill_control((struct dw_control *)(void *)((char *)head + DW_CONTROL_OFFSET), options);
}

/* A file that grows past this limit raises SIGXFSZ, which ends the program. */
static bool file_is_over_limit(void)
{
	uint64_t limit[2]; /* the one that holds and the hard one */

	return dw_call(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, limit) == 0 && limit[0] < DW_BLOCK_BYTES;
}

/* Reserves and maps the head; fails if the file system lacks what recording needs. */
static int file_reserve_head(int fd, struct dw_head **head)
{
	long result = file_is_over_limit() ? -EFBIG : dw_call(SYS_fallocate, fd, 0, 0, DW_BLOCK_BYTES);

	if (result == 0)
		result = dw_call(SYS_mmap, NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (dw_system_failed(result))
		return (int)result;
	*head = (struct dw_head *)result;
	return 0;
}

/* The magic is written last, when the head is complete. */
static void file_complete_head(struct dw_head *head)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(head->magic, DW_MAGIC, sizeof head->magic);
	dw_call(SYS_munmap, head, DW_BLOCK_BYTES);
}

static int file_write_head(int fd, const struct dwell_options *options, const uint8_t *run_id)
{
	struct dw_head *head;
	int result = file_reserve_head(fd, &head);

	if (result)
		return result;
	dw_file_fill_head(head, options, run_id);
	file_fill_allocation(head, fd, options);
	file_complete_head(head);
	return 0;
}

int dw_file_create_like(const char *path, const struct dw_head *like, const struct dwell_options *options)
{
	const struct dw_clock_sample start = { .ticks = like->start_ticks, .monotonic_ns = like->start_monotonic_ns };
	int fd = dw_descriptor_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	struct dw_head *head;
	int result;

	if (fd < 0)
		return fd;
	result = file_reserve_head(fd, &head);
	if (result) {
		dw_descriptor_close(fd);
		dw_call(SYS_unlinkat, AT_FDCWD, path, 0);
		return result;
	}
	memcpy(head, like, DW_CONTROL_OFFSET);
	memset(head->lost, 0, sizeof head->lost);
	file_fill_creator(head);
	head->ticks_per_second = dw_clock_rate(head->clock_kind, &start, 1000000);
	file_fill_allocation(head, fd, options);
	file_fill_control((struct dw_control *)(void *)((char *)head + DW_CONTROL_OFFSET), options);
	file_complete_head(head);
	return fd;
}

/* Whether a trace may replace this file: a regular file that is empty or a trace. */
static bool file_is_replaceable(const char *path)
{
	struct stat named, opened;
	char magic[sizeof DW_MAGIC - 1];
	bool is_trace;
	int fd;

	if (lstat(path, &named) != 0 || !S_ISREG(named.st_mode))
		return false;
	if (named.st_size == 0)
		return true;
	fd = dw_descriptor_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return false;
	is_trace = fstat(fd, &opened) == 0 && opened.st_ino == named.st_ino &&
	           opened.st_dev == named.st_dev &&
	           pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
	           (memcmp(magic, DW_MAGIC, sizeof magic) == 0 || memcmp(magic, DW_PACK_MAGIC, sizeof magic) == 0);
	dw_descriptor_close(fd);
	return is_trace;
}

static int file_create_at(const char *path, const struct dwell_options *options, const uint8_t *run_id)
{
	/* 0600: a trace contains names and arguments of its user */
	int fd = dw_descriptor_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	int result;

	if (fd == -EEXIST && options->overwrite) {
		if (!file_is_replaceable(path))
			return -ENOTUNIQ;
		/* Removed and not truncated, so that a process that has the old trace mapped keeps it. */
		unlink(path);
		fd = dw_descriptor_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	}
	if (fd < 0)
		return fd;
	result = file_write_head(fd, options, run_id);
	if (result) {
		dw_descriptor_close(fd);
		unlink(path);
		return result;
	}
	return fd;
}

static bool file_is_refusal(int result)
{
	return result == -EOPNOTSUPP || result == -ENODEV || result == -ENOSYS || result == -EINVAL;
}

static int file_create_spilled(const char *path, const struct dwell_options *options,
                               const uint8_t *run_id, const char *folder, char *actual_path)
{
	const char *name = strrchr(path, '/');

	if (!folder)
		folder = secure_getenv("TMPDIR");
	snprintf(actual_path, 4096, "%s/%d-%s", folder ? folder : "/tmp", (int)getpid(),
	         name ? name + 1 : path);
	return file_create_at(actual_path, options, run_id);
}

static int file_creation_error(struct dwell_error *error, const char *path, int result)
{
	switch (-result) {
	case EEXIST:
		return dw_error_set(error, DWELL_E_EXISTS,
		                    "%s exists; name another file with -o, or that one to replace it", path);
	case ENOTUNIQ: /* set by file_create_at() */
		return dw_error_set(error, DWELL_E_EXISTS,
		                    "%s exists and is no dwell trace, so it is not replaced; name another "
		                    "file with -o, or remove it first", path);
	case ENOSPC:
	case EDQUOT:
		return dw_error_set(error, DWELL_E_NOSPACE,
		                    "no space for %s: name a file on another disk with -o", path);
	case EFBIG:
		return dw_error_set(error, DWELL_E_NOSPACE,
		                    "%s may not grow: the limit on file sizes (ulimit -f) is too low", path);
	case EACCES:
	case EROFS:
	case EPERM:
		return dw_error_set(error, DWELL_E_IO,
		                    "cannot write %s: %s; name a file in a folder of yours with -o", path,
		                    strerror(-result));
	default:
		return dw_error_set(error, DWELL_E_IO, "cannot create %s: %s", path, strerror(-result));
	}
}

int dw_file_create(const char *path, const struct dwell_options *options, const uint8_t *run_id,
                   const char *spill_folder, char *actual_path, struct dwell_error *error)
{
	int fd;

	if (strlen(path) >= 4096)
		return dw_error_set(error, DWELL_E_ARGUMENT, "the trace's path is too long: %.64s...", path);
	memcpy(actual_path, path, strlen(path) + 1);
	fd = file_create_at(path, options, run_id);
	if (file_is_refusal(fd))
		fd = file_create_spilled(path, options, run_id, spill_folder, actual_path);
	return fd < 0 ? file_creation_error(error, actual_path, fd) : fd;
}

/* ---- opening ------------------------------------------------------------------- */

int dw_file_open(const char *path, struct dw_head **head, struct dwell_error *error)
{
	struct stat status;
	int fd = dw_descriptor_open(path, O_RDWR, 0);
	struct dw_head *map;

	if (fd < 0)
		return dw_error_set(error, DWELL_E_IO, "cannot open %s: %s", path, strerror(-fd));
	if (fstat(fd, &status) != 0 || status.st_size < (off_t)DW_BLOCK_BYTES) {
		dw_descriptor_close(fd);
		return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is not a dwell trace", path);
	}
	map = mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		dw_descriptor_close(fd);
		return dw_error_set(error, DWELL_E_IO, "cannot map %s: %s", path, strerror(errno));
	}
	if (memcmp(map->magic, DW_MAGIC, sizeof map->magic) != 0 ||
	    map->version_major != DW_VERSION_MAJOR || map->block_bytes != DW_BLOCK_BYTES) {
		munmap(map, DW_BLOCK_BYTES);
		dw_descriptor_close(fd);
		return dw_error_set(error, DWELL_E_VERSION,
		                    "%s cannot be written by dwell %s: another version made it", path,
		                    DWELL_VERSION);
	}
	*head = map;
	return fd;
}

/* ---- finishing ------------------------------------------------------------------- */

struct extent {
	uint32_t used_end; /* the block after the last one in use */
	uint32_t alive;    /* processes that still write */
	uint32_t unknown;  /* processes that may still write */
};

/* To look up a process of another pid namespace is expensive; see dw_process_lives(). */
#define MOST_SCANS 64u

/*
 * The first entry of a process's journal identifies the process. While the process registers, the
 * entry is there without its tag. An entry of an older version lacks the last two fields.
 */
static void file_count_writer(int fd, off_t offset, const struct dw_chunk *chunk,
                              uint32_t self, unsigned *scans, struct extent *extent)
{
	struct dw_entry_process process;
	struct dw_identity identity;
	enum dw_alive alive;

	if (chunk->process == self ||
	    pread(fd, &process, sizeof process, offset + (off_t)sizeof *chunk) !=
	        (ssize_t)sizeof process ||
	    (process.entry.tag && process.entry.tag != DW_ENTRY_TAG(DW_ENTRY_PROCESS)))
		return;
	identity = (struct dw_identity){ process.pid, process.pid_namespace, process.birth };
	if (process.entry.bytes < sizeof process)
		identity.pid_namespace = identity.birth = 0;
	alive = dw_process_lives(&identity, scans);
	extent->alive += alive == DW_ALIVE;
	extent->unknown += alive == DW_ALIVE_UNKNOWN;
}

/* `self` is the PROCESS id of the caller, which does not count as a writer; 0 means it has none. */
static void file_survey(int fd, uint32_t self, struct extent *extent)
{
	unsigned scans = MOST_SCANS;
	struct stat status;
	uint32_t blocks;

	*extent = (struct extent){ .used_end = 1 };
	if (fstat(fd, &status) != 0) {
		extent->unknown = 1;
		return;
	}
	blocks = (uint32_t)(status.st_size / DW_BLOCK_BYTES);
	for (uint32_t block = 1; block < blocks; block++) {
		struct dw_chunk chunk;
		off_t offset = (off_t)block * DW_BLOCK_BYTES;

		if (pread(fd, &chunk, sizeof chunk, offset) != (ssize_t)sizeof chunk)
			break;
		if (chunk.magic != DW_CHUNK_MAGIC)
			continue;
		extent->used_end = block + 1;
		if (chunk.type == DW_CHUNK_JOURNAL && chunk.number == 1)
			file_count_writer(fd, offset, &chunk, self, &scans, extent);
	}
}

static bool file_is_used(int fd, uint32_t block)
{
	uint32_t magic = 0;

	return pread(fd, &magic, sizeof magic, (off_t)block * DW_BLOCK_BYTES) !=
	           (ssize_t)sizeof magic ||
	       magic == DW_CHUNK_MAGIC;
}

/* Punches holes for runs of unused blocks, because each call is slow and a child process that
 * recorded little leaves 60 unused blocks. */
static void file_punch_unused(int fd, uint32_t blocks)
{
	uint32_t first = 1;

	for (uint32_t block = 1; block <= blocks; block++) {
		if (block < blocks && !file_is_used(fd, block))
			continue;
		if (block > first)
			fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			          (off_t)first * DW_BLOCK_BYTES, (off_t)(block - first) * DW_BLOCK_BYTES);
		first = block + 1;
	}
}

/*
 * Removes unused blocks if no process writes to the file.
 *
 * Proof that no process loses a block that it writes to:
 * - A process writes through memory only to blocks that it claimed, and next_block never goes
 *   back over a claim that is in use. So only a process that joined can be harmed.
 * - A process that joins writes its identity into its first chunk with pwrite(), which cannot
 *   raise SIGBUS, and then reads the flags (journal_join_file() in journal.c). This function sets the
 *   flags first and reads the chunks after that. All of it is seq_cst. So either this function
 *   reads the identity, or the process reads FINISHING or FINISHED.
 * - If the identity is read and the process is alive, or may be, nothing is removed.
 * - If the process reads FINISHING, it abandons its claim without having written to it.
 * - If it reads FINISHED, removing has ended, because it is done once in a file's life. The
 *   process reserves its claim and writes its identity again. The claim is still its own, because
 *   next_block is not changed here.
 * - If it read neither before it wrote its identity and FINISHED after it, the same applies.
 */
static void file_remove_unused(int fd, struct dw_head *head, uint32_t self, struct extent *extent)
{
	uint32_t flags = __atomic_fetch_or(&head->flags, DW_HEAD_FINISHING, __ATOMIC_SEQ_CST);

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	file_survey(fd, self, extent);
	if (!extent->alive && !extent->unknown && !(flags & DW_HEAD_FINISHED)) {
		/* The end is written first, because a reader may read the head at any time. */
		__atomic_store_n(&head->end_blocks, extent->used_end, __ATOMIC_SEQ_CST);
		if (ftruncate(fd, (off_t)extent->used_end * DW_BLOCK_BYTES) == 0)
			file_punch_unused(fd, extent->used_end);
	}
	__atomic_fetch_or(&head->flags, DW_HEAD_FINISHED, __ATOMIC_SEQ_CST);
	__atomic_fetch_and(&head->flags, ~DW_HEAD_FINISHING, __ATOMIC_SEQ_CST);
}

static int file_copy_all(int from, int to)
{
	static char buffer[1 << 16];
	off_t offset = 0;
	ssize_t got;

	while ((got = pread(from, buffer, sizeof buffer, offset)) > 0) {
		for (ssize_t done = 0; done < got;) {
			ssize_t put = write(to, buffer + done, (size_t)(got - done));

			if (put < 0)
				return -errno;
			done += put;
		}
		offset += got;
	}
	return got < 0 ? -errno : 0;
}

/* Renames a file unless a file with that name exists; 0 or a negative errno. */
static int name_file(const char *temporary, const char *path)
{
	if (link(temporary, path) == 0) {
		unlink(temporary);
		return 0;
	}
	if (errno == EEXIST)
		return -EEXIST;
	/* For file systems without hard links. */
	return (int)dw_call(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE);
}

/*
 * An older file of this name was removed when the trace was created, if the caller asked for it.
 * A file that has the name now is newer and belongs to another program. So it is never replaced,
 * and a symbolic link is not followed: the copy is made under a temporary name and then renamed.
 */
static int file_move_to(int fd, const char *path, const char *final_path, struct dwell_error *error)
{
	char temporary[4096];
	int to = -1, result = -ENAMETOOLONG;

	if (snprintf(temporary, sizeof temporary, "%s.%d.part", final_path, (int)getpid()) <
	    (int)sizeof temporary) {
		to = dw_descriptor_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
		result = to < 0 ? to : file_copy_all(fd, to);
	}
	if (to >= 0 && close(to) != 0 && result == 0)
		result = -errno;
	if (result == 0)
		result = name_file(temporary, final_path);
	if (result) {
		if (to >= 0)
			unlink(temporary);
		return dw_error_set(error, DWELL_E_IO, "cannot copy the trace to %s: %s; it lies at %s",
		                    final_path, strerror(-result), path);
	}
	unlink(path);
	return 0;
}

/* Whether the file still begins with the head that was written. The session's own head has a run's id, too. */
static bool file_has_head(int fd, const struct stat *opened)
{
	struct dw_head head;

	return opened->st_size >= (off_t)DW_BLOCK_BYTES && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
	       memcmp(head.magic, DW_MAGIC, sizeof head.magic) == 0 &&
	       (!dw_session_is_file(opened) || memcmp(head.run_id, dw_session.run_id, sizeof head.run_id) == 0);
}

/* The head of a file that is finished. That of this process's session is mapped already, and dw_fault_watch() knows
 * it. */
static struct dw_head *file_map_head(int fd, const struct stat *opened)
{
	struct dw_head *head = dw_session_map();

	if (head && dw_session_is_file(opened))
		return head;
	head = mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return head == MAP_FAILED ? NULL : head;
}

int dw_file_finish(int fd, const char *path, const char *final_path, uint32_t process,
                   struct dw_finish *finish, struct dwell_error *error)
{
	struct extent extent = { 1, 0, 0 };
	struct stat status;
	struct dw_head *head;

	*finish = (struct dw_finish){ .path = path };
	if (fstat(fd, &status) != 0 || !file_has_head(fd, &status))
		return dw_error_set(error, DWELL_E_NOT_TRACE, "%s was cut or written over while it was recorded", path);
	head = file_map_head(fd, &status);
	if (!head)
		return dw_error_set(error, DWELL_E_IO, "cannot map %s: %s", path, strerror(errno));
	file_remove_unused(fd, head, process, &extent);
	if (head != dw_session_map())
		munmap(head, DW_BLOCK_BYTES);
	finish->alive = extent.alive;
	finish->unknown = extent.unknown;
	finish->size_bytes = fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;
	if (!final_path || !*final_path)
		return 0;
	if (extent.alive || extent.unknown)
		return dw_error_set(error, DWELL_E_STATE,
		                    "processes still record to %s: copy it to %s when they have ended",
		                    path, final_path);
	finish->path = final_path;
	return file_move_to(fd, path, final_path, error);
}

uint32_t dw_file_writers(int fd, uint32_t process)
{
	struct extent extent;

	file_survey(fd, process, &extent);
	return extent.alive;
}

/* ---- what became of it ----------------------------------------------------------- */

/* The name that the kernel knows for an open file, "" if it is no longer the name of this file. */
static void file_find_name(int fd, const struct stat *opened, char name[4096])
{
	char link[32];
	struct stat named;
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, name, 4095);
	name[length > 0 ? length : 0] = '\0';
	if (stat(name, &named) != 0 || named.st_dev != opened->st_dev || named.st_ino != opened->st_ino)
		*name = '\0';
}

enum dw_file_fate dw_file_fate(int fd, const char *path, uint64_t expected_bytes, char now_at[4096])
{
	struct stat opened, named;
	bool exists = stat(path, &named) == 0, cut;

	*now_at = '\0';
	if (fstat(fd, &opened) != 0)
		return exists ? DW_FILE_REPLACED : DW_FILE_REMOVED;
	cut = (uint64_t)opened.st_size < expected_bytes || !file_has_head(fd, &opened);
	if (exists && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino) {
		snprintf(now_at, 4096, "%s", path);
		return cut ? DW_FILE_CUT : DW_FILE_THERE;
	}
	file_find_name(fd, &opened, now_at);
	if (opened.st_nlink)
		return cut ? DW_FILE_CUT : DW_FILE_MOVED;
	return exists ? DW_FILE_REPLACED : DW_FILE_REMOVED;
}
