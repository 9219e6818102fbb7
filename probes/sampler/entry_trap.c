/*
 * Steps at functions whose code cannot be changed: the kernel watches the first instruction by a register of the processor, and
 * sends the thread that comes there the sampler's own signal, which no program can block or handle by libc.
 *
 * No code, no handler and no other signal of the program changes, and it finds no descriptor. What the thread has not been told yet
 * is in the ring that it shares with the kernel, so no call is lost where several are told at once. The price is two entries of the
 * kernel for each call: this is for functions that entry_patch.c refuses.
 *
 * Each thread has breakpoints of its own, until one of them has the steps. The others lose theirs when they come there next.
 * Children of fork do not get the mapping, and make their own.
 */
#include "entry_trap.h"

#ifdef __x86_64__

#include <dirent.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/system/system.h"
#include "entry_save.h"
#include "format/perf_event.h"

#define TRAPS 4u /* so many registers there are */
#define THREADS 1024u
#define RECORD_BYTES 8u /* a record is its head alone */
#define TRIES 8u
#define ENABLE 0x2400 /* PERF_EVENT_IOC_ENABLE */

static const uint8_t *traps[TRAPS];
static uint32_t count; /* atomic */
static void (*trap_called)(void);

static struct trap_thread {
	uint32_t number; /* atomic; the kernel's number of the thread; 0: the place is free */
	struct dws_ring *rings[TRAPS]; /* atomic; NULL: none */
	uint64_t seen[TRAPS];          /* up to there the thread has read */
} threads[THREADS];

static __thread struct trap_thread *mine __attribute__((__tls_model__("initial-exec")));
static __thread uint32_t *tried __attribute__((__tls_model__("initial-exec"))); /* counts in place of steps */
static uint64_t one_ns;

/* ---- threads ------------------------------------------------------------------------------------- */

static void trap_end(struct trap_thread *thread)
{
	for (unsigned i = 0; i < TRAPS; i++) {
		struct dws_ring *ring = __atomic_exchange_n(&thread->rings[i], NULL, __ATOMIC_ACQ_REL);

		if (ring)
			dws_ring_end(ring);
	}
	__atomic_store_n(&thread->number, 0, __ATOMIC_RELEASE);
}

static struct trap_thread *trap_find(uint32_t number)
{
	for (unsigned i = 0; i < THREADS; i++)
		if (__atomic_load_n(&threads[i].number, __ATOMIC_ACQUIRE) == number)
			return &threads[i];
	return NULL;
}

