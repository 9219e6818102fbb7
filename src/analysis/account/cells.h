/* The cells of an account while it is made. Only for this folder. */
#pragma once

#include "account/account.h"
#include "account/look.h"
#include "account/parts.h"
#include "base/arena.h"
#include "base/map.h"

/* A function in a cell. */
struct dw_cells_entry {
	uint32_t cell, seen; /* `seen`: the number of the last sample that counted it */
	struct dw_account_place place;
};

/* The time of an entry at one line. */
struct dw_cells_line {
	uint32_t entry, line;
	double ns;
};

/* A package of Python that the thread imports. */
struct dw_cells_package {
	const char *name;
	double ns;
};

/* All zero with `to` and `arena` is empty. */
struct dw_cells {
	struct dw_account *to;
	struct dw_arena *arena; /* of places, and of packages' names */
	struct dw_cells_package *packages;
	size_t package_count, package_capacity;
	size_t capacity;
	struct dw_cells_entry *entries;
	struct dw_cells_line *lines;
	size_t entry_count, entry_capacity, line_count, line_capacity;
	struct dw_map by_key, by_entry, by_line;
	double *scales;      /* by cell, of its places; NULL: all are 1 */
	size_t scale_count;
	uint32_t number; /* of the sample */
	bool failed;     /* memory ran out */
};

void dw_cells_reset(struct dw_cells *cells);
/* Adds the time that a row of samples stands for. */
void dw_cells_add_sample(struct dw_cells *cells, const struct dw_account_part *part, const struct dw_look *look,
                         enum dw_account_state state, const struct dw_sample_row *row, double ns);
/* Adds time that no sample divides. */
void dw_cells_add_rest(struct dw_cells *cells, const struct dw_account_part *part, enum dw_account_state state,
                       enum dw_activity activity, double ns);
/* Multiplies the time of a cell. No sample is added to it later. */
void dw_cells_scale(struct dw_cells *cells, size_t cell, double by);
/* Gives the cells their largest places, and imports the largest packages, and sorts the cells. */
void dw_cells_finish(struct dw_cells *cells);
