/* Rules about the machine: CPUs, threads, page faults, and the recorder itself. */
#include "rules/case.h"

/* The whole is a step if the delay was measured for each step, otherwise the run. */
static struct dw_amount machine_delay(const struct dw_rule_case *at)
{
	struct dw_amount delay = dw_case_amount(at, DW_FACT_CPU_DELAY);

	return isnan(delay.value) ? dw_case_amount(at, DW_FACT_RUN_DELAY) : delay;
}

#define MACHINE_CROWDED 0.025 /* of the loop, by the low end of the interval: less may be a burst */

/* More threads are known than there are CPUs. */
static bool machine_threads_are_more(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_CPU_THREADS) > dw_case_value(at, DW_FACT_CPU_CPUS);
}

double dw_case_crowded(const struct dw_rule_case *at)
{
	const struct dw_fact *crowded = dw_case_fact(at, DW_FACT_CPU_CROWDED);

	if (!crowded->measured)
		return 0;
	return crowded->low >= MACHINE_CROWDED ||
	               (machine_threads_are_more(at) && crowded->value >= DW_RULE_DEADBAND) ? crowded->value : 0;
}

/* While other programs use the CPUs, too, the program's own threads are the reason for what they would wait
 * without the others. */
static struct dw_amount machine_share_delay(const struct dw_rule_case *at)
{
	struct dw_amount share = machine_delay(at);
	struct dw_amount crowded = dw_case_amount(at, DW_FACT_CPU_CROWDED);

	return dw_case_value(at, DW_FACT_CPU_OTHERS) > DW_FACTS_OTHERS && crowded.value < share.value ? crowded : share;
}

/* Ranks that have a CPU each exchange for longer than they wait for one. The threads that carry messages run then, too:
 * the wait for a CPU is a part of communication. */
static bool machine_ranks_exchange(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_RUN_RANKS) > 1 &&
	       dw_case_value(at, DW_FACT_CPU_THREADS) <= dw_case_value(at, DW_FACT_CPU_CPUS) &&
	       dw_case_part(at, DW_FACT_LOOP_COMMUNICATION_ALL) >= machine_share_delay(at).value;
}

/* Most of the wait for a CPU is for other programs. While these have the CPUs, threads that would take turns are ready at one
 * time, too: those that wait for each other, and not those that never wait. */
static bool machine_waits_for_others(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_CPU_CROWDED) < machine_delay(at).value / 2 &&
	       dw_case_value(at, DW_FACT_CPU_WAITING) >= DW_RULE_DEADBAND;
}

/* The program's own threads were counted, and are more than the CPUs; or they were not counted, and are known to be more. */
static bool machine_is_oversubscribed(const struct dw_rule_case *at)
{
	if (machine_ranks_exchange(at) || machine_waits_for_others(at))
		return false;
	return dw_case_fact(at, DW_FACT_CPU_CROWDED)->measured
	           ? dw_case_crowded(at) > 0
	           : machine_threads_are_more(at) && !(dw_case_value(at, DW_FACT_CPU_OTHERS) > DW_FACTS_OTHERS);
}

/* The known threads, if they are more than the CPUs. */
static double machine_threads(const struct dw_rule_case *at)
{
	return machine_threads_are_more(at) ? dw_case_value(at, DW_FACT_CPU_THREADS) : NAN;
}

static bool machine_threads_rest(const struct dw_rule_case *at)
{
	double threads = dw_case_value(at, DW_FACT_CPU_OPERATOR_THREADS);

	return threads >= 4 && threads <= dw_case_value(at, DW_FACT_CPU_CPUS) &&
	       dw_case_value(at, DW_FACT_CPU_BUSY) < 0.4 * threads;
}

#define MACHINE_LARGEST 0.4      /* of a step in one operator */

/* The program has fewer threads than CPUs. Or operators may use fewer, and no other threads work: neither of this
 * process nor of others that belong to the program. */
static bool machine_uses_fewer(const struct dw_rule_case *at)
{
	double cpus = dw_case_value(at, DW_FACT_CPU_CPUS), may = dw_case_value(at, DW_FACT_CPU_OPERATOR_THREADS);

	return dw_case_value(at, DW_FACT_CPU_THREADS) < cpus ||
	       (may >= 1 && may < cpus && !(dw_case_value(at, DW_FACT_RUN_RANKS) > 1) && !(dw_case_value(at, DW_FACT_LOADER_WORKERS) >= 1));
}

