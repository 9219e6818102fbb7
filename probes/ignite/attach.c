/*
 * Ignite under `dwell run`: every engine is recorded.
 *
 * Called by the Python probe when ignite.engine.engine has been imported. What records is
 * dwell.ignite, built for this Python. Where there is none events are not recorded, and
 * nothing else is different.
 */
#include "attach.h"

void dwell_ignite_attach(PyObject *module)
{
	PyObject *engine = PyObject_GetAttrString(module, "Engine");
	PyObject *ours = engine ? dwell_python_import("dwell.ignite") : NULL;
	PyObject *done = ours ? PyObject_CallMethod(ours, "record_engines", "O", engine) : NULL;

	Py_XDECREF(done);
	Py_XDECREF(ours);
	Py_XDECREF(engine);
	PyErr_Clear();
}
