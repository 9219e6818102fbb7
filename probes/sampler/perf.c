/*
 * Events of the kernel in place of a thread's timer: they also say which functions of the kernel the thread is in.
 *
 * The kernel sends the same signal at each event, and the handler walks the stack in user space as it does for a timer.
 * What the kernel saw lies in memory that it shares with the thread. A thread that is in the kernel gets the signal on
 * the way out, so all events since the last signal have the same stack in user space.
 *
 * The descriptor is closed at once: the mapping keeps the event alive, and the program finds its own numbers. Steps at a breakpoint
 * (entry_trap.c) map their events in the same way.
 */
#include "sampler.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "base/system/system.h"
#include "format/perf_event.h"

#define RECORD_LOST 2u
#define RECORD_SAMPLE 9u
#define MOST_ADDRESS ((uint64_t)-4096) /* what is larger in a stack is a mark */
#define OWNER_THREAD 0                 /* as the kernel numbers them; libc may have no names */
#define SET_SIGNAL 10
#define SET_OWNER 15
#define LIMIT_QUEUED 11  /* RLIMIT_SIGPENDING */
#define LEAST_QUEUED 64u
#define PROC_MAGIC 0x9fa0

static long perf_control(int fd, int what, long argument)
{
	return dw_system(SYS_fcntl, fd, what, argument, 0, 0, 0);
}

/* Where the queue of signals is full, the kernel sends SIGIO in place of this one, which would end the program. */
bool dws_perf_has_queue(void)
{
	uint64_t limits[2] = { 0, 0 };

	return !dw_call(SYS_prlimit64, 0, LIMIT_QUEUED, 0, limits) && limits[0] >= LEAST_QUEUED;
}

size_t dws_ring_bytes(void)
{
	return 2 * getauxval(AT_PAGESZ);
}

struct dws_ring *dws_ring_map(int fd, int thread, bool is_kept)
{
	const int owner[2] = { OWNER_THREAD, thread };
	long ring = fd < 0 ? -1 : dw_system(SYS_mmap, 0, (long)dws_ring_bytes(), PROT_READ | (is_kept ? PROT_WRITE : 0), MAP_SHARED, fd, 0);

	if (!dw_system_failed(ring) && (perf_control(fd, SET_SIGNAL, DWS_SIGNAL) || perf_control(fd, SET_OWNER, (long)(uintptr_t)owner) ||
	                                perf_control(fd, F_SETFL, O_ASYNC))) {
		dws_ring_end((struct dws_ring *)ring);
		ring = -1;
	}
	return dw_system_failed(ring) ? NULL : (struct dws_ring *)ring;
}

void dws_ring_end(struct dws_ring *ring)
{
	dw_system(SYS_munmap, (long)(uintptr_t)ring, (long)dws_ring_bytes(), 0, 0, 0, 0);
}

bool dws_perf_start(struct dws_perf *perf, long period_ns)
{
	int fd = dws_perf_has_queue() ? dw_perf_event_open_samples((uint64_t)period_ns) : -1;

	perf->number = fd + 1;
	perf->ring = dws_ring_map(fd, (int)dw_call(SYS_gettid), true);
	if (fd >= 0)
		dw_call(SYS_close, fd);
	return perf->ring != NULL;
}

void dws_perf_stop(struct dws_perf *perf)
{
	struct dws_ring *ring = perf->ring;

	perf->ring = NULL;
	if (ring)
		dws_ring_end(ring);
}

static void perf_mask(int how)
{
	uint64_t signal = (uint64_t)1 << (DWS_SIGNAL - 1);

	dw_system(SYS_rt_sigprocmask, how, (long)(uintptr_t)&signal, 0, 8, 0, 0);
}

/* What is in /proc answers at once, and tells the program its own mask. */
static bool perf_is_proc(int file)
{
	struct statfs about;

	return !dw_system_failed(dw_call(SYS_fstatfs, file, &about)) && about.f_type == PROC_MAGIC;
}

/* Pairs with users_change(): a thread that blocks the signal too late for it finds that events have ended. */
bool dws_perf_hold(int file)
{
	if (file == DWS_NOT_HELD || dws_is_apart() || (file >= 0 && perf_is_proc(file))) /* apart all signals are blocked */
		return false;
	perf_mask(SIG_BLOCK);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (dws_process.has_perf)
		return true;
	perf_mask(SIG_UNBLOCK);
	return false;
}

/* The mask that a call of this thread has, if dws_perf_mask() made it; written by a handler, too. */
static __thread sigset_t *volatile held_now __attribute__((__tls_model__("initial-exec")));

void dws_perf_release(void)
{
	held_now = NULL;
	perf_mask(SIG_UNBLOCK);
}

/* The kernel's set has a bit for each signal; libc does not add this one. */
static void perf_change(sigset_t *mask, bool add)
{
	uint64_t word;

	memcpy(&word, mask, sizeof word);
	word &= ~((uint64_t)1 << (DWS_SIGNAL - 1));
	word |= (uint64_t)add << (DWS_SIGNAL - 1);
	memcpy(mask, &word, sizeof word);
}

const sigset_t *dws_perf_mask(const sigset_t *mask, sigset_t *held)
{
	memset(held, 0, sizeof *held);
	memcpy(held, mask, sizeof(uint64_t));
	held_now = held;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	perf_change(held, dws_process.has_perf);
	return held;
}

void dws_perf_clear(sigset_t *mask)
{
	perf_change(mask, false);
	if (held_now)
		perf_change(held_now, false);
}

uint32_t dws_perf_next(const struct dws_perf *perf, struct dws_kernel *kernel)
{
	const uint64_t words = getauxval(AT_PAGESZ) / 8;
	struct dws_ring *ring = perf->ring;
	const uint64_t *data = (const uint64_t *)(const void *)ring + words;
	uint64_t head = dws_ring_head(ring) / 8, at = ring->tail / 8;
	uint32_t periods = 0;

	kernel->count = 0;
	while (!periods && at < head) {
		uint64_t begin = data[at % words], bytes = begin >> 48, last;

		if (bytes < 8) /* never */
			bytes = (head - at) * 8;
		if ((uint32_t)begin == RECORD_LOST)
			periods = (uint32_t)data[(at + 2) % words];
		if ((uint32_t)begin == RECORD_SAMPLE) {
			periods = 1;
			last = at + 2 + data[(at + 1) % words];
			for (uint64_t i = at + 2; i < last && i < at + bytes / 8 && kernel->count < DWS_KERNEL_FRAMES; i++) {
				uint64_t address = data[i % words];

				if (address < MOST_ADDRESS) { /* of a caller it is where it goes on */
					kernel->places[kernel->count] = (uintptr_t)address - (kernel->count > 0);
					kernel->count++;
				}
			}
		}
		at += bytes / 8;
	}
	/* Pairs with the kernel's order: it writes there after this thread has read. */
	__atomic_store_n(&ring->tail, at * 8, __ATOMIC_RELEASE);
	return periods;
}
