/*
 * What is said of the start and the end of a run before the verdicts on its loop, if the loop is less than half of it, and what a
 * program did until it failed. By the accounts of the loop's thread (analysis/account/account.h).
 */
#include <stdio.h>

#include "account/account.h"
#include "base/text.h"
#include "views/columns.h"
#include "views/ends.h"
#include "views/stop.h"

#define NAMED 0.05 /* of the start or the end: the sentence leaves out smaller parts of it */
#define MOST_NAMED 3u
#define LEAST_SAMPLES 3u

/* Writes "importing torch 4.1 s, reading and writing files 3.2 s in load (train.py:40)", or "". */
static void ends_write_parts(char *to, size_t size, const struct dw_account *account)
{
	struct dw_account_run_part parts[DW_ACCOUNT_RUN_PARTS];
	size_t count = dw_account_parts_of_phase(account, parts), used = 0;
	char place[300];
	unsigned named = 0;

	to[0] = '\0';
	for (size_t i = 0; i < count && named < MOST_NAMED && used < size; i++) {
		const struct dw_account_run_part *part = &parts[i];

		if (part->sum.ns < NAMED * account->own_ns || !part->known || part->no_cpu ||
		    (part->sum.samples && part->sum.samples < LEAST_SAMPLES))
			continue;
		dw_account_place(&part->sum, place);
		used += (size_t)snprintf(to + used, size - used, "%s%s %s%s%s", named++ ? ", " : "", part->words,
		                         dw_text_ns(part->sum.ns, " ").at, *place && !part->imports ? " in " : "",
		                         part->imports ? "" : place);
	}
}

void dw_view_until_end(struct dw_model *model, char *to, size_t size)
{
	const struct dw_account *account = dw_account_of(model, NULL);

	to[0] = '\0';
	if (account && account->thread != DW_NO_INDEX && dw_account_is_divided(account))
		ends_write_parts(to, size, account);
}

void dw_view_write_whose_run(struct dw_model *model, const struct dw_account_run *run, char *to, size_t size)
{
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	char name[256];

	snprintf(to, size, "the run");
	if (steps && steps->thread_count > 1)
		snprintf(to, size, "the run of %s", dw_view_thread_name(model, run->phases[DW_ACCOUNT_LOOP]->thread, false, name));
}

/* Whether the first cause in the loop is large, by what it takes or could save, and takes more of the run than what a start could do
 * without. */
static bool ends_come_after(const struct dw_account_run *run, const struct dw_verdicts *verdicts)
{
	const struct dw_verdict *first = verdicts->fired ? &verdicts->at[0] : NULL;

	return first && first->rule->kind <= DW_RULE_WORK &&
	       (first->large || (first->firm && first->gain_ns >= DW_RULE_MOST * first->whole_ns)) &&
	       first->share.value * run->phases[DW_ACCOUNT_LOOP]->own_ns > dw_account_work(run->phases[DW_ACCOUNT_START]);
}

enum dw_view_ends dw_view_says_ends(struct dw_model *model, const struct dw_verdicts *verdicts)
{
	const struct dw_account_run *run = dw_account_of_run(model, NULL);
	enum dw_account_phase phase = run ? dw_account_main_phase(run) : DW_ACCOUNT_LOOP;

	if (phase != DW_ACCOUNT_LOOP && dw_view_stands_still(model))
		return DW_VIEW_ENDS_NOT;
	if (phase != DW_ACCOUNT_START) /* a rule has what follows the last step */
		return phase == DW_ACCOUNT_END ? DW_VIEW_ENDS_FIRST : DW_VIEW_ENDS_NOT;
	return ends_come_after(run, verdicts) ? DW_VIEW_ENDS_AFTER : DW_VIEW_ENDS_FIRST;
}

bool dw_view_head_ends(struct dwell_table *table, struct dw_model *model, const struct dw_verdicts *verdicts, enum dw_view_ends when)
{
	const struct dw_account_run *run = dw_account_of_run(model, NULL);
	char parts[1200], whose[300];
	double ns;

	if (!run || dw_view_says_ends(model, verdicts) != when || dw_account_main_phase(run) != DW_ACCOUNT_START)
		return false;
	ns = dw_account_phase_ns(run, DW_ACCOUNT_START);
	ends_write_parts(parts, sizeof parts, run->phases[DW_ACCOUNT_START]);
	dw_view_write_whose_run(model, run, whose, sizeof whose);
	dw_table_say(table, when == DW_VIEW_ENDS_FIRST ? DW_LABEL_SLOW : DW_LABEL_ALSO, "Start-up takes %.0f%% of %s (%s)%s%s.",
	             100 * ns / dw_account_run_own_ns(run), whose, dw_text_ns(ns, " ").at, *parts ? ": " : "", parts);
	return true;
}
