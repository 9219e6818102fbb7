/*
 * Names of Python's threads: threading.Thread(name=...), which the kernel does not know before Python 3.14.
 *
 * The method that each new thread runs first is hooked; the call is in that thread, and its first argument is the Thread.
 */
#include "python.h"

static void threads_before(struct dwp_call *call)
{
	char name[128];

	if (!call->self)
		return;
	dwp_python_text(call->self, "name", name, sizeof name);
	if (*name)
		dwell_thread_name(name);
}

static void threads_after(struct dwp_call *call, PyObject *result)
{
	(void)call, (void)result;
}

void dwp_threads_attach(PyObject *module)
{
	static const struct dwp_hook hook = { threads_before, threads_after, NULL };

	dwp_hook_path(module, "Thread", "_bootstrap_inner", &hook);
}
