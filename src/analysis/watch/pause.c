/* See pause.h. */
#include "watch/pause.h"

#include <math.h>
#include <string.h>

#include "base/map.h"

#define MOST_AFTER \
	0.1 /* of the time between two files: a rank that stood still for longer did no steps for part of it */

/* CPUs that the process used since it stood still. In the part of the time before that it used as many as usual.
 * Negative: not known. */
static double pause_rate(struct dw_pause *pause, uint64_t used_ns, double passed_ns, double after_ns, double silent_ns)
{
	double before_ns = passed_ns - after_ns;

	/* A summary of a busy machine is written seconds after what it says. */
	if (fmin(after_ns, silent_ns) < MOST_AFTER * passed_ns) {
		pause->rate = (double)used_ns / passed_ns;
		pause->rate_known = true;
		return -1;
	}
	if (before_ns > 0 && !pause->rate_known)
		return -1;
	return ((double)used_ns - pause->rate * before_ns) / after_ns;
}

static uint32_t pause_place(const struct dw_glance *glance)
{
	if (!glance->where_known || glance->communication)
		return 0;
	return dw_map_hash_bytes(glance->last_open, glance->where, strlen(glance->where)) | 1;
}

static struct dw_pause_before *pause_find(struct dw_pause *pause, uint32_t place)
{
	for (unsigned i = 0; i < DW_PAUSE_PLACES; i++)
		if (place && pause->before[i].place == place)
			return &pause->before[i];
	return NULL;
}

/* Whether a pause in this step belongs to those before, by the steps between them: it is the same one, of which the
 * rank recorded something, or it comes as many steps after one of them as that one after another. */
static bool pause_is_regular(const struct dw_pause_before *before, uint64_t step)
{
	for (unsigned i = 0; i < DW_PAUSE_STEPS; i++)
		for (unsigned k = 0; k < DW_PAUSE_STEPS; k++) {
			uint64_t every = before->steps[i] - before->steps[k], expected = before->steps[i] + every;

			if (step == before->steps[i] ||
			    (before->steps[i] > before->steps[k] &&
			     (step > expected ? step - expected : expected - step) <= every / DW_PAUSE_OFF))
				return true;
		}
	return false;
}

/* The rank went on after it stood still where its last file says. */
static void pause_end(struct dw_pause *pause, double ended_ns)
{
	struct dw_pause_before *before = pause_find(pause, pause->place);

	if (!before) {
		before = &pause->before[pause->count++ % DW_PAUSE_PLACES];
		*before = (struct dw_pause_before){ .place = pause->place };
	}
	if (!before->count || before->steps[(before->count - 1) % DW_PAUSE_STEPS] != pause->step)
		before->steps[before->count++ % DW_PAUSE_STEPS] = pause->step;
	before->ns = fmax(before->ns, ended_ns);
}

void dw_pause_take(struct dw_pause *pause, const struct dw_glance *glance, uint64_t before_ns, uint64_t written_ns,
                   uint64_t moved_ns, double ended_ns)
{
	bool may = glance->where_known && !glance->communication;
	double rate = -1;

	if (before_ns && glance->cpu_ns >= pause->cpu_ns && pause->cpu_ns && written_ns > moved_ns)
		rate = pause_rate(pause, glance->cpu_ns - pause->cpu_ns, (double)(written_ns - before_ns),
		                  (double)(written_ns - (moved_ns > before_ns ? moved_ns : before_ns)),
		                  glance->where_known && glance->silent_ns ? (double)glance->silent_ns : INFINITY);
	if (pause->place && ended_ns > 0)
		pause_end(pause, ended_ns);
	pause->cpu_ns = glance->cpu_ns;
	pause->step = glance->last_step;
	pause->place = pause_place(glance);
	pause->named = glance->pause != DW_PAUSE_NONE;
	pause->works = may && (glance->pause == DW_PAUSE_CHECKPOINT ||
	                       (!glance->spins && rate >= DW_PAUSE_CPU && (!*glance->where || glance->pause)));
}

bool dw_pause_is(const struct dw_pause *pause, double still_ns)
{
	for (unsigned i = 0; pause->place && i < DW_PAUSE_PLACES; i++)
		if (pause->before[i].place == pause->place && still_ns <= DW_PAUSE_AS_LONG * pause->before[i].ns &&
		    pause_is_regular(&pause->before[i], pause->step))
			return true;
	return pause->works && still_ns < (double)(pause->named ? DW_PAUSE_MOST_NS : DW_PAUSE_CPU_NS);
}
