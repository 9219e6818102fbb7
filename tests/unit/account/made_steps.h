/*
 * Runs with marked steps for tests of the account. Each step is told in order of time: what the thread is in, and what it does.
 * One ms of CPU time is one sample. The kernel's account has what was told, unless a test says something else.
 */
#pragma once

#include "made.h"

#include <math.h>

#include "account/account.h"
#include "account/parts.h"
#include "format/keys.h"

#define MS 1000000ull
#define MADE_THREADS 4u

static struct made made;
static struct dw_encode_stream workers[MADE_THREADS];
static uint32_t main_frame, worker_count;
static uint64_t now_ms, start_ms, step_ms, steps; /* the time, and the begins of the loop and of the step */
static struct {
	uint64_t run_ms, wait_ms, lost_ms; /* of the loop's thread */
	uint64_t others_ms;                /* CPU time of the others */
	uint64_t faults;                   /* page faults */
} kernel;

static inline void begin_run(uint32_t flags, unsigned others)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags |= flags;
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	dw_encode_meta(&made.process, "host.cpus", "4", true);
	worker_count = others;
	for (uint32_t i = 0; i < others; i++)
		dw_encode_stream_init(&workers[i], &made.process, 1 + i, dw_encode_thread(&made.process, 101 + i, 1 + i, 0, "worker"));
	main_frame = dw_encode_frame_in(&made.process, "/srv/engine", "main");
	now_ms = start_ms = 100;
	steps = 0;
	memset(&kernel, 0, sizeof kernel);
}

/* Each worker is a process of its own: a fork that runs the program that `command` names, or the same one. */
static struct dw_encode_process forks[MADE_THREADS];
static inline void begin_forks(unsigned count, const char *command)
{
	worker_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct dw_entry_process *entry = dw_encode_process_init(&forks[i], &made.encode, made.process.id);

		entry->pid = 0x7ffffff0 - i;
		if (command)
			entry->command = dw_encode_string(&forks[i], command);
		dw_encode_stream_init(&workers[i], &forks[i], 0, dw_encode_thread(&forks[i], 201 + i, 0, 0, "fork"));
	}
}

static inline void enter(uint32_t op)
{
	dw_encode_begin(&made.stream, now_ms * MS, op);
}

static inline void leave(void)
{
	dw_encode_end(&made.stream, now_ms * MS);
}

/* The stack of a call: `callee` of the C library, or NULL, in a function of the program. */
static inline uint32_t stack_of(const char *callee, const char *function, uint32_t *frame)
{
	uint32_t callers[2] = { dw_encode_frame_in(&made.process, "/srv/engine", function), main_frame };

	*frame = callee ? dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", callee) : callers[0];
	return dw_encode_stack(&made.process, callers + !callee, callee ? 2 : 1);
}

/* Samples of a thread for `ms` from now on. The time stays. */
static inline void sample(struct dw_encode_stream *stream, uint64_t ms, const char *callee, const char *function)
{
	uint32_t frame, stack = stack_of(callee, function, &frame);

	for (uint64_t t = 0; t < ms; t++)
		dw_encode_sample(stream, (now_ms + t) * MS + MS / 2, frame, stack, 1);
}

/* The loop's thread runs, or waits, for `ms`. */
static inline void runs(uint64_t ms, const char *callee, const char *function)
{
	sample(&made.stream, ms, callee, function);
	now_ms += ms;
	kernel.run_ms += ms;
}

static inline void waits(uint64_t ms, const char *callee, const char *function)
{
	uint32_t frame, stack = stack_of(callee, function, &frame);

	now_ms += ms;
	kernel.wait_ms += ms;
	if (callee)
		dw_encode_wait(&made.stream, now_ms * MS - MS / 2, frame, stack, (uint32_t)ms);
}

static inline void has_no_cpu(uint64_t ms)
{
	now_ms += ms;
	kernel.lost_ms += ms;
}

/* Another thread works from now on. Before the loop's thread is told what it does meanwhile. */
static inline void other_works(unsigned number, uint64_t ms, const char *function)
{
	sample(&workers[number], ms, NULL, function);
	kernel.others_ms += ms;
}

