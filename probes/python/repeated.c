/*
 * Functions of libraries that a loop or a server calls again and again: the rows KNOWN_CALL() of known.def.
 *
 * A call is a range, and no step: the reader decides with hindsight whether these calls are the iterations of the run
 * (src/model/steps/periods.h), because a program that trains with PyTorch may have a pool of threads, too.
 */
#include "format/keys.h"
#include "python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread uint32_t dwp_repeated_parts __attribute__((tls_model("initial-exec")));
static __thread uint32_t open_tests __attribute__((tls_model("initial-exec")));
void (*dwp_repeated_on_test)(bool begins);

/* The name of the function that a pool's thread is to call, also where that is called in a context of contextvars. "": it has
 * none. */
static void repeated_name(const struct dwp_repeated *repeated, PyObject *object, char *name, size_t size)
{
	PyObject *called = PyObject_GetAttrString(object, repeated->by), *arguments = NULL, *inner = NULL;

	*name = '\0';
	if (called)
		dwp_python_text(called, "__qualname__", name, size);
	if (strcmp(name, "Context.run") == 0 && (arguments = PyObject_GetAttrString(object, "args")) &&
	    (inner = PySequence_GetItem(arguments, 0)))
		dwp_python_text(inner, "__qualname__", name, size);
	Py_XDECREF(inner);
	Py_XDECREF(arguments);
	Py_XDECREF(called);
	PyErr_Clear();
}

/* Whether the call has a range: a test that another test runs is a part of it. */
static bool repeated_begins(const struct dwp_repeated *repeated)
{
	dwp_repeated_parts += repeated->kind == DWP_PART;
	if (repeated->kind != DWP_TEST)
		return true;
	if (!open_tests++ && dwp_repeated_on_test)
		dwp_repeated_on_test(true);
	return open_tests == 1;
}

static void repeated_before(struct dwp_call *call)
{
	struct dwp_repeated *repeated = (struct dwp_repeated *)(void *)call->hook;
	char name[200] = "";

	if (!repeated_begins(repeated) || !dwell_wants(1u << DWELL_CATEGORY_ZONE))
		return;
	if (repeated->by && call->self)
		repeated_name(repeated, call->self, name, sizeof name);
	call->began = *name ? dwell_begin_id(dwell_intern(DWELL_CATEGORY_ZONE, name, repeated->site.detail), DWELL_CATEGORY_ZONE)
	                    : dwell_begin(&repeated->site);
}

static void repeated_after(struct dwp_call *call, PyObject *result)
{
	const struct dwp_repeated *repeated = (const struct dwp_repeated *)(const void *)call->hook;

	(void)result;
	dwp_repeated_parts -= repeated->kind == DWP_PART;
	if (repeated->kind == DWP_TEST && !--open_tests && dwp_repeated_on_test)
		dwp_repeated_on_test(false);
	dwell_end_id(call->began);
}

/* ---- requests ------------------------------------------------------------------------------ */

/* Handles of requests that no object stands for: no address is that high. */
#define FIRST_REQUEST ((uint64_t)1 << 61)

/* Of the thread's last call of a request's function, until the hook has its result; 0: it is no request that goes on. */
static __thread uint64_t request_now __attribute__((tls_model("initial-exec")));

static void repeated_before_request(struct dwp_call *call)
{
	static uint64_t last = FIRST_REQUEST;
	struct dwp_repeated *repeated = (struct dwp_repeated *)(void *)call->hook;

	if (!dwell_wants(1u << DWELL_CATEGORY_ZONE))
		return;
	call->place = (void *)(uintptr_t)__atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	dwell_async_begin(&repeated->site, (uintptr_t)call->place);
	call->began = dwell_begin(&repeated->turn);
}

static void repeated_after_request(struct dwp_call *call, PyObject *result)
{
	struct dwp_repeated *repeated = (struct dwp_repeated *)(void *)call->hook;

	dwell_end_id(call->began);
	request_now = call->place && dwp_response_lasts(result) ? (uintptr_t)call->place : 0;
	if (call->place && !request_now)
		dwell_async_end(&repeated->site, (uintptr_t)call->place);
}

static PyObject *repeated_follow_response(const struct dwp_hook *hook, PyObject *result)
{
	return request_now ? dwp_response_follow((struct dwp_repeated *)(uintptr_t)hook, request_now, result) : result;
}

/* A piece of the response of the request that the object stands for, unless it is empty: the body of a message of ASGI, or what the
 * object has as BY. */
static void repeated_before_chunk(struct dwp_call *call)
{
	const struct dwp_repeated *repeated = (const struct dwp_repeated *)(const void *)call->hook;
	PyObject *body = NULL;

	if (*repeated->by && call->self)
		body = PyObject_GetAttrString(call->self, repeated->by);
	else if (call->second && PyDict_Check(call->second))
		Py_XINCREF(body = PyDict_GetItemString(call->second, "body"));
	if (body && PyObject_Size(body) > 0)
		dwp_response_chunk((uintptr_t)call->self);
	Py_XDECREF(body);
	PyErr_Clear();
}

