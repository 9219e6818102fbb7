/*
 * A run in which no step is marked, written one event after the other, for tests of periods.
 *
 *     run_begin();
 *     call(zone("step"), 100); ...
 *     const struct dw_period *period = run_end();
 *     made_close(&made);
 */
#pragma once

#include "made.h"

#include "model/steps/periods.h"

static struct made made;
static uint64_t at; /* its clock in ns */

static inline void run_begin(void)
{
	made_init(&made);
	at = 1000;
}

static inline uint32_t zone(const char *name)
{
	return made_op(&made, DWELL_CATEGORY_ZONE, name);
}

static inline uint32_t operator(const char *name)
{
	return made_op(&made, DWELL_CATEGORY_OPERATOR, name);
}

static inline void enter(uint32_t op)
{
	dw_encode_begin(&made.stream, at, op);
}

static inline void leave(void)
{
	dw_encode_end(&made.stream, at);
}

/* A range of `ns` with nothing in it, and a pause of 10 ns. */
static inline void call(uint32_t op, uint64_t ns)
{
	enter(op);
	at += ns;
	leave();
	at += 10;
}

/* A range with another one in it. */
static inline void call_around(uint32_t op, uint32_t inner, uint64_t ns)
{
	enter(op);
	at += 5;
	call(inner, ns);
	leave();
	at += 10;
}

/* The operators "PREFIX0", "PREFIX1" and so on, each of `ns`. */
static inline void chain(const char *prefix, unsigned from, unsigned to, uint64_t ns)
{
	char name[64];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof name, "%s%u", prefix, i);
		call(operator(name), ns);
	}
}

/* Steps follow each other; all fields are set. */
static inline void check_steps(const struct dw_period *period)
{
	for (size_t i = 0; i < period->count; i++) {
		const struct dw_source_step *step = &period->steps[i];

		if (step->number != i || step->thread != period->thread || !step->recorded || step->reduced || step->open ||
		    step->end_ticks < step->start_ticks || step->start_ns != step->start_ticks ||
		    step->end_ns != step->end_ticks || (i && step->start_ticks != step[-1].end_ticks))
			CHECK_FAIL("step %zu is from %" PRIu64 " to %" PRIu64, i, step->start_ns, step->end_ns);
	}
}

/* What the run repeats; with `scope` in a model of part of it. NULL: it cannot be opened. */
static inline const struct dw_period *run_end_in(const struct dw_scope *scope)
{
	const struct dw_period *period;

	if (made_open(&made, scope) != 0)
		return NULL;
	period = dw_model_period(made.model, &made.error);
	if (period)
		check_steps(period);
	return period;
}

static inline const struct dw_period *run_end(void)
{
	return run_end_in(NULL);
}
