/*
 * dwell run --step-on NAME: finds the function, or PyTorch's module or optimizer, that makes a step.
 *
 * NAME is one of these:
 *   - a function ("train_step", "package.module.train_step", "Trainer.step"). With PyTorch its calls are
 *     the steps; without PyTorch a step lasts from each call to the next one.
 *   - the class of a module, or its path in the model. Its calls begin steps.
 *   - the class of an optimizer. Its step() ends steps.
 * It is known which of these applies when something of that name exists. A function exists only after
 * the script has run its definition. So the function is looked up at its first call in the main thread (step_on_first.c),
 * and at each call that PyTorch's loop.c or data.c hooks. It may be called by other threads, or while another profiler runs:
 * therefore a thread looks it up every few milliseconds, too. All functions need the interpreter's lock.
 */
#include "format/keys.h"
#include "python.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static char step_name[256]; /* NAME; "": not given */
static bool read_options;
static bool function_found; /* in the script, or in a module that is a part of NAME: the search ends */
static bool method_found;   /* in another module: the search goes on, because the script may still define one */
static bool seen;           /* the trace says already that NAME exists */
static bool stepped;        /* the trace says already that NAME made a step */

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

/* PyTorch's part in a call, which knows what belongs to a step. */
static const struct dwp_hook *framework;
static __thread struct {
	unsigned depth;    /* open calls: NAME may call itself */
	uint64_t returned; /* dwell_ticks() when the last call had returned; 0: none has */
} calls __attribute__((tls_model("initial-exec")));

void dwp_step_on_attach(const struct dwp_hook *hook)
{
	framework = hook;
}

static void step_on_before_call(struct dwp_call *call)
{
	call->flags = framework != NULL; /* PyTorch may be imported in the call */
	if (framework) {
		framework->before(call);
	} else if (calls.depth++ == 0) {
		dwp_step_on_seen(true);
		dwell_step();
	}
}

static void step_on_after_call(struct dwp_call *call, PyObject *result)
{
	if (call->flags)
		framework->after(call, result);
	else if (--calls.depth == 0)
		calls.returned = dwell_ticks();
}

static const struct dwp_hook function_hook = { step_on_before_call, step_on_after_call, NULL };

/* A member of a module or class, or NULL. A module's own __getattr__() is not called, because it may import something. */
static PyObject *step_on_member(PyObject *owner, const char *name)
{
	PyObject *member;

	if (!PyModule_Check(owner))
		return PyObject_GetAttrString(owner, name);
	member = PyDict_GetItemString(PyModule_GetDict(owner), name);
	Py_XINCREF(member);
	return member;
}

/* Whether a module is installed, and no part of the program. */
static bool step_on_is_installed(PyObject *module)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/", "/lib/python3", NULL };
	char file[1024];
	bool is;

	dwp_python_text(module, "__file__", file, sizeof file);
	is = !*file; /* built in */
	for (const char *const *folder = folders; *folder; folder++)
		is |= strstr(file, *folder) != NULL;
	return is;
}

/* Whether the module defines the function under NAME. In an installed module only a method counts, because many plain functions
 * there have the same name. */
static bool step_on_is_home(PyObject *module, PyObject *function)
{
	char name[256], home[256], known[256];

	dwp_python_text(module, "__name__", name, sizeof name);
	dwp_python_text(function, "__module__", home, sizeof home);
	dwp_python_text(function, "__qualname__", known, sizeof known);
	return strcmp(home, name) == 0 && strcmp(known, step_name) == 0 &&
	       (strchr(step_name, '.') || !step_on_is_installed(module));
}

/* Hooks the function at `path` ("Trainer.step") in a module, with `at_home` only if the module defines it. Returns whether
 * there is one. */
static bool step_on_hook_function(PyObject *module, const char *path, bool at_home)
{
	PyObject *owner = module, *next;
	bool is_function;
	char part[256];

	Py_INCREF(owner);
	for (const char *dot; owner && (dot = strchr(path, '.')) != NULL; path = dot + 1) {
		snprintf(part, sizeof part, "%.*s", (int)(dot - path), path);
		next = step_on_member(owner, part);
		Py_DECREF(owner);
		owner = next;
	}
	next = owner ? step_on_member(owner, path) : NULL;
	/* A call of a class creates an object and is not a step. Calls of modules are seen by layers.c. */
	is_function = next && PyCallable_Check(next) && !PyType_Check(next) && !PyObject_HasAttrString(next, "named_modules") &&
	              (!at_home || step_on_is_home(module, next));
	if (is_function)
		dwp_hook_attribute(owner, path, &function_hook);
	Py_XDECREF(next);
	Py_XDECREF(owner);
	PyErr_Clear();
	return is_function;
}

