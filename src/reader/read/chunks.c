/*
 * Chunks: checks the headers of a file's blocks, sorts the chunks, and makes streams of them.
 *
 * Called by source_open.c: first dw_read_chunks() for each file, then, after processes.c,
 * dw_read_fill_streams() once. A block that is not a chunk is unused, or damaged if it
 * has the magic. The chunks of a stream are sorted by number, in whatever blocks they are. If two
 * have the same number, the first one is kept. Invariant: data_bytes of every chunk is within the
 * file and is a multiple of 4. A file whose end is missing is recognised by its head. Gaps between
 * the chunks of a stream are marked. Every chunk gets a thread. If the thread's entry is lost, a
 * placeholder is added, one for each stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/order.h"
#include "format/decode.h"
#include "format/device.h"
#include "read/read.h"

#define AHEAD_BLOCKS 1024u /* 64 MiB */

DW_ORDER(chunks_compare_places, struct dw_read_chunk, DW_UP(type) DW_UP(process) DW_UP(stream)
         DW_UP(number) DW_UP(block))

/* Finds the end of an open chunk's data and the time of its last record. The words of a live chunk
 * appear in order, each after its payload, so the records that are found now are complete. Words
 * that are appended later are read when the file is opened again. */
static void chunks_measure(struct dw_read_chunk *chunk, const void *block)
{
	const uint32_t *words = (const uint32_t *)block + DW_CHUNK_HEADER_BYTES / 4;
	uint32_t count = (chunk->data_bytes - DW_CHUNK_HEADER_BYTES) / 4;
	struct dw_decode_time time = { .ticks = chunk->base_ticks };

	count = dw_decode_skip(words, count, &time);
	/* Pairs with the writer's release of each first word. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	chunk->data_bytes = DW_CHUNK_HEADER_BYTES + count * 4;
	chunk->end_ticks = dw_time_now(&time);
}

/* Reads what only device chunks have. False: it cannot be. */
static bool chunks_check_device(const struct dw_chunk *header, struct dw_read_chunk *chunk)
{
	chunk->clock = header->clock;
	return chunk->record_bytes >= DW_DEVICE_RECORD_BYTES && chunk->record_bytes % 8 == 0 &&
	       chunk->record_bytes <= DW_BLOCK_BYTES - DW_CHUNK_HEADER_BYTES;
}

/* Keeps whole records only, and of an open chunk those that have been written. */
/* `block` is NULL if the chunk is not open. */
static void chunks_measure_device(struct dw_read_chunk *chunk, const void *block)
{
	uint32_t left = chunk->data_bytes - DW_CHUNK_HEADER_BYTES, used = 0;

	if (!chunk->open) {
		chunk->data_bytes -= left % chunk->record_bytes;
		return;
	}
	chunk->end_ticks = 0;
	for (; used + chunk->record_bytes <= left; used += chunk->record_bytes) {
		const struct dw_device_record *there = (const void *)((const char *)block + DW_CHUNK_HEADER_BYTES + used);
		struct dw_device_record record;

		/* Pairs with the writer's release of `what`. */
		if (!__atomic_load_n(&there->what, __ATOMIC_ACQUIRE))
			break;
		dw_copy_shared(&record, there, sizeof record);
		if (record.start_ticks <= DW_TICKS_MAX && record.start_ticks + dw_device_duration(&record) > chunk->end_ticks)
			chunk->end_ticks = record.start_ticks + dw_device_duration(&record);
	}
	chunk->data_bytes = DW_CHUNK_HEADER_BYTES + used;
}

/* Copies the first bytes of a block, as many as the file has; the rest is 0. A file is read instead of
 * its mapping, because the kernel maps 16 pages for each one that is touched. */
static void chunks_copy_head(const struct dw_read_file *file, uint32_t block, struct dw_chunk *header)
{
	size_t offset = (size_t)block * DW_BLOCK_BYTES, left = file->size_bytes - offset;
	ssize_t got = 0;

	memset(header, 0, sizeof *header);
	left = left < sizeof *header ? left : sizeof *header;
	if (!file->foreign)
		got = pread(file->descriptor, header, left, (off_t)offset);
	if (got != (ssize_t)left)
		dw_copy_shared(header, file->data + offset, left);
	/* Pairs with the writer's release of magic, number and end_bytes. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Finds the end of a stream chunk's data that is open, and of a device chunk's. False: out of memory, or it cannot be
 * unpacked. */
static bool chunks_find_end(struct dw_read_chunk *chunk)
{
	bool device = chunk->type == DW_CHUNK_DEVICE, good;
	char *block = chunk->place && chunk->open ? malloc(DW_BLOCK_BYTES) : NULL;
	const void *data = block ? (const void *)block : chunk->header;

	if (!device && (chunk->type != DW_CHUNK_STREAM || !chunk->open)) {
		free(block);
		return true;
	}
	good = !chunk->open || (data && (!block || dw_pack_unpack(chunk->place, block)));
	if (good && device)
		chunks_measure_device(chunk, data);
	else if (good)
		chunks_measure(chunk, data);
	free(block);
	return good;
}

/* Fills `chunk` from its header; false if the block is not a chunk. */
static bool chunks_check(struct dw_read_file *file, uint32_t block, const struct dw_chunk *first,
                         struct dw_read_chunk *chunk)
{
	size_t offset = (size_t)block * DW_BLOCK_BYTES, left = file->size_bytes - offset;
	uint32_t end_bytes = first->end_bytes;
	struct dw_chunk header = *first;

	if (first->magic != DW_CHUNK_MAGIC)
		return false;
	if (left < sizeof header) {
		file->torn = true;
		return false;
	}
	chunk->number = first->number;
	/* Where magic, number and end_bytes are set, the second copy has what was written before them. */
	if (!chunk->place && !file->head->end_blocks)
		chunks_copy_head(file, block, &header);
	if (!chunk->place)
		chunk->header = (const struct dw_chunk *)(const void *)(file->data + offset);
	chunk->type = header.type;
	chunk->process = header.process;
	chunk->stream = header.stream;
	chunk->thread = header.thread;
	chunk->base_ticks = header.base_ticks;
	chunk->next = header.next;
	chunk->record_bytes = header.record_bytes;
	chunk->block = block;
	if (chunk->type == DW_CHUNK_DEVICE && !chunks_check_device(&header, chunk)) {
		file->damaged++;
		return false;
	}
	if (chunk->type != DW_CHUNK_STREAM && chunk->type != DW_CHUNK_JOURNAL && chunk->type != DW_CHUNK_DEVICE) {
		file->damaged += chunk->type == 0; /* other types are of a later version */
		return false;
	}
	if (!chunk->number)
		return false; /* being recycled */
	if (chunk->base_ticks > DW_TICKS_MAX) {
		file->damaged++;
		return false;
	}
	if (end_bytes && (end_bytes < DW_CHUNK_HEADER_BYTES || end_bytes > DW_BLOCK_BYTES || end_bytes % 4)) {
		file->damaged++;
		end_bytes = 0;
	}
	chunk->open = !end_bytes;
	chunk->data_bytes = end_bytes ? end_bytes : DW_BLOCK_BYTES;
	chunk->end_ticks = header.end_ticks;
	if (left < DW_BLOCK_BYTES) {
		file->torn = true;
		if (chunk->data_bytes > left) {
			chunk->data_bytes = (uint32_t)left & ~3u;
			chunk->open = true;
		}
	}
	if (chunk->end_ticks > DW_TICKS_MAX) {
		file->damaged++;
		chunk->open = true;
	}
	if (chunks_find_end(chunk))
		return true;
	file->damaged++;
	return false;
}

/* The first block at or after `block` that is not in a hole of the file. Without this, a sparse
 * file of terabytes, which is easily made, would take long to read. */
static uint32_t chunks_skip_hole(const struct dw_read_file *file, uint32_t block, uint32_t blocks)
{
	off_t at = (off_t)block * DW_BLOCK_BYTES, data;

	if (file->foreign) /* the mapped data is not the file's */
		return block;
	data = lseek(file->descriptor, at, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? blocks : block;
	return data > at ? (uint32_t)((uint64_t)data / DW_BLOCK_BYTES) : block;
}

/* Keeps only the first of several chunks with the same number. */
static void chunks_drop_doubles(struct dw_read_file *file)
{
	size_t kept = 0;

	for (size_t i = 0; i < file->chunk_count; i++) {
		const struct dw_read_chunk *chunk = &file->chunks[i], *last;

		last = kept ? &file->chunks[kept - 1] : NULL;
		if (last && last->type == chunk->type && last->process == chunk->process &&
		    last->stream == chunk->stream && last->number == chunk->number) {
			file->damaged++;
			continue;
		}
		file->chunks[kept++] = *chunk;
	}
	file->chunk_count = kept;
}

/* How many bytes of the file are missing. The head of a finished file has the file's length. A file
 * that is not finished is as long as its claims, unless its writer died during a claim. So these
 * count only if the file's end cuts a chunk. */
static uint64_t chunks_missing_bytes(const struct dw_read_file *file)
{
	uint64_t blocks = file->head->end_blocks, bytes;

	if (!blocks && file->torn)
		blocks = file->head->next_block < file->head->max_blocks ? file->head->next_block : file->head->max_blocks;
	bytes = blocks * DW_BLOCK_BYTES;
	return bytes > file->size_bytes && !file->foreign ? bytes - file->size_bytes : 0;
}

/* Lets the kernel read the headers of the next blocks, many at a time: one after the other would take a
 * disk many times as long. */
static void chunks_read_ahead(const struct dw_read_file *file, uint32_t block, size_t blocks)
{
	if (file->foreign)
		return;
	for (size_t i = block; i < blocks && i < (size_t)block + AHEAD_BLOCKS; i++)
		posix_fadvise(file->descriptor, (off_t)i * DW_BLOCK_BYTES, sizeof(struct dw_chunk), POSIX_FADV_WILLNEED);
}

static int chunks_scan(struct dw_read_file *file, uint32_t blocks, struct dwell_error *error)
{
	uint32_t ahead = 0; /* the headers of the blocks before this one are read ahead */

	for (uint32_t block = 1; block < blocks; block++) {
		struct dw_read_chunk *chunk = DW_GROW(&file->chunks, &file->chunk_capacity, file->chunk_count);
		struct dw_chunk header;

		if (!chunk)
			return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", file->path);
		if (block >= ahead) {
			chunks_read_ahead(file, block, blocks);
			ahead = block + AHEAD_BLOCKS;
		}
		chunks_copy_head(file, block, &header);
		if (chunks_check(file, block, &header, chunk)) {
			file->torn |= chunk->next >= blocks && chunk->type != DW_CHUNK_JOURNAL;
			file->chunk_count++;
		} else if (!header.magic) {
			block = chunks_skip_hole(file, block + 1, blocks) - 1;
		}
	}
	return 0;
}

/* The same for a stored trace, which has headers of all its blocks. */
static int chunks_scan_pack(struct dw_read_file *file, uint32_t blocks, struct dwell_error *error)
{
	for (size_t i = 1; i < file->pack.count; i++) {
		const struct dw_pack_place *place = &file->pack.places[i];
		struct dw_read_chunk *chunk = DW_GROW(&file->chunks, &file->chunk_capacity, file->chunk_count);
		struct dw_chunk header;

		if (!chunk)
			return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", file->path);
		memcpy(&header, place->part.first, sizeof header);
		chunk->place = place;
		if (!chunks_check(file, place->part.block, &header, chunk))
			continue;
		file->torn |= chunk->next >= blocks && chunk->type != DW_CHUNK_JOURNAL;
		file->chunk_count++;
	}
	return 0;
}

int dw_read_chunks(struct dw_read_file *file, struct dwell_error *error)
{
	size_t blocks = (file->size_bytes + DW_BLOCK_BYTES - 1) / DW_BLOCK_BYTES;
	int result;

	if (blocks > UINT32_MAX)
		blocks = UINT32_MAX;
	/* Otherwise the kernel reads all that lies between the headers too. */
	if (!file->unbacked && !file->foreign)
		posix_fadvise(file->descriptor, 0, 0, POSIX_FADV_RANDOM);
	result = file->pack.pack ? chunks_scan_pack(file, (uint32_t)blocks, error) : chunks_scan(file, (uint32_t)blocks, error);
	if (!file->unbacked && !file->foreign)
		posix_fadvise(file->descriptor, 0, 0, POSIX_FADV_NORMAL);
	if (result)
		return result;
	file->missing_bytes = chunks_missing_bytes(file);
	if (!file->chunk_count)
		return 0;
	qsort(file->chunks, file->chunk_count, sizeof *file->chunks, chunks_compare_places);
	chunks_drop_doubles(file);
	return 0;
}

/* ---- streams -------------------------------------------------------------------- */

/* Adds a thread whose entry is lost, one for each stream. */
static uint32_t chunks_unknown_thread(struct dw_source *source, const struct dw_source_stream *stream)
{
	struct dw_source_thread *thread = &source->threads[source->thread_count];

	thread->process = stream->process;
	thread->stream = stream->stream & ~DW_STREAM_NESTED;
	thread->name = "(unknown)";
	return (uint32_t)source->thread_count++;
}

static void chunks_fill_one(struct dw_source *source, const struct dw_source_stream *stream,
                            const struct dw_read_file *file, const struct dw_read_chunk *from,
                            struct dw_source_chunk *chunk, const struct dw_source_chunk *before)
{
	*chunk = (struct dw_source_chunk){ .words = from->header ? (const uint32_t *)(const void *)(from->header + 1) : NULL,
		.place = from->place, .word_count = (from->data_bytes - DW_CHUNK_HEADER_BYTES) / 4,
		.base_ticks = from->base_ticks, .end_ticks = from->end_ticks, .number = from->number,
		.gap_before = from->number != (before ? before->number + 1 : 1),
		.header = source->processes[stream->process].may_write ? from->header : NULL,
		.thread = dw_read_thread_of(file, from->thread) };
	if (chunk->thread == DW_NO_INDEX && before && source->threads[before->thread].id == 0)
		chunk->thread = before->thread;
	else if (chunk->thread == DW_NO_INDEX)
		chunk->thread = chunks_unknown_thread(source, stream);
}

/* Whether the chunk is the first one of a stream: the chunks of a stream are next to each other. */
static bool chunks_start_stream(const struct dw_read_file *file, size_t i)
{
	const struct dw_read_chunk *a = &file->chunks[i], *b = i ? a - 1 : NULL;

	return a->type == DW_CHUNK_STREAM &&
	       (!b || b->type != a->type || b->process != a->process || b->stream != a->stream);
}

int dw_read_fill_streams(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;
	struct dw_source_stream *stream = NULL;
	size_t count = 0;

	for (size_t f = 0; f < reader->file_count; f++)
		for (size_t i = 0; i < reader->files[f].chunk_count; i++)
			count += chunks_start_stream(&reader->files[f], i);
	source->streams = dw_read_take(reader, count, sizeof *source->streams);
	if (!source->streams)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];
		struct dw_source_chunk *chunks = dw_read_take(reader, file->chunk_count, sizeof *chunks);

		if (!chunks)
			return -1;
		for (size_t i = 0; i < file->chunk_count; i++) {
			const struct dw_read_chunk *from = &file->chunks[i];

			if (from->type != DW_CHUNK_STREAM)
				continue;
			if (!stream || chunks_start_stream(file, i)) {
				stream = &source->streams[source->stream_count++];
				stream->file = (uint32_t)f;
				stream->stream = from->stream;
				stream->nested = from->stream & DW_STREAM_NESTED;
				stream->chunks = chunks;
				if (dw_read_process_index(reader, file, from->process, &stream->process))
					return -1;
			}
			chunks_fill_one(source, stream, file, from, chunks, stream->chunk_count ? chunks - 1 : NULL);
			stream->chunk_count++;
			chunks++;
		}
	}
	return 0;
}