/* A fork runs; the kernel does not count that as time of the process. */
static inline void fork_works(unsigned number, uint64_t ms, const char *function)
{
	sample(&workers[number], ms, NULL, function);
}

/* The same, in a library that none of the program's functions has called. */
static inline void other_works_in_library(unsigned number, uint64_t ms)
{
	uint32_t frame = dw_encode_frame_in(&made.process, "/usr/lib/libz.so.1", "deflate");

	for (uint64_t t = 0; t < ms; t++)
		dw_encode_sample(&workers[number], (now_ms + t) * MS + MS / 2, frame, 0, 1);
	kernel.others_ms += ms;
}

/* Another thread has waited for `ms` when the next `behind_ms` are over. */
static inline void other_waits(unsigned number, uint64_t behind_ms, uint64_t ms, const char *callee, const char *function)
{
	uint32_t frame, stack = stack_of(callee, function, &frame);

	dw_encode_wait(&workers[number], (now_ms + behind_ms) * MS - MS / 2, frame, stack, (uint32_t)ms);
}

static inline void begin_step(void)
{
	step_ms = now_ms;
}

static inline void end_step_as(uint32_t state)
{
	dw_encode_step(&made.process, made.thread, steps++, step_ms * MS, now_ms * MS, 0, state);
}

static inline void end_step(void)
{
	end_step_as(DW_STEP_RECORDED);
}

/* Opens the trace with the kernel's account of the whole loop. */
static inline const struct dw_account *account_with_kernel(bool known)
{
	struct dw_entry_usage *usage;

	if (known) {
		usage = dw_encode_usage(&made.process, made.thread, start_ms * MS, now_ms * MS);
		usage->cpu_ns = kernel.run_ms * MS;
		usage->delay_ns = kernel.lost_ms * MS;
		usage->process_cpu_ns = (kernel.run_ms + kernel.others_ms) * MS;
		usage->waits = 1;
		usage->minor_faults = kernel.faults;
	}
	for (uint32_t i = 0; i < worker_count; i++)
		dw_encode_close(&workers[i]);
	return made_open(&made, NULL) == 0 ? dw_account_of(made.model, &made.error) : NULL;
}

static inline const struct dw_account *account(void)
{
	return account_with_kernel(true);
}

/* ---- what an account says -------------------------------------------------------------------------------- */

static inline bool near_ms(double ns, double ms)
{
	return fabs(ns - ms * (double)MS) < 0.001 * (double)MS;
}

/* The ms of cells: -1 is any. */
static inline double ms_of(const struct dw_account *account, int share, int state, int activity)
{
	double ns = 0;

	for (size_t i = 0; i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		if ((share < 0 || (int)cell->share == share) && (state < 0 || (int)cell->state == state) &&
		    (activity < 0 || (int)cell->activity == activity))
			ns += cell->ns;
	}
	return ns / (double)MS;
}

/* The same of a range of the program. */
static inline double ms_of_range(const struct dw_account *account, const char *name, int state, int activity)
{
	double ns = 0;

	for (size_t i = 0; i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		if (cell->share == DW_SHARE_NAMED && strcmp(account->symbols[cell->named].name, name) == 0 &&
		    (state < 0 || (int)cell->state == state) && (activity < 0 || (int)cell->activity == activity))
			ns += cell->ns;
	}
	return ns / (double)MS;
}

/* What holds of every account: its cells sum to the loop, and those of each state to what it says of the state. */
static inline void check_sums(const struct dw_account *account)
{
	double states = 0;

	CHECK_NEAR(ms_of(account, -1, -1, -1), account->wall_ns / (double)MS, 1e-3);
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++) {
		double ms = ms_of(account, -1, (int)state, -1), of = account->state_ns[state];

		if (state == DW_ACCOUNT_SPINS) /* a part of the time in which it runs */
			continue;
		if (state == DW_ACCOUNT_RUNS)
			ms += ms_of(account, -1, DW_ACCOUNT_SPINS, -1);
		CHECK_NEAR(ms, of / (double)MS, 1e-3);
		states += of;
	}
	CHECK_NEAR(states / (double)MS, account->wall_ns / (double)MS, 1e-3);
	for (size_t i = 0; i < account->count; i++)
		CHECK(account->cells[i].ns >= 0);
}
