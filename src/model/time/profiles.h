/*
 * Profiles: calls, self and total time by name and by call path.
 *
 *   flat    by (category, name), or by symbol, with percentiles
 *   tree    by call path and thread
 *   paths   more call paths, without percentiles, for pictures; recorded stacks too
 *
 * Self excludes children of the same kind; total is inclusive time, of a call within
 * another one of the same row only that of the outer one. Sums are kept in ticks and
 * converted once, so that parts add up to the whole.
 */
#ifndef DW_MODEL_TIME_PROFILES_H
#define DW_MODEL_TIME_PROFILES_H

#include "model/core/model.h"
#include "model/core/stat.h"

struct dw_flat_row {
	uint32_t symbol;    /* index into dw_model_symbols(): the first of those in the row */
	struct dw_stat stat;
};

struct dw_flat {
	struct dw_flat_row *rows; /* by self time, descending */
	size_t count;
	uint64_t wall_ns;         /* of the scope */
	uint64_t records;         /* of all categories */
	uint64_t ranges, open;    /* of all categories */
	uint64_t orphans;         /* ends whose begin was recycled or lost: counted nowhere else */
	uint64_t last_ns;         /* of the last record */
};

struct dw_tree_node {
	uint32_t symbol;
	uint32_t thread;    /* index into source threads; roots are threads: symbol == DW_NO_INDEX */
	uint32_t parent;    /* index or DW_NO_INDEX */
	uint32_t depth;
	struct dw_stat stat; /* self here excludes all children: what flame graphs draw */
};

struct dw_tree {
	struct dw_tree_node *nodes; /* depth first, siblings by total descending; a root has a
	                             * total only */
	size_t count;
};

/* Call paths without percentiles: small, and as many as a picture can have. */
enum dw_paths_of {
	DW_PATHS_CALLS,  /* of all ranges, as in the tree */
	DW_PATHS_STACKS, /* of operators, below the recorded stack of the outermost one */
	DW_PATHS_KINDS
};

struct dw_path {
	uint64_t total_ns, self_ns; /* a root has a total only */
	uint32_t count;
	uint32_t symbol;     /* index into dw_paths.symbols; of a root: into source threads */
	uint32_t depth;      /* 0: a root, which is a thread; a path's parent is the last one above */
};

struct dw_paths {
	struct dw_path *nodes; /* depth first, siblings by total descending */
	size_t count;
	const struct dw_symbol *symbols; /* those of the model; of stacks, functions too */
	bool has_stacks;       /* some operator has one; of DW_PATHS_STACKS */
};

/* What makes two calls the same: a row is all calls of one name and category,
 * or of one symbol (shapes and call site apart). */
enum dw_by { DW_BY_NAME, DW_BY_SYMBOL };
const struct dw_flat *dw_model_flat_by(struct dw_model *model, uint32_t categories, enum dw_by by,
                                       struct dwell_error *error);

/* By name. `categories` is a mask of 1 << enum dwell_category. */
const struct dw_flat *dw_model_flat(struct dw_model *model, uint32_t categories,
                                    struct dwell_error *error);
const struct dw_tree *dw_model_tree(struct dw_model *model, struct dwell_error *error);
const struct dw_paths *dw_model_paths(struct dw_model *model, enum dw_paths_of of,
                                      struct dwell_error *error);

/* Which categories occur at all, as a mask; marks, counters and allocations too. */
uint32_t dw_model_categories(struct dw_model *model);

/* What was torn and what was recovered, as sentences with their numbers (the
 * source's own repairs lack those: they would need a pass). NULL: out of memory. */
const char *const *dw_model_repairs(struct dw_model *model, size_t *count);

#endif
