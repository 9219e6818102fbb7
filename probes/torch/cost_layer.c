/*
 * Measures what a recorded layer of Python costs: torch.hook_ns. As in cost.c, the difference of calls
 * with an empty hook and without. Needs the interpreter's lock.
 */
#include "cost.h"
#include "format/keys.h"
#include "torch.h"

#define CALLS 100 /* as in the lines below */
#define HOOKED_MORE 1.3 /* what hooks displace from the caches costs the program besides the time in them */

static void cost_before(struct dwp_call *call)
{
	call->began = DWELL_NOT_BEGUN;
}

static void cost_after(struct dwp_call *call, PyObject *result)
{
}

static const char calls[] = "class Callee:\n"
                            " def __call__(self, x): return x\n"
                            "callee = Callee()\n"
                            "def work():\n"
                            " for i in range(100): callee(i)\n";

static uint64_t cost_of_hooks(void)
{
	return (uint64_t)dwp_hook_counts.ns;
}

static uint64_t cost_count_passed(void)
{
	return dwp_hook_counts.passed;
}

/* For dwp_cost_time_of(). */
static bool cost_call(void *function)
{
	PyObject *result = PyObject_CallObject(function, NULL);

	Py_XDECREF(result);
	PyErr_Clear();
	return result != NULL;
}

static void cost_measure_hook(PyObject *torch, double range)
{
	static const struct dwp_hook hook = { cost_before, cost_after };
	PyObject *names = dwp_python_names("torch", torch), *work = NULL, *callee = NULL; /* borrowed */
	double without = 1e9, with = 1e9, hook_ns = 0;

	if (names && dwp_python_run(names, calls)) {
		work = PyDict_GetItemString(names, "work");
		callee = PyDict_GetItemString(names, "Callee");
	}
	for (int round = 0; work && round < 2 * DWP_COST_ROUNDS; round++)
		without = dwp_cost_time_of(cost_call, work, without);
	if (callee)
		dwp_hook_attribute(callee, "__call__", &hook);
	for (int round = 0; work && round < 2 * DWP_COST_ROUNDS; round++)
		with = dwp_cost_time_of(cost_call, work, with);
	if (with < 1e9 && without < 1e9)
		hook_ns = dwp_cost_report(DW_KEY_TORCH_HOOK_NS, (with > without ? with - without : 0) / CALLS + range,
		            1.5 * range, 4 * range);
	dwp_bound_count_fixed(cost_of_hooks, HOOKED_MORE);
	dwp_bound_count_fixed(cost_count_passed, hook_ns / 4);
	Py_XDECREF(names);
	PyErr_Clear();
}

/* Does nothing if functions are recorded: the calls here would be recorded too, which makes them
 * slower than calls of the program are. */
void dwp_cost_measure(PyObject *torch)
{
	if (dwell_wants(1u << DWELL_CATEGORY_FUNCTION) || !dwell_gate)
		return;
	dwp_cost_of_operators();
	cost_measure_hook(torch, dwp_cost_of_range_ns());
}
