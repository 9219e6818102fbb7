/*
 * Rules about the loop: what it does outside steps, and how the durations of its steps change.
 */
#include <string.h>

#include "rules/case.h"

/* What the thread does and waits for between the steps, without the parts that records explain. */
static const struct dw_account_select loop_between = {
	.activities = { [DW_ACCOUNT_RUNS] = DW_ACCOUNT_ALL,
	                [DW_ACCOUNT_OTHERS] = DW_ACCOUNT_ALL,
	                [DW_ACCOUNT_WAITS] = DW_ACCOUNT_ALL },
	.where = 1u << DW_SAMPLE_BETWEEN,
};

/* The function that goes from step to step: it has all of the loop, and little else. */
static const struct dw_account_select loop_all = {
	.activities = { [DW_ACCOUNT_RUNS] = DW_ACCOUNT_ALL,
	                [DW_ACCOUNT_OTHERS] = DW_ACCOUNT_ALL,
	                [DW_ACCOUNT_WAITS] = DW_ACCOUNT_ALL },
	.where = 1u << DW_SAMPLE_IN_STEP | 1u << DW_SAMPLE_BETWEEN,
};

#define LOOP_VARIES 0.7 /* of the spread of steps */

static struct dw_amount loop_sum(const struct dw_rule_case *at, enum dw_fact_id inside, enum dw_fact_id outside)
{
	double share = dw_case_part(at, outside) + dw_case_part(at, inside) * dw_case_part(at, DW_FACT_LOOP_STEPS);

	return (struct dw_amount){ share, share, share };
}

static struct dw_amount loop_share_graphs(const struct dw_rule_case *at)
{
	return dw_amount_times(loop_sum(at, DW_FACT_STEP_EVALUATION, DW_FACT_LOOP_EVALUATION),
	                       dw_case_value(at, DW_FACT_EVALUATION_GRAPHS));
}

/* Only some iterations evaluate, and are slow because of that. */
static bool loop_some_steps_evaluate(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	struct dw_account_select evaluation = { .explained = 1u << DW_SHARE_EVALUATION };
	double all_ns = account ? dw_account_sum(account, &evaluation).ns : 0;

	evaluation.classes = 1u << DW_ITERATION_SLOW;
	return all_ns > 0 && dw_account_iterations(account, evaluation.classes) &&
	       2 * dw_account_sum(account, &evaluation).ns >= all_ns;
}

#define LOOP_BACKWARD 3.0 /* times the forward: what a backward takes at most */

/* No more than one evaluation follows each epoch, and takes less than the forward of as many samples as are learned from. The epochs
 * of loaders are those of learning and of evaluation. */
static bool loop_evaluates_usually(const struct dw_rule_case *at)
{
	return 2 * dw_case_value(at, DW_FACT_EVALUATION_TIMES) <= dw_case_value(at, DW_FACT_LOADER_EPOCHS) &&
	       dw_case_part(at, DW_FACT_LOOP_EVALUATION_ALL) < 1 / (1 + LOOP_BACKWARD);
}

/* In or after each step the model is called without gradients: to act, to make targets. That is part of training. An
 * evaluation is of the model that is trained, in evaluation mode; where this is not known, it comes after many steps.
 */
static bool loop_evaluates(const struct dw_rule_case *at)
{
	double calls = dw_case_part(at, DW_FACT_LOOP_EVALUATIONS) / dw_case_value(at, DW_FACT_STEP_COUNT);

	if (loop_evaluates_usually(at))
		return false;
	if (!loop_some_steps_evaluate(at) &&
	    dw_case_part(at, DW_FACT_STEP_EVALUATION) * dw_case_part(at, DW_FACT_LOOP_STEPS) >=
	        fmax(DW_RULE_DEADBAND, dw_case_part(at, DW_FACT_LOOP_EVALUATION_ALL) / 2))
		return false;
	return dw_case_part(at, DW_FACT_EVALUATION_TRAINED) >= DW_RULE_MOST || 2 * calls < 1;
}

/* Operators between the steps that belong to the forward: it begins with the call of a module, and the program
 * may compute much of it before, with functions. The backward shows how much: it differentiates all of it. */