static struct trap_thread *trap_place(uint32_t number)
{
	for (unsigned i = 0; i < THREADS; i++) {
		uint32_t nobody = 0;

		if (__atomic_compare_exchange_n(&threads[i].number, &nobody, number, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &threads[i];
	}
	return NULL;
}

/* Nobody is told when a thread ends. */
static void trap_end_dead(void)
{
	for (unsigned i = 0; i < THREADS; i++) {
		uint32_t number = __atomic_load_n(&threads[i].number, __ATOMIC_ACQUIRE);

		if (number && dw_system_failed(dw_call(SYS_tgkill, dws_process.pid, number, 0)))
			trap_end(&threads[i]);
	}
}

static bool trap_set(struct trap_thread *thread, unsigned i, const uint8_t *code)
{
	int number = (int)__atomic_load_n(&thread->number, __ATOMIC_RELAXED), fd = dw_perf_event_open_breakpoint(code, number);
	struct dws_ring *ring = dws_ring_map(fd, number, false);

	thread->seen[i] = 0;
	__atomic_store_n(&thread->rings[i], ring, __ATOMIC_RELEASE);
	if (ring)
		dw_call(SYS_ioctl, fd, ENABLE, 0);
	if (fd >= 0)
		dw_call(SYS_close, fd);
	return ring != NULL;
}

/* The thread has the breakpoints that it does not have yet. */
static bool trap_set_thread(uint32_t number)
{
	struct trap_thread *thread = trap_find(number);
	unsigned last = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
	bool done = true;

	if (!thread)
		thread = trap_place(number);
	for (unsigned i = 0; thread && done && i < last; i++)
		done = __atomic_load_n(&thread->rings[i], __ATOMIC_ACQUIRE) || trap_set(thread, i, traps[i]);
	return thread && done;
}

void dws_trap_thread(void)
{
	struct trap_thread *before;
	uint32_t number;

	if (!__atomic_load_n(&count, __ATOMIC_ACQUIRE) || dws_process.in_sandbox ||
	    (__atomic_load_n(&dws_entry_taken, __ATOMIC_RELAXED) && !dws_entry_steps))
		return;
	number = (uint32_t)dw_call(SYS_gettid);
	before = trap_find(number); /* a thread that has ended had this number */
	if (before)
		trap_end(before);
	mine = NULL;
	if (!trap_set_thread(number)) {
		trap_end_dead();
		trap_set_thread(number);
	}
}

void dws_trap_forked(void)
{
	if (!__atomic_load_n(&count, __ATOMIC_ACQUIRE) || dws_process.in_sandbox)
		return;
	mine = NULL;
	dws_clear(threads, sizeof threads);
	trap_set_thread((uint32_t)dw_call(SYS_gettid));
}

bool dws_trap_leave(void)
{
	/* Another thread may read its ring now: it finds zeros there. */
	for (unsigned i = 0; i < THREADS * TRAPS; i++) {
		struct dws_ring *ring = __atomic_load_n(&threads[i / TRAPS].rings[i % TRAPS], __ATOMIC_ACQUIRE);

		if (ring)
			dw_call(SYS_mmap, ring, dws_ring_bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	return __atomic_load_n(&count, __ATOMIC_ACQUIRE) > 0;
}

/* Is called while breakpoints are tried. */
__attribute__((noinline)) static void trap_probe(void)
{
	__asm__ volatile("");
}

/* ---- the signal ---------------------------------------------------------------------------------- */

/* How often the thread came to breakpoints since it was asked last. */
static uint64_t trap_hits(struct trap_thread *thread)
{
	uint64_t hits = 0;

	for (unsigned i = 0; i < TRAPS; i++) {
		const struct dws_ring *ring = __atomic_load_n(&thread->rings[i], __ATOMIC_ACQUIRE);
		uint64_t head = ring ? dws_ring_head(ring) : 0;

		if (head > thread->seen[i]) {
			hits += (head - thread->seen[i]) / RECORD_BYTES;
			thread->seen[i] = head;
		}
	}
	return hits;
}

static void trap_steps(void *hits)
{
	dws_signals_end_stack();
	for (uint64_t left = *(const uint64_t *)hits; left; left--)
		trap_called();
}

/* Whether the thread is about to execute an instruction with a breakpoint: then it is where a call of dws_entry_save() would be, and
 * within no lock that a step could need. A signal that was held back comes elsewhere, and its calls are counted at the next one. */
static bool trap_is_at(const ucontext_t *context)
{
	const uint8_t *at = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];
	unsigned last = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
	bool is = tried && at == (const uint8_t *)(uintptr_t)trap_probe;

	for (unsigned i = 0; i < last && !is; i++)
		is = at == traps[i];
	return is;
}

bool dws_trap_take(const siginfo_t *info, ucontext_t *context)
{
	uint64_t hits;

	if (info->si_code != POLL_IN || !__atomic_load_n(&count, __ATOMIC_ACQUIRE))
		return false;
	if (!mine)
		mine = trap_find((uint32_t)dw_call(SYS_gettid));
	if (!mine)
		return false;
	hits = dws_process.in_sandbox || !trap_is_at(context) ? 0 : trap_hits(mine);
	if (hits && tried) {
		*tried += (uint32_t)hits;
	} else if (hits && __atomic_load_n(&dws_entry_taken, __ATOMIC_RELAXED) && !dws_entry_steps) {
		trap_end(mine);
		mine = NULL;
	} else if (hits) {
		dws_signals_mend(context);
		dws_apart_masked(trap_steps, &hits);
	}
	return true;
}

/* ---- the begin ----------------------------------------------------------------------------------- */

static uint64_t trap_used_ns(void)
{
	struct timespec now = { 0, 0 };

	dw_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether a breakpoint is permitted and tells of each call, by one in this library. Measures what a call takes. */
static bool trap_works(void)
{
	struct trap_thread *thread = trap_place((uint32_t)dw_call(SYS_gettid));
	uint32_t hits = 0;
	uint64_t began_ns;

	if (!thread || !trap_set(thread, 0, (const uint8_t *)(uintptr_t)trap_probe)) {
		if (thread)
			trap_end(thread);
		return false;
	}
	mine = thread;
	tried = &hits;
	trap_probe();
	began_ns = trap_used_ns();
	for (unsigned i = 1; i < TRIES; i++)
		trap_probe();
	one_ns = (trap_used_ns() - began_ns) / (TRIES - 1);
	tried = NULL;
	mine = NULL;
	trap_end(thread);
	return __atomic_load_n(&hits, __ATOMIC_RELAXED) == TRIES;
}

uint64_t dws_trap_ns(void)
{
	return one_ns;
}

/* Threads that begin meanwhile set theirs themselves. */
static void trap_set_others(uint32_t own)
{
	DIR *all = opendir("/proc/self/task");
	const struct dirent *entry;

	while (all && (entry = readdir(all)) != NULL) {
		uint32_t number = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (number && number != own)
			trap_set_thread(number);
	}
	if (all)
		closedir(all);
}

const char *dws_trap(const uint8_t *code, void (*called)(void))
{
	uint32_t own = (uint32_t)dw_call(SYS_gettid), i = __atomic_load_n(&count, __ATOMIC_RELAXED);
	bool works;

	if (!dws_process.period_ns)
		return "a breakpoint of the kernel needs samples: leave out --sample off";
	if (!dws_perf_has_queue())
		return "for a breakpoint of the kernel too few signals may be pending: raise ulimit -i";
	if (i == TRAPS)
		return "the processor has four breakpoints, and there are more copies of the function";
	traps[i] = code;
	trap_called = called;
	__atomic_store_n(&count, i + 1, __ATOMIC_RELEASE); /* signals are breakpoints' from now on */
	works = (i || trap_works()) && trap_set_thread(own);
	if (!works) {
		__atomic_store_n(&count, i, __ATOMIC_RELEASE);
		return "the system permits no breakpoint of the kernel: permit perf_event_open(), by kernel.perf_event_paranoid of "
		       "at most 2 and in a container's rules";
	}
	trap_set_others(own);
	return NULL;
}
#endif
