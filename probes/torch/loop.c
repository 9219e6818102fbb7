/*
 * Steps and phases, from the functions that every training loop calls.
 *
 * The functions of PyTorch that training loops call are hooked. Each hook reports an event (steps.h), does to the
 * recorder's step what is answered, and records the phase: forward, backward, optimizer or evaluation. Under the
 * interpreter's lock, except where a thread ends.
 */
#include "format/keys.h"
#include "torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brief.h"
#include "loop_threads.h"
#include "loops.h"
#include "optimizers.h"

/* A call without gradients that is no evaluation: see loop_evaluates(). */
DWP_SITE(inference_site, DWELL_CATEGORY_EVALUATION, DW_NAME_INFERENCE, NULL);
DWP_SITE(inference_bare_site, DWELL_CATEGORY_EVALUATION, DW_NAME_INFERENCE, DW_DETAIL_BARE);
DWP_SITE(gradients_site, DWELL_CATEGORY_EVALUATION, DW_NAME_EVALUATION_GRADIENTS, NULL);

static PyObject *grad_enabled;    /* torch.is_grad_enabled */
static PyObject *training_name;   /* "training" */
static PyObject *transform_level; /* of function transforms; NULL: this PyTorch has none */
static void (*follow_gate)(void); /* NULL: torch has not been imported */

/* ---- reports ------------------------------------------------------------------------------- */

/* The main thread's loop is followed from operator to operator while it may make steps. */
static void loop_watch(struct loop_thread *thread)
{
	bool watch = dwp_torch_places.thread && dwp_loops_has_any() && dwp_steps_may_follow_loop(&thread->steps);

	if (dwp_torch_places.watched != watch)
		dwp_torch_attend(TORCH_ATTENTION_LOOP, watch);
	dwp_torch_places.watched = watch;
	dwp_torch_places.needed = watch && dwp_loops_needs_operators();
}

static enum steps_phase loop_report_to(struct loop_thread *thread, const struct steps_input *input)
{
	enum steps_phase phase = dwp_loop_report_of(thread, input);

	if (thread->gate_changed && follow_gate && input->event != STEPS_THREAD_ENDS)
		follow_gate();
	thread->gate_changed = false;
	loop_watch(thread);
	return phase;
}

static enum steps_phase loop_report(const struct steps_input *input)
{
	struct loop_thread *thread;

	if (dwp_repeated_parts && input->event < STEPS_FUNCTION_BEGINS) /* a step of another thread or process */
		return input->event == STEPS_FORWARD_BEGINS ? STEPS_PHASE_FORWARD : STEPS_PHASE_NONE;
	thread = dwp_loop_thread();
	return thread ? loop_report_to(thread, input) : STEPS_PHASE_NONE;
}

static void loop_report_event(enum steps_event event)
{
	loop_report(&(struct steps_input){ .event = event });
}

/* A step does not outlive the test in which it began. */
static void loop_follow_test(bool begins)
{
	struct loop_thread *thread = dwp_loop_thread();

	if (!thread)
		return;
	dwp_loop_report_of(thread, &(struct steps_input){ .event = STEPS_THREAD_ENDS });
	dwp_steps_leave(&thread->steps);
	if (dwp_torch_places.thread)
		dwp_loops_forget();
	loop_watch(thread);
	thread->trial = begins;
	thread->silent = false;
}

/* ---- the loop of the program ---------------------------------------------------------------- */

/* A step of a loop that has ended ends with its last operator. */
static void loop_note_operator(struct loop_thread *thread)
{
	if (dwp_loops_has_any() && dwp_torch_places.ended > thread->noted)
		thread->noted = dwp_torch_places.ended;
}

/* Reports what loops.c found. Does not need the interpreter's lock. */
static void loop_report_loop(struct loop_thread *thread, const struct loops_seen *seen)
{
	struct steps_input input = { .event = STEPS_LOOP_WIDENS };

	loop_note_operator(thread);
	if (seen->widens) {
		dwp_loop_report_of(thread, &input);
		thread->kept = thread->loop_began;
	}
	if (seen->left) {
		input.event = STEPS_LOOP_LEFT;
		dwp_loop_report_of(thread, &input);
	}
	if (seen->iterates) {
		input.event = STEPS_LOOP_ITERATES;
		dwp_loop_report_of(thread, &input);
	}
}

