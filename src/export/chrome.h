/*
 * Traces event by event from inside: what their files share. perfetto.c uses the lower
 * part: numbers of processes and threads, labels, what nests, memory and arrows.
 *
 *   chrome.c         the document and its events, stream after stream
 *   chrome_range.c   ranges and steps among them
 *   chrome_open.c    what is made before the events and freed after them
 *   chrome_head.c    what stands above the events: facts, losses, processes
 *   chrome_threads.c names, order and numbers of processes and threads
 *   chrome_label.c   what is alike in all events of one name, made once
 *   chrome_nest.c    which ranges nest, as "X" events must, and which are written "b", "e"
 *   chrome_memory.c  allocations, put in order of time
 *   chrome_flow.c    arrows, put together from their ends
 *   json.c           whether a text is JSON
 */
#ifndef DW_EXPORT_CHROME_H
#define DW_EXPORT_CHROME_H

#include "base/arena.h"
#include "export/out.h"
#include "model/model.h"

/* ,"pid":N,"tid":N,"ts": of a thread; two a thread, the second for signal handlers. */
struct dw_chrome_track {
	char text[64];
	uint32_t length;
	uint64_t pid, tid;
	bool named; /* of signal handlers: few threads have any */
};

/* Of a symbol; NULL: not made yet. */
struct dw_chrome_label {
	const char *head; /* "cat":"cpu_op","name":"aten::add" */
	const char *args; /* "Input Dims":[[2]],"Input type":["float"], or "" */
	uint32_t head_length, args_length;
};

/* ---- chrome_nest.c ------------------------------------------------------------------ */

struct dw_chrome_span {
	uint64_t start_ns, end_ns;
	uint32_t depth;
};

/* What was written of one thread and may still lie beside or in what comes. */
struct dw_chrome_nest {
	struct dw_chrome_span *spans; /* apart, ascending */
	size_t count, capacity;
	uint32_t track;
	bool apart; /* the next span is not put together with the last one */
	bool never_together;
};

void dw_chrome_nest_start(struct dw_chrome_nest *nest, uint32_t track);
/* Ranges of a track as they end. 1: it nests; 0: it overlaps another; -1: out of memory. */
int dw_chrome_nest_add(struct dw_chrome_nest *nest, uint64_t start_ns, uint64_t end_ns,
                       uint32_t depth);

/* Steps against the ranges of their threads. */
struct dw_chrome_step {
	uint64_t start_ns, end_ns;
	const struct dw_source_step *step;
	uint32_t track;
	bool overlaps; /* a range or another step, without nesting */
};

struct dw_chrome_steps {
	struct dw_chrome_step *steps; /* by thread, then start; behind `apart` those that overlap */
	size_t count, apart;
	size_t *from; /* by thread, one more than there are */
	size_t at;    /* the one that the last range lay in */
};

/* -1: out of memory */
int dw_chrome_steps_make(struct dw_chrome_steps *steps, const struct dw_model *model);
void dw_chrome_steps_reset(struct dw_chrome_steps *steps);
/* A range of `thread` was written as one that nests. */
void dw_chrome_steps_meet(struct dw_chrome_steps *steps, uint32_t thread, uint64_t start_ns,
                          uint64_t end_ns);

/* ---- chrome_memory.c, chrome_flow.c: what is kept until all streams are done -------- */

/* A change of memory, put in order of time. */
struct dw_chrome_memory_at {
	uint64_t ns, address;
	int64_t bytes, total; /* of the device in this process, from then on */
	uint32_t symbol, track, device;
	const char *name;         /* of the device */
	int type, number;         /* as PyTorch counts them; -1: no number */
	bool freed;               /* of 0 bytes: what was not seen being allocated */
};
typedef void dw_chrome_put_memory(void *to, const struct dw_chrome_memory_at *at);

/* An end of an arrow. */
#define DW_CHROME_LINK 0x7fffffffu /* forward to backward */
#define DW_CHROME_IN 0x80000000u
struct dw_chrome_end {
	uint64_t handle, ns;
	uint32_t owner;  /* process, or the thread of the forward call */
	uint32_t track;
	uint32_t name;   /* symbol whose name both ends have or DW_CHROME_LINK, | DW_CHROME_IN */
	uint32_t symbol;
};
/* 's' before its 'f'; `id` is unique among links and among all others. */
typedef void dw_chrome_put_end(void *to, const struct dw_chrome_end *end, uint64_t id, char phase);

