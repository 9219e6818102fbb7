/*
 * Entries and records that only the recorder writes, for traces that tests and benchmarks make.
 *
 * src/recorder/format/encode.h has those that importers of other tools' files write too.
 */
#pragma once

#include <string.h>

#include "format/encode.h"

static inline void dw_encode_clock(struct dw_encode_process *process, uint64_t ticks,
                                   uint64_t monotonic_ns, uint64_t realtime_ns, uint64_t error_ns)
{
	struct dw_entry_clock *entry = dw_encode_entry(process, DW_ENTRY_CLOCK, 0, 0, sizeof *entry);

	if (!entry)
		return;
	entry->ticks = ticks;
	entry->monotonic_ns = monotonic_ns;
	entry->realtime_ns = realtime_ns;
	entry->error_ns = error_ns;
}

/* A frame that is known by name; a stack of such frames, innermost first. */
static inline uint32_t dw_encode_frame(struct dw_encode_process *process, const char *function,
                                       const char *file, uint32_t line)
{
	uint32_t id = dw_encode_new_id(process->encode);
	uint32_t name = dw_encode_string(process, function), path = dw_encode_string(process, file);
	struct dw_entry_frame *entry = dw_encode_entry(process, DW_ENTRY_FRAME, id, 0, sizeof *entry);

	if (!entry)
		return 0;
	entry->function = name;
	entry->file = path;
	entry->line = line;
	return id;
}

/* A function of a library. */
static inline uint32_t dw_encode_frame_in(struct dw_encode_process *process, const char *path, const char *function)
{
	uint32_t module = dw_encode_new_id(process->encode), text = dw_encode_string(process, path), id;
	struct dw_entry_module *entry = dw_encode_entry(process, DW_ENTRY_MODULE, module, 1, sizeof *entry);
	struct dw_entry_frame *frame;

	if (!entry)
		return 0;
	entry->path = text;
	text = dw_encode_string(process, function);
	id = dw_encode_new_id(process->encode);
	frame = dw_encode_entry(process, DW_ENTRY_FRAME, id, module, sizeof *frame);
	if (!frame)
		return 0;
	frame->function = text;
	return id;
}

/* A hole such as a killed process leaves: reserved and not tagged. */
static inline void dw_encode_hole(struct dw_encode_process *process, size_t bytes)
{
	struct dw_entry *entry = dw_encode_entry(process, DW_ENTRY_CLOCK, 0, 0, bytes);

	if (entry)
		memset(entry, 0, sizeof *entry);
}

/* A USAGE entry of the machine, whose other fields the caller sets. NULL: out of memory. */
static inline struct dw_entry_machine *dw_encode_machine(struct dw_encode_process *process,
                                                         uint64_t start_ticks, uint64_t end_ticks)
{
	struct dw_entry_machine *entry =
	    dw_encode_entry(process, DW_ENTRY_USAGE, 0, DW_USAGE_MACHINE, sizeof *entry);

	if (entry) {
		entry->start_ticks = start_ticks;
		entry->end_ticks = end_ticks;
	}
	return entry;
}

static inline void dw_encode_meta(struct dw_encode_process *process, const char *key,
                                  const char *value, bool json)
{
	uint32_t key_id = dw_encode_string(process, key);
	uint32_t value_id = dw_encode_string(process, value);
	struct dw_entry_meta *entry =
	    dw_encode_entry(process, DW_ENTRY_META, key_id, value_id, sizeof *entry);

	if (entry)
		entry->flags = json ? DW_META_JSON : 0;
}

static inline uint32_t dw_encode_op(struct dw_encode_process *process, uint32_t category,
                                    const char *name, const char *detail, uint32_t shapes,
                                    const char *file, uint32_t line)
{
	uint32_t name_id = dw_encode_string(process, name);
	uint32_t detail_id = dw_encode_string(process, detail);
	uint32_t file_id = dw_encode_string(process, file);

	return dw_encode_op_of(process, category, name_id, detail_id, shapes, file_id, line);
}

/* A PLACE entry between two FRAMEs; the caller sets the other fields. NULL: out of memory. */
static inline struct dw_entry_place *dw_encode_place(struct dw_encode_process *process,
                                                     uint32_t thread, uint32_t kind, uint32_t from,
                                                     uint32_t to)
{
	struct dw_entry_place *entry =
	    dw_encode_entry(process, DW_ENTRY_PLACE, thread, kind, sizeof *entry);

	if (entry) {
		entry->from = from;
		entry->to = to;
	}
	return entry;
}

