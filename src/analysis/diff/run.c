/* What is compared of a run: its time per step, the parts of it, and what it depends on. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "diff/diff.h"
#include "format/keys.h"
#include "model/steps/steps.h"

#define RUN_MOST_PARTS 200     /* further ones are summed: rows of sides are matched by name */
#define RUN_MOST_OPERATORS 500 /* the same of operators, and of names in the fast step */

static double run_fact(const struct dw_facts *facts, enum dw_fact_id id)
{
	return facts->at[id].measured ? facts->at[id].value : NAN;
}

static const char *run_text(struct dw_diff *diff, const char *text)
{
	return dw_arena_text(&diff->arena, text, strlen(text));
}

/* The last value of a key, or NULL. */
static const char *run_meta(const struct dw_source *source, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, key) == 0)
			value = source->metas[i].value;
	return value;
}

/* The values of the keys that the trace has, in one text; NULL: none of them. */
static const char *run_join(struct dw_diff *diff, const struct dw_source *source,
                            const char *const (*keys)[2], size_t count)
{
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const char *value = run_meta(source, keys[i][0]);

		if (value && used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%.120s%s", used ? ", " : "",
			                         keys[i][1][0] == ' ' ? "" : keys[i][1], value,
			                         keys[i][1][0] == ' ' ? keys[i][1] : "");
	}
	return used ? run_text(diff, text) : NULL;
}

/* "AMD EPYC, 8 CPUs", and how many of them a container or taskset left to the program, if not all. */
static const char *run_machine(struct dw_diff *diff, const struct dw_source *source)
{
	static const char *const keys[][2] = { { "host.cpu", "" }, { "host.cpus", " CPUs" } };
	const char *cpus = run_meta(source, "host.cpus"), *allowed = run_meta(source, DW_KEY_CPUS_ALLOWED);
	const char *machine = run_join(diff, source, keys, 2);

	if (!machine || !cpus || !allowed || strcmp(cpus, allowed) == 0)
		return machine;
	return dw_arena_printf(&diff->arena, "%s, %s of them", machine, allowed);
}

static void run_describe(struct dw_diff *diff, struct dw_diff_run *run,
                         const struct dw_source *source, const struct dw_facts *facts)
{
	static const char *const versions[][2] = { { DW_KEY_TORCH_VERSION, "PyTorch " },
		                                       { "host.kernel", "Linux " } };

	run->machine = run_machine(diff, source);
	run->versions = run_join(diff, source, versions, 2);
	run->ranks = run_fact(facts, DW_FACT_RUN_RANKS);
	run->loops = run_fact(facts, DW_FACT_RUN_LOOPS);
	run->input_bytes = run_fact(facts, DW_FACT_MEMORY_INPUTS) * run_fact(facts, DW_FACT_MEMORY_PEAK);
	run->activation_bytes = run_fact(facts, DW_FACT_INPUT_LARGEST);
	run->flops = run_fact(facts, DW_FACT_FLOPS_STEP);
	run->delay = run_fact(facts, DW_FACT_CPU_DELAY);
	run->others = run_fact(facts, DW_FACT_CPU_OTHERS);
	run->functions = facts->at[DW_FACT_TRACE_FUNCTIONS].value > 0;
	run->shapes = facts->at[DW_FACT_TRACE_SHAPES].value > 0;
}

static bool run_put_steady(struct dw_diff *diff, struct dw_diff_run *run, const struct dw_steady *steady)
{
	double rest = 0;

	run->parts = dw_arena_alloc(&diff->arena, (RUN_MOST_PARTS + 16) * sizeof *run->parts);
	if (!run->parts)
		return false;
	for (size_t i = 0; i < steady->part_count; i++) {
		const struct dw_steady_part *part = &steady->parts[i];
		const char *name;

		if (run->part_count == RUN_MOST_PARTS) {
			rest += part->ns;
			continue;
		}
		if (!(name = run_text(diff, part->name)))
			return false;
		run->parts[run->part_count++] = (struct dw_diff_part){ .name = name, .ns = part->ns };
	}
	if (rest > 0)
		run->parts[run->part_count++] = (struct dw_diff_part){ .name = "further parts", .ns = rest };
	return true;
}

/* The loop's time between its steps, per step. The facts from loop.evaluation to loop.unnamed are
 * exclusive parts of the loop. */
static void run_put_outside(struct dw_diff_run *run, const struct dw_facts *facts)
{
	double loop_ns = run_fact(facts, DW_FACT_LOOP_WALL), steps = run_fact(facts, DW_FACT_STEP_COUNT);

	if (!(loop_ns > 0) || !(steps > 0))
		return;
	for (unsigned id = DW_FACT_LOOP_EVALUATION; id <= DW_FACT_LOOP_UNNAMED; id++) {
		double ns = run_fact(facts, (enum dw_fact_id)id) * loop_ns / steps;

		if (!(ns > 0))
			continue;
		run->parts[run->part_count++] = (struct dw_diff_part){
			.name = dw_fact_kind((enum dw_fact_id)id)->name + strlen("loop."), .ns = ns,
			.outside = true };
		run->outside_ns += ns;
	}
}

