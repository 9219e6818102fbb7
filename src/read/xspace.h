/*
 * An XSpace being read, for the files of this room only.
 *
 *   xspace         recognised, its planes one after the other, the image
 *   xspace_people  whose a line is
 *   xspace_names   a plane's metadata: names, what an event of that name is
 *   xspace_stats   what stands with one event
 *   xspace_line    one line's events in order, as records
 *   gunzip         a compressed file in memory
 *
 * XSpace is what XLA's profiler writes (*.xplane.pb): planes (a host, a device, facts) of
 * lines (threads, streams) of events. It is translated into a trace in memory once, when
 * it is opened; nothing behind read_file() knows the difference. The bytes are anybody's.
 */
#ifndef DW_READ_XSPACE_H
#define DW_READ_XSPACE_H

#include <string.h>

#include "base/proto.h"
#include "format/encode.h"
#include "format/xspace.h"
#include "read/read.h"

/* Stats that mean something to dwell. */
#define XS_STATS(X)                                                                        \
	X(STEP_NUM, "step_num") X(FLOW, "flow") X(VALUE, "value") X(ARGS, "args")              \
	X(ALLOCATOR, "allocator_name") X(REQUESTED, "requested_bytes")                         \
	X(ALLOCATION, "allocation_bytes") X(ADDRESS, "addr") X(REGION, "region_type")          \
	X(TF_OP, "tf_op") X(HLO_OP, "hlo_op") X(HLO_MODULE, "hlo_module")                      \
	X(SEQUENCE, "sequence") X(OPEN, "open") X(ASYNC, "async")                              \
	X(PRODUCER, "_p") X(PRODUCER_TYPE, "_pt") X(CONSUMER, "_c") X(CONSUMER_TYPE, "_ct")    \
	X(CATEGORY, "dwell_category") X(DETAIL, "dwell_detail") X(THREAD, "dwell_thread")      \
	X(START_TIME, "profile_start_time") X(PROCESS_ID, "process_id")                        \
	/* of each event anew: not worth a text */                                             \
	X(RUN_ID, "run_id") X(PROGRAM_ID, "program_id") X(DEVICE, "device_ordinal")            \
	X(GROUP_ID, "group_id") X(CORRELATION, "correlation_id") X(CONTEXT, "context_id")
enum xs_stat {
	XS_OTHER, /* what the program said of the event */
#define X(name, text) XS_##name,
	XS_STATS(X)
#undef X
	XS_HIDDEN, /* begins with _ */
	XS_STAT_COUNT
};

struct xs_text {
	const char *bytes; /* in the file, no NUL */
	size_t length;
};

struct xs_value {
	bool is_text, is_double;
	uint64_t number;
	double real;
	struct xs_text text;
};

struct xs_stat_name {
	uint64_t id;
	enum xs_stat stat;
	struct xs_text name;
};

/* What every event of a name is. */
enum xs_role { XS_RANGE, XS_ALLOC, XS_FREE, XS_LINK };

struct xs_name {
	uint64_t id;
	struct xs_text name, display, detail;
	struct xs_text stats; /* where they begin; the message's bytes */
	int category;         /* enum dwell_category; -1: by the event's stats */
	enum xs_role role;
};

/* u64 to u32, for what was made already. A key of 0 is none. The seed keeps a file from
 * choosing keys that collide. */
struct xs_map {
	uint64_t *keys;
	uint32_t *values;
	size_t count, capacity;
	uint64_t seed;
};

struct xs_event {
	uint64_t start_ns, end_ns;
	const unsigned char *bytes; /* in the file, in order */
	uint32_t length;
	uint32_t name;  /* index */
};

struct xs_stack_item {
	uint64_t end_ns, handle; /* handle: of an asynchronous range */
};

