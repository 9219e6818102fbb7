/*
 * The parts of the XSpace exporter, for its files only.
 *
 *   xplane        what happened, collected; the document
 *   xplane_memory allocations: totals, peaks, and whose each is
 *   xplane_line   lines of events that nest, with their stats
 *   xplane_names  what events are called, by dwell and by the plugin
 */
#ifndef DW_EXPORT_XPLANE_H
#define DW_EXPORT_XPLANE_H

#include "base/proto.h"
#include "export/chrome.h"
#include "export/export.h"

/* Field numbers of xplane.proto. */
enum { SPACE_PLANE = 1, SPACE_WARNING = 3, SPACE_HOST = 4 };
enum { PLANE_ID = 1, PLANE_NAME = 2, PLANE_LINE = 3, PLANE_EVENT_META = 4, PLANE_STAT_META = 5,
	   PLANE_STAT = 6 };
enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP_NS = 3, LINE_EVENT = 4 };
enum { EVENT_META = 1, EVENT_OFFSET_PS = 2, EVENT_DURATION_PS = 3, EVENT_STAT = 4 };
enum { STAT_META = 1, STAT_DOUBLE = 2, STAT_UINT = 3, STAT_INT = 4, STAT_TEXT = 5 };
enum { META_ID = 1, META_NAME = 2, META_DISPLAY = 4, META_STAT = 5, MAP_KEY = 1, MAP_VALUE = 2 };

#define DW_XPLANE_STATS(X)                                                                           \
	X(STEP_NUM, "step_num") X(ROOT, "_r") X(FLOW, "flow") X(VALUE, "value")                \
	X(ALLOCATOR, "allocator_name") X(RESERVED, "bytes_reserved")                           \
	X(ALLOCATED, "bytes_allocated") X(AVAILABLE, "bytes_available")                        \
	X(FRAGMENTATION, "fragmentation") X(PEAK, "peak_bytes_in_use")                         \
	X(REQUESTED, "requested_bytes") X(ALLOCATION, "allocation_bytes") X(ADDRESS, "addr")   \
	X(REGION, "region_type") X(DATA_TYPE, "data_type") X(SHAPE, "shape") \
	X(PRODUCER_TYPE, "_pt") X(PRODUCER, "_p") X(CONSUMER_TYPE, "_ct") X(CONSUMER, "_c")   \
	X(TF_OP, "tf_op")                                                                      \
	X(ARGS, "args") X(SEQUENCE, "sequence") X(OPEN, "open")                                \
	X(ASYNC, "async") X(PROCESS_ID, "process_id")                                       \
	X(CATEGORY, "dwell_category") X(DETAIL, "dwell_detail") X(THREAD, "dwell_thread")      \
	X(START_TIME, "profile_start_time") X(STOP_TIME, "profile_stop_time")
enum dw_xplane_stat {
	STAT_NONE,
#define X(name, text) STAT_##name,
	DW_XPLANE_STATS(X)
#undef X
	STAT_COUNT
};

/* One of the numbers that the plugin keeps for lines it derives; see xplane_memory.c. */
#define DW_XSPACE_MEMORY_LINE (0xdeadbeefu + 5)

/* The type of the contexts by which allocations are a step's; the reader knows it. */
#define DW_XSPACE_STEP_CONTEXT 0x6477u

/* Metadata of events: symbols come first, from 1. */
enum dw_xplane_name { NAME_STEP, NAME_ALLOCATION, NAME_DEALLOCATION, NAME_LINK, NAME_COUNT };

enum dw_xplane_kind { RANGE, RANGE_OPEN, STEP, MEMORY, FLOW_OUT, FLOW_IN, COUNTER };

struct dw_xplane_event {
	uint64_t start_ns, end_ns;
	uint32_t line; /* track, or one of the lines behind the tracks */
	uint32_t name;
	uint32_t depth;
	uint8_t kind;   /* enum dw_xplane_kind */
	bool async;
	union {
		uint64_t number; /* of a step, a sequence or a flow; of a change in `memory` */
		double value;
	};
	union {
		const char *args;
		uint32_t step; /* of the source's, of a step */
	};
};

struct dw_xplane_memory {
	uint64_t address;
	int64_t bytes, total, peak;
	uint32_t symbol;
	uint32_t track; /* whose line it would stand in */
	uint32_t step;  /* that it happened in, of the source's; UINT32_MAX: none */
	uint32_t owner; /* symbol of the operator it belongs to; UINT32_MAX: none */
	const char *device;
};

struct dw_xplane_peak {
	uint32_t process, device;
	int64_t bytes;
};

struct dw_xplane {
	struct dw_chrome chrome;
	struct dw_proto plane;
	struct dw_xplane_event *events;
	size_t count, capacity;
	struct dw_xplane_memory *memory;
	size_t memory_count, memory_capacity;
	struct dw_xplane_peak *peaks;
	size_t peak_count, peak_capacity;
	bool *named;      /* by symbol: some event has it */
	uint64_t base_ns; /* of the first event */
	uint64_t left_out;
	uint32_t pid;     /* of the only process; 0: there are several */
	bool several;
	uint32_t counters; /* the line of counters; behind it the one of allocations */
};

static inline uint32_t dw_xplane_memory_line(const struct dw_xplane *xplane)
{
	return xplane->counters + 1;
}

/* The name of what no symbol stands for. */
static inline uint32_t dw_xplane_own(const struct dw_xplane *xplane, enum dw_xplane_name name)
{
	return (uint32_t)xplane->chrome.symbol_count + name;
}

/* xplane_memory.c. What chrome_memory.c collected becomes events. */
void dw_xplane_add_memory(struct dw_xplane *xplane);
/* Called with sorted events: each allocation finds its operator, and moves to the line of
 * allocations. */
void dw_xplane_find_owners(struct dw_xplane *xplane);

/* xplane.c. NULL: out of memory, which xplane->chrome.failed says too. */
struct dw_xplane_event *dw_xplane_add(struct dw_xplane *xplane, uint32_t line,
                                      enum dw_xplane_kind kind, uint32_t name, uint64_t start_ns,
                                      uint64_t end_ns);

/* xplane_line.c */
void dw_xplane_put_uint(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat,
                        uint64_t value);
void dw_xplane_put_text(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat,
                        const char *text);
void dw_xplane_sort(struct dw_xplane *xplane);
/* The lines of the plane whose name is the first `length` characters of `device`; of length
 * 0: those of the host. */
void dw_xplane_put_lines(struct dw_xplane *xplane, const char *device, size_t length);
/* What the line of a thread is called. */
void dw_xplane_line_name(const struct dw_xplane *xplane, uint32_t line, char *to, size_t room);
/* How much of the name of a line's thread is a device's ("/device:GPU:0 Stream #7"); 0: none. */
size_t dw_xplane_device(const struct dw_xplane *xplane, uint32_t line, const char **name);

/* xplane_names.c */
/* The name of an operator as the plugin's tools show it. */
void dw_xplane_put_operation(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat,
                             const char *name);
void dw_xplane_put_names(struct dw_xplane *xplane);
void dw_xplane_put_stat_names(struct dw_proto *to);

#endif
