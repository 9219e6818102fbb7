/*
 * Streams: the chunks of each writer in order, with marked gaps.
 *
 * Called once by source.c, after people.c. Every chunk gets a thread. If the thread's entry is
 * lost, a placeholder is added, one for each stream.
 */
#include "read/read.h"

/* Adds a thread whose entry is lost, one for each stream. */
static uint32_t streams_unknown_thread(struct dw_source *source, const struct dw_source_stream *stream)
{
	struct dw_source_thread *thread = &source->threads[source->thread_count];

	thread->process = stream->process;
	thread->stream = stream->stream & ~DW_STREAM_NESTED;
	thread->name = "(unknown)";
	return (uint32_t)source->thread_count++;
}

static void streams_fill_chunk(struct dw_source *source, const struct dw_source_stream *stream,
                               const struct dw_read_file *file, const struct dw_read_chunk *from,
                               struct dw_source_chunk *chunk, const struct dw_source_chunk *before)
{
	chunk->words = (const uint32_t *)(const void *)(from->header + 1);
	chunk->word_count = (from->data_bytes - DW_CHUNK_HEADER_BYTES) / 4;
	chunk->base_ticks = from->base_ticks;
	chunk->end_ticks = from->end_ticks;
	chunk->number = from->number;
	chunk->gap_before = from->number != (before ? before->number + 1 : 1);
	chunk->header = source->processes[stream->process].may_write ? from->header : NULL;
	chunk->thread = from->thread < file->id_count ? file->thread_by_id[from->thread] : DW_NO_INDEX;
	if (chunk->thread == DW_NO_INDEX && before &&
	    source->threads[before->thread].id == 0)
		chunk->thread = before->thread;
	else if (chunk->thread == DW_NO_INDEX)
		chunk->thread = streams_unknown_thread(source, stream);
}

static bool starts_stream(const struct dw_read_file *file, size_t i)
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
			count += starts_stream(&reader->files[f], i);
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
			if (starts_stream(file, i)) {
				stream = &source->streams[source->stream_count++];
				stream->file = (uint32_t)f;
				stream->stream = from->stream;
				stream->nested = from->stream & DW_STREAM_NESTED;
				stream->chunks = chunks;
				if (dw_read_process_index(reader, file, from->process, &stream->process))
					return -1;
			}
			streams_fill_chunk(source, stream, file, from, chunks,
			                   stream->chunk_count ? chunks - 1 : NULL);
			stream->chunk_count++;
			chunks++;
		}
	}
	return 0;
}
