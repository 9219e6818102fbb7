/*
 * What the parts of the probe ask of the interpreter: texts of objects, lines of Python, fields of code objects,
 * the package dwell, and calls when the gate may have changed.
 */
#include "python.h"

#include <dlfcn.h>
#include <string.h>

/* The probe attaches to the main interpreter only: another interpreter may end before the process,
 * and the objects that the probe keeps would end with it. Free-threaded builds are refused, because
 * their objects have another layout. */
bool dwp_python_is_main_interpreter(void)
{
	PyInterpreterState *(*main_interpreter)(void) = NULL;

	if (strstr(Py_GetVersion(), "free-threading"))
		return false;
	*(void **)&main_interpreter = dlsym(RTLD_DEFAULT, "PyInterpreterState_Main");
	return !main_interpreter || main_interpreter() == PyInterpreterState_Get();
}

bool dwp_python_at_exit(PyMethodDef *function)
{
	PyObject *module = PyImport_ImportModule("atexit"), *object = PyCFunction_New(function, NULL);
	PyObject *done = module && object ? PyObject_CallMethod(module, "register", "O", object) : NULL;
	bool registered = done != NULL;

	Py_XDECREF(done);
	Py_XDECREF(object);
	Py_XDECREF(module);
	PyErr_Clear();
	return registered;
}

PyObject *dwp_python_refuse_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
	PyErr_Format(PyExc_TypeError, "objects of %R are made by dwell: take that of a profiler", (PyObject *)type);
	return NULL;
}

void dwp_python_text(PyObject *object, const char *attribute, char *text, size_t size)
{
	PyObject *value = PyObject_GetAttrString(object, attribute);
	PyObject *bytes = value && PyUnicode_Check(value)
	                      ? PyUnicode_AsEncodedString(value, "utf-8", "replace") : NULL;

	snprintf(text, size, "%s", bytes ? PyBytes_AsString(bytes) : "");
	Py_XDECREF(bytes);
	Py_XDECREF(value);
	PyErr_Clear();
}

bool dwp_python_code_field(struct dwp_code_field *field, void (*release)(void *pointer))
{
	Py_ssize_t (*request)(void (*release)(void *)) = NULL;
	static const char *const names[][3] = {
		{ "_PyEval_RequestCodeExtraIndex", "_PyCode_GetExtra", "_PyCode_SetExtra" },
		{ "PyUnstable_Eval_RequestCodeExtraIndex", "PyUnstable_Code_GetExtra",
		  "PyUnstable_Code_SetExtra" },
	};

	for (int i = 0; i < 2 && !request; i++) {
		*(void **)&request = dlsym(RTLD_DEFAULT, names[i][0]);
		*(void **)&field->get = dlsym(RTLD_DEFAULT, names[i][1]);
		*(void **)&field->set = dlsym(RTLD_DEFAULT, names[i][2]);
	}
	field->index = request && field->get && field->set ? request(release) : -1;
	return field->index >= 0;
}

/* ---- lines of Python ------------------------------------------------------------------------- */

PyObject *dwp_python_names(const char *name, PyObject *object)
{
	PyObject *names = PyDict_New();

	if (names) {
		PyDict_SetItemString(names, name, object);
		PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
	}
	return names;
}

bool dwp_python_run(PyObject *names, const char *code)
{
	PyObject *compiled = Py_CompileString(code, "<dwell>", Py_file_input);
	PyObject *result = compiled ? PyEval_EvalCode(compiled, names, names) : NULL;
	bool done = result != NULL;

	Py_XDECREF(compiled);
	Py_XDECREF(result);
	PyErr_Clear();
	return done;
}

/* ---- the package dwell ----------------------------------------------------------------- */

/* Appends LIBDIR/dwell/python to sys.path. It comes last, so that an installed package dwell is
 * preferred. */
static bool python_add_folder(void)
{
	PyObject *path = PySys_GetObject("path"), *folder = NULL;
	char text[4096];
	const char *slash;
	Dl_info here;
	bool done;

	if (!dladdr((void *)(size_t)&dwp_python_import, &here) || !here.dli_fname)
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

/* Prefers the package that the script can import to the one that is installed with this library. */
PyObject *dwp_python_import(const char *name)
{
	PyObject *ours = PyImport_ImportModule(name);

	PyErr_Clear();
	if (!ours && python_add_folder())
		ours = PyImport_ImportModule(name);
	PyErr_Clear();
	return ours;
}

/* ---- the gate ------------------------------------------------------------------------------ */

/* Called by the package dwell after each call that may have opened or closed the gate. */
DWELL_API void dwp_python_follow_gate(void);

#define MOST_FOLLOWERS 8u

static void (*followers[MOST_FOLLOWERS])(void);
static unsigned follower_count;

void dwp_python_on_gate(void (*follow)(void))
{
	if (follower_count < MOST_FOLLOWERS)
		followers[follower_count++] = follow;
}

void dwp_python_follow_gate(void)
{
	if (!dwp_python_is_main_interpreter())
		return;
	for (unsigned i = 0; i < follower_count; i++)
		followers[i]();
}
