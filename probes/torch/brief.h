/*
 * Brief steps: steps of which only begin and end are recorded.
 *
 * Where a step takes a fraction of a millisecond, the hooks alone cost more than recording may. Then most iterations are brief: a
 * hook only compares its call with the one that is expected next, and notes when a step begins and ends. bound.c chooses by the
 * step's number which iterations are brief.
 *
 * For this the program must repeat itself. In other iterations this file notes which calls are hooked, of which object, with
 * gradients or not, in which mode, in a loop without an optimizer also where (loops.h), what the thread's machine (steps.h) answered
 * to each, and what it was then. If two such iterations in a row are the same, the next ones are expected to be. A brief iteration
 * does not tell its machine anything: what it answered before is done again, so that each step reaches the recorder when it begins and
 * when it ends. At the first call or event that is not the expected one, and when the bound wants another kind of step, the machine is
 * set to what it was at this place in the noted iteration, and from then on all is as without this file. So the number of steps is
 * exact; the step that was open then has no phases, as the others.
 *
 * What is called between two steps, such as a policy that chooses an action, is recorded in brief iterations, too. A closure that an
 * optimizer's step() calls is expected call by call, between two moments: step() begins, and ends. An iteration is not expected if a
 * hooked call lies otherwise within another one, if a step is dropped in it, or if it has more than MOST_CALLS calls.
 *
 * All functions are called with the interpreter's lock held. Only the thread whose steps bound.c bounds has brief steps.
 */
#pragma once

#include "torch.h"

/* For hooks of calls that may be expected (dwp_hook.foresees, foreseen). */
bool dwp_brief_foresees(struct dwp_call *call);
void dwp_brief_foreseen(struct dwp_call *call, PyObject *result);
/* Whether an expected call is open in this thread: what it calls is not looked at. */
bool dwp_brief_is_inside(void);
/* While the calls of an iteration are noted: of the call that begins; and what it is recorded as, if it lies between steps. */
void dwp_brief_note_forward(bool grad, bool training, bool follows);
void dwp_brief_note_range(struct dwell_site *site);
void dwp_brief_note_gradient(bool follows);

/* `training`: whether a module is in training mode; `grad`: whether gradients are enabled; `follow` is called if the gate may have
 * changed. Once. */
struct dwp_brief_asks {
	bool (*training)(PyObject *module);
	bool (*grad)(void);
	void (*follow)(void);
	const struct dwp_hook *backward, *gradient; /* the hooks of backward() and of autograd.grad() */
};
/* The hook of calls of modules. `reenter` is called if an expected one turns out not to be brief, and goes on; with its range. Once. */
void dwp_brief_of_modules(const struct dwp_hook *hook, void (*reenter)(unsigned began));
void dwp_brief_attach(const struct dwp_brief_asks *asks);
void dwp_brief_forked(void);

