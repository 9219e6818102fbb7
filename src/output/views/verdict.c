/*
 * verdict: what makes a step longer than necessary, and what to try?
 *
 * The rules of src/analysis/rules decide; this view prints what they say. --all lists every rule, with those
 * whose evidence was not recorded and what to record for them.
 */
#include <math.h>

#include "base/text.h"
#include "views/verdict.h"

static const struct dw_column verdict_columns[] = {
	DW_COLUMN("rule", "rule", NONE, TEXT),
	DW_COLUMN("share", "share", RATIO, REAL),
	DW_COLUMN("low", "from", RATIO, REAL),
	DW_COLUMN("high", "to", RATIO, REAL),
	DW_COLUMN("of", "of", NONE, TEXT),
	DW_COLUMN("gain_ns", "at most a step", NS, REAL),
	DW_COLUMN("state", "state", NONE, TEXT),
	DW_COLUMN("question", "question", NONE, TEXT, .wide_only = true),
	DW_COLUMN("firm", "firm", NONE, INT, .data_only = true),
	DW_COLUMN("statement", "statement", NONE, TEXT, .data_only = true),
	DW_COLUMN("hint", "hint", NONE, TEXT, .data_only = true),
	DW_COLUMN("missing", "missing", NONE, TEXT, .data_only = true),
};
enum { STATE = 6, QUESTION, COLUMNS = sizeof verdict_columns / sizeof *verdict_columns };

int dw_view_judge(struct dw_model *model, struct dw_arena *arena, struct dw_verdicts *verdicts,
                  struct dwell_error *error)
{
	const struct dw_facts *facts = dw_facts(model, error);

	*verdicts = (struct dw_verdicts){ .combined_ns = NAN };
	if (!facts)
		return -1;
	return dw_rules_judge(facts, arena, verdicts);
}

void dw_view_head_verdicts(struct dwell_table *table, const struct dw_verdicts *verdicts, size_t most)
{
	unsigned gains = 0;

	for (size_t i = 0; i < verdicts->fired && i < most; i++) {
		const struct dw_verdict *verdict = &verdicts->at[i];

		gains += !isnan(verdict->gain_ns);
		dw_table_head(table, "%s", verdict->statement);
		if (*verdict->hint)
			dw_table_head(table, "  -> %s", verdict->hint);
		if (verdict->tied && i + 1 < verdicts->fired && !verdicts->at[i + 1].tied)
			dw_table_head(table, "These two differ by less than they vary from step to step.");
	}
	if (verdicts->fired > most)
		dw_table_head(table, "%zu more: dwell report --view verdict", verdicts->fired - most);
	if (gains > 1 && !isnan(verdicts->combined_ns))
		dw_table_head(table, "All of this together: at most %s of %s %s.",
		              dw_text_ns(verdicts->combined_ns, " ").at, dw_text_ns(verdicts->loop_ns, " ").at, dw_rule_each(verdicts->iterations));
}

static void verdict_fill_row(struct dwell_table *table, const struct dw_verdict *verdict, enum dw_iteration_kind iterations)
{
	static const char *const states[] = {
		[DW_RULE_FIRED] = "yes",
		[DW_RULE_COVERED] = "part of another",
		[DW_RULE_QUIET] = "no",
		[DW_RULE_NOT_MEASURED] = "not measured",
	};
	const char *id = verdict->rule->id, *question = verdict->rule->question;

	if (verdict->state == DW_RULE_NOT_MEASURED)
		DW_TABLE_ROW(table, 0, DW_STRING(id), DW_EMPTY, DW_EMPTY, DW_EMPTY, DW_EMPTY, DW_EMPTY,
		             DW_STRING(states[verdict->state]), DW_STRING(question), DW_EMPTY, DW_EMPTY, DW_EMPTY,
		             DW_STRING(verdict->missing));
	else
		DW_TABLE_ROW(table, 0, DW_STRING(id), DW_REAL(verdict->share.value), DW_REAL(verdict->share.low),
		             DW_REAL(verdict->share.high), DW_STRING(dw_rule_whole_text(verdict->whole, iterations)),
		             isnan(verdict->gain_ns) ? DW_EMPTY : DW_REAL(verdict->gain_ns),
		             DW_STRING(states[verdict->state]), DW_STRING(question), DW_INT(verdict->firm),
		             DW_STRING(*verdict->statement ? verdict->statement : NULL),
		             DW_STRING(*verdict->hint ? verdict->hint : NULL));
}

/* "not measured: dwell run --shapes: first-shapes, roofline" */
static void verdict_note_missing(struct dwell_table *table, const struct dw_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++) {
		const char *missing = verdicts->at[i].missing, *names = NULL;
		bool said = false;

		if (verdicts->at[i].state != DW_RULE_NOT_MEASURED)
			continue;
		for (size_t n = 0; n < i; n++)
			said |= verdicts->at[n].state == DW_RULE_NOT_MEASURED && strcmp(verdicts->at[n].missing, missing) == 0;
		for (size_t n = i; !said && n < verdicts->count; n++) {
			if (verdicts->at[n].state != DW_RULE_NOT_MEASURED || strcmp(verdicts->at[n].missing, missing) != 0)
				continue;
			names = dw_arena_printf(&table->arena, "%s%s%s", names ? names : "",
			                        names ? ", " : "", verdicts->at[n].rule->id);
			table->failed |= !names;
		}
		if (!said && names)
			dw_table_note(table, "Not measured (%s%s): %s",
			              strncmp(missing, "dwell ", 6) == 0 ? "record with " : "", missing, names);
	}
}

static struct dwell_table *verdict_view(struct dw_model *model, const struct dwell_view_options *options,
                                        struct dwell_error *error)
{
	struct dwell_table *table = dw_view_table("verdict", verdict_columns, COLUMNS, error);
	struct dw_verdicts verdicts;

	if (!table)
		return NULL;
	if (dw_view_judge(model, &table->arena, &verdicts, error)) {
		dw_table_destroy(table);
		return NULL;
	}
	table->columns[STATE].data_only = !options->all;
	table->columns[QUESTION].data_only = !options->all;
	dw_view_head_verdicts(table, &verdicts, SIZE_MAX);
	if (!verdicts.fired)
		dw_table_head(table, "No rule says anything about this run.");
	for (size_t i = 0; i < verdicts.count; i++)
		if (options->all || verdicts.at[i].state == DW_RULE_FIRED)
			verdict_fill_row(table, &verdicts.at[i], verdicts.iterations);
	if (options->all)
		verdict_note_missing(table, &verdicts);
	return table;
}

const struct dw_view dw_view_verdict = {
	.name = "verdict", .question = "what makes a step longer than necessary, and what to try?",
	.run = verdict_view, .takes = DW_VIEW_TAKES(all), .row_name = "rule", .limit = SIZE_MAX,
};
