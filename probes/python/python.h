/*
 * The Python probe and its parts.
 *
 *   finder     attaches, and waits for the import of modules that probes know
 *   interpreter  what the parts ask of the interpreter
 *   hooked     a callable in place of another, with C code before and after it
 *   collector  the garbage collector's pauses
 *   threads    the names of threads
 *   repeated   functions of libraries that a loop or a server calls again and again
 *   jax        functions that JAX has compiled
 *   functions  Python and C functions (--functions)
 *   profile_slot  the profile function of each thread, which other profilers take too
 *   frames     Python functions alone, at a lower cost (--functions=python)
 *   actions    the blocks of a Lightning profiler, for the package dwell
 *   stacks     the Python functions that called an operator (--stacks)
 *   places     the line of the program that called an operator
 *   code_loops the loops of a function
 *   uncaught   the exception that ends the program
 *   step_on    finds what the user says makes a step (--step-on)
 *
 * One build works with every CPython from 3.9 on: it uses the limited API and a few functions that
 * all these versions export. The probe does not link to Python; its symbols are resolved in the
 * process. Functions need the interpreter's lock unless their comment says otherwise. If the probe
 * fails, the program does not notice: the probe clears its exceptions and leaves everything as it
 * was.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <dwell/probe.h>

/* Every CPython since 3.9 exports these, but they are not part of the limited API. */
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size);
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
PyAPI_FUNC(PyObject *) PyClassMethod_New(PyObject *function);
PyAPI_DATA(PyTypeObject) PyClassMethod_Type;
PyAPI_FUNC(void) PyEval_SetProfile(dwp_tracer *tracer, PyObject *self);

/* ---- hooked -------------------------------------------------------------------- */

/* A call of a hooked callable, for before() and after(). */
struct dwp_call {
	PyObject *self;    /* the first argument, borrowed; NULL: none */
	PyObject *second;  /* the second, borrowed; NULL: none, or given by name */
	PyObject *third;   /* the same */
	PyObject *named;   /* the first that is given by name, borrowed; NULL: none */
	unsigned began;    /* these three are for the hook; 0 in before() */
	unsigned flags;
	void *place;
	const struct dwp_hook *hook; /* the hook itself */
};

struct dwp_hook {
	void (*before)(struct dwp_call *call);
	void (*after)(struct dwp_call *call, PyObject *result); /* NULL: an exception is set */
	bool (*skips)(void); /* true: neither is called for this call. NULL: both always are */
	/* What the caller gets in place of a result, whose reference it takes. NULL: the result */
	PyObject *(*replaces)(const struct dwp_hook *hook, PyObject *result);
	/* True: before() is not called for this call, and foreseen() is in place of after(). NULL: never. */
	bool (*foresees)(struct dwp_call *call);
	void (*foreseen)(struct dwp_call *call, PyObject *result);
};

/* What hooks have cost this process. `ns`: processor time of before() and after(), by a price of each hooked callable: what its
 * calls took when the first of them were measured, by the clock of the thread's processor time. So other programs do not change it.
 * `passed`: calls that the hook skipped or foresaw. */
extern struct dwp_hook_counts {
	double ns;
	uint64_t passed;
} dwp_hook_counts;

/* Replaces owner.name by a callable that runs the hook around the original. A class method stays one:
 * the class is the hook's first argument. Does nothing if it is replaced already. */
void dwp_hook_attribute(PyObject *owner, const char *name, const struct dwp_hook *hook);
/* The same for the object at `path` ("optim.Optimizer") in a module. Does nothing if there is no
 * such object. */
void dwp_hook_path(PyObject *module, const char *path, const char *name,
                     const struct dwp_hook *hook);

/* Registers a function that the interpreter calls in its main thread when it ends. False: not
 * registered. */
bool dwp_python_at_exit(PyMethodDef *function);

/* ---- step_on ---------------------------------------------------------------------------- */

/* Whether --step-on NAME was given. Then nothing else makes steps. */
bool dwp_step_on_given(void);
/* Whether NAME is this name of a class or this path of a module. */
bool dwp_step_on_is(const char *text);
/* Reports a name that NAME could be. The first dozen are stored, to suggest them if NAME matches
 * nothing. */
void dwp_step_on_could(const char *text);
/* Notes in the trace that NAME exists; `called`: that it began or ended a step. */
void dwp_step_on_seen(bool called);
/* PyTorch: `hook` makes the steps from now on, around each call of the function NAME. */
void dwp_step_on_attach(const struct dwp_hook *hook);
/* Hooks the function NAME if it exists by now. */
void dwp_step_on_look(void);
/* Begins to look for the function, until it is found or the interpreter ends. Does nothing without --step-on. */
void dwp_step_on_watch(void);

/* ---- step_on_first ----------------------------------------------------------------------- */

/* Calls look() at the first call of a function of this name in the main thread, and when the code that defines it has run. It
 * returns whether the function was found now; *ends: no other one is looked for. If so at a call, the hook is called around
 * that call. Before the script begins. */
void dwp_first_watch(const char *name, bool (*look)(bool *ends), const struct dwp_hook *hook);
/* Where functions are recorded by a profile function: it passes each event on while this is true. */
extern bool dwp_first_watching;
int dwp_first_on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *result);

/* ---- the other parts ---------------------------------------------------------------- */

