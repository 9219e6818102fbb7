/*
 * A coroutine in place of another, for the rows KNOWN_CALL() of coroutine functions: a request of a server of asyncio.
 *
 * The request is an asynchronous range from the call of the function to the end of its coroutine, and each turn of it, from one
 * wait to the next, is a range of the thread. To everybody else it is the original: its attributes are, and what goes in and
 * comes out passes through unchanged.
 *
 * Rejected: a function that the task calls when it is done, which changes the order of the event loop, and a weak reference, which
 * tells the end only after other tasks have had their turns.
 */
#include "format/keys.h"
#include "python.h"

#include <stddef.h>
#include <structmember.h>

struct coroutine {
	PyObject_HEAD
	PyObject *original; /* src/reader/process/tasks.c reads it here */
	PyObject *weak;     /* references to this object */
	struct dwp_repeated *repeated;
	uint64_t handle;
	bool open;
};

static PyObject *type, *send_name, *throw_name, *close_name;

static void coroutine_end(struct coroutine *coroutine)
{
	if (coroutine->open)
		dwell_async_end(&coroutine->repeated->site, coroutine->handle);
	coroutine->open = false;
}

/* Calls a method of the original. If it raises an exception or returns the last value, which Python does by StopIteration, the
 * coroutine has ended. */
static PyObject *coroutine_turn(struct coroutine *coroutine, PyObject *name, PyObject *arguments)
{
	PyObject *method = PyObject_GetAttr(coroutine->original, name), *result;
	unsigned began = dwell_begin(&coroutine->repeated->turn);

	result = method ? PyObject_Call(method, arguments, NULL) : NULL;
	dwell_end_id(began);
	Py_XDECREF(method);
	if (!result)
		coroutine_end(coroutine);
	return result;
}

static PyObject *coroutine_send(PyObject *self, PyObject *value)
{
	PyObject *arguments = PyTuple_Pack(1, value);
	PyObject *result = arguments ? coroutine_turn((struct coroutine *)self, send_name, arguments) : NULL;

	Py_XDECREF(arguments);
	return result;
}

static PyObject *coroutine_next(PyObject *self)
{
	return coroutine_send(self, Py_None);
}

static PyObject *coroutine_throw(PyObject *self, PyObject *arguments)
{
	return coroutine_turn((struct coroutine *)self, throw_name, arguments);
}

static PyObject *coroutine_close(PyObject *self, PyObject *unused)
{
	PyObject *arguments = PyTuple_New(0);
	PyObject *result = arguments ? coroutine_turn((struct coroutine *)self, close_name, arguments) : NULL;

	Py_XDECREF(arguments);
	if (result)
		coroutine_end((struct coroutine *)self);
	return result;
}

static PyObject *coroutine_await(PyObject *self)
{
	Py_INCREF(self);
	return self;
}

/* By these it is awaited; all else is the original's. */
static PyObject *coroutine_get(PyObject *self, PyObject *name)
{
	static const char *const own[] = { "send", "throw", "close", "__await__", "__next__", "__iter__" };

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (PyUnicode_CompareWithASCIIString(name, own[i]) == 0)
			return PyObject_GenericGetAttr(self, name);
	return PyObject_GetAttr(((struct coroutine *)self)->original, name);
}

static int coroutine_set(PyObject *self, PyObject *name, PyObject *value)
{
	return PyObject_SetAttr(((struct coroutine *)self)->original, name, value);
}

static PyObject *coroutine_repr(PyObject *self)
{
	return PyObject_Repr(((struct coroutine *)self)->original);
}

static int coroutine_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((struct coroutine *)self)->original);
	return 0;
}

static int coroutine_clear(PyObject *self)
{
	coroutine_end((struct coroutine *)self);
	return 0; /* the original can be cleared itself */
}

static void coroutine_free(PyObject *self)
{
	PyTypeObject *of = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	if (((struct coroutine *)self)->weak)
		PyObject_ClearWeakRefs(self);
	coroutine_end((struct coroutine *)self);
	Py_CLEAR(((struct coroutine *)self)->original);
	PyObject_GC_Del(self);
	Py_DECREF(of);
}

static PyMethodDef methods[] = { { "send", coroutine_send, METH_O, NULL },
	{ "throw", coroutine_throw, METH_VARARGS, NULL },
	{ "close", coroutine_close, METH_NOARGS, NULL },
	{ 0 } };
static PyMemberDef members[] = { { "__weaklistoffset__", T_PYSSIZET, offsetof(struct coroutine, weak), READONLY, NULL }, { 0 } };
static PyType_Slot slots[] = {
	{ Py_tp_new, (void *)dwp_python_refuse_new }, { Py_am_await, coroutine_await },
	{ Py_tp_iter, coroutine_await },              { Py_tp_iternext, coroutine_next },
	{ Py_tp_getattro, coroutine_get },            { Py_tp_setattro, coroutine_set },
	{ Py_tp_repr, coroutine_repr },               { Py_tp_traverse, coroutine_traverse },
	{ Py_tp_clear, coroutine_clear },             { Py_tp_dealloc, coroutine_free },
	{ Py_tp_methods, methods },                   { Py_tp_members, members },
	{ 0, NULL },
};
static PyType_Spec spec = { DWP_COROUTINE_TYPE, sizeof(struct coroutine), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots };

bool dwp_coroutine_prepare(void)
{
	if (type)
		return true;
	send_name = PyUnicode_InternFromString("send");
	throw_name = PyUnicode_InternFromString("throw");
	close_name = PyUnicode_InternFromString("close");
	type = send_name && throw_name && close_name ? PyType_FromSpec(&spec) : NULL;
	PyErr_Clear();
	return type != NULL;
}

PyObject *dwp_coroutine_follow(struct dwp_repeated *repeated, uint64_t handle, PyObject *original)
{
	bool wanted = dwell_wants(1u << DWELL_CATEGORY_ZONE);
	struct coroutine *coroutine = wanted ? PyObject_GC_New(struct coroutine, (PyTypeObject *)type) : NULL;

	if (!coroutine) {
		PyErr_Clear();
		return original;
	}
	coroutine->original = original; /* takes the reference */
	coroutine->weak = NULL;
	coroutine->repeated = repeated;
	coroutine->open = true;
	coroutine->handle = handle ? handle : (uintptr_t)coroutine;
	dwell_async_begin(&repeated->site, coroutine->handle);
	PyObject_GC_Track((PyObject *)coroutine);
	return (PyObject *)coroutine;
}
