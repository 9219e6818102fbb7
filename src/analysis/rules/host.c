/*
 * Rules about the host: the interpreter, the collector, calls of operators.
 */
#include <string.h>

#include "rules/case.h"

/* Between two operators the interpreter takes 2 to 40 us if it only calls the next operator. Longer
 * gaps are other code. */
#define HOST_SMALL_NS 20e3
#define HOST_SMALL_GAP_NS 40e3
#define HOST_CALL_NS 10e3 /* assumed time that the interpreter takes to call one operator */
#define HOST_SMALL_COUNT 100
#define HOST_SMALL_SHARE 0.45
#define HOST_BETWEEN 0.10    /* of the loop, between its steps: a network's own operators are in them */
#define HOST_MANY_COUNT 2000 /* a network of some dozens of layers calls 300 to 1200 operators a step */
#define HOST_MOST 0.5        /* of the operators: with more of an optimizer, none are reported */
#define HOST_OPTIMIZER 0.15  /* of a step: then a rule about the optimizer reports all of it */
#define HOST_EMPTY_NS 1.2e3  /* an operator that takes no longer computes next to nothing */
#define HOST_EMPTY_IN_C_NS 300 /* the same in C, where a call costs some nanoseconds */

/* ---- calls of operators ---------------------------------------------------------------------- */

/* The part of the waits for a CPU that comes after a wait for something else. A thread that never waits loses its CPU
 * at any place, so that the interpreter's share stays as it is. After a wait, it is the interpreter that has none; and
 * so it is if the program's own threads take the CPU, which run when an operator or a queue wakes them. */
static double host_woken(const struct dw_rule_case *at)
{
	double waits = dw_case_part(at, DW_FACT_CPU_SWITCHES_WAIT);
	double all = waits + dw_case_part(at, DW_FACT_CPU_SWITCHES_FORCED);

	return all > 0 && !(dw_case_crowded(at) > 0) ? waits / all : 1;
}

/* A thread that loses its CPU while it works takes longer for the same work, by the clock. What is known as time of
 * a CPU, as that of a call, does not: this is how much of the clock's time it is. */
static double host_with_cpu(const struct dw_rule_case *at)
{
	return fmax(0.1, 1 - dw_case_part(at, DW_FACT_CPU_DELAY) * (1 - host_woken(at)));
}

/* The time of a step between its operators: the interpreter's, or what a program in C does in no
 * range. */
static struct dw_amount host_between_operators(const struct dw_rule_case *at)
{
	return dw_case_amount(at, dw_case_fact(at, DW_FACT_STEP_PYTHON)->measured ? DW_FACT_STEP_PYTHON
	                                                                        : DW_FACT_STEP_UNNAMED);
}

/* The part of the operators that an optimizer calls, if it takes so much of a step that its own rules report
 * them. */
static double host_part_of_optimizer(const struct dw_rule_case *at)
{
	double part = dw_case_part(at, DW_FACT_OPTIMIZER_COUNT) / dw_case_value(at, DW_FACT_OPERATORS_COUNT);
	double share = fmax(dw_case_part(at, DW_FACT_STEP_OPTIMIZER), dw_case_part(at, DW_FACT_STEP_OPTIMIZER_ALL));

	return share >= HOST_OPTIMIZER && part > 0 ? fmin(1, part) : 0;
}

/* Small operators, and the time for their calls: the interpreter's other time is its own, as in times
 * of a millisecond between two operators. */
static struct dw_amount host_share_small(const struct dw_rule_case *at)
{
	struct dw_amount small = dw_case_amount(at, DW_FACT_OPERATORS_SMALL);
	struct dw_amount calls = dw_amount_less(host_between_operators(at), dw_case_part(at, DW_FACT_PLACES_PYTHON));
	double count = dw_case_value(at, DW_FACT_OPERATORS_SMALL_COUNT);
	double most = count * HOST_CALL_NS / dw_case_whole_ns(at, DW_RULE_OF_STEP) / host_with_cpu(at);

