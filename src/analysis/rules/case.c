/* What several rules compute from facts. */
#include <string.h>

#include "rules/case.h"

double dw_case_whole_ns(const struct dw_rule_case *at, enum dw_rule_whole whole)
{
	if (whole == DW_RULE_OF_STEP)
		return dw_case_value(at, DW_FACT_STEP_WALL);
	if (whole == DW_RULE_OF_LOOP)
		return dw_case_value(at, DW_FACT_LOOP_WALL) / dw_case_value(at, DW_FACT_STEP_COUNT);
	return NAN;
}

static double case_share(const struct dw_rule_case *at, struct dw_account_select cells)
{
	const struct dw_account *account = at->facts->account;

	return account && account->own_ns > 0 ? dw_account_sum(account, &cells).ns / account->own_ns : 0;
}

double dw_case_waits(const struct dw_rule_case *at, uint32_t activities)
{
	return case_share(at, dw_account_select_states(1u << DW_ACCOUNT_WAITS, activities));
}

double dw_case_runs(const struct dw_rule_case *at, uint32_t activities)
{
	return case_share(at, dw_account_select_states(1u << DW_ACCOUNT_RUNS, activities));
}
