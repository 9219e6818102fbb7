/*
 * Finds the engines, and the roles of their names in the dictionary.
 *
 * Called by engine_product.c. Engines are found by their events (name "STARTED", detail "trainer") and
 * handlers (detail "trainer.STARTED"). Processing, fetches, runs and counters belong to an engine
 * only if it was found by these, because other programs may have ranges of the same names. Rows are
 * in Ignite's order: events in the order of enum dwell_ignite_event, then those that the program
 * registered, then handlers by event.
 */

#include <dwell/compat/ignite.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/engine/engine_roles.h"

/* An event or handler that was found. Sorted, they become the rows. */
struct found {
	const char *engine;
	size_t engine_length;
	const char *event, *handler;
	uint32_t symbol;
	uint32_t index;  /* index of the engine */
	uint32_t order;  /* number of the event */
};

struct search {
	struct found *found;
	size_t count, capacity;
	struct dw_engines *engines;
	size_t engine_capacity;
	struct dw_model *model;
};

static const char *const builtin[] = {
#define NAME(name, number, value) [number] = #name,
	DWELL_IGNITE_EVENTS(NAME)
#undef NAME
};

static uint32_t roles_find_engine(const struct dw_engines *engines, const char *name, size_t length)
{
	for (uint32_t i = 0; i < engines->count; i++)
		if (strlen(engines->engines[i].name) == length && memcmp(engines->engines[i].name, name, length) == 0)
			return i;
	return DW_NO_INDEX;
}

static int roles_keep(struct search *search, const struct found *from)
{
	struct dw_engines *engines = search->engines;
	struct found *found = DW_GROW(&search->found, &search->capacity, search->count);

	if (!found)
		return -1;
	search->count++;
	*found = *from;
	found->index = roles_find_engine(engines, from->engine, from->engine_length);
	for (found->order = 0; found->order < DWELL_IGNITE_EVENT_COUNT; found->order++)
		if (strcmp(found->event, builtin[found->order]) == 0)
			break;
	if (found->index != DW_NO_INDEX)
		return 0;
	struct dw_engine *engine = DW_GROW(&engines->engines, &search->engine_capacity, engines->count);
	if (!engine)
		return -1;
	found->index = (uint32_t)engines->count++;
	engine->name = dw_arena_text(&search->model->arena, from->engine, from->engine_length);
	return engine->name ? 0 : -1;
}

static int roles_find(struct search *search)
{
	const struct dw_model *model = search->model;

	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];
		const char *dot = symbol->detail ? strrchr(symbol->detail, '.') : NULL;
		struct found found = { .engine = symbol->detail, .symbol = i };

		if (symbol->category == DWELL_CATEGORY_EVENT && symbol->detail) {
			found.engine_length = strlen(symbol->detail);
			found.event = symbol->name;
		} else if (symbol->category == DWELL_CATEGORY_HANDLER && dot) {
			found.engine_length = (size_t)(dot - symbol->detail);
			found.event = dot + 1;
			found.handler = symbol->name;
		} else {
			continue;
		}
		if (roles_keep(search, &found))
			return -1;
	}
	return 0;
}