static double loop_forward_before(const struct dw_rule_case *at)
{
	double forward = dw_case_part(at, DW_FACT_STEP_FORWARD_ALL);
	double backward = dw_case_part(at, DW_FACT_STEP_BACKWARD_ALL);
	double known = forward + dw_case_part(at, DW_FACT_STEP_OPERATORS);

	if (!dw_case_has(at, DW_FACT_TRACE_TORCH) || backward <= LOOP_BACKWARD * known)
		return 0;
	return (backward - known) * dw_case_part(at, DW_FACT_LOOP_STEPS);
}

/* Operators between the steps that are no forward. */
static double loop_operators_between(const struct dw_rule_case *at)
{
	return fmax(0, dw_case_part(at, DW_FACT_LOOP_OPERATORS) - loop_forward_before(at));
}

/* Time between the steps that is neither Python nor a wait: these have rules of their own. If they cannot be
 * distinguished from each other, both are included. */
static struct dw_amount loop_share_between(const struct dw_rule_case *at)
{
	double share = dw_case_part(at, DW_FACT_LOOP_NAMED) + dw_case_part(at, DW_FACT_LOOP_UNNAMED);

	share += loop_operators_between(at);
	if (!dw_case_fact(at, DW_FACT_LOOP_WAITING)->measured)
		share += dw_case_part(at, DW_FACT_LOOP_PYTHON);
	return (struct dw_amount){ share, share, share };
}

#define LOOP_ALL \
	[DW_ACCOUNT_RUNS] = DW_ACCOUNT_ALL, [DW_ACCOUNT_SPINS] = DW_ACCOUNT_ALL, [DW_ACCOUNT_OTHERS] = DW_ACCOUNT_ALL, \
	[DW_ACCOUNT_WAITS] = DW_ACCOUNT_ALL, [DW_ACCOUNT_UNKNOWN] = DW_ACCOUNT_ALL

/* What iterations of a class take beyond steady ones. In slow ones, what records explain, and waits for threads, have
 * rules of their own. */
static const struct dw_account_select loop_slow = {
	.activities = { [DW_ACCOUNT_RUNS] = DW_ACCOUNT_ALL,
	                [DW_ACCOUNT_OTHERS] = DW_ACCOUNT_ALL,
	                [DW_ACCOUNT_WAITS] = ~DW_ACTIVITIES_OF_THREADS,
	                [DW_ACCOUNT_UNKNOWN] = DW_ACCOUNT_ALL },
	.classes = 1u << DW_ITERATION_SLOW,
	.beyond = true,
};
static const struct dw_account_select loop_warm_up = {
	.explained = DW_ACCOUNT_EXPLAINED,
	.activities = { LOOP_ALL },
	.classes = 1u << DW_ITERATION_WARM_UP,
	.beyond = true,
};

/* Sets the cells, if it is known of which class they are. */
static bool loop_find_class(const struct dw_rule_case *at, struct dw_account_select *cells,
                            const struct dw_account_select *of)
{
	*cells = *of;
	return at->facts->account && dw_account_iterations(at->facts->account, ~0u);
}

static bool loop_find_slow(const struct dw_rule_case *at, struct dw_account_select *cells)
{
	return loop_find_class(at, cells, &loop_slow);
}

static bool loop_find_warm_up(const struct dw_rule_case *at, struct dw_account_select *cells)
{
	return loop_find_class(at, cells, &loop_warm_up);
}

#define LOOP_SLOW_OWN \
	0.5 /* of what they take, in other cells than usual; if all take longer alike, the machine was slower */
#define LOOP_SLOWER 2.5 /* times the running time of a steady iteration: no machine is so much slower */

/* Whether slow iterations run for longer than a slow machine explains. */
static bool loop_runs_longer(const struct dw_account *account)
{
	struct dw_account_select runs = dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL);
	double slow_ns, steady_ns;

	runs.classes = 1u << DW_ITERATION_SLOW;
	slow_ns = dw_account_sum(account, &runs).ns / fmax(1, (double)dw_account_iterations(account, runs.classes));
	runs.classes = 1u << DW_ITERATION_STEADY;
	steady_ns = dw_account_sum(account, &runs).ns / fmax(1, (double)dw_account_iterations(account, runs.classes));
	return slow_ns >= LOOP_SLOWER * steady_ns;
}