void dwp_collector_attach(void);
/* Returns the STACK id of `count` frames of another language, innermost first, and of the Python
 * functions of the calling thread around them. 0: there are no frames. Takes the interpreter's lock,
 * so the caller must not hold a lock that another thread may request while it has that lock. */
uint32_t dwp_python_stack(const uint32_t *inner, uint32_t count);
void dwp_stacks_attach(void);
/* Starts to record functions when the gate first opens for them. */
void dwp_functions_follow_gate(void);
/* Whether a PyMethodDef belongs to the blocks of actions.c, whose calls are not recorded. */
bool dwp_actions_is_own(const void *method);

/* Whether the caller runs in the main interpreter of a Python with a lock. */
bool dwp_python_is_main_interpreter(void);

/* Imports a module of the package dwell. NULL: there is none. */
PyObject *dwp_python_import(const char *name);

/* For the slot Py_tp_new of types whose objects the probe alone makes. Without it Python makes them, of zeros. */
PyObject *dwp_python_refuse_new(PyTypeObject *type, PyObject *arguments, PyObject *names);

/* Calls `follow` whenever the gate may have changed, from then on; a probe calls this once, when it
 * is attached. At most 8 functions; more are ignored. */
void dwp_python_on_gate(void (*follow)(void));

/* A new dictionary of global names for dwp_python_run(), with `object` under `name`; NULL: out of
 * memory. It holds what the lines made until it is released. */
PyObject *dwp_python_names(const char *name, PyObject *object);
/* Runs lines of Python with these names. False: they raised an exception, which is cleared. */
bool dwp_python_run(PyObject *names, const char *code);

/* Copies the text of an attribute into `text`, at most `size` bytes with the final 0. "" if the
 * object has no such attribute or it is not a str. */
void dwp_python_text(PyObject *object, const char *attribute, char *text, size_t size);

/* Whether an object that stands in a frame is code of a program, which may be asked and held. From 3.12 on an interpreter has frames of
 * its own (format/python_frames.h), of which the code is a constant: to ask it for its co_code, or to count a reference, would write
 * into it. It and the interpreter's frozen modules are immortal, as no other code is. */
static inline bool dwp_python_is_code(const PyObject *object, const PyTypeObject *code_type)
{
	return object->ob_type == code_type && (int32_t)object->ob_refcnt >= 0;
}

/* A pointer of a part of the probe in each code object (PEP 523). get() and set() return 0 or -1. */
struct dwp_code_field {
	Py_ssize_t index; /* -1: there is none */
	int (*get)(PyObject *code, Py_ssize_t index, void **pointer);
	int (*set)(PyObject *code, Py_ssize_t index, void *pointer);
};
/* Reserves a field. Python calls `release`, if it is not NULL, with the pointer of a code object
 * that ends. False: this Python has no such fields. */
bool dwp_python_code_field(struct dwp_code_field *field, void (*release)(void *pointer));

/* ---- repeated ---------------------------------------------------------------------------- */

/* DWP_PART: a task that is a part of another thread's or process' step, so that nothing in it is a step. DWP_TEST: a test, which
 * may do one step only: the first step in it does not count. */
enum dwp_repeated_kind { DWP_ITERATION, DWP_TASK, DWP_PART, DWP_TEST, DWP_REQUEST, DWP_REQUEST_OF_OBJECT, DWP_CHUNK };

/* A row KNOWN_CALL() of known.def. */
struct dwp_repeated {
	struct dwp_hook hook; /* the first member: a call knows its row by it */
	const char *owner, *function, *by;
	enum dwp_repeated_kind kind;
	struct dwell_site site, turn; /* `turn`: of a request or a coroutine function, what a thread does for it between two waits */
	char name[64];
};
/* How many calls of rows DWP_PART are open in this thread. */
extern __thread uint32_t dwp_repeated_parts __attribute__((tls_model("initial-exec")));
/* Called when a test begins and when it has ended, in its thread; NULL: nobody is told. */
extern void (*dwp_repeated_on_test)(bool begins);
/* Records the calls from now on. */
void dwp_repeated_attach(struct dwp_repeated *repeated, PyObject *module);
/* scikit-learn: records fit() and partial_fit() of each class of estimators that is defined from now on. */
void dwp_repeated_attach_estimators(PyObject *module);

/* ---- coroutine --------------------------------------------------------------------------- */

/* False: coroutines cannot be followed. */
bool dwp_coroutine_prepare(void);
#define DWP_COROUTINE_TYPE "dwell.coroutine"
/* Takes the reference to a coroutine, and returns what the caller gets. `handle`: of the request; 0: the coroutine has one. */
PyObject *dwp_coroutine_follow(struct dwp_repeated *repeated, uint64_t handle, PyObject *original);

/* ---- response ---------------------------------------------------------------------------- */

/* False: responses cannot be followed. */
bool dwp_response_prepare(void);
/* Whether what an application of WSGI returned makes its pieces when the server asks for them, or is told when all are out. */
bool dwp_response_lasts(PyObject *result);
/* Takes the reference to such a result, and returns what the server gets. The request with this handle has begun. */
PyObject *dwp_response_follow(struct dwp_repeated *repeated, uint64_t handle, PyObject *original);
/* The request with this handle has given a piece of its response. */
void dwp_response_chunk(uint64_t handle);

/* Calls of functions that JAX has compiled (jax.c). As above. */
void dwp_jax_attach(PyObject *module);

/* Names of Python's threads (threads.c). Called when the program has imported threading, as known.def says. */
void dwp_threads_attach(PyObject *module);
