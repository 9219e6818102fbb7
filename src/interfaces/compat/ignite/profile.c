/*
 * The profiler: attaching it, summing up durations, detaching it.
 *
 * During a run only the first call of a new handler allocates memory. The durations of a handler
 * remain when it is removed, because they are in a row of the profiler.
 */
#include "compat/ignite/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ignite_results/results.h"

/* ---- what the engine reports -------------------------------------------------------- */

static bool profile_event_counts_epochs(unsigned event)
{
	return event <= DWELL_IGNITE_EVENT_COMPLETED; /* EPOCH_*, STARTED, COMPLETED come first */
}

/* The current iteration; a fetch belongs to the next one. */
static uint64_t profile_iteration_of(const struct dwell_ignite_engine *engine)
{
	return engine->state.iteration + (engine->place >= DW_PLACE_FETCH && engine->place < DW_PLACE_ITERATE);
}

static void profile_add_time(struct dwell_ignite_profiler *profiler, struct dw_time_stat *stat, bool of_epoch,
                             struct dw_profile_time time)
{
	dw_time_stat_add(stat, time.time, of_epoch ? time.epoch : time.iteration);
	if (profiler->times)
		fwrite_unlocked(&time, sizeof time, 1, profiler->times);
}

void dwell_ignite_profiler_add(struct dwell_ignite_profiler *profiler, enum dwell_ignite_time_of of, int number,
                               uint64_t epoch, uint64_t iteration, uint64_t ns)
{
	struct dw_profile_time time = { DW_PROFILE_PROCESSING, (uint32_t)epoch, iteration,
		                            (double)ns };
	unsigned at = (unsigned)number;

	switch (of) {
	case DWELL_IGNITE_TIME_OF_PROCESSING: profile_add_time(profiler, &profiler->processing, false, time); break;
	case DWELL_IGNITE_TIME_OF_DATAFLOW:
		time.what = DW_PROFILE_DATAFLOW;
		profile_add_time(profiler, &profiler->dataflow, false, time);
		break;
	case DWELL_IGNITE_TIME_OF_EVENT:
		time.what = DW_PROFILE_EVENT + at;
		if (at < profiler->event_count)
			profile_add_time(profiler, &profiler->events[at].stat, profile_event_counts_epochs(at), time);
		break;
	case DWELL_IGNITE_TIME_OF_HANDLER:
		time.what = DW_PROFILE_HANDLER + at;
		if (at < profiler->handler_count)
			profile_add_time(profiler, &profiler->handlers[at].stat,
			                 profile_event_counts_epochs(profiler->handlers[at].event), time);
		break;
	}
}

void dw_profile_time(struct dwell_ignite_profiler *profiler, enum dwell_ignite_time_of of, int number, uint64_t time)
{
	const struct dwell_ignite_engine *engine = profiler->engine;

	dwell_ignite_profiler_add(profiler, of, number, engine->state.epoch, profile_iteration_of(engine), time);
}

/* ---- the clock ------------------------------------------------------------------------ */

/* Whether the kernel uses the counter as its clock. The kernel compares the counter with other
 * clocks; a counter that it does not use may jump. */
static bool profile_counter_is_good(void)
{
#if defined(__x86_64__)
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[16] = "";

	if (file) {
		if (!fgets(name, sizeof name, file))
			name[0] = '\0';
		fclose(file);
	}
	return strcmp(name, "tsc\n") == 0;
#else
	return dwell_ticks() != 0;
#endif
}

static void profile_read_clocks(uint64_t *ticks, uint64_t *ns)
{
	*ticks = dwell_ticks();
	*ns = dw_clock_monotonic_ns();
}

double dw_profile_unit_s(const struct dwell_ignite_profiler *profiler)
{
	uint64_t ticks, ns;

	if (!profiler->ticks)
		return 1e-9;
	profile_read_clocks(&ticks, &ns);
	return (double)(ns - profiler->base_ns) / (double)(ticks - profiler->base_ticks) * 1e-9;
}

/* ---- names ---------------------------------------------------------------------------- */

static int profile_add_event(struct dwell_ignite_profiler *profiler, const char *name)
{
	struct dw_profile_event *more = realloc(profiler->events, (profiler->event_count + 1) * sizeof *more);

	if (more) {
		profiler->events = more;
		more[profiler->event_count] = (struct dw_profile_event){ .name = strdup(name) };
	}
	if (!more || !more[profiler->event_count].name) {
		profiler->no_memory = true;
		return -1;
	}
	return (int)profiler->event_count++;
}

int dwell_ignite_profiler_event(struct dwell_ignite_profiler *profiler, const char *name)
{
	for (unsigned i = 0; i < profiler->event_count; i++)
		if (strcmp(profiler->events[i].name, name) == 0)
			return (int)i;
	return profile_add_event(profiler, name);
}

