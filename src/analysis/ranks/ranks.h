/*
 * Comparison of ranks: which rank is slow, how much, in which part, and what the others wait for.
 *
 * Ranks of a synchronous job do the same steps, and each step takes as long as its slowest rank.
 * A step is from the end of the step before to its own end, as far as its communication is known. The work
 * of a rank is its step without communication. The rank with the most work arrives last,
 * and the others wait for it inside their communication. So work is compared, step by step: with
 * the median rank of the same step, which needs no common clock. With two ranks the faster one
 * stands for the median.
 *
 * Each part of a step is compared by itself, too (by_parts.c): what a rank takes longer in a short part is lost in the
 * noise of whole steps on a busy machine. If a part of the communication was not recorded, it is not known which part of
 * a step is work. Then whole steps and their named parts are compared.
 *
 * A rank is constantly slow if the median of its excess over steps is at least 2%, is more than
 * four of its standard errors, and is apart from what other ranks differ by. The same is asked of the last half of the
 * steps. A rank of which that is less certain may be slow, and is named with what it costs if no other is slow. Single steps in
 * which a rank takes much longer than usual are listed.
 */
#pragma once

#include <stdio.h>

#include "summary/summary.h"
#include "table/table.h"

/* Beyond the parts of a step. */
#define DW_RANKS_NONE SIZE_MAX
enum { DW_RANKS_BETWEEN = DW_PART_COUNT, DW_RANKS_NO_PART };
#define DW_RANKS_PARTS (DW_PART_COUNT + 1u)
#define DW_RANKS_SLOW_STEPS 20u /* that are listed */

struct dw_rank_result {
	const struct dw_summary_rank *rank;
	double steps;                              /* compared */
	double step_ns, work_ns, communication_ns; /* of its mean step */
	double wait_ns;                            /* of the mean step: for ranks with more work */
	double excess, excess_error; /* its work beyond the median rank's, as a ratio of that: the
	                              * median over steps, and its standard error */
	double last;                 /* share of the steps in which it has the most work */
	double delay_ns;   /* of the mean step: what it took beyond the median rank where it was last */
	bool slow;         /* constantly, or in the last half of the steps */
	uint64_t since;    /* in the last half only: the step from which on; excess is from there on, too. 0: not so */
	bool may;          /* not slow by what is asked of such a rank, but more than chance explains: it may be */
	bool by_part;      /* in the part alone */
	double part_excess, part_error; /* of that part, as shares of the mean step; without known waits, `excess` and its error
	                                 * are these */
	unsigned part;     /* the part with most of the excess: enum dw_part, DW_RANKS_BETWEEN or
	                    * DW_RANKS_NO_PART */
	double part_ns;    /* excess of that part in the mean step */
	const char *name;  /* operator or range with most of the excess, or NULL: none has, or more than 64
	                    * ranks are slower */
	double name_ns;
	const char *place; /* "train.py:41 and train.py:44": the lines between which most of the excess lies, or NULL */
	const char *function; /* "forward at net.c:31": where the part has no name, the program's function with most of the excess, by
	                       * samples; or NULL */
	double function_ns;
	bool function_waits;  /* it is longer there because it waits, and not because it computes */
	const char *layer; /* the same: its path */
	double layer_ns;
	double message_ns; /* of the mean step: blocked in messages to and from other ranks (pipeline.c) */
	double hidden_ns; /* of the mean step: a collective was under way while the rank worked; NaN: no
	                   * collectives are recorded */
};

/* The collectives of a group with one operation, over all its ranks. Times are of one rank in one
 * collective, in the mean. */
struct dw_collective_result {
	const char *group, *operation;
	size_t ranks;
	double count; /* of a rank, in the mean */
	double bytes; /* of a collective */
	double blocked_ns;
	/* Where arrivals of at least two ranks are known: */
	double compared;             /* collectives */
	double wait_ns, transfer_ns; /* of blocked_ns: until the last rank arrived, and afterwards */
	size_t last;                 /* the rank that arrived last most often: index of a result */
	double last_share;           /* in how many of the compared collectives */
};

/* A step, or the longest of several, in which a rank took much longer than usual. */
struct dw_slow_step {
	size_t result; /* index */
	uint64_t number;
	uint64_t ns;      /* its length */
	double excess_ns; /* work of the rank beyond the median rank's */
	size_t span;      /* index of its span; DW_RANKS_NONE: it is in none, and its part is known */
	unsigned part; /* as of a rank */
};

/* What a job that hangs waits for. */
struct dw_hang {
	bool found;
	const char *name;        /* the communication that ranks wait in */
	uint64_t ns;             /* for how long the first of them waits */
	size_t waiting, missing; /* ranks inside it; ranks that are elsewhere */
	uint64_t end_ns;         /* of the latest recording, in ns since 1970 */
	const char *group;       /* of the collective that they wait in; NULL: it is not known */
	const char *operation;
	uint64_t sequence;
	size_t unknown;          /* of the missing ones: their recording ends before the others began to wait */
	/* Ranks called different collectives under one number: that number, and the two operations. */
	uint64_t differ;         /* 0: they did not, as far as it is known */
	const char *operations[2];
};

