/* A table as JSON of the page; see report.h. The columns are as in the JSON of a report. */

#include "page/report.h"

static const char *const units[] = {
#define X(name, label) label,
	DW_UNITS(X)
#undef X
};

static void report_put_cell(struct dw_writer_out *out, const struct dw_cell *cell)
{
	switch (cell->type) {
	case DW_CELL_INT: dw_out_i64(out, cell->integer); break;
	case DW_CELL_REAL: dw_out_real(out, cell->real); break;
	case DW_CELL_TEXT: dw_page_put_text(out, cell->text); break;
	case DW_CELL_NONE: dw_out_text(out, "null"); break;
	}
}

static void report_put_cells(struct dw_writer_out *out, const struct dw_cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		dw_out_text(out, i ? "," : "[");
		report_put_cell(out, &cells[i]);
	}
	dw_out_text(out, "]");
}

/* Sentences, and the words of their labels if one has a label. */
static void report_put_lines(struct dw_writer_out *out, const char *key, const struct dw_line *lines, size_t count)
{
	bool labelled = false;

	DW_PAGE_PUT(out, ",#:[", key);
	for (size_t i = 0; i < count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_page_put_text(out, dw_line_words(&lines[i]));
		labelled |= lines[i].label != DW_LABEL_NONE;
	}
	dw_out_text(out, "]");
	if (!labelled)
		return;
	dw_out_text(out, *key == 'h' ? ",\"head_labels\":[" : ",\"note_labels\":[");
	for (size_t i = 0; i < count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_page_put_text(out, dw_label_word(lines[i].label));
	}
	dw_out_text(out, "]");
}

static void report_put_columns(struct dw_writer_out *out, const struct dwell_table *table)
{
	dw_out_text(out, ",\"columns\":[");
	for (size_t i = 0; i < table->column_count; i++) {
		const struct dw_column *column = &table->columns[i];

		dw_out_text(out, i ? ",{\"name\":" : "{\"name\":");
		DW_PAGE_PUT(out, "#,'label':#,'unit':#", column->name, column->label, units[column->unit]);
		dw_out_text(out, column->type == DW_CELL_TEXT ? ",\"text\":1" : "");
		dw_out_text(out, column->bar ? ",\"bar\":1" : "");
		dw_out_text(out, column->wide_only ? ",\"wide\":2" : column->not_narrow ? ",\"wide\":1" : "");
		dw_out_text(out, column->data_only ? ",\"hidden\":1}" : "}");
	}
	dw_out_text(out, "]");
}

static void report_put_rows(struct dw_writer_out *out, const struct dwell_table *table)
{
	dw_out_text(out, ",\"rows\":[");
	for (size_t i = 0; i < table->row_count; i++) {
		dw_out_text(out, i ? ",\n" : "\n");
		report_put_cells(out, dw_table_at(table, i), table->column_count);
	}
	dw_out_text(out, "]");
	if (table->depths) {
		dw_out_text(out, ",\"depths\":[");
		for (size_t i = 0; i < table->row_count; i++) {
			dw_out_text(out, i ? "," : "");
			dw_out_i64(out, table->depths[i]);
		}
		dw_out_text(out, "]");
	}
	if (table->totals) {
		dw_out_text(out, ",\"totals\":");
		report_put_cells(out, table->totals, table->column_count);
	}
}

void dw_page_put_table(struct dw_writer_out *out, const struct dwell_table *table, const char *title)
{
	DW_PAGE_PUT(out, "{'view':#", table->view);
	if (table->part)
		DW_PAGE_PUT(out, ",'part':#", table->part);
	if (title)
		DW_PAGE_PUT(out, ",'title':#", title);
	report_put_columns(out, table);
	report_put_rows(out, table);
	DW_OUT_JSON(out, ",'coverage':#,'losses':[", table->coverage);
	for (size_t i = 0; i < table->loss_count; i++) {
		dw_out_text(out, i ? ",[" : "[");
		DW_PAGE_PUT(out, "#,#,#]", table->losses[i].cause, table->losses[i].records, table->losses[i].why);
	}
	DW_PAGE_PUT(out, "],'rows_cut':#", table->rows_cut);
	report_put_lines(out, "heads", table->heads, table->head_count);
	report_put_lines(out, "notes", table->notes, table->note_count);
	if (table->steps)
		DW_PAGE_PUT(out, ",'steps':#", table->steps);
	if (table->thread)
		DW_PAGE_PUT(out, ",'thread':#", table->thread);
	dw_out_text(out, "}");
}
