/* The effect of plain chunks; see plain_chunks.h. */
#include "model/core/plain_chunks.h"

#include "format/decode.h"

struct reading {
	const uint32_t *at, *limit;
	int32_t depth, least, most;
	uint32_t odd; /* bits of records that are neither a begin nor an end */
};

DW_INLINE struct reading plain_start(const struct dw_source_chunk *chunk)
{
	return (struct reading){ chunk->words, chunk->words + chunk->word_count, 0, 0, 0, 0 };
}

DW_INLINE void plain_read_record(struct reading *reading)
{
	uint32_t word0 = __atomic_load_n(reading->at, __ATOMIC_RELAXED);
	uint32_t word1 = __atomic_load_n(reading->at + 1, __ATOMIC_RELAXED);
	uint32_t end = (word0 & DW_WORD_END) / DW_WORD_END;

	reading->at += 2 - end;
	reading->odd |= (~word0 & DW_WORD_PRESENT) | (word1 >> DW_KIND_SHIFT & (end - 1));
	reading->depth += 1 - 2 * (int32_t)end;
	reading->least = reading->depth < reading->least ? reading->depth : reading->least;
	reading->most = reading->depth > reading->most ? reading->depth : reading->most;
}

/* Reads the records that are left. A begin has two words and an end has one: a single word at the end of a chunk is an end. */
static bool plain_finish(struct reading reading, struct dw_plain_chunk *item)
{
	while (reading.limit - reading.at > 1)
		plain_read_record(&reading);
	if (reading.at < reading.limit) {
		reading.odd |= (*reading.at & (DW_WORD_PRESENT | DW_WORD_END)) != (DW_WORD_PRESENT | DW_WORD_END);
		reading.depth--;
	}
	*item = (struct dw_plain_chunk){ reading.depth, reading.depth < reading.least ? reading.depth : reading.least,
		                         reading.most, false };
	return !reading.odd;
}

static bool plain_read_two(const struct dw_source_chunk *chunks, struct dw_plain_chunk *items)
{
	struct reading first = plain_start(&chunks[0]), second = plain_start(&chunks[1]);

	while (first.limit - first.at > 1 && second.limit - second.at > 1) {
		plain_read_record(&first);
		plain_read_record(&second);
	}
	return plain_finish(first, &items[0]) && plain_finish(second, &items[1]);
}

static bool plain_follows(const struct dw_source_chunk *chunk, const struct dw_source_chunk *before)
{
	return chunk->words && !chunk->header && !chunk->gap_before && chunk->base_ticks <= DW_TICKS_MAX &&
	       chunk->thread == before->thread && (chunk == before || chunk->base_ticks >= before->end_ticks);
}

bool dw_plain_chunks(const struct dw_source_file *file, const struct dw_source_stream *stream, size_t from, size_t to,
                     struct dw_plain_chunk *items)
{
	const struct dw_source_chunk *chunks = stream->chunks;

	for (size_t i = from; i < to; i++)
		if (!plain_follows(&chunks[i], &chunks[i > from ? i - 1 : i]))
			return false;
	for (size_t kept = from; to - from > 1; from += 2, items += 2) {
		if (!plain_read_two(&chunks[from], items))
			return false;
		if (file->large && from - kept >= DW_SOURCE_RELEASE_CHUNKS) {
			dw_source_release_chunks(stream, kept, from);
			kept = from;
		}
	}
	return from == to || plain_finish(plain_start(&chunks[from]), items);
}
