/* What is compared of a run: its time per step, the parts of it, and what it depends on. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "diff/diff.h"
#include "format/keys.h"
#include "model/samples/cpu_account.h"
#include "model/samples/hot.h"

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
	run->others = run_fact(facts, DW_FACT_CPU_OTHERS);
	run->stolen = run_fact(facts, DW_FACT_CPU_STOLEN);
	run->functions = facts->at[DW_FACT_TRACE_FUNCTIONS].value > 0;
	run->shapes = facts->at[DW_FACT_TRACE_SHAPES].value > 0;
}

/* The parts of the mean iteration, as every report has them: they sum to it. */
static bool run_put_parts(struct dw_diff *diff, struct dw_diff_run *run, const struct dw_loop_parts *parts,
                          double no_cpu_ns)
{
	double rest = 0;

	run->parts = dw_arena_alloc(&diff->arena, (RUN_MOST_PARTS + 2) * sizeof *run->parts);
	if (!run->parts)
		return false;
	for (size_t i = 0; i < parts->part_count; i++) {
		const struct dw_steady_part *part = &parts->parts[i];
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
	if (no_cpu_ns > 0)
		run->parts[run->part_count++] =
			(struct dw_diff_part){ .name = dw_account_state_name(DW_ACCOUNT_NO_CPU), .ns = no_cpu_ns };
	return true;
}

DW_ORDER(run_compare_parts, struct dw_diff_part, DW_DOWN(ns))

/* Keeps the largest of the parts in the arena, and the others in one. NULL: out of memory. */
static struct dw_diff_part *run_keep_largest(struct dw_diff *diff, struct dw_diff_part *from, size_t *count,
                                             const char *others)
{
	size_t most = *count < RUN_MOST_OPERATORS ? *count : RUN_MOST_OPERATORS;
	struct dw_diff_part *to = dw_arena_alloc(&diff->arena, (most + 1) * sizeof *to), rest = { .name = others };

	DW_SORT(from, *count, run_compare_parts);
	for (size_t i = 0; to && i < *count; i++) {
		if (i >= most) {
			rest.ns += from[i].ns;
			rest.calls += from[i].calls;
			continue;
		}
		to[i] = from[i];
		if (!(to[i].name = run_text(diff, from[i].name)))
			return NULL;
	}
	if (to && others && rest.ns > 0)
		to[most++] = rest;
	*count = most;
	return to;
}

static bool run_put_operators(struct dw_diff *diff, struct dw_diff_run *run, struct dw_model *model,
                              struct dwell_error *error)
{
	const struct dw_loop_operators *operators = dw_facts_loop_operators(model, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct dw_diff_part *parts = operators ? calloc(operators->count + 1, sizeof *parts) : NULL;

	for (size_t i = 0; parts && i < operators->count; i++)
		if (operators->calls[i] > 0 || operators->ns[i] > 0)
			parts[run->operator_count++] =
				(struct dw_diff_part){ .name = symbols[i].name, .ns = operators->ns[i], .calls = operators->calls[i] };
	if (parts)
		run->operators = run_keep_largest(diff, parts, &run->operator_count, "further operators");
	free(parts);
	return run->operators != NULL;
}

/* Functions by CPU time. */
static bool run_put_sampled(struct dw_diff *diff, struct dw_diff_run *run, struct dw_model *model,
                            const struct dw_facts *facts)
{
	struct dw_hot_ask ask = { .by = facts->framework == DW_FACTS_C ? 0 : DW_HOT_PYTHON };
	struct dw_hot hot = { .rows = NULL };
	bool good = dw_hot_make(&hot, model, &ask);
	struct dw_diff_part *parts = good ? calloc(hot.count + 1, sizeof *parts) : NULL;

	for (size_t i = 0; parts && i < hot.count; i++) {
		double share = hot.weight ? (double)hot.rows[i].self / (double)hot.weight : 0;
		char text[400];

		if (hot.rows[i].self_ns)
			parts[run->sampled_count++] =
				(struct dw_diff_part){ .name = run_text(diff, dw_hot_name(&hot.rows[i], text, sizeof text)),
				                       .ns = (double)hot.rows[i].self_ns,
				                       .error_ns =
				                           dw_samples_error(share, hot.weight, hot.squares) * (double)hot.cpu_ns };
		good = good && (!run->sampled_count || parts[run->sampled_count - 1].name);
	}
	if (parts && good)
		run->sampled = run_keep_largest(diff, parts, &run->sampled_count, "further functions");
	free(parts);
	dw_hot_reset(&hot);
	return run->sampled != NULL;
}

/* The CPU time of all processes. Of a part of the run it is not known. */
static double run_cpu_ns(struct dw_model *model)
{
	const struct dw_cpu_account *account = dw_model_is_partial(model) ? NULL : dw_model_cpu_account(model, NULL);

	return account && account->kernel_ns ? (double)account->kernel_ns : NAN;
}

/* The length of the mean iteration, and for how much of it the thread had no CPU, if that is known. */
static void run_put_length(struct dw_diff_run *run, const struct dw_loop_parts *parts, const struct dw_facts *facts,
                           double no_cpu_ns)
{
	double mean = run_fact(facts, DW_FACT_STEP_MEAN), warm_up = run_fact(facts, DW_FACT_STEP_WARM_UP_EXCESS);

	run->steps = parts->steps;
	run->pace_ns = facts->iterations == DW_ITERATIONS_RUN ? parts->ns + no_cpu_ns : parts->ns;
	run->step_ns = mean > 0 && mean < run->pace_ns ? mean : run->pace_ns;
	run->outside_ns = run->pace_ns - run->step_ns;
	run->delay = no_cpu_ns > 0 ? no_cpu_ns / run->pace_ns : run_fact(facts, DW_FACT_CPU_DELAY);
	run->warm_up_ns = warm_up > 0 ? warm_up * (run->pace_ns - no_cpu_ns) : 0;
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

static bool run_put_fast(struct dw_diff *diff, struct dw_diff_run *run, struct dw_model *model,
                         const struct dw_fast_step *fast)
{
	size_t symbol_count;
	const struct dw_symbol *symbols = dw_model_symbols(model, &symbol_count);
	struct dw_diff_part *parts = calloc(symbol_count + 1, sizeof *parts);

	for (size_t i = 0; parts && i <= symbol_count; i++)
		if (fast->of_symbols[i] > 0)
			parts[run->fast_count++] =
				(struct dw_diff_part){ .name = i < symbol_count ? symbols[i].name : DW_DIFF_NO_RANGE,
				                       .ns = fast->of_symbols[i] };
	run->fast_ns = fast->ns;
	if (parts)
		run->fast = run_keep_largest(diff, parts, &run->fast_count, NULL);
	free(parts);
	return run->fast != NULL;
}

/* The parts, and by name what is in them: operators, and in runs without steps functions. */
static bool run_fill(struct dw_diff *diff, struct dw_diff_run *run, struct dw_model *model,
                     const struct dw_facts *facts, struct dwell_error *error)
{
	const struct dw_loop_parts *parts = dw_facts_loop_parts(model, error);
	const struct dw_account *account = facts->iterations == DW_ITERATIONS_RUN ? facts->account : NULL;
	const struct dw_fast_step *fast = dw_facts_fast_step(model, error);
	double no_cpu_ns;

	if (!parts || !fast)
		return false;
	no_cpu_ns = account && dw_account_is_divided(account) ? account->state_ns[DW_ACCOUNT_NO_CPU] : parts->no_cpu_ns;
	run_put_length(run, parts, facts, no_cpu_ns);
	run->cpu_ns = run_cpu_ns(model);
	return run_put_parts(diff, run, parts, no_cpu_ns) && run_put_operators(diff, run, model, error) &&
	       run_put_fast(diff, run, model, fast) &&
	       (facts->iterations != DW_ITERATIONS_RUN || run_put_sampled(diff, run, model, facts));
}

int dw_diff_add(struct dw_diff *diff, unsigned side, const char *path, struct dw_model *model,
                struct dwell_error *error)
{
	const struct dw_steady *steady = dw_facts_steady(model, error);
	const struct dw_facts *facts = steady ? dw_facts(model, error) : NULL;
	struct dw_diff_side *to = &diff->sides[side];
	struct dw_diff_run *run;

	if (!facts)
		return error && error->code ? error->code : DWELL_E_NOMEM;
	if (steady->steps && run_check_kind(diff, path, facts, error))
		return DWELL_E_NO_DATA;
	if (!steady->steps)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no complete steps to compare: mark steps with dwell.step() or "
		                    "DWELL_STEP(), or record with --step-on NAME", path);
	run = DW_GROW(&to->runs, &to->capacity, to->count);
	if (!run || !(run->path = run_text(diff, path)) || !run_fill(diff, run, model, facts, error))
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the comparison");
	run_describe(diff, run, dw_model_source(model), facts);
	diff->iterations = facts->iterations;
	to->count++;
	return 0;
}

void dw_diff_reset(struct dw_diff *diff)
{
	for (unsigned side = 0; side < DW_DIFF_SIDES; side++)
		free(diff->sides[side].runs);
	DW_FREE(diff->parts, diff->operators, diff->sampled_rows, diff->fast_rows);
	dw_diff_reset_paths(diff->paths);
	dw_diff_reset_settings(diff->settings);
	dw_arena_reset(&diff->arena);
	memset(diff, 0, sizeof *diff);
}
