/*
 * struct dw_model itself, for the files of src/model.
 *
 *   core/    the model and its scope, and what all products are based on: symbols, walk.h (a
 *            stream's records in order), pass.h (the stack of open ranges), segments (pieces of
 *            streams for several workers), tally (durations of many calls), call_paths, events
 *   time/    profile by name, call tree, calls, functions, threads, FLOPs, data loading
 *   steps/   each step and its division into shares
 *   memory/, layers/, sequence/, engine/, collectives/   the products of these names
 *   joint/   several products in one walk
 *
 * Products are computed in ticks of a file and converted once, at the end.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/numbers.h"
#include "model/core/intervals.h"
#include "model/core/model.h"
#include "model/core/symbols.h"

#define DW_MOST_DEPTH (1u << 20) /* most open ranges of a stream; deeper ones are only counted */

struct dw_product;
struct dw_product_result;

struct dw_model {
	struct dw_model *whole;       /* the model that dw_model_create() made: itself or its owner */
	struct dw_model *parts;       /* of the whole model: the models of dw_model_within() */
	struct dw_model *next_part;
	struct dw_scope scope;        /* its texts are in the arena */
	struct dw_arena arena;

	/* The same for all scopes of the run; in the memory of the whole model. */
	const struct dw_source *source;
	struct dw_symbol *symbols;    /* merged */
	uint32_t symbol_count;
	uint32_t **symbol_by_id;      /* by file, then id */
	uint32_t *symbol_row;         /* by merged symbol: its row in the profile by name */
	uint32_t *row_symbol;         /* by row: its first symbol */
	uint32_t row_count;
	struct dw_op **ops;           /* by file, then id: row and kind */

	bool *namesakes;              /* by thread: another thread of its process has its name */
	size_t *stream_order;         /* indexes of the streams, largest first */
	size_t segment_chunks;        /* for tests: chunks of a segment; 0: chosen by size */
	uint32_t **visits;            /* for tests, by stream and chunk: how often a walk has visited it;
	                               * NULL: not counted. In the whole model. */
	bool met_gap;                 /* a walk met a place where records are missing. In the whole model */

	/* Of this scope. */
	bool *wanted_threads;         /* by thread; NULL: all */
	bool *wanted_streams;         /* by stream: a wanted thread began in it; NULL: all */
	struct dw_interval **intervals; /* by process; NULL: all times */
	struct dw_interval **thread_intervals; /* by thread, replaces `intervals`; NULL: `intervals`
	                                        * is valid for all threads */

	struct dw_product_result *results; /* see product.h */
	const struct dw_product *computing; /* of the whole model: the product that is computed now */
	const struct dw_product_result *lent; /* those of the model that this one was made beside, or of one with other steps: */
	bool lent_of_records;                 /* then only what no step changes counts */
};

/* Factor from ticks of a file to ticks of the first one; 1 if the rates differ by less than 1e-6,
 * which is less than the precision of a tally. */
static inline double dw_file_ratio(const struct dw_source *source, size_t file)
{
	double ratio = source->files[file].clock.ns_per_tick / source->files[0].clock.ns_per_tick;

	return ratio > 0.999999 && ratio < 1.000001 ? 1.0 : ratio;
}

/* Converts ticks of a file to ticks of the first one. */
static inline uint64_t dw_file_scale(uint64_t ticks, double ratio)
{
	return ratio == 1 ? ticks : dw_whole((double)ticks * ratio);
}

static inline int dw_model_no_memory(const struct dw_model *model, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOMEM, "out of memory analysing %s", model->source->files[0].path);
}