/* Other threads that had no CPU make the loop's thread wait. */
static bool loop_lacks_cpus(const struct dw_rule_case *at)
{
	const struct dw_fact *excess = dw_case_fact(at, DW_FACT_STEP_OUTLIERS_EXCESS);

	return excess->measured && excess->note && strcmp(excess->note, "no CPU") == 0;
}

/* Slow iterations in which all takes longer alike say something about the machine. Inputs of other sizes, and shapes
 * that are new, have rules of their own. */
static bool loop_has_slow_steps(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	double share = at->verdict->share.value;

	return (dw_account_unlike(account, &at->verdict->cells) >= LOOP_SLOW_OWN || loop_runs_longer(account)) &&
	       !loop_lacks_cpus(at) && !dw_case_sizes_vary(at) &&
	       !(dw_case_part(at, DW_FACT_OPERATORS_COMPILATION) >= share / 2) &&
	       !(dw_case_part(at, DW_FACT_OPERATORS_FIRST_SHAPES) >= share / 2);
}

/* Of a step: other programs that use memory and caches change the length of steps by up to a fifth. */
#define LOOP_CHANGE 0.22
#define LOOP_PACE_OWN 0.7 /* part of the change that is the program's */
#define LOOP_GROWS DW_RULE_LARGE /* of the size of the input over the run */

/* The input grows from step to step, and no machine's clock does that. */
static bool loop_input_grows(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_INPUT_TREND) >= LOOP_GROWS;
}

/* Other programs that use the CPU also change the durations of steps, and so does the processor's
 * clock: then all parts of a step change alike. */
static bool loop_pace_is_own(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_STEP_STEADY) >= 2 * DW_RULE_FIRM_STEPS &&
	       !(dw_case_value(at, DW_FACT_DRIFT_OWN) < LOOP_PACE_OWN && !loop_input_grows(at));
}

/* At the begin of a loop batches are ready; workers that are too slow are noticed later. Rules about
 * the loader report that. How long a rank waits for others is their pace. */
static bool loop_pace_is_reported(const struct dw_rule_case *at, enum dw_fact_id change)
{
	const char *note = dw_case_fact(at, change)->note;

	return note && ((strcmp(note, "idle") == 0 && dw_case_value(at, DW_FACT_CPU_OTHERS) >= DW_FACTS_OTHERS) ||
	                (strcmp(note, "data") == 0 && dw_case_has(at, DW_FACT_LOADER_WORKERS)) ||
	                (strcmp(note, "communication") == 0 && dw_case_value(at, DW_FACT_RUN_RANKS) > 1));
}

static bool loop_steps_change(const struct dw_rule_case *at)
{
	return !loop_pace_is_reported(at, DW_FACT_DRIFT_CHANGE) && !loop_input_grows(at) && loop_pace_is_own(at);
}

static bool loop_changes(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_DRIFT_GAPS_CHANGE) || loop_steps_change(at);
}

static enum dw_rule_whole loop_whole_change(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_DRIFT_GAPS_CHANGE) ? DW_RULE_OF_LOOP : DW_RULE_OF_STEP;
}

static struct dw_amount loop_share_change(const struct dw_rule_case *at)
{
	return dw_case_amount(at, dw_case_has(at, DW_FACT_DRIFT_GAPS_CHANGE) ? DW_FACT_DRIFT_GAPS_CHANGE
	                                                                     : DW_FACT_DRIFT_CHANGE);
}

/* The trend; if the input grows from step to step, also a change that looks like one of levels. */
static enum dw_fact_id loop_trend(const struct dw_rule_case *at)
{
	return loop_input_grows(at) && !(dw_case_value(at, DW_FACT_DRIFT_SLOPE) > 0) ? DW_FACT_DRIFT_CHANGE
	                                                                             : DW_FACT_DRIFT_SLOPE;
}

