/*
 * How much of its time a verdict can save at most, and all of them together.
 *
 * A cause may be gone as a whole. With it goes what else lies where it is mended: what the function does besides that the sentence
 * names, or of a function that starts the program, its line. This only makes the bound larger: the order of verdicts is by the
 * cause's own time.
 */
#include <math.h>

#include "base/text.h"
#include "rules/case.h"

/* The cells in whose function the sentence says that the time lies. NULL: it names no function. */
static const struct dw_account_select *gains_place(const struct dw_rule_case *at, const struct dw_verdict *verdict)
{
	return verdict->has_cells ? &verdict->cells : at->facts->account ? at->rule->place : NULL;
}

/* The time of the function that the sentence names, without what the verdict has of it already. */
static double gains_rest_ns(const struct dw_rule_case *at, const struct dw_verdict *verdict, const struct dw_account_sum *sum)
{
	const struct dw_account *account = at->facts->account;
	double of_own;

	if (at->rule->rest_ns)
		return at->rule->rest_ns(at);
	if (!gains_place(at, verdict) || !(account->own_ns > 0) || !sum->dominates)
		return 0;
	of_own = verdict->whole_ns / account->own_ns;
	/* A line of main() may run everything, as a trainer. It is mended where it mainly does what the sentence says. */
	if (verdict->has_cells)
		return sum->root && sum->rest_ns > sum->place_ns ? 0 : sum->rest_ns * of_own;
	if (sum->root)
		return 0;
	return fmax(0, (sum->place_ns + sum->rest_ns) * of_own - verdict->time_ns * fmin(1, sum->place_ns / sum->ns));
}

/* Adds to the bound what else goes if the function goes that the sentence names, where it can be seen in percent. */
static void gains_add_rest(const struct dw_rule_case *at, struct dw_verdict *verdict)
{
	const struct dw_account_select *place = gains_place(at, verdict);
	struct dw_account_sum sum = place ? dw_account_sum(at->facts->account, place) : (struct dw_account_sum){ .ns = 0 };
	double rest_ns = gains_rest_ns(at, verdict, &sum), with_ns = at->rule->with_ns ? at->rule->with_ns(at) : 0;
	double own_ns = fmin(verdict->gain_ns, verdict->time_ns), all_ns = fmin(own_ns + fmax(rest_ns, with_ns), verdict->whole_ns);

	if (isnan(verdict->gain_ns) ||
	    round(all_ns / verdict->whole_ns * 100) <= round(verdict->gain_ns / verdict->whole_ns * 100))
		return;
	verdict->rest_ns = all_ns - own_ns;
	verdict->with = with_ns > rest_ns;
	verdict->gain_ns = all_ns;
}

void dw_gains_find(const struct dw_rule_case *at, struct dw_verdict *verdict)
{
	const struct dw_rule *rule = at->rule;
	double most_ns = dw_case_whole_ns(at, DW_RULE_OF_LOOP) * dw_case_with_cpu(at);

	if (rule->no_gain)
		return;
	verdict->gain_ns = rule->gain_ns ? rule->gain_ns(at, verdict->time_ns) : verdict->time_ns;
	gains_add_rest(at, verdict);
	if (rule->part != DW_RULE_PART_DEVICE && verdict->gain_ns > most_ns)
		verdict->gain_ns = most_ns;
	if (!(verdict->gain_ns > 0))
		verdict->gain_ns = NAN;
}

/* "the rest of read_frame"; "": nothing goes besides the share's time. NULL: out of memory. */
const char *dw_gains_rest(const struct dw_rule_case *at, const struct dw_verdict *verdict, struct dw_arena *arena)
{
	struct dw_account_sum sum;
	char name[200];

	if (!(verdict->rest_ns > 0))
		return "";
	if (at->rule->rest || verdict->with)
		return verdict->with ? at->rule->with : at->rule->rest;
	sum = dw_account_sum(at->facts->account, gains_place(at, verdict));
	if (sum.root)
		return dw_arena_printf(arena, "the rest of %s:%u", dw_text_base_name(sum.function->file), sum.line);
	return dw_arena_printf(arena, "the rest of %s", dw_account_function(&sum, name));
}

/* If only some steps are in scope, the loop's time is not known. */
static double gains_loop_ns(const struct dw_rule_case *at)
{
	double loop_ns = dw_case_whole_ns(at, DW_RULE_OF_LOOP);

	return isnan(loop_ns) ? dw_case_whole_ns(at, DW_RULE_OF_STEP) : loop_ns;
}

