/*
 * actions.c - see actions.h. Called by main.c. The names of both versions are sites of probes, so
 * that an action costs as much as a zone.
 */
#include "actions.h"

#include "dnn.h"

static bool old_names;

#define SITE(name) { name, NULL, __FILE__, __LINE__, DWELL_CATEGORY_ACTION, 0 }

static struct {
	struct dwell_site site, old_site, callbacks;
} sites[ACTION_COUNT] = {
#define ACTIONS_SITES(hook, name, name_1_6, callbacks) { SITE(name), SITE(name_1_6), SITE(callbacks) },
	ACTIONS(ACTIONS_SITES)
};

static struct dwell_site *actions_site_of(enum action action)
{
	return old_names ? &sites[action].old_site : &sites[action].site;
}

struct dwell_lightning_scope actions_enter(struct dwell_lightning_profiler *actions, enum action action)
{
	struct dwell_lightning_scope nothing = { NULL, NULL, DWELL_NOT_BEGUN };

	if (!actions_site_of(action)->name)
		return nothing;
	if (old_names && sites[action].callbacks.name) {
		struct dwell_lightning_scope before = dwell_lightning_enter(actions, &sites[action].callbacks);

		dwell_lightning_leave(&before);
	}
	return dwell_lightning_enter(actions, actions_site_of(action));
}

void actions_call(struct dwell_lightning_profiler *actions, enum action action)
{
	struct dwell_lightning_scope scope = actions_enter(actions, action);

	dwell_lightning_leave(&scope);
}

void actions_start(struct dwell_lightning_profiler *actions, enum action action)
{
	dwell_lightning_start(actions, actions_site_of(action)->name);
}

void actions_stop(struct dwell_lightning_profiler *actions, enum action action)
{
	dwell_lightning_stop(actions, actions_site_of(action)->name, NULL);
}

struct dwell_lightning_profiler *actions_create(const char *profiler, bool want_old_names)
{
	struct dwell_lightning_profiler *actions;
	struct dwell_error error;

	old_names = want_old_names;
	if (!profiler)
		return NULL;
	actions = dwell_lightning_create(profiler, NULL, &error);
	if (!actions)
		die("%s", error.message);
	return actions;
}

void actions_begin_fit(struct dwell_lightning_profiler *actions)
{
	struct dwell_error error;

	if (dwell_lightning_setup(actions, "fit", -1, NULL, &error))
		die("%s", error.message);
}

void actions_end_fit(struct dwell_lightning_profiler *actions)
{
	struct dwell_error error;

	if (dwell_lightning_describe(actions, &error) || dwell_lightning_teardown(actions, &error))
		die("%s", error.message);
	dwell_lightning_destroy(actions);
}
