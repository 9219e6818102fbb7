/*
 * A timer. Events can start it, pause it, resume it and count its steps.
 */
#include "base/system/clock.h"
#include "compat/ignite/engine.h"

void dwell_ignite_timer_init(struct dwell_ignite_timer *timer, bool average)
{
	timer->average = average;
	dwell_ignite_timer_reset(timer);
}

void dwell_ignite_timer_reset(struct dwell_ignite_timer *timer)
{
	timer->running = true;
	timer->total_ns = 0;
	timer->step_count = 0;
	timer->start_ns = dw_clock_monotonic_ns();
}

void dwell_ignite_timer_pause(struct dwell_ignite_timer *timer)
{
	if (!timer->running)
		return;
	timer->total_ns += dw_clock_monotonic_ns() - timer->start_ns;
	timer->running = false;
}

void dwell_ignite_timer_resume(struct dwell_ignite_timer *timer)
{
	if (timer->running)
		return;
	timer->running = true;
	timer->start_ns = dw_clock_monotonic_ns();
}

void dwell_ignite_timer_step(struct dwell_ignite_timer *timer)
{
	timer->step_count++;
}

double dwell_ignite_timer_value_s(const struct dwell_ignite_timer *timer)
{
	uint64_t total_ns = timer->total_ns;
	uint64_t steps = timer->average && timer->step_count ? timer->step_count : 1;

	if (timer->running)
		total_ns += dw_clock_monotonic_ns() - timer->start_ns;
	return (double)total_ns * 1e-9 / (double)steps;
}

/* ---- on events ------------------------------------------------------------------- */

#define TIMER_HANDLER(what)                                                        \
	static int timer_##what(struct dwell_ignite_engine *engine, void *user)          \
	{                                                                                \
		(void)engine;                                                                 \
		dwell_ignite_timer_##what(user);                                              \
		return 0;                                                                     \
	}
TIMER_HANDLER(reset)
TIMER_HANDLER(pause)
TIMER_HANDLER(resume)
TIMER_HANDLER(step)

int dwell_ignite_timer_attach(struct dwell_ignite_timer *timer, struct dwell_ignite_engine *engine, const char *start,
                              const char *pause, const char *resume, const char *step, struct dwell_error *error)
{
	const struct {
		const char *when, *name;
		dwell_ignite_handler *handler;
	} parts[] = {
		{ start ? start : "STARTED", "timer_reset", timer_reset },
		{ pause ? pause : "COMPLETED", "timer_pause", timer_pause },
		{ resume, "timer_resume", timer_resume },
		{ step, "timer_step", timer_step },
	};
	uint64_t handles[4] = { 0 };

	for (int i = 0; i < 4; i++) {
		int result = 0;

		if (parts[i].when)
			result = dwell_ignite_engine_add(engine, parts[i].when, parts[i].name, parts[i].handler, NULL, timer,
			                                 &handles[i], error);
		if (result) {
			while (--i >= 0)
				if (handles[i])
					dwell_ignite_engine_remove(engine, handles[i], NULL);
			return result;
		}
	}
	return 0;
}
