/*
 * The interface between the files that write an XSpace.
 *
 *   xplane.c          collects the events, finds the owner of each allocation, writes the document
 *   xplane_lines.c    encodes the lines of the host's plane: events, their stats and names
 *   xplane_devices.c  the planes of devices
 */
#pragma once

#include "base/map.h"
#include "base/proto.h"
#include "export/device_rows.h"
#include "format/xspace.h"

/* Kinds of stats; the order gives their numbers in the file. */
#define DW_XPLANE_STATS(X)                                                                 \
	X(STEP_NUM, "step_num") X(ROOT, "_r") X(FLOW, "flow") X(VALUE, "value")                \
	X(ALLOCATOR, "allocator_name") X(RESERVED, "bytes_reserved")                           \
	X(ALLOCATED, "bytes_allocated") X(AVAILABLE, "bytes_available")                        \
	X(FRAGMENTATION, "fragmentation") X(PEAK, "peak_bytes_in_use")                         \
	X(REQUESTED, "requested_bytes") X(ALLOCATION, "allocation_bytes") X(ADDRESS, "addr")   \
	X(REGION, "region_type") X(DATA_TYPE, "data_type") X(SHAPE, "shape")         \
	X(PRODUCER_TYPE, "_pt") X(PRODUCER, "_p") X(CONSUMER_TYPE, "_ct") X(CONSUMER, "_c")   \
	X(TF_OP, "tf_op")                                                                      \
	X(ARGS, "args") X(SEQUENCE, "sequence") X(OPEN, "open")                                \
	X(ASYNC, "async") X(PROCESS_ID, "process_id")                                          \
	X(CATEGORY, "dwell_category") X(DETAIL, "dwell_detail") X(THREAD, "dwell_thread")      \
	X(START_TIME, "profile_start_time") X(STOP_TIME, "profile_stop_time")                   \
	X(CORRELATION, "correlation_id") X(KERNEL_DETAILS, "kernel_details")                    \
	X(COPY_DETAILS, "memcpy_details") X(SET_DETAILS, "memset_details")                      \
	X(DEVICE_TYPE, "device_type_string")                                                   \
	X(DEVICE_EVENT, "dwell_device") /* kind, detail, correlation of an event that is no kernel */
enum dw_xplane_stat {
	STAT_NONE,
#define X(name, text) STAT_##name,
	DW_XPLANE_STATS(X)
#undef X
	STAT_COUNT
};

/* Names of events that have no symbol. Their numbers follow those of the symbols. */
enum dw_xplane_name { NAME_STEP, NAME_ALLOCATION, NAME_DEALLOCATION, NAME_LINK, NAME_COUNT };

enum dw_xplane_kind { RANGE, RANGE_OPEN, STEP, MEMORY, FLOW_OUT, FLOW_IN, COUNTER };

struct dw_xplane_event {
	uint64_t start_ns, end_ns;
	uint32_t line; /* a track of the timeline, `counters`, or the line of allocations */
	uint32_t name; /* a symbol, or dw_xplane_own_name() */
	uint32_t depth;
	uint32_t correlation; /* RANGE: of a call; 0: none */
	uint32_t launched; /* RANGE: index of the first event of a device that it submitted, + 1 */
	uint8_t kind; /* enum dw_xplane_kind */
	bool async;
	union {
		uint64_t number; /* number of a step, a sequence or an arrow; MEMORY: index in `memory` */
		double value;    /* COUNTER */
	};
	union {
		const char *args; /* RANGE */
		uint32_t step;    /* STEP: index in the source's steps */
	};
};

struct dw_xplane_memory {
	uint64_t address;
	int64_t bytes, total, peak;
	uint32_t symbol;
	uint32_t track; /* of the thread that allocated it */
	uint32_t step;  /* index of its step in the source; UINT32_MAX: none, or not needed */
	uint32_t owner; /* symbol of the operator that it belongs to; UINT32_MAX: none */
	const char *device;
};

