/*
 * The process: everything that a child of fork must not share with its parent.
 *
 * It is in one mapping that the kernel gives to children filled with zeros (MADV_WIPEONFORK). So a child starts
 * unregistered, however it was made: by fork, _Fork or a raw clone. Where the kernel has no such mapping (Linux before
 * 4.14), or accepts the request and ignores it (qemu), a fork handler clears the memory. In every field, zero means
 * that nothing is known yet.
 *
 * Slots are 9 KB each, and there may be more threads than most programs ever have. So they are in segments of their
 * own, which are mapped as threads are added and stay where they are: a limit on a program's address space (RLIMIT_AS)
 * and a kernel that does not overcommit memory count all that is mapped.
 */
#include "record/chunks.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/steps.h"
#include "record/thread.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/system/system.h"
#include "dwell/probe_abi.h"
#include "format/control.h"

struct dw_process *dw_process;
struct dw_slot *dw_process_segments[DW_SLOT_SEGMENTS];
struct dw_session dw_session = { .fd = -1 };

/* Threads without a slot share this stream, which is always busy and never written. */
const struct dwell_stream dw_slot_none = { .busy = 1 };

__thread struct dwell_stream *dwell_this_stream __attribute__((tls_model("initial-exec"))) =
    (struct dwell_stream *)&dw_slot_none;

bool dw_sandboxed;
__thread bool dw_quiet;

/* Set once, before `dw_process`. */
static const struct dw_process_calls *process_calls;

/* ---- memory that children do not share ------------------------------------------ */

static void *process_map(size_t bytes)
{
	long memory = dw_own_map(bytes);

	if (dw_system_failed(memory))
		return NULL;
	dw_call(SYS_madvise, memory, bytes, MADV_WIPEONFORK);
	return (void *)memory;
}

