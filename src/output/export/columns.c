/* Columns in memory; see columns.h. */
#include "export/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/nearest.h"
#include "base/text.h"
#include "export/rows.h"

#define COLUMNS_ROWS 65536u         /* that are passed on together, */
#define COLUMNS_BYTES (64u << 20)   /* or fewer, if the texts of a column take more */

struct columns_column {
	const char *name;
	enum dw_cell_type type;
	const void **buffers; /* for Arrow: which cells have a value; values, or where texts end; texts */
	uint8_t *valid;       /* NULL: each cell has a value */
	union {
		int64_t *integers;
		double *reals;
		int32_t *ends;    /* of text i at i + 1 */
		int32_t *indices; /* of texts in `names` */
		void *values;
	};
	char *bytes;
	size_t used, capacity;
	int64_t nulls;
	struct columns_names *names; /* texts are stored once; or NULL */
};

/* The different texts of a column. The same text may be at several addresses. */
struct columns_names {
	struct columns_column texts; /* all; `count` are used */
	size_t count;
	const char **first;          /* of each, an address that has it */
	struct columns_name {
		const char *at;
		int32_t index;
	} *seen;                     /* each address */
	size_t first_capacity, seen_count, seen_capacity;
	struct dw_map by_address, by_text;
	struct columns_name last;
};

struct columns {
	struct columns_column *at;
	size_t count, rows, capacity;
	bool full; /* the next row is for other columns */
};

/* ---- filling -------------------------------------------------------------------------------------- */

static void columns_drop_column(struct columns_column *column)
{
	struct columns_names *names = column->names;

	DW_FREE(column->buffers, column->valid, column->values, column->bytes);
	if (names) {
		columns_drop_column(&names->texts);
		DW_FREE(names->first, names->seen);
		dw_map_reset(&names->by_address);
		dw_map_reset(&names->by_text);
		*names = (struct columns_names){ .texts = { .type = DW_CELL_TEXT } };
	}
	*column = (struct columns_column){ .name = column->name, .type = column->type, .names = names };
}

static void columns_drop(struct columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		columns_drop_column(&columns->at[i]);
	columns->rows = columns->capacity = 0;
	columns->full = false;
}

/* Space for rows. False: out of memory. */
static bool columns_begin_column(struct columns_column *column, size_t rows)
{
	const bool bytes = column->type == DW_CELL_TEXT && !column->names;

	column->buffers = calloc(3, sizeof *column->buffers);
	column->values = malloc((rows + 1) * (column->type == DW_CELL_TEXT ? sizeof(int32_t) : sizeof(int64_t)));
	column->bytes = bytes ? malloc(column->capacity = 64) : NULL;
	if (!column->buffers || !column->values || (bytes && !column->bytes))
		return false;
	if (column->type == DW_CELL_TEXT)
		column->ends[0] = 0;
	return !column->names || columns_begin_column(&column->names->texts, rows);
}

static bool columns_begin(struct columns *columns, size_t rows)
{
	columns->capacity = rows;
	for (size_t i = 0; i < columns->count; i++)
		if (!columns_begin_column(&columns->at[i], rows))
			return false;
	return true;
}

/* Appends a text as UTF-8. False: out of memory. */
static bool columns_add_text(struct columns_column *column, size_t row, const char *text)
{
	size_t length = strlen(text), plain = 0;
	uint32_t code;

	if (column->capacity - column->used < length * 3) { /* a byte that is not UTF-8 becomes three */
		size_t wanted = (column->used + length * 3) * 2;
		char *grown = wanted <= INT32_MAX ? realloc(column->bytes, wanted) : NULL;

		if (!grown)
			return false;
		column->bytes = grown;
		column->capacity = wanted;
	}
	while (plain < length && !(text[plain] & 0x80))
		plain++;
	memcpy(column->bytes + column->used, text, plain);
	column->used += plain;
	for (text += plain; (code = dw_utf8_next(&text));)
		column->used += dw_utf8_put(column->bytes + column->used, code);
	column->ends[row + 1] = (int32_t)column->used;
	return true;
}

/* The index of the text at an address that was not seen. Negative: out of memory. */
static int32_t columns_name_new(struct columns_names *names, const char *text)
{
	uint32_t hash = dw_map_hash_bytes(0, text, strlen(text));
	uint32_t index = DW_MAP_FIND(&names->by_text, hash, i, strcmp(names->first[i], text) == 0);

	if (index == DW_MAP_NONE) {
		index = (uint32_t)names->count;
		if (!DW_GROW(&names->first, &names->first_capacity, names->count) || !columns_add_text(&names->texts, names->count, text) ||
		    !dw_map_add(&names->by_text, hash, index))
			return -1;
		names->first[names->count++] = text;
	}
	if (!DW_GROW(&names->seen, &names->seen_capacity, names->seen_count) ||
	    !dw_map_add(&names->by_address, dw_map_hash((uintptr_t)text), (uint32_t)names->seen_count))
		return -1;
	names->seen[names->seen_count++] = (struct columns_name){ text, (int32_t)index };
	return (int32_t)index;
}

