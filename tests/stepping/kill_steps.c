/*
 * Programs that are killed at an instruction: each range that they ended is in the trace, or counted as lost.
 *
 *   kill_steps --count N [--seed S] [--keep]     in the current folder; the last line: N passed, N failed
 *
 * In each round a program records ranges into a small trace, so that chunks are recycled. It runs at full speed for a
 * random time, then to a random call of a function of the recorder that takes, recycles or gives back memory of the
 * trace, or to the return from it; there one thread is stepped by a random number of instructions, and the process is
 * killed. The program counts what it did in memory that it shares with this one. The trace is read by the decoder of
 * the stress tests.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "dwell/probe.h"

#include "../stress/decode.h"
#include "kernel.h"
#include "tracer.h"

#define THREADS 4u
#define FUNCTIONS 256u
#define TRACE "killed.dwell"
#define BYTES ((uint64_t)1 << 20)
#define SHORT_LIFE 4000u   /* ranges of a thread, where threads end */
#define WAIT_SECONDS 0.004 /* for a call of the function */
#define BREAK ((uint8_t)0xcc)

/* Each thread's own words are on a line of their own. */
static struct tally {
	struct {
		uint64_t begun, ended;
		uint64_t unused[6];
	} thread[THREADS];
	uint32_t go;
} * tally;

static struct tracer_function functions[FUNCTIONS];
static size_t function_count;
static uintptr_t base; /* where the recorder is loaded, here and in the children */

/* What is done in one round. */
struct round {
	uint64_t random;
	unsigned threads;
	bool threads_end;
	double free_ms;           /* at full speed */
	unsigned function, calls; /* then to this call of this function */
	bool to_return;
	unsigned steps;
	pid_t process, thread; /* `thread`: the one that is stepped; 0: the function was not called in time */
};

/* ---- the program that is killed --------------------------------------------------------------------- */

static void kill_record(unsigned number, uint64_t most)
{
	for (uint64_t i = 0; i < most; i++) {
		__atomic_store_n(&tally->thread[number].begun, tally->thread[number].begun + 1, __ATOMIC_RELAXED);
		{
			DWELL_ZONE("r");
		}
		__atomic_store_n(&tally->thread[number].ended, tally->thread[number].ended + 1, __ATOMIC_RELAXED);
	}
}

static void *kill_work(void *number)
{
	kill_record((unsigned)(uintptr_t)number, UINT64_MAX);
	return NULL;
}

static void *kill_work_shortly(void *number)
{
	kill_record((unsigned)(uintptr_t)number, SHORT_LIFE);
	return NULL;
}

static void kill_be_victim(const struct round *round)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0 };
	pthread_t thread[THREADS];

	while (!__atomic_load_n(&tally->go, __ATOMIC_ACQUIRE))
		kernel(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	options.path = TRACE;
	options.overwrite = true;
	options.max_size_bytes = BYTES;
	options.keep = round->random & 1 ? DWELL_KEEP_NEWEST : DWELL_KEEP_BOTH;
	if (dwell_start(&options, &error) != 0) {
		fprintf(stderr, "dwell_start: %s\n", error.message);
		_exit(3);
	}
	while (round->threads_end) {
		for (uintptr_t i = 1; i < round->threads; i++)
			pthread_create(&thread[i], NULL, kill_work_shortly, (void *)i);
		kill_record(0, SHORT_LIFE);
		for (uintptr_t i = 1; i < round->threads; i++)
			pthread_join(thread[i], NULL);
	}
	for (uintptr_t i = 1; i < round->threads; i++)
		pthread_create(&thread[i], NULL, kill_work, (void *)i);
	kill_record(0, UINT64_MAX);
}

/* ---- the way to the instruction ----------------------------------------------------------------------- */

/* Lets all threads run until one of them stops at the breakpoint. 0: none did in this time, or the process is gone. */
static pid_t kill_run(pid_t process, uintptr_t at, double seconds)
{
	double until = kernel_now() + seconds;
	struct user_regs_struct registers;
	double left;

	while ((left = until - kernel_now()) > 0) {
		int status = 0, signal = 0;
		pid_t thread = tracer_wait(-1, &status, left);

		if (thread <= 0 || (thread == process && !WIFSTOPPED(status)))
			return 0;
		if (!WIFSTOPPED(status))
			continue;
		if (at && status >> 8 == SIGTRAP && tracer_registers(thread, &registers) && registers.rip == at + 1) {
			registers.rip = at;
			ptrace(PTRACE_SETREGS, thread, NULL, &registers);
			return thread;
		}
		if (!(status >> 16) && WSTOPSIG(status) != SIGTRAP)
			signal = WSTOPSIG(status);
		tracer_resume(PTRACE_CONT, thread, signal);
	}
	return 0;
}

/* Runs to an instruction. Other threads that come there meanwhile go on. */
static pid_t kill_run_to(pid_t process, uintptr_t at, unsigned calls, double seconds)
{
	uint8_t own, stop = BREAK;
	pid_t thread = 0;

	if (!tracer_read(process, at, &own, 1))
		return 0;
	for (unsigned i = 0; i < calls; i++) {
		int status;

		tracer_write(process, at, &stop, 1);
		thread = kill_run(process, at, seconds);
		tracer_write(process, at, &own, 1);
		if (!thread || i + 1 == calls)
			break;
		tracer_resume(PTRACE_SINGLESTEP, thread, 0);
		tracer_wait(thread, &status, seconds);
		tracer_resume(PTRACE_CONT, thread, 0);
	}
	return thread;
}