static inline uint32_t dw_encode_profile(struct dw_encode_process *process, uint32_t thread,
                                         const char *name, uint64_t cycle, uint64_t start_ticks,
                                         uint64_t end_ticks)
{
	uint32_t id = dw_encode_new_id(process->encode), text = dw_encode_string(process, name);
	struct dw_entry_profile *entry =
	    dw_encode_entry(process, DW_ENTRY_PROFILE, id, thread, sizeof *entry);

	if (!entry)
		return 0;
	entry->name = text;
	entry->cycle = cycle;
	entry->start_ticks = start_ticks;
	entry->end_ticks = end_ticks;
	return id;
}

static inline uint32_t dw_encode_stack(struct dw_encode_process *process, const uint32_t *frames,
                                       uint32_t count)
{
	uint32_t id = dw_encode_new_id(process->encode);
	struct dw_entry_stack *entry = dw_encode_entry(process, DW_ENTRY_STACK, id, count,
	                                               sizeof *entry + count * sizeof *frames);

	if (!entry)
		return 0;
	memcpy(entry->frames, frames, count * sizeof *frames);
	return id;
}

/* EXT SAMPLE: the stream's thread was found at this FRAME, called from this STACK. */
static inline void dw_encode_sample(struct dw_encode_stream *stream, uint64_t ticks, uint32_t frame, uint32_t stack,
                                    uint32_t weight)
{
	uint32_t payload[DW_SAMPLE_WORDS] = { (uint32_t)ticks, (uint32_t)(ticks >> 32), frame, stack, weight };

	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_SAMPLE << DW_EXT_TYPE_SHIFT | DW_SAMPLE_WORDS, payload, DW_SAMPLE_WORDS);
}

/* EXT WAIT for a lock that the thread `holder`, the kernel's id, had. */
static inline void dw_encode_lock_wait(struct dw_encode_stream *stream, uint64_t ticks, uint32_t frame, uint32_t weight,
                                       uint32_t holder)
{
	uint32_t payload[DW_WAIT_WORDS] = { (uint32_t)ticks, (uint32_t)(ticks >> 32), frame, 0, weight, holder };

	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_WAIT << DW_EXT_TYPE_SHIFT | DW_WAIT_WORDS, payload, DW_WAIT_WORDS);
}

/* EXT WAIT: the stream's thread waited in this FRAME, called from this STACK, until now. */
static inline void dw_encode_wait(struct dw_encode_stream *stream, uint64_t ticks, uint32_t frame, uint32_t stack,
                                  uint32_t weight)
{
	uint32_t payload[DW_WAIT_WORDS] = { (uint32_t)ticks, (uint32_t)(ticks >> 32), frame, stack, weight, 0 };

	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_WAIT << DW_EXT_TYPE_SHIFT | DW_WAIT_WORDS, payload, DW_WAIT_WORDS);
}

/* EXT HEAP: a block of malloc, or with 0 bytes its free. */
static inline void dw_encode_heap(struct dw_encode_stream *stream, uint64_t ticks, uint64_t address, uint64_t bytes, uint32_t op,
                                  uint32_t stack)
{
	uint32_t payload[DW_HEAP_WORDS] = { (uint32_t)ticks, (uint32_t)(ticks >> 32), (uint32_t)address, (uint32_t)(address >> 32),
		                                (uint32_t)bytes, (uint32_t)(bytes >> 32), op, stack };
	uint32_t words = bytes ? DW_HEAP_WORDS : DW_HEAP_FREE_WORDS;

	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_HEAP << DW_EXT_TYPE_SHIFT | words, payload, words);
}

/* EXT ANSWERED: a request that came over a connection. `times`: its begin, and the first and the last sending of the answer. */
static inline void dw_encode_answered(struct dw_encode_stream *stream, uint64_t ticks, uint32_t op, uint64_t handle,
                                      const uint64_t times[3], uint32_t sends)
{
	const uint64_t wide[5] = { ticks, handle, times[0], times[1], times[2] };
	uint32_t payload[DW_ANSWERED_WORDS];

	memcpy(payload, wide, sizeof wide);
	payload[DW_ANSWERED_WORDS - 2] = op;
	payload[DW_ANSWERED_WORDS - 1] = sends;
	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_ANSWERED << DW_EXT_TYPE_SHIFT | DW_ANSWERED_WORDS, payload, DW_ANSWERED_WORDS);
}

