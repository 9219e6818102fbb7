/*
 * How many parameters get gradients that no optimizer uses: those of a part of the model that is not trained, but whose parameters
 * require gradients. A backward computes them in each step. And how many are those of embeddings whose gradients have all rows: a
 * backward clears, and an optimizer updates, also the rows that a batch does not use.
 *
 * Read from the modules that were called and the optimizers that live, before an optimizer's 1st, 2nd, 4th, 8th ... step. A gradient
 * may be left from an earlier training: so the largest one is looked at twice, and must have changed. Nothing is said of a model
 * of which no optimizer has any parameter, as one may have copies. Needs the interpreter's lock.
 */
#include "torch.h"

#include <stdio.h>
#include <string.h>

#include "format/keys.h"

enum { MOST_PARTS = 32, PART_BYTES = 120 };

struct gradients {
	PyObject *owned, *seen; /* sets of addresses: what optimizers have; what was counted */
	int64_t unused, all;    /* numbers that have a gradient */
	bool any_owned;
	PyObject *largest;      /* the unused gradient with most numbers; owned by this */
	int64_t largest_count;
	struct part {
		char path[PART_BYTES]; /* "Model.encoder" */
		int64_t count;
	} parts[MOST_PARTS];
	int64_t dense;          /* numbers of `owned` that embeddings with dense gradients have */
	struct part embedding;     /* the largest of these embeddings */
};

/* The gradient that was the largest unused one, and how often it had been written. */
static PyObject *watched; /* a weak reference */
static int64_t watched_version;

/* Whether an object's address is added to a set now. */
static bool gradients_add(PyObject *set, PyObject *object)
{
	PyObject *key = PyLong_FromVoidPtr(object);
	bool is_new = key && PySet_Contains(set, key) == 0 && PySet_Add(set, key) == 0;

	Py_XDECREF(key);
	return is_new;
}

static bool gradients_has(PyObject *set, PyObject *object)
{
	PyObject *key = PyLong_FromVoidPtr(object);
	bool has = key && PySet_Contains(set, key) == 1;

	Py_XDECREF(key);
	return has;
}

static void gradients_of_optimizer(struct gradients *to, PyObject *optimizer)
{
	PyObject *groups = PyObject_GetAttrString(optimizer, "param_groups");

	for (Py_ssize_t g = 0; groups && PyList_Check(groups) && g < PyList_Size(groups); g++) {
		PyObject *group = PyList_GetItem(groups, g); /* borrowed, of the optimizer's list; so are the next two */
		PyObject *params = PyDict_Check(group) ? PyDict_GetItemString(group, "params") : NULL;

		for (Py_ssize_t i = 0; params && PyList_Check(params) && i < PyList_Size(params); i++)
			gradients_add(to->owned, PyList_GetItem(params, i));
	}
	Py_XDECREF(groups);
	PyErr_Clear();
}

static int64_t gradients_number(PyObject *tensor, const char *name, bool call)
{
	PyObject *number = call ? PyObject_CallMethod(tensor, name, NULL) : PyObject_GetAttrString(tensor, name);
	int64_t value = number ? PyLong_AsLongLong(number) : 0;

	Py_XDECREF(number);
	PyErr_Clear();
	return value > 0 ? value : 0;
}

/* "Model.encoder" of "Model.encoder.layers.0" */
static struct part *gradients_part(struct gradients *to, const char *path)
{
	const char *dot = strchr(path, '.');
	size_t length = dot ? (size_t)(dot - path) + 1 + strcspn(dot + 1, ".") : strlen(path), i = 0;

	if (length >= PART_BYTES)
		return NULL;
	while (i < MOST_PARTS && to->parts[i].count && (strncmp(to->parts[i].path, path, length) != 0 || to->parts[i].path[length]))
		i++;
	if (i == MOST_PARTS)
		return NULL;
	memcpy(to->parts[i].path, path, length);
	return &to->parts[i];
}

/* Whether a gradient has all rows, also those that a batch does not use. */
static bool gradients_are_dense(PyObject *gradient)
{
	PyObject *sparse = PyObject_GetAttrString(gradient, "is_sparse");
	bool dense = sparse == Py_False;

	Py_XDECREF(sparse);
	PyErr_Clear();
	return dense;
}

static void gradients_add_embedding(struct gradients *to, PyObject *gradient, int64_t count, const char *path)
{
	if (!gradients_are_dense(gradient))
		return;
	to->dense += count;
	if (count > to->embedding.count && strlen(path) < PART_BYTES) {
		memcpy(to->embedding.path, path, strlen(path) + 1);
		to->embedding.count = count;
	}
}