/* Before an event. Returns whether the thread is in a loop whose iterations are steps; then it must call
 * loop_entered() after the event. */
static bool loop_follow(enum loops_kind kind, PyObject *module, PyObject *input, bool *enters)
{
	struct loop_thread *thread = dwp_torch_places.thread ? dwp_loop_thread() : NULL;
	struct loops_seen seen;

	*enters = false;
	if (!thread || !dwp_steps_may_follow_loop(&thread->steps))
		return false;
	seen = dwp_loops_see(kind, module, input);
	loop_report_loop(thread, &seen);
	*enters = seen.enters;
	return seen.in;
}

static void loop_entered(bool enters)
{
	if (enters && dwp_loop_current)
		dwp_loop_current->loop_began = dwp_loop_current->kept;
}

void dwp_loop_operator(void)
{
	struct loops_seen seen = dwp_loops_see(LOOPS_OPERATOR, NULL, NULL);

	if (dwp_loop_current && (seen.widens || seen.left || seen.iterates))
		loop_report_loop(dwp_loop_current, &seen);
}

/* ---- calls from other files of the probe -------------------------------------------------- */

static bool loop_is_true(PyObject *value)
{
	bool yes = value && PyObject_IsTrue(value) == 1;

	Py_XDECREF(value);
	PyErr_Clear();
	return yes;
}

static bool loop_grad_is_enabled(void)
{
	if (DWELL_LIKELY(dwp_abi_functions.grad_enabled != NULL))
		return dwp_abi_functions.grad_enabled();
	return loop_is_true(PyObject_CallObject(grad_enabled, NULL));
}

static bool loop_is_training(PyObject *module)
{
	return loop_is_true(PyObject_GetAttr(module, training_name));
}

void dwp_loop_data(void)
{
	loop_report(&(struct steps_input){ .event = STEPS_LOADER, .grad = loop_grad_is_enabled() });
}

void dwp_loop_batch(void)
{
	bool enters;

	loop_follow(LOOPS_BATCH, NULL, NULL, &enters);
	loop_report(&(struct steps_input){ .event = STEPS_BATCH, .grad = loop_grad_is_enabled() });
}

void dwp_loop_checkpoint(void)
{
	loop_report_event(STEPS_CHECKPOINT);
}

static void loop_before_function(struct dwp_call *call)
{
	dwp_step_on_seen(true);
	loop_report_event(STEPS_FUNCTION_BEGINS);
}

static void loop_after_function(struct dwp_call *call, PyObject *result)
{
	loop_report_event(STEPS_FUNCTION_ENDS);
}

void dwp_loop_module(bool begins)
{
	if (begins)
		dwp_step_on_seen(true);
	loop_report_event(begins ? STEPS_MODULE_BEGINS : STEPS_MODULE_ENDS);
}

/* Called by the package dwell with the interpreter's lock: the program marks its steps itself. Ends
 * the open step, if any, and with 1 begins another one. From the first call on nothing else makes
 * steps, until a call with 2, which drops the open step. */
DWELL_API void dwp_python_step(int what);

void dwp_python_step(int what)
{
	loop_report_event(what == 2 ? STEPS_PROGRAM_LEAVES : what ? STEPS_PROGRAM_BEGINS : STEPS_PROGRAM_ENDS);
}

/* ---- forward and backward ----------------------------------------------------------------- */

/* The outermost modules that were called to train, by a hash of their address; never dereferenced. Of
 * two modules with the same hash, the one that was called last is known. */
#define TRAINED 64u
static const PyObject *trained[TRAINED];
static bool has_trained;

static const PyObject **loop_trained(const PyObject *module)
{
	return &trained[(uint64_t)(uintptr_t)module * 0x9e3779b97f4a7c15u >> 58];
}

/* A program that calls its model without gradients may evaluate it. Or the call is a part of
 * training: a policy that acts, a teacher, a target. An evaluation sets the model that it trains to
 * evaluation mode. */
static bool loop_evaluates(const PyObject *module, bool training)
{
	return !training && (!has_trained || *loop_trained(module) == module);
}

static struct dwell_site *loop_evaluation_site(const PyObject *module, bool grad, bool training, bool has_parameters)
{
	if (grad)
		return &gradients_site;
	if (loop_evaluates(module, training))
		return has_parameters ? &dwp_phase_evaluation : &dwp_phase_evaluation_bare;
	return has_parameters ? &inference_site : &inference_bare_site;
}