static void repeated_after_chunk(struct dwp_call *call, PyObject *result)
{
	(void)call, (void)result;
}

/* ---- coroutine functions ------------------------------------------------------------------ */

static void repeated_before_coroutine(struct dwp_call *call)
{
	const struct dwp_repeated *repeated = (const struct dwp_repeated *)(const void *)call->hook;

	request_now = repeated->kind == DWP_REQUEST_OF_OBJECT ? (uintptr_t)call->self : 0;
}

static void repeated_after_coroutine(struct dwp_call *call, PyObject *coroutine)
{
	(void)call, (void)coroutine;
}

static PyObject *repeated_follow(const struct dwp_hook *hook, PyObject *coroutine)
{
	return dwp_coroutine_follow((struct dwp_repeated *)(uintptr_t)hook, request_now, coroutine);
}

/* Whether a call of the function makes a coroutine. */
static bool repeated_is_coroutine(PyObject *module, const char *owner, const char *function)
{
	PyObject *class = *owner ? PyObject_GetAttrString(module, owner) : NULL;
	PyObject *called = class || !*owner ? PyObject_GetAttrString(class ? class : module, function) : NULL;
	PyObject *code = called ? PyObject_GetAttrString(called, "__code__") : NULL;
	PyObject *flags = code ? PyObject_GetAttrString(code, "co_flags") : NULL;
	bool is = flags && PyLong_AsLong(flags) & 0x80; /* CO_COROUTINE */

	Py_XDECREF(flags);
	Py_XDECREF(code);
	Py_XDECREF(called);
	Py_XDECREF(class);
	PyErr_Clear();
	return is;
}

/* ---- attaching ----------------------------------------------------------------------------- */

static bool repeated_is_request(const struct dwp_repeated *repeated)
{
	return repeated->kind == DWP_REQUEST || repeated->kind == DWP_REQUEST_OF_OBJECT;
}

static void repeated_prepare(struct dwp_repeated *repeated, const char *owner)
{
	snprintf(repeated->name, sizeof repeated->name, "%s%s%s", owner, *owner ? "." : "", repeated->function);
	repeated->site = (struct dwell_site){ .name = repeated->name, .category = DWELL_CATEGORY_ZONE,
		                                  .detail = repeated->kind == DWP_ITERATION ? DW_DETAIL_ITERATION
		                                            : repeated_is_request(repeated) ? DW_DETAIL_REQUEST
		                                                                            : DW_DETAIL_TASK };
	repeated->turn = (struct dwell_site){ .name = repeated->name, .category = DWELL_CATEGORY_ZONE, .detail = DW_DETAIL_TURN };
	repeated->hook = (struct dwp_hook){ .before = repeated_before, .after = repeated_after };
	if (repeated_is_request(repeated) && dwp_response_prepare())
		repeated->hook = (struct dwp_hook){ repeated_before_request, repeated_after_request, NULL, repeated_follow_response };
	if (repeated->kind == DWP_CHUNK)
		repeated->hook = (struct dwp_hook){ .before = repeated_before_chunk, .after = repeated_after_chunk };
}

void dwp_repeated_attach(struct dwp_repeated *repeated, PyObject *module)
{
	repeated_prepare(repeated, repeated->owner);
	if (repeated->kind != DWP_CHUNK && repeated_is_coroutine(module, repeated->owner, repeated->function) && dwp_coroutine_prepare())
		repeated->hook = (struct dwp_hook){ repeated_before_coroutine, repeated_after_coroutine, NULL, repeated_follow };
	dwp_hook_path(module, repeated->owner, repeated->function, &repeated->hook);
}

/* ---- scikit-learn's estimators ------------------------------------------------------------ */

/* Hooks a method that the class itself defines, if it is a plain function: scikit-learn has others that decide whether the object
 * has the method. */
static void repeated_hook_method(PyObject *class, const char *function)
{
	PyObject *names = PyObject_GetAttrString(class, "__dict__");
	PyObject *method = names ? PyMapping_GetItemString(names, function) : NULL;
	struct dwp_repeated *repeated = method && PyObject_HasAttrString(method, "__code__") ? calloc(1, sizeof *repeated) : NULL;
	char name[48];

	PyErr_Clear();
	if (repeated) {
		dwp_python_text(class, "__name__", name, sizeof name);
		*repeated = (struct dwp_repeated){ .function = function, .kind = DWP_ITERATION };
		repeated_prepare(repeated, name);
		dwp_hook_attribute(class, function, &repeated->hook); /* forever, as the class */
	}
	Py_XDECREF(method);
	Py_XDECREF(names);
}

static void repeated_before_class(struct dwp_call *call)
{
	(void)call;
}

/* A class of estimators has been defined. */
static void repeated_after_class(struct dwp_call *call, PyObject *result)
{
	if (!result || !call->self)
		return;
	repeated_hook_method(call->self, "fit");
	repeated_hook_method(call->self, "partial_fit");
}

void dwp_repeated_attach_estimators(PyObject *module)
{
	static const struct dwp_hook hook = { repeated_before_class, repeated_after_class, NULL };

	dwp_hook_path(module, "_MetadataRequester", "__init_subclass__", &hook);
}