/* Of several processes the rows are means over them, and gains were computed of the first one. A gain is printed beside the rows: where
 * all of a row's time can go, it is the row's time. */
void dw_gains_of_rows(const struct dw_rule_case *at, struct dw_verdicts *verdicts)
{
	const struct dw_account *account = at->facts->account;

	verdicts->own_ns = gains_loop_ns(at) * (account && account->wall_ns > 0 ? account->own_ns / account->wall_ns : 1);
	for (size_t i = 0; i < verdicts->fired; i++) {
		struct dw_verdict *verdict = &verdicts->at[i];

		if (!(verdict->rows.ns > 0))
			continue;
		verdict->whole_ns = verdicts->own_ns = verdict->rows.ns / verdict->rows.share;
		if (verdict->all)
			verdict->gain_ns = verdict->rows.ns + verdict->rest_ns;
	}
}

static double gains_part_ns(const struct dw_rule_case *at, enum dw_rule_part part)
{
	double step_ns = dw_case_whole_ns(at, DW_RULE_OF_STEP), loop_ns = gains_loop_ns(at);

	switch (part) {
	case DW_RULE_PART_OUTSIDE: return loop_ns * (1 - dw_case_part(at, DW_FACT_LOOP_STEPS));
	case DW_RULE_PART_DATA:
		return fmax(dw_case_part(at, DW_FACT_STEP_DATA) * step_ns, dw_case_part(at, DW_FACT_LOOP_DATA_ALL) * loop_ns) +
		       dw_case_part(at, DW_FACT_LOADER_COLLECTOR) * loop_ns;
	case DW_RULE_PART_COMMUNICATION:
		return fmax(fmax(dw_case_part(at, DW_FACT_STEP_COMMUNICATION),
		                 dw_case_part(at, DW_FACT_COMM_EXPOSED)) * step_ns,
		            dw_case_part(at, DW_FACT_LOOP_COMMUNICATION_ALL) * loop_ns);
	case DW_RULE_PART_COLLECTOR:
		return fmax(dw_case_part(at, DW_FACT_STEP_COLLECTOR) * step_ns,
		            dw_case_part(at, DW_FACT_LOOP_COLLECTOR_ALL) * loop_ns);
	case DW_RULE_PART_COMPUTE:
		return step_ns * fmax(0, 1 - dw_case_part(at, DW_FACT_STEP_DATA) -
		                      dw_case_part(at, DW_FACT_STEP_COMMUNICATION) - dw_case_part(at, DW_FACT_STEP_COLLECTOR) -
		                      dw_case_part(at, DW_FACT_STEP_IDLE)) + dw_case_part(at, DW_FACT_LOOP_PYTHON) * loop_ns;
	case DW_RULE_PART_DEVICE:
		return fmax(step_ns, dw_case_part(at, DW_FACT_DEVICE_STEP)) * (1 - dw_case_part(at, DW_FACT_DEVICE_COMPUTE));
	default: return loop_ns;
	}
}

void dw_gains_combine(const struct dw_rule_case *at, struct dw_verdicts *verdicts)
{
	double sums_ns[DW_RULE_PART_COUNT] = { 0 }, floor_ns = 0, all_ns = 0;
	double production_ns = dw_case_value(at, DW_FACT_LOADER_PRODUCTION);
	double workers = dw_case_value(at, DW_FACT_LOADER_WORKERS);
	bool any = false;

	verdicts->loop_ns = gains_loop_ns(at);
	verdicts->combined_ns = NAN;
	for (size_t i = 0; i < verdicts->fired; i++) {
		const struct dw_verdict *verdict = &verdicts->at[i];

		if (!dw_verdict_is_cause(verdict) || isnan(verdict->gain_ns))
			continue;
		sums_ns[verdict->rule->part] += verdict->gain_ns;
		any = true;
	}
	/* Gains of no part (PART_NONE) may come from any of them: at most the loop's time with a CPU. */
	for (unsigned part = 0; part < DW_RULE_PART_COUNT; part++)
		all_ns += fmin(sums_ns[part], fmax(0, gains_part_ns(at, part)));
	if (production_ns > 0 && workers > 0 && !(sums_ns[DW_RULE_PART_DATA] > 0))
		floor_ns = production_ns / workers;
	if (any && all_ns > 0)
		verdicts->combined_ns = fmax(0, fmin(all_ns, fmin(verdicts->loop_ns - floor_ns, verdicts->own_ns)));
}
