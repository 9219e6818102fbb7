/*
 * The process: everything that a child of fork must not share with its father.
 *
 * It lies in one mapping that the kernel hands to children as zeros
 * (MADV_WIPEONFORK), so that a child starts unregistered whatever made it: fork,
 * _Fork or a raw clone. Where the kernel has no such mapping (Linux before 4.14) or says
 * that it has and does nothing (qemu), a fork handler clears it. Zero is the state
 * "knows nothing" of every field.
 */
#include "record/record.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct dw_process *dw_process;

pid_t dw_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void clear_in_child(void)
{
	uint32_t pid = DW_LOAD(dw_process->pid);

	if (!pid || pid == (uint32_t)getpid())
		return; /* the kernel did, and an earlier handler may have recorded since */
	/* Fresh zero pages; cheaper than writing megabytes of zeros. */
	if (mmap(dw_process, sizeof *dw_process, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		memset(dw_process, 0, sizeof *dw_process);
}

int dw_process_prepare(void)
{
	struct dw_process *memory, *none = NULL;

	if (__atomic_load_n(&dw_process, __ATOMIC_ACQUIRE))
		return 0;
	memory = mmap(NULL, sizeof *dw_process, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return DWELL_E_NOMEM;
	memory->pid = (uint32_t)getpid();
	/* Pairs with the acquire above. Of two threads that start at once, one is first. */
	if (!__atomic_compare_exchange_n(&dw_process, &none, memory, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_ACQUIRE)) {
		munmap(memory, sizeof *memory);
	} else {
		madvise(memory, sizeof *memory, MADV_WIPEONFORK);
		pthread_atfork(NULL, NULL, clear_in_child);
	}
	return 0;
}

bool dw_process_thread_dead(uint32_t tid)
{
	/* With the pid of registration: in a child of vfork ours differs, and the
	 * father's threads would look dead. */
	return syscall(SYS_tgkill, (pid_t)DW_LOAD(dw_process->pid), (pid_t)tid, 0) != 0 && errno == ESRCH;
}

/*
 * The lock serves claims and registration, which happen a few times a second at
 * most and take microseconds, or as long as the file system does. Waiting is
 * bounded (about a second), a handler that interrupted the holder gives up at once,
 * and of a thread that was cancelled inside the lock is taken over: nothing under
 * it is left half done in a way that harms. The acquire pairs with the release of
 * the unlock: who holds the lock sees what holders before it wrote.
 */
bool dw_process_lock(void)
{
	const struct timespec pause = { 0, 50000 };
	uint32_t self = (uint32_t)dw_gettid();

	for (int tries = 0; tries < 12000; tries++) {
		uint32_t owner = 0;

		if (__atomic_compare_exchange_n(&dw_process->lock, &owner, self, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED))
			return true;
		if (owner == self)
			return false;
		if (tries > 2000)
			nanosleep(&pause, NULL);
		else if (tries > 100)
			sched_yield();
		if (tries > 2000 && tries % 64 == 0 && dw_process_thread_dead(owner) &&
		    __atomic_compare_exchange_n(&dw_process->lock, &owner, self, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

void dw_process_unlock(void)
{
	__atomic_store_n(&dw_process->lock, 0, __ATOMIC_RELEASE);
}

enum dw_loss dw_process_refusal(void)
{
	/* A handler that interrupted the holder of the lock. */
	if (__atomic_load_n(&dw_process->lock, __ATOMIC_RELAXED) == (uint32_t)dw_gettid())
		return DW_LOSS_BUSY;
	return (enum dw_loss)DW_LOAD(dw_process->refusal);
}

static bool same_memory(void)
{
	uint32_t pid = (uint32_t)getpid(), known = 0;

	/* A new child says who it is. A child of vfork finds its father's pid: it runs
	 * on the father's memory and thread pointer and must not register. */
	if (__atomic_compare_exchange_n(&dw_process->pid, &known, pid, false, __ATOMIC_ACQ_REL,
	                                __ATOMIC_ACQUIRE))
		return true;
	return known == pid;
}

static void forget_session(void)
{
	DW_STORE(dw_process->id, 0);
	dw_process->window = 0;
	DW_STORE(dw_process->journal, 0);
	dw_process->journal_number = 0;
	DW_STORE(dw_process->steps, 0);
	DW_STORE(dw_process->has_gate, false);
}

/* The PROCESS entry is the first of its journal, and `id` is published when it
 * stands: a reader and dw_file_finish() rely on it. */
static bool write_entry(void)
{
	struct dw_entry_process facts = { .entry.id = dw_process->new_id }, *entry;

	entry = dw_journal_reserve(sizeof *entry);
	if (!entry)
		return false;
	/* Only now: a handler that names something here must not come before it. */
	__atomic_store_n(&dw_process->registering, (uint32_t)dw_gettid(), __ATOMIC_RELAXED);
	facts.entry.aux = dw_session.parent_process;
	facts.pid = (uint32_t)getpid();
	facts.ppid = (uint32_t)getppid();
	facts.start_ticks = dw_now();
	dw_facts_process(&facts);
	facts.entry.bytes = entry->entry.bytes;
	*entry = facts;
	dw_journal_commit(entry, DW_ENTRY_PROCESS);
	return true;
}

static bool register_locked(void)
{
	bool done;

	if (dw_process->id && dw_process->generation == DW_LOAD(dw_session.generation))
		return true; /* another thread was first */
	if (dw_process->generation != DW_LOAD(dw_session.generation))
		forget_session();
	/* After id is 0: who sees this generation sees no other session's id. */
	__atomic_store_n(&dw_process->generation, DW_LOAD(dw_session.generation), __ATOMIC_RELEASE);
	DW_STORE(dw_process->new_id, dw_new_id());
	if (!dw_process->new_id || !dw_journal_open())
		return false;
	done = write_entry();
	if (done)
		dw_journal_clock();
	__atomic_store_n(&dw_process->registering, 0, __ATOMIC_RELAXED);
	if (!done)
		return false;
	dw_session.parent_process = dw_process->new_id;
	__atomic_store_n(&dw_process->id, dw_process->new_id, __ATOMIC_RELEASE);
	return true;
}

/* Names of the PROCESS entry are interned while it is being written. */
static bool registering_here(void)
{
	uint32_t who = __atomic_load_n(&dw_process->registering, __ATOMIC_RELAXED);

	return who && who == (uint32_t)dw_gettid();
}

bool dw_process_ready(enum dw_loss *cause)
{
	bool ready;

	if (__atomic_load_n(&dw_process->generation, __ATOMIC_ACQUIRE) ==
	        DW_LOAD(dw_session.generation) &&
	    __atomic_load_n(&dw_process->id, __ATOMIC_ACQUIRE))
		return true;
	if (registering_here())
		return true;
	if (!same_memory()) {
		*cause = DW_LOSS_FOREIGN;
		return false;
	}
	*cause = (enum dw_loss)DW_LOAD(dw_process->refusal);
	if (dw_now() < __atomic_load_n(&dw_process->retry_ticks, __ATOMIC_RELAXED))
		return false;
	*cause = DW_LOSS_BUSY;
	if (!dw_process_lock())
		return false;
	ready = register_locked();
	if (!ready) {
		*cause = (enum dw_loss)DW_LOAD(dw_process->refusal);
		__atomic_store_n(&dw_process->retry_ticks,
		                 dw_now() + dw_session_map()->ticks_per_second / 16, __ATOMIC_RELAXED);
	}
	dw_process_unlock();
	return ready;
}
