/* Rules about the machine: CPUs, threads, page faults, and the recorder itself. */
#include "rules/case.h"

/* The whole is a step if the delay was measured for each step, otherwise the run. */
static struct dw_amount machine_delay(const struct dw_rule_case *at)
{
	struct dw_amount delay = dw_case_amount(at, DW_FACT_CPU_DELAY);

	return isnan(delay.value) ? dw_case_amount(at, DW_FACT_RUN_DELAY) : delay;
}

#define MACHINE_BUSY 1.05 /* CPUs: other threads of the process run too */
#define MACHINE_WITHOUT 0.03 /* of a step without a CPU; threads that have one each wait less */

/* The time in which the step's thread waits for other threads of its process that run. If they have not got a CPU each, it is part
 * of the same cause. */
static double machine_waits_for_own(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	double waits = account && account->wall_ns > 0 ? account->state_ns[DW_ACCOUNT_OTHERS] / account->wall_ns : 0;

	return dw_case_value(at, DW_FACT_CPU_DELAY) >= MACHINE_WITHOUT &&
	       dw_case_value(at, DW_FACT_CPU_BUSY) >= MACHINE_BUSY ? waits : 0;
}

#define MACHINE_OTHERS 0.25 /* of the CPUs; if other programs use more, they may be the reason */
#define MACHINE_ALONE 0.10  /* if they use less, only the program's own threads can be */

#define MACHINE_NEVER 0.01    /* of the loop: the program's threads are not too many */
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
	double own = machine_waits_for_own(at);
	struct dw_amount share = dw_amount_plus(machine_delay(at), (struct dw_amount){ own, own, own });
	struct dw_amount crowded = dw_case_amount(at, DW_FACT_CPU_CROWDED);

	return dw_case_value(at, DW_FACT_CPU_OTHERS) > MACHINE_OTHERS && crowded.value < share.value ? crowded : share;
}

/* Ranks that have a CPU each exchange for longer than they wait for one. The threads that carry messages run then, too:
 * the wait for a CPU is a part of communication. */
static bool machine_ranks_exchange(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_RUN_RANKS) > 1 &&
	       dw_case_value(at, DW_FACT_CPU_THREADS) <= dw_case_value(at, DW_FACT_CPU_CPUS) &&
	       dw_case_part(at, DW_FACT_LOOP_COMMUNICATION_ALL) >= machine_share_delay(at).value;
}

/* The program's own threads were counted, and are more than the CPUs. Or they were seldom so, or not counted: then
 * the step's thread waits for a CPU in most steps, so that it is no burst of other programs, and these use few CPUs.
 * Not every thread is known (threads of C programs, threads of loader workers); but if no other program uses
 * the CPUs, what the step's thread waits for is the program's own. */
static bool machine_is_oversubscribed(const struct dw_rule_case *at)
{
	double others = dw_case_value(at, DW_FACT_CPU_OTHERS);

	if (machine_ranks_exchange(at))
		return false;
	if (dw_case_crowded(at) > 0 || dw_case_value(at, DW_FACT_CPU_CROWDED) < MACHINE_NEVER)
		return dw_case_crowded(at) > 0;
	return machine_delay(at).low >= MACHINE_WITHOUT && !(others > MACHINE_OTHERS) &&
	       (machine_threads_are_more(at) || (dw_case_fact(at, DW_FACT_CPU_DELAY)->measured && others < MACHINE_ALONE));
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
#define MACHINE_LARGE_NS 1e6     /* a call of it: long enough to be divided among threads */

#define MACHINE_KEPT 1.1 /* CPUs a thread: with more, others work too */

/* The program has fewer threads than CPUs. Or operators may use fewer, and no other threads work: neither of this
 * process nor of others that belong to the program. */
static bool machine_uses_fewer(const struct dw_rule_case *at)
{
	double cpus = dw_case_value(at, DW_FACT_CPU_CPUS), may = dw_case_value(at, DW_FACT_CPU_OPERATOR_THREADS);

	return dw_case_value(at, DW_FACT_CPU_THREADS) < cpus ||
	       (may >= 1 && may < cpus && dw_case_value(at, DW_FACT_CPU_BUSY) < MACHINE_KEPT * may &&
	        !(dw_case_value(at, DW_FACT_RUN_RANKS) > 1) && !(dw_case_value(at, DW_FACT_LOADER_WORKERS) >= 1));
}

/* One large operator takes much of a step, and CPUs are free that it may not use. */
static bool machine_cpus_rest(const struct dw_rule_case *at)
{
	double largest = dw_case_value(at, DW_FACT_OPERATORS_LARGEST);
	double each_ns = largest * dw_case_whole_ns(at, DW_RULE_OF_STEP) /
	                 dw_case_value(at, DW_FACT_OPERATORS_LARGEST_COUNT);

	return machine_uses_fewer(at) && largest >= MACHINE_LARGEST && each_ns >= MACHINE_LARGE_NS &&
	       !(dw_case_value(at, DW_FACT_CPU_OTHERS) > MACHINE_OTHERS);
}

static bool machine_threads_do_not_fit(const struct dw_rule_case *at)
{
	return machine_threads_rest(at) || machine_cpus_rest(at);
}

#define MACHINE_FAULT_NS 1000.0  /* without input, if it was not measured: 500 on physical machines,
                                 * 3000 in virtual ones */
#define MACHINE_INPUT_NS 100e3   /* with input: it waits for a disk */

static double machine_fault_ns(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_CPU_FAULT_NS) ? dw_case_value(at, DW_FACT_CPU_FAULT_NS) : MACHINE_FAULT_NS;
}

