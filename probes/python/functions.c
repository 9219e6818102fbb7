/*
 * Python functions, and the C functions that they call, as ranges.
 *
 * Only when they are asked for (`dwell run --functions`). The interpreter's profile function is ours in
 * the main thread at once and in others from their first moment (threading.setprofile
 * runs our starter there). A code object remembers its id in its own extra field, so
 * that the id dies with it. When a program sets a profiler of its own, it has the
 * thread from then on and we stop.
 */
#include "python.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#define MOST_DEPTH 8192u

enum { CALL = 0, RETURN = 3, C_CALL = 4, C_EXCEPTION = 5, C_RETURN = 6 };

/* What has begun in this thread since we watch it; calls begun earlier end unseen. Other
 * ranges may begin in a function and outlive it (a context manager's __enter__): when any
 * record came between two of ours, the functions that were open then end by name. */
static __thread struct {
	uint32_t depth;
	uint32_t mixed;       /* from this depth on nothing but functions is open */
	const char *cursor;   /* of the stream after our last record */
	uint32_t ids[MOST_DEPTH]; /* 0: not recorded */
} *calls __attribute__((tls_model("initial-exec")));

static Py_ssize_t extra_index = -1;
static int (*get_extra)(PyObject *code, Py_ssize_t index, void **extra);
static int (*set_extra)(PyObject *code, Py_ssize_t index, void *extra);

/* A code object's field when it is not to be recorded. */
#define UNSEEN UINT32_MAX

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
	return is_own(file) ? UNSEEN : dwell_slow_site(&site);
}

static uint32_t code_id(PyFrameObject *frame)
{
	PyObject *code = (PyObject *)PyFrame_GetCode(frame);
	void *extra = NULL;
	uint32_t id;

	get_extra(code, extra_index, &extra);
	id = (uint32_t)(uintptr_t)extra;
	if (!id) {
		id = new_id(code);
		set_extra(code, extra_index, (void *)(uintptr_t)id);
	}
	Py_DECREF(code);
	return id == UNSEEN ? 0 : id;
}

/* C functions are few and live long: interned by name each time. */
static uint32_t builtin_id(PyObject *function)
{
	char name[256], module[128], whole[400];

	dwell_python_text(function, "__qualname__", name, sizeof name);
	dwell_python_text(function, "__module__", module, sizeof module);
	snprintf(whole, sizeof whole, "%s%s%s", module, *module ? "." : "", *name ? name : "?");
	return dwell_intern(DWELL_CATEGORY_FUNCTION, whole, NULL);
}

static void enter(uint32_t id)
{
	uint32_t at = calls->depth++;

	if (DWELL_UNLIKELY(at >= MOST_DEPTH))
		return;
	calls->ids[at] = id;
	if (!id)
		return;
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != calls->cursor))
		calls->mixed = at;
	dwell_put_begin(id);
	calls->cursor = dwell_this_stream->cursor;
}

static void leave(void)
{
	if (!calls->depth)
		return;
	uint32_t at = --calls->depth;
	if (DWELL_UNLIKELY(at >= MOST_DEPTH))
		return;
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != calls->cursor))
		calls->mixed = at + 1;
	if (calls->ids[at] && DWELL_UNLIKELY(at < calls->mixed))
		dwell_end_named(calls->ids[at]);
	else if (calls->ids[at])
		dwell_put_end();
	if (calls->mixed > at)
		calls->mixed = at;
	calls->cursor = dwell_this_stream->cursor;
}

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
	bool wanted = dwell_wants(1u << DWELL_CATEGORY_FUNCTION);

	if (!calls && !(calls = PyMem_Calloc(1, sizeof *calls)))
		return 0;
	if (what == CALL)
		enter(wanted ? code_id(frame) : 0);
	else if (what == C_CALL)
		enter(wanted ? builtin_id(argument) : 0);
	else if (what == RETURN || what == C_RETURN || what == C_EXCEPTION)
		leave();
	return 0;
}

/* threading.setprofile() calls it with a new thread's first event. */
static PyObject *start_thread(PyObject *self, PyObject *arguments)
{
	PyEval_SetProfile(on_event, NULL);
	Py_RETURN_NONE;
}

static PyMethodDef starter = { "dwell_start_thread", start_thread, METH_VARARGS, NULL };

static bool find_extra(void)
{
	Py_ssize_t (*request)(void (*release)(void *)) = NULL;
	static const char *const names[][3] = {
		{ "_PyEval_RequestCodeExtraIndex", "_PyCode_GetExtra", "_PyCode_SetExtra" },
		{ "PyUnstable_Eval_RequestCodeExtraIndex", "PyUnstable_Code_GetExtra",
		  "PyUnstable_Code_SetExtra" },
	};

	for (int i = 0; i < 2 && !request; i++) {
		*(void **)&request = dlsym(RTLD_DEFAULT, names[i][0]);
		*(void **)&get_extra = dlsym(RTLD_DEFAULT, names[i][1]);
		*(void **)&set_extra = dlsym(RTLD_DEFAULT, names[i][2]);
	}
	extra_index = request ? request(NULL) : -1;
	return extra_index >= 0 && get_extra && set_extra;
}

void dwell_functions_follow_gate(void)
{
	static bool watching;
	PyObject *threading, *function;

	if (watching || !dwell_wants(1u << DWELL_CATEGORY_FUNCTION) || !find_extra())
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
