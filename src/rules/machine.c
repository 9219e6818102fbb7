/* Rules about the machine: CPUs, threads, page faults, and the recorder itself. */
#include "rules/case.h"

/* The whole is a step if the delay was measured for each step, otherwise the run. */
static struct dw_amount machine_delay(const struct dw_rule_case *at)
{
	struct dw_amount delay = dw_case_amount(at, DW_FACT_CPU_DELAY);

	return isnan(delay.value) ? dw_case_amount(at, DW_FACT_RUN_DELAY) : delay;
}

/* The program's own threads compete for the CPUs, and other programs do not. */
static bool machine_is_oversubscribed(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_CPU_THREADS) > dw_case_value(at, DW_FACT_CPU_CPUS) &&
	       !(dw_case_value(at, DW_FACT_CPU_OTHERS) > 0.25);
}

static bool machine_threads_rest(const struct dw_rule_case *at)
{
	double threads = dw_case_value(at, DW_FACT_CPU_OPERATOR_THREADS);

	return threads >= 4 && threads <= dw_case_value(at, DW_FACT_CPU_CPUS) &&
	       dw_case_value(at, DW_FACT_CPU_BUSY) < 0.4 * threads;
}

/* A fault without input takes about 1 us in the kernel, including clearing a page: 0.5 us on
 * physical machines, 3 us in virtual ones. A fault with input waits for a disk, about 100 us. */
static struct dw_amount machine_share_faults(const struct dw_rule_case *at)
{
	double step_ns = dw_case_whole_ns(at, DW_RULE_OF_STEP);

	return dw_amount_times(dw_amount_plus(dw_case_amount(at, DW_FACT_CPU_FAULTS_MINOR),
	                                      dw_amount_times(dw_case_amount(at,
	                                                                     DW_FACT_CPU_FAULTS_MAJOR),
	                                                      100)),
	                       1000 / step_ns);
}

const struct dw_rule dw_rules_machine[] = {
	{
		.id = "oversubscribed",
		.question = "Are there more threads than CPUs?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_NONE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_CPU_THREADS, DW_FACT_CPU_CPUS),
		.share = machine_delay,
		.threshold = 0.10,
		.reason = "The time in which the step's thread could run and had no CPU, if the program's "
		          "own threads are more than the CPUs and other programs use less than a quarter of "
		          "them.",
		.applies = machine_is_oversubscribed,
		.statement = "The program runs {cpu.threads} threads on {cpu.cpus} CPU{cpu.cpus:s}, and the "
		             "step's thread waits for a CPU for {share} {of}.",
		.remedy = {
			[DW_WORDS_ANY] = "no more threads than CPUs (OMP_NUM_THREADS)",
			[DW_WORDS_PYTORCH] = "torch.set_num_threads() or OMP_NUM_THREADS, and fewer loader workers: "
			                     "together no more than there are CPUs",
		},
		.look = "dwell report --view threads",
	},
	{
		.id = "thread-count",
		.question = "Do operators use the threads that they have?",
		.kind = DW_RULE_CHANCE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_SHARE, DW_FACT_CPU_OPERATOR_THREADS,
		                       DW_FACT_CPU_BUSY, DW_FACT_CPU_CPUS),
		.threshold = 0.50,
		.reason = "Operators take at least half of a step, may use four threads or more, and keep "
		          "less than 40% of them busy.",
		.applies = machine_threads_rest,
		.no_gain = true,
		.statement = "Operators may use {cpu.operator_threads} threads and keep {cpu.busy} CPUs busy.",
		.remedy = {
			[DW_WORDS_ANY] = "larger batches give each thread more work; fewer threads save the time "
			                 "to start and join them",
		},
	},
	{
		.id = "page-faults",
		.question = "Does memory that is touched for the first time take time in every step?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_CPU_FAULTS_MINOR, DW_FACT_CPU_FAULTS_MAJOR),
		.share = machine_share_faults,
		.threshold = 0.08,
		.reason = "At 1 us for each fault without input and 100 us for one with input.",
		.statement = "{cpu.faults_minor} page faults a step {take} about {share} {of}: memory is "
		             "returned to the system and touched anew.",
		.remedy = {
			[DW_WORDS_ANY] = "keep large buffers from step to step",
			[DW_WORDS_PYTORCH] = "an allocator that keeps freed memory (jemalloc or tcmalloc by "
			                     "LD_PRELOAD, or MALLOC_TOP_PAD_ and MALLOC_MMAP_THRESHOLD_)",
		},
	},
	{
		.id = "profiler-cost",
		.question = "What does recording itself cost?",
		.kind = DW_RULE_CHANCE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_RUN_PROFILER),
		.threshold = 0.05,
		.reason = "Above a twentieth the other figures are those of a slower program.",
		.no_gain = true,
		.statement = "Recording takes about {share} {of}: without it, steps are that much shorter.",
		.remedy = {
			[DW_WORDS_ANY] = "record a part of the steps, or fewer details",
		},
	},
	{ 0 },
};