static int32_t columns_name(struct columns_names *names, const char *text)
{
	if (text != names->last.at) {
		uint32_t seen = DW_MAP_FIND(&names->by_address, dw_map_hash((uintptr_t)text), i, names->seen[i].at == text);

		names->last.index = seen == DW_MAP_NONE ? columns_name_new(names, text) : names->seen[seen].index;
		names->last.at = text;
	}
	return names->last.index;
}

/* A number in a column of texts is written as one. False: out of memory. */
static bool columns_add_number(struct columns_column *column, size_t row, const struct dw_cell *cell)
{
	char number[40];

	if (cell->type == DW_CELL_INT)
		snprintf(number, sizeof number, "%" PRId64, cell->integer);
	else
		snprintf(number, sizeof number, "%.17g", cell->real);
	return columns_add_text(column, row, number);
}

/* False: out of memory. */
static bool columns_add_none(struct columns_column *column, size_t row, size_t capacity)
{
	if (!column->valid) {
		column->valid = calloc(capacity / 8 + 1, 1);
		if (!column->valid)
			return false;
		memset(column->valid, 0xff, row / 8);
		column->valid[row / 8] = (uint8_t)((1u << row % 8) - 1);
	}
	column->nulls++;
	if (column->type != DW_CELL_TEXT)
		column->integers[row] = 0;
	else if (column->names)
		column->indices[row] = 0;
	else
		column->ends[row + 1] = (int32_t)column->used;
	return true;
}

static bool columns_add_cell(struct columns_column *column, size_t row, const struct dw_cell *cell)
{
	switch (column->type) {
	case DW_CELL_NONE: break;
	case DW_CELL_INT: column->integers[row] = cell->integer; break;
	case DW_CELL_REAL: column->reals[row] = cell->type == DW_CELL_INT ? (double)cell->integer : cell->real; break;
	case DW_CELL_TEXT:
		if (column->names)
			return (column->indices[row] = columns_name(column->names, cell->text)) >= 0;
		return cell->type == DW_CELL_TEXT ? columns_add_text(column, row, cell->text) : columns_add_number(column, row, cell);
	}
	return true;
}

static bool columns_is_none(const struct dw_cell *cell)
{
	return cell->type == DW_CELL_NONE || (cell->type == DW_CELL_TEXT && !cell->text) ||
	       (cell->type == DW_CELL_REAL && isnan(cell->real));
}

/* False: out of memory. */
static bool columns_add(struct columns *columns, const struct dw_cell *cells)
{
	size_t row = columns->rows++;

	for (size_t i = 0; i < columns->count; i++) {
		struct columns_column *column = &columns->at[i];

		if (columns_is_none(&cells[i])) {
			if (!columns_add_none(column, row, columns->capacity))
				return false;
			continue;
		}
		if (column->valid)
			column->valid[row / 8] |= (uint8_t)(1u << row % 8);
		if (!columns_add_cell(column, row, &cells[i]))
			return false;
		columns->full |= column->used > COLUMNS_BYTES;
	}
	columns->full |= columns->rows == columns->capacity;
	return true;
}

/* ---- Arrow's structures --------------------------------------------------------------------------- */

static void columns_release_name(struct ArrowSchema *schema)
{
	free((void *)(uintptr_t)schema->name);
	schema->release = NULL;
}

/* Of a column whose texts are stored once: the schema of the texts, too. */
static void columns_release_index(struct ArrowSchema *schema)
{
	schema->dictionary->release(schema->dictionary);
	free(schema->dictionary);
	columns_release_name(schema);
}

static void columns_release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	DW_FREE(schema->private_data, schema->children);
	schema->release = NULL;
}

static void columns_release_column(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_buffers; i++)
		free((void *)(uintptr_t)array->buffers[i]);
	free(array->buffers);
	if (array->dictionary)
		array->dictionary->release(array->dictionary);
	free(array->dictionary);
	array->release = NULL;
}

static void columns_release_array(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	DW_FREE(array->private_data, array->children);
	array->release = NULL;
}

