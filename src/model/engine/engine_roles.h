/*
 * Which engines a trace has, and what each symbol is to them, by the names in its dictionary.
 */
#ifndef DW_MODEL_ENGINE_ENGINE_ROLES_H
#define DW_MODEL_ENGINE_ENGINE_ROLES_H

#include "model/core/model_data.h"
#include "model/engine/engine.h"

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
	const char **names;             /* outermost first; engine.c fills them in */
};

static inline size_t dw_engine_row_count(const struct dw_engine *engine)
{
	return DW_ENGINE_EVENTS + engine->event_count + engine->handler_count;
}

/* Fills zeroed engines, with nothing counted yet. False: out of memory. */
bool dw_engines_name(struct dw_model *model, struct dw_engines *engines);

#endif