static bool run_put_operators(struct dw_diff *diff, struct dw_diff_run *run, struct dw_model *model,
                              const struct dw_facts *facts, struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(model, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const struct dw_loop *loop = NULL;
	struct dw_diff_part *rest = NULL;

	if (!steps)
		return false;
	for (size_t i = 0; i < steps->thread_count; i++)
		if (steps->loops[i].thread == facts->thread)
			loop = &steps->loops[i];
	if (!loop || !loop->usual_count)
		return true;
	run->operators = dw_arena_alloc(&diff->arena, (RUN_MOST_OPERATORS + 1) * sizeof *run->operators);
	for (size_t i = 0; run->operators && i < loop->operator_count; i++) {
		const struct dw_loop_row *row = &loop->operators[i];
		struct dw_diff_part *to = &run->operators[run->operator_count];

		if (run->operator_count < RUN_MOST_OPERATORS) {
			to->name = run_text(diff, symbols[row->symbol].name);
			run->operator_count++;
		} else {
			to = rest = to;
			to->name = "further operators";
		}
		if (!to->name)
			return false;
		to->ns += (double)row->ns / (double)loop->usual_count;
		to->calls += (double)row->count / (double)loop->usual_count;
	}
	run->operator_count += rest != NULL;
	return run->operators != NULL;
}

/* The mean step with the time for which it had no CPU, which the account of a run without steps leaves out. */
static void run_put_length(struct dw_diff_run *run, const struct dw_steady *steady, const struct dw_facts *facts)
{
	const struct dw_account *account = facts->iterations == DW_ITERATIONS_RUN ? facts->account : NULL;

	run->steps = steady->steps;
	run->step_ns = steady->ns;
	if (!account || !dw_account_is_divided(account) || !(account->state_ns[DW_ACCOUNT_NO_CPU] > 0))
		return;
	run->step_ns += account->state_ns[DW_ACCOUNT_NO_CPU];
	run->parts[run->part_count++] = (struct dw_diff_part){ .name = dw_account_state_name(DW_ACCOUNT_NO_CPU),
		                                                   .ns = account->state_ns[DW_ACCOUNT_NO_CPU] };
}

/* Steps of one run are not compared with the whole of another one. */
static int run_check_kind(const struct dw_diff *diff, const char *path, const struct dw_facts *facts, struct dwell_error *error)
{
	const struct dw_diff_side *side = &diff->sides[diff->sides[0].count ? 0 : 1];
	const char *lacks = facts->iterations == DW_ITERATIONS_MARKED && side->count ? side->runs[0].path : path;

	if (!side->count || diff->iterations == facts->iterations)
		return 0;
	return dw_error_set(error, DWELL_E_NO_DATA,
	                    "%s has no complete steps to compare, and another run has: mark steps with dwell.step() or "
	                    "DWELL_STEP(), or record with --step-on NAME", lacks);
}

DW_ORDER(run_compare_parts, struct dw_diff_part, DW_DOWN(ns))

static bool run_put_fast(struct dw_diff *diff, struct dw_diff_run *run, struct dw_model *model,
                         const struct dw_fast_step *fast)
{
	size_t symbol_count, count = 0;
	const struct dw_symbol *symbols = dw_model_symbols(model, &symbol_count);
	struct dw_diff_part *parts = calloc(symbol_count + 1, sizeof *parts);
	bool good = parts != NULL;

	for (size_t i = 0; good && i <= symbol_count; i++)
		if (fast->of_symbols[i] > 0)
			parts[count++] = (struct dw_diff_part){
				.name = i < symbol_count ? symbols[i].name : DW_DIFF_NO_RANGE, .ns = fast->of_symbols[i] };
	DW_SORT(parts, count, run_compare_parts);
	run->fast_ns = fast->ns;
	run->fast_count = count < RUN_MOST_OPERATORS ? count : RUN_MOST_OPERATORS;
	run->fast = dw_arena_alloc(&diff->arena, (run->fast_count + 1) * sizeof *run->fast);
	good = good && run->fast;
	for (size_t i = 0; good && i < run->fast_count; i++) {
		run->fast[i] = parts[i];
		good = (run->fast[i].name = run_text(diff, parts[i].name)) != NULL;
	}
	free(parts);
	return good;
}

int dw_diff_add(struct dw_diff *diff, unsigned side, const char *path, struct dw_model *model,
                struct dwell_error *error)
{
	const struct dw_steady *steady = dw_facts_steady(model, error);
	const struct dw_facts *facts = steady ? dw_facts(model, error) : NULL;
	const struct dw_fast_step *fast = facts ? dw_facts_fast_step(model, error) : NULL;
	struct dw_diff_side *to = &diff->sides[side];
	struct dw_diff_run *run;

	if (!fast)
		return error && error->code ? error->code : DWELL_E_NOMEM;
	if (steady->steps && run_check_kind(diff, path, facts, error))
		return DWELL_E_NO_DATA;
	if (!steady->steps)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no complete steps to compare: mark steps with dwell.step() or "
		                    "DWELL_STEP(), or record with --step-on NAME", path);
	run = DW_GROW(&to->runs, &to->capacity, to->count);
	if (!run || !(run->path = run_text(diff, path)) || !run_put_steady(diff, run, steady) ||
	    !run_put_operators(diff, run, model, facts, error) || !run_put_fast(diff, run, model, fast))
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the comparison");
	run_put_outside(run, facts);
	run_describe(diff, run, dw_model_source(model), facts);
	run_put_length(run, steady, facts);
	diff->iterations = facts->iterations;
	run->pace_ns = run->step_ns + run->outside_ns;
	to->count++;
	return 0;
}

void dw_diff_reset(struct dw_diff *diff)
{
	for (unsigned side = 0; side < DW_DIFF_SIDES; side++)
		free(diff->sides[side].runs);
	DW_FREE(diff->parts, diff->operators, diff->fast_rows);
	dw_diff_reset_paths(diff->paths);
	dw_diff_reset_settings(diff->settings);
	dw_arena_reset(&diff->arena);
	memset(diff, 0, sizeof *diff);
}
