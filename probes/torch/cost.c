/*
 * Measures what a recorded operator and a recorded layer cost: torch.callback_ns, torch.hook_ns.
 *
 * This is done once at attach, in about a millisecond, before any callback is registered in PyTorch.
 * A range alone costs what `dwell run` measured (dwell.cost_range_ns). To this comes the time that
 * PyTorch needs to call the probe: RecordFunction, and for the nodes of a backward their names,
 * which PyTorch makes only for callbacks. So a few operators with their backward run with empty
 * callbacks and without. An empty hook around a call in Python is measured in the same way. Nothing
 * is recorded meanwhile. Both figures are for a whole operator and a whole layer, with its range.
 *
 * The work of a program displaces the code of dwell and PyTorch from the processor's caches; the
 * loop here does not. Therefore the measured time is multiplied by COLD. bench/torch_stated.py
 * compares the result with a measurement of a real program; they must agree within a factor of two.
 *
 * Needs the interpreter's lock.
 */
#include "format/keys.h"
#include "torch.h"

#include <time.h>

#define ROUNDS 8
#define CALLS 100
#define COLD 2.2

static struct {
	unsigned operators;  /* number of callbacks so far */
	const void *watcher; /* `here` of the thread whose callbacks count */
} count;

static __thread char here;

TORCH_START(on_count, cost_count_operator)

static void cost_count_operator(const char *function)
{
	if (count.watcher == &here)
		count.operators++;
}

static void cost_on_end(const char *function, void *context)
{
}

static double cost_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Returns the shorter one of `fastest` and the time of a call. The fastest of several calls is used,
 * because disturbances only make a call slower. */
static double cost_time_of(PyObject *function, double fastest)
{
	double start = cost_now_ns();
	PyObject *result = PyObject_CallObject(function, NULL);
	double took = cost_now_ns() - start;

	Py_XDECREF(result);
	PyErr_Clear();
	return result && took < fastest ? took : fastest;
}

/* The time to write a range: two readings of the clock and three words. */
static double cost_of_range_ns(void)
{
	uint32_t words[2 * CALLS + CALLS];
	double fastest = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t last = dwell_ticks();
		double start = cost_now_ns();

		for (int i = 0; i < CALLS; i++) {
			uint64_t begin = dwell_ticks(), end;

			words[i * 3 + 1] = (uint32_t)i;
			__atomic_store_n(&words[i * 3], (uint32_t)(begin - last), __ATOMIC_RELEASE);
			end = dwell_ticks();
			__atomic_store_n(&words[i * 3 + 2], (uint32_t)(end - begin), __ATOMIC_RELEASE);
			last = end;
		}
		start = cost_now_ns() - start;
		fastest = start < fastest ? start : fastest;
	}
	return fastest / CALLS;
}

/* Stores a figure in the trace. It is limited to bounds, which are multiples of the cost of a range:
 * on a busy machine the difference of two times can have any value. */
static void cost_report(const char *key, double ns, double least, double most)
{
	char text[32];

	ns *= COLD;
	snprintf(text, sizeof text, "%.1f", ns < least ? least : ns > most ? most : ns);
	dwell_meta_json(key, text);
}

static const char operators[] =
    "t = torch.ones(3, device='cpu', requires_grad=True)\n"
    "def work():\n"
    " with torch.inference_mode(False), torch.enable_grad():\n"
    "  for i in range(2): torch.autograd.grad((t.exp() * t).sum(), t)\n";

static void cost_measure_operators(PyObject *torch, double range)
{
	static const uint8_t scopes[] = { TORCH_FUNCTION, TORCH_BACKWARD, TORCH_SCRIPT, TORCH_USER };
	PyObject *names = dwp_python_names("torch", torch), *work = NULL; /* borrowed */
	double without = 1e9, with = 1e9;
	uint64_t handles[sizeof scopes];

	if (names && dwp_python_run(names, operators))
		work = PyDict_GetItemString(names, "work");
	for (int round = 0; work && round < ROUNDS; round++) {
		without = cost_time_of(work, without);
		for (size_t i = 0; i < sizeof scopes; i++)
			handles[i] =
				dwp_abi_add_callback((torch_start *)on_count, cost_on_end, 1u << scopes[i], false);
		dwp_abi_skip_states(true);
		count.operators = 0;
		count.watcher = &here;
		with = cost_time_of(work, with);
		count.watcher = NULL;
		dwp_abi_skip_states(false);
		for (size_t i = 0; i < sizeof scopes; i++)
			dwp_abi_remove_callback(handles[i]);
	}
	if (with < 1e9 && without < 1e9 && count.operators)
		cost_report(DW_KEY_TORCH_CALLBACK_NS,
		            (with > without ? with - without : 0) / count.operators + range, 5.5 * range,
		            11 * range);
	Py_XDECREF(names);
	PyErr_Clear();
}

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

static void cost_measure_hook(PyObject *torch, double range)
{
	static const struct dwp_hook hook = { cost_before, cost_after };
	PyObject *names = dwp_python_names("torch", torch), *work = NULL, *callee = NULL; /* borrowed */
	double without = 1e9, with = 1e9;

	if (names && dwp_python_run(names, calls)) {
		work = PyDict_GetItemString(names, "work");
		callee = PyDict_GetItemString(names, "Callee");
	}
	for (int round = 0; work && round < 2 * ROUNDS; round++)
		without = cost_time_of(work, without);
	if (callee)
		dwp_hook_attribute(callee, "__call__", &hook);
	for (int round = 0; work && round < 2 * ROUNDS; round++)
		with = cost_time_of(work, with);
	if (with < 1e9 && without < 1e9)
		cost_report(DW_KEY_TORCH_HOOK_NS, (with > without ? with - without : 0) / CALLS + range,
		            1.5 * range, 4 * range);
	Py_XDECREF(names);
	PyErr_Clear();
}

/* Does nothing if functions are recorded: the calls here would be recorded too, which makes them
 * slower than calls of the program are. */
void dwp_cost_measure(PyObject *torch)
{
	double range;

	if (dwell_wants(1u << DWELL_CATEGORY_FUNCTION) || !dwell_gate)
		return;
	range = cost_of_range_ns();
	if (dwp_abi_has_operators())
		cost_measure_operators(torch, range);
	cost_measure_hook(torch, range);
}
