/*
 * Why torch.compile compiled functions again. Dynamo keeps for each function the guards that failed, as texts: at each compilation
 * one for each compiled version that did not fit, "0/7: tensor 'x' size mismatch at index 0. expected 32, actual 17". They are read
 * when the interpreter ends: nothing is imported, no setting of the program's is changed, and no call is in a compilation's way.
 * (Its structured log would have to be switched on, and then each compilation writes its graphs.)
 */
#include "torch.h"

#include <stdio.h>
#include <string.h>

#include "format/keys.h"

struct recompiled {
	PyObject *code, *reason; /* borrowed */
	unsigned compiled;       /* times; 0: never again */
};

/* The newest version that did not fit: "0/7" is the eighth. */
static void recompiled_read(struct recompiled *function, PyObject *reasons)
{
	unsigned newest = 0;

	for (Py_ssize_t i = 0; i < PyList_Size(reasons); i++) {
		PyObject *bytes = PyUnicode_AsEncodedString(PyList_GetItem(reasons, i), "utf-8", "replace");
		unsigned version;

		if (bytes && sscanf(PyBytes_AsString(bytes), "%*u/%u", &version) == 1 && version >= newest) {
			newest = version;
			function->reason = PyList_GetItem(reasons, i);
			function->compiled = version + 2;
		}
		Py_XDECREF(bytes);
		PyErr_Clear();
	}
}

/* The guard alone, of one line: Dynamo adds the line of the program as a comment. */
static void recompiled_write_reason(char *to, size_t size, PyObject *reason)
{
	PyObject *bytes = PyUnicode_AsEncodedString(reason, "utf-8", "replace");
	const char *text = bytes ? PyBytes_AsString(bytes) : NULL, *begin = text ? strstr(text, ": ") : NULL;
	size_t length;

	snprintf(to, size, "%s", begin ? begin + 2 : text ? text : "");
	to[strcspn(to, "\n")] = '\0';
	begin = strstr(to, "  # ");
	length = begin ? (size_t)(begin - to) : strlen(to);
	while (length && to[length - 1] == ' ')
		length--;
	to[length] = '\0';
	Py_XDECREF(bytes);
	PyErr_Clear();
}

/* `again`: of all functions. */
static void recompiled_note(const struct recompiled *function, unsigned again)
{
	char name[100], file[400], line[24] = "", reason[300], text[900];
	PyObject *number = PyObject_GetAttrString(function->code, "co_firstlineno"), *digits = number ? PyObject_Str(number) : NULL;
	PyObject *bytes = digits ? PyUnicode_AsUTF8String(digits) : NULL;
	const char *slash;

	if (bytes)
		snprintf(line, sizeof line, ":%s", PyBytes_AsString(bytes));
	PyErr_Clear();
	dwp_python_text(function->code, "co_name", name, sizeof name);
	dwp_python_text(function->code, "co_filename", file, sizeof file);
	recompiled_write_reason(reason, sizeof reason, function->reason);
	slash = strrchr(file, '/');
	snprintf(text, sizeof text, "%u %s (%s%s) was compiled %u times, the last because %s", again, name, slash ? slash + 1 : file, line,
	         function->compiled, reason);
	dwell_meta(DW_KEY_TORCH_RECOMPILED, text);
	Py_XDECREF(bytes);
	Py_XDECREF(digits);
	Py_XDECREF(number);
}

static PyObject *recompiled_at_exit(PyObject *self, PyObject *arguments)
{
	PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch._dynamo.utils"); /* borrowed */
	PyObject *all = module ? PyObject_GetAttrString(module, "guard_failures") : NULL, *code, *reasons;
	struct recompiled most = { NULL, NULL, 0 };
	Py_ssize_t at = 0;
	unsigned again = 0;

	while (all && PyDict_Check(all) && PyDict_Next(all, &at, &code, &reasons)) {
		struct recompiled function = { code, NULL, 0 };

		if (PyList_Check(reasons))
			recompiled_read(&function, reasons);
		again += function.compiled ? function.compiled - 1 : 0;
		if (function.compiled > most.compiled)
			most = function;
	}
	if (most.compiled)
		recompiled_note(&most, again);
	Py_XDECREF(all);
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyMethodDef ender = { "dwp_recompiled_at_exit", recompiled_at_exit, METH_VARARGS, NULL };

void dwp_recompiled_attach(void)
{
	dwp_python_at_exit(&ender);
}
