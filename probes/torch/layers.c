/*
 * Calls of nn.Module, by their path in the model: "ResNet.layer1.0.conv1".
 *
 * nn.Module.__call__ is hooked. A module that is called for the first time, and not within another
 * module, is the root of a model; the modules in its named_modules() get their paths. A module that
 * was added later gets the path of the module that called it, and the name of its class. A module in
 * several others has several paths; a call uses the path below its caller. The table finds modules
 * by address. An entry ends with its module (a weak reference removes it). Needs the interpreter's
 * lock.
 */
#include "brief.h"

#include <stdlib.h>
#include <string.h>

/* A path of a module. A module in several others has several. */
struct way {
	struct way *next;
	uint32_t id;         /* 0: none yet; it is set at a call while a session is running */
	char path[];
};

struct entry {
	const void *module;  /* NULL: free; the table's own address: removed */
	PyObject *reference; /* weak; removes the entry when the module is freed */
	struct way *ways;    /* in the order of named_modules() */
	bool root, has_parameters;
	bool steps;          /* --step-on names it: its calls begin steps */
};

static struct {
	struct entry *entries;
	size_t used, size; /* a power of two */
} table;

#define REMOVED ((const void *)&table)

/* The open calls of modules in this thread. */
static __thread uint32_t depth __attribute__((tls_model("initial-exec")));
static __thread unsigned outermost __attribute__((tls_model("initial-exec")));
static __thread const char *caller_path __attribute__((tls_model("initial-exec")));

/* ---- the table -------------------------------------------------------------------------- */

static struct entry *layers_place(struct entry *entries, size_t size, const void *module)
{
	size_t at = ((uintptr_t)module >> 4) * 0x9e3779b97f4a7c15u >> 20;

	for (at &= size - 1; entries[at].module && entries[at].module != module;)
		at = (at + 1) & (size - 1);
	return &entries[at];
}

/* Rebuilds the table without removed entries, twice as large if the others need it. */
static bool layers_renew(void)
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
			*layers_place(entries, size, table.entries[i].module) = table.entries[i];
			table.used++;
		}
	free(table.entries);
	table.entries = entries;
	table.size = size;
	return true;
}

static struct entry *layers_find(const void *module)
{
	struct entry *entry = table.size ? layers_place(table.entries, table.size, module) : NULL;

	return entry && entry->module ? entry : NULL;
}

static void layers_free_ways(struct way *way)
{
	while (way) {
		struct way *next = way->next;

		free(way);
		way = next;
	}
}