	calls = dw_amount_times(calls, count / dw_case_value(at, DW_FACT_OPERATORS_COUNT));
	if (calls.value > most)
		calls = dw_amount_times(calls, most / calls.value);
	return dw_amount_times(dw_amount_plus(small, calls), 1 - host_part_of_optimizer(at));
}

double dw_case_calls_between(const struct dw_rule_case *at)
{
	return dw_case_part(at, DW_FACT_LOOP_CALLS) * HOST_CALL_NS / dw_case_whole_ns(at, DW_RULE_OF_LOOP) /
	       host_with_cpu(at);
}

/* The time of the operators between the steps, and of their calls, as a part of the loop. */
static double host_calls_between(const struct dw_rule_case *at)
{
	return dw_case_part(at, DW_FACT_LOOP_OPERATORS) +
	       fmin(dw_case_part(at, DW_FACT_LOOP_PYTHON), dw_case_calls_between(at));
}

bool dw_case_calls_between_are_small(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_LOOP_CALLS) >= HOST_SMALL_COUNT &&
	       dw_case_part(at, DW_FACT_LOOP_OPERATORS) < dw_case_calls_between(at) &&
	       host_calls_between(at) >= HOST_BETWEEN;
}

static enum dw_rule_whole host_whole_calls(const struct dw_rule_case *at)
{
	return dw_case_calls_between_are_small(at) ? DW_RULE_OF_LOOP : DW_RULE_OF_STEP;
}

/* The same, with the operators between the steps if these are small. */
static struct dw_amount host_share_calls(const struct dw_rule_case *at)
{
	struct dw_amount small = host_share_small(at);
	double between = host_calls_between(at);

	if (host_whole_calls(at) == DW_RULE_OF_STEP)
		return small;
	small = dw_amount_times(small, dw_case_part(at, DW_FACT_LOOP_STEPS));
	return dw_amount_plus(small, (struct dw_amount){ between, between, between });
}

static double host_number_of_calls(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_OPERATORS_SMALL_COUNT) +
	       (dw_case_calls_between_are_small(at) ? dw_case_part(at, DW_FACT_LOOP_CALLS) : 0);
}

#define HOST_OWN_CALLS 0.5 /* of the operators' time; recurrent layers call theirs without Python */

/* A recurrent layer of the library calls operators for each time step by itself: those are its form. */
static bool host_calls_are_recurrent(const struct dw_rule_case *at)
{
	double calls = host_between_operators(at).value - dw_case_part(at, DW_FACT_PLACES_PYTHON);

	return dw_case_value(at, DW_FACT_OPERATORS_RECURRENT) >= 1 &&
	       calls < HOST_OWN_CALLS * dw_case_value(at, DW_FACT_OPERATORS_SMALL);
}

/* Calls that wait for a result, and the interpreter's time for them. Those of an optimizer that has a rule of
 * its own are part of its operators. */
static struct dw_amount host_share_synchronising(const struct dw_rule_case *at)
{
	double part = dw_case_value(at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT) / dw_case_value(at, DW_FACT_OPERATORS_COUNT);

	struct dw_amount share =
	    dw_amount_plus(dw_case_amount(at, DW_FACT_OPERATORS_SYNCHRONISING),
	                   dw_amount_times(dw_case_amount(at, DW_FACT_STEP_PYTHON), isnan(part) ? 0 : fmin(1, part)));

	return dw_amount_times(share, 1 - host_part_of_optimizer(at));
}

/* The compiled model is in several pieces. Its small operators are those of the pieces: in one
 * piece the compiler merges them. */
static bool host_breaks(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_OPERATORS_GRAPH_BREAKS) >= 1;
}

/* A deep network calls thousands of operators too, whose tensors are small but not tiny. Those of a loop
 * over rows compute next to nothing: their time is their call. */