/* Gives the buffers of a column away, and leaves it empty. */
static struct ArrowArray columns_give_buffers(struct columns_column *column, size_t rows)
{
	struct ArrowArray array = { .length = (int64_t)rows, .null_count = column->nulls, .n_buffers = column->bytes ? 3 : 2,
		                        .buffers = column->buffers, .release = columns_release_column };

	column->buffers[0] = column->valid;
	column->buffers[1] = column->values;
	column->buffers[2] = column->bytes;
	column->buffers = NULL;
	column->valid = NULL;
	column->values = NULL;
	column->bytes = NULL;
	columns_drop_column(column);
	return array;
}

/* Gives a column away. False: out of memory, and it still has all. */
static bool columns_give_column(struct columns_column *column, size_t rows, struct ArrowSchema *schema, struct ArrowArray *array)
{
	static const char *const formats[] = { [DW_CELL_INT] = "l", [DW_CELL_REAL] = "g", [DW_CELL_TEXT] = "u" };
	char *name = strdup(column->name ? column->name : "");
	struct ArrowSchema *texts = column->names ? calloc(1, sizeof *texts) : NULL;
	struct ArrowArray *dictionary = column->names ? calloc(1, sizeof *dictionary) : NULL;

	if (!name || (column->names && (!texts || !dictionary ||
	                                !columns_give_column(&column->names->texts, column->names->count, texts, dictionary)))) {
		DW_FREE(name, texts, dictionary);
		return false;
	}
	*schema = (struct ArrowSchema){ .format = texts ? "i" : formats[column->type], .name = name, .flags = ARROW_FLAG_NULLABLE,
		                            .dictionary = texts, .release = texts ? columns_release_index : columns_release_name };
	*array = columns_give_buffers(column, rows);
	array->dictionary = dictionary;
	return true;
}

static void columns_release_given(struct ArrowSchema *schemas, struct ArrowArray *arrays, size_t count)
{
	for (size_t i = 0; i < count && schemas && arrays && schemas[i].release; i++) {
		schemas[i].release(&schemas[i]);
		arrays[i].release(&arrays[i]);
	}
}

/* Gives all rows away; the columns are empty afterwards. */
static int columns_give(struct columns *columns, struct ArrowSchema *schema, struct ArrowArray *array, struct dwell_error *error)
{
	static const void *no_buffers[] = { NULL };
	const size_t count = columns->count;
	struct ArrowSchema *schemas = calloc(count + 1, sizeof *schemas), **schema_list = calloc(count + 1, sizeof(void *));
	struct ArrowArray *arrays = calloc(count + 1, sizeof *arrays), **array_list = calloc(count + 1, sizeof(void *));

	bool good = schemas && schema_list && arrays && array_list;

	for (size_t i = 0; i < count && good; i++) {
		schema_list[i] = &schemas[i];
		array_list[i] = &arrays[i];
		good = columns_give_column(&columns->at[i], columns->rows, schema_list[i], array_list[i]);
	}
	if (!good) {
		columns_release_given(schemas, arrays, count);
		DW_FREE(schemas, schema_list, arrays, array_list);
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for %zu columns", count);
	}
	*schema = (struct ArrowSchema){ .format = "+s", .name = "", .n_children = (int64_t)count, .children = schema_list,
		                            .release = columns_release_schema, .private_data = schemas };
	*array = (struct ArrowArray){ .length = (int64_t)columns->rows, .n_buffers = 1, .buffers = no_buffers,
		                          .n_children = (int64_t)count, .children = array_list, .release = columns_release_array,
		                          .private_data = arrays };
	columns_drop(columns);
	return 0;
}

/* ---- a table of a view or a query ------------------------------------------------------------------ */

static enum dw_cell_type columns_widest(const struct dwell_table *table, size_t column)
{
	enum dw_cell_type widest = DW_CELL_NONE;

	for (size_t row = 0; row < table->row_count; row++) {
		enum dw_cell_type type = dw_table_at(table, row)[column].type;

		widest = type > widest ? type : widest;
	}
	if (widest == DW_CELL_NONE)
		widest = table->columns[column].type;
	return widest == DW_CELL_NONE ? DW_CELL_TEXT : widest;
}

int dw_columns_of_table(const struct dwell_table *table, struct ArrowSchema *schema, struct ArrowArray *array,
                        struct dwell_error *error)
{
	struct columns columns = { .at = calloc(table->column_count + 1, sizeof *columns.at), .count = table->column_count };
	bool good = columns.at != NULL;
	int result;