/* At most the time of what touches memory there: operators, and the program's own code. */
double dw_case_faults_between(const struct dw_rule_case *at)
{
	double share = dw_case_part(at, DW_FACT_LOOP_FAULTS) * machine_fault_ns(at) / dw_case_whole_ns(at, DW_RULE_OF_LOOP);
	double most = dw_case_part(at, DW_FACT_LOOP_OPERATORS) + dw_case_part(at, DW_FACT_LOOP_NAMED) +
	              dw_case_part(at, DW_FACT_LOOP_PYTHON) + dw_case_part(at, DW_FACT_LOOP_UNNAMED);

	return share >= DW_RULE_DEADBAND ? fmin(share, most) : 0;
}

static enum dw_rule_whole machine_whole_faults(const struct dw_rule_case *at)
{
	return dw_case_faults_between(at) > 0 ? DW_RULE_OF_LOOP : DW_RULE_OF_STEP;
}

static double machine_faults(const struct dw_rule_case *at)
{
	return dw_case_part(at, DW_FACT_CPU_FAULTS_MINOR) +
	       (dw_case_faults_between(at) > 0 ? dw_case_part(at, DW_FACT_LOOP_FAULTS) : 0);
}

/* Memory that faults anew comes from the system and goes back to it: to free it takes as long as to
 * allocate it. The time of faults is a share of the time without waits for a CPU: those make all of it
 * longer. */
static struct dw_amount machine_share_faults_in_steps(const struct dw_rule_case *at)
{
	/* Faults are a mean over the steps. Where a few are much longer, so are their faults. */
	double step_ns = fmax(dw_case_whole_ns(at, DW_RULE_OF_STEP), dw_case_part(at, DW_FACT_STEP_MEAN)) *
	                 fmax(0.1, 1 - dw_case_part(at, DW_FACT_CPU_DELAY));

	struct dw_amount share =
	    dw_amount_plus(dw_amount_times(dw_case_amount(at, DW_FACT_CPU_FAULTS_MINOR), machine_fault_ns(at) / step_ns),
	                   dw_amount_times(dw_case_amount(at, DW_FACT_CPU_FAULTS_MAJOR), MACHINE_INPUT_NS / step_ns));

	return dw_case_has(at, DW_FACT_TRACE_TORCH)
	           ? dw_amount_plus(share, dw_amount_times(dw_case_amount(at, DW_FACT_MEMORY_ALLOCATOR), 2)) : share;
}

double dw_case_faults_in_steps(const struct dw_rule_case *at)
{
	double share = machine_share_faults_in_steps(at).value;

	return share >= DW_RULE_DEADBAND ? fmin(1, share) : 0;
}

static struct dw_amount machine_share_faults(const struct dw_rule_case *at)
{
	struct dw_amount share = machine_share_faults_in_steps(at);
	const struct dw_account *account = at->facts->account;
	double between = dw_case_faults_between(at);

	/* All of them pass in the kernel. */
	if (account && account->system_ns > 0)
		share = (struct dw_amount){ fmin(share.value, account->system_ns / account->own_ns),
			                        fmin(share.low, account->system_ns / account->own_ns),
			                        fmin(share.high, account->system_ns / account->own_ns) };
	if (machine_whole_faults(at) == DW_RULE_OF_STEP)
		return share;
	return dw_amount_plus(dw_amount_times(share, dw_case_part(at, DW_FACT_LOOP_STEPS)),
	                      (struct dw_amount){ between, between, between });
}

/* While the loop waits longer for another thread or for batches that are not made yet, its own faults pass
 * in that wait: without them it waits longer. */
static bool machine_faults_are_hidden(const struct dw_rule_case *at)
{
	return fmax(dw_case_waits(at, DW_ACTIVITIES_OF_THREADS), dw_case_part(at, DW_FACT_LOADER_STARVED)) >
	       machine_share_faults(at).value;
}

