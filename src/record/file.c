/* Trace files: created, opened, trimmed; see file.h. */
#include "record/file.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "dwell/probe.h"

#define DEFAULT_MAX_SIZE_BYTES ((uint64_t)2 << 30)
#define LEAST_BLOCKS 16u /* 1 MiB: head, a few chunks, the reserve */

/* ---- creating ---------------------------------------------------------------- */

static void read_boot_id(uint8_t id[16])
{
	char text[40] = "";
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	unsigned byte = 0;

	if (file < 0)
		return;
	ssize_t length = read(file, text, sizeof text - 1);
	close(file);
	for (char *c = text; length > 0 && *c && byte < 32; c++) {
		const char *digits = "0123456789abcdef";
		const char *digit = strchr(digits, *c);

		if (digit && *c != '-') {
			id[byte / 2] = (uint8_t)(id[byte / 2] << 4 | (digit - digits));
			byte++;
		}
	}
}

/* The budget in blocks: what was asked, at most a tenth of what is free. */
static uint32_t budget(int file, uint64_t max_size_bytes)
{
	struct statvfs fs;
	uint64_t bytes = max_size_bytes ? max_size_bytes : DEFAULT_MAX_SIZE_BYTES;

	if (fstatvfs(file, &fs) == 0) {
		uint64_t tenth = (uint64_t)fs.f_bavail * fs.f_frsize / 10;

		if (bytes > tenth)
			bytes = tenth;
	}
	uint64_t blocks = bytes / DW_BLOCK_BYTES;
	if (blocks < LEAST_BLOCKS)
		blocks = LEAST_BLOCKS;
	return blocks > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)blocks;
}

static void fill_identity(struct dw_head *head, const uint8_t *run_id)
{
	head->version_major = DW_VERSION_MAJOR;
	head->version_minor = DW_VERSION_MINOR;
	head->block_bytes = DW_BLOCK_BYTES;
	head->byte_order = DW_BYTE_ORDER;
	if (run_id)
		memcpy(head->run_id, run_id, sizeof head->run_id);
	else if (getrandom(head->run_id, sizeof head->run_id, 0) != sizeof head->run_id)
		memcpy(head->run_id, &(struct { uint64_t a, b; }){ dw_clock_read(1), (uint64_t)getpid() }, 16);
	read_boot_id(head->boot_id);
	gethostname(head->hostname, sizeof head->hostname - 1);
	snprintf(head->writer, sizeof head->writer, "dwell %s", DWELL_VERSION);
	head->creator_pid = (uint32_t)getpid();
}

static void fill_clock(struct dw_head *head)
{
	struct dw_clock_sample sample;

	head->clock_kind = dw_clock_pick(secure_getenv("DWELL_CLOCK"));
	head->ticks_per_second = dw_clock_rate(head->clock_kind);
	dw_clock_sample(head->clock_kind, &sample);
	head->start_ticks = sample.ticks;
	head->start_monotonic_ns = sample.monotonic_ns;
	head->start_realtime_ns = sample.realtime_ns;
}

static void fill_allocation(struct dw_head *head, int file, const struct dwell_options *options)
{
	head->next_block = 1;
	head->max_blocks = budget(file, options->max_size_bytes);
	head->reserve_blocks = head->max_blocks / 8;
	head->keep = (uint32_t)options->keep;
	head->keep_blocks = options->keep == DWELL_KEEP_OLDEST   ? UINT32_MAX
	                    : options->keep == DWELL_KEEP_NEWEST ? 0
	                                                         : head->max_blocks / 2;
	head->next_id = 1;
	head->next_gate = 1;
}

static void fill_control(struct dw_control *control, const struct dwell_options *options)
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

/* Whether the file system lets us do what recording needs; the head is written. */
static int write_head(int file, const struct dwell_options *options, const uint8_t *run_id)
{
	struct dw_head *head;

	if (fallocate(file, 0, 0, DW_BLOCK_BYTES) != 0)
		return -errno;
	head = mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (head == MAP_FAILED)
		return -errno;
	fill_identity(head, run_id);
	fill_clock(head);
	fill_allocation(head, file, options);
	fill_control((struct dw_control *)(void *)((char *)head + DW_CONTROL_OFFSET), options);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(head->magic, DW_MAGIC, sizeof head->magic); /* last: a reader knows it is whole */
	munmap(head, DW_BLOCK_BYTES);
	return 0;
}

