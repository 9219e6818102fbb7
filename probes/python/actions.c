/*
 * Lightning's actions for the package dwell: `with profiler.profile("name"):` in C.
 *
 * dwell.lightning creates a recorder with dwp_python_recorder() and passes the functions of
 * libdwell-lightning, which this library does not link. A recorder's profile(), start() and stop()
 * are those of a Lightning profiler. The range of a block begins and ends here. start() and stop()
 * may be called in any order, so they call the functions of libdwell-lightning. The id of a name is
 * looked up once and kept in a dictionary.
 */
#include "python.h"

#include <stddef.h>
#include <string.h>

/* In the limited API only from 3.10 on, but exported by every CPython from 3.7 on. */
#define FASTCALL 0x0080

typedef void start_function(void *actions, const char *action);
typedef int stop_function(void *actions, const char *action, struct dwell_error *error);

struct recorder {
	PyObject_HEAD
	PyObject *owner; /* it destroys `actions` when it ends */
	void *actions;
	start_function *start;
	stop_function *stop;
	PyObject *ids; /* by name */
};

/* The context manager of a block. */
struct scope {
	PyObject_HEAD
	PyObject *name;
	uint32_t id; /* 0 means no session was running when it was created; then nothing is recorded */
	unsigned began;
};

static PyObject *recorder_type, *scope_type;

/* ---- names ------------------------------------------------------------------------------- */

/* Returns a name as UTF-8. An object that is not a str is converted to one. Sets `*bytes` to a new
 * reference to an object that holds the text, or to NULL if `name` itself holds it. NULL with a
 * Python exception: failed. */
static const char *actions_text_of(PyObject *name, PyObject **bytes)
{
	const char *utf8 = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
	PyObject *text;

	*bytes = NULL;
	if (utf8)
		return utf8;
	PyErr_Clear(); /* the str has surrogates, which stand for bytes that are not UTF-8 */
	text = PyObject_Str(name);
	if (!text)
		return NULL;
	*bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
	if (!*bytes) {
		PyErr_Clear();
		*bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
	}
	Py_DECREF(text);
	return *bytes ? PyBytes_AsString(*bytes) : NULL;
}

/* Returns the id of a name that is not in `ids`. 0: no session is running, or Python failed; then a
 * Python exception is set. */
static uint32_t actions_new_id(struct recorder *self, PyObject *name)
{
	PyObject *bytes, *number;
	const char *text = actions_text_of(name, &bytes);
	uint32_t id = text ? dwell_intern(DWELL_CATEGORY_ACTION, text, NULL) : 0;

	Py_XDECREF(bytes);
	if (!id || !PyUnicode_Check(name))
		return id;
	number = PyLong_FromUnsignedLong(id);
	if (!number || PyDict_SetItem(self->ids, name, number) < 0)
		PyErr_Clear();
	Py_XDECREF(number);
	return id;
}

static uint32_t actions_id_of(struct recorder *self, PyObject *name)
{
	PyObject *number = PyUnicode_Check(name) ? PyDict_GetItemWithError(self->ids, name) : NULL;

	return number ? (uint32_t)PyLong_AsUnsignedLong(number) : actions_new_id(self, name);
}

/* ---- a block -------------------------------------------------------------------------------- */

static void actions_scope_free(PyObject *object)
{
	struct scope *scope = (struct scope *)object;
	PyTypeObject *type = Py_TYPE(object);

	Py_DECREF(scope->name);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyObject *actions_scope_enter(PyObject *object, PyObject *unused)
{
	struct scope *scope = (struct scope *)object;

	scope->began = dwell_begin_named(scope->id, DWELL_CATEGORY_ACTION); /* the block may be suspended */
	Py_INCREF(scope->name);
	return scope->name;
}

static PyObject *actions_scope_exit(PyObject *object, PyObject *const *arguments, Py_ssize_t count)
{
	struct scope *scope = (struct scope *)object;

	dwell_end_id(scope->began);
	scope->began = DWELL_NOT_BEGUN;
	Py_RETURN_FALSE;
}

static PyMethodDef scope_methods[] = {
	{ "__enter__", actions_scope_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)(void (*)(void))actions_scope_exit, FASTCALL, NULL },
	{ 0 },
};