static void kill_at_instruction(struct round *round)
{
	uintptr_t at = base + functions[round->function].offset, back;
	struct user_regs_struct registers;
	int status;

	/* One round in eight: at any moment of starting up. */
	for (int i = 0; round->random % 8 && !__atomic_load_n(&tally->thread[0].ended, __ATOMIC_RELAXED) && i < 4000; i++)
		kill_run(round->process, 0, 0.0005);
	kill_run(round->process, 0, round->free_ms / 1000);
	round->thread = kill_run_to(round->process, at, round->calls, WAIT_SECONDS);
	if (round->thread && round->to_return && tracer_registers(round->thread, &registers) &&
	    tracer_read(round->process, registers.rsp, &back, sizeof back)) {
		tracer_resume(PTRACE_CONT, round->thread, 0);
		round->thread = kill_run_to(round->process, back, 1, WAIT_SECONDS);
	}
	for (unsigned i = 0; round->thread && i < round->steps; i++)
		if (!tracer_resume(PTRACE_SINGLESTEP, round->thread, 0) || tracer_wait(round->thread, &status, 1) <= 0)
			break;
	tracer_kill(round->process);
}

/* ---- rounds -------------------------------------------------------------------------------------------- */

static void kill_choose(struct round *round, uint64_t seed)
{
	uint64_t state = seed;

	*round = (struct round){ .random = tracer_random(&state) };
	round->threads = (unsigned[]){ 1, 1, 2, THREADS }[tracer_random(&state) % 4];
	round->threads_end = round->threads > 1 && tracer_random(&state) % 2;
	round->free_ms = (double)(tracer_random(&state) % 4000) / 1000;
	round->function = (unsigned)(tracer_random(&state) % function_count);
	round->calls = 1 + (unsigned)(tracer_random(&state) % 4);
	round->to_return = tracer_random(&state) % 2;
	round->steps = (unsigned)(tracer_random(&state) % ((uint64_t)4 << tracer_random(&state) % 8));
}

/* Whether all that was recorded is in the trace or is counted. */
static bool kill_check(const struct round *round, uint64_t seed)
{
	uint64_t begun = 0, ended = 0, found, lost;
	struct trace trace;
	bool good;

	for (unsigned i = 0; i < THREADS; i++) {
		begun += tally->thread[i].begun;
		ended += tally->thread[i].ended;
	}
	if (trace_open(&trace, TRACE) != 0) {
		good = ended == 0;
		found = lost = 0;
	} else {
		trace_walk(&trace, NULL, NULL);
		found = trace.records - trace.own;
		lost = trace_lost_all(&trace);
		good = found + lost >= 2 * ended && found + lost <= 2 * begun && !trace.bad;
	}
	if (!good)
		printf("FAILED --seed %" PRIu64 " --count 1: %u instructions %s call %u of %s, %u threads: %" PRIu64
		       " records of ranges that ended, %" PRIu64 " in the trace and %" PRIu64 " lost: %" PRId64
		       " missing%s%s\n",
		       seed, round->steps, round->to_return ? "after" : "into", round->calls, functions[round->function].name,
		       round->threads, 2 * ended, found, lost, (int64_t)(2 * ended - found - lost), trace.bad ? "; " : "",
		       trace.bad ? trace.why : "");
	trace_close(&trace);
	return good;
}

static bool kill_round(uint64_t seed, bool *reached)
{
	struct round round;

	kill_choose(&round, seed);
	memset(tally, 0, sizeof *tally);
	unlink(TRACE);
	round.process = fork();
	if (!round.process) {
		kill_be_victim(&round);
		_exit(0);
	}
	if (ptrace(PTRACE_SEIZE, round.process, NULL, (void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)) != 0) {
		kill(round.process, SIGKILL);
		return false;
	}
	__atomic_store_n(&tally->go, 1, __ATOMIC_RELEASE);
	kill_at_instruction(&round);
	*reached = round.thread != 0;
	return kill_check(&round, seed);
}

static bool kill_find_functions(void)
{
	static const char *const prefixes[] = {
		"dw_chunk_",      "chunk_",         "dw_slot_",        "slot_",       "dw_stream_", "stream_",
		"dw_window_take", "dw_window_drop", "dw_window_fetch", "open_window", NULL
	};
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)dwell_start, &info))
		return false;
	base = (uintptr_t)info.dli_fbase;
	function_count = tracer_functions(info.dli_fname, prefixes, functions, FUNCTIONS);
	return function_count > 0;
}

int main(int argc, char **argv)
{
	uint64_t count = 200, seed = 1, passed = 0, reached = 0;
	bool keep = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--count") && i + 1 < argc)
			count = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--keep"))
			keep = true; /* the trace of the last round that failed */
		else
			return fprintf(stderr, "usage: kill_steps --count N [--seed S] [--keep]\n"), 2;
	}
	if (!tracer_is_permitted()) {
		puts("skip kill_steps: this system does not permit ptrace()");
		return 77;
	}
	if (!kill_find_functions())
		return puts("the recorder's file has no symbols"), 1;
	tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (uint64_t i = 0; i < count; i++) {
		bool there = false, good;

		fflush(stdout);
		good = kill_round(seed + i, &there);
		passed += good;
		reached += there;
		if (!good && keep)
			rename(TRACE, "failed.dwell");
	}
	unlink(TRACE);
	printf("%" PRIu64 " of %" PRIu64 " were killed in the function that was chosen for them, of %zu functions\n",
	       reached, count, function_count);
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, count - passed);
	return passed == count ? 0 : 1;
}
