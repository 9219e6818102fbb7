/* What threads with steps used, from the readings that the recorder made; see usage.h. */
#include "model/steps/usage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "format/keys.h"

size_t dw_usage_first(const struct dw_source *source, uint32_t thread, uint64_t ticks)
{
	const struct dw_source_usage *at = source->usages;

	return DW_FIRST(i, 0, source->usage_count,
	                at[i].thread > thread || (at[i].thread == thread && at[i].end_ticks > ticks));
}

static void usage_add(struct dw_usage_of *to, const struct dw_source_usage *from, double part)
{
	to->delay_known = to->delay_known && from->delay_known;
	to->cpu_ns += part * (double)from->cpu_ns;
	to->delay_ns += part * (double)from->delay_ns;
	to->process_cpu_ns += part * (double)from->process_cpu_ns;
	to->system_ns += part * (double)from->system_ns;
	to->waits += part * from->waits;
	to->preemptions += part * from->preemptions;
	to->minor_faults += part * from->minor_faults;
	to->major_faults += part * from->major_faults;
	to->cycles += part * (double)from->cycles;
	to->instructions += part * (double)from->instructions;
	to->cache_misses += part * (double)from->cache_misses;
}

struct dw_usage_of dw_usage_between(const struct dw_model *model, uint32_t thread, uint64_t start_ticks,
                                    uint64_t end_ticks)
{
	const struct dw_source *source = dw_model_source(model);
	uint32_t process = source->threads[thread].process;
	const struct dw_source_clock *clock = &source->files[source->processes[process].file].clock;
	struct dw_usage_of usage = { .delay_known = true };
	uint64_t covered = 0, counted = 0, most = 0;

	for (size_t i = dw_usage_first(source, thread, start_ticks); i < source->usage_count; i++) {
		const struct dw_source_usage *at = &source->usages[i];
		uint64_t from = at->start_ticks > start_ticks ? at->start_ticks : start_ticks;
		uint64_t to = at->end_ticks < end_ticks ? at->end_ticks : end_ticks;

		if (at->thread != thread || from >= to)
			break;
		usage_add(&usage, at, (double)(to - from) / (double)(at->end_ticks - at->start_ticks));
		if (to - from > most) {
			most = to - from;
			usage.reading = i;
		}
		covered += to - from;
		counted += at->counters_known ? to - from : 0;
	}
	usage.delay_known = usage.delay_known && covered;
	usage.wall_ns = (double)dw_source_span_ns(clock, covered);
	usage.counted_ns = (double)dw_source_span_ns(clock, counted);
	usage.known = covered ? (double)covered / (double)(end_ticks - start_ticks) : 0;
	return usage;
}

bool dw_usage_is_alone(const struct dw_usage_of *usage)
{
	return dw_usage_is_known(usage->known) && usage->wall_ns > 0 &&
	       usage->process_cpu_ns - usage->cpu_ns < DW_USAGE_TEAM * usage->wall_ns;
}

bool dw_usage_take_cpu(struct dw_usage_of *usage, uint64_t cpu_ns, uint64_t length_ns)
{
	double off = usage->wall_ns - usage->cpu_ns, cpu, own;

	if (!cpu_ns || !dw_usage_is_alone(usage) || !(off > 0))
		return false;
	cpu = fmin(usage->wall_ns, (double)cpu_ns * usage->wall_ns / (double)length_ns);
	own = usage->wall_ns - cpu;
	usage->delay_ns = fmin(own, usage->delay_ns * own / off);
	usage->process_cpu_ns += cpu - usage->cpu_ns;
	usage->cpu_ns = cpu;
	return true;
}

struct dw_machine_of dw_machine_between(const struct dw_model *model, uint64_t start_ns, uint64_t end_ns)
{
	const struct dw_source *source = dw_model_source(model);
	struct dw_machine_of machine = { .known = 0 };

