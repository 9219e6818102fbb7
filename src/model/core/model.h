/*
 * A model: a run in a scope.
 *
 * A model has one scope. dw_model_within() returns the model of another scope of the same run,
 * with the same symbols: it belongs to the first one, and equal scopes are the same model.
 * Everything that a model returns is the model's and ends with dw_model_destroy(). A model
 * belongs to one thread; products that it computes use all cores.
 */
#ifndef DW_MODEL_CORE_MODEL_H
#define DW_MODEL_CORE_MODEL_H

#include "dwell/probe.h" /* categories */
#include "read/source.h"

struct dw_scope {
	bool has_steps;
	uint64_t steps_from, steps_to; /* ranges count that begin inside one of these steps */
	const bool *steps_counted;     /* with has_steps: of those only these, by step of the
	                                * source; it outlives the model. NULL: all */
	bool step_threads;             /* ranges count of threads that step */
	const char *thread;            /* name or tid; NULL: all */
	/* Ranges count that begin while one of these profiles is open, in its thread or in
	 * one that has no profile of its own open then; in its process or a child. */
	const char *profile;           /* by name or id; NULL: all times */
	uint32_t profile_id;           /* by id alone; 0: all */
	/* Ranges count that begin in this window, by the run's time line; of the above with
	 * `thread` alone. */
	bool has_window;
	uint64_t from_ns, to_ns;
	/* Ranges count that begin within this action of their thread, or of their process
	 * where the thread has no actions at all. */
	const char *action;            /* NULL: all times */
};

struct dw_model;

/* `scope` NULL: everything. The source must outlive the model; the texts of the scope are copied. */
int dw_model_create(struct dw_model **model, const struct dw_source *source,
                    const struct dw_scope *scope, struct dwell_error *error);
/* Of a model that dw_model_create() made; with it end those of dw_model_within(). */
void dw_model_destroy(struct dw_model *model);

/*
 * The same run in another scope, which is all of it and no change of the model's own scope.
 * *part is the model itself where the scopes are equal; otherwise it is made once, and valid
 * until `model` is destroyed or *part forgotten.
 */
int dw_model_within(struct dw_model *model, const struct dw_scope *scope, struct dw_model **part,
                    struct dwell_error *error);
/* For callers that go through very many scopes: frees what dw_model_within() made now. A model
 * of dw_model_create() is left as it is. */
void dw_model_forget(struct dw_model *part);

const struct dw_source *dw_model_source(const struct dw_model *model);
/* As views call it and --thread takes it: "resnet18", of several processes "rank 0 python",
 * of several threads of that name "worker [4713]". */
void dw_model_thread_name(const struct dw_model *model, uint32_t thread, char *room, size_t size);
/* Whether another thread of its process has its name: then the tid tells them apart. */
bool dw_model_has_namesake(const struct dw_model *model, uint32_t thread);
const struct dw_scope *dw_model_scope(const struct dw_model *model);
/* Whether only part of the time is in scope; and whether a step is. */
bool dw_model_is_partial(const struct dw_model *model);
bool dw_model_has_step(const struct dw_model *model, const struct dw_source_step *step);

/* Merged names; *count of them (count may be NULL). */
const struct dw_symbol *dw_model_symbols(struct dw_model *model, size_t *count);

#endif
