/*
 * verdict: what makes a step longer than necessary, and what to try?
 *
 * The rules of src/analysis/rules decide; this view prints what they say. --all lists every rule, with those
 * whose evidence was not recorded and what to record for them.
 */
#include <math.h>

#include "base/text.h"
#include "views/columns.h"
#include "views/ends.h"
#include "views/memory_failure.h"
#include "views/stop.h"
#include "views/verdict.h"

struct verdict_cells {
	struct dw_cell rule, share, low, high, of, gain_ns, gain_share, state, question, firm, statement, hint, missing;
};

enum { ALL_RULES = DW_HAS_OWN };

#define VERDICT_OF "the whole that the column \"of\" names"
static const struct dw_column verdict_columns[] = {
	DW_FIELD(struct verdict_cells, rule, "rule", NONE, TEXT),
	DW_FIELD(struct verdict_cells, share, "share", RATIO, REAL, .of = VERDICT_OF),
	DW_FIELD(struct verdict_cells, low, "from", RATIO, REAL, .of = VERDICT_OF),
	DW_FIELD(struct verdict_cells, high, "to", RATIO, REAL, .of = VERDICT_OF),
	DW_FIELD(struct verdict_cells, of, "of", NONE, TEXT),
	DW_FIELD(struct verdict_cells, gain_ns, "saves at most", NS, REAL),
	DW_FIELD(struct verdict_cells, gain_share, "part of that whole", RATIO, REAL, .of = VERDICT_OF, .data_only = true),
	DW_FIELD(struct verdict_cells, state, "state", NONE, TEXT, .text_only = ALL_RULES),
	DW_FIELD(struct verdict_cells, question, "question", NONE, TEXT, .text_only = ALL_RULES, .wide_only = true),
	DW_FIELD(struct verdict_cells, firm, "firm", NONE, INT, .data_only = true),
	DW_FIELD(struct verdict_cells, statement, "statement", NONE, TEXT, .data_only = true),
	DW_FIELD(struct verdict_cells, hint, "hint", NONE, TEXT, .data_only = true),
	DW_FIELD(struct verdict_cells, missing, "missing", NONE, TEXT, .data_only = true),
};

int dw_view_judge(struct dw_model *model, struct dw_arena *arena, struct dw_verdicts *verdicts,
                  struct dwell_error *error)
{
	const struct dw_facts *facts = dw_facts(model, error);
	struct dw_facts *without;

	*verdicts = (struct dw_verdicts){ .combined_ns = NAN };
	if (!facts)
		return -1;
	if (!facts->at[DW_FACT_RUN_AFTER].measured || !dw_view_stands_still(model))
		return dw_rules_judge(facts, arena, verdicts);
	without = dw_arena_alloc(arena, sizeof *without);
	if (!without)
		return -1;
	*without = *facts;
	without->at[DW_FACT_RUN_AFTER].measured = false;
	without->at[DW_FACT_RUN_AFTER].missing = "the program stands still after its last step";
	return dw_rules_judge(without, arena, verdicts);
}

static enum dw_label verdict_label(const struct dw_rule *rule)
{
	if (rule->part == DW_RULE_PART_OUTSIDE)
		return DW_LABEL_SLOW; /* what lies between the steps is no work of a step */
	switch (rule->kind) {
	case DW_RULE_RISK: return DW_LABEL_RISK;
	case DW_RULE_CAUSE: return DW_LABEL_SLOW;
	case DW_RULE_WORK:
	case DW_RULE_ANSWER: return DW_LABEL_WORK;
	default: return DW_LABEL_ALSO;
	}
}

/* "at most 42.2 ms a step, 26%": of what the sentence's share is of, so that all that goes is as much as the sentence says. With
 * another `begin`, and no `each`: "or 55.0 ms, 34%". */
static void verdict_write_gain(char *to, size_t size, const char *begin, double gain_ns, double whole_ns, const char *each, double like_ns)
{
	const char *unit = dw_text_ns_unit(like_ns);
	bool alike = strcmp(dw_text_ns_unit(gain_ns), unit) == 0;
	double share = gain_ns / whole_ns;
	int used;

	used = alike ? snprintf(to, size, "%s %s %s%s", begin, dw_text_ns_like(gain_ns, like_ns).at, unit, each)
	             : snprintf(to, size, "%s %s%s", begin, dw_text_ns(gain_ns, " ").at, each);
	if (share < 1.005) /* what a device can save may be more than a step of the host */
		snprintf(to + used, size - (size_t)used, ", %.*f%%", share < 0.01, share * 100);
}