/* Sorts by engine. Events come before handlers, events in order, handlers by event. */
static int roles_compare(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	int names;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	if (!a->handler != !b->handler)
		return a->handler ? 1 : -1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	names = a->order == DWELL_IGNITE_EVENT_COUNT && a->handler ? strcmp(a->event, b->event) : 0;
	return names ? names : (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static enum dw_engine_role roles_of_found(const struct found *found)
{
	if (found->handler)
		return DW_ENGINE_ROW;
	if (found->order == DWELL_IGNITE_EVENT_STARTED)
		return DW_ENGINE_START;
	return found->order == DWELL_IGNITE_EVENT_GET_BATCH_COMPLETED ? DW_ENGINE_BATCH : DW_ENGINE_ROW;
}

static bool roles_by_epoch(uint32_t order)
{
	return order == DWELL_IGNITE_EVENT_EPOCH_STARTED || order == DWELL_IGNITE_EVENT_EPOCH_COMPLETED ||
	       order == DWELL_IGNITE_EVENT_STARTED || order == DWELL_IGNITE_EVENT_COMPLETED;
}

/* Makes the rows of the engine whose events and handlers begin at `from`. Returns the first of the
 * next engine. A name that occurs twice (from two call sites) is one row. */
static const struct found *roles_make_rows(struct search *search, const struct found *from)
{
	const struct found *end = search->found + search->count, *to = from;
	struct dw_engine *engine = &search->engines->engines[from->index];
	struct dw_engine_row *row;

	while (to < end && to->index == from->index)
		to++;
	engine->rows = dw_arena_alloc(&search->model->arena, (DW_ENGINE_EVENTS + (size_t)(to - from)) * sizeof *row);
	if (!engine->rows)
		return NULL;
	row = engine->rows + DW_ENGINE_EVENTS - 1;
	for (; from < to; from++) {
		struct dw_engine_row made = {
			.event = from->event, .handler = from->handler, .by_epoch = roles_by_epoch(from->order),
		};
		bool same = row >= engine->rows + DW_ENGINE_EVENTS && !row->handler == !made.handler &&
		            strcmp(row->event, made.event) == 0 && (!made.handler || strcmp(row->handler, made.handler) == 0);

		if (!same) {
			*++row = made;
			engine->event_count += !made.handler;
			engine->handler_count += made.handler != NULL;
		}
		search->engines->places[from->symbol] =
			(struct dw_engine_place){ roles_of_found(from), from->index, (uint32_t)(row - engine->rows) };
	}
	return to;
}

/* Sets the roles of runs, processing, fetches and counters. */
static void roles_place_rest(struct dw_model *model, struct dw_engines *engines)
{
	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];
		struct dw_engine_place place = { DW_ENGINE_NOTHING, 0, 0 };
		const char *of = symbol->detail;
		size_t length = of ? strlen(of) : 0;

		if (symbol->category == DWELL_CATEGORY_ACTION && strcmp(symbol->name, "run") == 0) {
			place.role = DW_ENGINE_RUN;
		} else if (symbol->category == DWELL_CATEGORY_EVALUATION &&
		           strcmp(symbol->name, "run") == 0) {
			place.role = DW_ENGINE_NESTED_RUN;
		} else if (symbol->category == DWELL_CATEGORY_ACTION &&
		           strcmp(symbol->name, "processing") == 0) {
			place.role = DW_ENGINE_ROW;
			place.row = DW_ENGINE_PROCESSING;
		} else if (symbol->category == DWELL_CATEGORY_DATA &&
		           strcmp(symbol->name, "dataflow") == 0) {
			place.role = DW_ENGINE_FETCH;
			place.row = DW_ENGINE_DATAFLOW;
		} else if (symbol->category == DWELL_CATEGORY_COUNTER) {
			const char *dot = strrchr(symbol->name, '.');

			of = dot ? symbol->name : NULL;
			length = dot ? (size_t)(dot - of) : 0;
			if (dot && strcmp(dot, ".iteration") == 0)
				place.role = DW_ENGINE_ITERATION;
			else if (dot && strcmp(dot, ".epoch") == 0)
				place.role = DW_ENGINE_EPOCH;
		}
		if (!place.role || !of)
			continue;
		place.engine = roles_find_engine(engines, of, length);
		if (place.engine != DW_NO_INDEX)
			engines->places[i] = place;
	}
}

bool dw_engines_name(struct dw_model *model, struct dw_engines *engines)
{
	struct search search = { .model = model, .engines = engines };
	struct dw_engine *kept = NULL;
	const struct found *at;

	if (roles_find(&search))
		goto failed;
	kept = engines->engines;
	engines->engines = dw_arena_alloc(&model->arena, (engines->count + 1) * sizeof *kept);
	engines->places = dw_arena_alloc(&model->arena, (model->symbol_count + 1) * sizeof *engines->places);
	if (!engines->engines || !engines->places)
		goto failed;
	for (size_t i = 0; i < engines->count; i++)
		engines->engines[i] = kept[i];
	DW_SORT(search.found, search.count, roles_compare);
	for (at = search.found; at && at < search.found + search.count;)
		at = roles_make_rows(&search, at);
	if (search.count && !at)
		goto failed;
	roles_place_rest(model, engines);
	DW_FREE(kept, search.found);
	return true;
failed:
	DW_FREE(kept ? kept : engines->engines, search.found);
	return false;
}