/* Looks in the module whose name begins NAME, and in the script. */
static bool step_on_look_up(PyObject *modules)
{
	PyObject *module;
	char name[256];

	for (const char *dot = step_name + strlen(step_name); dot > step_name; dot--) {
		snprintf(name, sizeof name, "%.*s", (int)(dot - step_name), step_name);
		if (*dot == '.' && (module = PyDict_GetItemString(modules, name)) && step_on_hook_function(module, dot + 1, false))
			return true;
	}
	return (module = PyDict_GetItemString(modules, "__main__")) && step_on_hook_function(module, step_name, false);
}

/* Looks in all modules, because reports name a function without its module. */
static bool step_on_look_everywhere(PyObject *modules)
{
	PyObject *all = PyDict_Copy(modules), *key, *module;
	Py_ssize_t at = 0;
	bool found = false;

	while (all && PyDict_Next(all, &at, &key, &module))
		found |= PyModule_Check(module) && step_on_hook_function(module, step_name, true);
	Py_XDECREF(all);
	PyErr_Clear();
	return found;
}

static void step_on_look(bool everywhere)
{
	PyObject *modules;

	if (function_found || !dwp_step_on_given() || !(modules = PyImport_GetModuleDict()))
		return;
	function_found = step_on_look_up(modules);
	if (function_found)
		dwp_step_on_seen(false);
	else if (everywhere && !seen)
		method_found |= step_on_look_everywhere(modules);
}

void dwp_step_on_look(void)
{
	step_on_look(false);
}

/* ---- looks without PyTorch ----------------------------------------------------------------- */

#define LOOK_NS 5000000L
#define EVERYWHERE 20u /* one of so many looks is in all modules, which takes longer; after 10 s one of ten times as many */

static struct {
	pthread_t thread;
	pid_t pid;  /* the process that has the thread; 0: none has */
	bool ended; /* the interpreter ends */
} looks;

/* A thread of its own: the program's main thread may wait for the one that calls the function. */
static void *step_on_keep_looking(void *context)
{
	const struct timespec pause = { 0, LOOK_NS };
	PyGILState_STATE state = PyGILState_Ensure();

	prctl(PR_SET_NAME, "dwell-step-on");
	for (unsigned number = 0; !looks.ended && !function_found && !seen; number++) {
		PyThreadState *mine;

		step_on_look(number % (number < 100 * EVERYWHERE ? EVERYWHERE : 10 * EVERYWHERE) == 0);
		mine = PyEval_SaveThread();
		nanosleep(&pause, NULL);
		PyEval_RestoreThread(mine);
	}
	PyGILState_Release(state);
	return context;
}

static PyObject *step_on_end(PyObject *self, PyObject *arguments)
{
	PyThreadState *mine;

	looks.ended = true;
	if (method_found)
		dwp_step_on_seen(false);
	dwp_step_on_could("");
	if (calls.returned && !framework)
		dwell_step_end_at(calls.returned); /* what follows the last call is no step */
	if (looks.pid == getpid()) { /* a child of fork() has no such thread */
		mine = PyEval_SaveThread();
		pthread_join(looks.thread, NULL);
		PyEval_RestoreThread(mine);
	}
	Py_RETURN_NONE;
}

static PyMethodDef end = { "dwp_step_on_end", step_on_end, METH_NOARGS, NULL };

/* A method of an installed module is the one unless the script still defines one of its name. */
static bool step_on_look_first(bool *ends)
{
	bool known = function_found || seen, method = method_found;

	if (!known)
		step_on_look(true);
	*ends = function_found || seen;
	return !known && (function_found || (method_found && !method));
}

void dwp_step_on_watch(void)
{
	sigset_t all, before;

	if (!dwp_step_on_given() || !dwp_python_at_exit(&end))
		return;
	dwp_first_watch(step_name, step_on_look_first, &function_hook);
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* the recorder handles faults in its file */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&looks.thread, NULL, step_on_keep_looking, NULL) == 0)
		looks.pid = getpid();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
