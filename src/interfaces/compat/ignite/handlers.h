/* Firing an event: calls its handlers. */
#pragma once

#include "compat/ignite/profile.h"

/* Calls the handlers of the event. On entry *clock is the profiler's clock when the firing began,
 * on return when the last handler ended. It is 0 without a profiler. Returns 0 or a failure. */
int dw_event_call(struct dwell_ignite_engine *engine, struct dw_event *event, uint64_t *clock);
/* Fires the event and reports its duration to the profiler. `now` is the profiler's clock if it was
 * just read, otherwise 0. */
int dw_event_fire_profiled(struct dwell_ignite_engine *engine, struct dw_event *event, uint64_t now);
bool dw_event_has_handlers(const struct dw_event *event);

/* Fires the event. The message of a failure is in engine->fail. */
static inline int dw_event_fire(struct dwell_ignite_engine *engine, struct dw_event *event)
{
	uint64_t clock = 0;
	unsigned began;
	int result;

	if (DWELL_UNLIKELY(engine->profiler != NULL))
		return dw_event_fire_profiled(engine, event, 0);
	began = dwell_begin(&event->site);
	result = event->count ? dw_event_call(engine, event, &clock) : 0;
	dwell_end(began);
	return result;
}