/* Whether the caller is within torch.func.grad, vmap or another function transform. */
static bool loop_is_transformed(void)
{
	PyObject *level = transform_level ? PyObject_CallObject(transform_level, NULL) : NULL;
	bool is = level && level != Py_None;

	Py_XDECREF(level);
	PyErr_Clear();
	return is;
}

/* Whether a call outside the followed loop goes on in the thread's last step. */
static bool loop_goes_on(PyObject *module, PyObject *input)
{
	struct loop_thread *thread = dwp_loop_thread();
	struct steps_state *steps = thread ? &thread->steps : NULL;

	if (!steps || !dwp_steps_may_follow_loop(steps))
		return false;
	return dwp_loops_goes_on(&thread->last, module, input, dwp_steps_may_go_on(steps));
}

unsigned dwp_loop_forward(PyObject *module, PyObject *input, bool has_parameters)
{
	bool grad = loop_grad_is_enabled();
	bool training = loop_is_training(module);
	bool untrained = !dwp_loop_current || dwp_steps_may_follow_loop(&dwp_loop_current->steps);
	bool passes_on = untrained && (has_parameters || dwp_loops_is_result(module, input));
	bool follows = untrained && has_parameters && dwp_torch_places.thread;
	bool transformed = follows && loop_is_transformed(), enters = false, goes_on;
	bool evaluates = dwp_loop_rules.functional && !transformed && !(grad && training);
	struct dwell_site *site;
	enum steps_phase phase;

	dwp_step_on_look();
	if (follows)
		follows = loop_follow(evaluates ? LOOPS_EVALUATION : LOOPS_CALL, module, input, &enters);
	goes_on = has_parameters && !follows && !dwp_repeated_parts && loop_goes_on(module, input);
	dwp_brief_note_forward(grad, training, follows);
	phase = loop_report(&(struct steps_input){ .event = STEPS_FORWARD_BEGINS,
	                                           .grad = grad,
	                                           .loop = follows,
	                                           .has_parameters = has_parameters,
	                                           .training = training,
	                                           .goes_on = goes_on,
	                                           .transformed = transformed });
	loop_entered(enters);
	if (dwp_loop_current)
		dwp_loop_current->passes_on = passes_on ? module : NULL;
	if (grad && training) {
		*loop_trained(module) = module;
		has_trained = true;
	}
	switch (phase) {
	case STEPS_PHASE_NONE:
		return DWELL_NOT_BEGUN;
	case STEPS_PHASE_FORWARD:
		return dwell_begin(has_parameters ? &dwp_phase_forward : &dwp_phase_forward_bare);
	case STEPS_PHASE_EVALUATION:
		site = loop_evaluation_site(module, grad, training, has_parameters);
		dwp_brief_note_range(site);
		return dwell_begin(site);
	case STEPS_PHASE_TENTATIVE:
		return dwell_begin(&dwp_phase_tentative);
	}
	return DWELL_NOT_BEGUN;
}

void dwp_loop_forward_end(unsigned began, PyObject *result)
{
	dwell_end(began);
	loop_report_event(result ? STEPS_FORWARD_ENDS : STEPS_FORWARD_FAILS);
	if (dwp_loop_current && dwp_loop_current->passes_on && result)
		dwp_loops_returned(dwp_loop_current->passes_on, result);
	if (dwp_loop_current)
		dwp_loop_current->passes_on = NULL;
}

static void loop_before_backward(struct dwp_call *call)
{
	loop_report(&(struct steps_input){ .event = STEPS_BACKWARD_BEGINS, .accumulates = true });
	call->began = dwell_begin(&dwp_phase_backward);
	dwp_torch_places_enter(TORCH_PLACES_OPEN);
}

static void loop_before_grad(struct dwp_call *call)
{
	bool enters, loop = loop_follow(LOOPS_GRADIENT, NULL, NULL, &enters);

	dwp_brief_note_gradient(loop);
	loop_report(&(struct steps_input){ .event = STEPS_BACKWARD_BEGINS, .loop = loop });
	loop_entered(enters);
	call->began = dwell_begin(&dwp_phase_backward);
	dwp_torch_places_enter(TORCH_PLACES_OPEN);
}

