/* What several rules compute from facts. */
#include <string.h>

#include "rules/case.h"

double dw_case_whole_ns(const struct dw_rule_case *at, enum dw_rule_whole whole)
{
	if (whole == DW_RULE_OF_STEP)
		return dw_case_value(at, DW_FACT_STEP_WALL);
	if (whole == DW_RULE_OF_LOOP)
		return dw_case_value(at, DW_FACT_LOOP_WALL) / dw_case_value(at, DW_FACT_STEP_COUNT);
	if (whole == DW_RULE_OF_RUN)
		return dw_case_value(at, DW_FACT_RUN_WALL) / dw_case_value(at, DW_FACT_STEP_COUNT);
	return NAN;
}

static double case_share(const struct dw_rule_case *at, struct dw_account_select cells)
{
	const struct dw_account *account = at->facts->account;

	return account && account->own_ns > 0 ? dw_account_sum(account, &cells).ns / account->own_ns : 0;
}

double dw_case_waits(const struct dw_rule_case *at, dw_activity_set activities)
{
	return case_share(at, dw_account_select_states(1u << DW_ACCOUNT_WAITS, activities));
}

double dw_case_runs(const struct dw_rule_case *at, dw_activity_set activities)
{
	return case_share(at, dw_account_select_states(1u << DW_ACCOUNT_RUNS, activities));
}

static void case_add(struct dw_rule_rows *rows, const char *name, double ns, double whole_ns)
{
	if (rows->count == DW_RULE_MOST_ROWS || !(ns > 0))
		return;
	rows->names[rows->count++] = name;
	rows->share += ns / whole_ns;
	rows->ns += ns;
}

void dw_case_add_row(const struct dw_rule_case *at, const char *name, struct dw_rule_rows *rows)
{
	const struct dw_loop_parts *parts = at->facts->model ? dw_facts_loop_parts(at->facts->model, NULL) : at->facts->parts;
	double whole_ns = parts ? parts->ns - parts->no_cpu_ns : 0;

	for (size_t i = 0; name && whole_ns > 0 && i < parts->part_count; i++)
		if (strcmp(parts->parts[i].name, name) == 0)
			case_add(rows, parts->parts[i].name, parts->parts[i].ns, whole_ns);
}

void dw_case_add_operator(const struct dw_rule_case *at, enum dw_fact_id id, struct dw_rule_rows *rows)
{
	const struct dw_fact *fact = dw_case_fact(at, id);
	const struct dw_loop_operators *operators = at->facts->operators;

	if (!fact->measured || !fact->name)
		return;
	if (at->facts->model)
		operators = dw_facts_loop_operators(at->facts->model, NULL);
	if (operators && operators->whole_ns > 0 && fact->symbol < operators->count)
		case_add(rows, fact->name, operators->ns[fact->symbol], operators->whole_ns);
}

bool dw_case_has_place(const struct dw_rule_case *at)
{
	const struct dw_account_select *cells = &at->verdict->cells;
	struct dw_account_sum sum;

	if (cells->explained || cells->by_name || at->verdict->share.value >= DW_ACCOUNT_MOST || !dw_account_is_divided(at->facts->account))
		return true;
	sum = dw_account_sum(at->facts->account, cells);
	return sum.range || (sum.function && sum.dominates);
}

#define CASE_LEAST_CPU 0.5 /* a step that waits for a CPU for longer than this is taken as one that waits for half of its time */

double dw_case_with_cpu(const struct dw_rule_case *at)
{
	if (at->rule->cells || at->rule->cells_of || !(dw_case_value(at, DW_FACT_CPU_OTHERS) >= DW_FACTS_OTHERS))
		return 1;
	return fmax(CASE_LEAST_CPU, 1 - dw_case_part(at, DW_FACT_CPU_DELAY));
}
