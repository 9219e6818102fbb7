/*
 * The packets of a Perfetto trace: tracks, events, interned names, annotations, counters.
 *
 * A file is a list of packets of one sequence. A packet is written when it is closed. The number of
 * a track is 1 + the timeline's number; processes follow, then other tracks in the order of their
 * creation.
 */
#pragma once

#include "base/map.h"
#include "base/proto.h"
#include "export/timeline.h"

struct dw_perfetto_counter;

struct dw_perfetto {
	struct dw_timeline *timeline;
	struct dw_proto message; /* the open packet */
	bool *interned;          /* by symbol */
	struct dw_perfetto_counter *counters;
	size_t counter_count, counter_capacity;
	struct dw_map counter_map; /* by process and counted item */
	uint64_t next_track, first_process_track;
	uint64_t categories; /* bit mask of interned categories */
	bool cleared;        /* the packet that starts the interning was written */
};

/* Types of events, with the numbers of Perfetto's TrackEvent. */
enum dw_perfetto_type { DW_PERFETTO_BEGIN = 1, DW_PERFETTO_END = 2, DW_PERFETTO_INSTANT = 3,
	                    DW_PERFETTO_COUNTER = 4 };

/* The offsets in `message` of an open packet and of its event. */
struct dw_perfetto_event {
	size_t packet, event;
};

/* Sets timeline->failed if out of memory. */
void dw_perfetto_init(struct dw_perfetto *perfetto, struct dw_timeline *timeline);
void dw_perfetto_reset(struct dw_perfetto *perfetto);

/* Writes the clock, and the tracks of processes and threads. */
void dw_perfetto_put_tracks(struct dw_perfetto *perfetto);
/* Creates a track inside another one. Returns its number. */
uint64_t dw_perfetto_new_track(struct dw_perfetto *perfetto, uint64_t parent, const char *name);

/* Interns the name of a symbol. No event may be open. */
void dw_perfetto_intern(struct dw_perfetto *perfetto, uint32_t symbol);
/* Interns the name of a device's events, numbered as in the device work, and their category. */
void dw_perfetto_intern_device(struct dw_perfetto *perfetto, uint32_t name, const char *text,
                               uint32_t kind, const char *category);
struct dw_perfetto_event dw_perfetto_open(struct dw_perfetto *perfetto,
                                          enum dw_perfetto_type type, uint64_t track, uint64_t ns);
void dw_perfetto_close(struct dw_perfetto *perfetto, struct dw_perfetto_event event);

/* ---- members of the open event ----------------------------------------------------------- */

void dw_perfetto_name(struct dw_perfetto *perfetto, uint32_t symbol); /* must be interned */
void dw_perfetto_name_device(struct dw_perfetto *perfetto, uint32_t name, uint32_t kind);
void dw_perfetto_name_text(struct dw_perfetto *perfetto, const char *name);
/* Adds what all calls of a symbol have in common. */
void dw_perfetto_args(struct dw_perfetto *perfetto, uint32_t symbol);
void dw_perfetto_annotate(struct dw_perfetto *perfetto, const char *name, const char *value, bool json);
void dw_perfetto_annotate_u64(struct dw_perfetto *perfetto, const char *name, uint64_t value);
/* The arrow from a call to an event of a device: begins in the call's event, arrives at the device's. */
void dw_perfetto_launch(struct dw_perfetto *perfetto, uint32_t event, bool arrives);

/* ---- whole events ------------------------------------------------------------------------ */

void dw_perfetto_put_counter(struct dw_perfetto *perfetto, const struct dw_event *event);
void dw_perfetto_put_memory(struct dw_perfetto *perfetto, const struct dw_memory_total *at);
void dw_perfetto_put_arrow(struct dw_perfetto *perfetto, const struct dw_arrow_end *end);