static void loop_after_backward(struct dwp_call *call, PyObject *result)
{
	struct loop_thread *thread;

	dwell_end(call->began);
	dwp_torch_places_leave(TORCH_PLACES_OPEN);
	loop_report_event(STEPS_BACKWARD_ENDS);
	thread = dwp_loop_current;
	if (thread && thread->update) {
		*thread->update = dwell_begin(thread->updates);
		thread->update = NULL;
	}
}

static void loop_before_share(struct dwp_call *call)
{
	loop_report_event(STEPS_MODEL_SHARED);
}

static void loop_after_nothing(struct dwp_call *call, PyObject *result)
{
}

/* ---- optimizers ------------------------------------------------------------------------------ */

/* Weak references, which call a function when an optimizer is freed: another may get its address. */
static PyObject *references; /* a set */

static PyObject *loop_optimizer_gone(PyObject *self, PyObject *reference)
{
	dwp_optimizer_gone(PyLong_AsVoidPtr(self));
	PySet_Discard(references, reference);
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyMethodDef optimizer_gone = { "dwell_optimizer_gone", loop_optimizer_gone, METH_O, NULL };

static void loop_watch_optimizer(PyObject *optimizer)
{
	PyObject *key = PyLong_FromVoidPtr(optimizer);
	PyObject *function = key ? PyCFunction_New(&optimizer_gone, key) : NULL;
	PyObject *reference = function ? PyWeakref_NewRef(optimizer, function) : NULL;

	if (!references)
		references = PySet_New(NULL);
	if (references && reference)
		PySet_Add(references, reference);
	Py_XDECREF(reference);
	Py_XDECREF(function);
	Py_XDECREF(key);
	PyErr_Clear();
}

static bool loop_is_named(PyObject *optimizer)
{
	char name[128];

	if (!dwp_loop_rules.named)
		return false;
	dwp_python_text((PyObject *)Py_TYPE(optimizer), "__name__", name, sizeof name);
	return dwp_step_on_is(name);
}

static void loop_report_optimizer(enum steps_event event, PyObject *optimizer, bool named)
{
	loop_report(&(struct steps_input){ .event = event, .optimizer = optimizer, .named = named });
}

/* Stores how many threads an operator may use. Scripts set this before they create an optimizer, or before their loop.
 */
static void loop_note_threads(void)
{
	static long noted;
	PyObject *torch = PyImport_ImportModule("torch");
	PyObject *threads = torch ? PyObject_CallMethod(torch, "get_num_threads", NULL) : NULL;
	long count = threads ? PyLong_AsLong(threads) : -1;
	char text[24];

	Py_XDECREF(threads);
	Py_XDECREF(torch);
	PyErr_Clear();
	if (count <= 0 || count == noted)
		return;
	noted = count;
	snprintf(text, sizeof text, "%ld", count);
	dwell_meta_json(DW_KEY_TORCH_THREADS, text);
}

/* Stores which framework's loop calls the optimizer: a file of its loop is in the stack. */
static void loop_note_framework(void)
{
	static const struct {
		const char *folder, *name;
	} frameworks[] = {
		{ "/lightning/pytorch/loops/", "lightning" },
		{ "/pytorch_lightning/loops/", "lightning" },
		{ "/ignite/engine/", "ignite" },
	};
	static bool noted;
	PyObject *frame = noted ? NULL : (PyObject *)PyEval_GetFrame();

	Py_XINCREF(frame);
	while (frame && frame != Py_None && !noted) {
		PyObject *code = PyObject_GetAttrString(frame, "f_code"), *back = PyObject_GetAttrString(frame, "f_back");
		char file[512] = "";

		if (code)
			dwp_python_text(code, "co_filename", file, sizeof file);
		for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks && !noted; i++)
			if (strstr(file, frameworks[i].folder)) {
				dwell_meta(DW_KEY_TORCH_FRAMEWORK, frameworks[i].name);
				noted = true;
			}
		Py_XDECREF(code);
		Py_DECREF(frame);
		frame = back;
	}
	Py_XDECREF(frame);
	PyErr_Clear();
}

#define THREADS_STEP 8 /* from this one on, threads are looked up again at each step whose number is a power of two */

