/*
 * A trace as a timeline: the basis of every exporter that writes event by event.
 *
 * A format fills in a struct dw_timeline_format with functions that write one event each. The
 * timeline walks the events of the model and calls these functions. It computes what all formats
 * need: the track of an event, whether a range nests there, the memory in use after an allocation,
 * the two ends of an arrow. A format calls, in the order of its document:
 *
 *     dw_timeline_open()      always, and dw_timeline_close() at the end
 *     dw_timeline_events()    ranges, marks, counters, asynchronous ranges, in stream order
 *     dw_timeline_steps()     after the events, which decide whether a step nests
 *     dw_timeline_samples()   functions by samples, of threads without ranges
 *     dw_timeline_memory()    allocations and frees in order of time
 *     dw_timeline_arrows()    arrows, one end after the other
 *
 * A track is a row of a viewer: number thread * 2 for a thread, thread * 2 + 1 for its signal
 * handlers, whose ranges overlap those of the thread, and for its samples a number behind those of
 * all threads.
 *
 * Memory: 16 bytes per symbol, 40 bytes per allocation or free and 32 bytes per end of an arrow,
 * because these can be ordered only after all streams were read. Ranges need no memory.
 */
#pragma once

#include "base/arena.h"
#include "dwell/trace.h"
#include "export/arrows.h"
#include "export/filter.h"
#include "export/memory_totals.h"
#include "export/nest.h"
#include "export/out.h"
#include "model/samples/chart.h"

/* Functions that write one event. Only `put_handlers` and `put_samples` may be NULL. */
struct dw_timeline_format {
	/* The streams of signal handlers are read after all others. */
	bool handlers_last;
	/* Called before the first event of a track of signal handlers. */
	void (*put_handlers)(void *to, uint32_t track);
	/* Called before the first function by samples of a track, which are passed to put_range(). NULL: the format has no
	 * samples. */
	void (*put_samples)(void *to, uint32_t track);
	/* `nests`: no range that was written to its track before overlaps it only partly. */
	void (*put_range)(void *to, const struct dw_event *event, uint32_t track, bool nests);
	void (*put_mark)(void *to, const struct dw_event *event, uint32_t track);
	void (*put_counter)(void *to, const struct dw_event *event, uint32_t track);
	void (*put_async)(void *to, const struct dw_event *event, uint32_t track);
	void (*put_step)(void *to, const struct dw_nest_step *step);
	void (*put_memory)(void *to, const struct dw_memory_total *total);
	void (*put_arrow)(void *to, const struct dw_arrow_end *end);
};

/* The numbers that identify a track in a viewer. */
struct dw_timeline_track {
	uint64_t pid, tid;
};

/* Text that all calls of a symbol share. */
struct dw_label {
	const char *text; /* NULL until it is first used */
	uint32_t length;
};

struct dw_timeline {
	const struct dw_timeline_format *format;
	void *to; /* first argument of the functions of `format` */
	struct dw_model *model;
	const struct dw_source *source;
	const struct dw_symbol *symbols; /* of a format with samples, also their functions */
	size_t symbol_count, range_symbols; /* `range_symbols`: without functions of samples */
	const struct dw_sample_chart *chart; /* NULL: the format has no samples */
	bool *has_ranges;                    /* by thread: whether it has ranges beside the profiler's own */
	struct dw_export_filter filter;
	struct dw_writer_out *out; /* writing stops after its first error */
	struct dw_arena arena;
	struct dw_writer_out scratch;     /* in memory; empty between two uses */
	uint64_t *pids;                   /* by process */
	struct dw_timeline_track *tracks; /* by track */
	bool *begun;                      /* by track: it has an event; only used for signal handlers */
	uint32_t track_count;
	struct dw_label *args;            /* by symbol */
	struct dw_nest nest;
	uint32_t nest_track; /* the track of the ranges in `nest` */
	struct dw_nest_steps steps;
	struct dw_memory_totals memory;
	struct dw_arrows arrows;
	uint64_t last_id; /* of arrows, and of other items that a format numbers with them */
	bool failed;      /* out of memory */
};

/* `options` NULL: all events. Sets `failed` if out of memory. */
void dw_timeline_open(struct dw_timeline *timeline, const struct dw_timeline_format *format,
                      void *to, struct dw_model *model, const struct dwell_export_options *options,
                      struct dw_writer_out *out);
/* Returns `result`, or DWELL_E_NOMEM if that is 0 and `failed` is set. */
int dw_timeline_close(struct dw_timeline *timeline, int result, struct dwell_error *error);

/* Errors: those of dw_model_events(). */
int dw_timeline_events(struct dw_timeline *timeline, struct dwell_error *error);
void dw_timeline_steps(struct dw_timeline *timeline);
void dw_timeline_samples(struct dw_timeline *timeline);
void dw_timeline_memory(struct dw_timeline *timeline);
void dw_timeline_arrows(struct dw_timeline *timeline);

/* ---- names ------------------------------------------------------------------------------- */

/* Whether a process is `dwell run` itself and recorded nothing: it has no tracks. */
bool dw_timeline_is_silent(const struct dw_source *source, uint32_t process);
/* Whether signal handlers of a thread recorded anything. */
bool dw_timeline_has_handlers(const struct dw_source *source, uint32_t thread);
/* Includes the rank of the process, if it has one. */
void dw_timeline_process_name(const struct dw_source *source, uint32_t process, char name[128]);
/* The thread of a track. */
uint32_t dw_timeline_thread(const struct dw_source *source, uint32_t track);
void dw_timeline_track_name(const struct dw_source *source, uint32_t track, char name[256]);

/* ---- labels.c ---------------------------------------------------------------------------- */

/* Returns the name of a category that tools for PyTorch's traces know, otherwise dwell's name. */
const char *dw_label_category(uint32_t category, char buffer[24]);
/* Returns what all calls of a symbol have in common, as the members of a JSON object: "Input
 * Dims":[[2]],"Input type":["float"]. It is empty if there is nothing, or if out of memory, which
 * sets `failed`. It is made once per symbol. */
struct dw_label dw_label_args(struct dw_timeline *timeline, uint32_t symbol);
/* Returns a copy of `scratch` and empties `scratch`. */
struct dw_label dw_label_take(struct dw_timeline *timeline);
/* Returns the call stack of a range from the innermost frame, in PyTorch's form: "FILE(LINE):
 * FUNCTION;...". It is valid until `scratch` is used again. */
const char *dw_label_stack(struct dw_timeline *timeline, uint32_t thread, uint32_t stack);
