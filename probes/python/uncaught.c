/*
 * The exception that nothing caught: its type and the last line of its message, for the report of a run that failed.
 *
 * The interpreter raises the audit event "sys.excepthook" before it prints such an exception, so that no hook of the
 * program's is replaced. None of the program's code runs here, as its __str__() would, and nothing of the exception is kept.
 */
#include "python.h"

#include <stdio.h>
#include <string.h>

#include "format/keys.h"

#define UNCAUGHT_MOST 240 /* bytes of the text */

/* Called by attach.c with the event's arguments: hook, type, value, traceback. */
DWELL_API void dwp_python_uncaught(void *arguments);

/* An attribute as the interpreter defines it. NULL: there is none. */
static PyObject *uncaught_get(PyObject *object, const char *name)
{
	PyObject *key = PyUnicode_FromString(name), *value = key ? PyObject_GenericGetAttr(object, key) : NULL;

	Py_XDECREF(key);
	PyErr_Clear();
	return value;
}

/* Whether all arguments are the interpreter's own: their texts are made without the program's code. */
static bool uncaught_are_plain(PyObject *arguments)
{
	for (Py_ssize_t i = 0; i < PyTuple_Size(arguments); i++) {
		PyObject *one = PyTuple_GetItem(arguments, i);

		if (!PyUnicode_CheckExact(one) && !PyLong_CheckExact(one) && !PyBytes_CheckExact(one) && one != Py_None)
			return false;
	}
	return true;
}

/* What str() says of an exception of C; of another class its first argument, if that is a text. NULL: not known. */
static PyObject *uncaught_message(PyObject *value)
{
	PyObject *arguments = uncaught_get(value, "args"), *first, *message = NULL;

	if (arguments && PyTuple_CheckExact(arguments) && PyTuple_Size(arguments) > 0) {
		first = PyTuple_GetItem(arguments, 0);
		if (!(PyType_GetFlags(Py_TYPE(value)) & Py_TPFLAGS_HEAPTYPE) && uncaught_are_plain(arguments))
			message = PyObject_Str(value);
		else if (PyUnicode_CheckExact(first) || PyLong_CheckExact(first))
			message = PyObject_Str(first);
	}
	PyErr_Clear();
	Py_XDECREF(arguments);
	return message;
}

/* The last line that is not empty. */
static const char *uncaught_last_line(const char *text, size_t *size)
{
	const char *end = text + strlen(text), *begin;

	while (end > text && strchr(" \t\r\n", end[-1]))
		end--;
	for (begin = end; begin > text && begin[-1] != '\n';)
		begin--;
	*size = (size_t)(end - begin);
	return begin;
}

/* Leaves no half of a character at the end of a text that was too long. */
static void uncaught_cut(char text[UNCAUGHT_MOST])
{
	size_t size = strlen(text);

	if (size + 1 < UNCAUGHT_MOST)
		return;
	while (size && ((unsigned char)text[size - 1] & 0xc0) == 0x80)
		size--;
	size -= size && (unsigned char)text[size - 1] >= 0xc0;
	text[size] = '\0';
}

static void uncaught_note(PyObject *type, PyObject *value)
{
	PyObject *name = uncaught_get(type, "__name__"), *message = uncaught_message(value);
	PyObject *bytes[2] = { name && PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8String(name) : NULL,
		                   message ? PyUnicode_AsEncodedString(message, "utf-8", "replace") : NULL };
	const char *line = bytes[1] ? PyBytes_AsString(bytes[1]) : "";
	char text[UNCAUGHT_MOST];
	size_t size;

	line = uncaught_last_line(line, &size);
	if (bytes[0] && snprintf(text, sizeof text, "%.100s%s%.*s", PyBytes_AsString(bytes[0]), size ? ": " : "",
	                         size < sizeof text ? (int)size : (int)sizeof text, line) > 0) {
		uncaught_cut(text);
		dwell_meta(DW_KEY_PYTHON_UNCAUGHT, text);
	}
	PyErr_Clear();
	Py_XDECREF(bytes[0]);
	Py_XDECREF(bytes[1]);
	Py_XDECREF(name);
	Py_XDECREF(message);
}

void dwp_python_uncaught(void *arguments)
{
	PyObject *event = arguments, *kept[3];

	if (!dwp_python_is_main_interpreter() || !PyTuple_Check(event) || PyTuple_Size(event) < 3 ||
	    !PyType_Check(PyTuple_GetItem(event, 1)) || !PyTuple_GetItem(event, 2) || PyTuple_GetItem(event, 2) == Py_None)
		return;
	PyErr_Fetch(&kept[0], &kept[1], &kept[2]);
	uncaught_note(PyTuple_GetItem(event, 1), PyTuple_GetItem(event, 2));
	PyErr_Restore(kept[0], kept[1], kept[2]);
}
