/*
 * The parts of an overview: overview.c puts them together, overview_parts.c makes the
 * tables, overview_verdict.c the advice; what they must agree on stands here.
 */
#ifndef DW_VIEWS_OVERVIEW_H
#define DW_VIEWS_OVERVIEW_H

#include "views/views.h"

struct dw_overview {
	struct dw_model *model, *inside; /* inside: of its steps; NULL without steps */
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	const struct dw_steps *steps;    /* NULL without steps */
	const struct dw_flat *flat;      /* of all time: records, wall */
	double cost_share;               /* of wall, spent on recording; NaN: not known */
};

/* A part hangs itself on `table`'s end; NULL when there is nothing to show or no memory. */
struct dw_table *dw_overview_breakdown(const struct dw_overview *overview,
                                       struct dwell_error *error);
struct dw_table *dw_overview_wall(const struct dw_overview *overview, struct dwell_error *error);
struct dw_table *dw_overview_names(const struct dw_overview *overview, struct dwell_error *error);

/* What to look at first: sentences above `table`; of steps. */
void dw_overview_verdict(struct dw_table *table, const struct dw_overview *overview);
/* Whether a device computed whose time is not in the trace. */
bool dw_overview_blind(const struct dw_overview *overview);

#endif
