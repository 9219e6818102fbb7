/*
 * Views: each answers one question about a model with a table.
 *
 * A view is a file NAME.c, which defines dw_view_NAME, and a line in views.def. It asks the model
 * for the products it needs and fills tables; it knows no format and no terminal. An answer of
 * several parts is a chain of tables. doc/how/adding.md shows a whole one.
 *
 * registry.c finds views by name. run.c drives a view: it checks that the trace holds what the
 * view needs, sorts and cuts the rows, and states scope, coverage and losses. The facade
 * (src/interfaces/trace) and the command call both. common.h is for the views themselves.
 */
#pragma once

#include "model/model.h"
#include "table/table.h"

/* The options of view_options.def as bits, by field. */
enum dw_view_option {
#define OPTION(scope, kind, field, name, letter, argument, choices, help) DW_VIEW_OPTION_##field,
#include "views/view_options.def"
#undef OPTION
	DW_VIEW_OPTION_COUNT
};
#define DW_VIEW_TAKES(field) (UINT64_C(1) << DW_VIEW_OPTION_##field)
/* The options that the caller has given. */
uint64_t dw_view_options_given(const struct dwell_view_options *options);
/* The options that layouts refuse. */
uint64_t dw_view_options_for_views(void);
/* The name of the first of some options, without "--"; NULL: none. */
const char *dw_view_option_name(uint64_t options);

/* .tables = DW_VIEW_TABLES(DW_VIEW_TABLE(pace_columns)) */
#define DW_VIEW_TABLE(columns) &(const struct dw_column_list)DW_COLUMN_LIST(columns)
#define DW_VIEW_TABLES(...) (const struct dw_column_list *const[]){ __VA_ARGS__, NULL }

struct dw_view {
	const char *name;
	const char *question; /* the question that it answers, for `dwell report --help` */
	/* Returns NULL with `error`; if `error` is not set, memory is out. `options` is never NULL. */
	struct dwell_table *(*run)(struct dw_model *model, const struct dwell_view_options *options,
	                           struct dwell_error *error);
	/* Options that it takes besides those that the driver handles for all views: DW_VIEW_TAKES(). */
	uint64_t takes;
	/* The columns for --name and --min-duration: a text, and a time in ns. NULL: the view has no such
	 * column and refuses the option. Of an answer in several tables, those without the column have no
	 * rows then. */
	const char *row_name, *row_ns;
	const struct dw_column_list *const *tables; /* whose rows can be sorted; the last is NULL */
	size_t limit;         /* rows to show if the caller sets no limit; SIZE_MAX: all */
	/* The trace must contain ranges of at least one of these categories (0: no condition). */
	uint32_t categories;
	bool needs_steps;
	bool reads_steps; /* besides ranges of the categories: one walk computes both */
	bool needs_ranks; /* steps of several processes */
	bool needs_workers; /* processes that one process began */
	bool needs_device; /* events of devices */
	bool needs_samples; /* samples of call stacks */
	bool needs_heap;    /* blocks of malloc */
	/* For the error "FILE has no NEEDS: REMEDY". */
	const char *needs;
	const char *remedy;
};

/* Returns the view at `index` in the order of views.def, or NULL after the last. */
const struct dw_view *dw_view_at(size_t index);
/* Returns NULL if there is no such view; `error` names the most similar one. */
const struct dw_view *dw_view_find(const char *name, struct dwell_error *error);
/* The names that --sort takes, each once: returns the one at `index`, or NULL after the last. */
const char *dw_view_column(const struct dw_view *view, size_t index);

/* Runs a view. The table is sorted, cut to the limit, and states its scope, coverage and losses.
 * The caller destroys it. */
int dw_view_run(const struct dw_view *view, struct dw_model *model,
                const struct dwell_view_options *options, struct dwell_table **table, struct dwell_error *error);

/* Writes why a --step-on made no step, or which library its function is in; returns false if nothing is to be said. */
bool dw_view_step_on(const struct dw_source *source, char *text, size_t size);

/* Writes what the program mainly did until it ended: "importing torch 4.1 s, Python 3.2 s in load (train.py:40)". "": not known. */
void dw_view_until_end(struct dw_model *model, char *text, size_t size);
/* "train.py": of several programs, as a launcher and what it launches, that of the steps. "" if the trace does not say what ran. */
const char *dw_view_program(struct dw_model *model);
/* "ValueError: shapes differ": the exception that ended a program of Python; "" if none did. */
const char *dw_view_uncaught(const struct dw_source *source);

#define VIEW(name) extern const struct dw_view dw_view_##name;
#include "views/views.def"
#undef VIEW
