/*
 * The profile function of the interpreter, which each thread has one of: who set it last has it.
 *
 * A program may set one of its own for a part of its run (sys.setprofile(), cProfile before Python 3.12), and clear it
 * afterwards. Functions of that thread are not recorded meanwhile; the trace says so, and counts a lost record each
 * time. Every change of a profile function raises the audit event "sys.setprofile" in its thread, before the change.
 * After it the probe looks: where no function is set, it sets its own again. The main thread looks at its next
 * instruction, before Python 3.12 for all threads; any other thread looks at its next audit event (an import, an
 * open file). What a thread has open may have changed, so its next event compares that with the frames.
 */
#include "calls.h"
#include "format/keys.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

PyAPI_FUNC(PyFrameObject *) PyFrame_GetBack(PyFrameObject *frame);

static dwp_tracer *ours;
static PyObject *for_new_threads; /* threading.setprofile */
static PyMethodDef *starter;
static unsigned setting; /* how many calls of this file change profile functions now */
static bool will_look;

static void slot_set_here(void)
{
	setting++;
	PyEval_SetProfile(ours, NULL);
	setting--;
}

/* ---- new threads --------------------------------------------------------------------------- */

static void slot_set_for_new_threads(void)
{
	PyObject *function = PyCFunction_New(starter, NULL);

	if (for_new_threads && function)
		Py_XDECREF(PyObject_CallFunctionObjArgs(for_new_threads, function, NULL));
	Py_XDECREF(function);
	PyErr_Clear();
}

static void slot_before_threading(struct dwp_call *call)
{
	(void)call;
}

/* After a call of threading.setprofile() by the program: it may have cleared ours. */
static void slot_after_threading(struct dwp_call *call, PyObject *result)
{
	PyObject *module = PyImport_ImportModule("threading");
	PyObject *hook = module ? PyObject_GetAttrString(module, "_profile_hook") : NULL;

	(void)call;
	if (result && hook == Py_None)
		slot_set_for_new_threads();
	Py_XDECREF(hook);
	Py_XDECREF(module);
	PyErr_Clear();
}

static void slot_watch_threading(void)
{
	static const struct dwp_hook hook = { slot_before_threading, slot_after_threading, NULL };
	PyObject *module = PyImport_ImportModule("threading");

	for_new_threads = module ? PyObject_GetAttrString(module, "setprofile") : NULL;
	if (for_new_threads)
		dwp_hook_attribute(module, "setprofile", &hook);
	Py_XDECREF(module);
	PyErr_Clear();
}

/* ---- all threads --------------------------------------------------------------------------- */

/* Sets ours in the current thread state if it has none. */
static void slot_set_if_free(void)
{
	PyObject *type, *value, *trace;

	PyErr_Fetch(&type, &value, &trace);
	if (!dwp_calls_profiled())
		slot_set_here();
	PyErr_Restore(type, value, trace);
}

/* PyEval_SetProfile() sets the function of the current thread state. Before 3.12, which has a function for all
 * threads, the thread states are therefore made current one after the other, which only sets a pointer there. */
static void slot_set_where_free(void)
{
	PyThreadState *(*first)(PyInterpreterState *interpreter) = NULL;
	PyThreadState *(*next)(PyThreadState *thread) = NULL;
	PyThreadState *self = PyThreadState_Get();

	*(void **)&first = dlsym(RTLD_DEFAULT, "PyInterpreterState_ThreadHead");
	*(void **)&next = dlsym(RTLD_DEFAULT, "PyThreadState_Next");
	for (PyThreadState *thread = first && next ? first(PyInterpreterState_Get()) : NULL; thread; thread = next(thread)) {
		PyThreadState_Swap(thread);
		slot_set_if_free();
	}
	PyThreadState_Swap(self);
}

void dwp_slot_take_all(void)
{
	void (*all)(dwp_tracer *tracer, PyObject *self) = NULL;

	*(void **)&all = dlsym(RTLD_DEFAULT, "PyEval_SetProfileAllThreads");
	if (!all) {
		slot_set_where_free();
	} else if (!dwp_calls_profiled()) {
		setting++;
		all(ours, NULL);
		setting--;
	}
}

void dwp_slot_take_here(void)
{
	slot_set_here();
}

/* ---- another profiler ---------------------------------------------------------------------- */

