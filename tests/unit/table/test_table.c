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
	const int depth = check_is_slow() ? 20000 : 100000;
	struct dwell_table *table = make();

	for (int i = 0; i < depth; i++)
		add(table, i, "x", i, 0);
	dw_table_sort(table, 1);
	CHECK_EQ(table->row_count, (size_t)depth);
	CHECK_EQ(table->depths[depth - 1], depth - 1);
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

/* ---- rows that are structs ---------------------------------------------------------------------- */

enum { STEPS = 1, DEVICE = 2 };

struct row {
	const char *name;
	struct { uint64_t calls, self_ns; } stat;
	uint32_t line;
	double mean;
	struct dw_cell share;
};

static struct dw_cell twice(const void *of)
{
	const struct row *row = of;

	return DW_REAL(2 * row->mean);
}

static const struct dw_column fields[] = {
	DW_FIELD(struct row, name, "name", NONE, TEXT, .total_text = "all"),
	DW_FIELD_AS(struct row, stat.calls, "calls", "calls", COUNT, INT, .total = DW_TOTAL_SUM),
	DW_FIELD_AS(struct row, stat.self_ns, "self_ns", "self", NS, INT),
	DW_FIELD_AS(struct row, stat.self_ns, "per_step_ns", "a step", NS, REAL, .only = STEPS, .total = DW_TOTAL_SUM),
	DW_FIELD(struct row, line, "line", NONE, INT, .text_only = DEVICE),
	DW_FIELD(struct row, mean, "mean", COUNT, REAL, .only = STEPS | DEVICE, .total = DW_TOTAL_OWN),
	DW_COLUMN("twice", "twice", COUNT, REAL, .cell = twice, .total = DW_TOTAL_OWN),
	DW_FIELD(struct row, share, "share", RATIO, REAL),
};

static struct dwell_table *choose(unsigned has)
{
	return dw_table_choose("test", fields, sizeof fields / sizeof *fields, has);
}

TEST(a_column_finds_its_cell_in_the_row)
{
	struct dwell_table *table = choose(STEPS | DEVICE);

	DW_TABLE_PUT(table, 0, struct row, .name = "a", .stat = { 3, 40 }, .line = 7, .mean = 1.5, .share = DW_REAL(0.25));
	CHECK_STR(dw_table_cell(table, 0, "name")->text, "a");
	CHECK_EQ(dw_table_cell(table, 0, "calls")->integer, 3);
	CHECK_EQ(dw_table_cell(table, 0, "self_ns")->integer, 40);
	CHECK(dw_table_cell(table, 0, "per_step_ns")->real == 40);
	CHECK_EQ(dw_table_cell(table, 0, "line")->integer, 7);
	CHECK(dw_table_cell(table, 0, "mean")->real == 1.5);
	CHECK(dw_table_cell(table, 0, "twice")->real == 3);
	CHECK(dw_table_cell(table, 0, "share")->real == 0.25);
	dw_table_destroy(table);
}

TEST(a_member_without_a_value_makes_an_empty_cell)
{
	struct dwell_table *table = choose(STEPS | DEVICE);

	DW_TABLE_PUT(table, 0, struct row, .stat = { DW_NO_NUMBER, 0 }, .line = UINT32_MAX, .mean = NAN);
	CHECK_EQ(dw_table_cell(table, 0, "name")->type, DW_CELL_NONE);
	CHECK_EQ(dw_table_cell(table, 0, "calls")->type, DW_CELL_NONE);
	CHECK_EQ(dw_table_cell(table, 0, "self_ns")->type, DW_CELL_INT);
	CHECK_EQ(dw_table_cell(table, 0, "line")->type, DW_CELL_NONE);
	CHECK_EQ(dw_table_cell(table, 0, "mean")->type, DW_CELL_NONE);
	CHECK_EQ(dw_table_cell(table, 0, "share")->type, DW_CELL_NONE);
	dw_table_destroy(table);
}

TEST(a_column_that_the_table_does_not_have_moves_no_other)
{
	struct dwell_table *table = choose(0);

	CHECK_EQ(table->column_count, sizeof fields / sizeof *fields - 2);
	CHECK_EQ(dw_table_column(table, "per_step_ns"), -1);
	CHECK_EQ(dw_table_column(table, "mean"), -1);
	CHECK(dw_table_named(table, "line")->data_only);
	DW_TABLE_PUT(table, 0, struct row, .line = 7, .share = DW_REAL(0.25), .mean = 2);
	CHECK_EQ(dw_table_cell(table, 0, "line")->integer, 7);
	CHECK(dw_table_cell(table, 0, "twice")->real == 4);
	CHECK(dw_table_cell(table, 0, "share")->real == 0.25);
	dw_table_destroy(table);
	table = choose(STEPS);
	CHECK_EQ(dw_table_column(table, "mean"), -1);
	CHECK_EQ(dw_table_column(table, "per_step_ns"), 3);
	dw_table_destroy(table);
	table = choose(DEVICE);
	CHECK(!dw_table_named(table, "line")->data_only);
	dw_table_destroy(table);
}

TEST(a_total_is_a_sum_or_the_cell_of_a_row_of_its_own)
{
	struct dwell_table *table = choose(STEPS | DEVICE);

	DW_TABLE_PUT(table, 0, struct row, .stat = { 3, 40 }, .mean = 1);
	DW_TABLE_PUT(table, 0, struct row, .stat = { DW_NO_NUMBER, 2 }, .mean = 2);
	DW_TABLE_PUT_TOTALS(table, struct row, .name = "not this", .stat = { 100, 100 }, .mean = 10);
	CHECK_STR(table->totals[0].text, "all");
	CHECK_EQ(table->totals[1].integer, 3);
	CHECK_EQ(table->totals[2].type, DW_CELL_NONE);
	CHECK(table->totals[3].real == 42);
	CHECK_EQ(table->totals[4].type, DW_CELL_NONE);
	CHECK(table->totals[5].real == 10);
	CHECK(table->totals[6].real == 20);
	CHECK(!table->failed);
	dw_table_destroy(table);
}

TEST(rows_are_sorted_by_the_name_of_a_column)
{
	struct dwell_table *table = choose(0);

	DW_TABLE_PUT(table, 0, struct row, .name = "a", .stat = { 1, 2 });
	DW_TABLE_PUT(table, 0, struct row, .name = "b", .stat = { 2, 1 });
	dw_table_sort_by(table, "calls");
	CHECK_STR(order(table), "ba");
	dw_table_sort_by(table, "self_ns");
	CHECK_STR(order(table), "ab");
	dw_table_destroy(table);
}

CHECK_MAIN
