/*
 * Reports which blocks of memory are parameters (buffers of a module count as parameters) and which
 * are an optimizer's state: only PyTorch's objects show this. The kinds of all other blocks follow
 * from the range in which they were allocated.
 *
 * Called when a module is named (parameters.c), and by loop.c when an optimizer is created, has
 * loaded its state or steps for the first time. The block of a tensor is that of its storage.
 * Storages that no recorded allocator gave out (lazy, mapped from a file) are at
 * addresses without a recorded block, so that a reader ignores them. Needs the interpreter's lock.
 */
#include "held_blocks.h"
#include "torch.h"

DWP_SITE(parameter_site, DWELL_CATEGORY_ALLOCATION, "parameter", NULL);
DWP_SITE(state_site, DWELL_CATEGORY_ALLOCATION, "optimizer state", NULL);

static bool blocks_wanted(void)
{
	return dwell_wants(1u << DWELL_CATEGORY_ALLOCATION);
}

/* Returns a tensor's storage. PyTorch before 2.0 has no untyped_storage(). */
static PyObject *blocks_storage_of(PyObject *tensor)
{
	bool untyped = PyObject_HasAttrString(tensor, "untyped_storage");

	if (!untyped && !PyObject_HasAttrString(tensor, "storage"))
		return NULL;
	return PyObject_CallMethod(tensor, untyped ? "untyped_storage" : "storage", NULL);
}

/* Reports the block of a tensor. */
static void blocks_report(PyObject *tensor, struct dwell_site *site)
{
	PyObject *storage = tensor != Py_None ? blocks_storage_of(tensor) : NULL;
	PyObject *number = storage ? PyObject_CallMethod(storage, "data_ptr", NULL) : NULL;
	void *address = number ? PyLong_AsVoidPtr(number) : NULL;

	PyErr_Clear();
	if (address) {
		dwp_held_show(address);
		dwell_alloc_is(site, address);
	}
	Py_XDECREF(number);
	Py_XDECREF(storage);
}

/* Reports the blocks of the tensors in a list, or of the values of a dictionary. NULL is ignored. A
 * Python exception is cleared. */
static void blocks_report_all(PyObject *tensors, struct dwell_site *site)
{
	PyObject *values = tensors && PyDict_Check(tensors) ? PyDict_Values(tensors) : tensors;

	if (values && PyList_Check(values))
		for (Py_ssize_t i = 0; i < PyList_Size(values); i++) {
			/* Borrowed. Calls of its methods may run Python code, which may remove it from the list. */
			PyObject *tensor = PyList_GetItem(values, i);

			Py_INCREF(tensor);
			blocks_report(tensor, site);
			Py_DECREF(tensor);
		}
	if (values != tensors)
		Py_XDECREF(values);
	PyErr_Clear();
}

void dwp_blocks_of_module(PyObject *module)
{
	static const char *const own[] = { "_parameters", "_buffers" };

	if (!blocks_wanted())
		return;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		PyObject *tensors = PyObject_GetAttrString(module, own[i]);

		blocks_report_all(tensors, &parameter_site);
		Py_XDECREF(tensors);
	}
}

void dwp_blocks_of_groups(PyObject *optimizer)
{
	PyObject *groups = blocks_wanted() ? PyObject_GetAttrString(optimizer, "param_groups") : NULL;

	for (Py_ssize_t i = 0; groups && PyList_Check(groups) && i < PyList_Size(groups); i++) {
		PyObject *group = PyList_GetItem(groups, i); /* borrowed, of the optimizer's list */

		if (PyDict_Check(group))
			blocks_report_all(PyDict_GetItemString(group, "params"), &parameter_site);
	}
	Py_XDECREF(groups);
	PyErr_Clear();
}

void dwp_blocks_of_state(PyObject *optimizer)
{
	PyObject *state = blocks_wanted() ? PyObject_GetAttrString(optimizer, "state") : NULL;
	PyObject *values = state && PyDict_Check(state) ? PyDict_Values(state) : NULL;

	/* Each value is usually a dictionary. What is neither that nor a list is ignored. */
	for (Py_ssize_t i = 0; values && i < PyList_Size(values); i++)
		blocks_report_all(PyList_GetItem(values, i), &state_site);
	Py_XDECREF(values);
	Py_XDECREF(state);
	PyErr_Clear();
}

#define MOST_KNOWN 32u

/* Reports the state that an optimizer has before its first step, which was created with the
 * optimizer or loaded from a checkpoint. With more than MOST_KNOWN optimizers it may be reported
 * again. */
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
