/*
 * Times that a scope selects by name: when profiles are open (scope_profile.c) and when an action
 * runs (scope_action.c). In ns of the run; scope.c converts them to ticks.
 */
#pragma once

#include "model/core/model_data.h"

/* ---- profiles ------------------------------------------------------------------------- */

struct dw_profile_times {
	bool *wanted;                     /* by index of the source's profile; NULL: not initialised */
	struct dw_interval within;        /* from the first begin to the last end of those wanted, in ns */
	struct dw_interval *own, *others; /* buffers */
	struct dw_interval *open;         /* the result: united */
	size_t open_count;
};

/* Finds the profiles of the scope. Call the reset function in any case. Errors: DWELL_E_NAME (no
 * such profile), DWELL_E_NO_DATA (the trace has no profiles). */
int dw_profile_times_init(struct dw_profile_times *times, const struct dw_model *model, struct dwell_error *error);
void dw_profile_times_reset(struct dw_profile_times *times);
/* Fills `open` with the times of the profiles that apply to a thread of the process; with `thread`
 * DW_NO_INDEX, to the process as a whole. */
void dw_profile_times_of(struct dw_profile_times *times, const struct dw_source *source,
                         uint32_t process, uint32_t thread);

/* ---- an action ------------------------------------------------------------------------ */

struct dw_action_thread {
	struct dw_interval *intervals; /* in ns, in the order of their ends */
	size_t count, capacity;
	bool has_actions;              /* it has any action, whatever its name */
};

struct dw_action_times {
	struct dw_action_thread *threads; /* by index of the source's thread */
	size_t count;
};

/* Finds the times of the scope's action. Call the reset function in any case. Error: DWELL_E_NAME
 * (no such action). */
int dw_action_times_init(struct dw_action_times *times, struct dw_model *model, struct dwell_error *error);
void dw_action_times_reset(struct dw_action_times *times);

/* Returns the number of intervals that apply to a thread, or with `thread` DW_NO_INDEX to the whole
 * process. *result is malloc'd and not sorted; NULL: out of memory. */
size_t dw_action_times_of(const struct dw_action_times *times, const struct dw_source *source,
                          uint32_t process, uint32_t thread, struct dw_interval **result);
