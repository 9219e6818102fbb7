/*
 * The profiler's adding up: attached, told by the engine, detached.
 *
 * Nothing is allocated in a run but by the first call of a handler that is new, and no
 * time is lost to a handler's removal: slots name a row of the profiler's own.
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the engine tells ---------------------------------------------------------- */

static bool by_epoch(unsigned event)
{
	return event <= DWELL_EVENT_COMPLETED; /* EPOCH_*, STARTED, COMPLETED come first */
}

/* The iteration that is under way: a fetch is the next one's. */
static uint64_t iteration_of(const struct dwell_engine *engine)
{
	return engine->state.iteration +
	       (engine->place >= DW_PLACE_FETCH && engine->place < DW_PLACE_ITERATE);
}

static void add(struct dwell_profiler *profiler, struct dwell_time_stat *stat, bool epoch,
                uint32_t what, uint64_t ns)
{
	const struct dwell_engine *engine = profiler->engine;
	struct dw_profile_time time = { what, (uint32_t)engine->state.epoch, iteration_of(engine),
		                            (double)ns * 1e-9 };

	dwell_time_stat_add(stat, time.time_s, epoch ? engine->state.epoch : time.iteration);
	if (profiler->times)
		fwrite_unlocked(&time, sizeof time, 1, profiler->times);
}

void dw_profile_handler(struct dwell_profiler *profiler, const struct dw_event *event,
                        uint32_t row, uint64_t ns)
{
	if (row)
		add(profiler, &profiler->handlers[row - 1].stat, by_epoch(event->number),
		    DW_PROFILE_HANDLER + row - 1, ns);
}

void dw_profile_event(struct dwell_profiler *profiler, const struct dw_event *event, uint64_t ns)
{
	if (event->number < profiler->event_count)
		add(profiler, &profiler->events[event->number].stat, by_epoch(event->number),
		    DW_PROFILE_EVENT + event->number, ns);
}

void dw_profile_processing(struct dwell_profiler *profiler, uint64_t ns)
{
	add(profiler, &profiler->processing, false, DW_PROFILE_PROCESSING, ns);
}

void dw_profile_dataflow(struct dwell_profiler *profiler, uint64_t ns)
{
	add(profiler, &profiler->dataflow, false, DW_PROFILE_DATAFLOW, ns);
}

/* ---- names ---------------------------------------------------------------------------- */

static void add_event(struct dwell_profiler *profiler, const struct dw_event *event)
{
	struct dw_profile_event *more;
	const char *name;

	while (profiler->event_count <= event->number) {
		name = dwell_engine_event_name(profiler->engine, (int)profiler->event_count);
		more = realloc(profiler->events, (profiler->event_count + 1) * sizeof *more);
		if (more) {
			profiler->events = more;
			more[profiler->event_count] = (struct dw_profile_event){ .name = strdup(name) };
		}
		if (!more || !more[profiler->event_count].name) {
			profiler->no_memory = true;
			return;
		}
		profiler->event_count++;
	}
}

static uint32_t add_handler(struct dwell_profiler *profiler, unsigned event, const char *name)
{
	struct dw_profile_handler *handler;

	for (unsigned i = 0; i < profiler->handler_count; i++)
		if (profiler->handlers[i].event == event && strcmp(profiler->handlers[i].name, name) == 0)
			return i + 1;
	if (profiler->handler_count == profiler->handler_capacity) {
		unsigned capacity = profiler->handler_capacity ? profiler->handler_capacity * 2 : 16;
		struct dw_profile_handler *more =
		    realloc(profiler->handlers, capacity * sizeof *more);

		if (!more)
			return 0;
		profiler->handlers = more;
		profiler->handler_capacity = capacity;
	}
	handler = &profiler->handlers[profiler->handler_count];
	*handler = (struct dw_profile_handler){ .name = strdup(name), .event = event };
	return handler->name ? ++profiler->handler_count : 0;
}

void dw_profile_add_slot(struct dwell_profiler *profiler, struct dw_event *event,
                         struct dw_slot *slot)
{
	add_event(profiler, event);
	slot->profile_row = add_handler(profiler, event->number, slot->name);
	profiler->no_memory |= !slot->profile_row;
}

/* ---- starting and ending ---------------------------------------------------------------- */

static void forget(struct dwell_profiler *profiler)
{
	for (unsigned i = 0; i < profiler->event_count; i++)
		free(profiler->events[i].name);
	for (unsigned i = 0; i < profiler->handler_count; i++)
		free(profiler->handlers[i].name);
	profiler->event_count = profiler->handler_count = 0;
	memset(&profiler->processing, 0, sizeof profiler->processing);
	memset(&profiler->dataflow, 0, sizeof profiler->dataflow);
	profiler->fetch_start_ns = 0;
	profiler->no_memory = false;
	if (profiler->times)
		rewind(profiler->times); /* what lies beyond what is written is of the run before */
}

void dw_profile_start(struct dwell_profiler *profiler)
{
	struct dwell_engine *engine = profiler->engine;
	struct dw_event *event;

	forget(profiler);
	profiler->ran = true;
	for (int number = 0; (event = dw_event_at(engine, number)); number++) {
		add_event(profiler, event);
		for (unsigned i = 0; i < event->count; i++)
			if (event->slots[i].handler)
				dw_profile_add_slot(profiler, event, &event->slots[i]);
	}
}

int dwell_profiler_attach(struct dwell_profiler **result, struct dwell_engine *engine,
                          bool keep_times, struct dwell_error *error)
{
	struct dwell_profiler *profiler;

	*result = NULL;
	if (engine->profiler)
		return dw_engine_error(error, DWELL_E_STATE,
		                       "engine '%.64s' has a profiler: detach it, or use its results",
		                       engine->name);
	profiler = calloc(1, sizeof *profiler);
	if (!profiler)
		return dw_engine_error(error, DWELL_E_NOMEM, "no memory for a profiler");
	if (keep_times) {
		profiler->times = tmpfile();
		if (!profiler->times) {
			free(profiler);
			return dw_engine_error(error, DWELL_E_IO,
			                       "no temporary file for the profiler's times: %s",
			                       strerror(errno));
		}
	}
	profiler->engine = engine;
	engine->profiler = profiler;
	if (engine->running)
		dw_profile_start(profiler);
	*result = profiler;
	return 0;
}

void dwell_profiler_detach(struct dwell_profiler *profiler)
{
	if (profiler->engine)
		profiler->engine->profiler = NULL;
	profiler->engine = NULL;
}

void dwell_profiler_destroy(struct dwell_profiler *profiler)
{
	if (!profiler)
		return;
	dwell_profiler_detach(profiler);
	forget(profiler);
	if (profiler->times)
		fclose(profiler->times);
	free(profiler->events);
	free(profiler->handlers);
	free(profiler->names);
	free(profiler->rows);
	free(profiler);
}
