/*
 * Events and their handlers: adding, removing, firing.
 *
 * A firing goes over the live list by index, so that a handler added meanwhile
 * runs too and the list may move. Removed slots keep their places until the
 * outermost firing of their event ends. Ignite lets a handler that was removed by
 * an earlier one in the same firing run a last time; here it does not, because in C
 * what it works on may be gone.
 */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ---------------------------------------------------------------------- */

int dw_event_init(struct dw_event *event, const char *name, const struct dwell_engine *engine,
                  const uint64_t *value)
{
	size_t length = strlen(engine->name), more = strlen(name);

	*event = (struct dw_event){ .value = value };
	event->path = malloc(length + 1 + more + 1);
	if (!event->path)
		return DWELL_E_NOMEM;
	memcpy(event->path, engine->name, length);
	event->path[length] = '.';
	memcpy(event->path + length + 1, name, more + 1);
	event->name = event->path + length + 1;
	event->site = (struct dwell_site){ .name = event->name, .detail = engine->name,
		                               .category = DWELL_CATEGORY_EVENT };
	return 0;
}

static void reset_slot(struct dw_slot *slot)
{
	free(slot->filter.once);
	free(slot->name);
}

void dw_event_reset(struct dw_event *event)
{
	for (unsigned i = 0; i < event->count; i++)
		reset_slot(&event->slots[i]);
	free(event->slots);
	free(event->path);
}

struct dw_event *dw_event_at(const struct dwell_engine *engine, int number)
{
	if (number < 0)
		return NULL;
	if (number < DWELL_EVENT_COUNT)
		return (struct dw_event *)&engine->builtin[number];
	number -= DWELL_EVENT_COUNT;
	return (unsigned)number < engine->custom_count ? engine->custom[number] : NULL;
}

static int event_count(const struct dwell_engine *engine)
{
	return DWELL_EVENT_COUNT + (int)engine->custom_count;
}

static int find_number(const struct dwell_engine *engine, const char *name, size_t length)
{
	for (int i = 0; i < event_count(engine); i++) {
		const char *other = dw_event_at(engine, i)->name;

		if (strncmp(other, name, length) == 0 && other[length] == '\0')
			return i;
	}
	return -1;
}

struct dw_event *dw_event_find(struct dwell_engine *engine, const char *name, size_t length)
{
	return dw_event_at(engine, find_number(engine, name, length));
}

const char *dwell_engine_event_name(const struct dwell_engine *engine, int event)
{
	const struct dw_event *found = dw_event_at(engine, event);

	return found ? found->name : NULL;
}

static bool is_name(const char *name)
{
	if (!name || !*name)
		return false;
	while (dw_when_name_char(*name))
		name++;
	return *name == '\0';
}

static struct dw_event *new_event(struct dwell_engine *engine, const char *name)
{
	struct dw_event **more =
	    realloc(engine->custom, (engine->custom_count + 1) * sizeof(struct dw_event *));
	struct dw_event *event;

	if (!more)
		return NULL;
	engine->custom = more;
	event = malloc(sizeof *event);
	if (!event || dw_event_init(event, name, engine, NULL) != 0) {
		free(event);
		return NULL;
	}
	event->number = DWELL_EVENT_COUNT + engine->custom_count;
	more[engine->custom_count++] = event;
	return event;
}

int dwell_engine_register_event(struct dwell_engine *engine, const char *name,
                                const uint64_t *value, int *event, struct dwell_error *error)
{
	int number;

	if (!is_name(name))
		return dw_engine_error(error, DWELL_E_ARGUMENT,
		                       "'%.128s' cannot be an event's name: use letters, digits, "
		                       "'_', '-' and ':'",
		                       name ? name : "");
	number = find_number(engine, name, strlen(name));
	if (number >= 0 && number < DWELL_EVENT_COUNT)
		return dw_engine_error(error, DWELL_E_ARGUMENT, "'%s' is an event of every engine", name);
	if (number < 0) {
		if (!new_event(engine, name))
			return dw_engine_error(error, DWELL_E_NOMEM, "no memory for event '%.128s'", name);
		number = event_count(engine) - 1;
		if (engine->profiler && engine->running) /* which numbers events in the same order */
			dwell_profiler_event(engine->profiler, name);
	}
	if (value)
		dw_event_at(engine, number)->value = value;
	*event = number;
	return 0;
}

/* ---- adding ---------------------------------------------------------------------- */

