/* Records each pause of the garbage collector as a range, with a function that the interpreter calls. */
#include "python.h"

#include <string.h>

#define LIST_REFERENCES 3u /* the interpreter's, the module's, and one here */

/* Without a place: this file is none of the program. */
static struct dwell_site generations[] = {
	{ "gc generation 0", NULL, NULL, 0, DWELL_CATEGORY_COLLECTOR, 0 },
	{ "gc generation 1", NULL, NULL, 0, DWELL_CATEGORY_COLLECTOR, 0 },
	{ "gc generation 2", NULL, NULL, 0, DWELL_CATEGORY_COLLECTOR, 0 },
};

static __thread unsigned began __attribute__((tls_model("initial-exec")));

/* gc.callbacks as the program sees it. NULL: the interpreter's own list. */
static PyObject *programs;

/* Calls the program's callbacks as the interpreter would: they may change the list meanwhile, and their exceptions are
 * printed and dropped. */
static void collector_call_programs(PyObject *arguments)
{
	for (Py_ssize_t i = 0; programs && i < PyList_Size(programs); i++) {
		PyObject *one = PyList_GetItem(programs, i), *result;

		Py_INCREF(one);
		result = PyObject_CallObject(one, arguments);
		if (!result)
			PyErr_WriteUnraisable(one);
		Py_XDECREF(result);
		Py_DECREF(one);
	}
}

static PyObject *collector_on_collection(PyObject *self, PyObject *arguments)
{
	const char *phase = NULL;
	PyObject *info = NULL, *generation;

	if (PyArg_ParseTuple(arguments, "sO", &phase, &info) && strcmp(phase, "start") == 0) {
		generation = PyDict_Check(info) ? PyDict_GetItemString(info, "generation") : NULL;
		long number = generation ? PyLong_AsLong(generation) : 2;

		began = dwell_begin(&generations[number == 0 ? 0 : number == 1 ? 1 : 2]);
	} else if (phase) {
		dwell_end(began);
		began = DWELL_NOT_BEGUN;
	}
	PyErr_Clear();
	collector_call_programs(arguments);
	Py_RETURN_NONE;
}

static PyMethodDef callback = { "dwp_collection", collector_on_collection, METH_VARARGS, NULL };

/* The list by which the interpreter calls functions has this one alone, and gc.callbacks is another list, of the program.
 * The lists stay one where something has seen it already: gc.callbacks was taken before. */
static PyObject *collector_divide_list(PyObject *gc, PyObject *list)
{
	/* Python 3.9 keeps a copy of the module's dictionary. */
	uint32_t most = LIST_REFERENCES + (strncmp(Py_GetVersion(), "3.9.", 4) == 0);
	PyObject *own = (uint32_t)Py_REFCNT(list) <= most ? PyList_GetSlice(list, 0, PyList_Size(list)) : NULL;

	if (own && PyObject_SetAttrString(gc, "callbacks", own) == 0) {
		PyList_SetSlice(list, 0, PyList_Size(list), NULL);
		return own;
	}
	Py_XDECREF(own);
	return NULL;
}

void dwp_collector_attach(void)
{
	PyObject *gc = PyImport_ImportModule("gc");
	PyObject *list = gc ? PyObject_GetAttrString(gc, "callbacks") : NULL;
	PyObject *function = list ? PyCFunction_New(&callback, NULL) : NULL;

	if (function && PyList_Check(list)) {
		programs = collector_divide_list(gc, list);
		PyList_Append(list, function);
	}
	Py_XDECREF(function);
	Py_XDECREF(list);
	Py_XDECREF(gc);
	PyErr_Clear();
}