#define MACHINE_PAGE_BYTES 4096.0
#define MACHINE_GROWN 0.5 /* of the faults */

/* Memory that grows is touched for the first time: memory-growth reports it, and an allocator that keeps freed memory
 * does not help. */
static bool machine_faults_are_growth(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_MEMORY_GROWTH) &&
	       dw_case_value(at, DW_FACT_MEMORY_GROWTH) / MACHINE_PAGE_BYTES >= MACHINE_GROWN * machine_faults(at);
}

/* The recorder writes to new memory, too. If recording takes longer than all page faults, they may be those of the recorder. */
static bool machine_faults_are_the_recorders(const struct dw_rule_case *at)
{
	return dw_case_part(at, DW_FACT_RUN_PROFILER) >= machine_share_faults(at).value;
}

/* After a fork the first write to each page faults: loader-restart reports new workers. */
static bool machine_faults_are_own(const struct dw_rule_case *at)
{
	return !machine_faults_are_hidden(at) && !machine_faults_are_growth(at) && !machine_faults_are_the_recorders(at) &&
	       !(dw_case_value(at, DW_FACT_LOADER_EPOCHS) > 1 &&
	         dw_case_value(at, DW_FACT_LOADER_WORKERS_STARTED) > dw_case_value(at, DW_FACT_LOADER_WORKERS) &&
	         dw_case_value(at, DW_FACT_LOADER_START_SHARE) >= DW_RULE_DEADBAND);
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
		.reason = "The time in which the step's thread could run and had no CPU; if that is 3% or more, also the time "
		          "in which it waits for other threads of its process that run. More threads of the program and its "
		          "child processes want a CPU than there are CPUs: dwell run counts them, and they make each other "
		          "wait for 2.5% of the loop or more by the low end of the interval, or for 5% if so many threads are "
		          "known. While other programs use a quarter of the CPUs or more, the share is at most that wait. If "
		          "the threads were not counted, or it is less: other programs use less than a quarter of the CPUs, "
		          "and the program is known to have more threads than there are CPUs; or they use less than a tenth, "
		          "so that nothing but the program's own threads can have the CPU. Not if ranks have no more threads "
		          "than there are CPUs, and exchange for longer: the threads that carry messages run meanwhile.",
		.applies = machine_is_oversubscribed,
		.number = machine_threads,
		.statement = "The program runs more threads than there are CPUs for them[ ({number} threads, {cpu.cpus} CPUs)]: the "
		             "step's thread waits for a CPU, or for threads that have none, for {share} {of}.",
		.remedy = {
			[DW_WORDS_ANY] = "no more threads than CPUs (OMP_NUM_THREADS), and not several bound to one CPU",
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
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_SHARE, DW_FACT_CPU_OPERATOR_THREADS,
		                       DW_FACT_CPU_BUSY, DW_FACT_CPU_CPUS),
		.threshold = 0.50,
		.reason = "Operators take at least half of a step, and may use four threads or more and keep "
		          "less than 40% of them busy; or one operator whose calls take 1 ms or more takes 40% "
		          "of a step, and the program has fewer threads than there are CPUs, or its operators may use fewer, "
		          "and other programs do not use these CPUs. Then it precedes what only names the operator.",
		.applies = machine_threads_do_not_fit,
		.before_form = machine_cpus_rest,
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
		.id = "page-faults",
		.question = "Does memory that is touched for the first time take time in every step?",
		.kind = DW_RULE_WORK,
		.part = DW_RULE_PART_COMPUTE,
		.whole_of = machine_whole_faults,
		.needs = DW_RULE_NEEDS(DW_FACT_CPU_FAULTS_MINOR, DW_FACT_CPU_FAULTS_MAJOR),
		.share = machine_share_faults,
		.threshold = 0.07,
		.reason = "Each fault without input takes the time that `dwell run` measured on this machine "
		          "(1 us if it did not), each fault with input 100 us; as a share of the time without "
		          "waits for a CPU. Faults between the steps count if they take a twentieth of the loop. The time of PyTorch's allocator counts twice, to allocate and to free. Not if "
		          "workers are forked in each epoch: that makes pages fault too. Not if the loop waits "
		          "longer for another thread, or for batches: the faults pass in that wait. Not if memory grows by half of these pages, or if recording takes longer than the faults. It is ranked as "
		          "work: memory must come from somewhere.",
		.applies = machine_faults_are_own,
		.number = machine_faults,
		.statement = "{number} page faults {each} {take} about {share} {of}: memory is "
		             "returned to the system and touched anew[; {samples.function} of the CPU time is in "
		             "{samples.function:name}]{samples.function:where}.",
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
		.remedy = { [DW_WORDS_ANY] = "record a part of the steps, or fewer details" },
	},
	{ 0 },
};