	for (size_t i = 0; good && i < columns.count; i++)
		columns.at[i] = (struct columns_column){ .name = table->columns[i].name, .type = columns_widest(table, i) };
	good = good && columns_begin(&columns, table->row_count);
	for (size_t row = 0; good && row < table->row_count; row++)
		good = columns_add(&columns, dw_table_at(table, row));
	result = good ? columns_give(&columns, schema, array, error)
	              : dw_error_set(error, DWELL_E_NOMEM, "out of memory for the columns of %s", table->view);
	if (result && columns.at)
		columns_drop(&columns);
	free(columns.at);
	return result;
}

/* ---- the rows of a trace --------------------------------------------------------------------------- */

struct columns_walk {
	struct columns tables[DW_ROWS_TABLES];
	bool passed_on[DW_ROWS_TABLES];
	dw_columns_each *each;
	void *context;
	struct dwell_error *error;
};

static int columns_pass_on(struct columns_walk *walk, enum dw_rows_table table)
{
	struct ArrowSchema schema;
	struct ArrowArray array;
	int result = columns_give(&walk->tables[table], &schema, &array, walk->error);

	walk->passed_on[table] = true;
	return result ? result : walk->each(dw_rows_heads[table].name, &schema, &array, walk->context);
}

static int columns_put(void *context, enum dw_rows_table table, const struct dw_cell *row)
{
	struct columns_walk *walk = context;
	struct columns *columns = &walk->tables[table];

	if ((!columns->capacity && !columns_begin(columns, COLUMNS_ROWS)) || !columns_add(columns, row))
		return dw_error_set(walk->error, DWELL_E_NOMEM, "out of memory for rows of %s", dw_rows_heads[table].name);
	return columns->full ? columns_pass_on(walk, table) : 0;
}

/* What is left, and tables without rows. */
static int columns_finish(struct columns_walk *walk, unsigned tables)
{
	int result = 0;

	for (unsigned i = 0; i < DW_ROWS_TABLES && !result; i++) {
		struct columns *columns = &walk->tables[i];

		if (!(tables & 1u << i) || (!columns->rows && walk->passed_on[i]))
			continue;
		if (!columns->capacity && !columns_begin(columns, 1))
			return dw_error_set(walk->error, DWELL_E_NOMEM, "out of memory for rows of %s", dw_rows_heads[i].name);
		result = columns_pass_on(walk, (enum dw_rows_table)i);
	}
	return result;
}

/* The bit of the table with a name. 0: there is none. */
static unsigned columns_find(const char *name, struct dwell_error *error)
{
	struct dw_nearest nearest;
	char all[256] = "";
	size_t used = 0;

	dw_nearest_init(&nearest, name);
	for (unsigned i = 0; i < DW_ROWS_TABLES; i++) {
		if (strcmp(dw_rows_heads[i].name, name) == 0)
			return 1u << i;
		dw_nearest_try(&nearest, dw_rows_heads[i].name);
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", dw_rows_heads[i].name);
	}
	dw_error_set(error, DWELL_E_NAME, "no table '%.100s'%s There are: %s", name,
	             nearest.best ? dw_nearest_question(&nearest).at : ".", all);
	return 0;
}

int dw_columns_of_rows(struct dw_model *model, const char *table, bool dictionaries, dw_columns_each *each, void *context,
                       struct dwell_error *error)
{
	struct columns_walk walk = { .each = each, .context = context, .error = error };
	struct columns_column at[DW_ROWS_TABLES][DW_ROWS_MOST_COLUMNS];
	struct columns_names names[DW_ROWS_TABLES][DW_ROWS_MOST_COLUMNS];
	unsigned tables = table ? columns_find(table, error) : DW_ROWS_ALL;
	int result;

	if (!tables)
		return DWELL_E_NAME;
	memset(at, 0, sizeof at);
	memset(names, 0, sizeof names);
	for (unsigned i = 0; i < DW_ROWS_TABLES; i++) {
		walk.tables[i] = (struct columns){ .at = at[i], .count = dw_rows_column_count((enum dw_rows_table)i) };
		for (size_t k = 0; k < walk.tables[i].count; k++) {
			at[i][k].name = dw_rows_heads[i].columns[k].name;
			at[i][k].type = dw_rows_heads[i].columns[k].type;
			at[i][k].names = dictionaries && dw_rows_heads[i].columns[k].recurs ? &names[i][k] : NULL;
			names[i][k].texts.type = DW_CELL_TEXT;
		}
	}
	result = dw_rows_walk(model, tables, columns_put, &walk, error);
	if (!result)
		result = columns_finish(&walk, tables);
	for (unsigned i = 0; i < DW_ROWS_TABLES; i++)
		columns_drop(&walk.tables[i]);
	return result;
}
