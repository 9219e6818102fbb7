/*
 * Python functions, and the C functions that they call, as ranges.
 *
 * Only when they are asked for (`dwell run --functions`). The interpreter's profile function
 * is ours in the main thread at once and in others from their first moment
 * (threading.setprofile runs our starter there). Where C functions are not asked for,
 * frames.c has a cheaper way. A code object remembers its id in its own extra field, so
 * that the id dies with it; C functions are known by their definitions. When a program
 * sets a profiler of its own, it has the thread from then on and we stop.
 */
#include "calls.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

enum { CALL = 0, RETURN = 3, C_CALL = 4, C_EXCEPTION = 5, C_RETURN = 6 };

/* What has begun in this thread since we watch it; calls begun earlier end unseen. */
static __thread struct calls *calls __attribute__((tls_model("initial-exec")));

/* ---- code objects -------------------------------------------------------------------------- */

static Py_ssize_t extra_index = -1;
static int (*get_extra)(PyObject *code, Py_ssize_t index, void **extra);
static int (*set_extra)(PyObject *code, Py_ssize_t index, void *extra);

struct known_code dwell_recent_code[RECENT_CODE];

/* The package's own functions are none of the program's. */
static bool is_own(const char *file)
{
	static const char *const own[] = { "/dwell/lightning.py", "/dwell/_actions.py",
		                               "/dwell/profiler.py", "/dwell/_native.py" };
	size_t length = strlen(file);

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (length >= strlen(own[i]) && strcmp(file + length - strlen(own[i]), own[i]) == 0)
			return true;
	return false;
}

static bool is_generator(PyObject *code)
{
	PyObject *flags = PyObject_GetAttrString(code, "co_flags");
	long bits = flags ? PyLong_AsLong(flags) : 0;

	Py_XDECREF(flags);
	PyErr_Clear();
	return bits & (0x20 | 0x80 | 0x200); /* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
}

static uint32_t new_id(PyObject *code)
{
	char name[256], file[1024];
	PyObject *line = PyObject_GetAttrString(code, "co_firstlineno");
	struct dwell_site site = { name, NULL, file, 0, DWELL_CATEGORY_FUNCTION, 0 };

	dwell_python_text(code, "co_qualname", name, sizeof name);
	if (!*name)
		dwell_python_text(code, "co_name", name, sizeof name);
	dwell_python_text(code, "co_filename", file, sizeof file);
	if (line)
		site.line = (uint32_t)PyLong_AsLong(line);
	Py_XDECREF(line);
	PyErr_Clear();
	return is_own(file) ? 0 : dwell_slow_site(&site);
}

/* The extra field goes with its code object. */
static void forget_code(void *extra)
{
	struct known_code *known = extra;

	if (known && place_of(known->code)->code == known->code)
		place_of(known->code)->code = NULL;
	PyMem_Free(known);
}

static struct known_code look_up(PyObject *code)
{
	struct known_code *known, unkept;
	void *extra = NULL;

	get_extra(code, extra_index, &extra);
	known = extra;
	if (!known) {
		unkept = (struct known_code){ code, new_id(code), is_generator(code) };
		known = PyMem_Malloc(sizeof *known);
		if (!known || set_extra(code, extra_index, known) != 0) {
			PyErr_Clear();
			PyMem_Free(known);
			return unkept;
		}
		*known = unkept;
	}
	*place_of(code) = *known;
	return *known;
}

/* A frame may be entered with an exception, which is the program's. */
__attribute__((noinline)) struct known_code dwell_find_code(PyObject *code)
{
	PyObject *type, *value, *traceback;
	struct known_code known;

	PyErr_Fetch(&type, &value, &traceback);
	known = look_up(code);
	PyErr_Restore(type, value, traceback);
	return known;
}

static inline uint32_t frame_id(PyFrameObject *frame)
{
	PyObject *code = (PyObject *)PyFrame_GetCode(frame);
	uint32_t id = known_code(code).id;

	Py_DECREF(code); /* the frame has it too */
	return id;
}

/* ---- C functions --------------------------------------------------------------------------- */

/* How every CPython's PyCFunctionObject begins. */
struct c_function {
	PyObject_HEAD
	PyMethodDef *method;
};
PyAPI_DATA(PyTypeObject) PyCMethod_Type;

#define RECENT_C 4096u

/* By their definition, which is there as long as any function made of it; another may come
 * to its place, with another name or another function. */
static struct known_c {
	const PyMethodDef *method;
	PyCFunction function;
	const char *name;
	uint32_t id;
	bool named;
} recent_c[RECENT_C];

static uint32_t name_c(PyObject *function)
{
	char name[256], module[128], whole[400];

	dwell_python_text(function, "__qualname__", name, sizeof name);
	dwell_python_text(function, "__module__", module, sizeof module);
	snprintf(whole, sizeof whole, "%s%s%s", module, *module ? "." : "", *name ? name : "?");
	return dwell_intern(DWELL_CATEGORY_FUNCTION, whole, NULL);
}

static uint32_t builtin_id(PyObject *function)
{
	const PyMethodDef *method;
	struct known_c *known;

	if (Py_TYPE(function) != &PyCFunction_Type && Py_TYPE(function) != &PyCMethod_Type)
		return name_c(function);
	method = ((struct c_function *)function)->method;
	known = &recent_c[((uintptr_t)method >> 4) * 0x9e3779b1u >> 16 & (RECENT_C - 1)];
	if (DWELL_UNLIKELY(known->method != method || known->function != method->ml_meth ||
	                   known->name != method->ml_name || !known->named))
		*known = (struct known_c){ method, method->ml_meth, method->ml_name,
			                       dwell_actions_is_own(method) ? 0 : name_c(function), true };
	return known->id;
}

/* ---- the interpreter's events -------------------------------------------------------------- */

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
	bool wanted = dwell_wants(1u << DWELL_CATEGORY_FUNCTION);
	bool wanted_c = wanted && dwell_wants(DWELL_DETAIL_C_FUNCTIONS);

	if (!calls && !(calls = PyMem_Calloc(1, sizeof *calls)))
		return 0;
	if (what == CALL)
		enter_call(calls, wanted_c || (wanted && !dwell_frames_watched()) ? frame_id(frame) : 0);
	else if (what == C_CALL)
		enter_call(calls, wanted_c ? builtin_id(argument) : 0);
	else if (what == RETURN || what == C_RETURN || what == C_EXCEPTION)
		leave_call(calls);
	return 0;
}

