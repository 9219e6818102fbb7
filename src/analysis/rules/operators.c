/*
 * Rules about the work itself: operators, the optimizer, layout and precision.
 */
#include <string.h>

#include "base/code/activity.h"
#include "rules/case.h"

#define UNCLAIMED \
	(~(DW_ACTIVITY_SET(FAULT) | DW_ACTIVITY_SET(RETURNS) | DW_ACTIVITIES_OF_MEMORY | \
	   DW_ACTIVITIES_OF_FILES)) /* by other rules */

/* The part of the optimizer that computes. */
static double operators_optimizer_computes(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	double all_ns = 0, computes_ns = 0;

	for (size_t i = 0; account && i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		if (cell->share != DW_SHARE_OPTIMIZER || cell->state == DW_ACCOUNT_NO_CPU)
			continue;
		all_ns += cell->ns;
		computes_ns += cell->state <= DW_ACCOUNT_OTHERS && cell->state != DW_ACCOUNT_SPINS &&
		                       dw_activity_in(cell->activity, UNCLAIMED)
		                   ? cell->ns
		                   : 0;
	}
	return all_ns > 0 ? computes_ns / all_ns : 1;
}

/* Its operators. One that calls forward and backward itself, as LBFGS does, has no more than what lies in none of these. */
static struct dw_amount operators_share_optimizer(const struct dw_rule_case *at)
{
	struct dw_amount share = dw_case_amount(at, DW_FACT_STEP_OPTIMIZER);

	if (dw_case_value(at, DW_FACT_STEP_OPTIMIZER_ALL) < share.value)
		share = dw_case_amount(at, DW_FACT_STEP_OPTIMIZER_ALL);
	return dw_amount_times(share, dw_case_part(at, DW_FACT_LOOP_STEPS) * operators_optimizer_computes(at));
}

static void operators_rows_optimizer(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_row(at, "optimizer", rows);
}

#define OPERATORS_OF_MANY 400 /* of an optimizer: Adam's for some thirty tensors */

static bool operators_optimizer_unfused(const struct dw_rule_case *at)
{
	return !dw_case_has(at, DW_FACT_OPTIMIZER_FUSED) && !dw_case_has(at, DW_FACT_OPTIMIZER_FOREACH) &&
	       dw_case_value(at, DW_FACT_OPTIMIZER_COUNT) >= OPERATORS_OF_MANY;
}

static struct dw_amount operators_share_layout(const struct dw_rule_case *at)
{
	return dw_amount_plus(dw_amount_plus(dw_case_amount(at, DW_FACT_OPERATORS_LAYOUT), dw_case_amount(at, DW_FACT_OPERATORS_COPIES)),
	                      dw_case_amount(at, DW_FACT_OPERATORS_CLEARS));
}

/* The largest ones in the table. */
static void operators_rows_moves(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_operator(at, DW_FACT_OPERATORS_LAYOUT, rows);
	dw_case_add_operator(at, DW_FACT_OPERATORS_COPIES, rows);
	dw_case_add_operator(at, DW_FACT_OPERATORS_CLEARS, rows);
}

/* 1: most of it is clearing; 0: copying. */
static double operators_clear_most(const struct dw_rule_case *at)
{
	return 2 * dw_case_part(at, DW_FACT_OPERATORS_CLEARS) >= operators_share_layout(at).value;
}

/* Elementwise operators without those of the optimizer, which has rules of its own. All operators
 * of the optimizer are counted as elementwise. Page faults pass in operators that write new memory, as these
 * do, and have a rule too. */
static struct dw_amount operators_share_elementwise(const struct dw_rule_case *at)
{
	return dw_amount_less(dw_case_amount(at, DW_FACT_OPERATORS_ELEMENTWISE),
	                      dw_case_part(at, DW_FACT_STEP_OPTIMIZER) + dw_case_runs(at, DW_ACTIVITY_SET(FAULT)));
}

/* Two elementwise operators in one pass read and write half as much. */
static double operators_half(const struct dw_rule_case *at, double share_ns)
{
	(void)at;
	return share_ns / 2;
}

