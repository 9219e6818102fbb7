/*
 * Locks whose word is the holder's thread id, and how long a thread waits for them.
 *
 * The lock protects what the program's threads share in the recorder: claims of blocks, registration, the list of
 * modules. A holder may be stopped at any point, by a debugger or by a handler that computes. So waiting is bounded,
 * and the bound is for all waits of one entry into the recorder together: an entry may need the lock once for each
 * library of the program. What then has no space is counted as lost, or is tried again at the next record.
 *
 * A thread has an allowance of 100 ms, of which each wait that was in vain takes what it lasted. A record that needs
 * more than space in its chunk and a new name begin with a full one (dw_hold_enter); for other entries it grows by a
 * quarter of the time that passes. The sampler marks its entries (dwell_hurry): they are in signal handlers, and wait 5
 * ms at most.
 */
#include "record/chunks.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/thread.h"

#include <time.h>

#include "base/system/clock.h"
#include "base/system/system.h"
#include "dwell/probe_abi.h"

#define WAITED 0x80000000u /* in the word: a thread may sleep until the holder wakes it */
#define SPINS 100
/* <linux/futex.h> has these, and is missing where musl's compiler looks. */
#define HOLD_WAIT (0 | 128) /* FUTEX_WAIT, FUTEX_PRIVATE_FLAG */
#define HOLD_WAKE (1 | 128)
#define PAUSE_NS 20000000u          /* at most this long after the holder was killed, a waiter finds that */
#define ALLOWANCE_NS 100000000u     /* of the waits of a thread that were in vain */
#define ALLOWANCE_SHARE 4u          /* of the time that passes is added to it again */
#define HURRY_NS 5000000u           /* of the waits of one entry in a signal handler */
#define START_NS 1000000000u        /* to start or to end a session, which programs do rarely */

static __thread struct {
	uint64_t spent_ns, since_ns; /* of the allowance, at that time */
	uint64_t hurry_ns;           /* what is left of it for a hurried entry */
	bool hurries;
} mine __attribute__((tls_model("initial-exec")));

void dwell_hurry(bool begins)
{
	mine.hurry_ns = HURRY_NS;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mine.hurries = begins;
}

void dw_hold_enter(void)
{
	mine.spent_ns = 0;
}

/* How long this thread may wait now. */
static uint64_t hold_allowance(uint64_t now)
{
	uint64_t regained = (now - mine.since_ns) / ALLOWANCE_SHARE;

	if (mine.hurries)
		return mine.hurry_ns;
	mine.spent_ns = mine.spent_ns > regained ? mine.spent_ns - regained : 0;
	mine.since_ns = now;
	return mine.spent_ns < ALLOWANCE_NS ? ALLOWANCE_NS - mine.spent_ns : 0;
}

static void hold_spend(uint64_t waited, bool in_vain)
{
	if (mine.hurries)
		mine.hurry_ns -= waited < mine.hurry_ns ? waited : mine.hurry_ns;
	else
		mine.spent_ns = in_vain ? mine.spent_ns + waited : 0;
}

bool dw_process_thread_dead(uint32_t tid)
{
	/* With the pid of registration: in a child of vfork the own pid differs, and the parent's
	 * threads would seem to have ended. */
	return dw_call(SYS_tgkill, DW_LOAD(dw_process->pid), tid, 0) == -ESRCH;
}

static bool hold_exchange(uint32_t *word, uint32_t *now, uint32_t next)
{
	/* Pairs with the release in dw_process_release(): a holder sees what earlier holders wrote. */
	return __atomic_compare_exchange_n(word, now, next, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Sleeps until the holder wakes this thread, at most for a while. Threads that wait sleep in the kernel, and one
 * that unlocks wakes one. Ten thousand threads that yield or look at the clock would not leave the holder a
 * processor. */
static void hold_sleep(uint32_t *word, uint32_t owner, uint64_t most_ns)
{
	const struct timespec pause = { 0, (long)(most_ns < PAUSE_NS ? most_ns : PAUSE_NS) };

	if ((owner & WAITED) || hold_exchange(word, &owner, owner | WAITED))
		dw_call(SYS_futex, word, HOLD_WAIT, owner | WAITED, &pause);
}

/* Waits for a lock that another thread has. */
static bool hold_wait(uint32_t *word, uint32_t self, uint64_t most_ns, uint64_t began)
{
	for (;;) {
		uint32_t owner = 0;
		uint64_t waited;

		if (hold_exchange(word, &owner, self | WAITED) ||
		    (dw_process_thread_dead(owner & ~WAITED) && hold_exchange(word, &owner, self | WAITED)))
			return true;
		waited = dw_clock_monotonic_ns() - began;
		if (waited >= most_ns)
			return false;
		hold_sleep(word, owner, most_ns - waited);
	}
}

/* The calling thread's id; 0: it cannot be asked for now, and the thread has no slot, where it is known. */
static uint32_t hold_self(void)
{
	const struct dwell_stream *stream = DW_LOAD(dwell_this_stream);

	if (dw_may_call())
		return (uint32_t)dw_gettid();
	return stream == &dw_slot_none ? 0 : DW_LOAD(((const struct dw_slot *)(const void *)stream)->tid);
}

static enum dw_hold hold_take(uint32_t *word, bool starts)
{
	uint32_t self = hold_self();
	uint64_t began, most;
	bool taken;

	for (int tries = 0; self && tries < SPINS; tries++) {
		uint32_t owner = 0;

		if (hold_exchange(word, &owner, self))
			return DW_HOLD_TAKEN;
		if ((owner & ~WAITED) == self)
			return DW_HOLD_HERE;
	}
	if (!dw_may_call())
		return DW_HOLD_NONE;
	began = dw_clock_monotonic_ns();
	most = starts ? START_NS : hold_allowance(began);
	taken = hold_wait(word, self, most, began);
	if (!starts)
		hold_spend(dw_clock_monotonic_ns() - began, !taken);
	return taken ? DW_HOLD_TAKEN : DW_HOLD_NONE;
}

enum dw_hold dw_process_hold(uint32_t *word)
{
	return hold_take(word, false);
}

enum dw_hold dw_process_hold_to_start(uint32_t *word)
{
	return hold_take(word, true);
}

void dw_process_release(uint32_t *word)
{
	if ((__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) & WAITED) && dw_may_call())
		dw_call(SYS_futex, word, HOLD_WAKE, 1);
}

bool dw_process_holds(const uint32_t *word)
{
	uint32_t holder = __atomic_load_n(word, __ATOMIC_RELAXED) & ~WAITED;

	return holder && holder == hold_self();
}
