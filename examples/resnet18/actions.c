/*
 * actions.c - the fit as a stage of a profiler (dwell/profiler.h). Called by main.c around
 * the training; the actions themselves stand where they happen, by Lightning's names.
 */
#include "actions.h"

#include "dnn.h"

struct dwell_actions *actions_begin_fit(const char *profiler)
{
	struct dwell_actions *actions;
	struct dwell_error error;

	actions = dwell_actions_create(profiler, NULL, &error);
	if (!actions || dwell_actions_setup(actions, "fit", -1, NULL, &error))
		die("%s", error.message);
	return actions;
}

void actions_end_fit(struct dwell_actions *actions)
{
	struct dwell_error error;

	if (dwell_actions_describe(actions, &error) || dwell_actions_teardown(actions, &error))
		die("%s", error.message);
	dwell_actions_destroy(actions);
}