/* Sparse gradients of embeddings also make their part of backward short, which clears and adds all rows. */
static double operators_rest_of_embeddings(const struct dw_rule_case *at)
{
	return dw_case_part(at, DW_FACT_STEP_BACKWARD) * dw_case_part(at, DW_FACT_GRADIENTS_EMBEDDINGS) * at->verdict->whole_ns;
}

/* Where clearing is most of it, the same remedy also makes their part of the optimizer short. */
static double operators_rest_of_moves(const struct dw_rule_case *at)
{
	double embeddings = dw_case_part(at, DW_FACT_GRADIENTS_EMBEDDINGS) * at->verdict->whole_ns;

	if (!(operators_clear_most(at) > 0))
		return 0;
	return dw_case_part(at, DW_FACT_STEP_OPTIMIZER) * embeddings + operators_rest_of_embeddings(at);
}

static bool operators_not_compiled(const struct dw_rule_case *at)
{
	return !dw_case_has(at, DW_FACT_OPERATORS_COMPILED);
}

/* What operators compute with padding, if they take as long for it as for the rest. An optimizer works on parameters. */
static struct dw_amount operators_share_padding(const struct dw_rule_case *at)
{
	return dw_amount_times(dw_amount_less(dw_case_amount(at, DW_FACT_OPERATORS_SHARE), dw_case_part(at, DW_FACT_STEP_OPTIMIZER)),
	                       dw_case_part(at, DW_FACT_DATA_PADDING));
}

/* The time of slow products, less the time that they would take at the peak. */
static struct dw_amount operators_share_roof(const struct dw_rule_case *at)
{
	return dw_amount_times(dw_case_amount(at, DW_FACT_FLOPS_SLOW), 1 - dw_case_part(at, DW_FACT_FLOPS_SLOW_SHARE));
}

/* Whether a rule on cells says what the thread does in this one. */
static bool operators_is_said(const struct dw_rule_case *at, const struct dw_account_cell *cell)
{
	const struct dw_account *account = at->facts->account;

	for (const struct dw_rule *rule = dw_rules_cells; rule->id; rule++)
		if (!rule->unmarked && (rule->cells->call == DW_ACCOUNT_NO_CALL ? 0 : rule->cells->call) == cell->call &&
		    dw_activity_in(cell->activity, rule->cells->activities[cell->state]))
			return dw_account_sum(account, rule->cells).ns >= rule->threshold * account->own_ns;
	return false;
}

/* Without the time for which the thread waits there, or other threads work, and without what other rules report. */
static struct dw_amount operators_share_nameless(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	double all_ns = 0, runs_ns = 0;

	for (size_t i = 0; account && i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		if (cell->where != DW_SAMPLE_IN_STEP || cell->share != DW_SHARE_OTHER || cell->state == DW_ACCOUNT_NO_CPU)
			continue;
		all_ns += cell->ns;
		if (cell->state == DW_ACCOUNT_UNKNOWN || (cell->state == DW_ACCOUNT_RUNS && !operators_is_said(at, cell)))
			runs_ns += cell->ns;
	}
	return dw_amount_times(dw_case_amount(at, DW_FACT_STEP_UNNAMED), all_ns > 0 ? runs_ns / all_ns : 1);
}

static void operators_rows_nameless(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_row(at, "other", rows);
}

/* What is in no range says less than any cause: it always describes the form of the program. */
static bool operators_name_little(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_STEP_UNNAMED);
}

/* Where nothing has a name, samples say which functions take the time, if there are some. */
static bool operators_need_names(const struct dw_rule_case *at)
{
	return dw_case_is_named(at) || !at->facts->account || !dw_account_is_divided(at->facts->account);
}

#define OPERATORS_KNOWN 0.05   /* of a step: what trains is known by name */

/* What trains is known by name: then a range under another name is something else. An optimizer alone is not enough: the passes
 * may have other names. */
static bool operators_training_is_named(const struct dw_rule_case *at)
{
	return dw_case_part(at, DW_FACT_STEP_FORWARD) + dw_case_part(at, DW_FACT_STEP_BACKWARD) +
	           dw_case_part(at, DW_FACT_STEP_OPERATORS) + dw_case_part(at, DW_FACT_STEP_LAYERS) >= OPERATORS_KNOWN;
}

