/*
 * Measures what a recorded operator costs: torch.callback_ns. cost_layer.c does the same for a layer.
 *
 * This is done once at attach, in about a millisecond, before any callback is registered in PyTorch.
 * A range alone costs what `dwell run` measured (dwell.cost_range_ns). To this comes the time that
 * PyTorch needs to call the probe: RecordFunction, and for the nodes of a backward their names,
 * which PyTorch makes only for callbacks. So a few operators with their backward run with empty
 * callbacks and without. Nothing is recorded meanwhile. The figure is for a whole operator, with its range.
 *
 * The work of a program displaces the code of dwell and PyTorch from the processor's caches; the
 * loop here does not. Therefore the measured time is multiplied by COLD. bench/torch_stated.py
 * compares the result with a measurement of a real program; they must agree within a factor of two.
 */
#include "cost.h"

#include <stdio.h>
#include <time.h>

#include "format/keys.h"

#define ROUNDS DWP_COST_ROUNDS
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

/* The fastest of several calls is used, because disturbances only make a call slower. */
double dwp_cost_time_of(bool (*work)(void *context), void *context, double fastest)
{
	double start = cost_now_ns();
	bool done = work(context);
	double took = cost_now_ns() - start;

	return done && took < fastest ? took : fastest;
}

double dwp_cost_of_range_ns(void)
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

double dwp_cost_report(const char *key, double ns, double least, double most)
{
	char text[32];

	ns *= COLD;
	ns = ns < least ? least : ns > most ? most : ns;
	snprintf(text, sizeof text, "%.1f", ns);
	dwell_meta_json(key, text);
	return ns;
}

static bool cost_work(void *context)
{
	return dwp_abi_work(DWP_ABI_WORK_COST);
}

/* What recording does besides, in parts of a range out of the cache: a block with one reading of the clock or none. By
 * instructions, callgrind. */
static void cost_count_others(double range, double switch_ns)
{
	dwp_bound_count(dwp_operators_switches, switch_ns * COLD);
	dwp_bound_count(dwp_memory_recorded, 0.75 * COLD * range);
	dwp_bound_count(dwp_memory_held, 0.15 * COLD * range);
}

void dwp_cost_of_steps(void)
{
	double range = COLD * dwp_cost_of_range_ns();

	dwp_bound_count_fixed(dwp_bound_steps, 5 * range);
	dwp_bound_count_fixed(dwp_loop_events, 1.5 * range);
}

static void cost_measure_operators(double range)
{
	static const uint8_t scopes[] = { TORCH_FUNCTION, TORCH_BACKWARD, TORCH_SCRIPT, TORCH_USER };
	double without = 1e9, with = 1e9, switching = 1e9, start, took;
	uint64_t handles[sizeof scopes];

	for (int round = 0; round < ROUNDS; round++) {
		without = dwp_cost_time_of(cost_work, NULL, without);
		start = cost_now_ns();
		for (size_t i = 0; i < sizeof scopes; i++)
			handles[i] =
				dwp_abi_add_callback((torch_start *)on_count, cost_on_end, 1u << scopes[i], false);
		took = cost_now_ns() - start;
		dwp_abi_skip_states(true);
		count.operators = 0;
		count.watcher = &here;
		with = dwp_cost_time_of(cost_work, NULL, with);
		count.watcher = NULL;
		dwp_abi_skip_states(false);
		start = cost_now_ns();
		for (size_t i = 0; i < sizeof scopes; i++)
			dwp_abi_remove_callback(handles[i]);
		took += cost_now_ns() - start;
		switching = took < switching ? took : switching;
	}
	if (!(with < 1e9 && without < 1e9 && count.operators))
		return;
	dwp_bound_operators(dwp_operators_begun,
	                    dwp_cost_report(DW_KEY_TORCH_CALLBACK_NS,
	                                    (with > without ? with - without : 0) / count.operators + range, 5.5 * range,
	                                    11 * range), dwp_operators_follow_gate);
	cost_count_others(range, switching);
}

void dwp_cost_of_operators(void)
{
	if (!dwp_abi_has_operators() || !dwp_abi_work_begin())
		return;
	if (dwp_abi_work(DWP_ABI_WORK_RAISE) && dwp_abi_work(DWP_ABI_WORK_COST))
		cost_measure_operators(dwp_cost_of_range_ns());
	dwp_abi_work_end();
}
