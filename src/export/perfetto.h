/*
 * The Perfetto export from inside.
 *
 *   perfetto.c         the document and its events in order
 *   perfetto_packet.c  packets: tracks, events, interned names, annotations
 *
 * Tracks have numbers: 1 + thread * 2 + nested for threads, then others as they come.
 */
#ifndef DW_EXPORT_PERFETTO_H
#define DW_EXPORT_PERFETTO_H

#include "base/proto.h"
#include "export/chrome.h"

/* A range that waits for those around it. */
struct dw_perfetto_slice {
	uint64_t start_ns, end_ns;
	uint64_t sequence; /* UINT64_MAX: none */
	const char *args;
	uint32_t symbol, stack, depth;
	bool open;
	size_t first; /* of those that lie in it, or itself */
};

struct dw_perfetto_counter {
	uint64_t track;
	uint32_t process, key; /* of what: a symbol, or a device | DEVICE */
};

struct dw_perfetto {
	struct dw_chrome chrome;
	struct dw_proto message;
	struct dw_perfetto_slice *slices;
	size_t slice_count, slice_capacity;
	size_t *open; /* slices, innermost last */
	size_t open_capacity;
	size_t *order; /* slices, as they are written */
	size_t order_capacity;
	bool *interned; /* by symbol */
	struct dw_perfetto_counter *counters;
	size_t counter_count, counter_capacity, last_counter;
	uint64_t next_track, first_process_track;
	uint64_t categories; /* mask of those that are interned */
	bool cleared;        /* the packet that starts the interning is written */
};

/* What TrackEvent calls its types. */
enum dw_perfetto_type { DW_PERFETTO_BEGIN = 1, DW_PERFETTO_END = 2, DW_PERFETTO_INSTANT = 3,
	                    DW_PERFETTO_COUNTER = 4 };

/* An event that is being written: its packet and itself. */
struct dw_perfetto_event {
	size_t packet, event;
};

/* The clock, processes and threads. */
void dw_perfetto_head(struct dw_perfetto *perfetto);
uint64_t dw_perfetto_new_track(struct dw_perfetto *perfetto, uint64_t parent, const char *name);

/* Before an event that uses the symbol's name is opened. */
void dw_perfetto_intern(struct dw_perfetto *perfetto, uint32_t symbol);
struct dw_perfetto_event dw_perfetto_open(struct dw_perfetto *perfetto,
                                          enum dw_perfetto_type type, uint64_t track, uint64_t ns);
void dw_perfetto_close(struct dw_perfetto *perfetto, struct dw_perfetto_event event);
/* Of the open event. */
void dw_perfetto_name(struct dw_perfetto *perfetto, uint32_t symbol);
void dw_perfetto_name_text(struct dw_perfetto *perfetto, const char *name);
void dw_perfetto_args(struct dw_perfetto *perfetto, uint32_t symbol); /* of all calls of it */
void dw_perfetto_annotate(struct dw_perfetto *perfetto, const char *name, const char *value,
                          bool json);
void dw_perfetto_annotate_u64(struct dw_perfetto *perfetto, const char *name, uint64_t value);

void dw_perfetto_count(struct dw_perfetto *perfetto, const struct dw_event *event);
void dw_perfetto_hold(struct dw_perfetto *perfetto, const struct dw_chrome_memory_at *at);
void dw_perfetto_arrow(struct dw_perfetto *perfetto, const struct dw_chrome_end *end, uint64_t id,
                       bool arrives);

#endif