static PyType_Slot scope_slots[] = {
	{ Py_tp_new, (void *)dwp_python_refuse_new },
	{ Py_tp_dealloc, (void *)actions_scope_free },
	{ Py_tp_methods, scope_methods },
	{ Py_tp_doc, "The block of an action." },
	{ 0 },
};
static PyType_Spec scope_spec = { "dwell.lightning.Scope", sizeof(struct scope), 0,
	                              Py_TPFLAGS_DEFAULT, scope_slots };

bool dwp_actions_is_own(const void *method)
{
	return method == &scope_methods[0] || method == &scope_methods[1];
}

/* ---- a recorder ----------------------------------------------------------------------------- */

static PyObject *actions_recorder_profile(PyObject *object, PyObject *name)
{
	uint32_t id = actions_id_of((struct recorder *)object, name);
	struct scope *scope = NULL;

	if (id || !PyErr_Occurred())
		scope = PyObject_New(struct scope, (PyTypeObject *)scope_type);
	if (!scope)
		return NULL;
	Py_INCREF(name);
	scope->name = name;
	scope->id = id;
	scope->began = DWELL_NOT_BEGUN;
	return (PyObject *)scope;
}

static PyObject *actions_recorder_start(PyObject *object, PyObject *name)
{
	struct recorder *self = (struct recorder *)object;
	PyObject *bytes;
	const char *text = actions_text_of(name, &bytes);

	if (!text)
		return NULL;
	self->start(self->actions, text);
	Py_XDECREF(bytes);
	Py_RETURN_NONE;
}

static PyObject *actions_recorder_stop(PyObject *object, PyObject *name)
{
	struct recorder *self = (struct recorder *)object;
	struct dwell_error error = { 0, "" };
	PyObject *bytes, *message;
	const char *text = actions_text_of(name, &bytes);

	if (!text)
		return NULL;
	self->stop(self->actions, text, &error);
	Py_XDECREF(bytes);
	if (!error.code)
		Py_RETURN_NONE;
	message = PyUnicode_DecodeUTF8(error.message, (Py_ssize_t)strlen(error.message), "replace");
	if (message)
		PyErr_SetObject(PyExc_ValueError, message);
	Py_XDECREF(message);
	return NULL;
}

static void actions_recorder_free(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	Py_XDECREF(((struct recorder *)object)->ids);
	Py_XDECREF(((struct recorder *)object)->owner);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyMethodDef recorder_methods[] = {
	{ "profile", actions_recorder_profile, METH_O, "A context manager: its block is the action." },
	{ "start", actions_recorder_start, METH_O, "Begins an action." },
	{ "stop", actions_recorder_stop, METH_O, "Ends an action." },
	{ 0 },
};

static PyType_Slot recorder_slots[] = {
	{ Py_tp_new, (void *)dwp_python_refuse_new },
	{ Py_tp_dealloc, (void *)actions_recorder_free },
	{ Py_tp_methods, recorder_methods },
	{ Py_tp_doc, "Records the actions of a profiler." },
	{ 0 },
};
static PyType_Spec recorder_spec = { "dwell.lightning.Recorder", sizeof(struct recorder), 0,
	                                 Py_TPFLAGS_DEFAULT, recorder_slots };

/* Creates a recorder; dwell.lightning calls it. `actions` is a struct dwell_lightning_profiler, which lives as long
 * as `owner`. `start` and `stop` are the addresses of dwell_lightning_start() and
 * dwell_lightning_stop(). */
DWELL_API PyObject *dwp_python_recorder(PyObject *owner, void *actions, void *start, void *stop);

PyObject *dwp_python_recorder(PyObject *owner, void *actions, void *start, void *stop)
{
	struct recorder *self;

	if (!scope_type)
		scope_type = PyType_FromSpec(&scope_spec);
	if (!recorder_type)
		recorder_type = PyType_FromSpec(&recorder_spec);
	if (!scope_type || !recorder_type)
		return NULL;
	self = PyObject_New(struct recorder, (PyTypeObject *)recorder_type);
	if (!self)
		return NULL;
	Py_INCREF(owner);
	self->owner = owner;
	self->actions = actions;
	*(void **)&self->start = start;
	*(void **)&self->stop = stop;
	self->ids = PyDict_New();
	if (!self->ids)
		Py_CLEAR(self);
	return (PyObject *)self;
}