struct xs_thread {
	uint64_t key;     /* of its process and name */
	uint32_t thread;  /* THREAD id */
	uint32_t process; /* index */
	struct dw_encode_stream stream;
	struct xs_event *events;
	size_t count, capacity;
	uint32_t number;  /* of its stream */
	bool counters;
	bool nested;      /* what signal handlers of the thread wrote */
};

struct xs_process {
	struct dw_encode_process journal;
	int64_t rank; /* -1: none */
	uint32_t pid;
};

struct xspace {
	const char *path;
	const unsigned char *bytes;
	size_t size;
	struct dw_arena *arena;
	struct dw_encode encode;
	struct xs_process *processes;
	size_t process_count, process_capacity;
	uint32_t streams;
	uint64_t base_ns, start_time_ns;
	uint32_t pid;
	struct xs_text host;
	/* of the plane being read */
	bool device;
	struct xs_text plane_name;
	struct xs_name *names;
	size_t name_count, name_capacity;
	struct xs_stat_name *stat_names;
	size_t stat_count, stat_capacity;
	struct xs_thread *threads;
	size_t thread_count, thread_capacity;
	struct xs_map ops, texts; /* texts: of all planes */
	struct xs_map keys;       /* of threads: the last one with the key, from 1 */
	struct xs_map owners;     /* of processes, by rank and pid, from 1 */
	size_t args_count, args_bytes; /* of what events say, different ones */
	size_t lines_kept;
	struct xs_stack_item *open;
	size_t open_count, open_capacity, open_async, overlaps_open;
	/* what the reader should hear of */
	size_t events, overlaps, cut, aggregated, damaged, texts_dropped, lines_dropped;
	bool python;
	bool failed; /* out of memory */
};

static inline bool xs_is(struct xs_text text, const char *what)
{
	return text.length == strlen(what) && memcmp(text.bytes, what, text.length) == 0;
}

static inline bool xs_begins(struct xs_text text, const char *what)
{
	return text.length >= strlen(what) && memcmp(text.bytes, what, strlen(what)) == 0;
}

static inline struct xs_text xs_text_of(const struct dw_proto_field *field)
{
	return (struct xs_text){ (const char *)field->bytes, field->length };
}

static inline int xs_at_most(size_t length, size_t most)
{
	return (int)(length < most ? length : most);
}

uint64_t xs_hash(uint64_t seed, const void *bytes, size_t length);
/* The value's place, 0 when new; NULL: out of memory. */
uint32_t *xs_map_at(struct xs_map *map, uint64_t key);
void xs_map_reset(struct xs_map *map);

/* xspace_names.c: fills names and stat_names from the plane's message. */
void xs_read_names(struct xspace *space, struct xs_text plane);
uint32_t xs_find_name(const struct xspace *space, uint64_t id); /* UINT32_MAX: none */
/* An OP's id. `detail` may be empty. */
uint32_t xs_op(struct xspace *space, uint32_t name, uint32_t category, struct xs_text detail);
uint32_t xs_op_text(struct xspace *space, uint32_t category, struct xs_text name,
                    struct xs_text detail);

/* The STRING of a text, once each. */
uint32_t xs_string(struct xspace *space, const char *text);

/* xspace_people.c: NULL when out of memory; xs_find_thread() also beyond what is kept. */
struct xs_process *xs_add_process(struct xspace *space);
struct xs_thread *xs_find_thread(struct xspace *space, struct xs_text line_name, uint64_t line);

/* xspace_stats.c */
struct xs_stats {
	uint64_t has; /* 1 << enum xs_stat */
	struct xs_value values[XS_STAT_COUNT];
	char args[1024]; /* JSON, or as our own export said it; "" */
};
bool xs_read_stat(const struct xspace *space, struct xs_text message, enum xs_stat *stat,
                  struct xs_text *name, struct xs_value *value);
void xs_read_stats(const struct xspace *space, const unsigned char *event, size_t length,
                   struct xs_stats *stats);

/* xspace_line.c: the thread's events as records. */
void xs_put_thread(struct xspace *space, struct xs_thread *thread);

#endif
