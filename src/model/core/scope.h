/*
 * The scope from inside: what scope.c and its helpers share.
 *
 *   intervals.c  lists of times: united, without others, in both
 *   scope_profile.c    when profiles are open
 *   scope_action.c     where an action runs
 *
 * Here times are in ns of the run; scope.c turns them into ticks when they are resolved.
 */
#ifndef DW_MODEL_CORE_SCOPE_H
#define DW_MODEL_CORE_SCOPE_H

#include "model/core/model_data.h"

/* ---- lists of intervals; "united": ascending, apart ----------------------------------- */

/* Unites them in place; how many are left. */
size_t dw_intervals_unite(struct dw_interval *intervals, size_t count);
/* `from` without `less`, both united; at most the sum of both. */
size_t dw_intervals_subtract(const struct dw_interval *from, size_t count,
                             const struct dw_interval *less, size_t less_count,
                             struct dw_interval *to);
/* What lies in both, both united; at most the sum of both. */
size_t dw_intervals_intersect(const struct dw_interval *a, size_t a_count,
                              const struct dw_interval *b, size_t b_count, struct dw_interval *to);

/* ---- profiles ------------------------------------------------------------------------- */

struct dw_profile_times {
	bool *wanted;                     /* by profile of the source; NULL: not made */
	struct dw_interval *own, *others; /* room */
	struct dw_interval *open;         /* the answer: united */
	size_t open_count;
};

/* Of the scope's profile; reset it in any case. DWELL_E_NAME, DWELL_E_NO_DATA: there is none. */
int dw_profile_times_init(struct dw_profile_times *times, const struct dw_model *model,
                          struct dwell_error *error);
void dw_profile_times_reset(struct dw_profile_times *times);
/* Fills `open` with those that a process lies in, or one of its threads (DW_NO_INDEX: none). */
void dw_profile_times_of(struct dw_profile_times *times, const struct dw_source *source,
                         uint32_t process, uint32_t thread);

/* ---- an action ------------------------------------------------------------------------ */

struct dw_action_thread {
	struct dw_interval *intervals; /* in ns; as they ended */
	size_t count, capacity;
	bool has_actions;              /* of any name */
};

struct dw_action_times {
	struct dw_action_thread *threads; /* by index of the source */
	size_t count;
};

/* Of the scope's action; reset it in any case. DWELL_E_NAME: there is none. */
int dw_action_times_init(struct dw_action_times *times, struct dw_model *model,
                         struct dwell_error *error);
void dw_action_times_reset(struct dw_action_times *times);

/* Those that a thread goes by, malloc'd (NULL: out of memory), not in order; `thread`
 * DW_NO_INDEX: the whole process's. */
size_t dw_action_times_of(const struct dw_action_times *times, const struct dw_source *source,
                          uint32_t process, uint32_t thread, struct dw_interval **result);

#endif
