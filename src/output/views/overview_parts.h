/*
 * Interface between the parts of the overview: overview.c combines them, overview_parts.c makes the
 * tables. The verdicts are those of verdict.h.
 */
#pragma once

#include "views/verdict.h"

struct dw_overview {
	/* Models of the counted steps, NULL without steps: restricted to the threads with steps, and of
	 * all threads. They are the same if no other thread recorded anything. */
	struct dw_model *model, *inside, *inside_all;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	const struct dw_steps *steps;    /* NULL without steps */
	const struct dw_flat *flat;      /* profile by name of the whole trace */
	uint64_t wall_ns;                /* includes time after the last record that was kept */
	struct dw_facts_cost cost;       /* what recording cost */
	bool has_ends;                   /* a table has the time before and after the loop */
	bool has_start;                  /* a sentence has the time before it */
	bool delay_known;
	double delay_share;              /* share of the run in which the main thread waited for a
	                                  * CPU */
	double nameless_share;           /* without steps: of the main thread's wall time, in no range;
	                                  * set by dw_overview_wall() */
	const char *step_candidates;     /* without steps: functions that may be one; or NULL */
	const char *step_range;          /* without steps: a range of the main thread that recurs, which may be one; or
	                                  * NULL. Set by dw_overview_wall(), with its count. */
	uint64_t step_range_count;
	bool has_shapes;                 /* at least one operator has shapes */
	const struct dw_facts *facts;    /* NULL without steps */
	struct dw_verdicts verdicts;
	struct dw_arena texts;           /* of the verdicts */
};

#define DW_OVERVIEW_NAMED 0.002   /* of the run: what takes less is not named above the tables */
#define DW_OVERVIEW_ROWS 5u /* of a list by name, in text */
#define DW_OVERVIEW_NOTHING 0.0005 /* of a whole: "0.0%" is no row */

/* Whether a time of the threads with steps is named above the tables. */
static inline bool dw_overview_is_named(uint64_t ns, const struct dw_steps *steps)
{
	return ns && (double)ns >= DW_OVERVIEW_NAMED * (double)steps->wall_ns;
}

/* Says below the tables what is not recorded, what is lost, what recording cost, and who had the CPUs; `first` has the
 * gaps (overview_trust.c). */
void dw_overview_say_trust(struct dwell_table *table, const struct dwell_table *first, const struct dw_overview *overview);

/* ---- what else is said below the tables (overview_notes.c) ---- */

const struct dw_step *dw_overview_slowest_step(const struct dw_steps *steps); /* NULL: none ended */
/* With steps: the time before and after the loop, and the slowest step. */
void dw_overview_note_outside(struct dwell_table *table, const struct dw_overview *overview);
void dw_overview_note_slowest(struct dwell_table *table, const struct dw_overview *overview);
void dw_overview_note_end(struct dwell_table *table, const struct dw_overview *overview);
/* The commands to go on with. */
void dw_overview_say_next(struct dwell_table *table, const struct dw_overview *overview);

/* Says that threads of a team spin, with what helps (overview_teams.c). */
void dw_overview_head_teams(struct dwell_table *table, const struct dw_overview *overview);

/* Each returns one part of the overview, or NULL if there is nothing to show or memory is out. */
struct dwell_table *dw_overview_breakdown(const struct dw_overview *overview, struct dwell_error *error);
/* What the parts of a step are displayed like, and so the mean step; without parts like the mean of iterations. */
double dw_overview_like(const struct dw_overview *overview);
struct dwell_table *dw_overview_wall(struct dw_overview *overview, struct dwell_error *error);
struct dwell_table *dw_overview_names(const struct dw_overview *overview, struct dwell_error *error);

extern const struct dw_column_list dw_overview_breakdown_columns, dw_overview_wall_columns, dw_overview_names_columns,
	dw_overview_device_columns, dw_overview_kernels_columns, dw_overview_account_columns, dw_overview_ends_columns,
	dw_overview_hot_columns;

/* What the loop does in turn, and what happens in it once in many steps (overview_phases.c). */
void dw_overview_note_phases(struct dwell_table *table, const struct dw_overview *overview);

/* ---- of devices (overview_device.c): with steps; without steps, a sentence for each device and a table ---- */

struct dwell_table *dw_overview_device(const struct dw_overview *overview, struct dwell_error *error);
/* Says how much of the time devices were recorded, if that was in bursts. */
void dw_overview_head_bursts(struct dwell_table *table, const struct dw_overview *overview);
void dw_overview_head_devices(struct dwell_table *table, const struct dw_overview *overview);
struct dwell_table *dw_overview_kernels(const struct dw_overview *overview, struct dwell_error *error);

/* account.c: the account of the loop's thread. */
struct dwell_table *dw_overview_account(const struct dw_overview *overview, struct dwell_error *error);

/* ---- what was done before and after the loop, if it is less than half of the run (overview_ends.c) ---- */

/* Of a program without steps that failed: how, and what it did until then. */
void dw_overview_head_failed(struct dwell_table *table, const struct dw_overview *overview);
struct dwell_table *dw_overview_ends(const struct dw_overview *overview, struct dwell_error *error);

/* ---- from samples, without steps (overview_hot.c) ---- */

/* "; 373 samples stand for 3.73 s of CPU time", or "". */
void dw_overview_write_samples(const struct dw_overview *overview, char *to, size_t size);
/* ", 1.0 of 2 CPUs in use", or "". */
void dw_overview_write_cpus(const struct dw_overview *overview, char *to, size_t size);
void dw_overview_head_hot(struct dwell_table *table, struct dw_overview *overview);
/* Why there are no samples, if there is a reason. */
bool dw_overview_head_lacks(struct dwell_table *table, const struct dw_overview *overview);
/* The same, or that the program used too little CPU time. */
void dw_overview_head_unsampled(struct dwell_table *table, const struct dw_overview *overview);
struct dwell_table *dw_overview_hot(const struct dw_overview *overview, struct dwell_error *error);
