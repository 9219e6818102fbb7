/*
 * The importer of XSpace files: structures and functions that its files share.
 *
 *   xspace_planes.c         recognises a file, reads its planes, installs the image
 *   xspace_owners.c  the process and thread of a line
 *   xspace_names.c   reads the metadata of a plane: names, and the role of their events
 *   xspace_stats.c   reads the stats of one event
 *   xspace_line.c    writes the events of one thread as records
 *   xspace_device.c  writes the events of a stream of a GPU or TPU as records
 *
 * format/xspace.h describes the format. A file is translated into a trace in memory when it is
 * opened. The rest of the reader does not know that the trace was imported. The bytes of the file
 * are not trusted.
 */
#pragma once

#include <string.h>

#include "base/map.h"
#include "base/proto.h"
#include "format/xspace.h"
#include "import/import.h"
#include "import/ranges.h"

/* X(NAME, text): kinds of stats that dwell understands. */
#define XS_STATS(X)                                                                        \
	X(STEP_NUM, "step_num") X(FLOW, "flow") X(VALUE, "value") X(ARGS, "args")              \
	X(ALLOCATOR, "allocator_name") X(REQUESTED, "requested_bytes")                         \
	X(ALLOCATION, "allocation_bytes") X(ADDRESS, "addr") X(REGION, "region_type")          \
	X(TF_OP, "tf_op") X(HLO_OP, "hlo_op") X(HLO_MODULE, "hlo_module")                      \
	X(SEQUENCE, "sequence") X(OPEN, "open") X(ASYNC, "async")                              \
	X(PRODUCER, "_p") X(PRODUCER_TYPE, "_pt") X(CONSUMER, "_c") X(CONSUMER_TYPE, "_ct")    \
	X(CATEGORY, "dwell_category") X(DETAIL, "dwell_detail") X(THREAD, "dwell_thread")      \
	X(START_TIME, "profile_start_time") X(PROCESS_ID, "process_id")                        \
	X(KERNEL_DETAILS, "kernel_details") X(COPY_DETAILS, "memcpy_details")                  \
	X(SET_DETAILS, "memset_details") X(DEVICE_EVENT, "dwell_device")                       \
	X(DEVICE_TYPE, "device_type_string")                                                   \
	/* these differ for each event, so they are not kept as text */                        \
	X(RUN_ID, "run_id") X(PROGRAM_ID, "program_id") X(DEVICE, "device_ordinal")            \
	X(GROUP_ID, "group_id") X(CORRELATION, "correlation_id") X(CONTEXT, "context_id")
enum xs_stat {
	XS_OTHER, /* added by the program: kept in args */
#define X(name, text) XS_##name,
	XS_STATS(X)
#undef X
	XS_HIDDEN, /* its name begins with _ */
	XS_STAT_COUNT
};

struct xs_text {
	const char *bytes; /* in the file, without NUL */
	size_t length;
};

struct xs_value {
	bool is_text, is_double;
	bool bad; /* the message is damaged */
	uint64_t number;
	double real;
	struct xs_text text;
};

struct xs_stat_name {
	uint64_t id;
	enum xs_stat stat;
	struct xs_text name;
};

/* What the events of a name become. */
enum xs_role { XS_RANGE, XS_ALLOC, XS_FREE, XS_LINK };

struct xs_name {
	uint64_t id;
	struct xs_text name, display, detail;
	struct xs_text stats; /* the message that contains the stats of the name */
	int category;         /* enum dwell_category; -1: the stats of each event decide */
	enum xs_role role;
};

struct xs_map_item {
	uint64_t key;
	uint32_t value; /* 0 when new */
};

/* Maps 64-bit hashes to numbers of items that exist already. The hash alone identifies an item, so
 * it must be xs_hash(). Each map has its own random seed, so that no file can contain keys that
 * collide on purpose. A zeroed map is empty. */
struct xs_map {
	struct dw_map map;
	struct xs_map_item *items;
	size_t count, capacity;
	uint64_t seed;
};

struct xs_event {
	uint64_t start_ns, end_ns;
	const unsigned char *bytes; /* in the file, in order */
	uint32_t length;
	uint32_t name;  /* index */
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
	bool nested;      /* the events of its signal handlers */
	bool steps;       /* of a TPU: each event is a step, and its name the number */
};

/* Each line takes at least a page of the image. So their number is limited by the size of the file
 * in KiB. */
