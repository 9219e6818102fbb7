/*
 * struct dw_model itself, for the files of src/model.
 *
 *   core/    the model and its scope; what every product stands on: symbols, walk.h (a stream's
 *            records in order), pass.h (the stack of open ranges), segments (pieces of streams
 *            for several workers), tally (durations of many calls), call_paths, events
 *   time/    profile by name, call tree, calls, functions, threads, FLOPs, data loading
 *   steps/   each step and its division into shares
 *   memory/, layers/, sequence/, engine/   the products of these names
 *
 * Products are computed in ticks of a file and converted once, when they are done.
 */
#ifndef DW_MODEL_CORE_MODEL_DATA_H
#define DW_MODEL_CORE_MODEL_DATA_H

#include "base/arena.h"
#include "base/whole.h"
#include "model/core/intervals.h"
#include "model/core/model.h"
#include "model/core/symbols.h"

#define DW_MOST_DEPTH (1u << 20) /* open ranges of a stream; deeper ones are not told apart */

struct dw_product_result;

struct dw_model {
	struct dw_model *whole;       /* the one that dw_model_create() made: itself, or its owner */
	struct dw_model *parts;       /* of the whole one: those of dw_model_within() */
	struct dw_model *next_part;
	struct dw_scope scope;        /* its texts are the arena's */
	struct dw_arena arena;

	/* Of the run, whatever the scope: the whole model's memory. */
	const struct dw_source *source;
	struct dw_symbol *symbols;    /* merged */
	uint32_t symbol_count;
	uint32_t **symbol_by_id;      /* by file, then id */
	uint32_t *symbol_row;         /* by merged symbol: its row by name */
	uint32_t *row_symbol;         /* by row: its first symbol */
	uint32_t row_count;
	struct dw_op **ops;           /* by file, then id: rows by name */

	bool *namesakes;              /* by thread: another one of its process has its name */
	size_t *stream_order;         /* large ones first */
	size_t segment_chunks;        /* for tests: chunks of a segment; 0: as many as are worth it */

	/* Of the scope. */
	bool *wanted_threads;         /* NULL: all */
	bool *wanted_streams;         /* by stream: a wanted thread began in it; NULL: all */
	struct dw_interval **intervals; /* by process; NULL: all times */
	struct dw_interval **thread_intervals; /* by thread, within those; NULL: they hold for all */

	struct dw_product_result *results; /* product.h */
};

/* Ticks of a file to ticks of the first one: 1 where rates differ by less than a tally tells. */
static inline double dw_file_ratio(const struct dw_source *source, size_t file)
{
	double ratio = source->files[file].clock.ns_per_tick / source->files[0].clock.ns_per_tick;

	return ratio > 0.999999 && ratio < 1.000001 ? 1.0 : ratio;
}

/* Ticks of a file as ticks of the first one. */
static inline uint64_t dw_file_scale(uint64_t ticks, double ratio)
{
	return ratio == 1 ? ticks : dw_whole((double)ticks * ratio);
}

int dw_model_no_memory(const struct dw_model *model, struct dwell_error *error);

#endif