struct dw_xplane_row;
struct dw_xplane_placed;

/* The rows of devices and their events; the span of the events. */
struct dw_xplane_devices {
	struct dw_xplane_row *rows;
	size_t row_count, row_capacity;
	struct dw_xplane_placed *events; /* by row, in order of time */
	size_t event_count, event_capacity;
	uint64_t start_ns, end_ns;
};

struct dw_xplane {
	struct dw_timeline timeline;
	struct dw_proto plane; /* the part of the file that is not written yet */
	struct dw_xplane_event *events;
	size_t count, capacity;
	struct dw_xplane_memory *memory;
	size_t memory_count, memory_capacity;
	struct dw_xplane_peak *peaks; /* by process and device */
	size_t peak_count, peak_capacity;
	struct dw_map peak_map;
	struct dw_launches launches;
	struct dw_xplane_devices devices;
	bool *named;      /* by symbol: at least one event has it */
	uint64_t base_ns; /* the start of the first event */
	uint64_t left_out;
	uint32_t pid; /* of the only process; 0: there are several */
	bool several;
	uint32_t counters; /* number of the line of counters; the next one is that of allocations */
};

static inline uint32_t dw_xplane_memory_line(const struct dw_xplane *xplane)
{
	return xplane->counters + 1;
}

static inline uint32_t dw_xplane_own_name(const struct dw_xplane *xplane, enum dw_xplane_name name)
{
	return (uint32_t)xplane->timeline.symbol_count + name;
}

void dw_xplane_sort(struct dw_xplane *xplane);
/* Writes the lines of one plane, from sorted events. The first `length` characters of `device` are
 * the name of the plane's device; if `length` is 0, it is the plane of the host. */
void dw_xplane_put_lines(struct dw_xplane *xplane, const char *device, size_t length);
/* Returns the length of the device's name in the name of the line's thread ("/device:GPU:0 Stream
 * #7"), or 0 if the line belongs to no device. */
size_t dw_xplane_device(const struct dw_xplane *xplane, uint32_t line, const char **name);
/* Writes what is before the names of a process's lines: "rank 3: ", "4711: ", or nothing. */
void dw_xplane_line_prefix(const struct dw_xplane *xplane, uint32_t process, char to[96]);
/* Write the names of events and of stats. */
void dw_xplane_put_names(struct dw_xplane *xplane);
/* `streams`: of a plane whose lines are streams. The importer recognises it by the lack of dwell's
 * category. */
void dw_xplane_put_stat_names(struct dw_proto *to, bool streams);
void dw_xplane_put_uint(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat, uint64_t value);
void dw_xplane_put_text(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat, const char *text);
/* `symbol` is NULL for an event without one. */
void dw_xplane_put_event_name(struct dw_proto *to, uint64_t id, const char *name,
                              const char *display, const struct dw_symbol *symbol);
/* The form in which the plugin recognises an operator. */
#define DW_XPLANE_MOST_NAME 512u
void dw_xplane_operator_name(char *to, size_t size, const char *name);
/* Writes out what is encoded. */
static inline void dw_xplane_drain(struct dw_xplane *xplane)
{
	xplane->timeline.failed |= xplane->plane.failed;
	if (!xplane->timeline.failed)
		dw_out_bytes(xplane->timeline.out, (const char *)xplane->plane.bytes, xplane->plane.used);
	xplane->plane.used = 0;
}

/* xplane_devices.c. Each sets timeline.failed if out of memory. */
void dw_xplane_collect_devices(struct dw_xplane *xplane);
void dw_xplane_put_device_planes(struct dw_xplane *xplane, uint64_t first_id);
void dw_xplane_reset_devices(struct dw_xplane *xplane);
/* The stat "flow" of one end of the arrow from a call to its events. */
uint64_t dw_xplane_launch_flow(uint32_t first_event, bool arrives);
