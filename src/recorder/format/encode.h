/*
 * Builds a trace in memory: heads, chunks, journals, entries, records.
 *
 * For tests, for tools that make traces, and for importers of foreign formats. The recorder does
 * not use this: it writes the same structures into a mapped file. A reader cannot tell the
 * difference. If memory runs out, `failed` is set and all later calls do nothing, so that callers
 * need only one check, at the end. Invariant: the image is always a valid trace, up to the records
 * that are not yet in a closed chunk.
 *
 * The image is mapped and not allocated from the heap. So a block with a few records takes only the
 * memory of the pages that were written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/probe.h"
#include "format/layout.h"

/* The file. Addresses within the image are valid until the next call that may grow it. */
struct dw_encode {
	char *image;
	uint32_t blocks;   /* in use */
	uint32_t capacity;
	bool failed;
	bool in_file;      /* the image is a mapped file */
	int fd, error;     /* of that file; error: errno if it could not grow */
};

/* One process's journal. */
struct dw_encode_process {
	struct dw_encode *encode;
	uint32_t id;       /* of its PROCESS entry */
	uint32_t block, at_bytes;
	uint32_t first_block; /* the block with the PROCESS entry */
	uint64_t number;
};

/* One stream of records. */
struct dw_encode_stream {
	struct dw_encode *encode;
	uint32_t process;  /* PROCESS id */
	uint32_t stream;   /* number, | DW_STREAM_NESTED */
	uint32_t thread;   /* id of the THREAD that has it now */
	uint32_t block;    /* 0 means no chunk is open */
	uint32_t last_block;
	uint32_t at_bytes;
	uint64_t number;
	uint64_t last_ticks;
};

/* Makes a head. For CLOCK_MONOTONIC with ticks_per_second 10^9 a tick is 1 ns. Other fields may be
 * changed through dw_encode_head(). */
void dw_encode_init(struct dw_encode *encode, enum dw_clock_kind kind, uint64_t ticks_per_second);
/* The same in a file, from its first byte on. Its pages need not stay in memory, so an image may be
 * larger than that. The caller keeps the descriptor until dw_encode_take() or dw_encode_reset(). */
void dw_encode_init_file(struct dw_encode *encode, enum dw_clock_kind kind, uint64_t ticks_per_second,
                         int fd);
void dw_encode_reset(struct dw_encode *encode);
struct dw_head *dw_encode_head(struct dw_encode *encode);
size_t dw_encode_bytes(const struct dw_encode *encode);
/* Returns the image, which the caller unmaps; NULL if out of memory, or if the file could not grow. */
void *dw_encode_take(struct dw_encode *encode, size_t *bytes);
uint32_t dw_encode_new_id(struct dw_encode *encode);

/* Parts of the image: makes a chunk in a new block (0 if out of memory), and finds a block's
 * chunk. */
uint32_t dw_encode_new_chunk(struct dw_encode *encode, uint32_t type, uint32_t process,
                             uint32_t stream, uint64_t number);
struct dw_chunk *dw_encode_chunk(const struct dw_encode *encode, uint32_t block);

/* ---- journals --------------------------------------------------------------- */

/* Opens a journal and returns its first entry, the PROCESS, for the caller to fill in. Its strings
 * are entries too: make them after this call, then get the PROCESS again, which may have moved,
 * with dw_encode_process_entry(). NULL if out of memory. */
struct dw_entry_process *dw_encode_process_init(struct dw_encode_process *process,
                                                struct dw_encode *encode, uint32_t parent);
struct dw_entry_process *dw_encode_process_entry(const struct dw_encode_process *process);

/* A zeroed entry of `bytes` (with its header), tagged; NULL if out of memory or if the entry is
 * larger than DW_ENTRY_MAX_BYTES. */
void *dw_encode_entry(struct dw_encode_process *process, enum dw_entry_type type, uint32_t id,
                      uint32_t aux, size_t bytes);

/* Each returns the new entry's id, 0 if it could not be made. A NULL text has id 0. */
uint32_t dw_encode_string(struct dw_encode_process *process, const char *text);
/* The same with STRING ids. */
uint32_t dw_encode_op_of(struct dw_encode_process *process, uint32_t category, uint32_t name,
                         uint32_t detail, uint32_t shapes, uint32_t file, uint32_t line);
uint32_t dw_encode_shapes(struct dw_encode_process *process, const struct dwell_tensor *tensors,
                          uint32_t count);
uint32_t dw_encode_thread(struct dw_encode_process *process, uint32_t tid, uint32_t stream,
                          uint64_t start_ticks, const char *kernel_name);
