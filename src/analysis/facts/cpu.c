/*
 * Facts of the processor: what the step's thread and its process used, as counted by the kernel,
 * and what the machine has.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "format/keys.h"

#define TOO_SHORT "record with this version of dwell: the trace has no readings of the kernel's account"

static void cpu_put_busy(struct dw_facts_work *work)
{
	size_t known = 0;

	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_step *step = work->steady[i];
		const struct dw_usage_of *usage = &work->usages[step - work->all];

		if (step->cpu_ns && step->end_ns > step->start_ns)
			work->values[known++] = (double)step->cpu_ns / (double)(step->end_ns - step->start_ns);
		else if (usage->wall_ns > 0)
			work->values[known++] = usage->process_cpu_ns / usage->wall_ns;
	}
	if (work->cpu_known)
		dw_fact_set_median(work, DW_FACT_CPU_BUSY, known);
	else
		dw_fact_miss(work, DW_FACT_CPU_BUSY, "the steps are too short to read their CPU time");
}

/* Figures that the kernel counts, each with the offset of its double in struct dw_usage_of. */
static void cpu_put_usage(struct dw_facts_work *work, enum dw_fact_id id, size_t place, bool share)
{
	size_t known = 0;

	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_step *step = work->steady[i];
		const struct dw_usage_of *usage = &work->usages[step - work->all];
		double value = *(const double *)(const void *)((const char *)usage + place);

		if (!dw_usage_is_known(usage->known) || !(usage->wall_ns > 0))
			continue;
		/* A reading of several steps is divided by time. */
		work->values[known] = share ? value : value / usage->known;
		work->wholes[known++] = usage->wall_ns;
	}
	if (known * 10 < work->steady_count * 9)
		dw_fact_miss(work, id, TOO_SHORT);
	else if (share)
		dw_fact_set_blocks(work, id, known);
	else
		dw_fact_set_median(work, id, known);
}

/* Sets a fact to the mean over the steady steps, with its 95% interval: faults come in bursts, which
 * a median does not show. */
static void cpu_put_mean(struct dw_facts_work *work, enum dw_fact_id id, size_t place)
{
	double sum = 0, squares = 0, mean, error;
	struct dw_fact *fact;
	size_t known = 0;

	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_usage_of *usage = &work->usages[work->steady[i] - work->all];
		double value = *(const double *)(const void *)((const char *)usage + place);

		if (!dw_usage_is_known(usage->known) || !(usage->wall_ns > 0))
			continue;
		value /= usage->known;
		sum += value;
		squares += value * value;
		known++;
	}
	if (!known || known * 10 < work->steady_count * 9) {
		dw_fact_miss(work, id, TOO_SHORT);
		return;
	}
	mean = sum / (double)known;
	error = DW_DEVIATIONS * sqrt(fmax(0, squares / (double)known - mean * mean) / (double)known);
	fact = dw_fact_set(work, id, mean, known);
	fact->low = fmax(0, mean - error);
	fact->high = mean + error;
}

/* Sets the facts of the processor's counters: medians of the steps with their counts. */
static void cpu_put_counters(struct dw_facts_work *work)
{
	static const struct {
		enum dw_fact_id id;
		size_t place;
	} counters[] = {
		{ DW_FACT_CPU_INSTRUCTIONS, offsetof(struct dw_usage_of, instructions) },
		{ DW_FACT_CPU_CYCLES, offsetof(struct dw_usage_of, cycles) },
		{ DW_FACT_CPU_CACHE_MISSES, offsetof(struct dw_usage_of, cache_misses) },
	};
	const char *refused = dw_facts_meta(work, DW_KEY_COUNTERS_LACK);
	double instructions = 0, cycles = 0;

	for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
		size_t known = 0;

		for (size_t i = 0; i < work->steady_count; i++) {
			const struct dw_usage_of *usage = &work->usages[work->steady[i] - work->all];
			double value = *(const double *)(const void *)((const char *)usage + counters[c].place);
			double part = usage->wall_ns > 0 ? usage->counted_ns / usage->wall_ns * usage->known : 0;

			if (!(part > 0.5))
				continue;
			work->values[known++] = value / part;
			instructions += c == 0 ? usage->instructions : 0;
			cycles += c == 0 ? usage->cycles : 0;
		}
		if (known && known * 10 >= work->steady_count * 9)
			dw_fact_set_median(work, counters[c].id, known);
		else
			dw_fact_miss(work, counters[c].id, refused ? refused : "dwell run --counters, if the kernel permits it");
	}
	if (cycles > 0)
		dw_fact_set(work, DW_FACT_CPU_PER_CYCLE, instructions / cycles, work->steady_count);
	else
		dw_fact_miss(work, DW_FACT_CPU_PER_CYCLE, refused ? refused : "dwell run --counters, if the kernel permits it");
}

static void cpu_put_number(struct dw_facts_work *work, enum dw_fact_id id, const char *key, const char *missing)
{
	const char *value = dw_facts_meta(work, key);

	if (value && strtod(value, NULL) > 0)
		dw_fact_set(work, id, strtod(value, NULL), 1);
	else
		dw_fact_miss(work, id, missing);
}