/* `embedding`: the parameter is that of an embedding. */
static void gradients_of_parameter(struct gradients *to, PyObject *parameter, const char *path, bool embedding)
{
	PyObject *needs = PyObject_GetAttrString(parameter, "requires_grad");
	PyObject *gradient = needs == Py_True ? PyObject_GetAttrString(parameter, "grad") : NULL;
	int64_t count = gradient && gradient != Py_None ? gradients_number(parameter, "numel", true) : 0;
	struct part *part;

	Py_XDECREF(needs);
	PyErr_Clear();
	if (!count || !gradients_add(to->seen, parameter)) {
		Py_XDECREF(gradient);
		return;
	}
	to->all += count;
	if (gradients_has(to->owned, parameter)) {
		to->any_owned = true;
		if (embedding)
			gradients_add_embedding(to, gradient, count, path);
		Py_DECREF(gradient);
		return;
	}
	to->unused += count;
	part = gradients_part(to, path);
	if (part)
		part->count += count;
	if (count > to->largest_count) {
		Py_XDECREF(to->largest);
		to->largest = gradient;
		to->largest_count = count;
	} else {
		Py_DECREF(gradient);
	}
}

static void gradients_of_module(PyObject *module, const char *path, void *context)
{
	PyObject *own = PyObject_GetAttrString(module, "_parameters");
	PyObject *values = own && PyDict_Check(own) ? PyDict_Values(own) : NULL;
	bool embedding = PyObject_HasAttrString(module, "num_embeddings") && PyObject_HasAttrString(module, "sparse");

	for (Py_ssize_t i = 0; values && i < PyList_Size(values); i++)
		if (PyList_GetItem(values, i) != Py_None)
			gradients_of_parameter(context, PyList_GetItem(values, i), path, embedding);
	Py_XDECREF(values);
	Py_XDECREF(own);
	PyErr_Clear();
}

/* Whether the largest unused gradient is another one than at the last look, or was written since. */
static bool gradients_change(const struct gradients *found)
{
	PyObject *before = watched ? PyWeakref_GetObject(watched) : NULL; /* borrowed */
	int64_t version = found->largest ? gradients_number(found->largest, "_version", false) : 0;
	bool change = before && found->largest && (before != found->largest || version != watched_version);

	Py_XDECREF(watched);
	watched = found->largest ? PyWeakref_NewRef(found->largest, NULL) : NULL;
	watched_version = version;
	PyErr_Clear();
	return change;
}

static void gradients_note(const struct gradients *found)
{
	const struct part *most = &found->parts[0];
	char text[PART_BYTES + 60];

	for (size_t i = 1; i < MOST_PARTS; i++)
		if (found->parts[i].count > most->count)
			most = &found->parts[i];
	snprintf(text, sizeof text, "%lld %lld %s", (long long)found->unused, (long long)found->all, most->path);
	dwell_meta(DW_KEY_TORCH_UNUSED_GRADIENTS, text);
}

static void gradients_note_embeddings(const struct gradients *found)
{
	char text[PART_BYTES + 60];

	snprintf(text, sizeof text, "%lld %lld %s", (long long)found->dense, (long long)found->all, found->embedding.path);
	dwell_meta(DW_KEY_TORCH_DENSE_EMBEDDINGS, text);
}

static dwp_each_module *each_module;

void dwp_gradients_attach(dwp_each_module *modules)
{
	each_module = modules;
}

static void gradients_of_optimizers(struct gradients *to, PyObject *optimizers)
{
	PyObject *all = optimizers ? PySequence_List(optimizers) : NULL; /* what is called may free one */

	for (Py_ssize_t i = 0; all && i < PyList_Size(all); i++) {
		PyObject *optimizer = PyWeakref_GetObject(PyList_GetItem(all, i)); /* borrowed */

		if (!optimizer || optimizer == Py_None)
			continue;
		Py_INCREF(optimizer);
		gradients_of_optimizer(to, optimizer);
		Py_DECREF(optimizer);
	}
	Py_XDECREF(all);
	PyErr_Clear();
}

void dwp_gradients_look(PyObject *optimizers)
{
	static bool noted;
	struct gradients found = { .owned = PySet_New(NULL), .seen = PySet_New(NULL) };

	if (found.owned && found.seen && each_module) {
		gradients_of_optimizers(&found, optimizers);
		each_module(gradients_of_module, &found);
	}
	if (!found.any_owned)
		found.unused = 0;
	if ((gradients_change(&found) && found.unused) || noted) {
		gradients_note(&found);
		noted = true;
	}
	if (found.dense)
		gradients_note_embeddings(&found);
	Py_XDECREF(found.largest);
	Py_XDECREF(found.owned);
	Py_XDECREF(found.seen);
	PyErr_Clear();
}
