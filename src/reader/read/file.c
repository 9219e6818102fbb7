/*
 * One trace file: maps it, recognises its format, or refuses it with a reason.
 *
 * Called by source_open.c for every file. The size is read once and nothing beyond it is read, so a file
 * that grows does no harm. If another program truncates a mapped file, the next read beyond the new
 * end raises SIGBUS. This is not handled: dwell never removes chunks from a file that may have
 * readers (it removes only unused blocks), and a library must not install signal handlers.
 */
#include "read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/free.h"
#include "import/import.h"

/* How often all processes of this machine may be searched for one of another pid namespace. */
#define MOST_SCANS 64u

/* Guesses what a file is that is not a trace. */
static void file_guess(const struct dw_read_file *file, char text[DW_FORM_TEXT])
{
	static const struct { const char *magic; size_t length; const char *text; } known[] = {
		{ "\x89" "DWELL\n", 7, "it was a trace, but was copied in text mode: copy it in binary mode" },
		{ "DWELL\r\n", 7, "it was a trace, but was copied in 7 bits: copy it in binary mode" },
	};
	const struct dw_import_file foreign = { file->path, file->data, file->size_bytes };

	dw_form_guess(&foreign, text);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (file->size_bytes >= known[i].length && memcmp(file->data, known[i].magic, known[i].length) == 0)
			snprintf(text, DW_FORM_TEXT, "%s", known[i].text);
}

static int map_file(struct dw_read_file *file, struct dwell_error *error)
{
	struct stat status;
	void *map;

	/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
	file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->descriptor < 0)
		return dw_error_set(error, DWELL_E_IO, "cannot open %s: %s", file->path, strerror(errno));
	if (fstat(file->descriptor, &status) != 0)
		return dw_error_set(error, DWELL_E_IO, "cannot look at %s: %s", file->path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is a directory; name a trace file (*.dwell) in it", file->path);
	if (!S_ISREG(status.st_mode))
		return dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is no regular file; store the trace in a file first", file->path);
	if (status.st_size == 0)
		return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is empty: nothing was recorded into it", file->path);
	file->size_bytes = (size_t)status.st_size;
	map = mmap(NULL, file->size_bytes, PROT_READ, MAP_SHARED, file->descriptor, 0);
	if (map == MAP_FAILED)
		return dw_error_set(error, DWELL_E_IO, "cannot map %s: %s", file->path, strerror(errno));
	file->data = map;
	return 0;
}

/* Whether a file is a Python script by its name: `dwell report train.py`. */
static bool file_is_script(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".py") == 0;
}

static int file_check_head(struct dw_read_file *file, struct dwell_error *error)
{
	const struct dw_head *head = file->head;
	const size_t least = offsetof(struct dw_head, flags);

	if (file->size_bytes < 8 || memcmp(head->magic, DW_MAGIC, 8) != 0) {
		/* The creator writes the magic last: zeros mean that the head was not completed. */
		static const char zeros[8];
		char what[DW_FORM_TEXT];

		if (file->size_bytes >= DW_BLOCK_BYTES && memcmp(head->magic, zeros, 8) == 0)
			return dw_error_set(error, DWELL_E_NOT_TRACE,
			                    "%s is not a dwell trace: it starts with zeros (a trace whose "
			                    "creation was interrupted looks like this)", file->path);
		file_guess(file, what);
		if (file_is_script(file->path))
			return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is a script, and no dwell trace: 'dwell %s' records it",
			                    file->path, file->path);
		return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is not a dwell trace%s%s", file->path, *what ? ": " : "", what);
	}
	if (file->size_bytes >= least && head->byte_order != DW_BYTE_ORDER)
		return dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s: byte order 0x%08x at offset 20 is not little-endian: damaged, or "
		                    "not made by dwell", file->path, head->byte_order);
	if (file->size_bytes >= least && head->version_major > DW_VERSION_MAJOR)
		return dw_error_set(error, DWELL_E_VERSION,
		                    "%s has trace format %u.%u; dwell %s reads up to format %u: use the "
		                    "dwell that wrote it (%.31s) or a newer one", file->path,
		                    head->version_major, head->version_minor, DWELL_VERSION, DW_VERSION_MAJOR,
		                    file->size_bytes >= sizeof *head ? head->writer : "unknown");
	if (file->size_bytes < DW_BLOCK_BYTES)
		return dw_error_set(error, DWELL_E_CORRUPT,
		                    "%s ends inside its head (at %zu of %u bytes): nothing can be "
		                    "recovered", file->path, file->size_bytes, DW_BLOCK_BYTES);
	if (head->version_major < 1 || head->block_bytes != DW_BLOCK_BYTES)
		return dw_error_set(error, DWELL_E_CORRUPT,
		                    "%s: format %u.%u with blocks of %u bytes (offset 8) was never "
		                    "written by a dwell: damaged beyond use", file->path,
		                    head->version_major, head->version_minor, head->block_bytes);
	return 0;
}