	for (size_t i = 0; i < source->machine_count; i++) {
		const struct dw_source_machine *at = &source->machines[i];
		const struct dw_source_clock *clock = &source->files[at->file].clock;
		double from_ns = (double)dw_source_ns(clock, at->start_ticks);
		double to_ns = (double)dw_source_ns(clock, at->end_ticks), length_ns = to_ns - from_ns;
		double covered_ns = fmin(to_ns, (double)end_ns) - fmax(from_ns, (double)start_ns);
		double others_ns = (double)at->busy_ns - (double)at->own_ns;

		if (covered_ns <= 0 || length_ns <= 0)
			continue;
		machine.wall_ns += covered_ns;
		machine.own_ns += covered_ns / length_ns * (double)at->own_ns;
		/* Both are rounded to the kernel's ticks of some milliseconds. */
		machine.others_ns += covered_ns / length_ns * fmax(0, others_ns);
		machine.stolen_ns += covered_ns / length_ns * 1e3 * at->stolen_us;
		machine.knows_stolen |= at->knows_stolen;
		machine.program = at->program;
		machine.looks += covered_ns / length_ns * at->looks;
		machine.at_lock += covered_ns / length_ns * at->at_lock;
		machine.at_file += covered_ns / length_ns * at->at_file;
		machine.asleep += covered_ns / length_ns * at->asleep;
		machine.blocked += covered_ns / length_ns * at->blocked;
		machine.crowd_looks += covered_ns / length_ns * at->crowd_looks;
		machine.crowded += covered_ns / length_ns * at->crowded / 1000.0;
	}
	if (end_ns > start_ns)
		machine.known = fmin(1, machine.wall_ns / (double)(end_ns - start_ns));
	return machine;
}

/* The kernel counts time that the hypervisor took neither as a thread's CPU time nor as its wait for a CPU, and does
 * not say which thread had the CPU. All threads of the machine lose it as they run; at most as much as they run. */
double dw_machine_per_cpu(const struct dw_machine_of *machine)
{
	if (!dw_usage_is_known(machine->known) || !machine->knows_stolen)
		return 1;
	return 1 + fmin(1, machine->stolen_ns / fmax(1, machine->own_ns + machine->others_ns));
}

/* The last number that a process has for a key, or 0. */
static double usage_number(const struct dw_source *source, uint32_t process, const char *key)
{
	for (size_t i = source->meta_count; i-- > 0;)
		if (source->metas[i].process == process && strcmp(source->metas[i].key, key) == 0)
			return strtod(source->metas[i].value, NULL);
	return 0;
}

/* Whether another program was executed in the process later. */
static bool usage_goes_on(const struct dw_source *source, const struct dw_source_process *self)
{
	for (uint32_t i = 0; i < source->process_count; i++)
		if (source->processes[i].file == self->file && source->processes[i].pid == self->pid &&
		    source->processes[i].start_ns > self->start_ns)
			return true;
	return false;
}

/* The CPU time of a process at its end: its own word, or what `dwell run` read: it was killed. 0: not known. */
double dw_process_cpu_ns(const struct dw_source *source, uint32_t process)
{
	const struct dw_source_process *self = &source->processes[process];
	double ns = usage_number(source, process, DW_KEY_PROCESS_CPU_NS), of_runner;
	char key[64];

	if (usage_goes_on(source, self))
		return ns;
	snprintf(key, sizeof key, DW_KEY_PROCESS_CPU_NS ".%u", self->pid);
	for (uint32_t i = 0; i < source->process_count; i++)
		if (source->processes[i].file == self->file && source->processes[i].flags & DW_PROCESS_RUNNER &&
		    (of_runner = usage_number(source, i, key)) > ns)
			ns = of_runner;
	return ns;
}

bool dw_process_is_fork(const struct dw_source *source, uint32_t process)
{
	const struct dw_source_process *self = &source->processes[process], *parent = source->processes + self->parent;

	return self->parent != DW_NO_INDEX && parent->file == self->file && strcmp(parent->command, self->command) == 0;
}

long dw_machine_cpus(const struct dw_source *source)
{
	long cpus = 0;

	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, DW_KEY_CPUS_ALLOWED) == 0 ||
		    (!cpus && strcmp(source->metas[i].key, "host.cpus") == 0))
			cpus = strtol(source->metas[i].value, NULL, 10);
	return cpus;
}
