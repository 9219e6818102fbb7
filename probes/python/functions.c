/*
 * Records Python functions, and the C functions that they call, as ranges.
 *
 * Used only if functions are requested. With C functions (`dwell run --functions`) this file sets
 * the interpreter's profile function (profile_slot.c): in the main thread at once, in other threads
 * when they begin (threading.setprofile() calls our starter there). Python functions alone are
 * recorded by frames.c at a lower cost, and by this file where frames.c cannot. The id of a C
 * function is found by the function's definition.
 */
#include "calls.h"
#include "format/keys.h"

#include <stddef.h>

PyAPI_FUNC(PyFrameObject *) PyFrame_GetBack(PyFrameObject *frame);

enum { CALL = 0, RETURN = 3, C_CALL = 4, C_EXCEPTION = 5, C_RETURN = 6 };

static inline uint32_t functions_frame_id(PyFrameObject *frame)
{
	PyObject *code = (PyObject *)PyFrame_GetCode(frame);
	uint32_t id = dwp_code_id(code);

	Py_DECREF(code); /* the frame keeps a reference */
	return id & DWP_ID_BITS;
}

/* ---- C functions --------------------------------------------------------------------------- */

/* The beginning of PyCFunctionObject, the same in every CPython. */
struct c_function {
	PyObject_HEAD
	PyMethodDef *method;
};
PyAPI_DATA(PyTypeObject) PyCMethod_Type;

/* A cache by address of the definition. A definition exists as long as a function made from it.
 * Later another one may have the same address, so the name and the C function are compared too. */
static struct known_c {
	const PyMethodDef *method;
	PyCFunction function;
	const char *name;
	uint32_t id;
} recent_c[DWP_RECENT_CODES];

static uint32_t functions_name_c(PyObject *function)
{
	char name[256], module[128], whole[400];

	dwp_python_text(function, "__qualname__", name, sizeof name);
	dwp_python_text(function, "__module__", module, sizeof module);
	snprintf(whole, sizeof whole, "%s%s%s", module, *module ? "." : "", *name ? name : "?");
	return dwell_intern(DWELL_CATEGORY_FUNCTION, whole, NULL);
}

static uint32_t functions_builtin_id(PyObject *function)
{
	const PyMethodDef *method;
	struct known_c *known;

	if (Py_TYPE(function) != &PyCFunction_Type && Py_TYPE(function) != &PyCMethod_Type)
		return functions_name_c(function);
	method = ((struct c_function *)function)->method;
	known = &recent_c[((uintptr_t)method >> 4) * 0x9e3779b1u >> 16 & (DWP_RECENT_CODES - 1)];
	if (DWELL_UNLIKELY(known->method != method || known->function != method->ml_meth ||
	                   known->name != method->ml_name || !known->id))
		*known = (struct known_c){ method, method->ml_meth, method->ml_name,
			                       dwp_actions_is_own(method) ? DWP_UNSEEN : functions_name_c(function) };
	return known->id == DWP_UNSEEN ? 0 : known->id;
}

/* ---- the interpreter's events -------------------------------------------------------------- */

/* Another profiler had the profile function. The call of this event is not open yet, or is the innermost one. */
__attribute__((noinline)) static void functions_catch_up(struct dwp_calls *calls, PyFrameObject *frame, int what)
{
	PyFrameObject *back = what == CALL ? PyFrame_GetBack(frame) : NULL;

	dwp_slot_catch_up(calls, what == CALL ? back : frame);
	Py_XDECREF((PyObject *)back);
	if (what == C_RETURN || what == C_EXCEPTION)
		dwp_calls_enter(calls, 0, DWP_CALL_IN_C);
}

static int functions_on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
	struct dwp_calls *calls = dwp_calls;
	bool wanted = dwell_wants(1u << DWELL_CATEGORY_FUNCTION);

	if (DWELL_UNLIKELY(dwp_first_watching))
		dwp_first_on_event(self, frame, what, argument);
	if (!calls && !(calls = dwp_calls_create()))
		return 0;
	if (DWELL_UNLIKELY(calls->missed))
		functions_catch_up(calls, frame, what);
	if (what == CALL)
		dwp_calls_enter(calls, wanted ? functions_frame_id(frame) : 0, 0);
	else if (what == C_CALL)
		dwp_calls_enter(
			calls,
			wanted && dwell_wants(DWELL_DETAIL_C_FUNCTIONS) ? functions_builtin_id(argument) : 0,
			DWP_CALL_IN_C);
	else if (what != RETURN && what != C_RETURN && what != C_EXCEPTION)
		return 0;
	else if (calls->depth > DWP_MOST_CALLS ||
	         (calls->depth && !(calls->ids[calls->depth - 1] & DWP_CALL_BY_FRAME)))
		dwp_calls_leave(calls);
	return 0;
}

/* Set with threading.setprofile(), so that each new thread calls it at its first event. */
static PyObject *functions_start_thread(PyObject *self, PyObject *arguments)
{
	dwp_slot_take_here();
	Py_RETURN_NONE;
}

static PyMethodDef starter = { "dwp_start_thread", functions_start_thread, METH_VARARGS, NULL };

/* ---- who records ------------------------------------------------------------------------------ */

static enum { NOBODY, BY_FRAME, BY_PROFILE } who;

static void functions_by_profile(const char *why)
{
	PyObject *type, *value, *trace;

	if (who != BY_FRAME)
		return;
	who = BY_PROFILE;
	PyErr_Fetch(&type, &value, &trace);
	dwp_frames_end();
	dwp_slot_begin(functions_on_event, &starter);
	dwp_slot_take_all();
	dwell_meta(DW_KEY_PYTHON_FUNCTIONS, why);
	PyErr_Restore(type, value, trace);
}

static void functions_begin(bool c_functions)
{
	const char *why = NULL;

	if (!c_functions)
		why = dwp_frames_begin(functions_by_profile);
	who = c_functions || why ? BY_PROFILE : BY_FRAME;
	if (why)
		dwell_meta(DW_KEY_PYTHON_FUNCTIONS, why);
	if (who == BY_FRAME)
		return;
	dwp_slot_begin(functions_on_event, &starter);
	dwp_slot_take_here();
}

void dwp_functions_follow_gate(void)
{
	bool c_functions = dwell_wants(DWELL_DETAIL_C_FUNCTIONS);

	if (!dwell_wants(1u << DWELL_CATEGORY_FUNCTION))
		return;
	if (who == NOBODY && dwp_calls_prepare())
		functions_begin(c_functions);
	else if (who == BY_FRAME && c_functions)
		functions_by_profile("by the profile function: C functions are wanted too");
}
