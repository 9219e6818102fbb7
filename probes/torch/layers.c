/*
 * Calls of nn.Module, by their path in the model: "ResNet.layer1.0.conv1".
 *
 * nn.Module.__call__ is hooked. When a module that no other called is seen for the
 * first time, it is the root of a model, and its named_modules() get their paths; a
 * module that came later is named by who called it and its class. The table goes by
 * address and each entry lives as long as its module (a weak reference removes it).
 * Under the interpreter's lock.
 */
#include "torch.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	const void *module;  /* NULL: free; the table's own address: removed */
	PyObject *reference; /* calls us when the module dies */
	uint32_t id;
	bool root, has_parameters;
	bool steps;          /* the user said that its calls begin steps */
	char *path;
};

static struct {
	struct entry *entries;
	size_t used, size; /* a power of two */
} table;

#define REMOVED ((const void *)&table)

/* The modules being called, by thread. */
static __thread uint32_t depth __attribute__((tls_model("initial-exec")));
static __thread struct loop_call outermost __attribute__((tls_model("initial-exec")));
static __thread const char *caller_path __attribute__((tls_model("initial-exec")));

/* ---- the table -------------------------------------------------------------------------- */

static struct entry *place(struct entry *entries, size_t size, const void *module)
{
	size_t at = ((uintptr_t)module >> 4) * 0x9e3779b97f4a7c15u >> 20;

	for (at &= size - 1; entries[at].module && entries[at].module != module;)
		at = (at + 1) & (size - 1);
	return &entries[at];
}

/* Without the removed ones; twice as large when the live ones need it. */
static bool renew(void)
{
	size_t size = table.size ? table.size : 256, live = 0;
	struct entry *entries;

	for (size_t i = 0; i < table.size; i++)
		live += table.entries[i].module && table.entries[i].module != REMOVED;
	while (live * 4 >= size)
		size *= 2;
	entries = calloc(size, sizeof *entries);

	if (!entries)
		return false;
	table.used = 0;
	for (size_t i = 0; i < table.size; i++)
		if (table.entries[i].module && table.entries[i].module != REMOVED) {
			*place(entries, size, table.entries[i].module) = table.entries[i];
			table.used++;
		}
	free(table.entries);
	table.entries = entries;
	table.size = size;
	return true;
}

static struct entry *find(const void *module)
{
	struct entry *entry = table.size ? place(table.entries, table.size, module) : NULL;

	return entry && entry->module ? entry : NULL;
}

static PyObject *forget(PyObject *self, PyObject *reference)
{
	struct entry *entry = find(PyLong_AsVoidPtr(self));

	if (entry && entry->reference == reference) {
		Py_DECREF(entry->reference);
		free(entry->path);
		*entry = (struct entry){ .module = REMOVED };
	}
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyMethodDef forgetter = { "dwell_forget", forget, METH_O, NULL };

static uint32_t id_of(PyObject *module, const char *path)
{
	char name[128];

	dwell_python_text((PyObject *)Py_TYPE(module), "__name__", name, sizeof name);
	return dwell_intern(DWELL_CATEGORY_LAYER, path, name);
}

static bool begins_steps(PyObject *module, const char *path)
{
	char name[128];

	if (!dwell_step_on_given())
		return false;
	dwell_python_text((PyObject *)Py_TYPE(module), "__name__", name, sizeof name);
	return dwell_step_on_is(path) || dwell_step_on_is(name);
}

static struct entry *add(PyObject *module, const char *path)
{
	struct entry entry = { .module = module, .path = strdup(path) }, *to = NULL;
	PyObject *key = PyLong_FromVoidPtr(module);
	PyObject *function = key ? PyCFunction_New(&forgetter, key) : NULL;

	entry.reference = function ? PyWeakref_NewRef(module, function) : NULL;
	if (entry.path && entry.reference &&
	    ((table.used + 1) * 2 <= table.size || renew())) {
		entry.id = id_of(module, path);
		entry.steps = begins_steps(module, path);
		to = place(table.entries, table.size, module);
		*to = entry;
		table.used++;
	} else {
		Py_XDECREF(entry.reference);
		free(entry.path);
	}
	Py_XDECREF(function);
	Py_XDECREF(key);
	PyErr_Clear();
	return to;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static bool any(PyObject *object, const char *method)
{
	PyObject *iterator = PyObject_CallMethod(object, method, NULL);
	PyObject *first = iterator ? PyIter_Next(iterator) : NULL;
	bool found = first != NULL;

	Py_XDECREF(first);
	Py_XDECREF(iterator);
	PyErr_Clear();
	return found;
}

static void add_below(PyObject *module, const char *root)
{
	PyObject *iterator = PyObject_CallMethod(module, "named_modules", NULL), *pair;
	char path[1024];

	while (iterator && (pair = PyIter_Next(iterator)) != NULL) {
		const char *name;
		PyObject *child;

		if (PyArg_ParseTuple(pair, "sO", &name, &child) && child != module && !find(child)) {
			snprintf(path, sizeof path, "%.800s.%.200s", root, name);
			add(child, path);
		}
		PyErr_Clear();
		Py_DECREF(pair);
	}
	Py_XDECREF(iterator);
	PyErr_Clear();
}

static struct entry *meet(PyObject *module)
{
	char name[128], path[1024 + 128];
	struct entry *entry;

	dwell_python_text((PyObject *)Py_TYPE(module), "__name__", name, sizeof name);
	if (caller_path)
		snprintf(path, sizeof path, "%.1000s.%s", caller_path, name);
	else
		snprintf(path, sizeof path, "%s", name);
	entry = add(module, path);
	if (!entry)
		return NULL;
	entry->root = !caller_path;
	entry->has_parameters = any(module, "parameters");
	add_below(module, path);
	return find(module); /* the table may have moved */
}

/* ---- calls --------------------------------------------------------------------------------------- */

static struct entry *entry_of(PyObject *module)
{
	struct entry *entry = find(module);

	return entry ? entry : meet(module);
}

static void before(struct dwell_call *call)
{
	struct entry *entry = call->self ? entry_of(call->self) : NULL;

	call->flags = entry && entry->steps;
	if (call->flags)
		dwell_loop_module_step();
	if (depth++ == 0 && call->self)
		dwell_loop_forward(&outermost, call->self, !entry || !entry->root || entry->has_parameters);
	if (entry && !entry->id) /* it was met before a session began */
		entry->id = id_of(call->self, entry->path);
	call->place = (void *)(uintptr_t)caller_path;
	caller_path = entry ? entry->path : caller_path;
	call->began = entry ? dwell_begin_id(entry->id, DWELL_CATEGORY_LAYER) : DWELL_NOT_BEGUN;
}

static void after(struct dwell_call *call, PyObject *result)
{
	dwell_end_id(call->began);
	caller_path = call->place;
	if (--depth == 0 && call->self)
		dwell_loop_forward_end(&outermost);
	if (call->flags)
		dwell_loop_module_end();
}

void dwell_layers_attach(PyObject *torch)
{
	static const struct dwell_hook hook = { before, after };

	dwell_hook_path(torch, "nn.Module", "__call__", &hook);
}
