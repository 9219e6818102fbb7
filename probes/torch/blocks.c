/*
 * What only PyTorch's objects say of blocks: which are parameters (buffers count with
 * them) and which an optimizer's state. What the rest is for follows from where it was
 * allocated.
 *
 * Called when a module is named (parameters.c) and by loop.c when an optimizer is made, has
 * loaded its state or steps for the first time. A tensor is a view of a storage; the block is
 * the storage's. Storages without one (lazy, on other devices, mapped from a file) are at
 * addresses where nothing recorded lives. Under the interpreter's lock.
 */
#include "torch.h"

DWELL_SITE(parameter_site, DWELL_CATEGORY_ALLOCATION, "parameter", NULL);
DWELL_SITE(state_site, DWELL_CATEGORY_ALLOCATION, "optimizer state", NULL);

static bool wanted(void)
{
	return dwell_wants(1u << DWELL_CATEGORY_ALLOCATION);
}

/* Before 2.0 storages have a type. */
static PyObject *storage_of(PyObject *tensor)
{
	bool untyped = PyObject_HasAttrString(tensor, "untyped_storage");

	if (!untyped && !PyObject_HasAttrString(tensor, "storage"))
		return NULL;
	return PyObject_CallMethod(tensor, untyped ? "untyped_storage" : "storage", NULL);
}

static void say(PyObject *tensor, struct dwell_site *site)
{
	PyObject *storage = tensor != Py_None ? storage_of(tensor) : NULL;
	PyObject *number = storage ? PyObject_CallMethod(storage, "data_ptr", NULL) : NULL;
	void *address = number ? PyLong_AsVoidPtr(number) : NULL;

	PyErr_Clear();
	if (address)
		dwell_alloc_is(site, address);
	Py_XDECREF(number);
	Py_XDECREF(storage);
}

/* Of a list's items or a dictionary's values; NULL is nothing, and takes the error. */
static void say_all(PyObject *tensors, struct dwell_site *site)
{
	PyObject *values = tensors && PyDict_Check(tensors) ? PyDict_Values(tensors) : tensors;

	if (values && PyList_Check(values))
		for (Py_ssize_t i = 0; i < PyList_Size(values); i++) {
			PyObject *tensor = PyList_GetItem(values, i); /* borrowed, and it runs code */

			Py_INCREF(tensor);
			say(tensor, site);
			Py_DECREF(tensor);
		}
	if (values != tensors)
		Py_XDECREF(values);
	PyErr_Clear();
}

void dwp_blocks_of_module(PyObject *module)
{
	static const char *const own[] = { "_parameters", "_buffers" };

	if (!wanted())
		return;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		PyObject *tensors = PyObject_GetAttrString(module, own[i]);

		say_all(tensors, &parameter_site);
		Py_XDECREF(tensors);
	}
}

void dwp_blocks_of_groups(PyObject *optimizer)
{
	PyObject *groups = wanted() ? PyObject_GetAttrString(optimizer, "param_groups") : NULL;

	for (Py_ssize_t i = 0; groups && PyList_Check(groups) && i < PyList_Size(groups); i++) {
		PyObject *group = PyList_GetItem(groups, i); /* borrowed, of the optimizer's list */

		if (PyDict_Check(group))
			say_all(PyDict_GetItemString(group, "params"), &parameter_site);
	}
	Py_XDECREF(groups);
	PyErr_Clear();
}

void dwp_blocks_of_state(PyObject *optimizer)
{
	PyObject *state = wanted() ? PyObject_GetAttrString(optimizer, "state") : NULL;
	PyObject *values = state && PyDict_Check(state) ? PyDict_Values(state) : NULL;

	for (Py_ssize_t i = 0; values && i < PyList_Size(values); i++)
		say_all(PyList_GetItem(values, i), &state_site); /* a dictionary each, or say nothing */
	Py_XDECREF(values);
	Py_XDECREF(state);
	PyErr_Clear();
}

#define MOST_KNOWN 32u

/* State that was made elsewhere than in a step: with the optimizer, of a checkpoint. Once,
 * when it steps for the first time; with more optimizers than these, again and again. */
void dwp_blocks_of_first_step(PyObject *optimizer)
{
	static const void *known[MOST_KNOWN];
	static unsigned next;

	for (unsigned i = 0; i < MOST_KNOWN; i++)
		if (known[i] == optimizer)
			return;
	known[next++ % MOST_KNOWN] = optimizer;
	dwp_blocks_of_state(optimizer);
}
