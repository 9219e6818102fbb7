/*
 * Interface between the parts of the overview: overview.c combines them, overview_parts.c makes the
 * tables, verdict.c and verdict_memory.c find the bottlenecks, cost.c estimates the cost of
 * recording.
 */
#ifndef DW_VIEWS_OVERVIEW_H
#define DW_VIEWS_OVERVIEW_H

#include "views/common.h"

/* A bottleneck of the steps, with the share of time that removing it could save. */
struct dw_verdict {
	const char *kind; /* "data", "communication", "collector", "python", "small operators",
	                   * "one operator", "idle", "nameless", "memory growth", "compute" */
	double share;     /* of a step; of memory growth: of the peak */
	char what[256];   /* a sentence */
	char hint[256];   /* what to try, or "" */
};
#define DW_VERDICTS 10u

struct dw_overview {
	/* Models of the counted steps, NULL without steps: restricted to the threads with steps, and of
	 * all threads. They are the same if no other thread recorded anything. */
	struct dw_model *model, *inside, *inside_all;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	const struct dw_steps *steps;    /* NULL without steps */
	const struct dw_flat *flat;      /* profile by name of the whole trace */
	uint64_t wall_ns;                /* includes time after the last record that was kept */
	double cost_share;               /* cost of recording as a share of a step, or without steps of
	                                  * the busiest thread's time; NaN: unknown */
	double cost_ns;                  /* per step */
	double delay_share;              /* share of the run in which the main thread waited for a
	                                  * CPU */
	bool has_shapes;                 /* at least one operator has shapes */
	struct dw_verdict verdicts[DW_VERDICTS];
	int verdict_count;
};

/* Estimates the cost of recording, if enough is known (cost.c). */
void dw_overview_cost(struct dw_overview *overview, struct dwell_error *error);

/* Whether the program used a device whose work was not recorded. If so, operators' times are those
 * of launching work and waiting for it. */
bool dw_overview_device_unseen(const struct dw_overview *overview);

/* Fills the verdicts, most important first. Returns their number, which is 0 without recorded
 * steps, or -1 with `error` if out of memory. */
int dw_overview_verdicts(const struct dw_overview *overview, struct dw_verdict verdicts[DW_VERDICTS],
                         struct dwell_error *error);

/* Returns 1 and the verdict if memory grows, 0 if not, -1 with `error` if out of memory. */
int dw_verdict_memory(const struct dw_overview *overview, bool python, struct dw_verdict *verdict,
                      struct dwell_error *error);

/* Each returns one part of the overview, or NULL if there is nothing to show or memory is out. */
struct dwell_table *dw_overview_breakdown(const struct dw_overview *overview,
                                          struct dwell_error *error);
struct dwell_table *dw_overview_wall(const struct dw_overview *overview, struct dwell_error *error);
struct dwell_table *dw_overview_names(const struct dw_overview *overview, struct dwell_error *error);

#endif