/* Copies the head, because its owner may change the file. Fields beyond the file's end are 0. */
static int file_copy_head(struct dw_read_file *file, struct dw_arena *arena, struct dwell_error *error)
{
	const size_t align = _Alignof(struct dw_head);
	char *room = dw_arena_alloc(arena, sizeof(struct dw_head) + align);
	struct dw_head *head;

	if (!room)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening a trace");
	head = (struct dw_head *)(void *)(room + (align - (uintptr_t)room % align) % align);
	dw_copy_shared(head, file->data, file->size_bytes < sizeof *head ? file->size_bytes : sizeof *head);
	file->head = head;
	return 0;
}

/* Replaces a file of another tool by its translation. file_check_head() refuses what nobody takes. */
static int import_file(struct dw_read_file *file, struct dw_arena *arena, struct dwell_error *error)
{
	struct dw_import_file foreign = { file->path, file->data, file->size_bytes };
	struct dw_import_result imported;
	int result = dw_import_open(&foreign, arena, &imported, error);

	if (result || !imported.image)
		return result;
	munmap((void *)(uintptr_t)file->data, file->size_bytes);
	file->data = imported.image;
	file->size_bytes = file->data_bytes = imported.image_bytes;
	file->note = imported.note;
	file->foreign = true;
	file->unbacked = !imported.backed;
	return 0;
}

/* Replaces a stored trace by its first block. The others are unpacked when they are needed. */
static int file_open_pack(struct dw_read_file *file, struct dw_arena *arena, struct dwell_error *error)
{
	size_t bytes = file->size_bytes;
	int result = dw_pack_open(&file->pack, file->descriptor, bytes, file->path, arena, error);
	void *block;

	if (result)
		return result;
	block = mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening %s", file->path);
	munmap((void *)(uintptr_t)file->data, bytes);
	file->data = block;
	file->data_bytes = DW_BLOCK_BYTES;
	file->size_bytes = file->pack.image_bytes;
	file->note = file->pack.note;
	file->torn = file->pack.torn;
	file->unbacked = true;
	return dw_pack_unpack(file->pack.places, block)
	           ? 0 : dw_error_set(error, DWELL_E_CORRUPT, "%s is a stored trace whose first block cannot be unpacked: "
	                              "nothing can be recovered", file->path);
}

int dw_read_file_open(struct dw_read_file *file, struct dw_arena *arena, const char *path, struct dwell_error *error)
{
	int result;

	memset(file, 0, sizeof *file);
	file->descriptor = -1;
	file->scans_left = MOST_SCANS;
	file->path = dw_arena_text(arena, path, strlen(path));
	if (!file->path)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening a trace");
	result = map_file(file, error);
	file->data_bytes = file->size_bytes;
	if (result == 0 && dw_pack_is(file->data, file->size_bytes))
		result = file_open_pack(file, arena, error);
	else if (result == 0 && memcmp(file->data, DW_MAGIC, file->size_bytes < 8 ? file->size_bytes : 8) != 0)
		result = import_file(file, arena, error);
	if (result == 0) {
		result = file_copy_head(file, arena, error);
		if (result == 0)
			result = file_check_head(file, error);
	}
	if (result)
		dw_read_file_close(file);
	return result;
}

void dw_read_file_release(const struct dw_read_file *file)
{
	if (file->data && !file->unbacked)
		madvise((void *)(uintptr_t)file->data, file->size_bytes, MADV_DONTNEED);
}

void dw_read_file_close(struct dw_read_file *file)
{
	dw_pack_close(file->pack.pack);
	if (file->data)
		munmap((void *)(uintptr_t)file->data, file->data_bytes);
	if (file->descriptor >= 0)
		close(file->descriptor);
	DW_FREE(file->chunks, file->processes, file->threads, file->steps, file->withdrawals, file->places,
	        file->summaries, file->usages, file->machines, file->clocks, file->pieces, file->profiles, file->metas,
	        file->ops, file->frames, file->modules, file->symbols, file->stacks);
	dw_read_device_parts_reset(&file->device_parts);
	DW_FREE(file->strings, file->shapes, file->thread_by_id);
	dw_read_index_reset(&file->process_places);
	memset(file, 0, sizeof *file);
	file->descriptor = -1;
}