/* The host of most slow ranks, or a pattern of the names of their hosts, as gpu-r03-n* (place.c). */
struct dw_ranks_place {
	char name[128]; /* "": none has more of them than chance explains */
	bool host;
	size_t slow, inside;      /* slow ranks: all, and those of the place */
	size_t ranks;             /* of the place, slow or not */
	size_t hosts, slow_hosts; /* of all ranks, and of the slow ones */
};

struct dw_ranks {
	struct dw_rank_result *results; /* as the ranks of the summary that are compared */
	size_t count;
	struct dw_slow_step *slow_steps; /* by excess, descending */
	size_t slow_step_count;
	bool waits_known;    /* where ranks wait for each other is in ranges of communication, in all ranks */
	double steps;        /* compared */
	uint64_t first_step; /* number of the first step of the first span */
	unsigned span_log2;  /* steps are compared in groups of 1 << span_log2 */
	double step_ns;      /* mean step of all ranks */
	double gain;         /* share of the step that would not be if each rank took as long as
	                      * the median rank */
	double *excess;      /* by result and span: the ratio; NaN: not compared */
	size_t span_count;
	const char
		*slow_host; /* each rank of this host works longer than all of other hosts; or NULL */
	struct dw_ranks_place place;
	double slow_host_excess; /* of the fastest of them, beyond the median of other hosts' ranks */
	struct dw_collective_result *collectives; /* by time, descending */
	size_t collective_count;
	double clock_error_ns;     /* of the arrivals of different hosts; 0: there is one host */
	size_t clock_collectives;  /* by which the clocks of hosts were aligned */
	double wait_ns, transfer_ns; /* of the mean step and rank, where both are known */
	bool pipeline;        /* the ranks are stages: each exchanges messages with those next to it */
	size_t longest_stage; /* the one with the most work: index of a result */
	double pipeline_gain; /* share of the step that would not be, if all stages had the work of the mean one; at most */
	struct dw_hang hang;
	size_t failed;       /* the rank that failed first: index of a result; DW_RANKS_NONE: none failed, as far as it is known */
	const char *unrecorded[DW_UNRECORDED_MOST]; /* sentences: by what ranks communicate that was not recorded */
	size_t unrecorded_count;
	const char **notes; /* sentences: what was not compared, or restricts the comparison */
	size_t note_count;
	struct dw_arena arena;
};

/* Compares the ranks of a finished summary, which is coarsened to common spans. False with `error`
 * if memory ran out or if there is nothing to compare. */
bool dw_ranks_compare(struct dw_ranks *ranks, struct dw_summary *summary, struct dwell_error *error);
void dw_ranks_reset(struct dw_ranks *ranks);

#define DW_RANKS_LEAST_EXCESS 0.02 /* of the median rank's work: smaller differences are not worth a look */
#define DW_RANKS_LEAST_ERRORS 4.0  /* standard errors: one of 64 equal ranks exceeds them in 0.2% of runs */
/* A robust standard deviation; replaces the values by their deviations. For files of this folder. */
double dw_ranks_spread(double *values, size_t count, double median);
/* The median of values, and its standard error. Changes their order. The same. */
double dw_ranks_median_error(double *values, size_t count, double *median);
/* The same of the lower quarter. Where there are too few values to know its error, that is infinite. */
double dw_ranks_quarter_error(double *values, size_t count, double *quarter);
/* Whether a rank with this excess is slow: `excess` and `error` of all ranks, as ratios. The same. */
struct dw_ranks_limit {
	double least_error, median, spread;
	double first, second; /* the largest excesses */
	double least_doubt; /* standard errors of a rank that may be slow: more, the more ranks are compared */
};
struct dw_ranks_limit dw_ranks_find_limit(const double *excess, const double *errors, size_t count, double *space);
bool dw_ranks_exceeds(const struct dw_ranks_limit *limit, double excess, double error);
/* How far the excess is beyond the limit of ranks that may be slow, as a ratio of that; below 1: it is not. The same. */
double dw_ranks_doubt(const struct dw_ranks_limit *limit, double excess, double error);
/* The span before which the excess was less than half of what it is from there on, where both differ most for their
 * number. 0: there is none. The same. */
size_t dw_ranks_slow_since(const double *excess, size_t count);
/* Finds ranks that are slow in a part, the parts of other slow ranks, and, where none is slow, one that may be. `limit` is
 * that of whole steps. False: memory ran out. For dw_ranks_compare(). */
bool dw_ranks_find_slow_parts(struct dw_ranks *ranks, const struct dw_ranks_limit *limit);
/* What was not recorded and whether waits are known. The same. */
void dw_ranks_check_recorded(struct dw_ranks *ranks);
/* Sets ranks->place. The same. False: memory ran out. */
bool dw_ranks_find_place(struct dw_ranks *ranks);
/* The logarithm of the probability that of `drawn` things from `all`, of which `marked` are marked, at least `least` are
 * marked. */
