/*
 * The parts of an overview: overview.c puts them together, overview_parts.c makes the
 * tables, and what both must agree on stands here.
 */
#ifndef DW_VIEWS_OVERVIEW_H
#define DW_VIEWS_OVERVIEW_H

#include "views/common.h"

/* What stands in the way of a step, by how much of it there is to gain. */
struct dw_verdict {
	const char *kind; /* "data", "communication", "collector", "python", "small operators",
	                   * "one operator", "idle", "nameless", "memory growth", "compute" */
	double share;     /* of a step; of memory growth: of the peak */
	char what[256];   /* a sentence */
	char hint[256];   /* what to try, or "" */
};
#define DW_VERDICTS 10u

struct dw_overview {
	/* Of its counted steps, NULL without steps: the threads that step, and all threads (the
	 * same where no other thread recorded anything). */
	struct dw_model *model, *inside, *inside_all;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	const struct dw_steps *steps;    /* NULL without steps */
	const struct dw_flat *flat;      /* of all time: records */
	uint64_t wall_ns;                /* also of the time after the last record that fit */
	double cost_share;               /* spent on recording: of a step, without steps of the
	                                  * busiest thread's time; NaN: not known */
	double cost_ns;                  /* a step */
	double delay_share;              /* of the run the main thread waited for a CPU */
	bool has_shapes;                 /* some operator has */
	struct dw_verdict verdicts[DW_VERDICTS];
	int verdict_count;
};

/* What recording cost, as far as it is known (cost.c). */
void dw_overview_cost(struct dw_overview *overview, struct dwell_error *error);

/* The program used a device, and nothing of what that did was recorded: then operators'
 * times are those of launching and waiting. */
bool dw_overview_device_unseen(const struct dw_overview *overview);

/* The first one is the verdict; how many there are, none without recorded steps; -1 with
 * `error` when out of memory. */
int dw_overview_verdicts(const struct dw_overview *overview, struct dw_verdict verdicts[DW_VERDICTS],
                         struct dwell_error *error);

/* Whether memory grows: 1 and the verdict, 0, or -1 with `error` when out of memory. */
int dw_verdict_memory(const struct dw_overview *overview, bool python, struct dw_verdict *verdict,
                      struct dwell_error *error);

/* A part hangs itself on `table`'s end; NULL when there is nothing to show or no memory. */
struct dwell_table *dw_overview_breakdown(const struct dw_overview *overview,
                                          struct dwell_error *error);
struct dwell_table *dw_overview_wall(const struct dw_overview *overview, struct dwell_error *error);
struct dwell_table *dw_overview_names(const struct dw_overview *overview, struct dwell_error *error);

#endif
