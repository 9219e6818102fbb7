/*
 * Calls that dwell notes itself, in place of CUPTI's records of them (--cuda=light-callbacks).
 *
 * CUPTI calls back in the thread of the call when it begins and when it ends. Nothing is locked or allocated there: a call that ends
 * goes into a ring, which records.c empties at each buffer and each second. Calls of the runtime call the driver; only the outer
 * one is noted, as CUPTI records it.
 */
#include "cuda.h"

#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 65536u /* a power of two; so many wait to be fetched */

/* `ready`: atomic, the number of the call behind which the place is, from 1. The release of its store pairs with the acquire of the
 * fetch: the call is whole. */
static struct { struct cupti_call call; uint64_t ready; } noted_ring[CALLS];
static uint64_t noted_begun, noted_fetched; /* atomic: places given to calls, and fetched ones */
static uint64_t noted_lost;                 /* atomic */
static uint32_t noted_switched = 1;         /* atomic: how often callbacks began to come */

/* The call that this thread is in, and how deep. */
static __thread struct {
	uint64_t start;
	uint32_t tid, depth, switched;
} noted_here __attribute__((tls_model("initial-exec")));

static void noted_put(const struct cupti_call *call)
{
	uint64_t at = __atomic_load_n(&noted_begun, __ATOMIC_RELAXED);

	do {
		if (at - __atomic_load_n(&noted_fetched, __ATOMIC_ACQUIRE) >= CALLS) { /* pairs with the release of a fetch */
			__atomic_fetch_add(&noted_lost, 1, __ATOMIC_RELAXED);
			return;
		}
	} while (!__atomic_compare_exchange_n(&noted_begun, &at, at + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	noted_ring[at % CALLS].call = *call;
	__atomic_store_n(&noted_ring[at % CALLS].ready, at + 1, __ATOMIC_RELEASE);
}

void dwc_noted_begin(void)
{
	__atomic_fetch_add(&noted_switched, 1, __ATOMIC_RELAXED);
}

void dwc_noted_take(bool runtime, uint32_t function, const struct cupti_callback *call)
{
	uint32_t switched = __atomic_load_n(&noted_switched, __ATOMIC_RELAXED);
	struct cupti_call ended = { .kind = runtime ? KIND_RUNTIME_CALL : KIND_DRIVER_CALL, .function = function,
		                        .correlation = call->correlation };

	if (noted_here.switched != switched) { /* the end of an earlier call was not seen */
		noted_here.switched = switched;
		noted_here.depth = 0;
	}
	if (call->site == SITE_ENTER) {
		if (noted_here.depth++ == 0 && !dwc_cupti_time(&noted_here.start))
			noted_here.start = 0;
		return;
	}
	if (!noted_here.depth || --noted_here.depth)
		return;
	if (!noted_here.tid)
		noted_here.tid = (uint32_t)syscall(SYS_gettid);
	ended.thread = noted_here.tid;
	ended.start = noted_here.start;
	if (!dwc_cupti_time(&ended.end))
		ended.end = 0; /* as a record without times */
	noted_put(&ended);
}

uint64_t dwc_noted_lost(void)
{
	return __atomic_exchange_n(&noted_lost, 0, __ATOMIC_RELAXED);
}

bool dwc_noted_fetch(struct cupti_call *to)
{
	uint64_t at = noted_fetched;

	if (__atomic_load_n(&noted_ring[at % CALLS].ready, __ATOMIC_ACQUIRE) != at + 1)
		return false;
	*to = noted_ring[at % CALLS].call;
	__atomic_store_n(&noted_fetched, at + 1, __ATOMIC_RELEASE);
	return true;
}
