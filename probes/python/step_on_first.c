/*
 * dwell run --step-on NAME: the first call of a function of Python.
 *
 * A function exists when its definition has run, and may be called at once: a thread that looks for it every few
 * milliseconds (step_on.c) is too late. But the code of a script or module is known before it runs, by the audit event
 * "exec", and contains the code of its functions. If one has the name, a profile function watches the calls of this
 * thread until the function is called, or until the code that defines it ends. Meanwhile calls take up to 0.1 us more.
 *
 * A program that has a profile function keeps it, and one that sets its own replaces this one: then the thread finds
 * the function. Where functions are recorded by a profile function, that one passes its events on. All functions need
 * the interpreter's lock.
 */
#include "calls.h"
#include "python.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define MOST_CODES 8u
enum { CALL = 0, RETURN = 3 }; /* events of a profile function */
#define IS_FUNCTION 1          /* CO_OPTIMIZED: not a class or module */

static const char *wanted; /* NAME; NULL: nothing is watched any more */
static bool (*first_look)(bool *ends);
static const struct dwp_hook *first_hook;
static pthread_t main_thread;
static PyObject *functions[MOST_CODES],
	*owners[MOST_CODES];             /* of this name, and the body that defines each, borrowed */
static PyObject *bodies[MOST_CODES]; /* of scripts and modules, which run */
static unsigned function_count, body_count;
bool dwp_first_watching;
static PyFrameObject *running; /* the first call */
static struct dwp_call first_call;

static void first_forget(PyObject *codes[MOST_CODES], unsigned *count)
{
	while (*count > 0)
		Py_DECREF(codes[--*count]);
}

/* In an event alone: then the profile function is this one's, or that of functions. */
static void first_stop(void)
{
	dwp_first_watching = false;
	first_forget(bodies, &body_count);
	first_forget(functions, &function_count);
	if (!dwp_slot_is_taken())
		PyEval_SetProfile(NULL, NULL);
}

static bool first_has(PyObject *const codes[MOST_CODES], unsigned count, const PyObject *code)
{
	for (unsigned i = 0; i < count; i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* Looks, and forgets the name if nothing else can have it. */
static bool first_find(void)
{
	bool ends = false, found = first_look(&ends);

	if (ends)
		wanted = NULL;
	return found;
}

static void first_on_call(PyFrameObject *frame)
{
	if (running)
		return;
	if (first_find()) {
		running = frame;
		first_hook->before(&first_call);
	} else if (!wanted) {
		first_stop();
	}
}

/* A body has ended: the names of its functions exist, and were looked up. */
static void first_end_body(const PyObject *code)
{
	for (unsigned i = function_count; i-- > 0;)
		if (owners[i] == code) {
			Py_DECREF(functions[i]);
			functions[i] = functions[--function_count];
			owners[i] = owners[function_count];
		}
	for (unsigned i = body_count; i-- > 0;)
		if (bodies[i] == code) {
			Py_DECREF(bodies[i]);
			bodies[i] = bodies[--body_count];
		}
}

static void first_on_return(const PyFrameObject *frame, const PyObject *code, PyObject *result)
{
	if (frame == running) {
		first_hook->after(&first_call, result);
		running = NULL;
	} else if (!running) {
		first_find();
		first_end_body(code);
	}
	if (!running && (!wanted || !body_count))
		first_stop();
}

int dwp_first_on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *result)
{
	PyObject *code, *type, *value, *trace;

	if (what != CALL && what != RETURN)
		return 0;
	code = (PyObject *)PyFrame_GetCode(frame);
	PyErr_Fetch(&type, &value, &trace);
	if (what == CALL && first_has(functions, function_count, code))
		first_on_call(frame);
	else if (what == RETURN && (frame == running || first_has(bodies, body_count, code)))
		first_on_return(frame, code, result);
	PyErr_Restore(type, value, trace);
	Py_DECREF(code);
	return 0;
}

/* ---- definitions -------------------------------------------------------------------------------- */

/* Whether NAME is `name` with a module before it, or without. */
static bool first_is_wanted(const char *name)
{
	size_t length = strlen(wanted), bytes = strlen(name);

	return bytes <= length && strcmp(wanted + length - bytes, name) == 0 &&
	       (bytes == length || wanted[length - bytes - 1] == '.');
}

static bool first_is_code(PyObject *object)
{
	char name[16];

	dwp_python_text((PyObject *)Py_TYPE(object), "__name__", name, sizeof name);
	return strcmp(name, "code") == 0;
}

/* Adds the functions of that name among the constants of a code, and in its classes. `outer`: "" or "Class." */
static void first_scan(PyObject *code, const char *outer, PyObject *body)
{
	PyObject *all = PyObject_GetAttrString(code, "co_consts");
	char name[256], text[600];

	for (Py_ssize_t i = 0; all && PyTuple_Check(all) && i < PyTuple_Size(all); i++) {
		PyObject *one = PyTuple_GetItem(all, i), *flags;
		long bits;

		if (!first_is_code(one))
			continue;
		flags = PyObject_GetAttrString(one, "co_flags");
		bits = flags ? PyLong_AsLong(flags) : IS_FUNCTION;
		Py_XDECREF(flags);
		dwp_python_text(one, "co_name", name, sizeof name);
		snprintf(text, sizeof text, "%.300s%.250s", outer, name);
		if (bits & IS_FUNCTION) {
			if (first_is_wanted(text) && function_count < MOST_CODES) {
				Py_INCREF(one);
				owners[function_count] = body;
				functions[function_count++] = one;
			}
		} else if (strlen(text) < 300) {
			snprintf(text + strlen(text), sizeof text - strlen(text), ".");
			first_scan(one, text, body);
		}
	}
	Py_XDECREF(all);
	PyErr_Clear();
}

static bool first_is_free(void)
{
	PyObject *ask = PySys_GetObject("getprofile"); /* borrowed */
	PyObject *now = ask ? PyObject_CallObject(ask, NULL) : NULL;
	bool is = now == Py_None;

	Py_XDECREF(now);
	PyErr_Clear();
	return is;
}

static void first_on_exec(PyObject *code)
{
	unsigned before = function_count;

	if (body_count == MOST_CODES || !first_is_code(code))
		return;
	first_scan(code, "", code);
	if (function_count == before)
		return;
	if (!dwp_first_watching && !dwp_slot_is_taken()) {
		if (!first_is_free()) {
			first_forget(functions, &function_count);
			return;
		}
		PyEval_SetProfile(dwp_first_on_event, NULL);
	}
	Py_INCREF(code);
	bodies[body_count++] = code;
	dwp_first_watching = true;
}

static int first_on_audit(const char *event, PyObject *arguments, void *data)
{
	if (wanted && strcmp(event, "exec") == 0 && !running && pthread_equal(pthread_self(), main_thread) &&
	    dwp_python_is_main_interpreter() && PyTuple_Check(arguments) && PyTuple_Size(arguments) > 0)
		first_on_exec(PyTuple_GetItem(arguments, 0));
	return 0;
}

void dwp_first_watch(const char *name, bool (*look)(bool *ends), const struct dwp_hook *hook)
{
	int (*add_hook)(int (*on_event)(const char *event, PyObject *arguments, void *data), void *data) = NULL;

	*(void **)&add_hook = dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");
	if (!add_hook)
		return;
	wanted = name;
	first_look = look;
	first_hook = hook;
	main_thread = pthread_self();
	add_hook(first_on_audit, NULL);
	PyErr_Clear();
}
