/*
 * The threads of a process that runs, looked at again and again; in libdwell-process.so.
 *
 * A look says of each thread how much CPU it used since the look before, whether it waits now, and its stack. A thread
 * that waits is read without stopping it where its code allows that, and not at all while it waits on. A wait
 * that a stop would end with EINTR is never stopped. A thread that runs is stopped while its registers and
 * its stack are copied.
 */
#pragma once

#include "base/code/code_names.h"
#include "process/process.h"

struct dw_follow_look {
	uint32_t tid;
	const char *name;      /* of the thread */
	uint64_t since_ns, now_ns; /* of this look and the one before, or of its begin; CLOCK_MONOTONIC */
	uint64_t cpu_ns;       /* used in between */
	uint64_t ready_ns;     /* in between it was ready to run and had no CPU */
	bool seen;             /* what it does now is known: the fields below. If not, it may have moved on */
	bool waits;            /* it is off the CPU */
	bool same;             /* it has waited in this place since the look before */
	const char *wait;      /* "a timer"; NULL: not known */
	uint32_t holder;       /* tid of the thread that has the mutex; 0: not known */
	const struct dw_place *const *places; /* innermost first */
	size_t count;          /* 0: its stack could not be read */
	uint64_t stopped_ns;   /* for how long it was stopped at most; 0: it was not, or had no CPU before */
};

struct dw_follow;

enum { DW_FOLLOW_LIVES, DW_FOLLOW_ENDED, DW_FOLLOW_EXECUTED };

/* Errors: as dw_process_read(). */
DWELL_API int dw_follow_open(struct dw_follow **follow, uint32_t pid, struct dwell_error *error);
/* Calls `take` for each thread; at the first look no time has passed. Returns one of the above, or a negative DWELL_E_*. After
 * DW_FOLLOW_EXECUTED another program runs in the process: close it, and open it again. */
DWELL_API int dw_follow_look(struct dw_follow *follow, void (*take)(void *context, const struct dw_follow_look *look),
                             void *context);
/* Sleeps before a look. True: a signal ended it. From then until a thread has been stopped, the caller runs before other
 * programs, if the kernel permits it: a look that comes when a busy machine has time for it sees threads where
 * they lose their CPU, and a thread that is stopped waits for the caller. */
DWELL_API bool dw_follow_sleep(uint64_t ns);
/* After the last look: waits for threads that stop late. False: some still do, and run on when the caller ends. */
DWELL_API bool dw_follow_let_go(void);
/* The process, without threads. */
DWELL_API const struct dw_process *dw_follow_process(const struct dw_follow *follow);
/* Why stacks of threads that run are missing, or have frames of Python only; NULL: they are not. */
DWELL_API const char *dw_follow_problem(const struct dw_follow *follow);
/* The name of code that the process made (dw_place.made); NULL: it has none. To be called after the last look, because
 * the first call reads all names that the process announced until then. */
DWELL_API const char *dw_follow_made(struct dw_follow *follow, uint64_t address, char text[DW_CODE_NAME_BYTES]);
/* What of these names could not be read, in words; or "". */
DWELL_API const char *dw_follow_made_lacks(const struct dw_follow *follow);
DWELL_API void dw_follow_close(struct dw_follow *follow);