#define LEAST_LOOKS 10

/* CPUs that other programs use may be those that this one may not use; and this one had at least as many as it used. Ranks
 * share them. */
static void cpu_put_left(struct dw_facts_work *work, const struct dw_machine_of *machine, double cpus)
{
	const struct dw_fact *allowed = &work->facts->at[DW_FACT_CPU_CPUS];
	double left = fmax(cpus - machine->others_ns / machine->wall_ns, machine->own_ns / machine->wall_ns);

	left = allowed->measured ? fmin(left, allowed->value) : left;
	dw_fact_set(work, DW_FACT_CPU_LEFT, left / (double)work->steps->process_count, 1);
}

/* Computes the CPU time that other programs used during the loop, and which part of the loop the program's own
 * threads cost each other because they are more than its CPUs. */
static void cpu_put_machine(struct dw_facts_work *work)
{
	const char *cpus = dw_facts_meta(work, "host.cpus");
	struct dw_machine_of machine = dw_machine_between(work->model, work->loop->start_ns, work->loop->end_ns);
	double share, deviation;
	struct dw_fact *fact;

	if (dw_usage_is_known(machine.known) && machine.wall_ns > 0 && cpus && strtod(cpus, NULL) > 0) {
		dw_fact_set_share(work, DW_FACT_CPU_OTHERS, machine.others_ns, machine.wall_ns * strtod(cpus, NULL), 1);
		cpu_put_left(work, &machine, strtod(cpus, NULL));
	} else {
		dw_fact_miss(work, DW_FACT_CPU_OTHERS, "record with dwell run; the loop must last a second");
		dw_fact_miss(work, DW_FACT_CPU_LEFT, "record with dwell run; the loop must last a second");
	}
	if (dw_usage_is_known(machine.known) && machine.knows_stolen)
		dw_fact_set_share(work, DW_FACT_CPU_STOLEN, machine.stolen_ns,
		                  fmax(1, machine.own_ns + machine.others_ns + machine.stolen_ns), 1);
	else
		dw_fact_miss(work, DW_FACT_CPU_STOLEN, "record with dwell run; the loop must last a second");
	if (!dw_usage_is_known(machine.known) || machine.crowd_looks < LEAST_LOOKS) {
		dw_fact_miss(work, DW_FACT_CPU_CROWDED, "record with dwell run; the loop must last a second");
		return;
	}
	share = fmin(1, machine.crowded / machine.crowd_looks);
	deviation = DW_DEVIATIONS * sqrt(share * (1 - share) / machine.crowd_looks);
	fact = dw_fact_set(work, DW_FACT_CPU_CROWDED, share, (size_t)machine.crowd_looks);
	fact->low = fmax(0, share - deviation);
	fact->high = fmin(1, share + deviation);
}

/* The part of the steady steps in which their thread neither ran nor waited for a CPU. */
static void cpu_put_waiting(struct dw_facts_work *work)
{
	size_t known = 0;

	for (size_t i = 0; i < work->steady_count; i++) {
		double unused = dw_facts_unused(work, work->steady[i]);

		if (unused < 0)
			continue;
		work->values[known] = unused;
		work->wholes[known++] = (double)(work->steady[i]->end_ns - work->steady[i]->start_ns) -
		                        dw_facts_delay(work, work->steady[i]);
	}
	if (work->cpu_known && work->delay_known)
		dw_fact_set_blocks(work, DW_FACT_CPU_WAITING, known);
	else
		dw_fact_miss(work, DW_FACT_CPU_WAITING, TOO_SHORT);
}

#define USAGE(field) offsetof(struct dw_usage_of, field)

void dw_facts_of_cpu(struct dw_facts_work *work)
{
	cpu_put_number(work, DW_FACT_CPU_CPUS, dw_facts_meta(work, DW_KEY_CPUS_ALLOWED) ? DW_KEY_CPUS_ALLOWED : "host.cpus",
	               "record with dwell run");
	cpu_put_number(work, DW_FACT_CPU_OPERATOR_THREADS, DW_KEY_TORCH_THREADS,
	               "the number of threads of an operator is not in the trace");
	cpu_put_machine(work);
	if (!work->steady_count)
		return;
	cpu_put_busy(work);
	cpu_put_waiting(work);
	cpu_put_usage(work, DW_FACT_CPU_SWITCHES_WAIT, USAGE(waits), false);
	cpu_put_usage(work, DW_FACT_CPU_SWITCHES_FORCED, USAGE(preemptions), false);
	cpu_put_mean(work, DW_FACT_CPU_FAULTS_MINOR, USAGE(minor_faults));
	cpu_put_counters(work);
	if (work->delay_known)
		cpu_put_usage(work, DW_FACT_CPU_DELAY, USAGE(delay_ns), true);
	else
		dw_fact_miss(work, DW_FACT_CPU_DELAY, TOO_SHORT);
}