static enum dw_rule_whole loop_whole_drift(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_DRIFT_GAPS) ? DW_RULE_OF_LOOP : DW_RULE_OF_STEP;
}

static struct dw_amount loop_share_drift(const struct dw_rule_case *at)
{
	return dw_case_amount(at, dw_case_has(at, DW_FACT_DRIFT_GAPS) ? DW_FACT_DRIFT_GAPS : loop_trend(at));
}

static bool loop_steps_drift(const struct dw_rule_case *at)
{
	return !loop_pace_is_reported(at, loop_trend(at)) && loop_pace_is_own(at);
}

static bool loop_drifts(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_DRIFT_GAPS) || loop_steps_drift(at);
}

bool dw_case_drifts(const struct dw_rule_case *at)
{
	return dw_case_value(at, loop_trend(at)) >= LOOP_CHANGE && loop_steps_drift(at);
}

/* The time for which the thread had a CPU or waited, in ns per step. */
static double loop_own_ns(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;

	return dw_case_whole_ns(at, DW_RULE_OF_LOOP) * (account && account->wall_ns > 0 ? account->own_ns / account->wall_ns : 1);
}

/* The part of that time that lies between steps and that no record explains, in ns per step. */
static double loop_between_ns(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;

	return account && account->own_ns > 0 ? dw_account_sum(account, &loop_between).ns / account->own_ns * loop_own_ns(at) : 0;
}

/* The gain over a run in which every step is as long as the first: on average half of the slope. Of what grows between the steps
 * nothing need be left. If the input grows, most of what a step computes may be what earlier ones computed. */
static double loop_gain_drift(const struct dw_rule_case *at, double share_ns)
{
	const char *part = dw_case_fact(at, loop_trend(at))->note;
	struct dw_rule_rows rows = { .count = 0 };

	if (dw_case_has(at, DW_FACT_DRIFT_GAPS))
		return fmax(share_ns, loop_between_ns(at));
	if (loop_input_grows(at))
		dw_case_add_row(at, part, &rows);
	return rows.count ? rows.share * loop_own_ns(at) : share_ns / 2;
}

/* 1: as many operators as before take longer, in forward. What is walked or kept would be in Python, or call more of them: so they
 * have more to compute with. */
static double loop_same_operators(const struct dw_rule_case *at)
{
	const char *part = dw_case_fact(at, loop_trend(at))->note;

	return part && strcmp(part, dw_share_label(DW_SHARE_FORWARD)) == 0 && dw_case_has(at, DW_FACT_OPERATORS_COUNT) &&
	               !dw_case_has(at, DW_FACT_DRIFT_GAPS) && !dw_case_has(at, DW_FACT_DRIFT_WORK) && !loop_input_grows(at)
	           ? 1 : NAN;
}

/* The function that most of the loop is in, if no part of a step is named: what walks a list that grows walks it in the first step, too. */
static double loop_rest_of_drift(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;
	const struct dw_fact *trend = dw_case_fact(at, loop_trend(at));
	struct dw_account_select runs = dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL);
	struct dw_account_sum sum;

	if (!account || !(account->own_ns > 0) || dw_case_has(at, DW_FACT_DRIFT_GAPS) || trend->note || !trend->name)
		return 0;
	sum = dw_account_sum(account, &runs);
	return sum.dominates && !sum.root ? fmax(0, sum.place_ns / account->own_ns * at->verdict->whole_ns - at->verdict->gain_ns) : 0;
}

/* Steps that get longer because their inputs do, or because they call more operators, have a reason that the program may want:
 * another cause as long as half of the trend comes first. */
static double loop_less_for_work(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_DRIFT_GAPS) || !(loop_input_grows(at) || dw_case_has(at, DW_FACT_DRIFT_WORK))
	           ? 0
	           : -loop_share_drift(at).value / 2 * dw_case_whole_ns(at, DW_RULE_OF_STEP);
}

/* Where steps change at one point, or with time, that makes the spread: to group inputs does not help. */
static bool loop_varies(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_INPUT_VARIATION) >= LOOP_VARIES &&
	       !(dw_case_value(at, DW_FACT_DRIFT_CHANGE) >= LOOP_CHANGE && loop_steps_change(at)) && !dw_case_drifts(at);
}