static int create_at(const char *path, const struct dwell_options *options, const uint8_t *run_id)
{
	/* 0600: a trace holds names and arguments of its user. */
	int file = open(path, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
	int result;

	if (file < 0 && errno == EEXIST && options->overwrite) {
		/* Unlink rather than truncate: who has the old one mapped keeps it. */
		unlink(path);
		file = open(path, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
	}
	if (file < 0)
		return -errno;
	result = write_head(file, options, run_id);
	if (result) {
		close(file);
		unlink(path);
		return result;
	}
	return file;
}

static bool is_refusal(int result)
{
	return result == -EOPNOTSUPP || result == -ENODEV || result == -ENOSYS || result == -EINVAL;
}

static int create_spilled(const char *path, const struct dwell_options *options,
                          const uint8_t *run_id, const char *folder, char *actual_path)
{
	const char *name = strrchr(path, '/');

	if (!folder)
		folder = secure_getenv("TMPDIR");
	snprintf(actual_path, 4096, "%s/%d-%s", folder ? folder : "/tmp", (int)getpid(),
	         name ? name + 1 : path);
	return create_at(actual_path, options, run_id);
}

static int creation_error(struct dwell_error *error, const char *path, int result)
{
	switch (-result) {
	case EEXIST:
		return dw_error_set(error, DWELL_E_EXISTS,
		                    "%s exists; name another file with -o, or that one to replace it", path);
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
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	int file;

	if (strlen(path) >= 4096)
		return dw_error_set(error, DWELL_E_ARGUMENT, "the trace's path is too long: %.64s...", path);
	strcpy(actual_path, path);
	sigaction(SIGXFSZ, &ignore, &old);
	file = create_at(path, options, run_id);
	if (is_refusal(file))
		file = create_spilled(path, options, run_id, spill_folder, actual_path);
	sigaction(SIGXFSZ, &old, NULL);
	return file < 0 ? creation_error(error, actual_path, file) : file;
}

/* ---- opening ------------------------------------------------------------------- */

int dw_file_open(const char *path, struct dw_head **head, struct dwell_error *error)
{
	struct stat status;
	int file = open(path, O_RDWR | O_CLOEXEC);
	struct dw_head *map;

	if (file < 0)
		return dw_error_set(error, DWELL_E_IO, "cannot open %s: %s", path, strerror(errno));
	if (fstat(file, &status) != 0 || status.st_size < (off_t)DW_BLOCK_BYTES) {
		close(file);
		return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is not a dwell trace", path);
	}
	map = mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED) {
		close(file);
		return dw_error_set(error, DWELL_E_IO, "cannot map %s: %s", path, strerror(errno));
	}
	if (memcmp(map->magic, DW_MAGIC, sizeof map->magic) != 0 ||
	    map->version_major != DW_VERSION_MAJOR || map->block_bytes != DW_BLOCK_BYTES) {
		munmap(map, DW_BLOCK_BYTES);
		close(file);
		return dw_error_set(error, DWELL_E_VERSION,
		                    "%s cannot be written by dwell %s: another version made it", path,
		                    DWELL_VERSION);
	}
	*head = map;
	return file;
}

/* ---- finishing ------------------------------------------------------------------- */

/* A process that writes to the file is named by the first entry of its journal. */
static bool writer_alive(int file, off_t offset, const struct dw_chunk *chunk, uint32_t self)
{
	struct dw_entry_process process;
	off_t at = offset + (off_t)sizeof *chunk;

	if (pread(file, &process, sizeof process, at) != (ssize_t)sizeof process)
		return false;
	return process.entry.tag == DW_ENTRY_TAG(DW_ENTRY_PROCESS) && process.pid != self &&
	       (kill((pid_t)process.pid, 0) == 0 || errno == EPERM);
}

struct extent {
	uint32_t used_end;   /* block after the last one in use */
	uint32_t alive;
};

static void survey(int file, uint32_t blocks, uint32_t self, struct extent *extent)
{
	for (uint32_t block = 1; block < blocks; block++) {
		struct dw_chunk chunk;
		off_t offset = (off_t)block * DW_BLOCK_BYTES;

		if (pread(file, &chunk, sizeof chunk, offset) != (ssize_t)sizeof chunk)
			break;
		if (chunk.magic != DW_CHUNK_MAGIC)
			continue;
		extent->used_end = block + 1;
		if (chunk.type == DW_CHUNK_JOURNAL && chunk.number == 1 &&
		    writer_alive(file, offset, &chunk, self))
			extent->alive++;
	}
}

static void punch_unused(int file, uint32_t blocks)
{
	for (uint32_t block = 1; block < blocks; block++) {
		uint32_t magic = 0;
		off_t offset = (off_t)block * DW_BLOCK_BYTES;

		if (pread(file, &magic, sizeof magic, offset) == (ssize_t)sizeof magic &&
		    magic != DW_CHUNK_MAGIC)
			fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, DW_BLOCK_BYTES);
	}
}

static int copy_all(int from, int to)
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

static int move_to(int file, const char *path, const char *final_path, struct dwell_error *error)
{
	int to = open(final_path, O_WRONLY | O_CLOEXEC | O_CREAT | O_TRUNC, 0600);
	int result = to < 0 ? -errno : copy_all(file, to);

	if (to >= 0 && close(to) != 0 && result == 0)
		result = -errno;
	if (result)
		return dw_error_set(error, DWELL_E_IO, "cannot copy the trace to %s: %s; it lies at %s",
		                    final_path, strerror(-result), path);
	unlink(path);
	return 0;
}

int dw_file_finish(int file, const char *path, const char *final_path, uint32_t self,
                   struct dw_finish *finish, struct dwell_error *error)
{
	struct extent extent = { 1, 0 };
	struct stat status;

	if (fstat(file, &status) != 0)
		return dw_error_set(error, DWELL_E_IO, "cannot look at %s: %s", path, strerror(errno));
	uint32_t blocks = (uint32_t)(status.st_size / DW_BLOCK_BYTES);
	survey(file, blocks, self, &extent);
	finish->alive = extent.alive;
	finish->size_bytes = (uint64_t)status.st_size;
	if (!extent.alive) {
		finish->size_bytes = (uint64_t)extent.used_end * DW_BLOCK_BYTES;
		if (ftruncate(file, (off_t)finish->size_bytes) != 0)
			finish->size_bytes = (uint64_t)status.st_size;
		punch_unused(file, extent.used_end);
	}
	return final_path && *final_path ? move_to(file, path, final_path, error) : 0;
}
