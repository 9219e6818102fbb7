/* Streams of records in a trace that is built in memory; see encode.h. */
#include "format/encode.h"

#include <string.h>

void dw_encode_stream_init(struct dw_encode_stream *stream, const struct dw_encode_process *process,
                           uint32_t number, uint32_t thread)
{
	memset(stream, 0, sizeof *stream);
	stream->encode = process->encode;
	stream->process = process->id;
	stream->stream = number;
	stream->thread = thread;
}

static bool encode_open_chunk(struct dw_encode_stream *stream, uint64_t ticks)
{
	struct dw_chunk *chunk;

	stream->block = dw_encode_new_chunk(stream->encode, DW_CHUNK_STREAM, stream->process, stream->stream,
	                                    ++stream->number);
	if (!stream->block)
		return false;
	if (stream->last_block)
		dw_encode_chunk(stream->encode, stream->last_block)->next = stream->block;
	else
		stream->last_ticks = ticks;
	chunk = dw_encode_chunk(stream->encode, stream->block);
	chunk->base_ticks = stream->last_ticks;
	chunk->thread = stream->thread;
	stream->last_block = stream->block;
	stream->at_bytes = DW_CHUNK_HEADER_BYTES;
	return true;
}

void dw_encode_close(struct dw_encode_stream *stream)
{
	if (!stream->block || stream->encode->failed)
		return;
	struct dw_chunk *chunk = dw_encode_chunk(stream->encode, stream->block);
	chunk->end_ticks = stream->last_ticks;
	chunk->end_bytes = stream->at_bytes;
	stream->block = 0;
}

/* The place for `words` words in a chunk with enough space; NULL: out of memory. */
static uint32_t *encode_reserve_words(struct dw_encode_stream *stream, uint64_t ticks, unsigned words)
{
	uint32_t limit = DW_BLOCK_BYTES - 4; /* a zero word ends the data */

	if (stream->encode->failed)
		return NULL;
	/* Four more, because an EXT TIME may have to come first. */
	if (stream->block && stream->at_bytes + (words + 4) * 4 > limit)
		dw_encode_close(stream);
	if (!stream->block && !encode_open_chunk(stream, ticks))
		return NULL;
	return (uint32_t *)(void *)((char *)dw_encode_chunk(stream->encode, stream->block) +
	                            stream->at_bytes);
}

static uint32_t *encode_put_time(struct dw_encode_stream *stream, uint64_t ticks, uint32_t *at)
{
	if (ticks - stream->last_ticks < (uint64_t)1 << DW_DELTA_BITS)
		return at;
	at[1] = (uint32_t)DW_EXT << DW_KIND_SHIFT | DW_EXT_TIME << DW_EXT_TYPE_SHIFT | 2;
	memcpy(at + 2, &ticks, 8);
	at[0] = DW_WORD_PRESENT;
	stream->last_ticks = ticks;
	stream->at_bytes += 16;
	return at + 4;
}

void dw_encode_record(struct dw_encode_stream *stream, uint64_t ticks, enum dw_kind kind,
                      uint32_t id, const void *payload, unsigned words)
{
	uint32_t *at = encode_reserve_words(stream, ticks, words + 2);

	if (!at)
		return;
	if ((kind == DW_END_OF && id) ||
	    (kind == DW_EXT && id >> DW_EXT_TYPE_SHIFT == DW_EXT_BY_NAME))
		dw_encode_head(stream->encode)->flags |= DW_HEAD_NAMED_ENDS;
	at = encode_put_time(stream, ticks, at);
	at[1] = (uint32_t)kind << DW_KIND_SHIFT | (id & DW_ID_MASK);
	if (words)
		memcpy(at + 2, payload, words * 4);
	at[0] = (uint32_t)(ticks - stream->last_ticks) << DW_DELTA_SHIFT | DW_WORD_PRESENT;
	stream->last_ticks = ticks;
	stream->at_bytes += 8 + words * 4;
	if (kind == DW_THREAD)
		stream->thread = id;
}

void dw_encode_begin(struct dw_encode_stream *stream, uint64_t ticks, uint32_t op)
{
	dw_encode_record(stream, ticks, DW_BEGIN, op, NULL, 0);
}

void dw_encode_end(struct dw_encode_stream *stream, uint64_t ticks)
{
	uint32_t *at = encode_reserve_words(stream, ticks, 1);

	if (!at)
		return;
	at = encode_put_time(stream, ticks, at);
	at[0] = (uint32_t)(ticks - stream->last_ticks) << DW_DELTA_SHIFT | DW_WORD_END |
	        DW_WORD_PRESENT;
	stream->last_ticks = ticks;
	stream->at_bytes += 4;
}

/* One word has no time, so that the record does not move the stream's. */
void dw_encode_correlation(struct dw_encode_stream *stream, uint32_t correlation)
{
	dw_encode_record(stream, stream->last_ticks, DW_EXT,
	                 DW_EXT_CORRELATION << DW_EXT_TYPE_SHIFT | DW_CORRELATION_WORDS, &correlation,
	                 DW_CORRELATION_WORDS);
}

void dw_encode_tokens(struct dw_encode_stream *stream, uint64_t ticks, uint32_t op, uint64_t handle, uint32_t count)
{
	uint32_t payload[DW_TOKENS_WORDS] = { (uint32_t)ticks, (uint32_t)(ticks >> 32), (uint32_t)handle, (uint32_t)(handle >> 32),
		                                  op, count };

	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_TOKENS << DW_EXT_TYPE_SHIFT | DW_TOKENS_WORDS, payload, DW_TOKENS_WORDS);
}

void dw_encode_external(struct dw_encode_stream *stream, uint64_t ticks, uint64_t external)
{
	uint32_t payload[DW_EXTERNAL_WORDS] = { (uint32_t)ticks, (uint32_t)(ticks >> 32),
		                                    (uint32_t)external, (uint32_t)(external >> 32) };

	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_EXTERNAL << DW_EXT_TYPE_SHIFT | DW_EXTERNAL_WORDS,
	                 payload, DW_EXTERNAL_WORDS);
}