static PyObject *layers_forget(PyObject *self, PyObject *reference)
{
	struct entry *entry = layers_find(PyLong_AsVoidPtr(self));

	if (entry && entry->reference == reference) {
		Py_DECREF(entry->reference);
		layers_free_ways(entry->ways);
		*entry = (struct entry){ .module = REMOVED };
	}
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyMethodDef forgetter = { "dwp_forget", layers_forget, METH_O, NULL };

static struct way *layers_new_way(PyObject *module, const char *path, bool first)
{
	size_t bytes = strlen(path) + 1;
	struct way *way = calloc(1, sizeof *way + bytes);

	if (way) {
		memcpy(way->path, path, bytes);
		way->id = dwp_layer_id(module, path, first);
	}
	return way;
}

/* Adds a path to a module that has an entry. */
static void layers_add_way(struct entry *entry, PyObject *module, const char *path)
{
	struct way **last = &entry->ways;

	for (; *last; last = &(*last)->next)
		if (strcmp((*last)->path, path) == 0)
			return;
	*last = layers_new_way(module, path, false);
}

static bool layers_begins_steps(PyObject *module, const char *path)
{
	char name[128];

	if (!dwp_step_on_given())
		return false;
	dwp_python_text((PyObject *)Py_TYPE(module), "__name__", name, sizeof name);
	return dwp_step_on_is(path) || dwp_step_on_is(name);
}

static struct entry *layers_add(PyObject *module, const char *path)
{
	struct entry entry = { .module = module, .ways = layers_new_way(module, path, true) }, *to = NULL;
	PyObject *key = PyLong_FromVoidPtr(module);
	PyObject *function = key ? PyCFunction_New(&forgetter, key) : NULL;

	entry.reference = function ? PyWeakref_NewRef(module, function) : NULL;
	if (entry.ways && entry.reference && ((table.used + 1) * 2 <= table.size || layers_renew())) {
		entry.steps = layers_begins_steps(module, path);
		to = layers_place(table.entries, table.size, module);
		*to = entry;
		table.used++;
	} else {
		Py_XDECREF(entry.reference);
		layers_free_ways(entry.ways);
	}
	Py_XDECREF(function);
	Py_XDECREF(key);
	PyErr_Clear();
	return to;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static bool layers_any(PyObject *object, const char *method)
{
	PyObject *iterator = PyObject_CallMethod(object, method, NULL);
	PyObject *first = iterator ? PyIter_Next(iterator) : NULL;
	bool found = first != NULL;

	Py_XDECREF(first);
	Py_XDECREF(iterator);
	PyErr_Clear();
	return found;
}

/* An iterator over all modules in a module, with each of their paths. */
static PyObject *layers_modules_below(PyObject *module)
{
	PyObject *method = PyObject_GetAttrString(module, "named_modules");
	PyObject *none = PyTuple_New(0), *all = Py_BuildValue("{s:O}", "remove_duplicate", Py_False);
	PyObject *iterator = method && none && all ? PyObject_Call(method, none, all) : NULL;

	if (!iterator && method && none) { /* a named_modules() of the program, without that argument */
		PyErr_Clear();
		iterator = PyObject_CallObject(method, none);
	}
	Py_XDECREF(all);
	Py_XDECREF(none);
	Py_XDECREF(method);
	return iterator;
}

#define MOST_PATH 2048     /* the recorder shortens longer texts */
#define MOST_BELOW 1000000 /* a module that contains itself has paths without end */

static void layers_add_below(PyObject *module, const char *root)
{
	PyObject *iterator = layers_modules_below(module), *pair;
	char path[MOST_PATH];

	for (int i = 0; i < MOST_BELOW && iterator && (pair = PyIter_Next(iterator)) != NULL; i++) {
		struct entry *known;
		const char *name;
		PyObject *child;

		if (PyArg_ParseTuple(pair, "sO", &name, &child) && child != module &&
		    snprintf(path, sizeof path, "%s.%s", root, name) < MOST_PATH) {
			known = layers_find(child);
			if (known)
				layers_add_way(known, child, path);
			else
				layers_add(child, path);
		}
		PyErr_Clear();
		Py_DECREF(pair);
	}
	Py_XDECREF(iterator);
	PyErr_Clear();
}

static bool layers_is_root(const char *name)
{
	for (size_t i = 0; i < table.size; i++)
		if (table.entries[i].root && strcmp(table.entries[i].ways->path, name) == 0)
			return true;
	return false;
}

/* Names a root. A second model of a class becomes "Net#2". */
static void layers_name_root(const char *name, char *path, size_t room)
{
	snprintf(path, room, "%s", name);
	for (unsigned number = 2; layers_is_root(path); number++)
		snprintf(path, room, "%s#%u", name, number);
}

static struct entry *layers_enter_way(PyObject *module)
{
	char name[128], path[MOST_PATH];
	struct entry *entry;

	dwp_python_text((PyObject *)Py_TYPE(module), "__name__", name, sizeof name);
	if (caller_path)
		snprintf(path, sizeof path, "%.1700s.%s", caller_path, name);
	else
		layers_name_root(name, path, sizeof path);
	entry = layers_add(module, path);
	if (!entry)
		return NULL;
	entry->root = !caller_path;
	if (entry->root)
		dwp_step_on_could(path);
	entry->has_parameters = layers_any(module, "parameters");
	layers_add_below(module, path);
	return layers_find(module); /* the table may have been rebuilt */
}

/* ---- calls --------------------------------------------------------------------------------------- */

static struct entry *layers_entry_of(PyObject *module)
{
	struct entry *entry = layers_find(module);

	return entry ? entry : layers_enter_way(module);
}

/* The path below the caller, or the module's first path. */
static struct way *layers_way_of(const struct entry *entry)
{
	size_t length = caller_path ? strlen(caller_path) : 0;

	for (struct way *way = entry->ways->next ? entry->ways : NULL; way; way = way->next)
		if (length && strncmp(way->path, caller_path, length) == 0 && way->path[length] == '.')
			return way;
	return entry->ways;
}

static void layers_before(struct dwp_call *call)
{
	struct entry *entry = call->self ? layers_entry_of(call->self) : NULL;
	struct way *way = entry ? layers_way_of(entry) : NULL;

	call->flags = entry && entry->steps;
	if (call->flags)
		dwp_loop_module(true);
	if (depth == 0 && (call->second || call->named))
		dwp_padding_input(call->second ? call->second : call->named);
	if (depth++ == 0 && call->self)
		outermost = dwp_loop_forward(call->self, call->second, !entry || !entry->root || entry->has_parameters);
	if (way && !way->id)
		way->id = dwp_layer_id(call->self, way->path, way == entry->ways);
	call->place = (void *)(uintptr_t)caller_path;
	caller_path = way ? way->path : caller_path;
	call->began = way ? dwell_begin_id(way->id, DWELL_CATEGORY_LAYER) : DWELL_NOT_BEGUN;
}

static void layers_after(struct dwp_call *call, PyObject *result)
{
	dwell_end_id(call->began);
	caller_path = call->place;
	if (--depth == 0 && call->self)
		dwp_loop_forward_end(outermost, result);
	if (call->flags)
		dwp_loop_module(false);
}

/* A call within another module matters only to its layer. Its module may be named later. */
static bool layers_skips(void)
{
	return (dwp_brief_is_inside() || (depth && !dwp_step_on_given())) && !dwell_wants(1u << DWELL_CATEGORY_LAYER);
}

static void layers_reenter(unsigned began)
{
	depth = 1;
	outermost = began;
}

static void layers_each(void (*visit)(PyObject *module, const char *path, void *context), void *context)
{
	for (size_t i = 0; i < table.size; i++) {
		const struct entry *entry = &table.entries[i];
		PyObject *module = entry->module && entry->module != REMOVED ? PyWeakref_GetObject(entry->reference) : NULL; /* borrowed */

		if (!module || module == Py_None)
			continue;
		Py_INCREF(module);
		visit(module, entry->ways->path, context);
		Py_DECREF(module);
	}
	PyErr_Clear();
}

void dwp_layers_attach(PyObject *torch)
{
	static const struct dwp_hook hook = { layers_before, layers_after, layers_skips, .foresees = dwp_brief_foresees,
		                                  .foreseen = dwp_brief_foreseen };

	dwp_brief_of_modules(&hook, layers_reenter);
	dwp_hook_path(torch, "nn.Module", "__call__", &hook);
	dwp_gradients_attach(layers_each);
}

/* ---- for the Python package --------------------------------------------------------------------- */

/* Returns a list of the paths by which a module's calls are recorded. With `name`, the module is a
 * model: it gets its path now if it was not called yet, and modules that were added to it since get
 * theirs. */
DWELL_API PyObject *dwp_python_layer_paths(PyObject *module, int name);

PyObject *dwp_python_layer_paths(PyObject *module, int name)
{
	struct entry *entry = name ? layers_entry_of(module) : layers_find(module);
	PyObject *paths = PyList_New(0);

	if (name && entry) {
		layers_add_below(module, entry->ways->path);
		entry = layers_find(module);
	}
	for (struct way *way = entry ? entry->ways : NULL; way && paths; way = way->next) {
		PyObject *path = PyUnicode_FromString(way->path);

		if (path)
			PyList_Append(paths, path);
		Py_XDECREF(path);
	}
	PyErr_Clear();
	return paths;
}