/* A pending call: runs in the main thread. */
static int slot_look(void *unused)
{
	(void)unused;
	will_look = false;
	slot_set_if_free();
	if (!dlsym(RTLD_DEFAULT, "PyEval_SetProfileAllThreads"))
		slot_set_where_free();
	return 0;
}

static int slot_on_audit(const char *event, PyObject *arguments, void *data)
{
	struct dwp_calls *calls = dwp_calls;

	(void)arguments;
	(void)data;
	if (!calls || setting || !dwp_python_is_main_interpreter() || strncmp(event, "cpython.", 8) == 0)
		return 0;
	if (strcmp(event, "sys.setprofile") != 0) {
		if (calls->missed)
			slot_set_if_free();
		return 0;
	}
	if (!calls->missed) {
		dwell_probe_lost(1);
		dwell_meta(DW_KEY_PYTHON_FUNCTIONS,
		           "functions are missing where another profiler (cProfile, sys.setprofile) had the profile function");
	}
	calls->missed = true;
	if (!will_look)
		will_look = Py_AddPendingCall(slot_look, NULL) == 0;
	return 0;
}

bool dwp_slot_is_taken(void)
{
	return ours != NULL;
}

void dwp_slot_begin(dwp_tracer *tracer, PyMethodDef *start_thread)
{
	int (*add_hook)(int (*hook)(const char *event, PyObject *arguments, void *data), void *data) = NULL;

	ours = tracer;
	starter = start_thread;
	slot_watch_threading();
	slot_set_for_new_threads();
	*(void **)&add_hook = dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");
	if (add_hook)
		add_hook(slot_on_audit, NULL);
	PyErr_Clear();
}

/* ---- what is open afterwards --------------------------------------------------------------- */

/* The ids of the frames that run, outermost first; at most DWP_MOST_CALLS. NULL: out of memory. */
static uint32_t *slot_frame_ids(PyFrameObject *frame, uint32_t *count)
{
	uint32_t *ids = malloc(DWP_MOST_CALLS * sizeof *ids), at = DWP_MOST_CALLS;

	Py_XINCREF((PyObject *)frame);
	while (frame) {
		PyObject *code = (PyObject *)PyFrame_GetCode(frame);
		PyFrameObject *back = PyFrame_GetBack(frame);

		if (ids && at)
			ids[--at] = dwp_code_id(code) & DWP_ID_BITS;
		Py_DECREF(code);
		Py_DECREF((PyObject *)frame);
		frame = back;
	}
	*count = DWP_MOST_CALLS - at;
	if (ids)
		memmove(ids, ids + at, *count * sizeof *ids);
	return ids;
}

/* How many of the open calls are those of the frames. C functions are, if a function that they called is. `next`:
 * the first frame without a call. */
static uint32_t slot_match(const struct dwp_calls *calls, const uint32_t *frames, uint32_t count, uint32_t *next)
{
	uint32_t depth = calls->depth < DWP_MOST_CALLS ? calls->depth : DWP_MOST_CALLS, kept = 0, begin = 0;

	for (*next = count; kept == 0 && begin < count; begin++) {
		uint32_t at = begin;

		for (uint32_t i = 0; i < depth && at < count; i++) {
			if (calls->ids[i] & DWP_CALL_IN_C)
				continue;
			if ((calls->ids[i] & DWP_ID_BITS) != frames[at])
				break;
			kept = i + 1;
			*next = ++at;
		}
	}
	for (uint32_t i = kept; i < depth; i++) /* these are left elsewhere */
		if (calls->ids[i] & DWP_CALL_BY_FRAME)
			kept = i + 1;
	return kept;
}

void dwp_slot_catch_up(struct dwp_calls *calls, PyFrameObject *outer)
{
	uint32_t count = 0, next, kept;
	uint32_t *frames = slot_frame_ids(outer, &count);

	calls->missed = false;
	if (!frames || !calls->depth) {
		free(frames);
		return;
	}
	kept = slot_match(calls, frames, count, &next);
	while (calls->depth > kept)
		dwp_calls_leave(calls);
	for (uint32_t i = next; i < count && dwell_wants(1u << DWELL_CATEGORY_FUNCTION); i++)
		dwp_calls_enter(calls, frames[i], 0);
	free(frames);
}
