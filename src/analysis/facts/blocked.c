/*
 * Facts of waits by what blocks the program's main thread.
 *
 * While the program runs, `dwell run` looks up in which function of the kernel its main thread is
 * blocked (USAGE entries of the machine). So the kind of an idle time is known without recorded
 * functions, in C too. The looks cover the whole loop: waits that a range explains (data,
 * communication, a device) are subtracted, and the rest divides the loop's idle time. Only if
 * the loop runs in the main thread of the program that `dwell run` started.
 */
#include <math.h>

#include "facts/work.h"

#define LEAST_SAMPLES 20

static bool blocked_is_main(const struct dw_facts_work *work, uint64_t program)
{
	const struct dw_source_thread *thread = &work->source->threads[work->loop->thread];
	const struct dw_source_process *process = &work->source->processes[thread->process];

	return thread->tid == process->pid && process->pid == program;
}

/* The loop's idle time that no range explains, as a part of the loop. */
static double blocked_idle(const struct dw_facts *facts)
{
	return (facts->at[DW_FACT_STEP_IDLE].value + facts->at[DW_FACT_STEP_IDLE_NAMED].value) *
	           facts->at[DW_FACT_LOOP_STEPS].value +
	       facts->at[DW_FACT_STEP_IDLE_SLOW].value + facts->at[DW_FACT_LOOP_WAITING].value;
}

/* The part of the loop in which it waits in ranges that say for what. */
static double blocked_explained(const struct dw_facts *facts)
{
	double steps = facts->at[DW_FACT_LOOP_STEPS].value;

	return fmax(0, facts->at[DW_FACT_LOOP_DATA_ALL].value -
	                   facts->at[DW_FACT_LOADER_IN_PROCESS].value * steps) +
	       facts->at[DW_FACT_LOOP_COMMUNICATION_ALL].value +
	       facts->at[DW_FACT_STEP_DEVICE].value * steps +
	       facts->at[DW_FACT_OPERATORS_OTHER_THREADS].value * steps;
}

/* A share of the loop with its 95% interval. */
struct share {
	double value, low, high;
};

#define LEAST_BLOCKED 5

/* The share of a kind of wait: `kind` of `blocked` looks at the blocked thread are at it. How long the thread is
 * idle is known from the kernel's account, so that looks need only divide it, and few of them are enough. */
static struct share blocked_divide(double kind, double blocked, double idle)
{
	const double z = 1.96;
	double ratio = fmin(1, kind / blocked), middle = ratio + z * z / (2 * blocked);
	double deviation = z * sqrt(ratio * (1 - ratio) / blocked + z * z / (4 * blocked * blocked));
	double scale = idle / (1 + z * z / blocked);

	return (struct share){ idle * ratio, fmax(0, middle - deviation) * scale, fmin(idle, (middle + deviation) * scale) };
}

/* The same if few looks saw the thread blocked, or if it was not counted how many did: a share of all looks. */
static struct share blocked_count(double kind, double looks, double idle)
{
	double value = fmin(kind / looks, idle), deviation = 1.96 * sqrt(fmax(0, value * (1 - value)) / looks);

	return (struct share){ value, fmax(0, value - deviation), fmin(1, value + deviation) };
}

/* Sets a fact to a share of the loop, unless functions explain more. Keeps the name that these gave if it explains
 * at least half. */
static void blocked_put(struct dw_facts_work *work, enum dw_fact_id id, struct share share, double looks)
{
	const struct dw_fact before = work->facts->at[id];
	struct dw_fact *fact;

	if (before.measured && before.value >= share.value)
		return;
	fact = dw_fact_set(work, id, share.value, (size_t)looks);
	fact->low = share.low;
	fact->high = share.high;
	if (before.measured && before.value >= share.value / 2)
		dw_fact_name(work, fact, before.symbol);
}

void dw_facts_of_blocked(struct dw_facts_work *work)
{
	struct dw_machine_of machine =
	    dw_machine_between(work->model, work->loop->start_ns, work->loop->end_ns);
	const struct {
		enum dw_fact_id id;
		double looks;
	} kinds[] = {
		{ DW_FACT_WAIT_FILE, machine.at_file },
		{ DW_FACT_WAIT_LOCK, machine.at_lock },
		{ DW_FACT_WAIT_SLEEP, machine.asleep },
	};
	double idle = blocked_idle(work->facts), explained = blocked_explained(work->facts) * machine.looks;
	double blocked = machine.blocked - explained;

	if (!(work->loop_ns > 0) || !work->cpu_known || !blocked_is_main(work, machine.program) ||
	    machine.known < 0.5 || machine.looks < LEAST_SAMPLES) {
		dw_fact_miss(work, DW_FACT_WAIT_SLEEP, "record with dwell run; the loop must last a second "
		                                       "and run in the main thread");
		return;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		double kind = fmax(0, kinds[i].looks - explained);

		blocked_put(work, kinds[i].id, blocked >= LEAST_BLOCKED ? blocked_divide(kind, blocked, idle)
		                                                        : blocked_count(kind, machine.looks, idle),
		            machine.looks);
	}
}
