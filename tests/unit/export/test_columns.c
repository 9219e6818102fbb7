/* Columns in memory: values, texts, what has no value, and who frees them. */
#include "export/columns.h"
#include "made.h"

#define ROWS 70000u

struct found {
	size_t calls, rows;
	int64_t sum, nulls;
	int end_with;
	char first[64]; /* the first name */
};

static const char *text_at(const struct ArrowArray *column, size_t row, char to[64])
{
	const int32_t *ends = column->buffers[1];

	snprintf(to, 64, "%.*s", (int)(ends[row + 1] - ends[row]), (const char *)column->buffers[2] + ends[row]);
	return to;
}

static int each(const char *table, struct ArrowSchema *schema, struct ArrowArray *columns, void *context)
{
	struct found *found = context;
	int64_t length = columns->length;

	found->calls++;
	found->rows += (size_t)length;
	CHECK_EQ(schema->n_children, columns->n_children);
	CHECK_STR(schema->format, "+s");
	for (int64_t i = 0; i < columns->n_children; i++) {
		CHECK_EQ(columns->children[i]->length, length);
		CHECK_EQ(columns->children[i]->n_buffers, *schema->children[i]->format == 'u' ? 3 : 2);
		found->nulls += columns->children[i]->null_count;
	}
	if (strcmp(table, "ranges") == 0 && length) {
		CHECK_STR(schema->children[8]->name, "duration_ns");
		for (int64_t i = 0; i < length; i++)
			found->sum += ((const int64_t *)columns->children[8]->buffers[1])[i];
		if (!*found->first)
			text_at(columns->children[0], 0, found->first);
	}
	schema->release(schema);
	columns->release(columns);
	CHECK(!schema->release && !columns->release);
	return found->end_with;
}

static struct made made;

static void start(void)
{
	uint32_t op;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "a\xff\xc3\xa9");
	for (uint64_t i = 0; i < ROWS; i++) {
		dw_encode_begin(&made.stream, 1000 + i * 10, op);
		dw_encode_end(&made.stream, 1003 + i * 10);
	}
	CHECK_EQ(made_open(&made, NULL), 0);
}

TEST(all_rows_come_in_parts_of_bounded_size)
{
	struct found found = { .calls = 0 };

	start();
	CHECK_EQ(dw_columns_of_rows(made.model, "ranges", false, each, &found, &made.error), 0);
	CHECK_EQ(found.rows, ROWS);
	CHECK_EQ(found.calls, 2);
	CHECK_EQ(found.sum, 3 * ROWS);
	CHECK_EQ(found.nulls, 2 * ROWS); /* outside of steps, without arguments */
	CHECK_STR(found.first, "a\xef\xbf\xbd\xc3\xa9");
	made_close(&made);
}

TEST(every_table_comes_at_least_once)
{
	struct found found = { .calls = 0 };

	start();
	CHECK_EQ(dw_columns_of_rows(made.model, NULL, false, each, &found, &made.error), 0);
	CHECK_EQ(found.calls, 15); /* 14 tables */
	CHECK_EQ(found.sum, 3 * ROWS);
	made_close(&made);
}

/* What a batch has of names: how many different ones, and how often each recurs. */
struct names {
	size_t calls, rows, different, of_first;
	int64_t nulls; /* of arguments, which recur seldom */
};

static int each_names(const char *table, struct ArrowSchema *schema, struct ArrowArray *columns, void *context)
{
	const struct ArrowArray *name = columns->children[0], *category = columns->children[1];
	const int32_t *indices = name->buffers[1];
	struct names *names = context;
	char text[64];

	CHECK_STR(table, "ranges");
	CHECK_STR(schema->children[0]->format, "i");
	CHECK_STR(schema->children[0]->dictionary->format, "u");
	CHECK_STR(schema->children[11]->format, "u");
	CHECK_STR(schema->children[11]->name, "arguments");
	CHECK(!schema->children[11]->dictionary && !columns->children[11]->dictionary);
	CHECK_EQ(name->n_buffers, 2);
	CHECK_EQ(name->null_count, 0);
	CHECK_EQ(category->dictionary->length, 2);
	names->calls++;
	names->rows += (size_t)columns->length;
	names->different = (size_t)name->dictionary->length;
	for (int64_t i = 0; i < columns->length; i++) {
		CHECK(indices[i] >= 0 && indices[i] < name->dictionary->length);
		names->of_first += strcmp(text_at(name->dictionary, (size_t)indices[i], text), "a\xef\xbf\xbd\xc3\xa9") == 0;
	}
	names->nulls += columns->children[11]->null_count;
	schema->release(schema);
	columns->release(columns);
	return 0;
}

