/*
 * The events of an engine: those that every engine has and those that a program registers.
 *
 * An event is identified by its number, in the order of registration, and by its name. Its
 * handlers are in handlers.c.
 */
#include "compat/ignite/profile.h"

#include <stdlib.h>
#include <string.h>

int dw_event_init(struct dw_event *event, const char *name, const struct dwell_ignite_engine *engine,
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

void dw_slot_reset(struct dw_slot *slot)
{
	free(slot->filter.once);
	free(slot->name);
}

void dw_event_reset(struct dw_event *event)
{
	for (unsigned i = 0; i < event->count; i++)
		dw_slot_reset(&event->slots[i]);
	free(event->slots);
	free(event->path);
}

static int event_find_number(const struct dwell_ignite_engine *engine, const char *name, size_t length)
{
	for (int i = 0; i < dw_event_count(engine); i++) {
		const char *other = dw_event_at(engine, i)->name;

		if (strncmp(other, name, length) == 0 && other[length] == '\0')
			return i;
	}
	return -1;
}

struct dw_event *dw_event_find(struct dwell_ignite_engine *engine, const char *name, size_t length)
{
	return dw_event_at(engine, event_find_number(engine, name, length));
}

const char *dwell_ignite_engine_event_name(const struct dwell_ignite_engine *engine, int event)
{
	const struct dw_event *found = dw_event_at(engine, event);

	return found ? found->name : NULL;
}

static bool event_is_name(const char *name)
{
	if (!name || !*name)
		return false;
	while (dw_event_name_char(*name))
		name++;
	return *name == '\0';
}

static struct dw_event *event_create(struct dwell_ignite_engine *engine, const char *name)
{
	struct dw_event **more = realloc(engine->custom, (engine->custom_count + 1) * sizeof(struct dw_event *));
	struct dw_event *event;

	if (!more)
		return NULL;
	engine->custom = more;
	event = malloc(sizeof *event);
	if (!event || dw_event_init(event, name, engine, NULL) != 0) {
		free(event);
		return NULL;
	}
	event->number = DWELL_IGNITE_EVENT_COUNT + engine->custom_count;
	more[engine->custom_count++] = event;
	return event;
}

int dwell_ignite_engine_register_event(struct dwell_ignite_engine *engine, const char *name,
                                       const uint64_t *value, int *event, struct dwell_error *error)
{
	int number;

	if (!event_is_name(name))
		return dw_error_set(error, DWELL_E_ARGUMENT, "'%.128s' cannot be an event's name: use letters, digits, "
		                    "'_', '-' and ':'", name ? name : "");
	number = event_find_number(engine, name, strlen(name));
	if (number >= 0 && number < DWELL_IGNITE_EVENT_COUNT)
		return dw_error_set(error, DWELL_E_ARGUMENT, "'%s' is an event of every engine", name);
	if (number < 0) {
		if (!event_create(engine, name))
			return dw_error_set(error, DWELL_E_NOMEM, "no memory for event '%.128s'", name);
		number = dw_event_count(engine) - 1;
		if (engine->profiler && engine->running) /* the profiler numbers events in the same order */
			dwell_ignite_profiler_event(engine->profiler, name);
	}
	if (value)
		dw_event_at(engine, number)->value = value;
	*event = number;
	return 0;
}

void dw_engine_announce(struct dwell_ignite_engine *engine)
{
	if (!__atomic_load_n(&dwell_gate, __ATOMIC_RELAXED))
		return;
	for (int number = 0; number < dw_event_count(engine); number++) {
		struct dw_event *event = dw_event_at(engine, number);

		dwell_site_id(&event->site);
		for (unsigned i = 0; i < event->count; i++)
			if (event->slots[i].handler)
				dwell_site_id(&event->slots[i].site);
	}
}