/* threading.setprofile() calls it with a new thread's first event. */
static PyObject *start_thread(PyObject *self, PyObject *arguments)
{
	PyEval_SetProfile(on_event, NULL);
	Py_RETURN_NONE;
}

static PyMethodDef starter = { "dwell_start_thread", start_thread, METH_VARARGS, NULL };

bool dwell_code_prepare(void)
{
	Py_ssize_t (*request)(void (*release)(void *)) = NULL;
	static const char *const names[][3] = {
		{ "_PyEval_RequestCodeExtraIndex", "_PyCode_GetExtra", "_PyCode_SetExtra" },
		{ "PyUnstable_Eval_RequestCodeExtraIndex", "PyUnstable_Code_GetExtra",
		  "PyUnstable_Code_SetExtra" },
	};

	if (extra_index >= 0)
		return true;
	for (int i = 0; i < 2 && !request; i++) {
		*(void **)&request = dlsym(RTLD_DEFAULT, names[i][0]);
		*(void **)&get_extra = dlsym(RTLD_DEFAULT, names[i][1]);
		*(void **)&set_extra = dlsym(RTLD_DEFAULT, names[i][2]);
	}
	if (request && get_extra && set_extra)
		extra_index = request(forget_code);
	return extra_index >= 0;
}

void dwell_functions_follow_gate(void)
{
	static bool watching;
	PyObject *threading, *function;

	if (watching || !dwell_wants(1u << DWELL_CATEGORY_FUNCTION) || !dwell_code_prepare())
		return;
	if (!dwell_wants(DWELL_DETAIL_C_FUNCTIONS) && dwell_frames_watch())
		return;
	watching = true;
	threading = PyImport_ImportModule("threading");
	function = PyCFunction_New(&starter, NULL);
	if (threading && function)
		Py_XDECREF(PyObject_CallMethod(threading, "setprofile", "O", function));
	Py_XDECREF(function);
	Py_XDECREF(threading);
	PyErr_Clear();
	PyEval_SetProfile(on_event, NULL);
}