void dw_encode_thread_name(struct dw_encode_process *process, uint32_t thread, const char *name);
void dw_encode_step(struct dw_encode_process *process, uint32_t thread, uint64_t number,
                    uint64_t start_ticks, uint64_t end_ticks, uint64_t cpu_ns, uint32_t flags);

/* ---- streams ---------------------------------------------------------------- */

void dw_encode_stream_init(struct dw_encode_stream *stream, const struct dw_encode_process *process,
                           uint32_t number, uint32_t thread);
/* A record at `ticks`. If no delta can represent the time, an EXT TIME comes first. */
void dw_encode_record(struct dw_encode_stream *stream, uint64_t ticks, enum dw_kind kind,
                      uint32_t id, const void *payload, unsigned words);
void dw_encode_begin(struct dw_encode_stream *stream, uint64_t ticks, uint32_t op);
void dw_encode_end(struct dw_encode_stream *stream, uint64_t ticks);
/* EXT CORRELATION: the innermost open range is the call that device events name by this number. */
void dw_encode_correlation(struct dw_encode_stream *stream, uint32_t correlation);
/* EXT EXTERNAL: the same for the external id of device events. */
void dw_encode_external(struct dw_encode_stream *stream, uint64_t ticks, uint64_t external);
/* EXT TOKENS: the request with this handle has given `count` of what `op` names. */
void dw_encode_tokens(struct dw_encode_stream *stream, uint64_t ticks, uint32_t op, uint64_t handle, uint32_t count);
/* Closes the open chunk; the next record begins a new one. */
void dw_encode_close(struct dw_encode_stream *stream);

/* ---- devices ------------------------------------------------------------------ */

/* Each returns the new entry's id, 0 if it could not be made. The device's `number` is the
 * process's; the queue's is that of the stream, or DW_QUEUE_NONE. A NULL name is unknown. */
uint32_t dw_encode_device(struct dw_encode_process *process, uint32_t number, const char *name,
                          enum dw_device_api api);
uint32_t dw_encode_queue(struct dw_encode_process *process, uint32_t device, uint64_t number,
                         uint32_t context, const char *name);
/* A kernel with its shape. `op` is of category DWELL_CATEGORY_DEVICE. */
struct dw_launch_shape {
	uint32_t grid[3], block[3], registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
};
uint32_t dw_encode_launch(struct dw_encode_process *process, uint32_t op,
                          const struct dw_launch_shape *shape);
/* A pairing of a device's clock with the file's. `clock` 0 makes a new clock. Returns its id. */
uint32_t dw_encode_device_clock(struct dw_encode_process *process, uint32_t clock,
                                uint64_t device_ticks, uint64_t ticks, uint64_t ticks_per_second,
                                uint64_t error_ns);

/* A writer of device events. */
struct dw_encode_events {
	struct dw_encode *encode;
	uint32_t process;    /* PROCESS id */
	uint32_t stream;     /* number of the writer in its process */
	uint32_t clock;      /* DEVICE_CLOCK id; 0 means the file's clock */
	uint32_t record_bytes;
	uint32_t block;      /* 0 means no chunk is open */
	uint32_t last_block;
	uint32_t at_bytes;
	uint64_t number;
	uint64_t end_ticks;  /* latest end in the open chunk */
};

/* One event. Fields that its kind lacks are 0. */
struct dw_device_event_in {
	enum dw_device_kind kind;
	uint32_t queue;       /* QUEUE; of a CALL: THREAD */
	uint64_t start_ticks, duration_ticks;
	uint32_t correlation;
	uint32_t detail;      /* of the kind, see layout.h */
	uint32_t name, node;  /* kinds with a name: LAUNCH or OP; graph node */
	uint64_t bytes;       /* COPY, SET, MEMORY */
	uint32_t event;       /* SYNC, RECORD */
	uint32_t wait_queue;  /* SYNC: QUEUE that is waited for */
	/* Only in wide records: other writers drop them. */
	uint64_t external;
	uint32_t other_name;  /* OP: name of a COPY, SET or SYNC if not the usual one */
	uint32_t recorded_by;
};

/* `wide`: records of 48 bytes, with external ids. Writers of one process have different numbers. */
void dw_encode_events_init(struct dw_encode_events *events, const struct dw_encode_process *process,
                           uint32_t number, uint32_t clock, bool wide);
/* A duration of 2^48 ticks or more becomes 2^48 - 1. */
void dw_encode_event(struct dw_encode_events *events, const struct dw_device_event_in *event);
void dw_encode_events_close(struct dw_encode_events *events);
