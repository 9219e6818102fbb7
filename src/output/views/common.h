/* Shared parts of the views: names, columns, sentences, and the model of the counted steps. */
#pragma once

#include "facts/facts.h"
#include "views/views.h"

#define DW_VIEW_CATEGORY(name) (1u << DWELL_CATEGORY_##name)

/* The categories of ranges that a program names. */
#define DW_VIEW_OWN                                                                      \
	(DW_VIEW_CATEGORY(ZONE) | DW_VIEW_CATEGORY(PHASE) | DW_VIEW_CATEGORY(DATA) |         \
	 DW_VIEW_CATEGORY(ACTION) | DW_VIEW_CATEGORY(COMMUNICATION) |                        \
	 DW_VIEW_CATEGORY(CHECKPOINT) | DW_VIEW_CATEGORY(EVALUATION))

/* dw_table_create() that sets `error` when it returns NULL. */
struct dwell_table *dw_view_table(const char *view, const struct dw_column *columns, size_t count,
                                  struct dwell_error *error);

/* Puts `next` behind the last part of `first` and returns `first`. If one of them is NULL,
 * destroys the other and returns NULL. */
struct dwell_table *dw_view_chain(struct dwell_table *first, struct dwell_table *next);

/* What a view says that needs steps. */
#define DW_VIEW_NEEDS_STEPS                                                              \
	.needs_steps = true, .needs = "steps",                                               \
	.remedy = "mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME"

/* The trace in messages: its path, or "PATH and 3 more" of several. */
const char *dw_view_trace_name(const struct dw_model *model, char buffer[256]);
/* "main", "train main" with several processes, "rank 1 main" with ranks; `nested` adds
 * ", in signal handlers". */
const char *dw_view_thread_name(const struct dw_model *model, uint32_t thread, bool nested, char buffer[256]);
/* Why steps were slow (slow.c). */
struct dw_view_slow {
	const struct dw_steps *steps;
	const struct dw_symbol *symbols;
	const struct dw_usage_of *usages; /* NULL: not known */
	double usual_delay_ns;   /* without a CPU, in a step that is not slow */
};
void dw_view_slow_begin(struct dw_view_slow *slow, struct dw_model *model, const struct dw_steps *steps);
/* In what the step took `extra_ns` longer than usual. NULL: nothing explains it. */
const char *dw_view_slow_reason(const struct dw_view_slow *slow, const struct dw_step *step, double *extra_ns);
/* Whether a process began several of one name (workers.c). */
bool dw_view_has_workers(const struct dw_source *source);
/* What the trace does not have of the step: "recorded without operators". NULL: nothing is missing. */
const char *dw_view_step_lacks(const struct dw_step *step);
/* Whether several processes have steps. */
bool dw_view_has_ranks(const struct dw_source *source);
const char *dw_view_category(uint32_t category);

/* A part of a step: a share that dwell defines, or a name that the program gave. */
struct dw_view_part {
	const char *name;
	uint64_t ns;
	bool own; /* the program gave the name */
};
/* Fills `to`, which has space for DW_SHARE_COUNT + part_count, with the parts that have time:
 * the largest first, time in no range last. Returns their number. */
size_t dw_view_parts(const struct dw_step_part *parts, size_t part_count, const uint64_t *share_ns,
                     const struct dw_symbol *symbols, struct dw_view_part *to);

/* What a sentence calls a function: its name, or "code without a name in libx.so" for an address. `buffer` may be used. */
const char *dw_view_function_name(const char *name, char buffer[256]);

/* A table of operators (with `named` of named ranges and steps too, as torch.profiler's tables
 * have), grouped by the options. (calls.c) */
struct dwell_table *dw_view_grouped(struct dw_model *model, const char *view, bool named,
                                    const struct dwell_view_options *options, struct dwell_error *error);

/* The function and the line that most of a sum of cells is in, as tables show them; both "": none is known. (account.c)
 */
#define DW_VIEW_SHORT_NAME 400u
void dw_view_account_place(const struct dw_account_sum *sum, char name[DW_VIEW_SHORT_NAME], char line[200]);

/* Writes whose the steps are: " of 4 processes"; "" if one thread has all of them. */
void dw_view_write_where(const struct dw_steps *steps, char *to, size_t size);
/* Writes what the shares of a run's parts are of: "the run", or "the run of rank 0 python" if several threads have steps. (ends.c) */
void dw_view_write_whose_run(struct dw_model *model, const struct dw_account_run *run, char *to, size_t size);

/* Puts "train.py: 40 steps in 853 ms, 21.3 ms a step (p50 ...)" above the table; `program` is "train.py: " or "". The mean is displayed
 * like this time; 0: like itself. If the
 * figures per step are not of all steps, a further sentence says of which. */
void dw_view_head_steps(struct dwell_table *table, const struct dw_steps *steps, const char *program, double like_ns, double of_run);

/* A fact's value with its unit: "26.5%", "12.3 ms". (facts.c) */
void dw_view_fact_text(char *to, size_t size, enum dw_fact_unit unit, double value);

/* What shares of rows are of: `wall_ns`; or the sum of the rows' self times, if several threads together have more
 * than it, in one row (`of_rows`) or in all. Then the column is labelled "of all". */
uint64_t dw_view_whole(struct dwell_table *table, const char *column, const struct dw_flat *flat, uint64_t wall_ns,
                       bool of_rows);

/* Whether the trace lacks what a view needs besides steps and ranges of some categories. */
bool dw_view_lacks(const struct dw_view *view, const struct dw_source *source);
/* The first value of a key of the metadata; NULL: it has none. */
const char *dw_view_meta(const struct dw_source *source, const char *key);
/* Why records were lost, for an enum dw_loss: what the trace says of it, or else the general text. */
const char *dw_view_loss_text(const struct dw_source *source, size_t cause);
/* Adds to the table's gaps what the trace does not have, apart from losses (not_recorded.c). */
void dw_view_state_gaps(struct dwell_table *table, struct dw_model *model);
/* Processor time for which no sample stands, a row for each process, kind of thread and cause. NULL: there is none. */
struct dwell_table *dw_view_cpu_account(struct dw_model *model, struct dwell_error *error);
extern const struct dw_column_list dw_view_cpu_account_columns;
/* The last value, as a number; NAN: it has none. */
double dw_view_meta_number(const struct dw_source *source, const char *key);
/* Whether a process of the run is a Python program. */
bool dw_view_is_python(const struct dw_source *source);

/* A note on calls that did not end, if there are any. */
void dw_view_note_open(struct dwell_table *table, uint64_t open);
/* Notes on calls that did not end or whose end is missing. */
void dw_view_note_calls(struct dwell_table *table, const struct dw_flat *flat);

/* Puts the warning of dw_view_step_on() above the table. (step_on.c) */
void dw_view_head_step_on(struct dwell_table *table, const struct dw_source *source);

/* The table of the views hot and, with `waits`, waits; see hot.c. */
struct dwell_table *dw_view_sampled(struct dw_model *model, const struct dwell_view_options *options, bool waits,
                                    struct dwell_error *error);
extern const struct dw_column_list dw_view_sampled_columns;