static bool loop_is_nothing(PyObject *closure)
{
	char name[32];

	dwp_python_text(closure, "__name__", name, sizeof name);
	return strcmp(name, "do_nothing_closure") == 0;
}

/* Lightning passes such a closure, wrapped in a partial, where the program runs forward and backward itself. */
static bool loop_does_nothing(PyObject *closure)
{
	PyObject *arguments = PyObject_GetAttrString(closure, "args");
	bool nothing = loop_is_nothing(closure);

	PyErr_Clear();
	for (Py_ssize_t i = 0; arguments && PyTuple_Check(arguments) && i < PyTuple_Size(arguments); i++)
		nothing |= loop_is_nothing(PyTuple_GetItem(arguments, i));
	Py_XDECREF(arguments);
	return nothing;
}

/* As Lightning's. The first thing that step() does is to call it. What it runs is no update: that begins when the first
 * backward of the closure has ended. */
static bool loop_has_closure(const struct dwp_call *call)
{
	PyObject *closure = call->second ? call->second : call->named;

	return closure && PyCallable_Check(closure) && !loop_does_nothing(closure);
}

static void loop_wait_for_closure(struct dwp_call *call)
{
	dwp_loop_current->update = &call->began;
	dwp_loop_current->updates = dwp_optimizer_site(call->self);
}

/* Only from the thread whose loops are known. */
static void loop_note_loops(PyObject *optimizer)
{
	uint64_t loops[8];
	uint32_t count;

	if (!dwp_torch_places.thread || !dwp_optimizer_is_due(optimizer))
		return;
	count = dwp_loops_here(loops, sizeof loops / sizeof *loops);
	dwp_optimizer_in_loops(optimizer, loops, count);
}

static void loop_before_step(struct dwp_call *call)
{
	static unsigned steps;

	if (++steps >= THREADS_STEP && !(steps & (steps - 1)))
		loop_note_threads();
	if (!(steps & (steps - 1)))
		loop_note_framework();
	if (call->self && !(dwp_loop_current && dwp_loop_current->steps.optimizers)) {
		dwp_blocks_of_first_step(call->self);
		loop_note_loops(call->self);
		if (!(steps & (steps - 1)))
			dwp_gradients_look(references);
	}
	loop_report_event(STEPS_OPTIMIZER_BEGINS);
	call->began = DWELL_NOT_BEGUN;
	if (dwp_loop_current && loop_has_closure(call))
		loop_wait_for_closure(call);
	else
		call->began = dwell_begin(dwp_optimizer_site(call->self));
	dwp_torch_places_enter(TORCH_PLACES_OPEN);
}

static void loop_after_step(struct dwp_call *call, PyObject *result)
{
	bool named = call->self && result && loop_is_named(call->self);

	if (dwp_loop_current && dwp_loop_current->update == &call->began)
		dwp_loop_current->update = NULL;
	dwell_end(call->began);
	dwp_torch_places_leave(TORCH_PLACES_OPEN);
	if (named)
		dwp_step_on_seen(true);
	loop_report_optimizer(call->self && result ? STEPS_OPTIMIZER_ENDS : STEPS_OPTIMIZER_FAILS, call->self, named);
}

static void loop_after_state(struct dwp_call *call, PyObject *result)
{
	if (result && call->self)
		dwp_blocks_of_state(call->self);
}

static void loop_before_scaler(struct dwp_call *call)
{
	loop_report_event(STEPS_SCALER_BEGINS);
}

static void loop_after_scaler(struct dwp_call *call, PyObject *result)
{
	if (result && call->second)
		loop_report_optimizer(STEPS_SCALER_ENDS, call->second, loop_is_named(call->second));
}

static void loop_before_zero_grad(struct dwp_call *call)
{
	loop_report_event(STEPS_ZERO_GRAD);
	call->began = dwell_begin(&dwp_phase_zero_grad);
	dwp_torch_places_enter(TORCH_PLACES_OPEN);
}

#define BRIEF .foresees = dwp_brief_foresees, .foreseen = dwp_brief_foreseen

/* Each class of optimizers has a step() of its own, which is hooked when its first object is
 * created. */