struct dw_chrome_memory {
	struct dw_chrome_change *changes;
	size_t count, capacity;
};

struct dw_chrome_flows {
	struct dw_chrome_end *ends;
	size_t count, capacity;
	uint32_t *names; /* by symbol: the first symbol of that name */
};

/* ---- all of it ---------------------------------------------------------------------- */

struct dw_chrome {
	struct dw_model *model;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	size_t symbol_count;
	struct dw_writer_out *out;
	struct dw_arena arena;
	struct dw_writer_out scratch;   /* in memory */
	uint64_t *pids;                 /* by process: as written */
	struct dw_chrome_track *tracks; /* by thread * 2 + nested */
	struct dw_chrome_label *labels; /* by symbol */
	struct dw_chrome_nest nest;
	struct dw_chrome_steps steps;
	struct dw_chrome_memory memory;
	struct dw_chrome_flows flows;
	uint64_t next_id;    /* of async ranges and flows */
	uint64_t next_link;  /* of flows from forward to backward calls */
	uint64_t next_range;
	uint32_t nested;  /* 1: the streams of signal handlers */
	bool any_event, failed;
};

#define DW_CHROME_ROOM 512u /* for an event without its name and args */

/* chrome_threads.c. Numbers, names and order of processes and threads. */
int dw_chrome_tracks_make(struct dw_chrome *chrome);
/* `dwell run` itself: part of the run, and no track. */
bool dw_chrome_is_silent(const struct dw_source *source, uint32_t process);

/* chrome_open.c. `failed` says whether it is out of memory; close it in any case. */
void dw_chrome_open(struct dw_chrome *chrome, struct dw_model *model, struct dw_writer_out *out);
/* `result`, or DWELL_E_NOMEM when that is 0 and something has failed. */
int dw_chrome_close(struct dw_chrome *chrome, int result, struct dwell_error *error);

/* chrome.c. Begins an event: separator, "ph", the symbol's category and name. */
void dw_chrome_begin(struct dw_chrome *chrome, char phase);
void dw_chrome_name(struct dw_chrome *chrome, const struct dw_chrome_label *label);
/* ,"pid":N,"tid":N,"ts":T */
void dw_chrome_place(struct dw_chrome *chrome, uint32_t track, uint64_t ns);
/* "b" and "e", with an id that no other has; `args` without its braces. */
void dw_chrome_async(struct dw_chrome *chrome, const struct dw_chrome_label *label,
                     const struct dw_event *event, uint32_t track, const char *args);

/* chrome_range.c */
void dw_chrome_put_range(struct dw_chrome *chrome, const struct dw_event *event);
/* All steps, when all ranges have been written. */
void dw_chrome_put_steps(struct dw_chrome *chrome);

/* chrome_head.c */
void dw_chrome_head(struct dw_chrome *chrome);

/* chrome_threads.c */
void dw_chrome_threads(struct dw_chrome *chrome);
/* When the trace's last thing happened; its begin stands among the names of threads. */
void dw_chrome_window_end(struct dw_chrome *chrome);
/* Those of its signal handlers, before the first event of theirs. */
void dw_chrome_name_nested(struct dw_chrome *chrome, uint32_t thread);

/* chrome_label.c. What tools for PyTorch's traces call it, or dwell's own word. */
const char *dw_chrome_category(uint32_t category, char buffer[24]);
/* Never NULL; an empty one when out of memory, with `failed` set. */
const struct dw_chrome_label *dw_chrome_label(struct dw_chrome *chrome, uint32_t symbol);

void dw_chrome_memory_add(struct dw_chrome *chrome, const struct dw_event *event);
void dw_chrome_memory_write(struct dw_chrome *chrome, dw_chrome_put_memory *put, void *to);

void dw_chrome_flow_add(struct dw_chrome *chrome, const struct dw_event *event);
/* The forward and backward calls that share a sequence number. */
void dw_chrome_flow_link(struct dw_chrome *chrome, const struct dw_event *event);
void dw_chrome_flows_write(struct dw_chrome *chrome, dw_chrome_put_end *put, void *to);

/* json.c: a whole JSON value, well-formed UTF-8, at most 64 levels deep. */
bool dw_json_valid(const char *text);

#endif