static bool host_calls_small(const struct dw_rule_case *at)
{
	double count = dw_case_value(at, DW_FACT_OPERATORS_SMALL_COUNT);
	double mean_ns = dw_case_value(at, DW_FACT_OPERATORS_SMALL_MEAN) * host_with_cpu(at), own;

	if (at->facts->framework == DW_FACTS_C && mean_ns >= HOST_EMPTY_IN_C_NS)
		return false;
	if (dw_case_calls_between_are_small(at))
		return true;
	/* An optimizer that calls many has rules of its own. */
	own = 1 - fmin(1, dw_case_part(at, DW_FACT_OPTIMIZER_COUNT) / dw_case_value(at, DW_FACT_OPERATORS_COUNT));
	return host_part_of_optimizer(at) < HOST_MOST && !host_breaks(at) && !host_calls_are_recurrent(at) &&
	       ((count * own >= HOST_MANY_COUNT && mean_ns < HOST_EMPTY_NS) ||
	        (count >= HOST_SMALL_COUNT && host_share_small(at).value >= HOST_SMALL_SHARE)) && mean_ns < HOST_SMALL_NS &&
	       host_between_operators(at).value * host_with_cpu(at) * dw_case_whole_ns(at, DW_RULE_OF_STEP) /
	               dw_case_value(at, DW_FACT_OPERATORS_COUNT) < HOST_SMALL_GAP_NS;
}

static struct dw_amount host_share_breaks(const struct dw_rule_case *at)
{
	return dw_case_amount(at, DW_FACT_STEP_PYTHON);
}

/* Where the work of a device was recorded, the time in such a call is the device's: device-sync
 * says what the device loses by it. */
static bool host_synchronises(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT) >= 1 && !dw_case_has(at, DW_FACT_DEVICE_BUSY);
}

#define HOST_SIZES 0.9 /* of the spread of steps */

/* Inputs of many sizes have many shapes: then the size makes a step long, and not that the shape is new. */
bool dw_case_shapes_are_new(const struct dw_rule_case *at)
{
	return !(dw_case_value(at, DW_FACT_INPUT_VARIATION) >= HOST_SIZES);
}

