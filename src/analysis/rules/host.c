/*
 * Rules about the host: the interpreter, the collector, calls of operators.
 */
#include <string.h>

#include "rules/case.h"

/* ---- calls of operators ---------------------------------------------------------------------- */

/* Whether the operators between the steps are small. */
static bool host_between_are_small(const struct dw_rule_case *at)
{
	return dw_case_part(at, DW_FACT_LOOP_OPERATORS) * dw_case_whole_ns(at, DW_RULE_OF_LOOP) <
	       dw_case_part(at, DW_FACT_LOOP_CALLS) * DW_FACTS_SMALL_NS;
}

static double host_number_of_calls(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_OPERATORS_SMALL_COUNT) +
	       (host_between_are_small(at) ? dw_case_part(at, DW_FACT_LOOP_CALLS) : 0);
}

#define HOST_CALL_NS 10e3 /* at most this is what the interpreter takes to call one operator; the rest of its time is its own */

/* What a library of arrays, which is not the framework, does in the loop besides computing: it makes arrays of lists, and back. */
static double host_of_arrays(const struct dw_account *account)
{
	double ns = 0;

	for (size_t i = 0; account && i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		if (cell->state == DW_ACCOUNT_RUNS && cell->activity == DW_ACTIVITY_PACKAGE && cell->library &&
		    dw_library_of(cell->library).role == DW_LIBRARY_ARRAY)
			ns += cell->library_ns;
	}
	return ns > 0 && account->own_ns > 0 ? ns / account->own_ns : 0;
}

/* What calls of small operators take, as a part of the loop: of Python, or of what a program in C does in no range. */
static double host_calls(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	double own_ns = dw_case_whole_ns(at, DW_RULE_OF_LOOP) * (account && account->wall_ns > 0 ? account->own_ns / account->wall_ns : 1);
	double count = host_number_of_calls(at), all = dw_case_value(at, DW_FACT_OPERATORS_COUNT) + dw_case_part(at, DW_FACT_LOOP_CALLS);
	double between = dw_case_has(at, DW_FACT_TRACE_PYTHON)
	                     ? fmax(0, dw_case_runs(at, DW_ACTIVITY_SET(INTERPRETER) | DW_ACTIVITY_SET(PACKAGE)) - host_of_arrays(account))
	                     : dw_case_part(at, DW_FACT_STEP_UNNAMED) * dw_case_part(at, DW_FACT_LOOP_STEPS);

	return fmin(between * fmin(1, count / all), count * HOST_CALL_NS / own_ns);
}

/* Small operators, with their calls. Those of an optimizer are the optimizer's; checks in them have a rule. */
static struct dw_amount host_share_calls(const struct dw_rule_case *at)
{
	struct dw_amount share = dw_amount_times(dw_case_amount(at, DW_FACT_OPERATORS_SMALL), dw_case_part(at, DW_FACT_LOOP_STEPS));
	double more = host_calls(at) + (host_between_are_small(at) ? dw_case_part(at, DW_FACT_LOOP_OPERATORS) : 0);
	double others = 1 - fmin(1, dw_case_part(at, DW_FACT_OPTIMIZER_COUNT) / dw_case_value(at, DW_FACT_OPERATORS_COUNT));

	share = dw_amount_less(dw_amount_plus(share, (struct dw_amount){ more, more, more }), dw_case_runs(at, DW_ACTIVITY_SET(CHECKS)));
	return dw_amount_times(share, others);
}

/* Calls that wait for a result, and the interpreter's time for them. */
static struct dw_amount host_share_synchronising(const struct dw_rule_case *at)
{
	double part = dw_case_value(at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT) / dw_case_value(at, DW_FACT_OPERATORS_COUNT);

	struct dw_amount share =
	    dw_amount_plus(dw_case_amount(at, DW_FACT_OPERATORS_SYNCHRONISING),
	                   dw_amount_times(dw_case_amount(at, DW_FACT_STEP_PYTHON), isnan(part) ? 0 : fmin(1, part)));

	return share;
}

/* The compiled model is in several pieces. Its small operators are those of the pieces: in one
 * piece the compiler merges them. */
static bool host_breaks(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_OPERATORS_GRAPH_BREAKS) >= 1;
}

