/*
 * The account of processor time: what the kernel counted for the process and its threads, so that a reader can say how
 * much of it no sample stands for.
 *
 * Each sample notes in its thread's entry what the thread has used so far. That survives a kill. A thread's end is seen
 * by the sampler, which has a function there; short threads that end without an entry are only counted. When the
 * process ends, the threads that still run are read once more, and the whole of the process is written. Nothing is
 * written for a process that recorded nothing.
 *
 * A process that executed another program before counts from there on.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/system/system.h"
#include "format/keys.h"
#include "record/about_process.h"
#include "record/chunks.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/thread.h"
#include "record/usages.h"

/* The kernel's number of the clock of another thread of this process: of the CPU time that its scheduler counted. */
#define ACCOUNT_CLOCK_OF(tid) ((long)(int)(~(uint32_t)(tid) << 3 | 6u))
#define LONG_PERIODS 5u    /* of CPU time: a thread that ends with more and has no sample gets an entry, too */
#define LEAST_LOADED_NS 10000000u /* that a process used before: less is not worth an entry */
#define MOST_THREADS 4096u /* that are read at the process's end, which takes 0.3 us each */

static struct {
	uint64_t loaded_ns,
		loaded_thread_ns; /* CPU time of the process and its first thread when this library was loaded */
	uint32_t pid;         /* of the process that loaded it */
	uint64_t period_ns;   /* of the samples that the process was to have; 0: no account */
	bool closed;          /* atomic; the program is in a sandbox, where a system call may end it */
} account;