static bool has_name(const struct dw_event *event, const char *name)
{
	for (unsigned i = 0; i < event->count; i++)
		if (event->slots[i].handler && strcmp(event->slots[i].name, name) == 0)
			return true;
	return false;
}

/* "log", and beside another of that name "log #2". A number that is free is taken
 * again: adding and removing in turn makes no new names. */
static char *free_name(const struct dw_event *event, const char *name)
{
	size_t size = strlen(name) + 16;
	char *text = malloc(size);

	if (!text)
		return NULL;
	memcpy(text, name, strlen(name) + 1);
	for (unsigned number = 2; has_name(event, text); number++)
		snprintf(text, size, "%s #%u", name, number);
	return text;
}

static int add_slot(struct dwell_engine *engine, struct dw_event *event,
                    const struct dw_slot *slot, const char *name)
{
	struct dw_slot *added;

	if (event->count == event->capacity) {
		unsigned capacity = event->capacity ? event->capacity * 2 : 4;
		struct dw_slot *more = realloc(event->slots, capacity * sizeof *more);

		if (!more)
			return DWELL_E_NOMEM;
		event->slots = more;
		event->capacity = capacity;
	}
	added = &event->slots[event->count];
	*added = *slot;
	added->name = free_name(event, name);
	if (!added->name)
		return DWELL_E_NOMEM;
	added->site = (struct dwell_site){ .name = added->name, .detail = event->path,
		                               .category = DWELL_CATEGORY_HANDLER };
	event->count++;
	if (engine->profiler)
		dw_profile_add_slot(engine->profiler, event, added);
	return 0;
}

static bool remove_slots(struct dwell_engine *engine, uint64_t handle);

int dwell_engine_add(struct dwell_engine *engine, const char *when, const char *name,
                     dwell_handler *handler, dwell_event_filter *filter, void *user,
                     uint64_t *handle, struct dwell_error *error)
{
	struct dw_slot slot = { .handler = handler, .user = user, .function = filter,
		                    .handle = engine->last_handle + 1 };
	bool uses_filter = false;
	const char *at = when;
	int result = 0;

	if (!when || !handler)
		return dw_engine_error(error, DWELL_E_ARGUMENT, "handler '%.128s' needs %s",
		                       name ? name : "handler", when ? "a function" : "an event");
	while (!result && at) {
		struct dw_event *event;

		result = dw_when_next(engine, &at, &event, &slot.filter, error);
		if (result)
			break;
		uses_filter |= slot.filter.kind == DW_FILTER_FUNCTION;
		if (slot.filter.kind == DW_FILTER_FUNCTION && !filter)
			result = dw_engine_error(error, DWELL_E_ARGUMENT,
			                         "%.128s: event_filter needs a function", when);
		else if (add_slot(engine, event, &slot, name ? name : "handler") != 0)
			result = dw_engine_error(error, DWELL_E_NOMEM, "no memory for a handler");
		if (result)
			free(slot.filter.once);
	}
	if (!result && filter && !uses_filter)
		result = dw_engine_error(error, DWELL_E_ARGUMENT,
		                         "%.128s: a filter function is given but no event names it; "
		                         "write EVENT(event_filter)", when);
	if (result) {
		remove_slots(engine, slot.handle);
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

static void compact(struct dw_event *event)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < event->count; i++) {
		if (event->slots[i].handler)
			event->slots[kept++] = event->slots[i];
		else
			reset_slot(&event->slots[i]);
	}
	event->count = kept;
	event->removed = false;
}

static bool remove_slots(struct dwell_engine *engine, uint64_t handle)
{
	bool found = false;

	for (int number = 0; number < event_count(engine); number++) {
		struct dw_event *event = dw_event_at(engine, number);

		for (unsigned i = 0; i < event->count; i++)
			if (event->slots[i].handler && event->slots[i].handle == handle) {
				event->slots[i].handler = NULL;
				event->removed = found = true;
			}
		if (event->removed && event->firing == 0)
			compact(event);
	}
	return found;
}

