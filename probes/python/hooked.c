/*
 * A callable in place of another, with C code before and after it.
 *
 * In a class or a module it behaves like the original when it is looked up, bound, pickled by name
 * or inspected: its attributes are the original's. A call costs two more C calls. Arguments, result
 * and exception pass through unchanged.
 */
#include "python.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>
#include <time.h>

#define HAVE_VECTORCALL (1ul << 11)
#define METHOD_DESCRIPTOR (1ul << 17)
#define ARGUMENTS(count) ((count) & ~((size_t)1 << (8 * sizeof(size_t) - 1)))

#define FIRST_TIMED 16u /* calls before the first that is timed: a model's first ones do more than later ones */
#define TIMED 32u
#define LEAST_NS UINT64_C(500)
#define MOST_TIMES 4u /* a call that takes more than so many means is not a usual one */

struct price {
	uint32_t calls; /* as long as they count */
	uint32_t ns;    /* the mean of those that were timed */
};

struct hooked {
	PyObject_HEAD
	dwp_vectorcall *call;
	PyObject *original;
	const struct dwp_hook *hook;
	bool same_name; /* the attribute's name is the original's __name__ */
	struct price prices[2]; /* while operators are not recorded; while they are */
};

static PyObject *type;

/* Replaces PyObject_Vectorcall(), which Python 3.9 and 3.10 do not export. */
__attribute__((noinline)) static PyObject *call_with_dict(PyObject *callable,
                                                          PyObject *const *arguments, size_t count,
                                                          PyObject *names)
{
	PyObject *by_name = names ? PyDict_New() : NULL, *result;
	size_t given = ARGUMENTS(count);

	for (Py_ssize_t i = 0; by_name && i < PyTuple_Size(names); i++)
		if (PyDict_SetItem(by_name, PyTuple_GetItem(names, i), arguments[given + (size_t)i]) < 0)
			Py_CLEAR(by_name);
	if (names && !by_name)
		return NULL;
	result = PyObject_VectorcallDict(callable, arguments, count, by_name);
	Py_XDECREF(by_name);
	return result;
}

struct dwp_hook_counts dwp_hook_counts;

static PyObject *hooked_call_original(const struct hooked *hooked, PyObject *const *arguments, size_t count,
                                      PyObject *names)
{
	return DWELL_LIKELY(PyObject_Vectorcall != NULL)
	           ? PyObject_Vectorcall(hooked->original, arguments, count, names)
	           : call_with_dict(hooked->original, arguments, count, names);
}

