/*
 * Steps and phases, from what every training loop calls.
 *
 * A step begins at the first batch, zero_grad or forward after the step before, and
 * ends with an optimizer's step; several forwards and backwards may lie between
 * (gradient accumulation), and other optimizers' steps: of several, the one that a loop
 * steps last ends it, taken to be the one made last until the loop shows otherwise. A
 * step that a GradScaler skips is one too. Where there is no optimizer, each call of
 * an outermost module is a step. What the user names (step_on.c) is in place of all this, and
 * what the program says itself (dwell.step()) in place of both.
 *
 * That a batch or a zero_grad began a step is known only when a module is called for
 * training: an evaluation may follow as well. So the moment is kept, and the step is
 * begun with it later. Steps are the thread's that trains. Under the interpreter's
 * lock.
 */
#include "format/keys.h"
#include "torch.h"

#include <string.h>

static struct {
	uint64_t pending;     /* when the next step began, if it is one; 0: nothing has */
	bool evaluated;       /* a module was evaluated since: the next batch is another's */
	bool open;            /* a step is */
	uint64_t ended;       /* steps so far */
	PyObject *pace;       /* weak reference to the optimizer that ends steps */
	bool stepped;         /* it has, once */
	bool settled;         /* where it stands among the others is known */
	bool nested;          /* it steps within another one's step */
	bool fetched;         /* a batch was since it did */
	uint32_t others;      /* steps of others since it did */
	bool optimizer_made;  /* any at all */
	bool by_module;       /* the user named a module: its call began the step */
	bool named_optimizer; /* one that the user named: only it sets the pace */
	bool told;            /* the program says its steps */
	bool trains, trained; /* an optimizer stepped in this one that it said; in one before */
	PyObject *grad_enabled; /* torch.is_grad_enabled */
} loop;

/* Depth of optimizers' steps and of backwards: closures and graphs of graphs nest. */
static uint32_t optimizers, backwards;

DWELL_SITE(forward_site, DWELL_CATEGORY_PHASE, "forward", NULL);
DWELL_SITE(backward_site, DWELL_CATEGORY_PHASE, "backward", NULL);
DWELL_SITE(optimizer_site, DWELL_CATEGORY_PHASE, "optimizer", NULL);
DWELL_SITE(zero_grad_site, DWELL_CATEGORY_PHASE, "optimizer", NULL);
DWELL_SITE(evaluation_site, DWELL_CATEGORY_EVALUATION, "evaluation", NULL);

/* ---- steps -------------------------------------------------------------------------- */

/* Whether steps are found by what loops do. */
static bool automatic(void)
{
	return loop.named_optimizer || !dwp_step_on_given();
}

static void open_step(void)
{
	dwell_step_begin_at(loop.pending);
	loop.open = true;
	loop.pending = 0;
	dwp_operators_follow_gate();
}

static void close_step(void)
{
	if (!loop.open)
		return;
	dwell_step_end();
	loop.open = false;
	loop.pending = 0;
	loop.ended++;
	dwp_operators_follow_gate();
}

void dwp_loop_begin_step(void)
{
	if (!loop.told)
		open_step();
}

static void begin_step(void)
{
	if (!loop.open && automatic())
		dwp_loop_begin_step();
}

void dwp_loop_end_step(void)
{
	if (!loop.told)
		close_step();
}

static void end_step(void)
{
	if (automatic() || loop.by_module)
		dwp_loop_end_step();
}

void dwp_loop_module_step(void)
{
	loop.by_module = true;
	dwp_step_on_seen(true);
	dwp_loop_begin_step();
}

/* In inference the call is the step; in training what follows belongs to it. */
void dwp_loop_module_end(void)
{
	if (!loop.optimizer_made)
		dwp_loop_end_step();
}

/* For the package dwell, under the interpreter's lock: the program says that a step ends, if
 * one is open, and whether another begins. From the first time on nobody else does. */
DWELL_API void dwp_python_step(int begins);

