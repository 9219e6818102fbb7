/* Tables: order, trees, limits, and filling without error checks. */
#include "check.h"

#include "table/table.h"

static const struct dw_column columns[] = {
	DW_COLUMN("name", "name", NONE, TEXT),
	DW_COLUMN("self_ns", "self", NS, INT),
	DW_COLUMN("share", "share", RATIO, REAL),
};

static struct dwell_table *make(void)
{
	return dw_table_create("test", columns, 3);
}

static void add(struct dwell_table *table, int depth, const char *name, int64_t self, double share)
{
	struct dw_cell *row = dw_table_row(table, depth);

	dw_cell_text(table, &row[0], name);
	if (self >= 0)
		dw_cell_int(&row[1], self);
	dw_cell_real(&row[2], share);
}

/* The first letters of the names, in order. */
static const char *order(const struct dwell_table *table)
{
	static char letters[64];
	size_t i;

	for (i = 0; i < table->row_count && i < sizeof letters - 1; i++)
		letters[i] = dw_table_at(table, i)[0].text[0];
	letters[i] = '\0';
	return letters;
}

TEST(rows_start_empty_and_keep_what_they_get)
{
	struct dwell_table *table = make();
	struct dw_cell *row = dw_table_row(table, 0);

	CHECK_EQ(row[0].type, DW_CELL_NONE);
	CHECK_EQ(row[2].type, DW_CELL_NONE);
	for (int i = 0; i < 1000; i++)
		add(table, 0, "x", i, 0);
	CHECK_EQ(table->row_count, 1001);
	CHECK_EQ(dw_table_at(table, 1000)[1].integer, 999);
	CHECK(!table->failed);
	dw_table_destroy(table);
}

TEST(numbers_descend_and_equal_rows_keep_their_order)
{
	struct dwell_table *table = make();

	add(table, 0, "a", 1, 0);
	add(table, 0, "b", 3, 0);
	add(table, 0, "c", 1, 0);
	add(table, 0, "d", 2, 0);
	add(table, 0, "e", 3, 0);
	dw_table_sort(table, 1);
	CHECK_STR(order(table), "bedac");
	dw_table_destroy(table);
}

TEST(texts_ascend)
{
	struct dwell_table *table = make();

	add(table, 0, "b", 1, 0);
	add(table, 0, "c", 2, 0);
	add(table, 0, "a", 3, 0);
	dw_table_sort(table, 0);
	CHECK_STR(order(table), "abc");
	dw_table_destroy(table);
}

TEST(empty_cells_and_nan_come_last)
{
	struct dwell_table *table = make();

	add(table, 0, "a", -1, NAN);
	add(table, 0, "b", 0, -1.5);
	add(table, 0, "c", 5, 2.5);
	dw_table_sort(table, 1);
	CHECK_STR(order(table), "cba");
	dw_table_sort(table, 0);
	dw_table_sort(table, 2);
	CHECK_STR(order(table), "cba");
	dw_table_destroy(table);
}

TEST(large_integers_are_compared_exactly)
{
	struct dwell_table *table = make();

	add(table, 0, "a", INT64_MAX - 1, 0);
	add(table, 0, "b", INT64_MAX, 0);
	dw_table_sort(table, 1);
	CHECK_STR(order(table), "ba");
	dw_table_destroy(table);
}

TEST(a_tree_sorts_siblings_and_moves_what_lies_below_them)
{
	struct dwell_table *table = make();

	add(table, 0, "a", 1, 0);
	add(table, 1, "b", 1, 0);
	add(table, 1, "c", 9, 0);
	add(table, 2, "d", 1, 0);
	add(table, 2, "e", 2, 0);
	add(table, 0, "f", 5, 0);
	add(table, 1, "g", 3, 0);
	dw_table_sort(table, 1);
	CHECK_STR(order(table), "fgacedb");
	CHECK_EQ(table->depths[0], 0);
	CHECK_EQ(table->depths[4], 2);
	CHECK_EQ(table->depths[6], 1);
	dw_table_destroy(table);
}

TEST(a_very_deep_tree_sorts_without_a_deep_stack)
{
	struct dwell_table *table = make();

	for (int i = 0; i < 100000; i++)
		add(table, i, "x", i, 0);
	dw_table_sort(table, 1);
	CHECK_EQ(table->row_count, 100000);
	CHECK_EQ(table->depths[99999], 99999);
	dw_table_destroy(table);
}

TEST(a_limit_counts_what_it_cuts)
{
	struct dwell_table *table = make();

	for (int i = 0; i < 10; i++)
		add(table, 0, "x", i, 0);
	dw_table_limit(table, SIZE_MAX);
	CHECK_EQ(table->rows_cut, 0);
	dw_table_limit(table, 4);
	CHECK_EQ(table->row_count, 4);
	CHECK_EQ(table->rows_cut, 6);
	dw_table_destroy(table);
}

TEST(columns_are_found_by_name)
{
	struct dwell_table *table = make();

	CHECK_EQ(dw_table_column(table, "share"), 2);
	CHECK_EQ(dw_table_column(table, "self"), -1);
	dw_table_destroy(table);
}

TEST(an_empty_table_sorts_and_a_chain_is_destroyed_whole)
{
	struct dwell_table *table = make();

	table->next = make();
	add(table->next, 0, "x", 1, 1);
	dw_table_sort(table, 1);
	dw_table_limit(table, 5);
	CHECK_EQ(table->row_count, 0);
	dw_table_destroy(table);
	dw_table_destroy(NULL);
}

CHECK_MAIN