bool dw_case_sizes_vary(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_STEP_EXCESS) >= DW_RULE_DEADBAND && loop_varies(at);
}

/* What a step computes again of the input of the one before. */
#define EXTENDED "if each input is the last one with something added, compute only what is new, and keep the rest (of attention, keys " \
                 "and values)"
#define GROWS "[?input.grows: " EXTENDED "; or ]"

/* Most inputs are larger than the one before, and nothing is learned from them: a text that is made word by word. If they grow over
 * the whole run, steps get slower, which has a rule of its own. */
static bool loop_extends_input(const struct dw_rule_case *at)
{
	return 2 * dw_case_part(at, DW_FACT_INPUT_GROWS) - 1 >= DW_RULE_MOST && !(dw_case_part(at, DW_FACT_STEP_BACKWARD) > 0) &&
	       !loop_input_grows(at);
}

/* Where nothing is learned, calls of the model are the forward pass of a step that the program marks, or an evaluation. */
static void loop_rows_forward(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_row(at, "forward", rows);
	dw_case_add_row(at, "evaluation", rows);
}

static struct dw_amount loop_forward(const struct dw_rule_case *at)
{
	struct dw_amount forward = dw_case_amount(at, DW_FACT_STEP_FORWARD);
	double evaluation = dw_case_part(at, DW_FACT_STEP_EVALUATION);

	return (struct dw_amount){ forward.value + evaluation, forward.low + evaluation, forward.high + evaluation };
}

