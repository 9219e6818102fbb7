/*
 * Attaches to a Python process and waits for the import of modules that probes know.
 *
 * attach.c calls dwp_python_attach() once, before the script begins. A finder at the head of
 * sys.meta_path waits for those modules. It asks the other finders, and replaces exec_module() of
 * the loader that they found, so that a probe runs when the module has been executed. Afterwards
 * the module and its loader are as they would be without the finder.
 */
#include "places.h"
#include "python.h"

#include <string.h>

/* Declares the probes' C functions. */
#define KNOWN_C(name, attach) void attach(PyObject *module);
#define KNOWN_PYTHON(name, object, package, function)
#include "known.def"
#undef KNOWN_C
#undef KNOWN_PYTHON

/* A module, and the function that is called when it has been imported: a C function, or a function
 * of the package dwell, whose argument is an object of the module. See known.def. */
struct known_module {
	const char *name;
	void (*attach)(PyObject *module);
	const char *object, *package, *function;
};

static const struct known_module known[] = {
#define KNOWN_C(name, attach) { name, attach, NULL, NULL, NULL },
#define KNOWN_PYTHON(name, object, package, function) { name, NULL, object, package, function },
#include "known.def"
#undef KNOWN_C
#undef KNOWN_PYTHON
};

/* Calls the function of a module. If the package dwell lacks it, the module is not recorded. */
static void python_take_known(const struct known_module *known_module, PyObject *module)
{
	PyObject *object, *package, *done;

	if (known_module->attach) {
		known_module->attach(module);
		return;
	}
	object = PyObject_GetAttrString(module, known_module->object);
	package = object ? dwp_python_import(known_module->package) : NULL;
	done = package ? PyObject_CallMethod(package, known_module->function, "O", object) : NULL;
	Py_XDECREF(done);
	Py_XDECREF(package);
	Py_XDECREF(object);
	PyErr_Clear();
}

/* ---- the finder -------------------------------------------------------------------- */

/* exec_module() of a loader of a known module. `self` is a tuple: the loader, its own exec_module()
 * and the module's name. */
static PyObject *python_exec_module(PyObject *self, PyObject *module)
{
	PyObject *loader = PyTuple_GetItem(self, 0), *result;
	const char *name = PyBytes_AsString(PyTuple_GetItem(self, 2));

	/* Restores the loader before the module can see it. */
	PyObject_SetAttrString(loader, "exec_module", NULL);
	PyErr_Clear();
	result = PyObject_CallFunctionObjArgs(PyTuple_GetItem(self, 1), module, NULL);
	for (size_t i = 0; result && i < sizeof known / sizeof *known; i++)
		if (strcmp(name, known[i].name) == 0)
			python_take_known(&known[i], module);
	return result;
}

static PyMethodDef executor = { "exec_module", python_exec_module, METH_O, NULL };

static void python_watch_loader(PyObject *spec, const char *name)
{
	PyObject *loader = PyObject_GetAttrString(spec, "loader"), *self = NULL, *function = NULL;
	PyObject *original = loader ? PyObject_GetAttrString(loader, "exec_module") : NULL;

	if (original)
		self = Py_BuildValue("(OOy)", loader, original, name);
	if (self)
		function = PyCFunction_New(&executor, self);
	if (function)
		PyObject_SetAttrString(loader, "exec_module", function);
	Py_XDECREF(function);
	Py_XDECREF(self);
	Py_XDECREF(original);
	Py_XDECREF(loader);
	PyErr_Clear();
}

/* Asks the other finders. Returns a new reference to the spec, or to None; or NULL with their
 * exception. */
static PyObject *python_ask_other_finders(PyObject *self, PyObject *name, PyObject *path, PyObject *target)
{
	PyObject *finders = PySys_GetObject("meta_path"), *spec = NULL;

	for (Py_ssize_t i = 0; finders && i < PyList_Size(finders); i++) {
		PyObject *finder = PyList_GetItem(finders, i);
		PyObject *find = finder == self ? NULL : PyObject_GetAttrString(finder, "find_spec");

		if (!find) {
			PyErr_Clear();
			continue;
		}
		spec = PyObject_CallFunctionObjArgs(find, name, path, target, NULL);
		Py_DECREF(find);
		if (!spec || spec != Py_None)
			return spec;
		Py_DECREF(spec);
	}
	Py_RETURN_NONE;
}

static PyObject *python_find_spec(PyObject *self, PyObject *arguments)
{
	PyObject *name = NULL, *path = Py_None, *target = Py_None, *spec;
	const char *wanted = NULL;

	if (!PyArg_UnpackTuple(arguments, "find_spec", 1, 3, &name, &path, &target))
		return NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, known[i].name) == 0)
			wanted = known[i].name;
	if (!wanted)
		Py_RETURN_NONE;
	spec = python_ask_other_finders(self, name, path, target);
	if (spec && spec != Py_None)
		python_watch_loader(spec, wanted);
	return spec;
}

static PyMethodDef finder_methods[] = { { "find_spec", python_find_spec, METH_VARARGS, NULL }, { 0 } };
static struct PyModuleDef finder_module = { PyModuleDef_HEAD_INIT, "dwp_finder",
	                                        "Watches for modules that dwell profiles.", 0,
	                                        finder_methods, NULL, NULL, NULL, NULL };

static void python_watch_imports(void)
{
	PyObject *finders = PySys_GetObject("meta_path");
	PyObject *finder = PyModule_Create(&finder_module);

	if (finder && finders && PyList_Check(finders))
		PyList_Insert(finders, 0, finder);
	Py_XDECREF(finder);
	PyErr_Clear();
}

/* ---- attaching ----------------------------------------------------------------------- */

/* Called by attach.c before the script begins, or by the package dwell when it is imported. Modules
 * that have been imported before are handled at once. */
DWELL_API void dwp_python_attach(void);

static void python_take_imported(void)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		PyObject *name = PyUnicode_FromString(known[i].name);
		PyObject *module = name ? PyImport_GetModule(name) : NULL;

		if (module)
			python_take_known(&known[i], module);
		Py_XDECREF(module);
		Py_XDECREF(name);
		PyErr_Clear();
	}
}

void dwp_python_attach(void)
{
	static bool attached;

	if (attached || !dwp_python_is_main_interpreter())
		return;
	attached = true;
	python_watch_imports();
	dwp_collector_attach();
	dwp_stacks_attach();
	dwp_places_attach();
	dwp_python_on_gate(dwp_functions_follow_gate);
	dwp_functions_follow_gate();
	python_take_imported();
	dwp_step_on_watch();
}
