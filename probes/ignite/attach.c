/*
 * Ignite under `dwell run`: every engine is recorded.
 *
 * Called by the Python probe when ignite.engine.engine has been imported. What records is
 * dwell.ignite, built for this Python: of the package that the script can import, else of
 * the one that is installed beside this library. Where there is none events are not
 * recorded, and nothing else is different.
 */
#include "attach.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* LIBDIR/dwell/python, last on the path: who installed the package keeps theirs. */
static bool add_folder(void)
{
	PyObject *path = PySys_GetObject("path"), *folder = NULL;
	char text[4096];
	const char *slash;
	Dl_info here;
	bool done;

	if (!dladdr((void *)(size_t)&dwell_ignite_attach, &here) || !here.dli_fname)
		return false;
	slash = strrchr(here.dli_fname, '/');
	if (slash && snprintf(text, sizeof text, "%.*s/python", (int)(slash - here.dli_fname),
	                      here.dli_fname) < (int)sizeof text)
		folder = PyUnicode_DecodeFSDefault(text);
	done = path && folder && PyList_Check(path) && PyList_Append(path, folder) == 0;
	Py_XDECREF(folder);
	PyErr_Clear();
	return done;
}

static PyObject *import_ours(void)
{
	PyObject *ours = PyImport_ImportModule("dwell.ignite");

	PyErr_Clear();
	if (!ours && add_folder())
		ours = PyImport_ImportModule("dwell.ignite");
	return ours;
}

void dwell_ignite_attach(PyObject *module)
{
	PyObject *engine = PyObject_GetAttrString(module, "Engine");
	PyObject *ours = engine ? import_ours() : NULL;
	PyObject *done = ours ? PyObject_CallMethod(ours, "record_engines", "O", engine) : NULL;

	Py_XDECREF(done);
	Py_XDECREF(ours);
	Py_XDECREF(engine);
	PyErr_Clear();
}
