/*
 * The response of a request of WSGI, in place of the iterable that the application returned: rows KNOWN_CALL() of DWP_REQUEST whose
 * function is no coroutine function.
 *
 * The request is an asynchronous range from the call of the application until the server has sent the last piece of the response:
 * the server asks for a piece when it has sent the one before it, and closes the response after the last one. Each piece that
 * is not empty counts as one of the request's chunks. The call, and what the response does to make a piece, are turns of the
 * request in the thread, as those of a coroutine are (coroutine.c). To everybody else the response is the original.
 */
#include "format/keys.h"
#include "python.h"

struct response {
	PyObject_HEAD
	PyObject *original, *iterator; /* iterator: of the original; NULL: nobody has asked for it */
	struct dwp_repeated *repeated;
	uint64_t handle;
	bool open;
};

static PyObject *type;
static struct dwell_site chunks = { .name = "chunks", .category = DWELL_CATEGORY_ZONE, .detail = DW_DETAIL_REQUEST };

void dwp_response_chunk(uint64_t handle)
{
	if (dwell_wants(1u << DWELL_CATEGORY_ZONE))
		dwell_tokens(&chunks, handle, 1);
}

static void response_end(struct response *response)
{
	if (response->open)
		dwell_async_end(&response->repeated->site, response->handle);
	response->open = false;
}

static PyObject *response_iter(PyObject *self)
{
	struct response *response = (struct response *)self;

	if (!response->iterator)
		response->iterator = PyObject_GetIter(response->original);
	if (!response->iterator)
		return NULL;
	Py_INCREF(self);
	return self;
}

static PyObject *response_next(PyObject *self)
{
	struct response *response = (struct response *)self;
	PyObject *piece;
	unsigned began;

	if (!response->iterator && !(response->iterator = PyObject_GetIter(response->original)))
		return NULL;
	began = dwell_begin(&response->repeated->turn);
	piece = PyIter_Next(response->iterator);
	dwell_end_id(began);
	if (!piece)
		response_end(response);
	else if (response->open && (!PyBytes_Check(piece) || PyBytes_Size(piece) > 0))
		dwp_response_chunk(response->handle);
	return piece;
}

static PyObject *response_close(PyObject *self, PyObject *unused)
{
	struct response *response = (struct response *)self;
	PyObject *result;

	(void)unused;
	response_end(response);
	result = PyObject_CallMethod(response->original, "close", NULL);
	return result;
}

/* By these a server uses it; all else is the original's. A response that has no close() has none here. */
static PyObject *response_get(PyObject *self, PyObject *name)
{
	PyObject *original = ((struct response *)self)->original, *there;

	if (PyUnicode_CompareWithASCIIString(name, "__iter__") == 0 || PyUnicode_CompareWithASCIIString(name, "__next__") == 0)
		return PyObject_GenericGetAttr(self, name);
	there = PyObject_GetAttr(original, name);
	if (!there || PyUnicode_CompareWithASCIIString(name, "close") != 0)
		return there;
	Py_DECREF(there);
	return PyObject_GenericGetAttr(self, name);
}

static int response_set(PyObject *self, PyObject *name, PyObject *value)
{
	return PyObject_SetAttr(((struct response *)self)->original, name, value);
}

static Py_ssize_t response_length(PyObject *self)
{
	return PyObject_Size(((struct response *)self)->original);
}

static PyObject *response_repr(PyObject *self)
{
	return PyObject_Repr(((struct response *)self)->original);
}

static int response_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((struct response *)self)->original);
	Py_VISIT(((struct response *)self)->iterator);
	return 0;
}

static int response_clear(PyObject *self)
{
	response_end((struct response *)self);
	Py_CLEAR(((struct response *)self)->iterator);
	return 0; /* the original can be cleared itself */
}

static void response_free(PyObject *self)
{
	PyTypeObject *of = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	response_end((struct response *)self);
	Py_CLEAR(((struct response *)self)->iterator);
	Py_CLEAR(((struct response *)self)->original);
	PyObject_GC_Del(self);
	Py_DECREF(of);
}

static PyMethodDef methods[] = { { "close", response_close, METH_NOARGS, NULL }, { 0 } };
static PyType_Slot slots[] = {
	{ Py_tp_new, (void *)dwp_python_refuse_new }, { Py_tp_iter, response_iter },
	{ Py_tp_iternext, response_next },            { Py_tp_getattro, response_get },
	{ Py_tp_setattro, response_set },             { Py_tp_repr, response_repr },
	{ Py_tp_traverse, response_traverse },        { Py_tp_clear, response_clear },
	{ Py_tp_dealloc, response_free },             { Py_tp_methods, methods },
	{ Py_sq_length, response_length },            { 0, NULL },
};
static PyType_Spec spec = { "dwell.response", sizeof(struct response), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots };

bool dwp_response_lasts(PyObject *result)
{
	return type && result && PyObject_HasAttrString(result, "__next__") && !PyErr_Occurred();
}

bool dwp_response_prepare(void)
{
	if (!type)
		type = PyType_FromSpec(&spec);
	PyErr_Clear();
	return type != NULL;
}

PyObject *dwp_response_follow(struct dwp_repeated *repeated, uint64_t handle, PyObject *original)
{
	struct response *response = PyObject_GC_New(struct response, (PyTypeObject *)type);

	if (!response) {
		PyErr_Clear();
		dwell_async_end(&repeated->site, handle);
		return original;
	}
	response->original = original; /* takes the reference */
	response->iterator = NULL;
	response->repeated = repeated;
	response->handle = handle;
	response->open = true;
	PyObject_GC_Track((PyObject *)response);
	return (PyObject *)response;
}