bool dw_process_open_slot(uint32_t index)
{
	struct dw_slot **segment = &dw_process_segments[index / DW_SEGMENT_SLOTS], *none = NULL, *fresh;

	if (__atomic_load_n(segment, __ATOMIC_ACQUIRE))
		return true;
	fresh = process_map(DW_SEGMENT_SLOTS * sizeof *fresh);
	if (!fresh)
		return false;
	/* Another thread may have mapped the same segment; no thread has seen this one. */
	if (!__atomic_compare_exchange_n(segment, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		dw_own_unmap(fresh, DW_SEGMENT_SLOTS * sizeof *fresh);
	return true;
}

/* New zero pages are cheaper than writing megabytes of zeros. */
static void process_clear(void *memory, size_t bytes)
{
	if (dw_own_clear(memory, bytes) != (long)memory)
		memset(memory, 0, bytes);
}

static void process_clear_in_child(void)
{
	uint32_t pid = DW_LOAD(dw_process->pid);

	if (!pid || pid == (uint32_t)dw_getpid())
		return; /* the kernel cleared it, and an earlier fork handler may have recorded since */
	process_clear(dw_process, sizeof *dw_process);
	for (uint32_t i = 0; i < DW_SLOT_SEGMENTS; i++)
		if (dw_process_segments[i])
			process_clear(dw_process_segments[i], DW_SEGMENT_SLOTS * sizeof **dw_process_segments);
}

static void process_note_fork(void)
{
	DW_STORE(dw_process->forked, true);
}

/*
 * One thread makes the mapping while the others wait. So `dw_process` never changes once it is
 * set, and every thread may read it without an atomic load. The wait is bounded, because a child
 * of fork may inherit a lock whose owner is not in the child. A signal handler that interrupted
 * the owner of the lock continues without it.
 */
static void process_wait_to_prepare(uint32_t *lock)
{
	uint32_t self = (uint32_t)dw_gettid(), holder = 0;

	for (int i = 0; i < 1000; i++, holder = 0) {
		if (__atomic_compare_exchange_n(lock, &holder, self, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_ACQUIRE) ||
		    holder == self || __atomic_load_n(&dw_process, __ATOMIC_ACQUIRE))
			return;
		dw_call(SYS_nanosleep, &(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

int dw_process_prepare(const struct dw_process_calls *calls)
{
	static uint32_t lock; /* tid of the thread that makes the mapping, or 0 */
	struct dw_process *memory, *none = NULL;

	if (__atomic_load_n(&dw_process, __ATOMIC_ACQUIRE))
		return 0;
	process_wait_to_prepare(&lock);
	if (__atomic_load_n(&dw_process, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
		return 0;
	}
	memory = process_map(sizeof *memory);
	if (!memory) {
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
		return DWELL_E_NOMEM;
	}
	memory->pid = (uint32_t)dw_getpid();
	process_calls = calls;
	/* Pairs with the acquire above. Fails only if this thread stopped waiting without the lock. */
	if (!__atomic_compare_exchange_n(&dw_process, &none, memory, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_ACQUIRE)) {
		dw_own_unmap(memory, sizeof *memory);
	} else {
		pthread_atfork(process_note_fork, NULL, process_clear_in_child);
	}
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return 0;
}

bool dw_process_jumped(uintptr_t then, uintptr_t now)
{
	stack_t stack;

	return then && now >= then && dw_may_call() && dw_call(SYS_sigaltstack, NULL, &stack) == 0 && !(stack.ss_flags & SS_ONSTACK);
}

uint64_t dw_process_blocked_signals(void)
{
	uint64_t blocked = 0;

	if (!dw_may_call())
		return UINT64_MAX;
	/* libc's function hides the signals that libc itself uses; either answer would do. */
	dw_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
	return blocked;
}

/* The calling thread holds the lock already. Either the caller is a signal handler that interrupted
 * the code under the lock, or a handler left that code by siglongjmp(). It is assumed that no
 * handler runs for a second. True: the caller has the lock now. If another handler interrupts
 * between check and exchange, it changes the frame too, and only one of the two succeeds. */
static bool process_lock_take_over(uintptr_t frame)
{
	uint64_t now = dw_now(), seen = DW_LOAD(dw_process->lock_seen_ticks);
	const struct dw_head *head = dw_session_map();
	uintptr_t then = DW_LOAD(dw_process->lock_frame);

	if (!dw_process_jumped(then, frame)) {
		if (!seen)
			DW_STORE(dw_process->lock_seen_ticks, now);
		if (!seen || !head || now - seen <= head->ticks_per_second)
			return false;
	}
	return __atomic_compare_exchange_n(&dw_process->lock_frame, &then, frame, false,
	                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool dw_process_is_locked_here(void)
{
	return dw_process && dw_process_holds(&dw_process->lock);
}

/*
 * The lock protects claims and registration. They happen at most a few times a second and take
 * microseconds, or as long as the file system takes. Waiting for a holder is bounded (hold.c), and a
 * signal handler that interrupted the holder gives up at once. A lock is taken over if its holder
 * was cancelled, or if it is the caller's own and a signal handler left the code under it by
 * siglongjmp(). This is safe because code under the lock leaves nothing half done that could do
 * harm.
 */
static inline __attribute__((always_inline)) bool process_enter_lock(enum dw_hold hold, uintptr_t frame)
{
	if (hold == DW_HOLD_NONE || (hold == DW_HOLD_HERE && !process_lock_take_over(frame)))
		return false;
	DW_STORE(dw_process->lock_seen_ticks, 0);
	DW_STORE(dw_process->lock_frame, frame);
	return true;
}

/* Not inline, so that its frame is below its caller's, like the frame of any other callee. */
__attribute__((noinline)) bool dw_process_lock(void)
{
	return process_enter_lock(dw_process_hold(&dw_process->lock), (uintptr_t)__builtin_frame_address(0));
}

__attribute__((noinline)) bool dw_process_lock_to_start(void)
{
	return process_enter_lock(dw_process_hold_to_start(&dw_process->lock), (uintptr_t)__builtin_frame_address(0));
}

void dw_process_unlock(void)
{
	DW_STORE(dw_process->lock_seen_ticks, 0);
	DW_STORE(dw_process->lock_frame, 0); /* unknown until the next holder stores its own */
	dw_process_release(&dw_process->lock);
}

void dw_process_halt(void)
{
	uint32_t count = dw_process ? __atomic_load_n(&dw_process->slot_count, __ATOMIC_ACQUIRE) : 0;

	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see stream_find_space() */
	for (uint32_t i = 0; i < count && i < DW_MAX_SLOTS; i++) {
		__atomic_store_n(&dw_process_slot(i)->main.limit, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&dw_process_slot(i)->nested.limit, NULL, __ATOMIC_RELAXED);
	}
}

bool dw_process_own_memory(void)
{
	uint32_t pid, known = 0;

	if (!dw_may_call())
		return DW_LOAD(dw_process->pid) != 0;
	pid = (uint32_t)dw_getpid();
	/* A new child of fork stores its pid. A child of vfork finds its parent's pid, because it uses
	 * the parent's memory and thread pointer. It must not register, nor may its threads: the
	 * parent's thread would continue with what the child registered. */
	if (__atomic_compare_exchange_n(&dw_process->pid, &known, pid, false, __ATOMIC_ACQ_REL,
	                                __ATOMIC_ACQUIRE))
		return true;
	return known == pid;
}

/* True while this thread writes the PROCESS entry, which interns names. */
static __attribute__((noinline)) bool process_is_registering_here(void)
{
	uint32_t who = __atomic_load_n(&dw_process->registering, __ATOMIC_RELAXED);

	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	return who && who == (uint32_t)dw_gettid() &&
	       !dw_process_jumped(DW_LOAD(dw_process->lock_frame), frame);
}

bool dw_process_ready(enum dw_loss *cause)
{
	bool ready;

	if (__atomic_load_n(&dw_process->generation, __ATOMIC_ACQUIRE) ==
	        DW_LOAD(dw_session.generation) &&
	    __atomic_load_n(&dw_process->id, __ATOMIC_ACQUIRE))
		return true;
	*cause = DW_LOSS_SANDBOX;
	if (!dw_may_call())
		return false;
	if (process_is_registering_here())
		return true;
	if (!dw_process_own_memory()) {
		*cause = DW_LOSS_FOREIGN;
		return false;
	}
	*cause = (enum dw_loss)DW_LOAD(dw_process->refusal);
	if (dw_now() < __atomic_load_n(&dw_process->retry_ticks, __ATOMIC_RELAXED))
		return false;
	*cause = dw_process_lock_loss();
	if (!dw_process_lock())
		return false;
	ready = process_calls->enroll();
	if (!ready) {
		*cause = (enum dw_loss)DW_LOAD(dw_process->refusal);
		__atomic_store_n(&dw_process->retry_ticks,
		                 dw_now() + dw_session_map()->ticks_per_second / 16, __ATOMIC_RELAXED);
	}
	dw_process_unlock();
	if (ready && __atomic_exchange_n(&dw_process->replay_due, false, __ATOMIC_SEQ_CST))
		process_calls->replay();
	return ready;
}

/* ---- the control page ---------------------------------------------------------- */

void dw_step_look(void)
{
	struct dw_control *control = DW_LOAD(dw_session.control);

	if (DW_LOAD(control->capture))
		dw_control_look(dw_session_map(), control, dw_now());
}

/* ---- losses ------------------------------------------------------------------ */

/* A thread with an entry counts its losses there, alone. Other losses are counted in the head. */
void dw_slot_lost(struct dw_slot *slot, enum dw_loss cause, uint64_t records)
{
	struct dw_head *head = dw_session_head();

	if (slot && slot->entry && slot->generation == DW_LOAD(dw_session.generation)) {
		uint64_t *lost = &slot->entry->lost[cause];

		/* Atomic: a signal handler of this thread may interrupt the addition and count too. */
		__atomic_fetch_add(lost, records, __ATOMIC_RELAXED);
	} else if (head) {
		__atomic_fetch_add(&head->lost[cause], records, __ATOMIC_RELAXED);
	}
}