double dw_ranks_chance(size_t all, size_t marked, size_t drawn, size_t least);
/* "data", "between steps", "no range"; "" for DW_RANKS_NO_PART. */
const char *dw_ranks_part_name(unsigned part);
/* The number of the rank of a result; without one, its index. */
int dw_ranks_number(const struct dw_ranks *ranks, size_t i);
/* The median; of two values the smaller one. Sorts them. 0: there are none. */
double dw_ranks_middle(double *values, size_t count);
void dw_ranks_note(struct dw_ranks *ranks, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes the ranks of the job with the most ranks. For dw_ranks_compare(). */
void dw_ranks_choose(struct dw_ranks *ranks, const struct dw_summary *summary);
/* Notes what restricts the comparison: other runs, numbers, ends, losses. The same. */
void dw_ranks_check(struct dw_ranks *ranks);
/* Records that the process of a rank lost. */
uint64_t dw_ranks_lost(const struct dw_summary_rank *rank);
/* Sets the operator and the layer of a slow rank. `space` has place for a number of each rank. For
 * dw_ranks_compare(). */
void dw_ranks_find_names(const struct dw_ranks *ranks, struct dw_rank_result *result, double *space);
/* Notes imbalance of memory and of input sizes. The same. */
void dw_ranks_check_balance(struct dw_ranks *ranks, double *space);
/* Whether a rank was slow in one step: `excess` of it, and `spread` between steps of the rank, as ratios of the work of the median
 * rank, which is `median_ns`. The same. */
bool dw_ranks_is_slow_step(const struct dw_ranks *ranks, size_t i, double excess, double spread, double median_ns);
/* Adds one, if it is among those with the most excess. The same. */
void dw_ranks_put_slow_step(struct dw_ranks *ranks, const struct dw_slow_step *step);
/* Adds those among the longest steps without operators. `space` has place for a number of each rank and span. False: memory ran
 * out. */
bool dw_ranks_add_alone(struct dw_ranks *ranks, double *space);
/* Sets the figures of collectives. False: memory ran out. For dw_ranks_compare(). */
bool dw_ranks_add_collectives(struct dw_ranks *ranks);
/* The table of collectives. NULL: out of memory. */
struct dwell_table *dw_ranks_table_of_collectives(const struct dw_ranks *ranks);
/* The number of the last collective of the group that the rank entered; 0: none. */
uint64_t dw_ranks_last_sequence(const struct dw_summary_rank *rank, const char *group);
/* Sets what is said of a pipeline. The same. */
void dw_ranks_find_pipeline(struct dw_ranks *ranks);
/* Sets ranks->hang and ranks->failed. For dw_ranks_compare(). */
void dw_ranks_find_hang(struct dw_ranks *ranks);
/* For how long something lasts, of which `ns` were before the end of this rank's recording. */
uint64_t dw_ranks_since(const struct dw_ranks *ranks, const struct dw_summary_rank *rank, uint64_t ns);
/* Whether the rank waits in what the job hangs in: it has entered that collective, or, where
 * collectives are not known, is inside communication. */
bool dw_ranks_is_waiting(const struct dw_ranks *ranks, const struct dw_summary_rank *rank);
/* Whether the recording of a rank ends before the others began to wait: where it is now is not known. */
bool dw_ranks_is_older(const struct dw_ranks *ranks, const struct dw_summary_rank *rank);
/* The operation that the rank called as this number of the group; NULL: it is not known. */
const char *dw_ranks_operation(const struct dw_summary_rank *rank, const char *group, uint64_t sequence);
/* Puts the sentences about a job that hangs, or of which a rank failed, above a table (table_hang.c). */
void dw_ranks_put_hang(struct dwell_table *table, const struct dw_ranks *ranks);
/* The answer as tables: `ranks`, then `slow_steps`. The caller destroys them. NULL: out of memory.
 */
struct dwell_table *dw_ranks_table(const struct dw_ranks *ranks);
/* More ranks than this have no row of their own in text, but rows of ranks that are alike. */
#define DW_RANKS_MANY 32u
/* The table of ranks that are alike, for people. NULL: out of memory. */
struct dwell_table *dw_ranks_table_of_groups(const struct dw_ranks *ranks);
/* The slow ranks, by excess, then single slow steps, as one table. NULL: out of memory. */
struct dwell_table *dw_ranks_table_of_stragglers(const struct dw_ranks *ranks);
extern const struct dw_column_list dw_ranks_stragglers_columns;
/* Puts the answer's sentences above a table. */
void dw_ranks_put_heads(struct dwell_table *table, const struct dw_ranks *ranks);
/* Writes a picture of rank and step, coloured by the rank's excess, as SVG. */
void dw_ranks_picture(const struct dw_ranks *ranks, FILE *svg);