/* What to do about a verdict, and where its evidence is. The first verdict says the latter in a line of its own. */
static void verdict_say_remedy(struct dwell_table *table, const struct dw_verdicts *verdicts, size_t index, double like_ns)
{
	const struct dw_verdict *verdict = &verdicts->at[index];
	bool said = index && strcmp(verdict->look, verdicts->at[index - 1].look) == 0;
	bool look = *verdict->look && !said, within = look && index;
	char gain[120] = "", all[120], rest[360] = "", each[40];

	snprintf(each, sizeof each, " %s", dw_rule_each(verdicts->facts));
	if (!isnan(verdict->gain_ns))
		verdict_write_gain(gain, sizeof gain, "at most", verdict->gain_ns - verdict->rest_ns, verdict->whole_ns, each, like_ns);
	if (*verdict->rest) {
		verdict_write_gain(all, sizeof all, ", or", verdict->gain_ns, verdict->whole_ns, "", like_ns);
		snprintf(rest, sizeof rest, "%s, if %s goes, too", all, verdict->rest);
	}
	if (*verdict->remedy)
		dw_table_say(table, DW_LABEL_TRY, "%s%s%s%s%s%s%s", verdict->remedy, *gain ? ": " : "", gain, rest, within ? " (" : "",
		             within ? verdict->look : "", within ? ")" : "");
	if (look && !(within && *verdict->remedy))
		dw_table_say(table, DW_LABEL_LOOK, "%s", verdict->look);
}

void dw_view_head_verdicts(struct dwell_table *table, const struct dw_verdicts *verdicts, size_t most, double like_ns)
{
	unsigned gains = 0;
	char gain[120], each[40];

	for (size_t i = 0; i < verdicts->fired && i < most; i++) {
		const struct dw_verdict *verdict = &verdicts->at[i];

		gains += !isnan(verdict->gain_ns);
		dw_table_say(table, verdict_label(verdict->rule), "%s", verdict->statement);
		verdict_say_remedy(table, verdicts, i, like_ns);
		if (verdict->tied && i + 1 < verdicts->fired && !verdicts->at[i + 1].tied)
			dw_table_say(table, DW_LABEL_REST, "These two differ by less than they vary from step to step.");
	}
	if (verdicts->fired > most)
		dw_table_say(table, DW_LABEL_LOOK, "dwell report --view verdict has %zu more", verdicts->fired - most);
	if (gains > 1 && !isnan(verdicts->combined_ns)) {
		snprintf(each, sizeof each, " %s", dw_rule_each(verdicts->facts));
		verdict_write_gain(gain, sizeof gain, "at most", verdicts->combined_ns, verdicts->own_ns, each, like_ns);
		dw_table_say(table, DW_LABEL_ALL, "together: %s.", gain);
	}
}

static void verdict_fill_row(struct dwell_table *table, const struct dw_verdict *verdict, const struct dw_facts *facts)
{
	static const char *const states[] = {
		[DW_RULE_FIRED] = "yes",
		[DW_RULE_COVERED] = "part of another",
		[DW_RULE_QUIET] = "no",
		[DW_RULE_NOT_MEASURED] = "not measured",
	};
	const char *id = verdict->rule->id, *question = verdict->rule->question;

	if (verdict->state == DW_RULE_NOT_MEASURED)
		DW_TABLE_PUT(table, 0, struct verdict_cells, .rule = DW_STRING(id), .state = DW_STRING(states[verdict->state]),
		             .question = DW_STRING(question), .missing = DW_STRING(verdict->missing));
	else
		DW_TABLE_PUT(table, 0, struct verdict_cells, .rule = DW_STRING(id), .share = DW_REAL(verdict->share.value),
		             .low = DW_REAL(verdict->share.low), .high = DW_REAL(verdict->share.high),
		             .of = DW_STRING(dw_rule_whole_text(verdict->whole, facts)),
		             .gain_ns = isnan(verdict->gain_ns) ? DW_EMPTY : DW_REAL(verdict->gain_ns),
		             .gain_share = isnan(verdict->gain_ns) ? DW_EMPTY : DW_REAL(verdict->gain_ns / verdict->whole_ns),
		             .state = DW_STRING(states[verdict->state]), .question = DW_STRING(question),
		             .firm = DW_INT(verdict->firm),
		             .statement = DW_STRING(*verdict->statement ? verdict->statement : NULL),
		             .hint = DW_STRING(*verdict->hint ? verdict->hint : NULL));
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
	struct dwell_table *table = DW_VIEW_CHOOSE("verdict", verdict_columns, options->all ? ALL_RULES : 0, error);
	struct dw_verdicts verdicts;

	if (!table)
		return NULL;
	if (dw_view_judge(model, &table->arena, &verdicts, error)) {
		dw_table_destroy(table);
		return NULL;
	}
	dw_view_head_memory_failure(table, model);
	dw_view_head_ends(table, model, &verdicts, DW_VIEW_ENDS_FIRST);
	dw_view_head_verdicts(table, &verdicts, SIZE_MAX, dw_text_like(verdicts.loop_ns));
	dw_view_head_ends(table, model, &verdicts, DW_VIEW_ENDS_AFTER);
	if (!verdicts.fired)
		dw_table_head(table, "No rule says anything about this run.");
	for (size_t i = 0; i < verdicts.count; i++)
		if (options->all || verdicts.at[i].state == DW_RULE_FIRED)
			verdict_fill_row(table, &verdicts.at[i], verdicts.facts);
	if (options->all)
		verdict_note_missing(table, &verdicts);
	return table;
}

const struct dw_view dw_view_verdict = {
	.name = "verdict", .question = "what makes a step longer than necessary, and what to try?",
	.run = verdict_view, .takes = DW_VIEW_TAKES(all), .row_name = "rule", .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(verdict_columns)),
};