/* 0: the thread has ended. */
static uint64_t account_clock(long clock)
{
	struct timespec now = { 0, 0 };

	if (dw_system(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What is part of the program that was executed last, of a thread, or, with 0, of the process. */
static uint64_t account_since(uint64_t ns, uint32_t thread)
{
	uint32_t pid = DW_LOAD(dw_process->pid);
	uint64_t before = thread ? account.loaded_thread_ns : account.loaded_ns;

	if (pid != account.pid || (thread && thread != pid))
		return ns;
	return ns > before ? ns - before : 0;
}

void dw_account_begin(void)
{
	const char *asked = getenv("DWELL_SAMPLE");
	long period_ns = asked ? strtol(asked, NULL, 10) : 0;

	account.loaded_ns = account_clock(CLOCK_PROCESS_CPUTIME_ID);
	account.pid = (uint32_t)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
	if ((uint32_t)dw_gettid() == account.pid)
		account.loaded_thread_ns = account_clock(CLOCK_THREAD_CPUTIME_ID);
	account.period_ns = period_ns > 0 ? (uint64_t)period_ns : 0;
}

/* Without libc's functions of text: this runs in signal handlers. Returns the end. */
static char *account_write(char *to, uint64_t number)
{
	char digits[20];
	unsigned count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	while (count)
		*to++ = digits[--count];
	return to;
}

void dw_account_register(void)
{
	char text[24];

	if (!account.period_ns || dw_session.runner)
		return;
	*account_write(text, account.period_ns) = '\0';
	dw_meta(DW_KEY_SAMPLE_ASKED_NS, text, DW_META_JSON);
	if (account.loaded_ns < LEAST_LOADED_NS || account.pid != DW_LOAD(dw_process->pid))
		return;
	*account_write(text, account.loaded_ns) = '\0';
	dw_meta(DW_KEY_LOADED_CPU_NS, text, DW_META_JSON);
}

static bool account_is_kept(void)
{
	return account.period_ns && !DW_LOAD(account.closed) && dw_session_head() && dw_process;
}

/* The calling thread's entry in this session, if it has one. */
static struct dw_entry_thread *account_entry(void)
{
	struct dwell_stream *stream = DW_LOAD(dwell_this_stream);
	struct dw_slot *slot = (struct dw_slot *)(void *)stream;

	if (stream == &dw_slot_none || !DW_LOAD(slot->tid) || slot->generation != DW_LOAD(dw_session.generation))
		return NULL;
	return slot->entry;
}

void dw_account_sample(uint32_t weight)
{
	struct dw_entry_thread *entry = account_is_kept() ? account_entry() : NULL;
	uint64_t ns;

	if (!entry)
		return;
	ns = account_since(account_clock(CLOCK_THREAD_CPUTIME_ID), entry->tid);
	DW_STORE(entry->cpu_ns, ns);
	DW_STORE(entry->sampled_cpu_ns, ns);
	DW_STORE(entry->sample_weight, DW_LOAD(entry->sample_weight) + weight);
}

static uint32_t account_lived(uint64_t start_ticks)
{
	uint64_t units = ((dw_now() - start_ticks) >> DW_LIVED_BITS) + 1;

	return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

uint64_t dwell_thread_leave(bool blocked)
{
	struct dw_entry_thread *entry;
	uint64_t ns;

	if (!account_is_kept() || !dw_process_own_memory())
		return 0;
	entry = account_entry();
	ns = account_clock(CLOCK_THREAD_CPUTIME_ID);
	if (!entry && ns >= LONG_PERIODS * account.period_ns && dw_slot_here(NULL))
		entry = account_entry();
	if (entry) {
		DW_STORE(entry->cpu_ns, account_since(ns, entry->tid));
		DW_STORE(entry->lived, account_lived(entry->start_ticks));
		DW_STORE(entry->end, DW_THREAD_ENDED | (blocked ? DW_THREAD_BLOCKED : 0));
	} else {
		__atomic_fetch_add(&dw_process->unseen_threads, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&dw_process->unseen_cpu_ns, ns, __ATOMIC_RELAXED);
	}
	return ns;
}

/* Threads that run at the end of the process. */
static void account_read_threads(void)
{
	uint32_t count = __atomic_load_n(&dw_process->slot_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count && i < MOST_THREADS; i++) {
		struct dw_slot *slot = dw_process_slot(i);
		uint32_t tid = DW_LOAD(slot->tid);
		struct dw_entry_thread *entry = slot->entry;
		uint64_t ns;

		if (!tid || !entry || slot->generation != DW_LOAD(dw_session.generation) || entry->tid != tid ||
		    DW_LOAD(entry->end))
			continue;
		ns = account_clock(ACCOUNT_CLOCK_OF(tid));
		if (ns)
			DW_STORE(entry->cpu_ns, account_since(ns, tid));
	}
}

/* What the whole process used beside CPU time, as [minor faults, major faults, waits, preemptions, system time in ns]. */
static void account_note_used(void)
{
	char text[128] = "[", *end = text + 1;
	struct rusage used;

	if (dw_call(SYS_getrusage, RUSAGE_SELF, &used) != 0)
		return;
	const uint64_t values[] = { (uint64_t)used.ru_minflt, (uint64_t)used.ru_majflt, (uint64_t)used.ru_nvcsw, (uint64_t)used.ru_nivcsw,
		                        (uint64_t)used.ru_stime.tv_sec * 1000000000u + (uint64_t)used.ru_stime.tv_usec * 1000u };

	for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
		if (i)
			*end++ = ',';
		end = account_write(end, values[i]);
	}
	memcpy(end, "]", 2);
	dw_meta(DW_KEY_PROCESS_USED, text, DW_META_JSON);
}

/* For how long the process's main thread was ready to run and had no CPU. Of a program that `dwell run` starts, that says it, too. */
static void account_note_delay(void)
{
	uint64_t cpu_ns, delay_ns;
	char text[24];

	if ((account.loaded_ns >= LEAST_LOADED_NS && account.pid == DW_LOAD(dw_process->pid)) ||
	    !dw_usage_read_delay("/proc/self/schedstat", &cpu_ns, &delay_ns))
		return;
	*account_write(text, delay_ns) = '\0';
	dw_meta(DW_KEY_PROCESS_DELAY_NS, text, DW_META_JSON);
}

static void account_end(void)
{
	uint64_t threads;
	char text[64], *end;

	if (!account_is_kept() || !DW_LOAD(dw_process->id))
		return;
	threads = DW_LOAD(dw_process->unseen_threads);
	account_read_threads();
	*account_write(text, account_since(account_clock(CLOCK_PROCESS_CPUTIME_ID), 0)) = '\0';
	dw_meta(DW_KEY_PROCESS_CPU_NS, text, DW_META_JSON);
	account_note_used();
	account_note_delay();
	if (!threads)
		return;
	text[0] = '[';
	end = account_write(text + 1, threads);
	*end++ = ',';
	end = account_write(end, DW_LOAD(dw_process->unseen_cpu_ns));
	memcpy(end, "]", 2);
	dw_meta(DW_KEY_SAMPLE_UNSEEN, text, DW_META_JSON);
}

void dwell_account_close(bool close)
{
	if (close)
		account_end();
	DW_STORE(account.closed, close);
}