const struct dw_rule dw_rules_host[] = {
	{
		.id = "synchronising-call",
		.question = "Does a call wait for the device in the middle of a step?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_SYNCHRONISING, DW_FACT_OPERATORS_SYNCHRONISING_COUNT),
		.share = host_share_synchronising,
		.threshold = 0.05,
		.reason = "Such calls keep the host from launching work ahead. Where the work of a device was "
		          "recorded, device-sync states what the device loses.",
		.applies = host_synchronises,
		.statement = "Calls that wait for a result {take} {share} {of}[, most of it in "
		             "{operators.synchronising:name}]{operators.synchronising:where}: "
		             "{operators.synchronising_count} calls {each}.",
		.remedy = {
			[DW_WORDS_ANY] = "read results on the host every n-th step",
			[DW_WORDS_PYTORCH] = "keep losses and metrics as tensors, and call item() or cpu() every n-th step",
			[DW_WORDS_LIGHTNING] = "self.log() of tensors in place of item(), and a larger log_every_n_steps",
			[DW_WORDS_JAX] = "keep results as arrays and read them every n-th step",
		},
		.look = "dwell report --view operators --group-by stack:5",
	},
	{
		.id = "compilation",
		.question = "Is the model compiled again after the first steps?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_HOST,
		.part = DW_RULE_PART_NONE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_COMPILATION, DW_FACT_OPERATORS_COMPILATIONS),
		.threshold = 0.05,
		.reason = "Compilation after the warm-up; the first one is necessary.",
		.statement = "Compiling again takes {share} {of}: {operators.compilations} "
		             "time{operators.compilations:s} after the first steps.",
		.remedy = {
			[DW_WORDS_ANY] = "inputs of the same shapes in all steps",
			[DW_WORDS_PYTORCH] = "inputs of the same shapes, or torch.compile(dynamic=True); "
			                     "TORCH_LOGS=recompiles names the reasons",
			[DW_WORDS_JAX] = "inputs of the same shapes and static arguments that do not change; "
			                 "jax_log_compiles names the functions",
		},
	},
	{
		.id = "first-shapes",
		.question = "Do new shapes of inputs make steps slow?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_HOST,
		.part = DW_RULE_PART_NONE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_FIRST_SHAPES, DW_FACT_OPERATORS_NEW_SHAPES),
		.threshold = 0.05,
		.applies = dw_case_shapes_are_new,
		.reason = "What steps with a new shape take beyond nine tenths of the other steps, after the "
		          "warm-up: large inputs alone do not make a step so long. Only shapes that come "
		          "again count. Not if the size of the input explains 90% of the spread of steps.",
		.statement = "{operators.new_shapes} step{operators.new_shapes:s} in which operators meet a "
		             "new shape {operators.new_shapes:takes} {share} {of} beyond other steps.",
		.remedy = {
			[DW_WORDS_ANY] = "fewer different shapes: pad inputs to a few sizes",
			[DW_WORDS_PYTORCH] = "pad inputs to a few sizes, and leave out the last short batch (drop_last=True)",
		},
		.look = "dwell report --view operators --group-by shape",
	},
	{
		.id = "graph-breaks",
		.question = "Is the compiled model in several pieces?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_HOST,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_GRAPH_BREAKS, DW_FACT_STEP_PYTHON),
		.share = host_share_breaks,
		.threshold = 0.07,
		.reason = "The interpreter runs between the pieces; its share bounds what a model in one piece can save.",
		.applies = host_breaks,
		.statement = "The compiled model breaks {operators.graph_breaks} time{operators.graph_breaks:s} "
		             "{each}, and Python, which runs in between, {takes} {share} {of}.",
		.remedy = {
			[DW_WORDS_ANY] = "compile the model in one piece",
			[DW_WORDS_PYTORCH] = "torch.compile(fullgraph=True) or TORCH_LOGS=graph_breaks names the "
			                     "lines: prints, item() and code that depends on values",
		},
	},
	{
		.id = "small-operators",
		.question = "Are there so many small operators that calling them takes most of the time?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_HOST,
		.part = DW_RULE_PART_COMPUTE,
		.whole_of = host_whole_calls,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_SMALL, DW_FACT_OPERATORS_SMALL_COUNT,
		                       DW_FACT_OPERATORS_SMALL_MEAN, DW_FACT_OPERATORS_COUNT, DW_FACT_STEP_WALL),
		.share = host_share_calls,
		.threshold = 0.10,
		.reason = "Calling an operator costs 2 to 10 us in addition to its work. At least 2000 operators a step of "
		          "less than 1.2 us each on average, as a loop over rows has them, or 100 of less than 20 us that "
		          "take 45% of it, close to each other, of the step's own thread and without those of the data set. A "
		          "deep network has thousands of small operators too: they take longer, and a smaller share. Of the "
		          "time between operators at most 10 us count for each, and no times of a millisecond. Not of a "
		          "compiled model in several pieces, nor of a recurrent layer, which calls them without Python. Those "
		          "between the steps count if they take less than 10 us each, and with their calls 10% of the loop. "
		          "Those of an optimizer that takes 15% of a step do not count, and none do if it calls half of them. In C "
		          "they must take less than 300 ns each.",
		.applies = host_calls_small,
		.number = host_number_of_calls,
		.statement = "{number} small operators {each}, {operators.small_mean} each, "
		             "{take} {share} {of} with the calls between them.",
		.remedy = {
			[DW_WORDS_ANY] = "fewer and larger operators: whole tensors in place of loops over rows, larger batches",
			[DW_WORDS_PYTORCH] = "fewer and larger ones: whole tensors in place of loops over rows, "
			                     "larger batches[!operators.compiled: , torch.compile]"
			                     "[!optimizer.fused: , a fused optimizer]",
			[DW_WORDS_JAX] = "put the whole step under jax.jit, with lax.scan in place of loops",
		},
		.look = "dwell report --view operators --sort calls",
	},
	{ 0 },
};