/* One large operator takes much of a step, and CPUs are free that it may not use. */
static bool machine_cpus_rest(const struct dw_rule_case *at)
{
	return machine_uses_fewer(at) && dw_case_value(at, DW_FACT_OPERATORS_LARGEST) >= MACHINE_LARGEST &&
	       !(dw_case_value(at, DW_FACT_CPU_OTHERS) > DW_FACTS_OTHERS);
}

static bool machine_threads_do_not_fit(const struct dw_rule_case *at)
{
	return machine_threads_rest(at) || machine_cpus_rest(at);
}

const struct dw_rule dw_rules_machine[] = {
	{
		.id = "oversubscribed",
		.question = "Are there more threads than CPUs?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_NONE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_CPU_CPUS),
		.share = machine_share_delay,
		.threshold = 0.08,
		.reason = "The time in which the step's thread could run and had no CPU. More threads of the program and its "
		          "child processes want a CPU than there are CPUs: dwell run counts them, and they make each other "
		          "wait for 2.5% of the loop or more by the low end of the interval, or for 5% if so many threads are "
		          "known. That is half of the time or more, or the step's thread never waits for anything else: while other "
		          "programs have the CPUs, threads that take turns are ready at one time, too. While these use a quarter of the "
		          "CPUs or more, the share is at most that wait. Not if ranks have no more threads "
		          "than there are CPUs, and exchange for longer: the threads that carry messages run meanwhile.",
		.applies = machine_is_oversubscribed,
		.number = machine_threads,
		.statement = "The program runs more threads than there are CPUs for them[ ({number} threads, {cpu.cpus} CPUs)]: the "
		             "step's thread waits for a CPU, or for threads that have none, for {share} {of}"
		             "[; the others use {cpu.taken} of their CPU time in {cpu.taken:name}{cpu.taken:where}][?cpu.spun: , to wait].",
		.remedy = {
			[DW_WORDS_ANY] = "[?cpu.spun: let a thread that waits give up its CPU, after some tries: a condition "
			                 "variable, a futex, a semaphore; or ]no more threads than CPUs (OMP_NUM_THREADS), "
			                 "and not several bound to one CPU",
			[DW_WORDS_PYTORCH] = "[-cpu.spun: [less work in {cpu.taken:name}, or ]]torch.set_num_threads() or "
			                     "OMP_NUM_THREADS, and fewer loader workers: together no more than there are CPUs",
		},
		.look = "dwell report --view threads",
	},
	{
		.id = "thread-count",
		.question = "Do operators use the threads that they have?",
		.kind = DW_RULE_CHANCE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_SHARE, DW_FACT_CPU_OPERATOR_THREADS,
		                       DW_FACT_CPU_BUSY, DW_FACT_CPU_CPUS),
		.threshold = DW_RULE_MOST,
		.reason = "Operators take at least half of a step, and may use four threads or more and keep "
		          "less than 40% of them busy; or one operator takes 40% "
		          "of a step, and the program has fewer threads than there are CPUs, or its operators may use fewer, "
		          "and other programs do not use these CPUs. How much it saves is not known: it comes after all causes.",
		.applies = machine_threads_do_not_fit,
		.no_gain = true,
		.statement = "Operators have {cpu.operator_threads} thread{cpu.operator_threads:s} and keep "
		             "{cpu.busy} of {cpu.cpus} CPUs busy.",
		.remedy = {
			[DW_WORDS_ANY] = "more threads for large operators, as many as CPUs are free; fewer "
			                 "threads, or larger batches, for small ones",
			[DW_WORDS_PYTORCH] = "torch.set_num_threads() or OMP_NUM_THREADS: more for large operators, "
			                     "as many as CPUs are free; fewer, or larger batches, for small ones",
		},
	},
	{
		.id = "profiler-cost",
		.question = "What does recording itself cost?",
		.kind = DW_RULE_CHANCE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_RUN_PROFILER),
		.threshold = DW_RULE_DEADBAND,
		.reason = "Above a twentieth the other figures are those of a slower program.",
		.no_gain = true,
		.statement = "Recording takes about {share} {of}: without it, steps are that much shorter.",
		.remedy = { [DW_WORDS_ANY] = "record a part of the steps, or fewer details" },
	},
	{ 0 },
};
