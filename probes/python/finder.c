/*
 * Attaches to a Python process and waits for the import of modules that probes know.
 *
 * attach.c calls dwp_python_attach() once, before the script begins. Each finder in sys.meta_path is
 * hooked: where it has found one of those modules, exec_module() of the loader is replaced, so that a
 * probe runs when the module has been executed. Afterwards the module and its loader are as they
 * would be without that. A finder of dwell's own would be in the program's list.
 */
#include "places.h"
#include "python.h"

#include <string.h>

/* Declares the probes' C functions. */
#define KNOWN_C(name, attach) void attach(PyObject *module);
#define KNOWN_PYTHON(name, object, package, function)
#define KNOWN_CALL(name, owner, function, kind, by)
#include "known.def"
#undef KNOWN_C
#undef KNOWN_PYTHON
#undef KNOWN_CALL

/* A module, and what is done when it has been imported: a C function is called, or a function of the package dwell, whose
 * argument is an object of the module, or calls of a function are recorded. See known.def. */
struct known_module {
	const char *name;
	void (*attach)(PyObject *module);
	const char *object, *package, *function;
	struct dwp_repeated *repeated;
};

static const struct known_module known[] = {
#define KNOWN_C(name, attach) { name, attach, NULL, NULL, NULL, NULL },
#define KNOWN_PYTHON(name, object, package, function) { name, NULL, object, package, function, NULL },
#define KNOWN_CALL(name, class, calls, of, from) \
	{ name, NULL, NULL, NULL, NULL, &(struct dwp_repeated){ .owner = class, .function = calls, .kind = of, .by = from } },
#include "known.def"
#undef KNOWN_C
#undef KNOWN_PYTHON
#undef KNOWN_CALL
};

/* Calls the function of a module. If the package dwell lacks it, the module is not recorded. */
static void python_take_known(const struct known_module *known_module, PyObject *module)
{
	PyObject *object, *package, *done;

	if (known_module->attach) {
		known_module->attach(module);
		return;
	}
	if (known_module->repeated) {
		dwp_repeated_attach(known_module->repeated, module);
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

/* ---- the finders ------------------------------------------------------------------- */

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

/* After a call of a finder: with its class or the name of a module as first argument. */
static void python_after_find(struct dwp_call *call, PyObject *spec)
{
	PyObject *name = call->self && PyUnicode_Check(call->self) ? call->self : call->second ? call->second : call->named;

	if (!spec || spec == Py_None || !name || !PyUnicode_Check(name))
		return;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (PyUnicode_CompareWithASCIIString(name, known[i].name) == 0)
			python_watch_loader(spec, known[i].name);
}

static void python_before_find(struct dwp_call *call)
{
	(void)call;
}

static const struct dwp_hook find_hook = { python_before_find, python_after_find, NULL };

static void python_watch_imports(void)
{
	PyObject *finders = PySys_GetObject("meta_path");

	for (Py_ssize_t i = 0; finders && PyList_Check(finders) && i < PyList_Size(finders); i++)
		dwp_hook_attribute(PyList_GetItem(finders, i), "find_spec", &find_hook);
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
