/*
 * What views have in common: names, columns, the steps seen from inside, sentences.
 */
#ifndef DW_VIEWS_COMMON_H
#define DW_VIEWS_COMMON_H

#include "views/views.h"

#define DW_VIEW_CATEGORY(name) (1u << DWELL_CATEGORY_##name)

/* What a program names itself. */
#define DW_VIEW_OWN                                                                      \
	(DW_VIEW_CATEGORY(ZONE) | DW_VIEW_CATEGORY(PHASE) | DW_VIEW_CATEGORY(DATA) |         \
	 DW_VIEW_CATEGORY(ACTION) | DW_VIEW_CATEGORY(COMMUNICATION) |                        \
	 DW_VIEW_CATEGORY(CHECKPOINT) | DW_VIEW_CATEGORY(EVALUATION))

/* dw_table_create() or NULL with `error`. */
struct dwell_table *dw_view_table(const char *view, const struct dw_column *columns, size_t count,
                                  struct dwell_error *error);

/* The file that was read, as people call it: its name, or "NAME and 3 more". */
const char *dw_view_trace_name(const struct dw_model *model, char room[256]);
/* "main", "train main" with several processes, "rank 1 main" with ranks; in signal
 * handlers. */
const char *dw_view_thread_name(const struct dw_model *model, uint32_t thread, bool nested,
                                char room[256]);
const char *dw_view_category(uint32_t category);
const char *dw_view_share(enum dw_share share);

/* A part of a step: a share, or a name of the program. */
struct dw_view_part {
	const char *name;
	uint64_t ns;
	bool own; /* a name of the program's, none of dwell's */
};
/* The parts that have time, largest first and what lies in no range last, into `to`, which
 * has space for DW_SHARE_COUNT + part_count; how many there are. */
size_t dw_view_parts(const struct dw_step_part *parts, size_t part_count, const uint64_t *share_ns,
                     const struct dw_symbol *symbols, struct dw_view_part *to);

/*
 * The model of the counted steps only, or NULL when there are none (or when there is no
 * memory: `error`). With DW_VIEW_STEP_THREADS only of the threads that step: then times are
 * parts of the steps' own time. It is owned by `model`.
 */
enum dw_view_threads { DW_VIEW_ALL_THREADS, DW_VIEW_STEP_THREADS };
struct dw_model *dw_view_inside(struct dw_model *model, enum dw_view_threads which,
                                struct dwell_error *error);

/*
 * The columns of a table by name, after the columns that say what a row is:
 * calls self total mean min max p50 p99.
 */
#define DW_VIEW_STAT_COLUMNS                                                             \
	DW_COLUMN("calls", "calls", COUNT, INT),                                    \
	DW_COLUMN("self_ns", "self", NS, INT),                                      \
	DW_COLUMN("total_ns", "total", NS, INT),                                    \
	DW_COLUMN("mean_ns", "mean", NS, INT),                                      \
	DW_COLUMN("min_ns", "min", NS, INT, .wide_only = true),                     \
	DW_COLUMN("max_ns", "max", NS, INT, .wide_only = true),                     \
	DW_COLUMN("p50_ns", "p50", NS, INT, .wide_only = true),                     \
	DW_COLUMN("p99_ns", "p99", NS, INT)
#define DW_VIEW_STAT_COUNT 8
void dw_view_stat(struct dw_cell *cells, const struct dw_stat *stat);

/* Operators, or with `named` all that torch.profiler's tables have, grouped as the options
 * ask (calls.c). */
struct dwell_table *dw_view_grouped(struct dw_model *model, const char *view, bool named,
                                    const struct dwell_view_options *options,
                                    struct dwell_error *error);

/* "40 steps in 853 ms, 21.3 ms a step (p50 ...)" with `rest` at the end, and which steps the
 * figures a step are of, where those are not all. */
void dw_view_head_steps(struct dwell_table *table, const struct dw_steps *steps, const char *rest);

/* Notes on calls that did not end or whose end is missing. */
void dw_view_note_calls(struct dwell_table *table, const struct dw_flat *flat);

/* Puts the warning of dw_view_step_on() above the table. (step_on.c) */
void dw_view_head_step_on(struct dwell_table *table, const struct dw_source *source);

#endif
