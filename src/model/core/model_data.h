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

#include "model/model.h"

#define DW_MOST_DEPTH (1u << 20) /* open ranges of a stream; deeper ones are not told apart */

/* What a record's id means to the products, by file and id: read on the hot path. */
struct dw_op {
	uint32_t row;  /* by name: see dw_model.row_symbols */
	uint32_t kind; /* self excludes children of the same kind; 1..DW_KINDS - 1 */
};
#define DW_KINDS 32u

/* stack_functions.c: functions of recorded stacks as symbols. */
struct dw_functions {
	struct dw_symbol *symbols; /* first those of the model */
	uint32_t **by_frame;       /* by file, then frame id: where its functions begin in `list` */
	uint32_t *list;            /* symbols, a frame's innermost first */
};
/* In the model's arena; false when out of memory. */
bool dw_functions_init(struct dw_functions *functions, struct dw_model *model);

/* The symbol of what is more than a product keeps apart. */
#define DW_OTHER_CALLS 1u

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

/* symbols.c */
int dw_symbols_merge(struct dw_model *model);
uint32_t dw_kind_of(uint32_t category);
/* Names of kinds of time by well-known name; DW_SHARE_COUNT: none. */
enum dw_share dw_share_of(const struct dw_symbol *symbol);

/* scope.c */
int dw_scope_resolve(struct dw_model *model, struct dwell_error *error);
/* Which threads need their tid to be told apart. -1: out of memory. */
int dw_scope_find_namesakes(struct dw_model *model);
static inline bool dw_scope_is_all(const struct dw_model *model)
{
	return !model->wanted_threads && !model->intervals;
}
/* Whether any record of the stream can be in scope. */
bool dw_scope_has_stream(const struct dw_model *model, const struct dw_source_stream *stream);
/* The process's wall time in scope. */
uint64_t dw_scope_wall_ns(const struct dw_model *model);

/* Ticks of a file to ticks of the first one: 1 where rates differ by less than a tally tells. */
static inline double dw_file_ratio(const struct dw_source *source, size_t file)
{
	double ratio = source->files[file].clock.ns_per_tick / source->files[0].clock.ns_per_tick;

	return ratio > 0.999999 && ratio < 1.000001 ? 1.0 : ratio;
}

int dw_model_no_memory(const struct dw_model *model, struct dwell_error *error);

/* The one that has most steps of each process, or DW_NO_INDEX, by process. */
const uint32_t *dw_step_threads(struct dw_model *model);

#endif
