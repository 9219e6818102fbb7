/*
 * JSON: raw values, for programs.
 *
 *     {"dwell":1,"views":[{"view":..,"traces":[..],"scope":{..},"columns":[..],
 *      "rows":[..],"totals":{..},"coverage":1,"losses":[..],"notes":[..]}]}
 *
 * What is not recorded apart from losses is in "gaps", texts, if there is something.
 * A column of shares has "sums", the column whose cells are divided by "whole"; what other shares are of, "of" says in
 * words. A table that is a part of an answer also has "part", one with sentences above it has "heads", and one with
 * omitted rows has "rows_cut". Each row is on a line of its own, so that diffs are readable.
 */
#include <string.h>

#include "base/text.h"
#include "render/json_writer.h"
#include "render/render.h"

static const char *const units[] = { DW_UNITS(DW_LIST_TEXT) };

static void json_put_cell(struct dw_json *json, const char *key, const struct dw_cell *cell)
{
	if (cell->type == DW_CELL_INT) {
		dw_json_key(json, key);
		fprintf(json->file, "%lld", (long long)cell->integer);
	} else if (cell->type == DW_CELL_REAL) {
		dw_json_put_real(json, key, cell->real);
	} else {
		dw_json_put_text(json, key, cell->type == DW_CELL_TEXT ? cell->text : NULL);
	}
}

static void json_put_scope(struct dw_json *json, const struct dwell_table *table)
{
	const char *const members[][2] = {
		{ "steps", table->steps }, { "time", table->time }, { "profile", table->profile },
		{ "action", table->action }, { "thread", table->thread }, { "name", table->name },
		{ "min_duration", table->min_duration },
	};

	dw_json_open(json, "scope", '{');
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (members[i][1])
			dw_json_put_text(json, members[i][0], members[i][1]);
	dw_json_close(json, '}');
}

/* What a share is of, in words; NULL: the column has no shares, or of what is in another column. */
static const char *json_of(const struct dw_column *column)
{
	if (column->unit != DW_UNIT_RATIO)
		return NULL;
	return column->of ? column->of : strncmp(column->label, "of ", 3) == 0 ? column->label + 3 : NULL;
}

static void json_put_columns(struct dw_json *json, const struct dwell_table *table)
{
	static const char *const types[] = { "null", "int", "real", "text" };

	dw_json_open(json, "columns", '[');
	for (size_t i = 0; i < table->column_count; i++) {
		const struct dw_column *column = &table->columns[i];

		dw_json_line(json, "\n  ");
		dw_json_open(json, NULL, '{');
		dw_json_put_text(json, "name", column->name);
		dw_json_put_text(json, "label", column->label);
		dw_json_put_text(json, "unit", units[column->unit]);
		dw_json_put_text(json, "type", types[column->type]);
		if (column->sums && dw_table_column(table, column->sums) >= 0) {
			dw_json_put_text(json, "sums", column->sums);
			dw_json_put_real(json, "whole", dw_table_whole(table, column));
		} else if (json_of(column)) {
			dw_json_put_text(json, "of", json_of(column));
		}
		dw_json_close(json, '}');
	}
	dw_json_close(json, ']');
}

static void json_put_rows(struct dw_json *json, const struct dwell_table *table)
{
	dw_json_open(json, "rows", '[');
	for (size_t row = 0; row < table->row_count; row++) {
		dw_json_line(json, "\n  ");
		dw_json_open(json, NULL, '[');
		for (size_t i = 0; i < table->column_count; i++)
			json_put_cell(json, NULL, dw_table_at(table, row) + i);
		dw_json_close(json, ']');
	}
	dw_json_close(json, ']');
}

static void json_put_totals(struct dw_json *json, const struct dwell_table *table)
{
	dw_json_open(json, "totals", '{');
	for (size_t i = 0; table->totals && i < table->column_count; i++)
		if (table->totals[i].type != DW_CELL_NONE && table->totals[i].type != DW_CELL_TEXT)
			json_put_cell(json, table->columns[i].name, &table->totals[i]);
	dw_json_close(json, '}');
}

static void json_put_losses(struct dw_json *json, const struct dwell_table *table)
{
	dw_json_put_real(json, "coverage", table->coverage);
	dw_json_open(json, "losses", '[');
	for (size_t i = 0; i < table->loss_count; i++) {
		dw_json_open(json, NULL, '{');
		dw_json_put_text(json, "cause", table->losses[i].cause);
		dw_json_put_whole(json, "records", table->losses[i].records);
		dw_json_close(json, '}');
	}
	dw_json_close(json, ']');
}

/* Sentences on a line of their own. */
static void json_put_lines(struct dw_json *json, const char *key, const struct dw_line *lines, size_t count)
{
	dw_json_line(json, "\n ");
	dw_json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		dw_json_put_text(json, NULL, lines[i].text);
	dw_json_close(json, ']');
}

static void json_put_table(struct dw_json *json, const struct dwell_table *table)
{
	dw_json_open(json, NULL, '{');
	dw_json_put_text(json, "view", table->view);
	if (table->part)
		dw_json_put_text(json, "part", table->part);
	dw_json_put_texts(json, "traces", table->traces, table->trace_count);
	json_put_scope(json, table);
	dw_json_line(json, "\n ");
	json_put_columns(json, table);
	dw_json_line(json, "\n ");
	json_put_rows(json, table);
	dw_json_line(json, "\n ");
	json_put_totals(json, table);
	dw_json_line(json, "\n ");
	json_put_losses(json, table);
	if (table->gap_count) {
		dw_json_line(json, "\n ");
		dw_json_put_texts(json, "gaps", table->gaps, table->gap_count);
	}
	if (table->rows_cut)
		dw_json_put_whole(json, "rows_cut", table->rows_cut);
	if (table->head_count)
		json_put_lines(json, "heads", table->heads, table->head_count);
	json_put_lines(json, "notes", table->notes, table->note_count);
	dw_json_close(json, '}');
}

void dw_render_json(const struct dwell_table *const *tables, size_t count, FILE *file,
                    const struct dwell_print_options *options)
{
	struct dw_json json = { .file = file };

	dw_json_open(&json, NULL, '{');
	dw_json_put_whole(&json, "dwell", 1);
	dw_json_open(&json, "views", '[');
	for (size_t i = 0; i < count; i++)
		for (const struct dwell_table *part = tables[i]; part; part = part->next) {
			dw_json_line(&json, "\n");
			json_put_table(&json, part);
		}
	fputs(count ? "\n]}\n" : "\n\n]}\n", file);
}
