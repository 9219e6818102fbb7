/*
 * Devices as rows of a viewer, and the calls that submitted their events: what every format needs
 * that writes event by event.
 *
 * A stream has one row for its work, and others for waits and for ranges, which overlap the work.
 * Viewers drop or nest wrongly what overlaps only partly. So an event that begins before the one
 * before it has ended goes to a further row of its stream: in a row no two events overlap, and
 * each event is in exactly one row.
 */
#pragma once

#include "export/timeline.h"
#include "model/device/device.h"

enum dw_device_row_kind { DW_ROW_WORK, DW_ROW_WAITS, DW_ROW_RANGES, DW_ROW_KINDS };

/* The kind of row of an event; DW_ROW_KINDS: it has no duration of its own, and so no row. */
enum dw_device_row_kind dw_device_row_kind(uint32_t event_kind);

struct dw_device_row {
	uint32_t device;  /* index in the source */
	uint32_t queue;   /* index in the source */
	enum dw_device_row_kind kind;
	uint64_t number;  /* that of the stream if no earlier row of the device has it: each differs */
	char name[96];    /* "stream 7", "stream 7, waits", "stream 7, at the same time (2)" */
};

struct dw_device_rows_format {
	/* Called before the first event of a row. Returns what put_event() gets as `place`. */
	uint64_t (*put_row)(void *to, const struct dw_device_row *row);
	/* The events in scope: stream by stream, in a row in order of time. `index`: in the work. */
	void (*put_event)(void *to, const struct dw_device_event *event, size_t index, uint64_t place);
};

/* Sets timeline->failed if out of memory. Does nothing if the trace has no events of devices. */
void dw_device_rows(struct dw_timeline *timeline, const struct dw_device_rows_format *format, void *to);

/* Whether a call of the driver is written that was recorded after its range had ended. */
static inline bool dw_device_wants_late_call(const struct dw_timeline *timeline, const struct dw_device_call *call)
{
	return call->late && call->in_scope &&
	       dw_export_wants(&timeline->filter, timeline->symbols[call->symbol].name, call->start_ns, call->end_ns);
}

/* "Tesla V100-SXM2-32GB 1" */
void dw_device_row_title(const struct dw_source *source, uint32_t device, char name[160]);

/* ---- device_launches.c: arrows from calls to events ---------------------------------------- */

/* A call with events, or one that waits for a device. */
struct dw_launch {
	uint64_t start_ns;
	uint32_t thread, call;
};

/* Initialized by zeroing; then no range is a call. */
struct dw_launches {
	const struct dw_device_work *work;
	const struct dw_export_filter *filter;
	struct dw_launch *order; /* by thread and begin */
	size_t order_count;
	uint32_t *first;  /* by call: where its events begin in `events`; the end of the last call's */
	uint32_t *events; /* indices in the work, by call: those in scope that have a row */
	bool *sent;       /* by event in the work: its call was found */
};

/* Sets timeline->failed if out of memory. Does nothing if the trace has no events of devices. */
void dw_launches_make(struct dw_launches *launches, struct dw_timeline *timeline);
void dw_launches_reset(struct dw_launches *launches);
/* What a range submitted. An event that began before its call is not among the events: its arrow would
 * lead backwards. */
struct dw_launched {
	uint32_t correlation;   /* 0: the range is no call, or has no number */
	const uint32_t *events; /* indices in the work */
	size_t count;
};

/* Marks the events as sent: an event that is not marked when it is written has no arrow. */
struct dw_launched dw_launches_of(struct dw_launches *launches, uint32_t thread, uint64_t start_ns, uint32_t symbol);
