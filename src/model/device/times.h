/*
 * Device times: how the time of a device divides into work and idle time, and why it was idle.
 *
 * At each instant a device is busy with a set of classes (compute, communication, copy) or idle. An
 * interval is divided into parts: each instant belongs to the first of compute, communication and
 * copy that runs. So the part communication is communication that no computation hides. The parts
 * sum to the interval exactly. The cause of idle time follows from the work that ends it and from the call of the host
 * that submitted this work:
 *
 *   before that call began    The host was late. If the host had waited for the device when the device ran out of work,
 *                             it is late by no more than it waited: that time is the waiting call's. So is the time
 *                             of later calls that wait. The rest the host spent with something else.
 *   in that call, if it took  The host is still late. The first call of its kind, and the first one that launches
 *   longer than a launch      a kernel, load code and set up the device: they are a part of their own.
 *   after it                  The work was submitted. Its queue was told to wait for an event of another one; or it began
 *                             as soon as a launch allows (DW_LAUNCH_NS); or it waited longer, for what is not recorded.
 *   the call is not recorded  Nothing is known.
 *   there is no such work     Nothing was submitted any more.
 *   it is the device's first  The time before it is the start of the program, or of the trace: the device was not in use, or still worked
 *                             for what was submitted before the trace began.
 *
 * The host submits work and goes on, so a device may end the work of a step long after the host has
 * ended the step. The device's step therefore ends when its busiest queue has ended all that was
 * submitted in the host's step, or with the host's step if that is later. It begins where the
 * device's step before it ended, or with the host's step. If the device keeps up, both steps are equal.
 *
 * Between bursts nothing is recorded (device.h: gaps). A step that touches a gap is not divided. The first steps after a
 * gap are not, if the device may still have worked for what was submitted before: until it begins the first recorded event.
 *
 * The host's division of a step (steps.h) and this one are two views of the same work. Their parts
 * must not be added to each other.
 */
#pragma once

#include "model/device/device.h"

/* X(NAME, text) */
#define DW_DEVICE_PARTS(X)                    \
	X(COMPUTE, "compute")                     \
	X(COMMUNICATION, "communication")         \
	X(COPY, "copy")                           \
	X(HOST_LATE, "idle: host late")           \
	X(SYNC, "idle: synchronising call")       \
	X(FIRST, "idle: first call")              \
	X(WAIT, "idle: waits for another stream") \
	X(LATENCY, "idle: launch latency")        \
	X(QUEUED, "idle: work is queued")         \
	X(UNKNOWN, "idle: not known why")         \
	X(START, "idle: before its first work")   \
	X(NOTHING, "idle: nothing submitted")

enum dw_device_part {
#define X(name, text) DW_DEVICE_PART_##name,
	DW_DEVICE_PARTS(X)
#undef X
	DW_DEVICE_PART_COUNT
};
#define DW_DEVICE_PART_FIRST_IDLE DW_DEVICE_PART_HOST_LATE

#define DW_CLASS_SETS (1u << DW_CLASS_COUNT) /* number of sets of classes; set 0: idle */

/* A time from `start_ns` to the begin of the next segment, in which the device runs these
 * classes. */
struct dw_device_segment {
	uint64_t start_ns;
	uint32_t next;    /* idle time: index of the event after it, or DW_NO_INDEX */
	uint32_t classes; /* bits: 1 << enum dw_device_class; 0: idle */
	bool unknown;     /* idle time in which there is a gap: the device worked, but not for recorded events */
};

/* A time up to the begin of the next piece, all of which is one part. */
struct dw_device_piece {
	uint64_t start_ns;
	uint32_t call;    /* host late, first call, submitted work: the call that submitted it; synchronising call: that call; before
	                   * the first work and after the last: the call that submitted the first. Else, or if none is recorded:
	                   * DW_NO_INDEX */
	enum dw_device_part part;
	bool unknown;     /* as in the segment */
};

/* From the begin of the run; the last piece, of the part NOTHING, has no end. */
struct dw_device_pieces {
	struct dw_device_piece *at;
	size_t count, capacity;
};

/* The pieces of an interval. Set by dw_device_walk(); dw_device_next_piece() sets from_ns, to_ns and piece. */
struct dw_piece_walk {
	const struct dw_device_pieces *pieces;
	uint64_t from_ns, to_ns, end_ns;
	size_t next;
	struct dw_device_piece piece;
};
struct dw_piece_walk dw_device_walk(const struct dw_device_pieces *pieces, uint64_t from_ns, uint64_t to_ns);
bool dw_device_next_piece(struct dw_piece_walk *walk);

