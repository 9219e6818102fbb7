/*
 * The time that this library takes where threads, children and programs begin and end, so that a report can say what
 * recording cost a program that does little else.
 *
 * It is summed here, and added to the run's file where a fault in the file is handled: apart, at ticks and ends.
 */
#include "sampler.h"

#define MOST_NS 200000u /* of one piece; what is longer was a wait for a CPU */

static uint64_t begins, work_ns; /* atomic */

void dws_own_add(uint64_t began_ns, bool begins_something)
{
	uint64_t took = dws_now_ns() - began_ns;

	__atomic_fetch_add(&work_ns, took < MOST_NS ? took : MOST_NS, __ATOMIC_RELAXED);
	if (begins_something)
		__atomic_fetch_add(&begins, 1, __ATOMIC_RELAXED);
}

void dws_own_write(void)
{
	uint64_t ns = __atomic_exchange_n(&work_ns, 0, __ATOMIC_RELAXED);

	if (ns && dws_recorder->own_work)
		dws_recorder->own_work(__atomic_exchange_n(&begins, 0, __ATOMIC_RELAXED), ns);
}

void dws_own_forked(void)
{
	begins = 0;
	work_ns = 0;
}
