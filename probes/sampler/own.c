/*
 * How long this library works when a thread, a child of fork or a program begins or ends. Reports need it: for a program
 * that starts many of them it is most of what recording costs.
 *
 * The sum is kept in memory, and written to the trace at ticks and ends, on stacks of this library (apart.c): there a
 * fault in the trace's file is handled.
 */
#include "sampler.h"

#define MOST_NS 200000u /* of one measurement: if it took longer, another thread had the CPU meanwhile */

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
