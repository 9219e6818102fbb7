/*
 * Cells of the scaled formats (text, Markdown, HTML), scaled by the unit of their column. Each
 * duration has a suitable unit; durations that are parts of a whole share one unit.
 */
#include <math.h>

#include "base/text.h"
#include "render/render.h"

double dw_display_number(const struct dw_cell *cell)
{
	if (cell->type == DW_CELL_INT)
		return (double)cell->integer;
	return cell->type == DW_CELL_REAL ? cell->real : NAN;
}

static double display_unit_ns(const char *unit)
{
	return strcmp(unit, "s") == 0 ? 1e9 : strcmp(unit, "ms") == 0 ? 1e6 : strcmp(unit, "us") == 0 ? 1e3 : 1;
}

/* The largest duration of the columns that have one unit with a column. */
static double display_largest_ns(const struct dwell_table *table, size_t column)
{
	size_t from = column, to = column + 1;
	double largest = 0;

	while (from && table->columns[from].unit_of_left)
		from--;
	while (to < table->column_count && table->columns[to].unit_of_left)
		to++;
	for (size_t row = 0; row < table->row_count; row++)
		for (size_t i = from; i < to; i++) {
			double value = fabs(dw_display_number(dw_table_at(table, row) + i));

			largest = isfinite(value) && value > largest ? value : largest;
		}
	return largest;
}

void dw_display_column(struct dw_display_column *display, const struct dwell_table *table, size_t column,
                       const struct dwell_print_options *options)
{
	const struct dw_column *from = &table->columns[column];

	display->column = from;
	display->like_ns = 0;
	display->unit_ns = 0;
	snprintf(display->label, sizeof display->label, "%s", from->label);
	if (from->unit == DW_UNIT_NS && options->time_unit) {
		display->unit_ns = display_unit_ns(options->time_unit);
		snprintf(display->label, sizeof display->label, "%s%s%s", from->label, *from->label ? " " : "",
		         options->time_unit);
	}
	if (!from->one_unit || from->unit != DW_UNIT_NS || display->unit_ns > 0)
		return;
	display->like_ns = dw_text_like(display_largest_ns(table, column));
	snprintf(display->label, sizeof display->label, "%s%s%s", from->label, *from->label ? " " : "",
	         dw_text_ns_unit(display->like_ns));
}

const char *dw_display_cell(const struct dw_display_column *display, const struct dw_cell *cell,
                            char *buffer, size_t size)
{
	double value = dw_display_number(cell);
	struct dw_text text;

	if (cell->type == DW_CELL_TEXT)
		return cell->text;
	if (cell->type == DW_CELL_NONE || !isfinite(value))
		return "";
	switch (display->column->unit) {
	case DW_UNIT_NS:
		if (display->unit_ns > 0)
			snprintf(text.at, sizeof text.at, "%.*f", display->unit_ns > 1 ? 3 : 0, value / display->unit_ns);
		else
			text = display->column->one_unit ? dw_text_ns_like(value, display->like_ns) : dw_text_ns(value, "");
		break;
	case DW_UNIT_BYTES: text = dw_text_bytes(value, ""); break;
	case DW_UNIT_RATIO: text = dw_text_percent(value); break;
	case DW_UNIT_TIMES: snprintf(text.at, sizeof text.at, "%.2fx", value); break;
	case DW_UNIT_PER_SECOND: snprintf(text.at, sizeof text.at, "%.30s/s", dw_text_number(value).at); break;
	case DW_UNIT_COUNT: text = cell->type == DW_CELL_INT ? dw_text_count(cell->integer) : dw_text_number(value); break;
	case DW_UNIT_NONE:
	default:
		if (cell->type == DW_CELL_INT)
			snprintf(text.at, sizeof text.at, "%lld", (long long)cell->integer);
		else
			text = dw_text_number(value);
		break;
	}
	snprintf(buffer, size, "%s", text.at);
	return buffer;
}

bool dw_display_scope(const struct dwell_table *table, char *buffer, size_t size)
{
	size_t half = table->steps ? strcspn(table->steps, ".") : 0, used = 0;
	bool one = table->steps && strncmp(table->steps, table->steps + half + 2, half) == 0 &&
	           !table->steps[half + 2 + half];
	/* A profile without a name is called "profile". */
	bool unnamed = table->profile && strcmp(table->profile, "profile") == 0;
	const struct { const char *words, *text; int length; } parts[] = {
		{ one ? "step " : "steps ", table->steps, one ? (int)half : 64 },
		{ "time ", table->time, 64 },
		{ unnamed ? "this profile" : "profile ", table->profile, unnamed ? 0 : 100 },
		{ "action ", table->action, 100 },
		{ "thread ", table->thread, 100 },
		{ "rows named ", table->name, 100 },
		{ "rows of at least ", table->min_duration, 32 },
	};

	for (size_t i = 0; i < sizeof parts / sizeof *parts && used < size; i++)
		if (parts[i].text)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s%.*s", used ? ", " : "Only ",
			                         parts[i].words, parts[i].length, parts[i].text);
	if (used && used + 1 < size)
		snprintf(buffer + used, size - used, ".");
	return used > 0;
}

void dw_display_footer(const struct dwell_table *table, void (*line)(void *to, const struct dw_line *line), void *to)
{
	struct dw_line said = { DW_LABEL_NONE, NULL };
	char text[256];

	said.text = text;
	if (table->part)
		return;
	if (table->rows_cut) {
		snprintf(text, sizeof text, "%s more row%s: --limit all shows %s.",
		         dw_text_count((int64_t)table->rows_cut).at, dw_text_plural(table->rows_cut),
		         table->rows_cut == 1 ? "it" : "them");
		line(to, &said);
	}
	if (table->coverage < 0.9995) {
		snprintf(text, sizeof text, "Recorded: %s of this time.", dw_text_percent(table->coverage).at);
		line(to, &said);
	}
	for (size_t i = 0; i < table->loss_count; i++) {
		const struct dw_loss_line *loss = &table->losses[i];

		snprintf(text, sizeof text, "Lost: %s record%s (%s: %s).",
		         dw_text_count((int64_t)loss->records).at, dw_text_plural(loss->records), loss->cause, loss->why);
		line(to, &said);
	}
}

void dw_display_part(const struct dwell_table *table, void (*line)(void *to, const struct dw_line *line),
                     void (*rows)(FILE *file, const struct dwell_table *table, const struct dwell_print_options *options),
                     FILE *file, const struct dwell_print_options *options)
{
	for (size_t i = 0; i < table->head_count; i++)
		line(file, &table->heads[i]);
	if (!table->heads_only && table->row_count)
		rows(file, table, options);
	for (size_t i = 0; i < table->note_count; i++)
		line(file, &table->notes[i]);
	dw_display_footer(table, line, file);
}
