/*
 * dwell run --step-on NAME: what the user says makes a step.
 *
 * NAME is a function ("train_step", "package.module.train_step", "Trainer.step"), whose
 * calls are the steps; a module's class or path in the model, whose calls begin them; or
 * an optimizer's class, whose step() ends them. Which it is shows when it is seen. A
 * function is hooked where it is found: in the script itself it exists only once the
 * script has run so far, so that it is looked for again whenever a loop does something.
 * Under the interpreter's lock.
 */
#include "torch.h"

#include <stdlib.h>
#include <string.h>

static char name[256];
static bool read_options, found;
static uint32_t calls; /* open ones: a function may call itself */

bool dwell_step_on_given(void)
{
	const char *options, *value;

	if (!read_options) {
		options = getenv("DWELL_OPTIONS");
		value = options ? strstr(options, "step-on=") : NULL;
		read_options = true;
		if (value)
			snprintf(name, sizeof name, "%s", value + strlen("step-on="));
	}
	return *name;
}

bool dwell_step_on_is(const char *text)
{
	return dwell_step_on_given() && strcmp(text, name) == 0;
}

static void before(struct dwell_call *call)
{
	if (calls++ == 0)
		dwell_loop_begin_step();
}

static void after(struct dwell_call *call, PyObject *result)
{
	if (--calls == 0)
		dwell_loop_end_step();
}

/* Below `owner`, a new reference that is taken: "Trainer.step". */
static bool hook_below(PyObject *owner, const char *path)
{
	static const struct dwell_hook hook = { before, after };
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
	/* a class is a module's or an optimizer's */
	is_function = next && PyCallable_Check(next) && !PyType_Check(next) &&
	              !PyObject_HasAttrString(next, "named_modules");
	if (is_function)
		dwell_hook_attribute(owner, path, &hook);
	Py_XDECREF(next);
	Py_XDECREF(owner);
	PyErr_Clear();
	return is_function;
}

static PyObject *module_named(const char *text, size_t length)
{
	PyObject *key = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
	PyObject *module = key ? PyImport_GetModule(key) : NULL;

	Py_XDECREF(key);
	PyErr_Clear();
	return module;
}

void dwell_step_on_look(void)
{
	PyObject *module;

	if (found || !dwell_step_on_given())
		return;
	for (const char *dot = name + strlen(name); dot > name && !found; dot--)
		if (*dot == '.' && (module = module_named(name, (size_t)(dot - name))))
			found = hook_below(module, dot + 1);
	if (!found && (module = module_named("__main__", strlen("__main__"))))
		found = hook_below(module, name);
}