static struct dw_amount host_share_breaks(const struct dw_rule_case *at)
{
	return dw_case_amount(at, DW_FACT_STEP_PYTHON);
}

static void host_rows_breaks(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_row(at, "python", rows);
}

/* Where the work of a device was recorded, the time in such a call is the device's: device-sync
 * says what the device loses by it. */
static bool host_synchronises(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT) >= 1 && !dw_case_has(at, DW_FACT_DEVICE_BUSY);
}

/* Inputs of many sizes have many shapes: then the size makes a step long, and not that the shape is new. */
static bool host_shapes_are_new(const struct dw_rule_case *at)
{
	return !dw_case_sizes_vary(at);
}

/* Where operators are called: not in backward, whose engine calls them. */
static const struct dw_account_select host_calling = {
	.activities = { [DW_ACCOUNT_RUNS] = ~DW_ACTIVITY_SET(ALGEBRA) },
};

const struct dw_rule dw_rules_host[] = {
	{
		.id = "synchronising-call",
		.question = "Does a call wait for the device in the middle of a step?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_SYNCHRONISING, DW_FACT_OPERATORS_SYNCHRONISING_COUNT),
		.share = host_share_synchronising,
		.threshold = DW_RULE_DEADBAND,
		.reason = "Such calls keep the host from launching work ahead. Where the work of a device was "
		          "recorded, device-sync states what the device loses.",
		.applies = host_synchronises,
		.statement = "Calls that wait for a result {take} {share} {of}[, most of it in "
		             "{operators.synchronising:name}]{operators.synchronising:where}: "
		             "{operators.synchronising_count:often} calls {each}.",
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
		.threshold = DW_RULE_DEADBAND,
		.reason = "Compilation after the warm-up; the first one is necessary.",
		.statement = "Compiling again takes {share} {of}: {operators.compilations} "
		             "time{operators.compilations:s} after the first steps[; {operators.compilations:note}].",
		.remedy = {
			[DW_WORDS_ANY] = "inputs of the same shapes in all steps",
			[DW_WORDS_PYTORCH] = "inputs of the same shapes, or torch.compile(dynamic=True); "
			                     "TORCH_LOGS=recompiles names all reasons",
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
		.threshold = DW_RULE_DEADBAND,
		.applies = host_shapes_are_new,
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
		.place = &host_calling,
		.question = "Is the compiled model in several pieces?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_HOST,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_GRAPH_BREAKS, DW_FACT_STEP_PYTHON),
		.share = host_share_breaks,
		.rows = host_rows_breaks,
		.threshold = DW_RULE_NAMED,
		.reason = "The interpreter runs between the pieces; its share bounds what a model in one piece can save.",
		.applies = host_breaks,
		.statement = "The compiled model breaks {operators.graph_breaks} time{operators.graph_breaks:s} "
		             "{each}, and Python, which runs in between, {takes} {share} {of}[, most of it in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "compile the model in one piece",
			[DW_WORDS_PYTORCH] = "torch.compile(fullgraph=True) or TORCH_LOGS=graph_breaks names the "
			                     "lines: prints, item() and code that depends on values",
		},
	},
	{
		.id = "small-operators",
		.place = &host_calling,
		.question = "Are there so many small operators that calling them takes most of the time?",
		.kind = DW_RULE_WORK,
		.group = DW_RULE_HOST,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_LOOP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_SMALL, DW_FACT_OPERATORS_SMALL_COUNT,
		                       DW_FACT_OPERATORS_SMALL_MEAN, DW_FACT_OPERATORS_COUNT, DW_FACT_STEP_WALL),
		.share = host_share_calls,
		.threshold = 0.33,
		.reason = "Calling an operator costs 2 to 10 us in addition to its work. An operator of less than 20 us (300 ns "
			"in C) is small; of the "
		          "time that samples find in the interpreter its calls have at most 10 us each. Those of an optimizer "
		"do not count. It is ranked as work: merged, they still compute what they do.",
		.number = host_number_of_calls,
		.statement = "{number} small operators {each}, {operators.small_mean} each, "
		             "{take} {share} {of} with the calls between them[, most of them in {cells:most}].",
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
