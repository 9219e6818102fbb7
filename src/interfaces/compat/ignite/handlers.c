/*
 * Handlers on events: adding, removing, firing.
 *
 * A firing visits the list by index. So a handler that is added during it also runs, and the list
 * may move. Removed slots keep their places until the outermost firing of their event ends. If a
 * handler removes a later one in the same firing, Ignite still runs the later one; here it does
 * not run, because in C its data may be freed already.
 */
#include "compat/ignite/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* ---- adding ---------------------------------------------------------------------- */

static bool handler_has_name(const struct dw_event *event, const char *name)
{
	for (unsigned i = 0; i < event->count; i++)
		if (event->slots[i].handler && strcmp(event->slots[i].name, name) == 0)
			return true;
	return false;
}

/* The name "log", or "log #2" if another handler has it. A free number is reused, so that adding
 * and removing in turn makes no new names. */
static char *handler_make_name(const struct dw_event *event, const char *name)
{
	size_t size = strlen(name) + 16;
	char *text = malloc(size);

	if (!text)
		return NULL;
	memcpy(text, name, strlen(name) + 1);
	for (unsigned number = 2; handler_has_name(event, text); number++)
		snprintf(text, size, "%s #%u", name, number);
	return text;
}

static int handler_add_slot(struct dwell_ignite_engine *engine, struct dw_event *event,
                            const struct dw_slot *slot, const char *name)
{
	struct dw_slot *added;

	added = DW_GROW(&event->slots, &event->capacity, event->count);
	if (!added)
		return DWELL_E_NOMEM;
	*added = *slot;
	added->name = handler_make_name(event, name);
	if (!added->name)
		return DWELL_E_NOMEM;
	added->site = (struct dwell_site){ .name = added->name, .detail = event->path,
		                               .category = DWELL_CATEGORY_HANDLER };
	event->count++;
	if (engine->profiler)
		dw_profile_add_slot(engine->profiler, event, added);
	return 0;
}

static bool handler_remove_slots(struct dwell_ignite_engine *engine, uint64_t handle);

int dwell_ignite_engine_add(struct dwell_ignite_engine *engine, const char *when, const char *name,
                            dwell_ignite_handler *handler, dwell_ignite_event_filter *filter, void *user,
                            uint64_t *handle, struct dwell_error *error)
{
	struct dw_slot slot = { .handler = handler, .user = user, .function = filter,
		                    .handle = engine->last_handle + 1 };
	bool uses_filter = false;
	const char *at = when;
	int result = 0;

	if (!when || !handler)
		return dw_error_set(error, DWELL_E_ARGUMENT, "handler '%.128s' needs %s",
		                    name ? name : "handler", when ? "a function" : "an event");
	while (!result && at) {
		struct dw_event *event;

		result = dw_when_next(engine, &at, &event, &slot.filter, error);
		if (result)
			break;
		uses_filter |= slot.filter.kind == DW_FILTER_FUNCTION;
		if (slot.filter.kind == DW_FILTER_FUNCTION && !filter)
			result = dw_error_set(error, DWELL_E_ARGUMENT, "%.128s: event_filter needs a function", when);
		else if (handler_add_slot(engine, event, &slot, name ? name : "handler") != 0)
			result = dw_error_set(error, DWELL_E_NOMEM, "no memory for a handler");
		if (result)
			free(slot.filter.once);
	}
	if (!result && filter && !uses_filter)
		result = dw_error_set(error, DWELL_E_ARGUMENT, "%.128s: a filter function is given but no event names it; "
		                      "write EVENT(event_filter)", when);
	if (result) {
		handler_remove_slots(engine, slot.handle);
		return result;
	}
	engine->last_handle = slot.handle;
	if (handle)
		*handle = slot.handle;
	if (engine->running)
		dw_engine_announce(engine);
	return 0;
}

/* ---- removing -------------------------------------------------------------------- */

static void handler_compact_slots(struct dw_event *event)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < event->count; i++) {
		if (event->slots[i].handler)
			event->slots[kept++] = event->slots[i];
		else
			dw_slot_reset(&event->slots[i]);
	}
	event->count = kept;
	event->removed = false;
}

static bool handler_remove_slots(struct dwell_ignite_engine *engine, uint64_t handle)
{
	bool found = false;

	for (int number = 0; number < dw_event_count(engine); number++) {
		struct dw_event *event = dw_event_at(engine, number);

		for (unsigned i = 0; i < event->count; i++)
			if (event->slots[i].handler && event->slots[i].handle == handle) {
				event->slots[i].handler = NULL;
				event->removed = found = true;
			}
		if (event->removed && event->firing == 0)
			handler_compact_slots(event);
	}
	return found;
}

int dwell_ignite_engine_remove(struct dwell_ignite_engine *engine, uint64_t handle, struct dwell_error *error)
{
	if (handle == 0 || handle > engine->last_handle)
		return dw_error_set(error, DWELL_E_ARGUMENT, "engine '%.64s' never gave a handle %llu; use what "
		                    "dwell_ignite_engine_add() stored", engine->name, (unsigned long long)handle);
	if (!handler_remove_slots(engine, handle))
		return dw_error_set(error, DWELL_E_STATE, "the handler of handle %llu was removed from engine '%.64s' before",
		                    (unsigned long long)handle, engine->name);
	return 0;
}

