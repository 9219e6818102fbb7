/* Where an action runs: between scope.c and scope_action.c. */
#ifndef DW_MODEL_SCOPE_ACTION_H
#define DW_MODEL_SCOPE_ACTION_H

#include "model/inside.h"

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
