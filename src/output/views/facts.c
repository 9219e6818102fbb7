/*
 * facts: which measured quantities do rules and comparisons use?
 *
 * A row a fact, in the order of src/analysis/facts/facts.def. Values have the unit of their row, so text
 * shows them in a column of text; CSV and JSON have the numbers.
 */
#include <math.h>

#include "base/text.h"
#include "facts/facts.h"
#include "views/columns.h"

struct facts_cells {
	struct dw_cell fact, shown, interval, denominator, value, low, high, unit, samples, evidence, missing, meaning;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct facts_cells, fact, "fact", NONE, TEXT),
	DW_FIELD(struct facts_cells, shown, "value", NONE, TEXT),
	DW_FIELD(struct facts_cells, interval, "95% interval", NONE, TEXT, .wide_only = true),
	DW_FIELD(struct facts_cells, denominator, "of", NONE, TEXT),
	DW_FIELD(struct facts_cells, value, "value", NONE, REAL, .data_only = true),
	DW_FIELD(struct facts_cells, low, "low", NONE, REAL, .data_only = true),
	DW_FIELD(struct facts_cells, high, "high", NONE, REAL, .data_only = true),
	DW_FIELD(struct facts_cells, unit, "unit", NONE, TEXT, .data_only = true),
	DW_FIELD(struct facts_cells, samples, "samples", COUNT, INT, .wide_only = true),
	DW_FIELD(struct facts_cells, evidence, "what", NONE, TEXT),
	DW_FIELD(struct facts_cells, missing, "not measured", NONE, TEXT, .data_only = true),
	DW_FIELD(struct facts_cells, meaning, "meaning", NONE, TEXT, .data_only = true),
};

void dw_view_fact_text(char *to, size_t size, enum dw_fact_unit unit, double value)
{
	switch (unit) {
	case DW_FACT_RATIO: snprintf(to, size, "%s", dw_text_percent(value).at); break;
	case DW_FACT_CHANGED: snprintf(to, size, "%+.1f%%", value * 100); break;
	case DW_FACT_TIMES: snprintf(to, size, "%.1fx", value); break;
	case DW_FACT_NS: snprintf(to, size, "%s", dw_text_ns(value, " ").at); break;
	case DW_FACT_BYTES: snprintf(to, size, "%s", dw_text_bytes(value, " ").at); break;
	case DW_FACT_COUNTED:
		if (fabs(value - round(value)) > 1e-9 && fabs(value) < 100)
			snprintf(to, size, "%.2f", value);
		else
			snprintf(to, size, "%s", dw_text_count((int64_t)llround(value)).at);
		break;
	case DW_FACT_PER_SECOND: snprintf(to, size, "%.3g/s", value); break;
	}
}

/* What belongs to a fact; NULL: nothing does. */
static const char *facts_evidence(const struct dw_fact *fact, char text[300])
{
	const char *const words[] = { fact->note, fact->name, fact->where };
	size_t used = 0;

	for (size_t i = 0; i < 3 && used < 300; i++)
		if (words[i])
			used += (size_t)snprintf(text + used, 300 - used, "%s%.100s", used ? ", " : "", words[i]);
	return used ? text : NULL;
}

static void facts_fill_row(struct dwell_table *table, enum dw_fact_id id, const struct dw_fact *fact)
{
	const struct dw_fact_kind *kind = dw_fact_kind(id);
	bool measured = fact->measured, interval = fact->low < fact->value || fact->high > fact->value;
	char low[48], high[48], text[48] = "not measured", between[112], evidence[300];

	if (measured) {
		dw_view_fact_text(text, sizeof text, kind->unit, fact->value);
		dw_view_fact_text(low, sizeof low, kind->unit, fact->low);
		dw_view_fact_text(high, sizeof high, kind->unit, fact->high);
		snprintf(between, sizeof between, "%s to %s", low, high);
	}
	DW_TABLE_PUT(table, 0, struct facts_cells, .fact = DW_STRING(kind->name), .shown = DW_STRING(text),
	             .interval = DW_STRING(measured && interval ? between : NULL),
	             .denominator = DW_STRING(kind->denominator), .value = measured ? DW_REAL(fact->value) : DW_EMPTY,
	             .low = measured ? DW_REAL(fact->low) : DW_EMPTY, .high = measured ? DW_REAL(fact->high) : DW_EMPTY,
	             .unit = DW_STRING(dw_fact_unit_name(kind->unit)),
	             .samples = measured ? DW_INT(fact->samples) : DW_EMPTY,
	             .evidence = DW_STRING(measured ? facts_evidence(fact, evidence) : fact->missing),
	             .missing = DW_STRING(measured ? NULL : fact->missing), .meaning = DW_STRING(kind->meaning));
}

static struct dwell_table *facts_view(struct dw_model *model, const struct dwell_view_options *options,
                                      struct dwell_error *error)
{
	const struct dw_facts *facts = dw_facts(model, error);
	struct dwell_table *table = facts ? DW_VIEW_CHOOSE("facts", columns, 0, error) : NULL;
	unsigned missing = 0;
	char name[256];

	if (!table)
		return NULL;
	for (unsigned id = 0; id < DW_FACT_COUNT; id++) {
		facts_fill_row(table, (enum dw_fact_id)id, &facts->at[id]);
		missing += !facts->at[id].measured;
	}
	if (facts->loop_count > 1)
		dw_table_head(table, "Facts of the loop in thread %s, one of %zu with steps; --thread selects another one.",
		              dw_view_thread_name(model, facts->thread, false, name), facts->loop_count);
	dw_table_note(table, "%u of %u facts are not measured; each says why.", missing, (unsigned)DW_FACT_COUNT);
	return table;
}

const struct dw_view dw_view_facts = {
	.name = "facts", .question = "which measured quantities do verdicts and comparisons use?",
	.run = facts_view, .row_name = "fact", .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
};
