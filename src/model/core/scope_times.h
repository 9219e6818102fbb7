/*
 * Times that a scope names by words: when profiles are open (scope_profile.c) and where an
 * action runs (scope_action.c). In ns of the run; scope.c turns them into ticks.
 */
#ifndef DW_MODEL_CORE_SCOPE_TIMES_H
#define DW_MODEL_CORE_SCOPE_TIMES_H

#include "model/core/intervals.h"
#include "model/core/model_data.h"

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
