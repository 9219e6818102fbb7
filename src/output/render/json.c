/*
 * JSON: raw values, for programs.
 *
 *     {"dwell":1,"views":[{"view":..,"traces":[..],"scope":{..},"columns":[..],
 *      "rows":[..],"totals":{..},"coverage":1,"losses":[..],"notes":[..]}]}
 *
 * What is not recorded apart from losses is in "gaps", texts, if there is something.
 * A table that is a part of an answer also has "part", one with sentences above it has "heads", and
 * one with omitted rows has "rows_cut". Each row is on a line of its own, so that diffs are
 * readable.
 */
#include <math.h>

#include "base/text.h"
#include "render/render.h"

static const char *const units[] = { DW_UNITS(DW_LIST_TEXT) };

static void json_put_text(FILE *file, const char *text)
{
	dw_json_text(dw_render_put, file, text);
}

static void json_put_cell(FILE *file, const struct dw_cell *cell)
{
	if (cell->type == DW_CELL_INT)
		fprintf(file, "%lld", (long long)cell->integer);
	else if (cell->type == DW_CELL_REAL && isfinite(cell->real))
		dw_render_real(file, cell->real);
	else if (cell->type == DW_CELL_TEXT)
		json_put_text(file, cell->text);
	else
		fputs("null", file);
}

static void json_put_texts(FILE *file, const char *key, const char *const *texts, size_t count)
{
	fprintf(file, "\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "," : "", file);
		json_put_text(file, texts[i]);
	}
	fputs("]", file);
}

static void json_put_scope(FILE *file, const struct dwell_table *table)
{
	const char *const members[][2] = {
		{ "steps", table->steps }, { "time", table->time }, { "profile", table->profile },
		{ "action", table->action }, { "thread", table->thread }, { "name", table->name },
		{ "min_duration", table->min_duration },
	};
	bool more = false;

	fputs("\"scope\":{", file);
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		if (!members[i][1])
			continue;
		fprintf(file, "%s\"%s\":", more ? "," : "", members[i][0]);
		json_put_text(file, members[i][1]);
		more = true;
	}
	fputs("}", file);
}

static void json_put_columns(FILE *file, const struct dwell_table *table)
{
	static const char *const types[] = { "null", "int", "real", "text" };

	fputs("\"columns\":[", file);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct dw_column *column = &table->columns[i];

		fputs(i ? ",\n  {\"name\":" : "\n  {\"name\":", file);
		json_put_text(file, column->name);
		fputs(",\"label\":", file);
		json_put_text(file, column->label);
		fprintf(file, ",\"unit\":\"%s\",\"type\":\"%s\"}", units[column->unit], types[column->type]);
	}
	fputs("]", file);
}

static void json_put_rows(FILE *file, const struct dwell_table *table)
{
	fputs("\"rows\":[", file);
	for (size_t row = 0; row < table->row_count; row++) {
		fputs(row ? ",\n  [" : "\n  [", file);
		for (size_t i = 0; i < table->column_count; i++) {
			fputs(i ? "," : "", file);
			json_put_cell(file, dw_table_at(table, row) + i);
		}
		fputs("]", file);
	}
	fputs("],\n \"totals\":{", file);
	for (size_t i = 0, any = 0; table->totals && i < table->column_count; i++) {
		if (table->totals[i].type == DW_CELL_NONE || table->totals[i].type == DW_CELL_TEXT)
			continue;
		fprintf(file, "%s\"%s\":", any++ ? "," : "", table->columns[i].name);
		json_put_cell(file, &table->totals[i]);
	}
	fputs("}", file);
}

static void json_put_losses(FILE *file, const struct dwell_table *table)
{
	fputs("\"coverage\":", file);
	dw_render_real(file, table->coverage);
	fputs(",\"losses\":[", file);
	for (size_t i = 0; i < table->loss_count; i++) {
		fprintf(file, "%s{\"cause\":", i ? "," : "");
		json_put_text(file, table->losses[i].cause);
		fprintf(file, ",\"records\":%llu}", (unsigned long long)table->losses[i].records);
	}
	fputs("]", file);
	if (table->gap_count) {
		fputs(",\n ", file);
		json_put_texts(file, "gaps", table->gaps, table->gap_count);
	}
}

static void json_put_table(FILE *file, const struct dwell_table *table)
{
	fputs("{\"view\":", file);
	json_put_text(file, table->view);
	if (table->part) {
		fputs(",\"part\":", file);
		json_put_text(file, table->part);
	}
	fputs(",", file);
	json_put_texts(file, "traces", table->traces, table->trace_count);
	fputs(",", file);
	json_put_scope(file, table);
	fputs(",\n ", file);
	json_put_columns(file, table);
	fputs(",\n ", file);
	json_put_rows(file, table);
	fputs(",\n ", file);
	json_put_losses(file, table);
	if (table->rows_cut)
		fprintf(file, ",\"rows_cut\":%zu", table->rows_cut);
	if (table->head_count) {
		fputs(",\n ", file);
		json_put_texts(file, "heads", table->heads, table->head_count);
	}
	fputs(",\n ", file);
	json_put_texts(file, "notes", table->notes, table->note_count);
	fputs("}", file);
}

void dw_render_json(const struct dwell_table *const *tables, size_t count, FILE *file,
                    const struct dwell_print_options *options)
{
	fputs("{\"dwell\":1,\"views\":[\n", file);
	for (size_t i = 0; i < count; i++)
		for (const struct dwell_table *part = tables[i]; part; part = part->next) {
			fputs(i || part != tables[i] ? ",\n" : "", file);
			json_put_table(file, part);
		}
	fputs("\n]}\n", file);
}
