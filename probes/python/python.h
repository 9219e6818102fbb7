/*
 * The Python probe and its parts.
 *
 *   python     attaching, and waiting for the import of what other probes know
 *   hooked     a callable in place of another, with C code before and after it
 *   collector  the garbage collector's pauses
 *   functions  Python and C functions, when they are asked for
 *   frames     Python functions alone, cheaper
 *   actions    the blocks of a Lightning profiler, for the package dwell
 *   stacks     where in Python the calling thread is
 *
 * One build serves every CPython from 3.9 on: the limited API, and a few functions
 * that all of them export. Nothing here links to Python; the symbols are those of
 * the process. Everything is called with the interpreter's lock unless it says not.
 * A failure of ours never reaches the program: errors are cleared, what was there
 * before stays in place.
 */
#ifndef DWP_PYTHON_H
#define DWP_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <dwell/probe.h>

/* Exported by every CPython since 3.9, though not of the limited API. */
typedef PyObject *dwp_vectorcall(PyObject *callable, PyObject *const *arguments, size_t count,
                                   PyObject *names);
typedef int dwp_tracer(PyObject *self, PyFrameObject *frame, int what, PyObject *argument);
PyAPI_FUNC(PyObject *) PyObject_Vectorcall(PyObject *callable, PyObject *const *arguments,
                                           size_t count, PyObject *names)
    __attribute__((weak)); /* from 3.11 on */
PyAPI_FUNC(PyObject *) PyObject_VectorcallDict(PyObject *callable, PyObject *const *arguments,
                                               size_t count, PyObject *by_name);
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *callable, PyObject *arguments,
                                         PyObject *names);
PyAPI_FUNC(PyObject *) PyMethod_New(PyObject *function, PyObject *self);
PyAPI_FUNC(void) PyEval_SetProfile(dwp_tracer *tracer, PyObject *self);

/* ---- hooked -------------------------------------------------------------------- */

/* What a hook keeps between its two halves. */
struct dwp_call {
	PyObject *self;    /* the first argument, borrowed; NULL: none */
	PyObject *second;  /* the second, borrowed; NULL: none, or given by name */
	unsigned began;
	unsigned flags;    /* the hook's own */
	void *place;       /* the hook's own */
};

struct dwp_hook {
	void (*before)(struct dwp_call *call);
	void (*after)(struct dwp_call *call, PyObject *result); /* NULL: an exception is set */
};

/* Replaces owner.name by a callable that runs the hook around the original; once. */
void dwp_hook_attribute(PyObject *owner, const char *name, const struct dwp_hook *hook);
/* The same for `path` ("optim.Optimizer") below a module; what is missing is left alone. */
void dwp_hook_path(PyObject *module, const char *path, const char *name,
                     const struct dwp_hook *hook);

/* Calls `function` when the interpreter ends, in its main thread; false: it will not. */
bool dwp_python_at_exit(PyMethodDef *function);

/* ---- the other parts ---------------------------------------------------------------- */

void dwp_collector_attach(void);
/* `count` frames of another language, innermost first, and the Python functions of the calling
 * thread that called them, as a STACK id; 0: it has none. Takes the interpreter's lock, so
 * the caller may hold none that another thread wants with it. */
uint32_t dwp_python_stack(const uint32_t *inner, uint32_t count);
void dwp_stacks_attach(void);
/* Watches functions from the first time that they are wanted. */
void dwp_functions_follow_gate(void);
/* Watches Python functions alone; false: not here, or another has the interpreter's slot. */
bool dwp_frames_watch(void);
bool dwp_frames_watched(void);
/* Whether a PyMethodDef is of the blocks of actions.c. */
bool dwp_actions_is_own(const void *method);

PyObject *dwp_python_import(const char *name);

/* Calls `follow` whenever the gate may have changed, from then on; a probe calls this once, when it
 * is attached. At most 8 functions; more are ignored. */
void dwp_python_on_gate(void (*follow)(void));

/* A new dictionary of global names for dwp_python_run(), with `object` under `name`; NULL: out of
 * memory. It holds what the lines made until it is released. */
PyObject *dwp_python_names(const char *name, PyObject *object);
/* Runs lines of Python with these names. False: they raised an exception, which is cleared. */
bool dwp_python_run(PyObject *names, const char *code);

/* `text` of an attribute, copied: "" when it has none. */
void dwp_python_text(PyObject *object, const char *attribute, char *text, size_t room);

#endif
