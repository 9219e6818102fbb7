/*
 * Calls of functions that JAX has compiled, by the names that JAX gives them in its own profiles: "PjitFunction(update)".
 *
 * JAX makes an object of its own type for each such function, and a call goes directly to the C function that the object names
 * for calls (PEP 590). That is replaced in the object by one that has a range around it. Nothing else changes: neither the
 * object, nor its type, nor how Python looks it up. Functions of JAX itself are left out, because each operation on an
 * array outside a compiled function is a call of one.
 */
#include "python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PyAPI_FUNC(dwp_vectorcall *) PyVectorcall_Function(PyObject *callable) __attribute__((weak)); /* no function in 3.9 */

/* A compiled function. Never freed: its place has the next function whose object is at the address. */
struct jitted {
	PyObject *object; /* NULL: the place is free. Borrowed, and maybe another object by now */
	struct dwell_site site;
};

/* By address; a power of 2, at most half full. Guarded by the interpreter's lock. */
static struct {
	struct jitted *places;
	size_t size, count;
} jitted;
static dwp_vectorcall *plain; /* what JAX calls; NULL: not known yet */

static struct jitted *jax_place(PyObject *object)
{
	size_t at = (size_t)((uintptr_t)object >> 4) * 0x9e3779b1u;

	while (jitted.places[at & (jitted.size - 1)].object && jitted.places[at & (jitted.size - 1)].object != object)
		at++;
	return &jitted.places[at & (jitted.size - 1)];
}

/* False: out of memory. */
static bool jax_grow(void)
{
	struct jitted *old = jitted.places;
	size_t size = jitted.size;

	if (2 * (jitted.count + 1) <= size)
		return true;
	jitted.places = calloc(size ? 2 * size : 64, sizeof *jitted.places);
	if (!jitted.places) {
		jitted.places = old;
		return false;
	}
	jitted.size = size ? 2 * size : 64;
	for (size_t i = 0; i < size; i++)
		if (old[i].object)
			*jax_place(old[i].object) = old[i];
	free(old);
	return true;
}

static PyObject *jax_call(PyObject *callable, PyObject *const *arguments, size_t count, PyObject *names)
{
	struct jitted *place = jax_place(callable);
	unsigned began = place->object == callable ? dwell_begin(&place->site) : DWELL_NOT_BEGUN;
	PyObject *result = plain(callable, arguments, count, names);

	dwell_end_id(began);
	return result;
}

/* The size of the object in words, as its type says. 0: not known. */
static size_t jax_words(PyObject *object)
{
	PyObject *bytes = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__basicsize__");
	Py_ssize_t size = bytes ? PyLong_AsSsize_t(bytes) : 0;

	Py_XDECREF(bytes);
	PyErr_Clear();
	return size > 0 ? (size_t)size / sizeof(void *) : 0;
}

/* Where the object has the C function. NULL: not found. */
static dwp_vectorcall **jax_slot(PyObject *object)
{
	dwp_vectorcall *called = PyVectorcall_Function ? PyVectorcall_Function(object) : NULL;
	dwp_vectorcall **words = (dwp_vectorcall **)object;
	size_t count = called ? jax_words(object) : 0;

	for (size_t i = sizeof(PyObject) / sizeof *words; i < count; i++)
		if (words[i] == called)
			return &words[i];
	return NULL;
}

/* Whether the function is JAX's own. */
static bool jax_is_own(PyObject *function)
{
	char module[64] = "";

	if (function && function != Py_None)
		dwp_python_text(function, "__module__", module, sizeof module);
	return strcmp(module, "jax") == 0 || strncmp(module, "jax.", 4) == 0;
}

static void jax_watch(PyObject *object, const char *name)
{
	dwp_vectorcall **slot = jax_slot(object);
	struct jitted *place;
	char *text;

	if (!slot || (plain && *slot != plain) || !jax_grow() || asprintf(&text, "PjitFunction(%s)", name) < 0)
		return;
	plain = *slot;
	place = jax_place(object);
	jitted.count += !place->object;
	*place = (struct jitted){ object, { .name = text, .category = DWELL_CATEGORY_OPERATOR } };
	*slot = jax_call;
}

static void jax_before(struct dwp_call *call)
{
	(void)call;
}

/* _jax.pjit(name, function, ...) has made an object. */
static void jax_after(struct dwp_call *call, PyObject *object)
{
	const char *name = object && call->self && PyUnicode_Check(call->self) ? PyUnicode_AsUTF8AndSize(call->self, NULL) : NULL;

	if (name && !jax_is_own(call->second))
		jax_watch(object, name);
	if (object)
		PyErr_Clear();
}

void dwp_jax_attach(PyObject *module)
{
	static const struct dwp_hook hook = { jax_before, jax_after, NULL };

	dwp_hook_path(module, "_jax", "pjit", &hook);
	dwp_hook_path(module, "xc._xla", "pjit", &hook); /* before 0.7 */
}