/* All that the largest range under a name of the program has of the thread's time. */
static bool operators_find_named(const struct dw_rule_case *at, struct dw_account_select *cells)
{
	const struct dw_fact *largest = dw_case_fact(at, DW_FACT_STEP_NAMED_LARGEST);

	if (!largest->measured || largest->symbol == DW_NO_INDEX)
		return false;
	*cells = dw_account_select_states(~(1u << DW_ACCOUNT_NO_CPU), DW_ACCOUNT_ALL);
	cells->by_name = true;
	cells->named = largest->symbol;
	return true;
}

static void operators_rows_named(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_row(at, dw_case_fact(at, DW_FACT_STEP_NAMED_LARGEST)->name, rows);
}

#define OPERATORS_WHOLE 0.98 /* of the loop */

/* The rule about logging reports a range of that name. */
static bool operators_named_is_else(const struct dw_rule_case *at)
{
	const char *name = dw_case_fact(at, DW_FACT_STEP_NAMED_LARGEST)->name;
	const char *logging = dw_case_fact(at, DW_FACT_LOOP_LOGGING_ALL)->name;
	/* Another profiler's trace has no samples: the largest range is all that is known, unless it is around everything. */
	bool is_known = at->facts->foreign && at->verdict->share.value < OPERATORS_WHOLE;

	return (operators_training_is_named(at) || is_known) && !(name && logging && strcmp(name, logging) == 0);
}

/* Percent of the loop in the largest range, if no pass or operator takes more. */
static double operators_named_percent(const struct dw_rule_case *at)
{
	double largest = dw_case_part(at, DW_FACT_STEP_NAMED_LARGEST);
	double known = fmax(dw_case_part(at, DW_FACT_STEP_FORWARD), dw_case_part(at, DW_FACT_STEP_BACKWARD));
	struct dw_rule_rows rows = { .count = 0 };

	known = fmax(known, fmax(dw_case_part(at, DW_FACT_STEP_OPTIMIZER), dw_case_part(at, DW_FACT_OPERATORS_LARGEST)));
	dw_case_add_row(at, dw_case_fact(at, DW_FACT_STEP_NAMED_LARGEST)->name, &rows);
	return largest >= OPERATORS_KNOWN && largest > known
	           ? round((rows.count ? rows.share : largest * dw_case_steps(at)) * 100) : NAN;
}

/* The time of a step in ranges that may be work. What waits in them is none. */
static struct dw_amount operators_share_work(const struct dw_rule_case *at)
{
	static const enum dw_fact_id parts[] = { DW_FACT_STEP_FORWARD, DW_FACT_STEP_BACKWARD,
		DW_FACT_STEP_OPTIMIZER, DW_FACT_STEP_OPERATORS, DW_FACT_STEP_LAYERS,
		DW_FACT_STEP_FUNCTIONS, DW_FACT_STEP_NAMED };
	struct dw_amount sum = dw_case_amount(at, DW_FACT_STEP_OPERATORS);
	const struct dw_account *account = at->facts->account;
	double others = 0;

	sum.value = sum.low = sum.high = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		sum = dw_amount_plus(sum, dw_case_amount(at, parts[i]));
	/* Other threads of the program compute while this one waits, as those of XLA. */
	if (account && account->own_ns > 0)
		others = fmin(dw_case_part(at, DW_FACT_STEP_IDLE), account->state_ns[DW_ACCOUNT_OTHERS] / account->own_ns);
	sum = dw_amount_plus(sum, (struct dw_amount){ others, others, others });
	/* A library that Python calls computes, too. */
	sum = dw_amount_plus(sum, dw_amount_times(dw_case_amount(at, DW_FACT_STEP_PYTHON), dw_case_part(at, DW_FACT_SAMPLES_ENGINE)));
	return dw_amount_less(sum, fmax(0, dw_case_waits(at, DW_ACCOUNT_ALL) - dw_case_part(at, DW_FACT_STEP_IDLE)));
}

static bool operators_always(const struct dw_rule_case *at)
{
	(void)at;
	return true;
}

/* Products, convolutions and recurrent layers are what training computes. In C the program gives its
 * operators their names, which say nothing of that. */