#define XS_SPARE_LINES 4096u
#define XS_BYTES_A_LINE 1024u

struct xs_process {
	struct dw_encode_process journal;
	struct dw_encode_events device_events; /* `encode` is NULL until it is used */
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
	/* of the current plane */
	bool device;
	bool has_streams;     /* its lines are streams, see xspace_device.c */
	uint32_t device_id;   /* DEVICE id; 0: not written yet */
	uint32_t device_process; /* index: whose device it is */
	struct xs_text device_type; /* the name of the device, or empty */
	struct xs_text plane_name;
	struct xs_name *names;
	size_t name_count, name_capacity;
	struct xs_stat_name *stat_names;
	size_t stat_count, stat_capacity;
	struct xs_thread *threads;
	size_t thread_count, thread_capacity;
	struct xs_map ops, texts; /* ops: of the plane; texts: of all planes */
	struct xs_map keys;       /* by a thread's key: index of the last thread with it, + 1 */
	struct xs_map owners;     /* by rank and pid: index of the process, + 1 */
	size_t args_count, args_bytes; /* number and bytes of the different texts of events */
	size_t lines_kept;
	struct xs_map launches;   /* of all planes: LAUNCH ids */
	struct xs_map queues;     /* of all planes: QUEUE ids */
	struct dw_ranges ranges;
	size_t async_count;
	/* counted for the note on the file */
	size_t events, aggregated, damaged, texts_dropped, lines_dropped;
	size_t damaged_at; /* byte of the first of the damaged ones */
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

static inline int xspace_at_most(size_t length, size_t most)
{
	return (int)(length < most ? length : most);
}

/* Counts a part that makes no sense, and stores the place of the first one: any byte of it. */
static inline void xspace_count_damage(struct xspace *space, const void *at)
{
	if (!space->damaged++)
		space->damaged_at = (size_t)((const unsigned char *)at - space->bytes);
}

uint64_t xs_hash(uint64_t seed, const void *bytes, size_t length);
/* A pointer to the value of a key. A new key is added with value 0. The pointer is valid until the
 * next call with this map. NULL: out of memory. */
uint32_t *xs_map_at(struct xs_map *map, uint64_t key);
void xs_map_reset(struct xs_map *map);

/* xspace_names.c: fills names and stat_names from the message of a plane. */
void xs_read_names(struct xspace *space, struct xs_text plane);
uint32_t xs_find_name(const struct xspace *space, uint64_t id); /* UINT32_MAX: none */
/* The OP id for a name of the plane. `detail` may be empty. */
uint32_t xs_op(struct xspace *space, uint32_t name, uint32_t category, struct xs_text detail);
uint32_t xs_op_text(struct xspace *space, uint32_t category, struct xs_text name, struct xs_text detail);

/* The STRING id of a text. Each text is written once. */
uint32_t xs_string(struct xspace *space, const char *text);

/* xspace_owners.c. NULL: out of memory. xs_find_thread() also returns NULL if there are too many
 * threads. */
struct xs_process *xs_add_process(struct xspace *space);
struct xs_thread *xs_find_thread(struct xspace *space, struct xs_text line_name, uint64_t line);
/* Reads what dwell's export writes before the name of a line: "rank 3: " or "4711: ", and moves *name
 * behind it. Returns the index of the process. */
uint32_t xs_read_process(struct xspace *space, const char **name);

/* xspace_stats.c */
struct xs_stats {
	bool bad;     /* a stat is damaged, and not here */
	uint64_t has; /* bits: 1 << enum xs_stat, set if values[] has the stat */
	struct xs_value values[XS_STAT_COUNT];
	char args[1024]; /* JSON, or the text that dwell exported; "" if there is none */
};
bool xs_read_stat(const struct xspace *space, struct xs_text message, enum xs_stat *stat,
                  struct xs_text *name, struct xs_value *value);
void xs_read_stats(const struct xspace *space, const unsigned char *event, size_t length, struct xs_stats *stats);

/* xspace_device.c */
bool xs_is_device_plane(const struct xspace *space);
/* Writes the events of a line. `events` has them; its other members are not used. */
void xs_put_device_events(struct xspace *space, struct xs_text line_name, uint64_t line, struct xs_thread *events);

/* xspace_line.c: writes the events of a thread as records. */
void xs_put_thread(struct xspace *space, struct xs_thread *thread);
