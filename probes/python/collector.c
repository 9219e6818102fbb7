/* Records each pause of the garbage collector as a range, with a function in gc.callbacks. */
#include "python.h"

#include <string.h>

/* Without a place: this file is none of the program. */
static struct dwell_site generations[] = {
	{ "gc generation 0", NULL, NULL, 0, DWELL_CATEGORY_COLLECTOR, 0 },
	{ "gc generation 1", NULL, NULL, 0, DWELL_CATEGORY_COLLECTOR, 0 },
	{ "gc generation 2", NULL, NULL, 0, DWELL_CATEGORY_COLLECTOR, 0 },
};

static __thread unsigned began __attribute__((tls_model("initial-exec")));

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
	Py_RETURN_NONE;
}

static PyMethodDef callback = { "dwp_collection", collector_on_collection, METH_VARARGS, NULL };

void dwp_collector_attach(void)
{
	PyObject *gc = PyImport_ImportModule("gc");
	PyObject *list = gc ? PyObject_GetAttrString(gc, "callbacks") : NULL;
	PyObject *function = list ? PyCFunction_New(&callback, NULL) : NULL;

	if (function && PyList_Check(list))
		PyList_Append(list, function);
	Py_XDECREF(function);
	Py_XDECREF(list);
	Py_XDECREF(gc);
	PyErr_Clear();
}
