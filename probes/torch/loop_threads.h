/*
 * The threads whose steps are found, and what the answers (steps.h) do to the recorder. Used by loop.c in Python and by
 * native/loop.c in C++.
 *
 * Python calls these functions with the interpreter's lock, C++ with a lock of its own, except where a
 * thread ends.
 */
#pragma once

#include <dwell/probe.h>

#include "steps.h"

/* A thread that has done something that may concern steps. Allocated at its first event and
 * freed when it ends. */
struct loop_thread {
	struct steps_state steps;
	uint64_t kept, noted; /* moments for STEPS_DO_BEGIN and STEPS_DO_END_NOTED; 0: none */
	uint64_t loop_began;  /* when the followed loop began its first iteration */
	unsigned
		*update; /* where an optimizer's step that has a closure keeps its range; NULL: none waits for its closure */
	struct dwell_site *updates; /* with `update`: the phase that begins then */
	struct dwp_loops_last *last; /* where Python called a model last; NULL: nowhere */
	void *passes_on;            /* the module of the open call, if its result may be another call's input; see dwp_loops_returned() */
	bool trial;                 /* in a test that has had no step: the first one is none */
	bool silent;                /* the open step is that one */
	bool brief;                 /* the open or coming step is brief: see brief.h */
	bool gate_changed;          /* by a report; the caller follows the gate and clears it */
	struct loop_thread *next;
};

extern __thread struct loop_thread *dwp_loop_current __attribute__((tls_model("initial-exec")));
extern struct steps_rules dwp_loop_rules;
/* Who is told of events: before, where true means that the machine is not told; and after. NULL: nobody. */
struct loop_watch {
	bool (*before)(struct loop_thread *thread, const struct steps_input *input);
	void (*after)(struct loop_thread *thread, const struct steps_input *input, const struct steps_answer *answer);
};
extern const struct loop_watch *dwp_loop_watch;
/* Called in the child process after fork, in a thread that has steps. May be NULL. */
extern void (*dwp_loop_forked)(void);

/* Phases. Details say what no name does (format/keys.h). */
extern struct dwell_site dwp_phase_forward, dwp_phase_forward_bare, dwp_phase_backward, dwp_phase_zero_grad,
	dwp_phase_evaluation, dwp_phase_evaluation_bare;
/* Named forward; the reader makes evaluation of it if the process turns out to train. */
extern struct dwell_site dwp_phase_tentative;

/* The struct of the calling thread. NULL: out of memory; then its steps are not found. */
struct loop_thread *dwp_loop_thread(void);
/* Does what is answered. */
void dwp_loop_do(struct loop_thread *thread, const struct steps_answer *answer);
/* Reports an event and does what is answered. Returns the phase that begins. */
enum steps_phase dwp_loop_report_of(struct loop_thread *thread, const struct steps_input *input);
