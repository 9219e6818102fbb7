/* The file and line of a row; see places.h. */
#include "views/places.h"

#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"

static const struct dw_column columns[] = {
	DW_COLUMN("place", "place", NONE, TEXT, .not_narrow = true),
	DW_COLUMN("file", "file", NONE, TEXT, .data_only = true),
};
const struct dw_column_list dw_view_places_columns = DW_COLUMN_LIST(columns);

/* A place of a row of symbols. */
struct place {
	uint32_t row, symbol;
	const char *file;
	uint32_t line;
};

DW_ORDER(places_compare, struct place, DW_UP(row) DW_TEXT(file) DW_UP(line) DW_UP(symbol))

/* Lists the symbols with a place by row. NULL: there is none, or memory ran out. */
static struct place *places_list(struct dw_view_places *places, size_t *count)
{
	size_t symbol_count;
	const struct dw_symbol *symbols = dw_model_symbols(places->model, &symbol_count);
	struct place *list;

	*count = 0;
	for (size_t i = 0; i < symbol_count; i++)
		*count += symbols[i].file != NULL;
	if (!*count)
		return NULL;
	list = calloc(*count, sizeof *list);
	places->of = calloc(symbol_count, sizeof *places->of);
	places->failed = !list || !places->of;
	*count = 0;
	for (uint32_t i = 0; i < symbol_count && !places->failed; i++)
		if (symbols[i].file)
			list[(*count)++] = (struct place){ dw_model_symbol_row(places->model, i), i,
				                               symbols[i].file, symbols[i].line };
	if (*count)
		qsort(list, *count, sizeof *list, places_compare);
	return list;
}

void dw_view_places_init(struct dw_view_places *places, struct dw_model *model)
{
	struct place *list;
	size_t count;

	*places = (struct dw_view_places){ .model = model };
	list = places_list(places, &count);
	for (size_t i = 0; i < count && list; i++) {
		bool first = i == 0 || list[i].row != list[i - 1].row;

		if (first)
			places->of[list[i].row].symbol = list[i].symbol;
		places->of[list[i].row].count += first || list[i].line != list[i - 1].line ||
		                                 strcmp(list[i].file, list[i - 1].file) != 0;
	}
	free(list);
}

void dw_view_places_take(struct dw_view_places *places, const struct dwell_table *table, uint32_t symbol)
{
	while (places->of && !places->failed && places->row_count < table->row_count) {
		uint32_t *row = DW_GROW(&places->rows, &places->row_capacity, places->row_count);

		places->failed = !row;
		if (!row)
			return;
		places->row_count++;
		*row = symbol != DW_NO_INDEX && places->row_count == table->row_count
		           ? dw_model_symbol_row(places->model, symbol) : DW_NO_INDEX;
	}
}

static void places_put(const struct dw_view_places *places, struct dwell_table *table, size_t row, size_t column)
{
	const struct dw_symbol *symbols = dw_model_symbols(places->model, NULL), *symbol;
	uint32_t of = places->rows[row], more;
	char text[512], line[16] = "", rest[32] = "";

	if (of == DW_NO_INDEX || !places->of[of].count)
		return;
	symbol = &symbols[places->of[of].symbol];
	more = places->of[of].count - 1;
	if (symbol->line)
		snprintf(line, sizeof line, ":%u", symbol->line);
	if (more)
		snprintf(rest, sizeof rest, " and %u more", more);
	snprintf(text, sizeof text, "%.400s%s%s", dw_text_base_name(symbol->file), line, rest);
	dw_cell_text(table, &dw_table_at(table, row)[column], text);
	dw_cell_text(table, &dw_table_at(table, row)[column + 1], symbol->file);
}

/* Whether rows of several names have one place, as where a helper of the program begins all of its ranges. */
static bool places_are_same(const struct dw_view_places *places)
{
	const struct dw_symbol *symbols = dw_model_symbols(places->model, NULL), *first = NULL, *symbol;
	uint32_t first_of = DW_NO_INDEX;
	bool several = false;

	for (size_t i = 0; i < places->row_count; i++) {
		uint32_t of = places->rows[i];

		if (of == DW_NO_INDEX || !places->of[of].count)
			continue;
		symbol = &symbols[places->of[of].symbol];
		first = first ? first : symbol;
		first_of = first_of == DW_NO_INDEX ? of : first_of;
		several |= of != first_of;
		if (places->of[of].count > 1 || symbol->line != first->line || strcmp(symbol->file, first->file) != 0)
			return false;
	}
	return several;
}

void dw_view_places_finish(struct dw_view_places *places, struct dwell_table *table)
{
	size_t column = table->column_count;
	bool any = false;

	for (size_t i = 0; i < places->row_count && !any; i++)
		any = places->rows[i] != DW_NO_INDEX && places->of[places->rows[i]].count;
	if (any && !places->failed) {
		dw_table_add_columns(table, columns, sizeof columns / sizeof *columns);
		for (size_t i = 0; i < places->row_count && !table->failed; i++)
			places_put(places, table, i, column);
		if (!table->failed && places_are_same(places))
			table->columns[column].data_only = true;
	}
	table->failed |= places->failed;
	free(places->of);
	free(places->rows);
	*places = (struct dw_view_places){ .model = NULL };
}
