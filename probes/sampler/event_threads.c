/* Which threads have the kernel's events in place of timers: a table without locks. */
#include "base/system/system.h"
#include "sampler.h"

static uint32_t
	threads[DWS_EVENT_THREADS]; /* atomic; the kernel's number of a thread with events; 0: the place is free */
static uint32_t next_place;     /* atomic; where to look for a free one */

bool dws_event_threads_enter(uint32_t *place)
{
	uint32_t self = (uint32_t)dw_call(SYS_gettid), begin = __atomic_fetch_add(&next_place, 1, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < DWS_EVENT_THREADS; i++) {
		uint32_t at = (begin + i) % DWS_EVENT_THREADS, nobody = 0;

		if (__atomic_compare_exchange_n(&threads[at], &nobody, self, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
			*place = at + 1;
			return true;
		}
	}
	return false;
}

void dws_event_threads_leave(uint32_t *place)
{
	if (*place)
		__atomic_store_n(&threads[*place - 1], 0, __ATOMIC_RELAXED);
	*place = 0;
}

void dws_event_threads_forked(void)
{
	dws_clear(threads, sizeof threads);
}

uint32_t dws_event_thread(uint32_t place)
{
	return __atomic_load_n(&threads[place], __ATOMIC_SEQ_CST);
}