bool dw_event_has_handlers(const struct dw_event *event)
{
	for (unsigned i = 0; i < event->count; i++)
		if (event->slots[i].handler)
			return true;
	return false;
}

bool dwell_ignite_engine_has_handler(const struct dwell_ignite_engine *engine, const char *event,
                                     dwell_ignite_handler *handler)
{
	for (int number = 0; number < dw_event_count(engine); number++) {
		const struct dw_event *at = dw_event_at(engine, number);

		for (unsigned i = 0; i < at->count && (!event || strcmp(at->name, event) == 0); i++)
			if (handler && at->slots[i].handler == handler)
				return true;
	}
	return false;
}

/* ---- firing ---------------------------------------------------------------------- */

static bool handler_passes_filter(struct dwell_ignite_engine *engine, const struct dw_event *event,
                                  const struct dw_slot *slot)
{
	const struct dw_filter *filter = &slot->filter;
	uint64_t value = *event->value;

	switch (filter->kind) {
	case DW_FILTER_NONE: break;
	case DW_FILTER_EVERY: return value % filter->every == 0;
	case DW_FILTER_BETWEEN:
		return value > filter->after && value < filter->before &&
		       (filter->every == 1 || (value - filter->after - 1) % filter->every == 0);
	case DW_FILTER_ONCE:
		for (size_t i = 0; i < filter->once_count; i++)
			if (filter->once[i] == value)
				return true;
		return false;
	case DW_FILTER_FUNCTION: return slot->function(engine, value, slot->user);
	}
	return true;
}

/* Reports the duration of the handler that has just ended to the profiler. */
static void handler_profile(struct dwell_ignite_engine *engine, int row, uint64_t *clock)
{
	uint64_t now;

	if (!engine->profiler) {
		*clock = 0; /* the handler has detached the profiler */
		return;
	}
	now = dw_profile_now(engine->profiler);
	dw_profile_time(engine->profiler, DWELL_IGNITE_TIME_OF_HANDLER, row, now - *clock);
	*clock = now;
}

static int handler_call(struct dwell_ignite_engine *engine, struct dw_event *event, unsigned index, uint64_t *clock)
{
	struct dw_slot *slot = &event->slots[index];
	unsigned began;
	int row, result;

	if (slot->filter.kind != DW_FILTER_NONE) {
		if (!handler_passes_filter(engine, event, slot))
			return 0;
		slot = &event->slots[index]; /* a filter function may have added or removed handlers */
		if (!slot->handler)
			return 0;
		if (*clock && slot->filter.kind == DW_FILTER_FUNCTION)
			*clock = engine->profiler ? dw_profile_now(engine->profiler) : 0;
	}
	row = slot->profile_row;
	began = dwell_begin(&slot->site);
	engine->fail.code = 0;
	result = slot->handler(engine, slot->user);
	dwell_end(began);
	if (*clock)
		handler_profile(engine, row, clock);
	if (DWELL_LIKELY(result == 0))
		return 0;
	/* A handler of EXCEPTION_RAISED returns the failure for which it was called. */
	if (event == &engine->builtin[DWELL_IGNITE_EVENT_EXCEPTION_RAISED] && engine->fail.code == 0 &&
	    result == engine->state.failure.code) {
		engine->fail = engine->state.failure;
		return result;
	}
	return dw_engine_failed(engine, result, "handler '%.96s' on %.96s", event->slots[index].name, event->name);
}

int dw_event_call(struct dwell_ignite_engine *engine, struct dw_event *event, uint64_t *clock)
{
	int result = 0;

	event->firing++;
	for (unsigned i = 0; i < event->count && !result; i++)
		if (event->slots[i].handler)
			result = handler_call(engine, event, i, clock);
	if (--event->firing == 0 && event->removed)
		handler_compact_slots(event);
	return result;
}

/* For an event without handlers the clock is not read, and its time is 0. */
int dw_event_fire_profiled(struct dwell_ignite_engine *engine, struct dw_event *event, uint64_t now)
{
	unsigned began = dwell_begin(&event->site);
	uint64_t start = !event->count ? 0 : now ? now : dw_profile_now(engine->profiler), end = start;
	int result = event->count ? dw_event_call(engine, event, &end) : 0;

	dwell_end(began);
	if (engine->profiler && end >= start)
		dw_profile_time(engine->profiler, DWELL_IGNITE_TIME_OF_EVENT, (int)event->number, end - start);
	return result;
}

int dwell_ignite_engine_fire(struct dwell_ignite_engine *engine, int event, struct dwell_error *error)
{
	struct dw_event *found = dw_event_at(engine, event);
	int result;

	if (!found)
		return dw_error_set(error, DWELL_E_NAME, "%d is not an event of engine '%.64s'; "
		                    "dwell_ignite_engine_register_event() gives the numbers", event, engine->name);
	result = dw_event_fire(engine, found);
	if (result && error)
		*error = engine->fail;
	return result;
}