static bool operators_are_usual(const struct dw_rule_case *at)
{
	const char *name = dw_case_fact(at, DW_FACT_OPERATORS_LARGEST)->name;
	enum dw_operator_family family = name ? dw_operator_family_of(name) : DW_OPERATOR_OTHER;

	if (dw_case_has(at, DW_FACT_OPERATORS_UNCOMMON))
		return false;
	return at->facts->framework == DW_FACTS_C || !name || family == DW_OPERATOR_PRODUCT || family == DW_OPERATOR_RECURRENT;
}

#define OPERATORS_MOST 0.40     /* of a step */

static enum dw_fact_id operators_one(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_OPERATORS_UNCOMMON) ? DW_FACT_OPERATORS_UNCOMMON : DW_FACT_OPERATORS_LARGEST;
}

static struct dw_amount operators_share_one(const struct dw_rule_case *at)
{
	return dw_case_amount(at, operators_one(at));
}

static void operators_rows_one(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_operator(at, operators_one(at), rows);
}

static bool operators_one_is_much(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_OPERATORS_UNCOMMON) || dw_case_part(at, DW_FACT_OPERATORS_LARGEST) >= OPERATORS_MOST;
}

static void operators_rows_backward(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_row(at, "backward", rows);
}

/* Most of what a backward computes is for nothing. */
static bool operators_gradients_are_unused(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_GRADIENTS_UNUSED) >= DW_ACCOUNT_MOST;
}