struct dw_device_time {
	uint32_t device;                  /* index in the source */
	uint64_t first_ns, last_ns;       /* begin of its first event in scope, end of the last */
	uint64_t set_ns[DW_CLASS_SETS];   /* time in which exactly these classes ran; they sum to the span without
	                                   * unknown segments */
	uint64_t class_ns[DW_CLASS_COUNT]; /* time in which an event of the class ran */
	uint64_t part_ns[DW_DEVICE_PART_COUNT];  /* the division of the span, without what is unknown */
	size_t event_count;               /* events of a class in scope */
	struct dw_device_segment *segments; /* of all events, ascending; the last one is idle */
	size_t segment_count;
	struct dw_device_pieces pieces;   /* the same, with the causes of idle time */
};

struct dw_device_step {
	uint32_t step;                    /* index in the source */
	uint32_t device;                  /* index in dw_device_times.devices */
	uint64_t start_ns, end_ns;        /* of the device's step */
	uint64_t part_ns[DW_DEVICE_PART_COUNT];  /* sum to its duration exactly */
};

/* Idle time that calls of the host caused because they waited for the device. */
struct dw_device_cause {
	uint32_t call_symbol;             /* "cudaStreamSynchronize" */
	uint32_t operator_symbol;         /* the innermost operator around it, or DW_NO_INDEX */
	uint64_t ns, count;               /* in the steps; without steps, in the spans of the devices */
};

/* A gap of a queue is the time from the latest end so far to the next begin. */
enum dw_gap { DW_GAP_HOST_LATE, DW_GAP_SHORT, DW_GAP_OTHER, DW_GAP_COUNT };
#define DW_SHORT_GAP_NS DW_LAUNCH_NS

/* The depth of a queue: the number of events that were submitted and have not begun. */
struct dw_device_depth {
	size_t points;                    /* moments at which the depth changed */
	double mean, deviation;           /* this and the next figures: over these moments */
	double p25, p50, p75;
	int64_t least, most;
	double mean_over_time;            /* over the time from the first moment to the last */
};

struct dw_queue_time {
	uint32_t queue;                   /* index in dw_device_work.queues */
	uint64_t first_ns, last_ns;
	size_t event_count;               /* of a class, in scope */
	uint64_t busy_ns;                 /* time in which at least one ran */
	uint64_t overlap_ns;              /* of busy_ns: another queue of the device was busy too */
	uint64_t gap_ns[DW_GAP_COUNT];    /* by enum dw_gap: the call of the next event came late; the
	                                   * gap is shorter than DW_SHORT_GAP_NS; any other gap */
	size_t gap_count[DW_GAP_COUNT];
	struct dw_device_depth depth;
};

struct dw_device_times {
	struct dw_device_time *devices;   /* with events of a class, in the order of the queues */
	size_t device_count;
	struct dw_device_step *steps;     /* counted steps of the processes of the devices, of which all is recorded */
	size_t step_count;
	struct dw_device_cause *causes;   /* longest first */
	size_t cause_count;
	struct dw_queue_time *queues;
	size_t queue_count;
};

/* Computed once for a model, which owns the result. NULL with `error` if memory ran out. */
const struct dw_device_times *dw_model_device_times(struct dw_model *model, struct dwell_error *error);

const char *dw_device_part_name(enum dw_device_part part);

/* ---- what the host did meanwhile (idle_host.c) ---------------------------------------------------- */

struct dw_device_interval {
	uint64_t start_ns, end_ns;
};

/* A host that submits operator after operator leaves a device idle for some tens of us each time. In 1 ms it makes a hundred launches:
 * if it made none, it did something else. */
#define DW_DEVICE_LONG_NS 1000000u

/* Where the host was during the idle time of one part: the innermost ranges in which it spent at least half of it. */
struct dw_device_host {
	uint64_t ns;     /* the part's time in the intervals */
	uint64_t long_ns; /* of it, in pieces longer than DW_DEVICE_LONG_NS */
	uint32_t named;  /* symbol of a range that the program named, or of a function of its own; DW_NO_INDEX: none */
	uint32_t operator; /* symbol of an operator; DW_NO_INDEX: none */
	uint32_t inner;  /* symbol of a range of any kind: a call, an operator, a function; DW_NO_INDEX: none */
};

/* Of the parts HOST_LATE, SYNC, FIRST, QUEUED, START and NOTHING, for a device of dw_device_times.devices, in intervals that do
 * not overlap. The host is the thread that submitted the work that ends an idle time, and, outside the ranges of this
 * submission, the thread for which it works. False with `error`: out of memory. */
bool dw_model_device_host(struct dw_model *model, size_t device, const struct dw_device_interval *intervals, size_t count,
                          struct dw_device_host hosts[DW_DEVICE_PART_COUNT], struct dwell_error *error);

#define DW_DEVICE_PLACE 81 /* bytes of a place: a sentence has space for 80 */
/* "cudaMemcpyAsync in sparse_data_dist": what the host did and where, by the program's own names, or else by its operator.
 * "" if there is no such place. Returns `text`. */
const char *dw_device_place(const struct dw_model *model, const struct dw_device_host *host, char text[DW_DEVICE_PLACE]);