void dwp_python_step(int begins)
{
	close_step();
	loop.told = true;
	loop.trained |= loop.trains;
	loop.trains = false;
	loop.pending = 0;
	if (begins)
		open_step();
}

static void may_begin(void)
{
	if (loop.told || loop.open || (loop.pending && !loop.evaluated))
		return;
	loop.pending = dwell_step_now();
	loop.evaluated = false;
	dwp_operators_follow_gate(); /* the moment may have opened the gate */
}

static bool truth(PyObject *value)
{
	bool yes = value && PyObject_IsTrue(value) == 1;

	Py_XDECREF(value);
	PyErr_Clear();
	return yes;
}

static bool grad_enabled(void)
{
	return truth(PyObject_CallObject(loop.grad_enabled, NULL));
}

/* The loop looks for data: a batch, or workers first. */
void dwp_loop_data(void)
{
	if (grad_enabled())
		may_begin();
}

void dwp_loop_batch(void)
{
	dwp_loop_data();
	loop.fetched |= grad_enabled();
}

/* ---- forward --------------------------------------------------------------------------- */

void dwp_loop_forward(struct loop_call *call, PyObject *module, bool has_parameters)
{
	bool grad = grad_enabled(), training = truth(PyObject_GetAttrString(module, "training"));

	*call = (struct loop_call){ DWELL_NOT_BEGUN, false };
	dwp_step_on_look();
	if (optimizers || backwards) /* a closure, or a checkpoint that is computed again */
		return;
	if (!loop.optimizer_made) {
		call->steps = has_parameters && !loop.open;
		if (call->steps)
			begin_step();
		call->began = dwell_begin(&forward_site);
	} else if (training && (grad || loop.open)) {
		if (has_parameters)
			begin_step();
		call->began = dwell_begin(&forward_site);
	} else {
		loop.evaluated = true;
		if (!grad && !loop.open)
			loop.pending = 0;
		call->began = dwell_begin(&evaluation_site);
	}
}

void dwp_loop_forward_end(const struct loop_call *call)
{
	dwell_end(call->began);
	if (call->steps)
		end_step();
}

/* ---- backward ----------------------------------------------------------------------------- */

static void before_backward(struct dwp_call *call)
{
	backwards++;
	call->began = dwell_begin(&backward_site);
}

static void after_backward(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
	backwards--;
}

/* ---- optimizers ------------------------------------------------------------------------------ */

#define MOST_OTHERS 8u /* steps of others after which the pace is theirs */

static PyObject *pace(void)
{
	PyObject *optimizer = loop.pace ? PyWeakref_GetObject(loop.pace) : NULL;

	return optimizer == Py_None ? NULL : optimizer;
}

static void set_pace(PyObject *optimizer)
{
	Py_XDECREF(loop.pace);
	loop.pace = PyWeakref_NewRef(optimizer, NULL);
	loop.stepped = loop.nested = false;
	loop.others = 0;
	PyErr_Clear();
}

/*
 * Whether this outermost step ends one of the loop. It does when the optimizer sets the
 * pace. That is given up to another when its own step lies within that one's, when it
 * does not step any more, and once when the other steps after it with no batch between.
 */
static bool ends_step(PyObject *optimizer)
{
	PyObject *from = pace();

	if (from == optimizer) {
		loop.settled |= loop.others > 0;
	} else if (!from || loop.nested || (!loop.named_optimizer && ++loop.others >= MOST_OTHERS)) {
		set_pace(optimizer);
	} else if (loop.stepped && !loop.settled && !loop.fetched && !loop.named_optimizer) {
		set_pace(optimizer);
		loop.settled = true;
		loop.stepped = true;
		return loop.open;
	} else {
		return false;
	}
	loop.stepped = true;
	loop.fetched = false;
	loop.others = 0;
	return true;
}

static void before_step(struct dwp_call *call)
{
	if (call->self && !optimizers)
		dwp_blocks_of_first_step(call->self);
	optimizers++;
	loop.trains = true;
	call->began = dwell_begin(&optimizer_site);
}

