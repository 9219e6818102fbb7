/*
 * The loop of the program whose iterations are steps, in programs that have no optimizer and call no
 * backward(): inference, torch.func, torch.autograd.grad, searches without gradients.
 *
 * The hooks report where the main thread is: which instruction of which function, in which call of
 * which function, up to the script. An instruction that comes again, or an earlier one, begins a new
 * iteration of the loop around it. The operators that the program calls between the hooks are
 * reported too, so an iteration begins with its first operator, not with its forward.
 *
 * Which of several nested loops is the step's:
 *   - the innermost one that calls models or computes gradients;
 *   - a loop around it that does the same itself, outside the inner loop (an encoder before a
 *     decoder's loop; meta-learning, whose inner loop adapts a copy);
 *   - a loop around it, if the inner loop calls models with other weights on the same input
 *     (candidates of a population, members of an ensemble).
 * A comprehension that computes gradients is a part of the statement it is in. Loops within a
 * function transform (grad, vmap) are parts of its call.
 *
 * All of this is decided in the first iteration of the outer loop, and stays.
 */
#pragma once

#include "torch.h"

enum loops_kind {
	LOOPS_OPERATOR,   /* no lock is held */
	LOOPS_CALL,       /* a call of a model */
	LOOPS_GRADIENT,   /* gradients are computed */
	LOOPS_EVALUATION, /* a call of a model that is no part of training */
	LOOPS_BATCH,      /* a batch is asked for */
};

/* What happened since the last report, in this order. */
struct loops_seen {
	bool widens;   /* the steps so far were parts of a step, which is an iteration of a loop around theirs */
	bool left;     /* the loop has ended */
	bool iterates; /* an iteration begins */
	bool enters;   /* this call begins the first iteration of a loop */
	bool in;       /* the thread is in a loop whose iterations are steps */
};

/* `module` and `input` are of LOOPS_CALL; `input` may be NULL. */
struct loops_seen dwp_loops_see(enum loops_kind kind, PyObject *module, PyObject *input);
/* In a thread, or between loops: whether a call of a model goes on in the iteration of the thread's last one (`may`: it is one), as
 * the layers of a model whose forward() is called do. It does if the functions that are open are the same, and the outermost one
 * that has moved has come from there to here without a jump back; or if the call's input is what the last one returned, as where forward()
 * goes through a list of layers. Keeps at `kept`, which is freed with the thread, where the call was. Needs the interpreter's lock. */
struct dwp_loops_last;
bool dwp_loops_goes_on(struct dwp_loops_last **kept, PyObject *module, PyObject *input, bool may);
/* A call of a model, or of a module without parameters whose input was such a result, has returned. Whether `input` is what another
 * module returned last: then the call goes on with that one's work, and begins no iteration of a loop. */
void dwp_loops_returned(PyObject *module, PyObject *result);
bool dwp_loops_is_result(PyObject *module, PyObject *input);
/* Whether there is a loop to follow from operator to operator. */
bool dwp_loops_has_any(void);
/* A number of where the main thread is: the instruction of each open call. 0: not known. */
uint64_t dwp_loops_place(void);
/* Whether only operators show which loop's iterations are steps, or when one begins. Of the innermost loop calls show it too. */
bool dwp_loops_needs_operators(void);
void dwp_loops_forget(void);
/* The loops of the program around this moment, the outermost first, but no comprehensions: numbers that differ between
 * loops. 0: not known, or there are none. */
uint32_t dwp_loops_here(uint64_t *loops, uint32_t most);
