/*
 * Engines from inside: what engine.c (the product), engine_names.c (who is who in the
 * dictionary) and engine_walk.c (times out of records) share.
 */
#ifndef DW_MODEL_ENGINE_ENGINE_NAMES_H
#define DW_MODEL_ENGINE_ENGINE_NAMES_H

#include "model/engine/engine.h"
#include "model/core/model_data.h"

enum dw_engine_role {
	DW_ENGINE_NOTHING,
	DW_ENGINE_RUN,
	DW_ENGINE_NESTED_RUN,
	DW_ENGINE_ROW,
	DW_ENGINE_FETCH,      /* a row: counts when a batch was there */
	DW_ENGINE_START,      /* a row: a run starts */
	DW_ENGINE_BATCH,      /* a row: a batch is there */
	DW_ENGINE_ITERATION,  /* counters */
	DW_ENGINE_EPOCH,
};

/* What a symbol means. */
struct dw_engine_place {
	uint32_t role;
	uint32_t engine; /* index */
	uint32_t row;
};

struct dw_engines {
	struct dw_engine *engines; /* as the dictionary has them */
	size_t count;
	struct dw_engine_place *places; /* by merged symbol */
	const char **names;             /* outermost first; engine.c makes them */
};

static inline size_t dw_engine_row_count(const struct dw_engine *engine)
{
	return DW_ENGINE_EVENTS + engine->event_count + engine->handler_count;
}

/* engine_names.c. Fills zeroed engines, with nothing counted yet. False: out of memory. */
bool dw_engines_name(struct dw_model *model, struct dw_engines *engines);

/* engine_walk.c */
struct dw_engine_visitor {
	void *context;
	/* A time of `row`; `run` counts from 1 and 0 is a run whose start is not there. */
	void (*time)(void *context, const struct dw_source_file *file, uint32_t engine,
	             const struct dw_engine_time *time, uint64_t ticks);
	void (*run)(void *context, const struct dw_source_file *file, uint32_t engine, bool nested,
	            uint64_t ticks);
	void (*open)(void *context, uint32_t engine);
	void (*stream)(void *context, const struct dw_source_file *file); /* one has ended */
};
/* -1: out of memory. */
int dw_engines_walk(struct dw_model *model, const struct dw_engines *engines,
                    const struct dw_engine_visitor *visitor);

#endif
