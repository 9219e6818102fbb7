/*
 * The class of a module and the sizes of its own parameters, stored once when it is named.
 *
 * Called by layers.c with the interpreter's lock. Parameters whose sizes are not known yet (lazy
 * ones) are left out.
 */
#include "torch.h"

#include <string.h>

#define MOST 256u
#define MOST_DIMENSIONS 8

static uint8_t parameters_dtype_of(PyObject *tensor)
{
	static const struct { const char *name; uint8_t dtype; } types[] = {
		{ "torch.float32", DWELL_FLOAT32 }, { "torch.float16", DWELL_FLOAT16 },
		{ "torch.bfloat16", DWELL_BFLOAT16 }, { "torch.float64", DWELL_FLOAT64 },
		{ "torch.int8", DWELL_INT8 }, { "torch.uint8", DWELL_UINT8 },
		{ "torch.complex64", DWELL_COMPLEX64 },
	};
	PyObject *dtype = PyObject_GetAttrString(tensor, "dtype");
	PyObject *text = dtype ? PyObject_Str(dtype) : NULL;
	PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
	const char *name = bytes ? PyBytes_AsString(bytes) : NULL;
	uint8_t found = DWELL_DTYPE_NONE;

	for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, name) == 0)
			found = types[i].dtype;
	Py_XDECREF(bytes);
	Py_XDECREF(text);
	Py_XDECREF(dtype);
	PyErr_Clear();
	return found;
}

static bool parameters_read_tensor(PyObject *tensor, struct dwell_tensor *to,
                                   int64_t sizes[MOST_DIMENSIONS])
{
	PyObject *shape = PyObject_GetAttrString(tensor, "shape");
	Py_ssize_t dimensions = shape ? PySequence_Size(shape) : -1;

	for (Py_ssize_t i = 0; i < dimensions && i < MOST_DIMENSIONS; i++) {
		PyObject *size = PySequence_GetItem(shape, i);

		sizes[i] = size ? PyLong_AsLongLong(size) : -1;
		Py_XDECREF(size);
	}
	Py_XDECREF(shape);
	if (PyErr_Occurred() || dimensions < 0 || dimensions > MOST_DIMENSIONS) {
		PyErr_Clear();
		return false;
	}
	*to = (struct dwell_tensor){ sizes, (uint8_t)dimensions, parameters_dtype_of(tensor) };
	return true;
}

uint32_t dwp_layer_id(PyObject *module, const char *path, bool first)
{
	PyObject *own = PyObject_GetAttrString(module, "_parameters");
	PyObject *values = own && PyDict_Check(own) ? PyDict_Values(own) : NULL;
	struct dwell_tensor tensors[MOST];
	int64_t sizes[MOST][MOST_DIMENSIONS];
	unsigned count = 0;
	char name[128];

	PyErr_Clear();
	for (Py_ssize_t i = 0; first && values && i < PyList_Size(values) && count < MOST; i++) {
		PyObject *value = PyList_GetItem(values, i); /* borrowed */

		if (value != Py_None && parameters_read_tensor(value, &tensors[count], sizes[count]))
			count++;
	}
	Py_XDECREF(values);
	Py_XDECREF(own);
	if (first)
		dwp_blocks_of_module(module);
	dwp_python_text((PyObject *)Py_TYPE(module), "__name__", name, sizeof name);
	return dwell_intern_layer(path, name, tensors, count);
}
