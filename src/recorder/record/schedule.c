/*
 * Schedules: the action for a step, computed from its number.
 *
 * Used by the gate (step.c), by profiles (profile.c) and by programs.
 */
#include "base/error.h"
#include "dwell/dwell.h"

enum dwell_action dwell_schedule_action(const struct dwell_schedule *schedule, uint64_t step)
{
	uint64_t cycle;

	if (!schedule || !schedule->active)
		return DWELL_ACTION_RECORD;
	cycle = (uint64_t)schedule->wait + schedule->warmup + schedule->active;
	if (step < schedule->skip_first)
		return DWELL_ACTION_NONE;
	step -= schedule->skip_first;
	if (schedule->skip_first_wait)
		step += schedule->wait;
	/* A division takes as long as the rest of a step that is not recorded. */
	if (step >= cycle) {
		if (schedule->repeat && step / cycle >= schedule->repeat)
			return DWELL_ACTION_NONE;
		step %= cycle;
	}
	if (step < schedule->wait)
		return DWELL_ACTION_NONE;
	if (step - schedule->wait < schedule->warmup)
		return DWELL_ACTION_WARMUP;
	return step + 1 < cycle ? DWELL_ACTION_RECORD : DWELL_ACTION_RECORD_AND_SAVE;
}

int dwell_schedule_check(const struct dwell_schedule *schedule, struct dwell_error *error)
{
	const struct dwell_schedule none = { 0 }, *given = schedule ? schedule : &none;
	const struct { const char *name; uint32_t value; } fields[] = {
		{ "skip_first", given->skip_first }, { "wait", given->wait },
		{ "warmup", given->warmup },         { "active", given->active },
		{ "repeat", given->repeat },
	};

	/* A number above 2^31 was a negative one: no schedule needs that many steps. */
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i].value > INT32_MAX)
			return dw_error_set(error, DWELL_E_ARGUMENT, "schedule: %s is %d: not negative",
			                    fields[i].name, (int)fields[i].value);
	if (!given->active)
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "schedule: active is 0, so that it would never record: at least 1");
	return 0;
}
