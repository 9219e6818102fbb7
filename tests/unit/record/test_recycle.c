/*
 * A process that is killed while it recycles a chunk: at each instruction, each record is in the file or counted as
 * lost. The process is stopped after every instruction, and its file is looked at as a reader would find it.
 */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/record_length.h"
#include "session.h"

#define FILE_BYTES (16 * (size_t)DW_BLOCK_BYTES)

static size_t file_blocks;

static struct {
	uint64_t records;    /* that were completed */
	uint64_t lost_at;    /* where in the file the thread counts recycled records */
	uint32_t own;        /* the id of the recorder's own ranges */
} *shared;

/* ---- the process that is stopped ------------------------------------------------------ */

static uint64_t place_of(const void *address)
{
	for (uint32_t i = 0; i < dw_process->window_count; i++) {
		const struct dw_window *window = &dw_process->windows[i];
		size_t at = (size_t)((const char *)address - window->base);

		if (at < window->count * (size_t)DW_BLOCK_BYTES)
			return window->first * (uint64_t)DW_BLOCK_BYTES + at;
	}
	return 0;
}

static uint64_t records_in(const struct dw_chunk *chunk);

/* Fills the file and recycles the stream's oldest chunk, between two stops. */
static int record_and_recycle(void)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dw_chunk *oldest;
	struct dw_slot *slot;
	uint64_t records;

	options.path = session_path;
	options.max_size_bytes = FILE_BYTES;
	options.keep = DWELL_KEEP_NEWEST;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || dwell_start(&options, NULL) != 0)
		return 77;
	for (int i = 0; i < 20000; i++) {
		DWELL_ZONE("recycled");
		shared->records += 2;
	}
	slot = dw_slot_here(NULL);
	shared->lost_at = place_of(&slot->entry->lost[DW_LOSS_RECYCLED]);
	shared->own = dw_chunk_own_range;
	oldest = (struct dw_chunk *)(void *)dw_window_address(slot->writers[0].oldest);
	if (!oldest)
		return 1;
	records = records_in(oldest);
	raise(SIGSTOP);
	dw_chunk_recycle(oldest, slot, records);
	raise(SIGSTOP);
	return 0;
}

/* ---- what a reader would find ----------------------------------------------------------- */

static uint64_t records_in(const struct dw_chunk *chunk)
{
	const uint32_t *word = (const uint32_t *)(const void *)(chunk + 1);
	const uint32_t *end = (const uint32_t *)(const void *)((const char *)chunk + DW_BLOCK_BYTES);
	uint64_t records = 0;

	for (; word < end && *word; word += dw_record_words(word)) {
		bool is_end = *word & DW_WORD_END;
		uint32_t kind = is_end ? DW_BEGIN : word[1] >> DW_KIND_SHIFT;

		if (kind != DW_BEGIN)
			continue;
		records += is_end || word[1] != shared->own ? 1 : UINT64_MAX; /* the end that follows is not the program's */
	}
	return records;
}

/* Counts what can be read; returns a number that changes when a chunk is emptied or losses are counted. */
static uint64_t look_at_heads(const char *file)
{
	uint64_t sum = *(const uint64_t *)(const void *)(file + shared->lost_at) * 31;

	for (size_t block = 1; block < file_blocks; block++)
		sum = sum * 31 + ((const struct dw_chunk *)(const void *)(file + block * DW_BLOCK_BYTES))->number;
	return sum;
}

static uint64_t records_kept(const char *file)
{
	uint64_t kept = 0;

	for (size_t block = 1; block < file_blocks; block++) {
		const struct dw_chunk *chunk = (const void *)(file + block * DW_BLOCK_BYTES);

		if (chunk->magic == DW_CHUNK_MAGIC && chunk->type == DW_CHUNK_STREAM && chunk->number)
			kept += records_in(chunk);
	}
	return kept;
}

/* Steps through what is between two stops. Returns how often the state changed; 0: it cannot be followed. */
static unsigned step_through(pid_t pid, const char *file)
{
	uint64_t state = look_at_heads(file), lost = 0;
	unsigned changes = 0;
	int status;

	for (;;) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return 0;
		if (WSTOPSIG(status) == SIGSTOP)
			break;
		if (look_at_heads(file) == state)
			continue;
		state = look_at_heads(file);
		changes++;
		lost = *(const uint64_t *)(const void *)(file + shared->lost_at);
		if (records_kept(file) + lost < shared->records)
			CHECK_FAIL("%" PRIu64 " kept and %" PRIu64 " counted of %" PRIu64, records_kept(file), lost, shared->records);
	}
	CHECK_EQ(records_kept(file) + lost, shared->records); /* and none twice, when it is done */
	return changes;
}

TEST(each_record_is_kept_or_counted_at_each_instruction)
{
	unsigned changes = 0;
	const char *file;
	int status, fd;
	pid_t pid;

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(session_folder, sizeof session_folder, "/tmp/dwell-unit-XXXXXX");
	REQUIRE(mkdtemp(session_folder));
	snprintf(session_path, sizeof session_path, "%s/t.dwell", session_folder);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(record_and_recycle());
	REQUIRE(waitpid(pid, &status, 0) == pid);
	if (WIFSTOPPED(status)) {
		fd = open(session_path, O_RDONLY);
		file_blocks = (size_t)lseek(fd, 0, SEEK_END) / DW_BLOCK_BYTES;
		file = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		changes = step_through(pid, file);
		CHECK(changes >= 2);
	} else {
		printf("    ptrace is not permitted here\n");
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	unlink(session_path);
	rmdir(session_folder);
}

CHECK_MAIN
