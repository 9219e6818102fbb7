/*
 * Prints invented tables in one format, so that a format is checked apart from views.
 *
 * usage: print_tables TABLES FORMAT [WIDTH] [color] [ascii] [s|ms|us|ns]
 *
 * TABLES is "cells" (every unit and type of cell, all that a table states), "names" (odd ones), "parts" (an answer in
 * several parts, with a tree), "scoped" (a part of a trace), "empty", or "all": one after the other.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"

struct cells_row {
	struct dw_cell name, id, times, mean_count, total_ns, part_ns, bytes, share, factor, rate, number, where;
};

static const struct dw_column cells_columns[] = {
	DW_FIELD(struct cells_row, name, "name", NONE, TEXT, .total_text = "all of them"),
	DW_FIELD(struct cells_row, id, "id", NONE, INT),
	DW_FIELD(struct cells_row, times, "times", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct cells_row, mean_count, "a step", COUNT, REAL, .not_narrow = true),
	DW_FIELD(struct cells_row, total_ns, "total", NS, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct cells_row, part_ns, "part", NS, REAL, .one_unit = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct cells_row, bytes, "memory", BYTES, INT, .wide_only = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct cells_row, share, "share", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct cells_row, factor, "slower", TIMES, REAL, .not_narrow = true),
	DW_FIELD(struct cells_row, rate, "rate", PER_SECOND, REAL, .wide_only = true),
	DW_FIELD(struct cells_row, number, "number", NONE, REAL, .data_only = true),
	DW_FIELD(struct cells_row, where, "place", NONE, TEXT, .not_narrow = true),
};

struct names_row {
	struct dw_cell name, of_all, where;
};

static const struct dw_column names_columns[] = {
	DW_FIELD(struct names_row, name, "na|me", NONE, TEXT, .total_text = "all | of them"),
	DW_FIELD_AS(struct names_row, of_all, "of,all", "<of> all", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct names_row, where, "place", NONE, TEXT, .not_narrow = true),
};

struct summary_row {
	struct dw_cell ns, share;
};

static const struct dw_column summary_columns[] = {
	DW_FIELD(struct summary_row, ns, "", NS, INT),
	DW_FIELD(struct summary_row, share, "share", RATIO, REAL),
};

struct tree_row {
	struct dw_cell name, self_ns, share;
};

static const struct dw_column tree_columns[] = {
	DW_FIELD(struct tree_row, name, "range", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct tree_row, self_ns, "self", NS, INT, .bar = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct tree_row, share, "share", RATIO, REAL, .bar = true, .wide_only = true),
};

struct said_row {
	struct dw_cell cause;
};

static const struct dw_column said_columns[] = {
	DW_FIELD(struct said_row, cause, "cause", NONE, TEXT),
};

/* Names that a format takes for its own, that are long or wide, that are no text. */
static struct dwell_table *print_names(void)
{
	static const char *const names[] = {
		"a|b",
		"x, y",
		"say \"no\"",
		" blank first",
		"*bold*_and_`code`",
		"<b> & [link](x) #1 ~ \\",
		"=cmd|'/c'",
		"esc\033[31mape",
		"two\nlines\tand\ttabs",
		"bad\xff\xfeutf8",
		"\u7573\u307f\u8fbc\u307f\u6f14\u7b97",
		"na\u00efve",
		"turned\u202eback",
		"",
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int)",
	};
	struct dwell_table *table = dw_table_create("names", names_columns, 3);

	if (!table)
		abort();
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		DW_TABLE_PUT(table, 0, struct names_row, .name = DW_STRING(names[i]), .of_all = DW_REAL((double)i / 15),
		             .where = DW_STRING(i % 7 ? NULL : names[i]));
	DW_TABLE_PUT_TOTALS(table, struct names_row, .of_all = DW_REAL(1));
	return table;
}

static void print_state(struct dwell_table *table)
{
	static struct dw_loss_line losses[] = { { "disk_full", 1, "the disk was full" },
		                                    { "buffer_full", 12345, "the buffers were full" } };
	static const char *traces[] = { "a.dwell", "b \"c\".dwell" };

	table->losses = losses;
	table->loss_count = 2;
	table->traces = traces;
	table->trace_count = 2;
	table->coverage = 0.875;
	table->rows_cut = 1234;
	dw_table_gap(table, "1.20 s of 1.50 s of CPU time: processes of other programs");
}

static struct dwell_table *print_cells(void)
{
	struct dwell_table *table = dw_table_create("cells", cells_columns, sizeof cells_columns / sizeof *cells_columns);