const struct dw_rule dw_rules_operators[] = {
	{
		.id = "unused-gradients",
		.question = "Does backward compute gradients that no optimizer uses?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_BACKWARD, DW_FACT_GRADIENTS_UNUSED, DW_FACT_GRADIENTS_UNUSED_COUNT),
		.rows = operators_rows_backward,
		.threshold = DW_RULE_NAMED,
		.reason = "Parameters that require gradients and are in no optimizer: counted, at steps whose numbers are powers of two. "
		          "Half or more of all that get gradients. Not if no optimizer has any of the model's parameters: it may have "
		          "copies.",
		.applies = operators_gradients_are_unused,
		.statement = "Backward {takes} {share} {of}{gradients.unused:where}, and {gradients.unused} of the parameters for "
		             "which it computes gradients are in no optimizer[, most of them in {gradients.unused:note}].",
		.remedy = {
			[DW_WORDS_ANY] = "compute no gradients of parts that are not trained",
			[DW_WORDS_PYTORCH] = "requires_grad_(False) on the part that is not trained, or torch.no_grad() around its call",
		},
		.look = "dwell report --view phases",
	},
	{
		.id = "padding",
		.question = "Is a large part of a batch padding?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_SHARE, DW_FACT_DATA_PADDING, DW_FACT_DATA_LONGEST),
		.share = operators_share_padding,
		.threshold = 0.33,
		.reason = "The padding of the 2nd, 8th, 32nd ... batch of a loader, or input of a model, as a part of the time in "
		          "operators without those of an optimizer. Padding is a run of "
		          "one value at the end of a row of whole numbers, or vectors of zeros at the end of a sequence. Attention takes "
		          "more for it than its part.",
		.statement = "Computing with padding {takes} {share} {of}: {data.padding} of a batch[, which {data.padding:note} makes,] "
		             "is one value at the ends of rows, and the longest row uses {data.longest} of its places.",
		.remedy = {
			[DW_WORDS_ANY] = "rows as long as the longest of their batch, and samples of like length in one batch",
			[DW_WORDS_PYTORCH] = "in collate_fn, rows as long as the longest of their batch (pad_sequence()); a batch_sampler "
			                     "that puts samples of like length together; or nested or packed sequences",
		},
		.look = "dwell report --view dataloader",
	},
	{
		.id = "optimizer-unfused",
		.question = "Does the optimizer call operators for each parameter?",
		.kind = DW_RULE_WORK,
		.group = DW_RULE_OPTIMIZER,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_LOOP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_OPTIMIZER, DW_FACT_OPTIMIZER_COUNT, DW_FACT_OPTIMIZER_FUSED),
		.share = operators_share_optimizer,
		.rows = operators_rows_optimizer,
		.threshold = 0.15,
		.reason = "At least 400 operators in the optimizer, as Adam calls them for some thirty tensors, "
		          "none of them over lists of tensors. An optimizer that works on all parameters at once takes a few "
		"percent of a step.",
		.applies = operators_optimizer_unfused,
		.gain_ns = operators_half,
		.statement = "The optimizer {takes} {share} {of} with {optimizer.count} operators: it works on "
		             "one parameter at a time.",
		.remedy = {
			[DW_WORDS_ANY] = "update all parameters in one pass",
			[DW_WORDS_PYTORCH] = "fused=True or foreach=True in the optimizer's constructor",
		},
		.look = "dwell report --view phases",
	},
	{
		.id = "optimizer-dominates",
		.question = "Is the optimizer the largest part of a step?",
		.kind = DW_RULE_WORK,
		.group = DW_RULE_OPTIMIZER,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_LOOP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_OPTIMIZER),
		.share = operators_share_optimizer,
		.rows = operators_rows_optimizer,
		.threshold = 0.20,
		.reason = "An update costs as much for a small batch as for a large one. Where it takes 20% "
		          "of the loop, the batch is small for the number of parameters. Only what computes: waits, page "
		"faults, memory and files in it "
		          "have rules of their own.",
		.rest_ns = operators_rest_of_embeddings,
		.rest = "the embeddings' part of backward",
		.statement = "The optimizer {takes} {share} {of}[-gradients.embeddings: : the batch is small for the number of parameters]"
		             "[?gradients.embeddings: , and {gradients.embeddings} of the parameters are those of embeddings"
		             "[, as {gradients.embeddings:note}]: it updates all rows, also those that a batch does not use].",
		.remedy = {
			[DW_WORDS_ANY] = "larger batches, or an update every n-th batch",
			[DW_WORDS_PYTORCH] = "[?gradients.embeddings: if a batch uses few of the rows, nn.Embedding(..., sparse=True), "
			                     "with an optimizer that takes sparse gradients (SGD, SparseAdam); or ]larger batches, "
			                     "an update every n-th batch"
			                     "[!optimizer.fused: , or fused=True in the optimizer's constructor]",
			[DW_WORDS_LIGHTNING] = "larger batches, accumulate_grad_batches"
			                       "[!optimizer.fused: , or fused=True in the optimizer's "
			                       "constructor]",
		},
		.look = "dwell report --view phases",
	},
	{
		.id = "layout-copies",
		.question = "Are tensors copied from one layout to another?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_OPERATORS,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_LAYOUT, DW_FACT_OPERATORS_COPIES),
		.share = operators_share_layout,
		.rows = operators_rows_moves,
		.number = operators_clear_most,
		.threshold = 0.13,
		.reason = "Copies compute nothing. Copies of less than 20 us are small operators. To prepare the "
		          "input most programs copy up to a tenth, and operators of the library copy by themselves: to "
		          "pad, to enlarge pictures.",
		.rest_ns = operators_rest_of_moves,
		.rest = "the embeddings' part of backward and of the optimizer",
		.statement = "[!number: Copies and changes of layout {take}][?number: Copying and clearing memory {takes}] "
		             "{share} {of}[, most of it for {operators.moved:name}]{operators.moved:where}.",
		.remedy = {
			[DW_WORDS_ANY] = "[!number: keep tensors in the layout that the next operator wants]"
			                 "[?number: keep buffers, and write them without clearing them before]",
			[DW_WORDS_PYTORCH] = "[!number: channels_last for model and inputs of convolutions, fewer transposes "
			                     "before contiguous(), the right type and device from the start]"
			                     "[?number: torch.empty() for what is written next[?gradients.embeddings: ; of the gradient "
			                     "of an embedding, nn.Embedding(..., sparse=True), which clears, and lets the optimizer "
			                     "update, only the rows in use]]",
		},
		.look = "dwell report --view operators --group-by shape",
		.unless = DW_FACT_TRACE_SHAPES,
		.record = "dwell run --shapes tells which tensors",
	},
	{
		.id = "precision",
		.question = "Do operators compute in 64-bit floating point?",
		.kind = DW_RULE_WORK,
		.group = DW_RULE_OPERATORS,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_FLOAT64),
		.threshold = 0.20,
		.reason = "One array of NumPy in 64-bit floating point, the usual type there, makes all that is computed with it have this "
		          "type, which takes twice as long. The types are those of the last step in which they were read.",
		.gain_ns = operators_half,
		.statement = "Operators in 64-bit floating point {take} {share} {of}"
		             "[, most of it in {operators.float64:name}{operators.float64:where}]: 32 bits take half the time.",
		.remedy = {
			[DW_WORDS_ANY] = "32-bit floating point, unless the result needs 64",
			[DW_WORDS_PYTORCH] = "data and parameters as torch.float32, unless the result needs 64 bits: "
			                     "torch.from_numpy() keeps the type of NumPy's array",
		},
		.look = "dwell report --view operators",
	},
	{
		.id = "roofline",
		.question = "Do products compute far below the machine's peak?",
		.kind = DW_RULE_WORK,
		.is_form = operators_always,
		.group = DW_RULE_OPERATORS,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_FLOPS_SLOW),
		.share = operators_share_roof,
		.threshold = OPERATORS_MOST,
		.reason = "Products of matrices, convolutions and attention can come near the peak that was "
		          "measured on this machine. Those under a name that reaches less than 30% of it count. "
		          "Small models lose a third of a step to it and can change little.",
		.statement = "Products of matrices[, most of them {flops.slow:name},] reach "
		             "{flops.slow_share} of the machine's measured peak: {share} {of} is lost to it.",
		.remedy = {
			[DW_WORDS_ANY] = "larger batches and dimensions that are multiples of 16 or more, one product "
			                 "of matrices instead of many of vectors",
		},
		.look = "dwell report --view flops",
	},
	{
		.id = "one-operator",
		.question = "Does one operator take most of a step?",
		.kind = DW_RULE_WORK,
		.is_form = operators_are_usual,
		.group = DW_RULE_OPERATORS,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_LARGEST),
		.share = operators_share_one,
		.rows = operators_rows_one,
		.threshold = 0.25,
		.reason = "One name with 40% decides how long a step takes; of operators that few models need in each step, as "
			"decompositions and sorting, 25% is much. "
		          "Products, convolutions and recurrent layers are what training computes, and come after all causes; "
		          "so do a C program's operators, whose names do not say what they are.",
		.applies = operators_one_is_much,
		.no_gain = true,
		.statement = "[?operators.uncommon: One operator, {operators.uncommon:name}, {takes} {share} "
			"{of}{operators.uncommon:where}: "
		             "{operators.uncommon_count:often} call{operators.uncommon_count:s} {each}]"
		             "[-operators.uncommon: One operator, {operators.largest:name}, {takes} {share} {of}{operators.largest:where}]"
		             "[-operators.uncommon: : {operators.largest_count:often} call{operators.largest_count:s} {each}].",
		.remedy = {
			[DW_WORDS_ANY] = "call it less often, once, or on less data",
			[DW_WORDS_PYTORCH] = "[?operators.uncommon: only what is needed of an order or a decomposition: torch.topk() for "
			                     "the first ones, torch.linalg.solve() for an inverse; or ]call it less often, once, or on "
			                     "less data",
		},
		.look = "dwell report --view operators --group-by shape",
		.unless = DW_FACT_TRACE_SHAPES,
		.record = "dwell run --shapes tells which calls",
	},
	{
		.id = "memory-bound-chain",
		.question = "Do elementwise operators move data that one pass could keep?",
		.kind = DW_RULE_WORK,
		.group = DW_RULE_OPERATORS,
		.part = DW_RULE_PART_COMPUTE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_ELEMENTWISE),
		.share = operators_share_elementwise,
		.threshold = 0.30,
		.reason = "Elementwise operators read and write memory and compute little; a fifth of a step is "
		          "usual. Without the time of page faults, if it is a twentieth of a step. Merged in pairs "
		          "they move half as much.",
		.applies = operators_not_compiled,
		.gain_ns = operators_half,
		.statement = "Elementwise operators {take} {share} {of} outside the "
		             "optimizer[, most of it in {operators.elementwise:name}{operators.elementwise:where}]: they move data "
		             "and compute little.",
		.remedy = {
			[DW_WORDS_ANY] = "merge consecutive ones into one pass",
			[DW_WORDS_PYTORCH] = "torch.compile merges consecutive ones; in-place and addcmul-like "
			                     "operators save passes",
			[DW_WORDS_JAX] = "put them under one jax.jit, which merges them",
		},
		.look = "dwell report --view operators",
	},
	{
		.id = "half-precision",
		.question = "Are products computed in a longer type than needed?",
		.kind = DW_RULE_CHANCE,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_OPERATORS_FLOAT32),
		.threshold = OPERATORS_MOST,
		.reason = "Products that a 16-bit type could make, on a machine that has instructions for it.",
		.no_gain = true,
		.statement = "Products in 32-bit floating point {take} {share} {of}; this machine computes faster in 16 bits.",
		.remedy = {
			[DW_WORDS_PYTORCH] = "torch.autocast(..., dtype=torch.bfloat16)",
			[DW_WORDS_LIGHTNING] = "Trainer(precision=\"bf16-mixed\")",
			[DW_WORDS_JAX] = "bfloat16 for activations, or jax_default_matmul_precision",
		},
	},
	{
		.id = "named-part",
		.question = "Does a part that the program named, and that is not training, take time?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_NONE,
		.whole = DW_RULE_OF_LOOP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_NAMED_LARGEST),
		.cells_of = operators_find_named,
		.rows = operators_rows_named,
		.threshold = 0.20,
		.reason = "Forward, backward, operators or layers are known, so that a range under a name of the program's own "
			"is something else: whether "
		          "training needs it, dwell cannot tell. It is ranked by half of its time without what other causes "
		"have of that. Where no "
		          "part of training is known, the largest range is the work.",
		.applies = operators_named_is_else,
		.no_gain = true,
		.statement = "The range {step.named_largest:name} {takes} {share} {of}{step.named_largest:where}[, most of it "
			"in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "ranges within it show which of its parts takes the time; do what is no training "
			                 "every n-th step or in another thread",
		},
		.look = "dwell report --view tree",
	},
	{
		.id = "nameless",
		.marked = true,
		.question = "How much of a step lies in no named range?",
		.kind = DW_RULE_WORK,
		.group = DW_RULE_HOST,
		.part = DW_RULE_PART_NONE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_UNNAMED),
		.share = operators_share_nameless,
		.rows = operators_rows_nameless,
		.threshold = DW_RULE_LARGE,
		.applies = operators_need_names,
		.is_form = operators_name_little,
		.reason = "A program without Python need not name all of its work; from a twelfth of a step "
		          "on, what lies there can be the cause of something. It is ranked after all causes, which may lie in it.",
		.no_gain = true,
		.statement = "{share} {of} lies in no named range[; {samples.unnamed} of it is in "
		             "{samples.unnamed:name}{samples.unnamed:where}].",
		.remedy = {
			[DW_WORDS_C] = "DWELL_ZONE(\"name\") around its parts shows which",
			[DW_WORDS_PYTORCH] = "torch.profiler.record_function(\"name\") around its parts shows which",
		},
	},
	{
		.id = "compute",
		.marked = true,
		.question = "Does nothing stand out?",
		.kind = DW_RULE_ANSWER,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_OPERATORS),
		.share = operators_share_work,
		.threshold = DW_RULE_MOST,
		.reason = "Ranges take more than half of a step without what waits in them, and no other rule says anything.",
		.no_gain = true,
		.number = operators_named_percent,
		.place = &(const struct dw_account_select){ .activities = { [DW_ACCOUNT_RUNS] = DW_ACCOUNT_ALL } },
		.statement = "Work takes {share} {of}[-number: [, most of it in {cells:most}]], and no wait or overhead stands out"
		             "[; the largest range is "
		             "{step.named_largest:name}, {number}%{step.named_largest:where}][; the largest operator is "
		             "{operators.largest:name}, {operators.largest}][-operators.largest: ; {samples.engine} of Python's part is in "
		             "libraries that compute, most of it called by {samples.python:name}{samples.python:where}].",
	},
	{ 0 },
};
