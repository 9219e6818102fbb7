/* See pause.h. */
#include "watch/pause.h"

#include <math.h>
#include <string.h>

#include "base/map.h"

#define MOST_AFTER 0.1 /* of the time between two files: a rank that stood still for longer did no steps for part of it */

/* CPUs that the process used since it stood still. In the part of the time before that it used as many as usual. Negative: not
 * known. */
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

void dw_pause_take(struct dw_pause *pause, const struct dw_glance *glance, uint64_t before_ns, uint64_t written_ns,
                   uint64_t moved_ns, double ended_ns)
{
	bool may = glance->where_known && !glance->communication;
	double rate = -1;

	if (before_ns && glance->cpu_ns >= pause->cpu_ns && pause->cpu_ns && written_ns > moved_ns)
		rate = pause_rate(pause, glance->cpu_ns - pause->cpu_ns, (double)(written_ns - before_ns),
		                  (double)(written_ns - (moved_ns > before_ns ? moved_ns : before_ns)),
		                  glance->where_known && glance->silent_ns ? (double)glance->silent_ns : INFINITY);
	if (pause->place && ended_ns > pause->before_ns) {
		pause->before = pause->place;
		pause->before_ns = ended_ns;
	}
	pause->cpu_ns = glance->cpu_ns;
	pause->place = pause_place(glance);
	pause->works = may && (glance->pause == DW_PAUSE_CHECKPOINT ||
	                       (!glance->spins && rate >= DW_PAUSE_CPU && (!*glance->where || glance->pause)));
}

bool dw_pause_is(const struct dw_pause *pause, double still_ns)
{
	if (pause->place && pause->place == pause->before && still_ns <= DW_PAUSE_AS_LONG * pause->before_ns)
		return true;
	return pause->works && still_ns < (double)DW_PAUSE_MOST_NS;
}
