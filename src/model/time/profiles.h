/*
 * Profiles: calls, self and total time by name and by call path.
 *
 *   flat    by (category, name), or by symbol, with percentiles
 *   tree    by call path and thread
 *   paths   more call paths, without percentiles, for pictures; also of recorded stacks
 *
 * Self time excludes children of the same kind. Total is inclusive time; a call inside another call
 * of the same row does not count again. Sums are computed in ticks and converted once, so that
 * parts add up to the whole.
 */
#pragma once

#include "model/core/model.h"
#include "model/core/stat.h"

struct dw_flat_row {
	uint32_t symbol;    /* index into dw_model_symbols(): the first symbol of the row */
	struct dw_stat stat;
};

struct dw_flat {
	struct dw_flat_row *rows; /* by self time, descending */
	size_t count;
	uint64_t wall_ns;         /* wall time of the scope */
	uint64_t records;         /* records of all categories */
	uint64_t ranges, open;    /* of all categories */
	uint64_t orphans;         /* ends whose begin was recycled or lost; they count nowhere else */
	uint64_t last_ns;         /* time of the last record */
};

struct dw_tree_node {
	uint32_t symbol;
	uint32_t thread;    /* index into the source's threads; a root is a thread and has symbol
	                     * DW_NO_INDEX */
	uint32_t parent;    /* index or DW_NO_INDEX */
	uint32_t depth;
	struct dw_stat stat; /* self time excludes all children, as flame graphs do */
};

struct dw_tree {
	struct dw_tree_node *nodes; /* depth first, siblings by total descending; a root has only a
	                             * total */
	size_t count;
};

/* Call paths without percentiles: small, so that a picture can have many. */
enum dw_paths_of {
	DW_PATHS_CALLS,  /* all ranges, as in the tree */
	DW_PATHS_STACKS, /* operators, below the recorded stack of the outermost one */
	DW_PATHS_KINDS
};

struct dw_path {
	uint64_t total_ns, self_ns; /* a root has only a total */
	uint32_t count;
	uint32_t symbol;     /* index into dw_paths.symbols; of a root: into the source's threads */
	uint32_t depth;      /* 0: a root, which is a thread. The parent of a path is the last one
	                      * before it with a smaller depth */
};

struct dw_paths {
	struct dw_path *nodes; /* depth first, siblings by total descending */
	size_t count;
	const struct dw_symbol *symbols; /* the model's symbols; for stacks followed by functions */
	size_t symbol_count;
	bool has_stacks;       /* some operator has a stack; only for DW_PATHS_STACKS */
	bool of_samples;       /* times are CPU times, counts are samples */
	bool of_waits;         /* of_samples, but times are times of waiting */
};

/* Which calls share a row: all calls of one name and category, or all calls of one symbol (shapes
 * and call sites distinguish rows). */
enum dw_by { DW_BY_NAME, DW_BY_SYMBOL };
const struct dw_flat *dw_model_flat_by(struct dw_model *model, uint32_t categories, enum dw_by by,
                                       struct dwell_error *error);

/* By name. `categories` is a mask of 1 << enum dwell_category. */
const struct dw_flat *dw_model_flat(struct dw_model *model, uint32_t categories, struct dwell_error *error);
const struct dw_tree *dw_model_tree(struct dw_model *model, struct dwell_error *error);
const struct dw_paths *dw_model_paths(struct dw_model *model, enum dw_paths_of of, struct dwell_error *error);

/* Asynchronous ranges occur. They have the categories of other ranges. */
#define DW_CATEGORIES_ASYNC (1u << 31)
/* The categories that occur, as a mask; including marks, counters, flows and allocations. */
uint32_t dw_model_categories(struct dw_model *model);

/* What was damaged and what was recovered, as sentences with numbers. The source's own sentences
 * have no numbers, because counting needs a pass. NULL: out of memory. */
const char *const *dw_model_repairs(struct dw_model *model, size_t *count);