const struct dw_rule dw_rules_loop[] = {
	{
		.id = "after-steps",
		.question = "Does most of the run follow the last step?",
		.kind = DW_RULE_CAUSE,
		.whole = DW_RULE_OF_RUN,
		.needs = DW_RULE_NEEDS(DW_FACT_RUN_AFTER, DW_FACT_RUN_WALL, DW_FACT_STEP_COUNT),
		.threshold = DW_RULE_NAMED,
		.reason = "Measured only if it is longer than the start-up and the loop is less than half of the run, without the time "
		          "for which the thread had no CPU.",
		.no_gain = true,
		.statement = "What follows the last step takes {share} {of}[, most of it in {run.after:name}]"
		             "[?run.after_calls: : {run.after_calls} calls of the model, {run.after_call} each].",
		.remedy = {
			[DW_WORDS_ANY] = "dwell run --step-on NAME, with a function that is called again and again there, shows what an "
			                 "iteration takes",
			[DW_WORDS_PYTORCH] = "[?run.after_calls: larger batches for these calls: a small one takes as long as its "
			                     "operators take to be called; " EXTENDED "]"
			                     "[-run.after_calls: operations on whole tensors in place of loops over rows and elements]",
		},
		.look = "dwell report --view hot",
	},
	{
		.id = "checkpoint",
		.question = "How much of the loop are checkpoints?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_OUTSIDE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_LOOP_CHECKPOINT_ALL),
		.cells = &(const struct dw_account_select){ .explained = 1u << DW_SHARE_CHECKPOINT },
		.threshold = DW_RULE_DEADBAND,
		.reason = "Checkpoints guard against lost work; at a twentieth of the time they cost more than most failures.",
		.statement = "Checkpoints take {share} {of}[?loop.checkpoints:  ({loop.checkpoints} of them)]"
		             "[, most of it in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "write them less often, or from another thread",
			[DW_WORDS_PYTORCH] = "write them less often, or asynchronously (torch.distributed.checkpoint.async_save)",
			[DW_WORDS_LIGHTNING] = "ModelCheckpoint(every_n_train_steps=...) with a larger number, or "
			                       "AsyncCheckpointIO()",
			[DW_WORDS_IGNITE] = "a larger every= in the event of Checkpoint's handler",
			[DW_WORDS_JAX] = "write them less often, or asynchronously (orbax AsyncCheckpointer)",
		},
	},
	{
		.id = "logging",
		.question = "How much of the loop is logging?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_OUTSIDE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_LOOP_LOGGING_ALL),
		.threshold = DW_RULE_DEADBAND,
		.reason = "Logging does not train. By recorded functions of loggers, or ranges named log or logging.",
		.statement = "Logging takes {share} {of}[, most of it in {loop.logging_all:name}]{loop.logging_all:where}.",
		.remedy = {
			[DW_WORDS_ANY] = "log every n-th step, and flush less often",
			[DW_WORDS_LIGHTNING] = "Trainer(log_every_n_steps=...) with a larger number",
			[DW_WORDS_IGNITE] = "Events.ITERATION_COMPLETED(every=...) for the handlers that log",
		},
	},
	{
		.id = "evaluation-graphs",
		.place = &(const struct dw_account_select){ .explained = 1u << DW_SHARE_EVALUATION },
		.question = "Does evaluation build graphs that no backward uses?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_EVALUATION,
		.part = DW_RULE_PART_OUTSIDE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_EVALUATION_GRAPHS, DW_FACT_LOOP_EVALUATION),
		.share = loop_share_graphs,
		.threshold = DW_RULE_DEADBAND,
		.reason = "A graph costs memory for every activation, and part of each operator's call.",
		.no_gain = true,
		.statement = "Evaluation builds graphs that no backward uses, for {share} {of}[, most of it in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "evaluate without recording gradients",
			[DW_WORDS_PYTORCH] = "with torch.inference_mode(): or torch.no_grad() around it",
		},
	},
	{
		.id = "evaluation",
		.question = "How much of the loop is evaluation?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_EVALUATION,
		.part = DW_RULE_PART_OUTSIDE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_LOOP_EVALUATION_ALL),
		.cells = &(const struct dw_account_select){ .explained = 1u << DW_SHARE_EVALUATION },
		.threshold = DW_RULE_NAMED,
		.reason = "An evaluation after each epoch is usually a twentieth of the loop or less. Where no more than one follows an "
		          "epoch, it is what the program is for, unless it takes a quarter, as the forward of all that is learned from. "
		          "Not if a model is called without gradients in each step, or after more than half of the steps and not in "
		          "evaluation mode: then it acts, or makes targets.",
		.applies = loop_evaluates,
		.statement = "[?evaluation.times: Evaluation {takes}]"
		             "[-evaluation.times: The model without gradients, to evaluate, sample or act, {takes}] "
		             "{share} {of}[ ({evaluation.times} time{evaluation.times:s} in the run)][, most of it in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "evaluate less often or on fewer samples",
			[DW_WORDS_PYTORCH] = "[?evaluation.times: evaluate less often, on fewer samples, or in larger batches]"
			                     "[-evaluation.times: call it less often, with larger batches]",
			[DW_WORDS_LIGHTNING] = "a larger check_val_every_n_epoch or val_check_interval, or "
			                       "limit_val_batches; larger batches in the validation loader",
			[DW_WORDS_IGNITE] = "a larger every= in the event that runs the evaluator",
		},
	},
	{
		.id = "between-steps",
		.place = &loop_between,
		.question = "What does the loop compute between steps?",
		.kind = DW_RULE_WORK,
		.part = DW_RULE_PART_OUTSIDE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_LOOP_OPERATORS),
		.share = loop_share_between,
		.threshold = DW_RULE_LARGE,
		.reason = "Evaluation, checkpoints, logging, data, Python, page faults and waits between the "
		          "steps have rules of their own; the rest is usually metrics or preparation. To make "
		          "the input takes nearly a tenth of the loop of a small model. Not operators that a backward must have "
		"differentiated, if it "
		          "takes three times what forward takes. It is ranked as work.",
		.statement = "{share} {of} lies between the steps[?loop.operators: , in operators"
		             "{loop.operators:where}][?loop.named: , in ranges of the program "
		             "({loop.named:name}{loop.named:where})][?loop.unnamed: , in no "
		             "range][-loop.waiting: , in Python and waits{loop.python:where}]"
		             "[, most of it in {cells:most}].",
		.remedy = {
			[DW_WORDS_ANY] = "do what not every step needs once, every n-th step, or in another thread",
			[DW_WORDS_PYTORCH] = "what not every step needs (metrics, logging): every n-th step[?loader.batches: ; inputs: in "
			                     "the loader][?loop.operators: ; the rest: by fewer and larger operators]",
		},
		.look = "dwell report --view tree",
	},
	{
		.id = "slow-steps",
		.marked = true,
		.question = "Do single slow steps take a part of the loop that counts?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_PACE,
		.part = DW_RULE_PART_NONE,
		.whole = DW_RULE_OF_LOOP,
		.of_lengths = true,
		.needs = DW_RULE_NEEDS(DW_FACT_RUN_WALL),
		.cells_of = loop_find_slow,
		.threshold = 0.08,
		.reason = "What slow steps, with the time up to the next one, take beyond as many usual ones: without the time "
		          "that records explain, and without that for which there was no CPU. The first steps are counted apart, "
		          "as warm-up. Not if all takes longer alike, unless the thread runs 2.5 times as long: the machine was "
		          "slower then. Not if other causes have so much of it that the rest is less than the threshold.",
		.applies = loop_has_slow_steps,
		.statement = "[?step.recurs: One step in {step.recurs}, at regular intervals, {takes}]"
		             "[-step.recurs: Slow steps, {cells:steps} of all, {take}] {share} {of} beyond the usual time"
		             "[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = "[?step.recurs: what comes back is a phase of the loop: do it less often, or for more at once]"
			                         "[-step.recurs: the view steps lists them with what took longer]" },
		.look = "dwell report --view steps",
	},
	{
		.id = "change-point",
		.place = &loop_between,
		.marked = true,
		.question = "Do steps take longer from some step on?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_PACE,
		.whole_of = loop_whole_change,
		.of_lengths = true,
		.needs = DW_RULE_NEEDS(DW_FACT_DRIFT_CHANGE),
		.share = loop_share_change,
		.threshold = LOOP_CHANGE,
		.reason = "At least 40 steady steps. One part of the step must change more than the others: the processor's "
		          "clock and other programs change all of them alike. Or the time between the steps is longer by 75% or more "
		          "from some step on.",
		.applies = loop_changes,
		.no_gain = true,
		.statement = "[?drift.gaps_change: From step {drift.gaps_step} on, the time between the steps is longer: this takes "
		             "{drift.gaps_change} of the loop]"
		             "[?drift.gaps_change: , most of it in {cells:most}]"
		             "[-drift.gaps_change: From step {drift.change_step} on, steps take {drift.change} longer than before]"
		             "[-drift.gaps_change: [, most of it in {drift.change:part}]]"
		             "[-drift.gaps_change: [; most of the loop is in {drift.change:name}]]"
		             "[-drift.gaps_change: [?drift.work: , and call {drift.work} more operators]]"
		             "[-drift.gaps_change: [, in {samples.loop:name}{samples.loop:where}]].",
		.remedy = {
			[DW_WORDS_ANY] = "compare both parts with --steps: the machine's clock, other programs, or "
			                 "what the program does from then on",
		},
		.look = "dwell report --view steps --limit all",
	},
	{
		.id = "drift",
		.place = &loop_between,
		.marked = true,
		.question = "Do steps get slower as the run goes on?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_PACE,
		.whole_of = loop_whole_drift,
		.of_lengths = true,
		.needs = DW_RULE_NEEDS(DW_FACT_DRIFT_SLOPE),
		.share = loop_share_drift,
		.threshold = LOOP_CHANGE,
		.reason = "A trend over at least 40 steady steps that chance does not explain. One part of the step must change "
			"more than the others: the "
		          "processor's clock and other programs change all of them alike. Or "
		          "the largest activation of a step grows from step to step. Or the time between the steps grows, by "
		          "75% of its median or more.",
		.applies = loop_drifts,
		.follows_ns = loop_less_for_work,
		.gain_ns = loop_gain_drift,
		.number = loop_same_operators,
		.rest_ns = loop_rest_of_drift,
		.rest = "the rest of that function",
		.statement = "[?drift.gaps: The time between the steps grows: this growth takes {drift.gaps} of the loop]"
		             "[-drift.gaps: {Steps} get slower: by {share} of the median from the first to the last]"
		             "[?drift.gaps: , most of it in {cells:most}][-drift.gaps: [, most of it in {drift.slope:part}]]"
		             "[-drift.gaps: [; most of the loop is in {drift.slope:name}]]"
		             "[-drift.gaps: [, in {samples.loop:name}{samples.loop:where}]]"
		             "[?input.trend: ; the largest activation grows by {input.trend}]"
		             "[-drift.gaps: [?drift.work: ; later steps call {drift.work} more operators]]"
		             "[?number: ; the same operators take longer]"
		             "[?memory.growth: ; memory grows by {memory.growth} with each step].",
		.remedy = {
			[DW_WORDS_ANY] = "[?input.trend: compute only what is new of an input that grows, and keep the rest (of attention, "
			                 "keys and values); or ][?number: nothing, if later inputs are larger, as in an order by their "
			                 "length; else keep no tensor that grows][-number: [?drift.work: unless later steps are to do "
			                 "more: ]"
			                 "something grows with the steps: a list that is walked, a graph that is kept, a file that is "
			                 "written anew]",
		},
		.look = "dwell report --view steps --limit all",
	},
	{
		.id = "input-size-variance",
		.question = "Do slow steps have large inputs?",
		.kind = DW_RULE_WORK,
		.whole = DW_RULE_OF_LOOP,
		.of_lengths = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_EXCESS, DW_FACT_INPUT_VARIATION, DW_FACT_STEP_SPREAD),
		.threshold = DW_RULE_DEADBAND,
		.reason = "The size of the input, as the largest activation of a step shows it, explains at "
		          "least 70% of the spread of the steps' durations. What a step computes beyond others makes more "
		"activations and no larger "
		          "ones. Not if steps change from one step on, or with time. It is ranked as work.",
		.applies = loop_varies,
		.no_gain = true,
		.place = &loop_all,
		.statement = "Steps with large inputs {take} {share} {of} beyond the median step: the size of the "
		             "input explains {input.variation} of the spread of their durations[?input.grows: , and the input grows from "
		             "step to step[, in {cells:most}]].",
		.remedy = {
			[DW_WORDS_ANY] = GROWS "batches of inputs of like size, if small ones are made as large as others",
			[DW_WORDS_PYTORCH] = GROWS "a sampler that groups samples of like length, if short ones are padded; else it is "
			                     "their work",
		},
		.look = "dwell report --view steps",
	},
	{
		.id = "input-extended",
		.place = &loop_all,
		.question = "Is each input the last one with something added?",
		.kind = DW_RULE_WORK,
		.whole = DW_RULE_OF_STEP,
		.host_times = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_FORWARD, DW_FACT_INPUT_GROWS),
		.share = loop_forward,
		.rows = loop_rows_forward,
		.threshold = DW_RULE_NAMED,
		.reason = "The largest activation of a step shows the size of its input. In inputs of any order half are larger than "
		          "the one before; here at least three of four are. Only where nothing is learned. It is ranked as work: "
		          "what is kept may be what grows.",
		.applies = loop_extends_input,
		.statement = "Calls of the model take {share} {of}, and their input grows from call to call, in {input.grows} of them"
		             "[, most of it in {cells:most}].",
		.remedy = { [DW_WORDS_ANY] = EXTENDED },
		.look = "dwell report --view operators",
	},
	{
		.id = "warm-up",
		.marked = true,
		.question = "How long do the first steps take?",
		.kind = DW_RULE_INFORMATION,
		.whole = DW_RULE_OF_LOOP,
		.of_lengths = true,
		.needs = DW_RULE_NEEDS(DW_FACT_RUN_WALL),
		.cells_of = loop_find_warm_up,
		.threshold = DW_RULE_DEADBAND,
		.reason = "Information: a longer run makes it small. All other rules decide without these steps.",
		.no_gain = true,
		.statement = "Warm-up of {cells:number}: {cells:time}, {share} {of} beyond the usual time[, most of it in {cells:most}].",
	},
	{ 0 },
};
