/*
 * Memory that a probe keeps for each thread, and that the next thread gets when one has ended.
 *
 * No destructor runs. A thread that registers takes the memory of a dead thread; the recorder
 * reuses its slots in the same way. Each probe that includes this header has its own pools.
 * May be called in signal handlers. Invariant: memory belongs to the live thread that took it,
 * in the process that took it: in a child of fork nobody else gets the forking thread's.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DWP_THREADS_LOOKED_AT 16 /* each time: as many as keep up with threads that end */

/* At the head of each thread's memory. */
struct dwp_thread_memory {
	struct dwp_thread_memory *next; /* set once */
	uint64_t owner;                   /* atomic; process id << 32 | thread id */
};

struct dwp_thread_pool {
	struct dwp_thread_memory *first; /* atomic; the newest */
	struct dwp_thread_memory *look;  /* atomic; where to look next */
};

/* Whether the thread of this process has ended. */
static inline int dwp_thread_is_dead(uint64_t owner)
{
	return owner >> 32 == (uint64_t)getpid() &&
	       syscall(SYS_tgkill, (long)(owner >> 32), (long)(owner & 0xffffffffu), 0L) != 0 &&
	       errno == ESRCH;
}

/* `bytes` for the calling thread, of which the first are a struct dwp_thread_memory; the rest
 * is zero, or what the thread before left. NULL: there is no memory. Keeps errno. */
static inline void *dwp_thread_memory(struct dwp_thread_pool *pool, size_t bytes)
{
	uint64_t self = (uint64_t)getpid() << 32 | (uint64_t)(uint32_t)syscall(SYS_gettid);
	struct dwp_thread_memory *memory;
	int saved = errno;

	for (int i = 0; i < DWP_THREADS_LOOKED_AT; i++) {
		uint64_t owner;

		memory = __atomic_load_n(&pool->look, __ATOMIC_ACQUIRE);
		if (!memory) /* Acquire: `next` of all that were added before is seen. */
			memory = __atomic_load_n(&pool->first, __ATOMIC_ACQUIRE);
		if (!memory)
			break;
		__atomic_store_n(&pool->look, memory->next, __ATOMIC_RELEASE);
		owner = __atomic_load_n(&memory->owner, __ATOMIC_RELAXED);
		/* Acquire: what the dead thread wrote last was released by the kernel's exit. */
		if (dwp_thread_is_dead(owner) &&
		    __atomic_compare_exchange_n(&memory->owner, &owner, self, 0, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED)) {
			errno = saved;
			return memory;
		}
	}
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (memory == MAP_FAILED)
		return NULL;
	memory->owner = self;
	memory->next = __atomic_load_n(&pool->first, __ATOMIC_ACQUIRE);
	/* Pairs with the acquires above. */
	while (!__atomic_compare_exchange_n(&pool->first, &memory->next, memory, 0, __ATOMIC_ACQ_REL,
	                                    __ATOMIC_ACQUIRE))
		;
	return memory;
}