/* Steps that were summarised, without durations. Returns the entry for the caller to fill in. */
static inline struct dw_entry_steps *dw_encode_steps(struct dw_encode_process *process,
                                                     uint32_t thread, uint64_t first_number,
                                                     uint64_t count)
{
	struct dw_entry_steps *entry =
	    dw_encode_entry(process, DW_ENTRY_STEPS, thread, 0, sizeof *entry);

	if (entry) {
		entry->first_number = first_number;
		entry->count = count;
	}
	return entry;
}

/* A USAGE entry, whose other fields the caller sets. NULL: out of memory. */
static inline struct dw_entry_usage *dw_encode_usage(struct dw_encode_process *process,
                                                     uint32_t thread, uint64_t start_ticks,
                                                     uint64_t end_ticks)
{
	struct dw_entry_usage *entry =
	    dw_encode_entry(process, DW_ENTRY_USAGE, thread, DW_USAGE_DELAY, sizeof *entry);

	if (entry) {
		entry->start_ticks = start_ticks;
		entry->end_ticks = end_ticks;
	}
	return entry;
}

/* EXT ALLOC_IS: the block at `address` is of the category of `op`. */
static inline void dw_encode_alloc_is(struct dw_encode_stream *stream, uint64_t ticks, uint32_t op,
                                      uint64_t address)
{
	uint32_t payload[DW_ALLOC_IS_WORDS] = { (uint32_t)ticks, (uint32_t)(ticks >> 32),
		                                    (uint32_t)address, (uint32_t)(address >> 32), op };

	dw_encode_record(stream, ticks, DW_EXT,
	                 DW_EXT_ALLOC_IS << DW_EXT_TYPE_SHIFT | DW_ALLOC_IS_WORDS, payload,
	                 DW_ALLOC_IS_WORDS);
}

/* EXT ALLOC_FAILED, with the bytes that were asked for, and those that the process used and might use. */
static inline void dw_encode_alloc_failed(struct dw_encode_stream *stream, uint64_t ticks, uint32_t op, const uint64_t bytes[3])
{
	uint32_t payload[DW_ALLOC_FAILED_WORDS] = { (uint32_t)ticks, (uint32_t)(ticks >> 32) };

	memcpy(payload + 2, bytes, 3 * sizeof *bytes);
	payload[8] = op;
	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_ALLOC_FAILED << DW_EXT_TYPE_SHIFT | DW_ALLOC_FAILED_WORDS, payload,
	                 DW_ALLOC_FAILED_WORDS);
	dw_encode_head(stream->encode)->flags |= DW_HEAD_FAILED_ALLOC;
}

/* EXT COLLECTIVE: the innermost open range belongs to collective `sequence` of the group, a STRING. */
static inline void dw_encode_collective(struct dw_encode_stream *stream, uint64_t ticks,
                                        uint32_t group, uint64_t sequence, uint64_t bytes)
{
	uint32_t payload[DW_COLLECTIVE_WORDS] = {
		(uint32_t)ticks, (uint32_t)(ticks >> 32), group, (uint32_t)sequence,
		(uint32_t)(sequence >> 32), (uint32_t)bytes, (uint32_t)(bytes >> 32)
	};

	dw_encode_head(stream->encode)->flags |= DW_HEAD_COLLECTIVES;
	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_COLLECTIVE << DW_EXT_TYPE_SHIFT | DW_COLLECTIVE_WORDS,
	                 payload, DW_COLLECTIVE_WORDS);
}

/* Closes the chunk and skips `chunks` numbers, like recycling. */
static inline void dw_encode_gap(struct dw_encode_stream *stream, uint64_t chunks)
{
	dw_encode_close(stream);
	stream->number += chunks;
}

/* EXT SCOPE_BEGIN and SCOPE_END: the begin and the end of a step that is a block of the program. */
static inline void dw_encode_scope_begin(struct dw_encode_stream *stream, uint64_t ticks)
{
	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_SCOPE_BEGIN << DW_EXT_TYPE_SHIFT, NULL, 0);
}

static inline void dw_encode_scope_end(struct dw_encode_stream *stream, uint64_t ticks)
{
	dw_encode_record(stream, ticks, DW_EXT, DW_EXT_SCOPE_END << DW_EXT_TYPE_SHIFT, NULL, 0);
}