static void loop_after_init(struct dwp_call *call, PyObject *result)
{
	static const struct dwp_hook step = { loop_before_step, loop_after_step, BRIEF };
	bool named;
	char name[128];

	if (!result || !call->self)
		return;
	named = loop_is_named(call->self);
	loop_watch_optimizer(call->self);
	loop_report_optimizer(STEPS_OPTIMIZER_MADE, call->self, named);
	dwp_blocks_of_groups(call->self);
	dwp_step_on_look();
	loop_note_threads();
	dwp_python_text((PyObject *)Py_TYPE(call->self), "__name__", name, sizeof name);
	dwp_step_on_could(name);
	dwp_hook_attribute((PyObject *)Py_TYPE(call->self), "step", &step);
}

/* ---- devices, the end ------------------------------------------------------------------------- */

/* Stores that a device is used. What it does is not recorded here. */
static void loop_after_device(struct dwp_call *call, PyObject *result)
{
	if (result)
		dwell_meta(DW_KEY_TORCH_DEVICE, "cuda");
}

static void loop_no_range(struct dwp_call *call)
{
	call->began = DWELL_NOT_BEGUN;
}

static void loop_after_range(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
	dwp_torch_places_leave(TORCH_PLACES_OPEN);
}

static PyObject *loop_at_exit(PyObject *self, PyObject *arguments)
{
	if (dwp_loop_current)
		loop_note_operator(dwp_loop_current);
	loop_report_event(STEPS_EXIT);
	dwp_bound_end();
	Py_RETURN_NONE;
}

static PyMethodDef at_exit_method = { "dwell_loop_at_exit", loop_at_exit, METH_VARARGS, NULL };

/* ---- attaching ------------------------------------------------------------------------------------ */

static const struct {
	const char *path, *name;
	struct dwp_hook hook;
} hooks[] = {
	{ "autograd", "backward", { loop_before_backward, loop_after_backward, BRIEF } },
	{ "autograd", "grad", { loop_before_grad, loop_after_backward, BRIEF } },
	{ "nn.Module", "share_memory", { loop_before_share, loop_after_nothing } },
	{ "optim.Optimizer", "__init__", { loop_no_range, loop_after_init } },
	{ "optim.Optimizer", "load_state_dict", { loop_no_range, loop_after_state } },
	{ "optim.Optimizer", "zero_grad", { loop_before_zero_grad, loop_after_range, BRIEF } },
	{ "cuda.amp.GradScaler", "step", { loop_before_scaler, loop_after_scaler } },
	{ "amp.GradScaler", "step", { loop_before_scaler, loop_after_scaler } },
	{ "cuda", "_lazy_init", { loop_no_range, loop_after_device } },
};

static void loop_forked(void)
{
	dwp_loops_forget();
	dwp_optimizers_forked();
	dwp_brief_forked();
}

static PyObject *loop_find_transform_level(PyObject *torch)
{
	PyObject *c = PyObject_GetAttrString(torch, "_C");
	PyObject *functorch = c ? PyObject_GetAttrString(c, "_functorch") : NULL;
	PyObject *level = functorch ? PyObject_GetAttrString(functorch, "maybe_current_level") : NULL;

	Py_XDECREF(functorch);
	Py_XDECREF(c);
	PyErr_Clear();
	return level;
}

void dwp_loop_attach(PyObject *torch, void (*follow)(void))
{
	static const struct dwp_hook function = { loop_before_function, loop_after_function };
	const struct dwp_brief_asks asks = { loop_is_training, loop_grad_is_enabled, follow, &hooks[0].hook, &hooks[1].hook };

	follow_gate = follow;
	dwp_loop_forked = loop_forked;
	dwp_repeated_on_test = loop_follow_test;
	dwp_step_on_attach(&function);
	grad_enabled = PyObject_GetAttrString(torch, "is_grad_enabled");
	training_name = PyUnicode_InternFromString("training");
	if (!grad_enabled || !training_name) {
		PyErr_Clear();
		return;
	}
	if (dwp_abi_functions.grad_enabled)
		dwp_brief_attach(&asks);
	transform_level = loop_find_transform_level(torch);
	dwell_meta(DW_KEY_TORCH_GRADIENTS, "named");
	dwell_meta(DW_KEY_TORCH_INFERENCE, "named");
	dwp_loop_rules.named = dwp_step_on_given();
	dwp_python_at_exit(&at_exit_method);
	for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
		dwp_hook_path(torch, hooks[i].path, hooks[i].name, &hooks[i].hook);
}