int dwell_ignite_profiler_handler(struct dwell_ignite_profiler *profiler, int event, const char *name)
{
	struct dw_profile_handler *handler;

	for (unsigned i = 0; i < profiler->handler_count; i++)
		if (profiler->handlers[i].event == (unsigned)event && strcmp(profiler->handlers[i].name, name) == 0)
			return (int)i;
	handler = DW_GROW(&profiler->handlers, &profiler->handler_capacity, profiler->handler_count);
	if (!handler) {
		profiler->no_memory = true;
		return -1;
	}
	*handler = (struct dw_profile_handler){ .name = strdup(name), .event = (unsigned)event };
	if (!handler->name) {
		profiler->no_memory = true;
		return -1;
	}
	return (int)profiler->handler_count++;
}

void dw_profile_add_slot(struct dwell_ignite_profiler *profiler, const struct dw_event *event, struct dw_slot *slot)
{
	int number = dwell_ignite_profiler_event(profiler, event->name);

	slot->profile_row = number < 0 ? -1 : dwell_ignite_profiler_handler(profiler, number, slot->name);
}

/* ---- starting and ending ---------------------------------------------------------------- */

static void profile_forget(struct dwell_ignite_profiler *profiler)
{
	for (unsigned i = 0; i < profiler->event_count; i++)
		free(profiler->events[i].name);
	for (unsigned i = 0; i < profiler->handler_count; i++)
		free(profiler->handlers[i].name);
	profiler->event_count = profiler->handler_count = 0;
	memset(&profiler->processing, 0, sizeof profiler->processing);
	memset(&profiler->dataflow, 0, sizeof profiler->dataflow);
	profiler->fetch_start = profiler->fetch_end = 0;
	profiler->no_memory = false;
	if (profiler->times)
		rewind(profiler->times); /* bytes behind the new end are from the previous run */
}

/* Adds the events of enum dwell_ignite_event first, so that their numbers are their values. */
static void profile_name_builtin(struct dwell_ignite_profiler *profiler)
{
	for (int i = 0; i < DWELL_IGNITE_EVENT_COUNT && !profiler->no_memory; i++)
		profile_add_event(profiler, dw_ignite_event_names[i]);
}

void dwell_ignite_profiler_start(struct dwell_ignite_profiler *profiler)
{
	profile_forget(profiler);
	profiler->ran = true;
	profile_name_builtin(profiler);
}

void dw_profile_start(struct dwell_ignite_profiler *profiler)
{
	struct dw_event *event;

	dwell_ignite_profiler_start(profiler);
	/* In the order of the engine, so that an event has the same number in both. */
	for (int number = 0; (event = dw_event_at(profiler->engine, number)); number++) {
		dwell_ignite_profiler_event(profiler, event->name);
		for (unsigned i = 0; i < event->count; i++)
			if (event->slots[i].handler)
				dw_profile_add_slot(profiler, event, &event->slots[i]);
	}
}

int dwell_ignite_profiler_create(struct dwell_ignite_profiler **result, bool keep_times, struct dwell_error *error)
{
	struct dwell_ignite_profiler *profiler = calloc(1, sizeof *profiler);

	*result = NULL;
	if (!profiler)
		return dw_error_set(error, DWELL_E_NOMEM, "no memory for a profiler");
	if (keep_times) {
		profiler->times = tmpfile();
		if (!profiler->times) {
			free(profiler);
			return dw_error_set(error, DWELL_E_IO, "no temporary file for the profiler's times: %s", strerror(errno));
		}
	}
	profile_name_builtin(profiler);
	*result = profiler;
	return 0;
}

int dwell_ignite_profiler_attach(struct dwell_ignite_profiler **result, struct dwell_ignite_engine *engine,
                                 bool keep_times, struct dwell_error *error)
{
	int code;

	*result = NULL;
	if (engine->profiler)
		return dw_error_set(error, DWELL_E_STATE, "engine '%.64s' has a profiler: detach it, or use its results",
		                    engine->name);
	code = dwell_ignite_profiler_create(result, keep_times, error);
	if (code)
		return code;
	(*result)->engine = engine;
	(*result)->ticks = profile_counter_is_good();
	profile_read_clocks(&(*result)->base_ticks, &(*result)->base_ns);
	engine->profiler = *result;
	if (engine->running)
		dw_profile_start(*result);
	return 0;
}

void dwell_ignite_profiler_detach(struct dwell_ignite_profiler *profiler)
{
	if (profiler->engine)
		profiler->engine->profiler = NULL;
	profiler->engine = NULL;
}

void dwell_ignite_profiler_destroy(struct dwell_ignite_profiler *profiler)
{
	if (!profiler)
		return;
	dwell_ignite_profiler_detach(profiler);
	profile_forget(profiler);
	if (profiler->times)
		fclose(profiler->times);
	free(profiler->events);
	free(profiler->handlers);
	free(profiler->names);
	free(profiler->rows);
	free(profiler);
}
