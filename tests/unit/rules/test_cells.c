/* Rules that select cells of an account, on accounts made by hand. */
#include "trials.h"

static const struct dw_source_function own = { "ask", "/srv/net.c", 10 };
static struct dw_account_place place = { .function = &own, .line = 10 };
static struct dw_account_cell cells[2];
static struct dw_account account;

/* A run of 1 s: a part of it in one cell, the rest without a CPU, or waits that rest on no sample. */
static void make(struct made *at, double part, enum dw_account_state state, enum dw_activity activity)
{
	account = (struct dw_account){ .known = true, .wall_ns = 1e9, .own_ns = 1e9, .cells = cells, .count = 2 };
	cells[0] = (struct dw_account_cell){ .where = DW_SAMPLE_IN_STEP, .share = DW_SHARE_OTHER, .named = DW_NO_INDEX,
		                                 .activity = activity, .state = state, .ns = part * 1e9, .places = &place, .place_count = 1 };
	cells[1] = cells[0];
	cells[1].state = DW_ACCOUNT_UNKNOWN;
	cells[1].activity = DW_ACTIVITY_UNKNOWN;
	cells[1].ns = (1 - part) * 1e9;
	cells[1].place_count = 0;
	place.ns = place.self_ns = part * 1e9;
	account.state_ns[state] = part * 1e9;
	for (unsigned s = 0; s < DW_ACCOUNT_STATE_COUNT; s++)
		account.basis[s] = (struct dw_account_basis){ 100, 100, 100 };
	cells[0].basis = account.basis[state];
	made_begin(at, MADE({ DW_FACT_RUN_WALL, 1e9 }, { DW_FACT_STEP_PYTHON, 0 }));
	at->facts.iterations = DW_ITERATIONS_RUN;
	at->facts.account = &account;
}

static const struct dw_rule *rule_of_cells(size_t number)
{
	for (size_t i = 0; dw_rule_at(i); i++)
		if (dw_rule_at(i)->cells && number-- == 0)
			return dw_rule_at(i);
	return NULL;
}

static bool selects(const struct dw_rule *rule, unsigned state, unsigned activity)
{
	return rule->cells->activities[state] >> activity & 1;
}

/* Whatever a thread runs or waits for is one rule's, and no ns is two rules'. */
TEST(each_cell_has_one_rule)
{
	for (unsigned state = 0; state <= DW_ACCOUNT_WAITS; state++)
		for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++) {
			unsigned count = 0;

			for (size_t i = 0; rule_of_cells(i); i++)
				count += selects(rule_of_cells(i), state, activity);
			/* What a thread runs in calls that wait, or in a collector that has records, is too short to name. */
			if (count > 1 || (count == 0 && state == DW_ACCOUNT_WAITS))
				CHECK_FAIL("%s, %s: %u rules", dw_account_state_name(state), dw_activity_name(activity), count);
		}
}

TEST(each_rule_says_its_share_and_place)
{
	for (size_t i = 0; rule_of_cells(i); i++) {
		const struct dw_rule *rule = rule_of_cells(i);

		for (unsigned state = 0; state <= DW_ACCOUNT_WAITS; state++)
			for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++) {
				const struct dw_verdict *verdict;
				struct made at;

				if (!selects(rule, state, activity))
					continue;
				make(&at, 0.5, state, activity);
				made_judge(&at);
				verdict = made_find(&at, rule->id);
				CHECK_EQ(verdict->state, DW_RULE_FIRED);
				CHECK_NEAR(verdict->share.value, 0.5, 1e-9);
				CHECK_STR(at.verdicts.at[0].rule->id, rule->id);
				if (!strstr(verdict->statement, "50% of the run"))
					CHECK_FAIL("%s: %s", rule->id, verdict->statement);
				if (strstr(rule->statement, "{cells:") && !strstr(verdict->statement, "ask (net.c:10)"))
					CHECK_FAIL("%s: %s", rule->id, verdict->statement);
				made_end(&at);
				make(&at, 0.04, state, activity);
				made_judge(&at);
				CHECK_EQ(made_find(&at, rule->id)->state, DW_RULE_QUIET);
				made_end(&at);
			}
	}
}

TEST(marked_steps_have_other_rules)
{
	struct made at;

	make(&at, 0.5, DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET);
	at.facts.iterations = DW_ITERATIONS_MARKED;
	made_judge(&at);
	CHECK_EQ(made_find(&at, "waiting-answer")->state, DW_RULE_NOT_MEASURED);
	made_end(&at);
}

/* An account of records alone has no samples that could say what a thread did. */
TEST(without_samples_no_cell_is_judged)
{
	struct made at;

	make(&at, 0.5, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN);
	memset(account.basis, 0, sizeof account.basis);
	made_judge(&at);
	CHECK_EQ(made_find(&at, "own-code")->state, DW_RULE_NOT_MEASURED);
	CHECK_STR(made_find(&at, "own-code")->missing, "dwell run");
	made_end(&at);
}

CHECK_MAIN