int dwell_engine_remove(struct dwell_engine *engine, uint64_t handle, struct dwell_error *error)
{
	if (handle == 0 || handle > engine->last_handle)
		return dw_engine_error(error, DWELL_E_ARGUMENT,
		                       "engine '%.64s' never gave a handle %llu; use what "
		                       "dwell_engine_add() stored",
		                       engine->name, (unsigned long long)handle);
	if (!remove_slots(engine, handle))
		return dw_engine_error(error, DWELL_E_STATE,
		                       "the handler of handle %llu was removed from engine '%.64s' before",
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

bool dwell_engine_has_handler(const struct dwell_engine *engine, const char *event,
                              dwell_handler *handler)
{
	for (int number = 0; number < event_count(engine); number++) {
		const struct dw_event *at = dw_event_at(engine, number);

		for (unsigned i = 0; i < at->count && (!event || strcmp(at->name, event) == 0); i++)
			if (handler && at->slots[i].handler == handler)
				return true;
	}
	return false;
}

/* ---- firing ---------------------------------------------------------------------- */

static bool passes(struct dwell_engine *engine, const struct dw_event *event,
                   const struct dw_slot *slot)
{
	const struct dw_filter *filter = &slot->filter;
	uint64_t value = *event->value;

	switch (filter->kind) {
	case DW_FILTER_NONE:
		break;
	case DW_FILTER_EVERY:
		return value % filter->every == 0;
	case DW_FILTER_BETWEEN:
		return value > filter->after && value < filter->before &&
		       (filter->every == 1 || (value - filter->after - 1) % filter->every == 0);
	case DW_FILTER_ONCE:
		for (size_t i = 0; i < filter->once_count; i++)
			if (filter->once[i] == value)
				return true;
		return false;
	case DW_FILTER_FUNCTION:
		return slot->function(engine, value, slot->user);
	}
	return true;
}

/* Adds up what the handler took that has just ended. */
static void profile(struct dwell_engine *engine, int row, uint64_t *clock)
{
	uint64_t now;

	if (!engine->profiler) {
		*clock = 0; /* the handler detached it */
		return;
	}
	now = dw_profile_now(engine->profiler);
	dw_profile_time(engine->profiler, DWELL_TIME_OF_HANDLER, row, now - *clock);
	*clock = now;
}

static int call(struct dwell_engine *engine, struct dw_event *event, unsigned index,
                uint64_t *clock)
{
	struct dw_slot *slot = &event->slots[index];
	unsigned began;
	int row, result;

	if (slot->filter.kind != DW_FILTER_NONE) {
		if (!passes(engine, event, slot))
			return 0;
		slot = &event->slots[index]; /* a filter function may add and remove */
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
		profile(engine, row, clock);
	if (DWELL_LIKELY(result == 0))
		return 0;
	/* A handler of EXCEPTION_RAISED that returns what it was called for. */
	if (event == &engine->builtin[DWELL_EVENT_EXCEPTION_RAISED] && engine->fail.code == 0 &&
	    result == engine->state.failure.code) {
		engine->fail = engine->state.failure;
		return result;
	}
	return dw_engine_failed(engine, result, "handler '%.96s' on %.96s",
	                        event->slots[index].name, event->name);
}

int dw_event_call(struct dwell_engine *engine, struct dw_event *event, uint64_t *clock)
{
	int result = 0;

	event->firing++;
	for (unsigned i = 0; i < event->count && !result; i++)
		if (event->slots[i].handler)
			result = call(engine, event, i, clock);
	if (--event->firing == 0 && event->removed)
		compact(event);
	return result;
}

/* An event without handlers takes no time and no reading of the clock. */
int dw_event_fire_profiled(struct dwell_engine *engine, struct dw_event *event, uint64_t now)
{
	unsigned began = dwell_begin(&event->site);
	uint64_t start = !event->count ? 0 : now ? now : dw_profile_now(engine->profiler), end = start;
	int result = event->count ? dw_event_call(engine, event, &end) : 0;

	dwell_end(began);
	if (engine->profiler && end >= start)
		dw_profile_time(engine->profiler, DWELL_TIME_OF_EVENT, (int)event->number, end - start);
	return result;
}

int dwell_engine_fire(struct dwell_engine *engine, int event, struct dwell_error *error)
{
	struct dw_event *found = dw_event_at(engine, event);
	int result;

	if (!found)
		return dw_engine_error(error, DWELL_E_NAME,
		                       "%d is not an event of engine '%.64s'; "
		                       "dwell_engine_register_event() gives the numbers",
		                       event, engine->name);
	result = dw_event_fire(engine, found);
	if (result && error)
		*error = engine->fail;
	return result;
}

void dw_engine_announce(struct dwell_engine *engine)
{
	if (!__atomic_load_n(&dwell_gate, __ATOMIC_RELAXED))
		return;
	for (int number = 0; number < event_count(engine); number++) {
		struct dw_event *event = dw_event_at(engine, number);

		dwell_site_id(&event->site);
		for (unsigned i = 0; i < event->count; i++)
			if (event->slots[i].handler)
				dwell_site_id(&event->slots[i].site);
	}
}
