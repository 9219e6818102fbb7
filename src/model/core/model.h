/*
 * A model: a run in a scope.
 *
 * A model has one scope. dw_model_within() returns the model of another scope of the same run. It
 * has the same symbols, is owned by the first model, and is the same object for equal scopes.
 * Everything that a model returns belongs to it and is freed by dw_model_destroy(). A model belongs
 * to one thread; it uses further threads to compute its products. dw_model_beside() returns a model
 * for another thread.
 */
#pragma once

#include "dwell/probe.h" /* enum dwell_category */
#include "read/source.h"

struct dw_scope {
	bool has_steps;
	uint64_t steps_from, steps_to; /* only ranges count that begin inside one of these steps */
	const bool *steps_counted;     /* with has_steps: by index of the source's steps; only steps
	                                * that are true count. NULL: all. It must outlive the model */
	bool step_threads;             /* only ranges of threads with steps count */
	const char *thread;            /* name or tid; NULL: all threads */
	/* Only ranges count that begin while one of the selected profiles is open. A profile counts for
	 * its own thread. It also counts for the other threads of its process and of child processes,
	 * while they have no profile of their own open. */
	const char *profile;           /* name or id; NULL: all times */
	uint32_t profile_id;           /* id only; 0: all times */
	/* Only ranges count that begin in this window, in ns of the run, and only steps that begin and
	 * end in it. */
	bool has_window;
	uint64_t from_ns, to_ns;
	/* Only ranges count that begin inside this action of their thread. If their thread has no
	 * actions at all: inside this action of any thread of their process. */
	const char *action;            /* NULL: all times */
};

struct dw_model;

/* `scope` NULL: everything. The source must outlive the model. The texts of the scope are
 * copied. */
int dw_model_create(struct dw_model **model, const struct dw_source *source,
                    const struct dw_scope *scope, struct dwell_error *error);
/* Of a model that was made for steps and has no product yet: what is between these steps, and what comes after them, is in
 * scope too. It begins with the end of the step before. */
void dw_model_extend_scope(struct dw_model *model);
/* For a model of dw_model_create(). Also destroys the models that dw_model_within() made from
 * it. */
void dw_model_destroy(struct dw_model *model);

/*
 * The same run in another scope, which replaces the scope of `model`. *part is the model of the run
 * that has this scope already; otherwise a new one. It is valid until the model that
 * dw_model_create() made is destroyed, or *part is forgotten.
 */
int dw_model_within(struct dw_model *model, const struct dw_scope *scope, struct dw_model **part,
                    struct dwell_error *error);
/* Frees a model of dw_model_within() now, for callers that need very many scopes. Does nothing for
 * a model of dw_model_create(). */
void dw_model_forget(struct dw_model *part);

/*
 * A model of the same run and scope for another thread, with the same scopes of dw_model_within() as
 * `model` has now. It uses the products that `model` has computed so far, and computes others itself.
 * `model` is one of dw_model_create(). The caller destroys the new one first, and forgets no scope of
 * `model` until then. NULL with `error`: out of memory.
 */
struct dw_model *dw_model_beside(struct dw_model *model, struct dwell_error *error);

const struct dw_source *dw_model_source(const struct dw_model *model);
/* The thread's name in views and for --thread: "resnet18"; with several processes "rank 0 python";
 * with several threads of that name "worker [4713]". */
void dw_model_thread_name(const struct dw_model *model, uint32_t thread, char *room, size_t size);
/* Whether another thread of its process has the same name, so that the tid must be shown. */
bool dw_model_has_namesake(const struct dw_model *model, uint32_t thread);
const struct dw_scope *dw_model_scope(const struct dw_model *model);
/* dw_model_is_partial(): only part of the time is in scope. dw_model_has_step(): the step is in
 * scope. */
bool dw_model_is_partial(const struct dw_model *model);
bool dw_model_has_step(const struct dw_model *model, const struct dw_source_step *step);

/* Returns the merged symbols, and their number in *count, which may be NULL. */
const struct dw_symbol *dw_model_symbols(struct dw_model *model, size_t *count);
/* Symbols with one category and name have one row, below the number of symbols. */
uint32_t dw_model_symbol_row(const struct dw_model *model, uint32_t symbol);
/* The first symbol of a row. */
uint32_t dw_model_row_symbol(const struct dw_model *model, uint32_t row);
