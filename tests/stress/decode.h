/*
 * A decoder of trace files for tests of the recorder.
 *
 * It is written from layout.h alone and shares no code with the project's reader, so that an error
 * in one of them does not hide the same error in the other. It is strict where a reader is
 * tolerant: everything that a correct recorder never writes is counted in `bad`, and `why`
 * describes the first case.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/layout.h"

struct trace_record {
	const struct dw_chunk *chunk;
	const struct dw_entry_process *process;
	const struct dw_entry_thread *thread;
	uint64_t ticks;
	uint32_t kind;          /* enum dw_kind, or TRACE_END */
	uint32_t id;
	const uint32_t *payload;
	const char *name;       /* of the OP; for an END, of the range it ends; "" unknown */
	uint32_t depth;         /* open ranges before it */
};
#define TRACE_END 100u

struct trace {
	char path[4096];
	const char *data;
	uint64_t size_bytes;
	const struct dw_head *head;
	const struct dw_control *control;
	const struct dw_entry **entries; /* by id */
	uint32_t id_count;
	const struct dw_entry **all;     /* every entry in file order */
	size_t all_count;
	const struct dw_chunk **chunks;  /* of streams, ordered by process, stream, number */
	size_t chunk_count, journal_count;
	uint64_t records;                /* all, the recorder's own included */
	uint64_t own;                    /* of these, the recorder's: new chunk, time, thread, loss */
	uint64_t gaps;                   /* chunks missing before others of their stream */
	uint64_t surplus_ends;           /* ENDs without a BEGIN in what is kept */
	uint64_t open;                   /* BEGINs without an END */
	uint64_t holes;                  /* journal bytes passed over */
	uint64_t bad;
	char why[256];
};

/* 0, or -1 when the file is no trace (bad and why say what). */
int trace_open(struct trace *trace, const char *path);
void trace_close(struct trace *trace);
/* Decodes all streams; `visit` may be NULL. */
void trace_walk(struct trace *trace, void (*visit)(void *, const struct trace_record *),
                void *context);
/* One chunk's words, as of a copy that a follower made: bad words counted. */
uint64_t trace_chunk_records(const struct dw_chunk *chunk, uint64_t *bad);

/* Losses, in the head and by all threads. */
uint64_t trace_lost(const struct trace *trace, enum dw_loss cause);
uint64_t trace_lost_all(const struct trace *trace);
const char *trace_losses(const struct trace *trace); /* as a line of text */
const char *trace_text(const struct trace *trace, uint32_t id, uint32_t *length);
bool trace_text_is(const struct trace *trace, uint32_t id, const char *text);
/* How many records of `kind` have this name (ENDs by the range they end). */
uint64_t trace_count(struct trace *trace, uint32_t kind, const char *name);
uint64_t trace_count_pid(struct trace *trace, uint32_t pid, uint32_t kind, const char *name);
/* How many entries of the type there are. */
size_t trace_entries(const struct trace *trace, enum dw_entry_type type);