	if (!table)
		abort();
	dw_table_head(
		table,
		"A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the next line, at a blank.");
	dw_table_head(
		table,
		"  -> a hint keeps its indent, and has one_of|several|alternatives|that|are|together|longer|than|a|narrow|terminal|is");
	DW_TABLE_PUT(table, 0, struct cells_row, .name = DW_STRING("small"), .id = DW_INT(-7), .times = DW_INT(1),
	             .mean_count = DW_REAL(0.5), .total_ns = DW_INT(999), .part_ns = DW_REAL(1499.6), .bytes = DW_INT(512),
	             .share = DW_REAL(0.0004), .factor = DW_REAL(1), .rate = DW_REAL(0.25), .number = DW_REAL(1e-9),
	             .where = DW_STRING("conv.c:12"));
	DW_TABLE_PUT(table, 0, struct cells_row, .name = DW_STRING("large"), .id = DW_INT(INT64_MAX),
	             .times = DW_INT(1204331), .mean_count = DW_REAL(1234567.5), .total_ns = DW_INT(93400000000),
	             .part_ns = DW_REAL(42.1e6), .bytes = DW_INT(1ll << 40), .share = DW_REAL(0.96),
	             .factor = DW_REAL(3.912), .rate = DW_REAL(15234.5), .number = DW_REAL(-1e300),
	             .where = DW_STRING("a/long/path/of/a/file/in/a/folder/conv.c:1200"));
	DW_TABLE_PUT(table, 0, struct cells_row, .name = DW_STRING("negative and zero"), .id = DW_INT(0),
	             .times = DW_INT(0), .mean_count = DW_REAL(0), .total_ns = DW_INT(-1500), .part_ns = DW_REAL(-2.5e6),
	             .bytes = DW_INT(0), .share = DW_REAL(-0.1), .factor = DW_REAL(0), .rate = DW_REAL(0),
	             .number = DW_REAL(0), .where = DW_STRING(""));
	DW_TABLE_PUT(table, 0, struct cells_row, .name = DW_STRING("no numbers"), .mean_count = DW_REAL(NAN),
	             .part_ns = DW_REAL(INFINITY), .share = DW_REAL(NAN), .factor = DW_REAL(-INFINITY));
	DW_TABLE_PUT_TOTALS(table, struct cells_row, .times = DW_INT(1204332), .total_ns = DW_INT(93400000999),
	                    .part_ns = DW_REAL(42.2e6), .bytes = DW_INT((1ll << 40) + 512), .share = DW_REAL(1));
	dw_table_note(table, "A note stands below the rows: *2* of them have <no> name.");
	print_state(table);
	return table;
}

static struct dwell_table *print_parts(void)
{
	static const int depths[] = { 0, 1, 2, 1, 2, 3, 25, 0 };
	struct dwell_table *summary = dw_table_create("parts", summary_columns, 2),
					   *tree = dw_table_create("parts", tree_columns, 3),
					   *said = dw_table_create("parts", said_columns, 1),
					   *last = dw_table_create("parts", said_columns, 1);

	if (!summary || !tree || !said || !last)
		abort();
	DW_TABLE_PUT(summary, 0, struct summary_row, .ns = DW_INT(1234567), .share = DW_REAL(0.5));
	summary->part = "summary";
	summary->summary = true;
	dw_table_note(summary, "A note of the first part.");
	for (int i = 0; i < 8; i++)
		DW_TABLE_PUT(tree, depths[i], struct tree_row,
		             .name = DW_STRING(i % 2 ? "range" : "a range with a longer name"),
		             .self_ns = DW_INT(1000 * (30 - i)), .share = DW_REAL((30 - i) / 40.0));
	tree->part = "tree";
	DW_TABLE_PUT_TOTALS(tree, struct tree_row, .self_ns = DW_INT(212000));
	DW_TABLE_PUT(said, 0, struct said_row, .cause = DW_STRING("the sentence above says this row"));
	said->part = "said";
	said->heads_only = true;
	dw_table_head(said, "The cause is said in a sentence.");
	last->part = "nothing";
	dw_table_note(last, "The last part has no rows, and a note.");
	summary->next = tree;
	tree->next = said;
	said->next = last;
	return summary;
}

static struct dwell_table *print_scoped(void)
{
	struct dwell_table *table = dw_table_create("scoped", cells_columns, 3);

	if (!table)
		abort();
	DW_TABLE_PUT(table, 0, struct cells_row, .name = DW_STRING("one"), .id = DW_INT(1), .times = DW_INT(1));
	table->steps = "7..7";
	table->time = "1.5s..2s";
	table->profile = "fit";
	table->action = "run_training_batch";
	table->thread = "main";
	table->name = "aten::*";
	table->min_duration = "1ms";
	table->rows_cut = 1;
	return table;
}

static struct dwell_table *print_empty(void)
{
	struct dwell_table *table = dw_table_create("empty", cells_columns, 2);

	if (!table)
		abort();
	table->steps = "10..20";
	table->profile = "profile";
	return table;
}

static void print_options(struct dwell_print_options *options, char **words)
{
	for (; *words; words++)
		if (strcmp(*words, "color") == 0)
			options->color = true;
		else if (strcmp(*words, "ascii") == 0)
			options->utf8 = false;
		else if (atoi(*words))
			options->width = (unsigned)atoi(*words);
		else
			options->time_unit = *words;
}

static const struct {
	const char *name;
	struct dwell_table *(*make)(void);
} makers[] = { { "cells", print_cells },
	           { "names", print_names },
	           { "parts", print_parts },
	           { "scoped", print_scoped },
	           { "empty", print_empty } };
#define MAKERS (sizeof makers / sizeof *makers)

int main(int count, char **words)
{
	struct dwell_print_options options = { .size = sizeof options, .utf8 = true };
	struct dwell_table *tables[MAKERS];
	const struct dw_renderer *renderer = count > 2 ? dw_renderer_find(words[2], NULL) : NULL;
	size_t used = 0;
	int code;

	if (!renderer)
		return 2;
	print_options(&options, words + 3);
	for (size_t i = 0; i < MAKERS; i++)
		if (strcmp(words[1], "all") == 0 || strcmp(words[1], makers[i].name) == 0)
			tables[used++] = makers[i].make();
	code = dw_render(renderer, (const struct dwell_table *const *)tables, used, stdout, &options, NULL);
	for (size_t i = 0; i < used; i++)
		dw_table_destroy(tables[i]);
	return code != 0;
}
