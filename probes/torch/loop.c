/*
 * Steps and phases, from what every training loop calls.
 *
 * A step begins at the first batch, zero_grad or forward after the step before, and
 * ends with an optimizer's step; several forwards and backwards may lie between
 * (gradient accumulation), and other optimizers' steps: of several, the one that a loop
 * steps last ends it, taken to be the one made last until the loop shows otherwise. A
 * step that a GradScaler skips is one too. Where there is no optimizer, each call of
 * an outermost module is a step. What the user names (step_on.c) is in place of all this.
 *
 * That a batch or a zero_grad began a step is known only when a module is called for
 * training: an evaluation may follow as well. So the moment is kept, and the step is
 * begun with it later. Steps are the thread's that trains. Under the interpreter's
 * lock.
 */
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
	PyObject *grad_enabled; /* torch.is_grad_enabled */
} loop;

/* Depth of optimizers' steps and of backwards: closures and graphs of graphs nest. */
static uint32_t optimizers, backwards;

DWELL_SITE(forward_site, DWELL_CATEGORY_PHASE, "forward", NULL);
DWELL_SITE(backward_site, DWELL_CATEGORY_PHASE, "backward", NULL);
DWELL_SITE(optimizer_site, DWELL_CATEGORY_PHASE, "optimizer", NULL);
DWELL_SITE(zero_grad_site, DWELL_CATEGORY_PHASE, "optimizer", NULL);
DWELL_SITE(evaluation_site, DWELL_CATEGORY_EVALUATION, "evaluation", NULL);
DWELL_SITE(batch_site, DWELL_CATEGORY_DATA, "DataLoader.__next__", NULL);
DWELL_SITE(empty_site, DWELL_CATEGORY_DATA, "DataLoader.__next__", "the queue was empty");
DWELL_SITE(ready_site, DWELL_CATEGORY_DATA, "DataLoader.__next__", "a batch was ready");
DWELL_SITE(queue_site, DWELL_CATEGORY_COUNTER, "DataLoader queue", "batches");
DWELL_SITE(workers_site, DWELL_CATEGORY_DATA, "DataLoader.__iter__", NULL);
DWELL_SITE(samples_site, DWELL_CATEGORY_DATA, "a batch's samples", NULL);
DWELL_SITE(count_site, DWELL_CATEGORY_COUNTER, "batch samples", "samples");
DWELL_SITE(save_site, DWELL_CATEGORY_CHECKPOINT, "torch.save", NULL);
DWELL_SITE(load_site, DWELL_CATEGORY_CHECKPOINT, "torch.load", NULL);

/* ---- steps -------------------------------------------------------------------------- */

/* Whether steps are found by what loops do. */
static bool automatic(void)
{
	return loop.named_optimizer || !dwell_step_on_given();
}

void dwell_loop_begin_step(void)
{
	dwell_step_begin_at(loop.pending);
	loop.open = true;
	loop.pending = 0;
	dwell_operators_follow_gate();
}

static void begin_step(void)
{
	if (!loop.open && automatic())
		dwell_loop_begin_step();
}

void dwell_loop_end_step(void)
{
	if (!loop.open)
		return;
	dwell_step_end();
	loop.open = false;
	loop.pending = 0;
	loop.ended++;
	dwell_operators_follow_gate();
}

static void end_step(void)
{
	if (automatic() || loop.by_module)
		dwell_loop_end_step();
}

void dwell_loop_module_step(void)
{
	loop.by_module = true;
	dwell_step_on_seen(true);
	dwell_loop_begin_step();
}

/* In inference the call is the step; in training what follows belongs to it. */
void dwell_loop_module_end(void)
{
	if (!loop.optimizer_made)
		dwell_loop_end_step();
}