TEST(names_are_stored_once_in_each_part)
{
	struct names names = { .calls = 0 };
	uint32_t ops[3];

	made_init(&made);
	ops[0] = made_op(&made, DWELL_CATEGORY_OPERATOR, "a\xff\xc3\xa9");
	ops[1] = made_op(&made, DWELL_CATEGORY_OPERATOR, "again");
	ops[2] = made_op(&made, DWELL_CATEGORY_ZONE, "again"); /* the same text at another address */
	for (uint64_t i = 0; i < ROWS; i++) {
		dw_encode_begin(&made.stream, 1000 + i * 10, ops[i % 3]);
		dw_encode_end(&made.stream, 1003 + i * 10);
	}
	CHECK_EQ(made_open(&made, NULL), 0);
	CHECK_EQ(dw_columns_of_rows(made.model, "ranges", true, each_names, &names, &made.error), 0);
	CHECK_EQ(names.calls, 2);
	CHECK_EQ(names.rows, ROWS);
	CHECK_EQ(names.different, 2);
	CHECK_EQ(names.of_first, (ROWS + 2) / 3);
	CHECK_EQ(names.nulls, ROWS);
	made_close(&made);
}

TEST(a_result_ends_the_walk_and_an_unknown_table_is_an_error)
{
	struct found found = { .end_with = 7 };

	start();
	CHECK_EQ(dw_columns_of_rows(made.model, NULL, false, each, &found, &made.error), 7);
	CHECK_EQ(found.calls, 1);
	CHECK_EQ(dw_columns_of_rows(made.model, "rangs", false, each, &found, &made.error), DWELL_E_NAME);
	CHECK_HAS(made.error.message, "did you mean 'ranges'?");
	CHECK_HAS(made.error.message, "device_events");
	made_close(&made);
}

TEST(a_column_has_the_widest_type_of_its_cells)
{
	struct dw_column heads[] = { DW_COLUMN("i", "i", NONE, TEXT), DW_COLUMN("r", "r", NONE, INT), DW_COLUMN("t", "t", NONE, INT),
		                         DW_COLUMN("n", "n", NONE, REAL) };
	struct dw_cell cells[] = { DW_INT(-1), DW_REAL(0.5), DW_STRING("x"), DW_EMPTY,
		                       DW_INT(2), DW_INT(3), DW_INT(4), DW_REAL(NAN) };
	struct dwell_table table = { .view = "test", .columns = heads, .column_count = 4, .cells = cells, .row_count = 2 };
	struct ArrowSchema schema;
	struct ArrowArray array, taken;
	char text[64];

	CHECK_EQ(dw_columns_of_table(&table, &schema, &array, NULL), 0);
	CHECK_STR(schema.children[0]->format, "l");
	CHECK_STR(schema.children[1]->format, "g");
	CHECK_STR(schema.children[2]->format, "u");
	CHECK_STR(schema.children[3]->format, "g");
	CHECK_EQ(((const int64_t *)array.children[0]->buffers[1])[0], -1);
	CHECK_EQ(((const double *)array.children[1]->buffers[1])[1], 3);
	CHECK_STR(text_at(array.children[2], 1, text), "4");
	CHECK_EQ(array.children[3]->null_count, 2);
	CHECK_EQ(*(const uint8_t *)array.children[3]->buffers[0], 0);
	CHECK(!array.children[0]->buffers[0]);
	/* A consumer may take a column and release the rest. */
	taken = *array.children[2];
	array.children[2]->release = NULL;
	array.release(&array);
	schema.release(&schema);
	CHECK_STR(text_at(&taken, 0, text), "x");
	taken.release(&taken);
}

TEST(a_table_without_rows_has_columns)
{
	struct dw_column heads[] = { DW_COLUMN("i", "i", NONE, INT) };
	struct dwell_table table = { .view = "test", .columns = heads, .column_count = 1 };
	struct ArrowSchema schema;
	struct ArrowArray array;

	CHECK_EQ(dw_columns_of_table(&table, &schema, &array, NULL), 0);
	CHECK_EQ(array.length, 0);
	CHECK_STR(schema.children[0]->name, "i");
	array.release(&array);
	schema.release(&schema);
}

CHECK_MAIN
