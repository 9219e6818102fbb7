/*
 * Finds the engines of a trace, and the role of each symbol, by the names in the dictionary.
 */
#pragma once

#include "model/core/model_data.h"
#include "model/engine/engine.h"

enum dw_engine_role {
	DW_ENGINE_NOTHING,
	DW_ENGINE_RUN,
	DW_ENGINE_NESTED_RUN,
	DW_ENGINE_ROW,
	DW_ENGINE_FETCH,      /* a row: counts if a batch follows */
	DW_ENGINE_START,      /* a row: a run starts */
	DW_ENGINE_BATCH,      /* a row: the fetch got a batch */
	DW_ENGINE_ITERATION,  /* counters */
	DW_ENGINE_EPOCH,
};

/* The role of a symbol. */
struct dw_engine_place {
	uint32_t role;
	uint32_t engine; /* index */
	uint32_t row;
};

struct dw_engines {
	struct dw_engine *engines; /* in the order of the dictionary */
	size_t count;
	struct dw_engine_place *places; /* by the model's merged symbols */
	const char **names;             /* longest runs first; set by engine_product.c */
};

static inline size_t dw_engine_row_count(const struct dw_engine *engine)
{
	return DW_ENGINE_EVENTS + engine->event_count + engine->handler_count;
}

/* Sets the engines, their rows and places; the times stay 0. `engines` must be zeroed. False when
 * out of memory. */
bool dw_engines_name(struct dw_model *model, struct dw_engines *engines);