static void after_step(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
	if (--optimizers) {
		loop.nested |= call->self && call->self == pace();
		return;
	}
	if (!call->self || !result || !ends_step(call->self))
		return;
	if (loop.named_optimizer)
		dwp_step_on_seen(true);
	begin_step(); /* a model trained in evaluation mode: nothing else said so */
	end_step();
}

static void after_state(struct dwp_call *call, PyObject *result)
{
	if (result && call->self)
		dwp_blocks_of_state(call->self);
}

static void before_scaler(struct dwp_call *call)
{
	call->place = (void *)(uintptr_t)loop.ended;
}

/* The optimizer was not called: the gradients were not finite. */
static void after_scaler(struct dwp_call *call, PyObject *result)
{
	if (result && call->second && loop.ended == (uint64_t)(uintptr_t)call->place &&
	    pace() == call->second)
		end_step();
}

static void before_zero_grad(struct dwp_call *call)
{
	may_begin();
	call->began = dwell_begin(&zero_grad_site);
}

/* Each class has a step of its own, which is hooked when its first object is made. */
static void after_init(struct dwp_call *call, PyObject *result)
{
	static const struct dwp_hook step = { before_step, after_step };

	char name[128];

	if (!result || !call->self)
		return;
	dwp_python_text((PyObject *)Py_TYPE(call->self), "__name__", name, sizeof name);
	if (dwp_step_on_is(name))
		loop.named_optimizer = true;
	if (!loop.named_optimizer || dwp_step_on_is(name)) {
		set_pace(call->self);
		loop.settled = false;
	}
	loop.optimizer_made = true;
	dwp_blocks_of_groups(call->self);
	dwp_step_on_look();
	dwp_step_on_could(name);
	dwp_hook_attribute((PyObject *)Py_TYPE(call->self), "step", &step);
}

/* ---- devices, the end ------------------------------------------------------------------------- */

/* What a device does is not recorded; that there is one, is. */
static void after_device(struct dwp_call *call, PyObject *result)
{
	if (result)
		dwell_meta(DW_KEY_TORCH_DEVICE, "cuda");
}

static void no_range(struct dwp_call *call)
{
	call->began = DWELL_NOT_BEGUN;
}

static void after_range(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
}

/* What began like a step and had no optimizer's step until the end was none: what other
 * optimizers did after the last step, a forward to look at a result, what came after the
 * last dwell.step() where that ends an iteration. */
static PyObject *at_exit(PyObject *self, PyObject *arguments)
{
	if (loop.open && loop.told && (loop.trains || !loop.trained))
		close_step();
	else if (loop.open)
		dwell_step_cancel();
	loop.open = false;
	Py_RETURN_NONE;
}

static PyMethodDef ender = { "dwp_loop_at_exit", at_exit, METH_VARARGS, NULL };

/* ---- attaching ------------------------------------------------------------------------------------ */

static const struct {
	const char *path, *name;
	struct dwp_hook hook;
} hooks[] = {
	{ "autograd", "backward", { before_backward, after_backward } },
	{ "autograd", "grad", { before_backward, after_backward } },
	{ "optim.Optimizer", "__init__", { no_range, after_init } },
	{ "optim.Optimizer", "load_state_dict", { no_range, after_state } },
	{ "optim.Optimizer", "zero_grad", { before_zero_grad, after_range } },
	{ "cuda.amp.GradScaler", "step", { before_scaler, after_scaler } },
	{ "amp.GradScaler", "step", { before_scaler, after_scaler } },
	{ "cuda", "_lazy_init", { no_range, after_device } },
};

void dwp_loop_attach(PyObject *torch)
{
	loop.grad_enabled = PyObject_GetAttrString(torch, "is_grad_enabled");
	if (!loop.grad_enabled) {
		PyErr_Clear();
		return;
	}
	dwp_python_at_exit(&ender);
	for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
		dwp_hook_path(torch, hooks[i].path, hooks[i].name, &hooks[i].hook);
}