static uint64_t hooked_cpu_ns(void)
{
	struct timespec time = { 0, 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void hooked_learn_price(struct price *price, uint64_t took)
{
	uint64_t timed = price->calls - 1 - FIRST_TIMED;
	uint64_t most = timed ? MOST_TIMES * (price->ns + LEAST_NS) : UINT32_MAX;

	price->ns = (uint32_t)((timed * price->ns + (took < most ? took : most)) / (timed + 1));
}

/* Two readings in a row show what a reading takes here, where it finds little in the caches. */
static __attribute__((noinline)) PyObject *hooked_call_timed(struct hooked *hooked, struct price *price, struct dwp_call *call,
                                                             PyObject *const *arguments, size_t count, PyObject *names)
{
	uint64_t first = hooked_cpu_ns(), began = hooked_cpu_ns(), reading = began - first, took;
	PyObject *result;

	hooked->hook->before(call);
	took = hooked_cpu_ns() - began;
	result = hooked_call_original(hooked, arguments, count, names);
	began = hooked_cpu_ns();
	hooked->hook->after(call, result);
	took += hooked_cpu_ns() - began;
	hooked_learn_price(price, took > 2 * reading ? took - 2 * reading : 0);
	return result;
}

static PyObject *call_hooked(PyObject *callable, PyObject *const *arguments, size_t count,
                             PyObject *names)
{
	struct hooked *hooked = (struct hooked *)callable;
	size_t given = ARGUMENTS(count);
	struct dwp_call call;
	struct price *price;
	PyObject *result;

	if (hooked->hook->skips && hooked->hook->skips()) {
		dwp_hook_counts.passed++;
		return hooked_call_original(hooked, arguments, count, names);
	}
	call = (struct dwp_call){ .self = given > 0 ? arguments[0] : NULL,
		                      .second = given > 1 ? arguments[1] : NULL,
		                      .third = given > 2 ? arguments[2] : NULL,
		                      .named = names && PyTuple_Size(names) > 0 ? arguments[given] : NULL,
		                      .hook = hooked->hook };
	if (hooked->hook->foresees && hooked->hook->foresees(&call)) {
		dwp_hook_counts.passed++;
		result = hooked_call_original(hooked, arguments, count, names);
		hooked->hook->foreseen(&call, result);
		return result;
	}
	price = &hooked->prices[dwell_wants(1u << DWELL_CATEGORY_OPERATOR)];
	dwp_hook_counts.ns += price->ns;
	if (DWELL_UNLIKELY(price->calls < FIRST_TIMED + TIMED) && price->calls++ >= FIRST_TIMED) {
		result = hooked_call_timed(hooked, price, &call, arguments, count, names);
	} else {
		hooked->hook->before(&call);
		result = hooked_call_original(hooked, arguments, count, names);
		hooked->hook->after(&call, result);
	}
	return result && hooked->hook->replaces ? hooked->hook->replaces(hooked->hook, result) : result;
}

static PyObject *hooked_call_tuple(PyObject *callable, PyObject *arguments, PyObject *names)
{
	return PyVectorcall_Call(callable, arguments, names);
}

static PyObject *hooked_get_method(PyObject *callable, PyObject *object, PyObject *owner)
{
	if (object && object != Py_None)
		return PyMethod_New(callable, object);
	Py_INCREF(callable);
	return callable;
}

/* Whether an attribute is our own and not the original's: the attributes by which a callable is
 * called, bound and pickled. */
static bool hooked_is_own(PyObject *name)
{
	static const char *const own[] = { "__wrapped__", "__class__", "__call__", "__get__",
		                               "__reduce__", "__reduce_ex__" };

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (PyUnicode_CompareWithASCIIString(name, own[i]) == 0)
			return true;
	return false;
}

static PyObject *hooked_get_attribute(PyObject *callable, PyObject *name)
{
	return hooked_is_own(name) ? PyObject_GenericGetAttr(callable, name)
	                    : PyObject_GetAttr(((struct hooked *)callable)->original, name);
}

static int hooked_set_attribute(PyObject *callable, PyObject *name, PyObject *value)
{
	return PyObject_SetAttr(((struct hooked *)callable)->original, name, value);
}

static PyObject *hooked_repr(PyObject *callable)
{
	return PyObject_Repr(((struct hooked *)callable)->original);
}

/* __reduce__(): copy and pickle handle it like the original. If it has the original's name, it is
 * pickled by name. Otherwise that name leads to the original itself, and unpickling calls
 * copy.copy(original), which returns the original. */
static PyObject *hooked_reduce(PyObject *callable, PyObject *unused)
{
	const struct hooked *hooked = (const struct hooked *)callable;
	PyObject *copy, *result;

	if (hooked->same_name)
		return PyObject_GetAttrString(hooked->original, "__qualname__");
	copy = PyImport_ImportModule("copy");
	result = copy ? Py_BuildValue("N(O)", PyObject_GetAttrString(copy, "copy"), hooked->original)
	              : NULL;
	Py_XDECREF(copy);
	return result;
}

static PyMethodDef methods[] = { { "__reduce__", hooked_reduce, METH_NOARGS, NULL }, { 0 } };
static PyMemberDef members[] = {
	{ "__vectorcalloffset__", T_PYSSIZET, offsetof(struct hooked, call), READONLY, NULL },
	{ "__wrapped__", T_OBJECT, offsetof(struct hooked, original), READONLY, NULL },
	{ 0 },
};
static PyType_Slot slots[] = {
	{ Py_tp_new, (void *)dwp_python_refuse_new },
	{ Py_tp_call, hooked_call_tuple },         { Py_tp_descr_get, hooked_get_method },
	{ Py_tp_getattro, hooked_get_attribute },  { Py_tp_setattro, hooked_set_attribute },
	{ Py_tp_repr, hooked_repr },               { Py_tp_members, members },
	{ Py_tp_methods, methods },         { 0, NULL },
};
/*
 * The name of the type is that of Cython's functions, for torch.compile. A method that is not a
 * Python function is called there without its object, unless its type has this name: then it is
 * called as Python calls it. With another name, a compiled function that calls optimizer.step() or
 * zero_grad() fails.
 */
static PyType_Spec spec = { "dwell.cython_function_or_method", sizeof(struct hooked), 0,
	                        Py_TPFLAGS_DEFAULT | HAVE_VECTORCALL | METHOD_DESCRIPTOR, slots };

static PyObject *hooked_wrap(PyObject *original, const char *name, const struct dwp_hook *hook)
{
	struct hooked *hooked;
	char known[64];

	if (!type)
		type = PyType_FromSpec(&spec);
	hooked = type ? PyObject_New(struct hooked, (PyTypeObject *)type) : NULL;
	if (!hooked)
		return NULL;
	Py_INCREF(original);
	hooked->call = call_hooked;
	hooked->original = original;
	hooked->hook = hook;
	memset(hooked->prices, 0, sizeof hooked->prices);
	dwp_python_text(original, "__name__", known, sizeof known);
	hooked->same_name = strcmp(known, name) == 0;
	return (PyObject *)hooked;
}

/* Also replaces a function in the module that defined it (torch.save is torch.serialization.save),
 * because pickle looks it up there. */
static void hooked_replace_at_home(PyObject *original, PyObject *hooked, const char *name)
{
	PyObject *home = PyObject_GetAttrString(original, "__module__");
	PyObject *module = home ? PyImport_GetModule(home) : NULL;
	PyObject *there = module ? PyObject_GetAttrString(module, name) : NULL;

	if (there == original)
		PyObject_SetAttrString(module, name, hooked);
	Py_XDECREF(there);
	Py_XDECREF(module);
	Py_XDECREF(home);
	PyErr_Clear();
}

/* The function of a class method of this class itself. NULL: it is no class method. */
static PyObject *hooked_class_method(PyObject *owner, const char *name)
{
	PyObject *names = PyType_Check(owner) ? PyObject_GetAttrString(owner, "__dict__") : NULL;
	PyObject *method = names ? PyMapping_GetItemString(names, name) : NULL, *function = NULL;

	if (method && PyObject_TypeCheck(method, &PyClassMethod_Type))
		function = PyObject_GetAttrString(method, "__func__");
	Py_XDECREF(method);
	Py_XDECREF(names);
	PyErr_Clear();
	return function;
}

void dwp_hook_attribute(PyObject *owner, const char *name, const struct dwp_hook *hook)
{
	PyObject *function = hooked_class_method(owner, name), *hooked = NULL, *method = NULL;
	PyObject *original = function ? function : PyObject_GetAttrString(owner, name);

	if (original && !(type && Py_TYPE(original) == (PyTypeObject *)type))
		hooked = hooked_wrap(original, name, hook);
	if (hooked && function)
		method = PyClassMethod_New(hooked);
	if (hooked && PyObject_SetAttrString(owner, name, method ? method : hooked) == 0 && !function)
		hooked_replace_at_home(original, hooked, name);
	Py_XDECREF(method);
	Py_XDECREF(hooked);
	Py_XDECREF(original);
	PyErr_Clear();
}

void dwp_hook_path(PyObject *module, const char *path, const char *name,
                     const struct dwp_hook *hook)
{
	char part[64];
	PyObject *owner = module;

	Py_INCREF(owner);
	while (owner && *path) {
		size_t length = strcspn(path, ".");
		PyObject *next;

		snprintf(part, sizeof part, "%.*s", (int)length, path);
		path += length + (path[length] == '.');
		next = PyObject_GetAttrString(owner, part);
		Py_DECREF(owner);
		owner = next;
	}
	if (owner)
		dwp_hook_attribute(owner, name, hook);
	Py_XDECREF(owner);
	PyErr_Clear();
}
