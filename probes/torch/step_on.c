/*
 * dwell run --step-on NAME: finds the function, module or optimizer that makes a step.
 *
 * NAME is a function ("train_step", "package.module.train_step", "Trainer.step"), and its calls are
 * the steps. Or it is the class of a module or its path in the model, and its calls begin steps. Or
 * it is the class of an optimizer, and its step() ends them. Which of these applies is known when
 * something of that name exists. A function of the script exists only after the script has run its
 * definition, so it is looked up again at each call that loop.c or data.c hooks. Needs the
 * interpreter's lock.
 */
#include "format/keys.h"
#include "torch.h"

#include <stdlib.h>
#include <string.h>

static char step_name[256]; /* NAME; "": not given */
static bool read_options;
static bool function_found;
static const struct dwp_hook *function_hook;
static bool seen, stepped;  /* the trace says already that it exists, that it made a step */

bool dwp_step_on_given(void)
{
	const char *options, *value;

	if (!read_options) {
		options = getenv("DWELL_OPTIONS");
		value = options ? strstr(options, "step-on=") : NULL;
		read_options = true;
		if (value)
			snprintf(step_name, sizeof step_name, "%s", value + strlen("step-on="));
	}
	return *step_name;
}

bool dwp_step_on_is(const char *text)
{
	bool is = dwp_step_on_given() && strcmp(text, step_name) == 0;

	if (is)
		dwp_step_on_seen(false);
	return is;
}

/* ---- names to suggest to a user who mistyped --------------------------------------------- */

#define MOST_CANDIDATES 12u

static char candidates[768];
static uint32_t candidate_count;

static bool step_on_is_candidate(const char *text)
{
	size_t length = strlen(text);

	for (const char *at = candidates; (at = strstr(at, text)) != NULL; at += length)
		if ((at == candidates || at[-1] == ' ') && (at[length] == ',' || !at[length]))
			return true;
	return false;
}

static void step_on_add_candidate(const char *text)
{
	size_t used = strlen(candidates);

	if (!*text || *text == '_' || candidate_count >= MOST_CANDIDATES || step_on_is_candidate(text) ||
	    used + strlen(text) + 3 > sizeof candidates)
		return;
	snprintf(candidates + used, sizeof candidates - used, "%s%s", used ? ", " : "", text);
	candidate_count++;
}

/* Adds the functions of the script. Most of them exist when a model or an optimizer exists. */
static void step_on_add_script_functions(void)
{
	PyObject *script = PyImport_AddModule("__main__"), *key, *value; /* borrowed */
	PyObject *names = script ? PyModule_GetDict(script) : NULL;
	Py_ssize_t at = 0;
	char text[256];

	while (names && PyDict_Next(names, &at, &key, &value)) {
		dwp_python_text(value, "__module__", text, sizeof text);
		if (!PyObject_HasAttrString(value, "__code__") || strcmp(text, "__main__") != 0)
			continue;
		dwp_python_text(value, "__name__", text, sizeof text);
		step_on_add_candidate(text);
	}
	PyErr_Clear();
}

void dwp_step_on_could(const char *text)
{
	uint32_t before = candidate_count;

	if (!dwp_step_on_given() || seen || candidate_count >= MOST_CANDIDATES)
		return;
	step_on_add_candidate(text);
	step_on_add_script_functions();
	if (candidate_count > before)
		dwell_meta(DW_KEY_TORCH_STEP_ON_CANDIDATES, candidates);
}

void dwp_step_on_seen(bool called)
{
	if (!seen || (called && !stepped))
		dwell_meta(DW_KEY_TORCH_STEP_ON, called ? "steps" : "there");
	seen = true;
	stepped |= called;
}

/* ---- the function --------------------------------------------------------------------- */

void dwp_step_on_attach(const struct dwp_hook *hook)
{
	function_hook = hook;
}

/* Hooks the function at `path` in `owner` ("Trainer.step"). Returns false if there is none. Takes
 * over the reference to `owner`. */
static bool step_on_hook_function(PyObject *owner, const char *path)
{
	const char *last = strrchr(path, '.');
	PyObject *next = owner;
	char part[256];
	bool is_function;

	while (last && next && path <= last) {
		PyObject *from = next;
		size_t length = strcspn(path, ".");

		snprintf(part, sizeof part, "%.*s", (int)length, path);
		next = PyObject_GetAttrString(from, part);
		Py_DECREF(from);
		path += length + 1;
	}
	owner = next;
	next = owner ? PyObject_GetAttrString(owner, path) : NULL;
	/* A call of a class creates an object and is not a step. Calls of modules are seen by layers.c. */
	is_function = next && PyCallable_Check(next) && !PyType_Check(next) &&
	              !PyObject_HasAttrString(next, "named_modules");
	if (is_function)
		dwp_hook_attribute(owner, path, function_hook);
	Py_XDECREF(next);
	Py_XDECREF(owner);
	PyErr_Clear();
	return is_function;
}

static PyObject *step_on_find_module(const char *text, size_t length)
{
	PyObject *key = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
	PyObject *module = key ? PyImport_GetModule(key) : NULL;

	Py_XDECREF(key);
	PyErr_Clear();
	return module;
}

void dwp_step_on_look(void)
{
	PyObject *module;

	if (function_found || !function_hook || !dwp_step_on_given())
		return;
	for (const char *dot = step_name + strlen(step_name); dot > step_name && !function_found; dot--)
		if (*dot == '.' && (module = step_on_find_module(step_name, (size_t)(dot - step_name))))
			function_found = step_on_hook_function(module, dot + 1);
	if (!function_found && (module = step_on_find_module("__main__", strlen("__main__"))))
		function_found = step_on_hook_function(module, step_name);
	if (function_found)
		dwp_step_on_seen(false);
}