static void may_begin(void)
{
	if (loop.open || (loop.pending && !loop.evaluated))
		return;
	loop.pending = dwell_step_now();
	loop.evaluated = false;
	dwell_operators_follow_gate(); /* the moment may have opened the gate */
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

/* ---- forward --------------------------------------------------------------------------- */

void dwell_loop_forward(struct loop_call *call, PyObject *module, bool has_parameters)
{
	bool grad = grad_enabled(), training = truth(PyObject_GetAttrString(module, "training"));

	*call = (struct loop_call){ DWELL_NOT_BEGUN, false };
	dwell_step_on_look();
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

void dwell_loop_forward_end(const struct loop_call *call)
{
	dwell_end(call->began);
	if (call->steps)
		end_step();
}

/* ---- backward ----------------------------------------------------------------------------- */

static void before_backward(struct dwell_call *call)
{
	backwards++;
	call->began = dwell_begin(&backward_site);
}

static void after_backward(struct dwell_call *call, PyObject *result)
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

static void before_step(struct dwell_call *call)
{
	if (call->self && !optimizers)
		dwell_blocks_of_first_step(call->self);
	optimizers++;
	call->began = dwell_begin(&optimizer_site);
}

static void after_step(struct dwell_call *call, PyObject *result)
{
	dwell_end(call->began);
	if (--optimizers) {
		loop.nested |= call->self && call->self == pace();
		return;
	}
	if (!call->self || !result || !ends_step(call->self))
		return;
	if (loop.named_optimizer)
		dwell_step_on_seen(true);
	begin_step(); /* a model trained in evaluation mode: nothing else said so */
	end_step();
}

static void after_state(struct dwell_call *call, PyObject *result)
{
	if (result && call->self)
		dwell_blocks_of_state(call->self);
}

static void before_scaler(struct dwell_call *call)
{
	call->place = (void *)(uintptr_t)loop.ended;
}

/* The optimizer was not called: the gradients were not finite. */
static void after_scaler(struct dwell_call *call, PyObject *result)
{
	if (result && call->second && loop.ended == (uint64_t)(uintptr_t)call->place &&
	    pace() == call->second)
		end_step();
}

static void before_zero_grad(struct dwell_call *call)
{
	may_begin();
	call->began = dwell_begin(&zero_grad_site);
}

/* Each class has a step of its own, which is hooked when its first object is made. */
static void after_init(struct dwell_call *call, PyObject *result)
{
	static const struct dwell_hook step = { before_step, after_step };

	char name[128];

	if (!result || !call->self)
		return;
	dwell_python_text((PyObject *)Py_TYPE(call->self), "__name__", name, sizeof name);
	if (dwell_step_on_is(name))
		loop.named_optimizer = true;
	if (!loop.named_optimizer || dwell_step_on_is(name)) {
		set_pace(call->self);
		loop.settled = false;
	}
	loop.optimizer_made = true;
	dwell_blocks_of_groups(call->self);
	dwell_step_on_look();
	dwell_step_on_could(name);
	dwell_hook_attribute((PyObject *)Py_TYPE(call->self), "step", &step);
}

/* ---- data, checkpoints ------------------------------------------------------------------------- */

/* Whether the next batch came before its turn, and lies in the iterator. */
static bool next_is_kept(PyObject *iterator)
{
	PyObject *tasks = PyObject_GetAttrString(iterator, "_task_info");
	PyObject *index = tasks ? PyObject_GetAttrString(iterator, "_rcvd_idx") : NULL;
	PyObject *task = index ? PyObject_GetItem(tasks, index) : NULL;
	bool kept = task && PyObject_Size(task) == 2;

	Py_XDECREF(task);
	Py_XDECREF(index);
	Py_XDECREF(tasks);
	PyErr_Clear();
	return kept;
}

/* What the workers of an iterator have ready; -1: it has no workers. */
static long queue_depth(PyObject *iterator)
{
	PyObject *queue = iterator ? PyObject_GetAttrString(iterator, "_data_queue") : NULL;
	PyObject *size = queue ? PyObject_CallMethod(queue, "qsize", NULL) : NULL;
	long depth = size ? PyLong_AsLong(size) : -1;

	Py_XDECREF(size);
	Py_XDECREF(queue);
	PyErr_Clear();
	return depth < 0 ? -1 : depth + next_is_kept(iterator);
}

static void before_batch(struct dwell_call *call)
{
	long depth = -1;

	dwell_step_on_look();
	if (grad_enabled()) {
		may_begin();
		loop.fetched = true;
	}
	if (dwell_wants(1u << DWELL_CATEGORY_DATA))
		depth = queue_depth(call->self);
	if (depth >= 0)
		dwell_counter(&queue_site, (double)depth);
	call->began = dwell_begin(depth < 0 ? &batch_site : depth ? &ready_site : &empty_site);
}

static void before_workers(struct dwell_call *call)
{
	if (grad_enabled())
		may_begin();
	call->began = dwell_begin(&workers_site);
}

/* In a worker, or in the loop's own process when there are none. */
static void before_samples(struct dwell_call *call)
{
	PyObject *indices = call->second;

	call->began = dwell_begin(&samples_site);
	if (indices && call->began)
		dwell_counter(&count_site, PyList_Check(indices) ? (double)PyList_Size(indices) : 1);
}

static void before_save(struct dwell_call *call)
{
	call->began = dwell_begin(&save_site);
}

static void before_load(struct dwell_call *call)
{
	call->began = dwell_begin(&load_site);
}

/* What a device does is not recorded; that there is one, is. */
static void after_device(struct dwell_call *call, PyObject *result)
{
	if (result)
		dwell_meta("torch.device", "cuda");
}

static void no_range(struct dwell_call *call)
{
	call->began = DWELL_NOT_BEGUN;
}

static void after_range(struct dwell_call *call, PyObject *result)
{
	dwell_end(call->began);
}

/* What began like a step and had no optimizer's step until the end was none: what other
 * optimizers did after the last step, a forward to look at a result. */
static PyObject *at_exit(PyObject *self, PyObject *arguments)
{
	if (loop.open)
		dwell_step_cancel();
	loop.open = false;
	Py_RETURN_NONE;
}

static PyMethodDef ender = { "dwell_loop_at_exit", at_exit, METH_VARARGS, NULL };

/* ---- attaching ------------------------------------------------------------------------------------ */

static const struct {
	const char *path, *name;
	struct dwell_hook hook;
} hooks[] = {
	{ "autograd", "backward", { before_backward, after_backward } },
	{ "autograd", "grad", { before_backward, after_backward } },
	{ "optim.Optimizer", "__init__", { no_range, after_init } },
	{ "optim.Optimizer", "load_state_dict", { no_range, after_state } },
	{ "optim.Optimizer", "zero_grad", { before_zero_grad, after_range } },
	{ "cuda.amp.GradScaler", "step", { before_scaler, after_scaler } },
	{ "amp.GradScaler", "step", { before_scaler, after_scaler } },
	{ "utils.data.dataloader._BaseDataLoaderIter", "__next__", { before_batch, after_range } },
	{ "utils.data.DataLoader", "__iter__", { before_workers, after_range } },
	{ "utils.data._utils.fetch._MapDatasetFetcher", "fetch", { before_samples, after_range } },
	{ "utils.data._utils.fetch._IterableDatasetFetcher", "fetch", { before_samples, after_range } },
	{ "cuda", "_lazy_init", { no_range, after_device } },
	{ "", "save", { before_save, after_range } },
	{ "", "load", { before_load, after_range } },
};

void dwell_loop_attach(PyObject *torch)
{
	loop.grad_enabled = PyObject_GetAttrString(torch, "is_grad_enabled");
	if (!loop.grad_enabled) {
		PyErr_Clear();
		return;
	}
	dwell_python_at_exit(&ender);
	for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
		dwell_hook_path(torch, hooks[i].path, hooks[i].name, &hooks[i].hook);
}
