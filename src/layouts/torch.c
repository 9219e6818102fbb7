/*
 * torch: the table of torch.profiler's key_averages(), as PyTorch 2.13 prints it, or
 * 1.13 as "torch:1.13".
 *
 * A row is all calls of an operator, of a named range, or of the steps; in the order
 * in which they were first called, unless sorted. Columns are 12 wide but for names,
 * shapes and sources, which are as wide as needed up to a limit; two blanks follow
 * each. What PyTorch gets wrong is not copied: FLOPs stand under their own heading
 * beside a source, top-level looks at every call, and 999.9996us are 1.000ms.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "dwell/probe.h"
#include "layouts/layouts.h"
#include "model/calls.h"

#define COLUMN 12u
#define MOST_COLUMNS 16u

struct column {
	const char *head;
	unsigned width;
	bool left;
};

struct table {
	FILE *file;
	const struct dw_layout_options *options;
	const struct dw_calls *calls;
	const struct dw_symbol *symbols;
	struct column columns[MOST_COLUMNS];
	size_t column_count;
	unsigned name_width, shapes_width, source_width; /* the limits */
	double self_us, flops_scale;
	bool old;             /* 1.13 */
	bool overload, memory, shapes, stacks, flops;
};

/* ---- text ---------------------------------------------------------------------------------- */

/* In characters: names are UTF-8. */
static size_t length_of(const char *text, size_t bytes)
{
	size_t length = 0;

	for (size_t i = 0; i < bytes; i++)
		length += ((unsigned char)text[i] & 0xc0) != 0x80;
	return length;
}

/* The bytes of the first `length` characters. */
static size_t bytes_of(const char *text, size_t bytes, size_t length)
{
	size_t at = 0;

	while (at < bytes && length--)
		for (at++; at < bytes && ((unsigned char)text[at] & 0xc0) == 0x80;)
			at++;
	return at;
}

static void put_cell(const struct table *table, const struct column *column, const char *text,
                     size_t bytes)
{
	size_t length = length_of(text, bytes);
	int blanks = length < column->width ? (int)(column->width - length) : 0;

	fprintf(table->file, "%*s", column->left ? 0 : blanks, "");
	for (size_t i = 0; i < bytes; i++) /* a line stays one */
		fputc((unsigned char)text[i] < 0x20 ? ' ' : text[i], table->file);
	fprintf(table->file, "%*s", (column->left ? blanks : 0) + 2, "");
}

static void put_text(const struct table *table, const struct column *column, const char *text)
{
	put_cell(table, column, text, strlen(text));
}

/* Cut at the end: "aten::a_very_long..." */
static void put_name(const struct table *table, const struct column *column, const char *name)
{
	size_t bytes = strlen(name), most = table->name_width > 3 ? table->name_width - 3 : 0;
	char *cut;

	if (length_of(name, bytes) < most) {
		put_cell(table, column, name, bytes);
		return;
	}
	bytes = bytes_of(name, bytes, most);
	cut = malloc(bytes + 4);
	if (!cut)
		return;
	memcpy(cut, name, bytes);
	strcpy(cut + bytes, "...");
	put_text(table, column, cut);
	free(cut);
}

/* Cut at the beginning: "...modules/conv.py(454): forward" */
static void put_source(const struct table *table, const struct column *column, const char *text,
                       size_t bytes)
{
	size_t length = length_of(text, bytes), skip, width = column->width;
	char *cut;

	if (length <= width) {
		put_cell(table, column, text, bytes);
		return;
	}
	skip = bytes_of(text, bytes, length - width + (width > 3 ? 3 : 0));
	cut = malloc(bytes - skip + 4);
	if (!cut)
		return;
	memcpy(cut, "...", 3);
	memcpy(cut + (width > 3 ? 3 : 0), text + skip, bytes - skip);
	put_cell(table, column, cut, bytes - skip + (width > 3 ? 3 : 0));
	free(cut);
}

/* ---- values ------------------------------------------------------------------------------------ */

static void time_text(const struct table *table, double us, char room[32])
{
	const char *unit = table->options->time_unit;

	/* By what is printed, so that nothing shows as 1000.000us. */
	if (unit ? strcmp(unit, "s") == 0 : us >= 999999.5)
		snprintf(room, 32, "%.3fs", us / 1e6);
	else if (unit ? strcmp(unit, "ms") == 0 : us >= 999.9995)
		snprintf(room, 32, "%.3fms", us / 1e3);
	else
		snprintf(room, 32, "%.3fus", us);
}

static void share_text(const struct table *table, double us, char room[32])
{
	if (table->self_us > 0)
		snprintf(room, 32, "%.2f%%", us * 100.0 / table->self_us);
	else
		strcpy(room, "NaN");
}

static void memory_text(const struct table *table, int64_t bytes, char room[32])
{
	static const char *const units[][2] = { { " GB", " Gb" }, { " MB", " Mb" }, { " KB", " Kb" } };
	double size = (double)bytes;

	for (unsigned i = 0; i < 3; i++)
		if (fabs(size) >= (double)(1u << (30 - 10 * i))) {
			snprintf(room, 32, "%.2f%s", size / (double)(1u << (30 - 10 * i)), units[i][table->old]);
			return;
		}
	snprintf(room, 32, "%lld %s", (long long)bytes, table->old ? "b" : "B");
}

static const struct dw_entry_shapes *shapes_of(const struct table *table,
                                               const struct dw_call_row *row)
{
	return row->symbol == DW_NO_INDEX ? NULL : table->symbols[row->symbol].shapes;
}

static const char *overload_of(const struct table *table, const struct dw_call_row *row)
{
	const char *detail = row->symbol == DW_NO_INDEX ? NULL : table->symbols[row->symbol].detail;

	return detail ? detail : "";
}

/* ---- columns --------------------------------------------------------------------------------- */

static unsigned limited(size_t longest, unsigned most)
{
	return longest + 4 < most ? (unsigned)longest + 4 : most;
}

static void add(struct table *table, const char *head, unsigned width, bool left)
{
	table->columns[table->column_count++] = (struct column){ head, width, left };
}

static size_t longest_name(const struct table *table)
{
	size_t longest = 0;

	for (size_t i = 0; i < table->calls->count; i++) {
		const char *name = table->calls->rows[i].name;
		size_t length = length_of(name, strlen(name));

		longest = length > longest ? length : longest;
	}
	return longest;
}

static size_t longest_shapes(const struct table *table)
{
	size_t longest = 0;

	for (size_t i = 0; i < table->calls->count; i++) {
		char *text = dw_shapes_text(shapes_of(table, &table->calls->rows[i]), DW_SHAPES_AS_TORCH);

		if (text && strlen(text) > longest)
			longest = strlen(text);
		free(text);
	}
	return longest;
}

static size_t longest_source(const struct table *table)
{
	size_t longest = 0;

	for (size_t i = 0; i < table->calls->count; i++)
		for (const char *at = table->calls->rows[i].stack; at && *at;) {
			size_t bytes = strcspn(at, "\n"), length = length_of(at, bytes);

			longest = length > longest ? length : longest;
			at += bytes + (at[bytes] == '\n');
		}
	return longest;
}

/* By the smallest; the largest unit that it has at least one of. */
static const char *flops_head(struct table *table)
{
	static const char *const heads[] = { "Total FLOPs", "Total KFLOPs", "Total MFLOPs",
		"Total GFLOPs", "Total TFLOPs", "Total PFLOPs" };
	uint64_t least = UINT64_MAX;
	unsigned unit = 0;

	for (size_t i = 0; i < table->calls->count; i++)
		if (table->calls->rows[i].flops && table->calls->rows[i].flops < least)
			least = table->calls->rows[i].flops;
	for (double left = (double)least; left >= 1000 && unit < 5; left /= 1000)
		unit++;
	table->flops_scale = pow(10, -3.0 * unit);
	return heads[unit];
}

static void make_columns(struct table *table)
{
	unsigned name_width = limited(longest_name(table), table->name_width);

	add(table, "Name", name_width, false);
	if (table->overload)
		add(table, "Overload Name", name_width, false);
	add(table, "Self CPU %", COLUMN, false);
	add(table, "Self CPU", COLUMN, false);
	add(table, "CPU total %", COLUMN, false);
	add(table, "CPU total", COLUMN, false);
	add(table, "CPU time avg", COLUMN, false);
	if (table->memory) {
		add(table, "CPU Mem", COLUMN, false);
		add(table, "Self CPU Mem", COLUMN, false);
	}
	add(table, "# of Calls", COLUMN, false);
	if (table->shapes)
		add(table, "Input Shapes", limited(longest_shapes(table), table->shapes_width), false);
	if (table->stacks)
		add(table, "Source Location", limited(longest_source(table), table->source_width), true);
	if (table->flops)
		add(table, flops_head(table), COLUMN, false);
}

/* ---- lines ------------------------------------------------------------------------------------- */

static void put_line(const struct table *table, char c)
{
	unsigned width = 0;

	for (size_t i = 0; i < table->column_count; i++)
		width += table->columns[i].width + 2;
	for (width -= 2; width; width--)
		fputc(c, table->file);
	fputc('\n', table->file);
}

static void put_separator(const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		for (unsigned n = 0; n < table->columns[i].width; n++)
			fputc('-', table->file);
		fputs("  ", table->file);
	}
	fputc('\n', table->file);
}

static void put_head(const struct table *table)
{
	if (table->options->header) {
		put_line(table, '=');
		fprintf(table->file, "%s\n", table->options->header);
	}
	if (table->options->top_level) {
		put_line(table, '=');
		fputs("This report only display top-level ops statistics\n", table->file);
	}
	put_separator(table);
	for (size_t i = 0; i < table->column_count; i++)
		put_text(table, &table->columns[i], table->columns[i].head);
	fputc('\n', table->file);
	put_separator(table);
}

/* The frames below the first, in lines of their own, and an empty one. */
static void put_frames(const struct table *table, const char *rest)
{
	unsigned frames = 1;

	for (bool last = false; !last;) {
		size_t bytes = rest ? strcspn(rest, "\n") : 0;

		last = !rest || !*rest || (table->old && frames >= 5);
		for (size_t i = 0; i < table->column_count; i++) {
			if (strcmp(table->columns[i].head, "Source Location") == 0 && !last)
				put_source(table, &table->columns[i], rest, bytes);
			else
				put_text(table, &table->columns[i], "");
		}
		fputc('\n', table->file);
		frames++;
		if (!last)
			rest += bytes + (rest[bytes] == '\n');
	}
}

static bool put_row(const struct table *table, const struct dw_call_row *row)
{
	const struct column *column = table->columns;
	double self_us = (double)row->stat.self_ns / 1e3, total_us = (double)row->stat.total_ns / 1e3;
	char room[32];
	size_t first = row->stack ? strcspn(row->stack, "\n") : 0;

	put_name(table, column++, row->name);
	if (table->overload)
		put_name(table, column++, overload_of(table, row));
	share_text(table, self_us, room);
	put_text(table, column++, room);
	time_text(table, self_us, room);
	put_text(table, column++, room);
	share_text(table, total_us, room);
	put_text(table, column++, row->is_async ? "0" : room);
	time_text(table, total_us, room);
	put_text(table, column++, room);
	time_text(table, total_us / (double)row->stat.count, room);
	put_text(table, column++, room);
	if (table->memory) {
		memory_text(table, row->total_bytes, room);
		put_text(table, column++, room);
		memory_text(table, row->self_bytes, room);
		put_text(table, column++, room);
	}
	snprintf(room, sizeof room, "%llu", (unsigned long long)row->stat.count);
	put_text(table, column++, room);
	if (table->shapes) {
		char *text = dw_shapes_text(shapes_of(table, row), DW_SHAPES_AS_TORCH);

		if (!text)
			return false;
		put_cell(table, column, text, bytes_of(text, strlen(text), column->width));
		column++;
		free(text);
	}
	if (table->stacks)
		put_source(table, column++, row->stack ? row->stack : "", first);
	if (table->flops) {
		snprintf(room, sizeof room, "%8.3f", (double)row->flops * table->flops_scale);
		put_text(table, column++, row->flops ? room : "--");
	}
	fputc('\n', table->file);
	if (table->stacks)
		put_frames(table, row->stack && row->stack[first] ? row->stack + first + 1 : NULL);
	return true;
}

/* ---- order -------------------------------------------------------------------------------------- */

#define SORTS(X)                                                                              \
	X("self_cpu_time_total", (double)row->stat.self_ns) X("self_ns", (double)row->stat.self_ns)   \
	X("cpu_time_total", (double)row->stat.total_ns) X("total_ns", (double)row->stat.total_ns)     \
	X("cpu_time", (double)row->stat.total_ns / (double)row->stat.count)                           \
	X("mean_ns", (double)row->stat.total_ns / (double)row->stat.count)                            \
	X("min_ns", (double)row->stat.min_ns) X("max_ns", (double)row->stat.max_ns)                   \
	X("p50_ns", (double)row->stat.p50_ns) X("p99_ns", (double)row->stat.p99_ns)                   \
	X("count", (double)row->stat.count) X("calls", (double)row->stat.count)                       \
	X("cpu_memory_usage", (double)row->total_bytes)                                               \
	X("self_cpu_memory_usage", (double)row->self_bytes) X("flops", (double)row->flops)            \
	X("cuda_time", 0) X("cuda_time_total", 0) X("self_cuda_time_total", 0)                        \
	X("cuda_memory_usage", 0) X("self_cuda_memory_usage", 0) X("device_time", 0)                  \
	X("device_time_total", 0) X("self_device_time_total", 0) X("device_memory_usage", 0)          \
	X("self_device_memory_usage", 0) X("xpu_time", 0) X("xpu_time_total", 0)                      \
	X("self_xpu_time_total", 0) X("xpu_memory_usage", 0) X("self_xpu_memory_usage", 0)

static bool value_of(const char *sort, const struct dw_call_row *row, double *value)
{
#define X(name, expression)             \
	if (strcmp(sort, name) == 0) {      \
		*value = expression;            \
		return true;                    \
	}
	SORTS(X)
#undef X
	return false;
}

static int no_such_column(const char *sort, struct dwell_error *error)
{
	struct dw_nearest nearest;

	dw_nearest_init(&nearest, sort);
#define X(name, expression) dw_nearest_try(&nearest, name);
	SORTS(X)
#undef X
	return dw_error_set(error, DWELL_E_NAME, "no column '%.100s' to sort by in the torch layout%s%s%s",
	                    sort, nearest.best ? "; did you mean '" : "",
	                    nearest.best ? nearest.best : "",
	                    nearest.best ? "'?" : ": self_cpu_time_total, cpu_time_total, count, ...");
}

struct sorted {
	const struct dw_call_row *row;
	double value;
};

/* Largest first, equal ones as they were: they stand in one array. */
static int compare(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int put_rows(const struct table *table, struct dwell_error *error)
{
	const char *sort = table->options->sort;
	size_t limit = table->options->has_limit ? table->options->limit : 100;
	struct sorted *order = calloc(table->calls->count + 1, sizeof *order);
	bool done = order != NULL;

	for (size_t i = 0; done && i < table->calls->count; i++) {
		order[i].row = &table->calls->rows[i];
		if (sort)
			value_of(sort, order[i].row, &order[i].value);
	}
	if (done && table->calls->count)
		qsort(order, table->calls->count, sizeof *order, compare);
	for (size_t i = 0; done && i < table->calls->count && i < limit; i++)
		done = put_row(table, order[i].row);
	free(order);
	return done ? 0 : dw_error_set(error, DWELL_E_NOMEM, "out of memory printing a table");
}

/* ---- the layout ----------------------------------------------------------------------------------- */

/* FLOPs are a column when they were asked for, not when they happen to be known. */
static bool asked_for_flops(const struct dw_source *source)
{
	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, "with_flops") == 0 ||
		    strncmp(source->metas[i].key, "peak_flops", 10) == 0)
			return true;
	return false;
}

static int check(const struct dw_layout_options *options, struct dwell_error *error)
{
	static const struct dw_call_row none;
	const char *version = options->version, *unit = options->time_unit;
	double unused;

	if (version && strcmp(version, "1.13") != 0 && strcmp(version, "2.13") != 0)
		return dw_error_set(error, DWELL_E_NAME,
		                    "no layout 'torch:%.20s': there are torch (2.13) and torch:1.13", version);
	if (unit && strcmp(unit, "s") != 0 && strcmp(unit, "ms") != 0 && strcmp(unit, "us") != 0)
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "the torch layout prints times in s, ms or us, not '%.20s'", unit);
	if (options->sort && !value_of(options->sort, &none, &unused))
		return no_such_column(options->sort, error);
	return 0;
}

int dw_layout_torch(struct dw_model *model, const struct dw_layout_options *options, FILE *file,
                    struct dwell_error *error)
{
	struct dw_calls_ask ask = { .group = options->group, .named = true,
		                        .top_level = options->top_level, .memory = true };
	struct table table = {
		.file = file, .options = options, .old = options->version && options->version[0] == '1',
		.name_width = options->name_width ? options->name_width : 55,
		.shapes_width = options->shapes_width ? options->shapes_width : 80,
		.source_width = options->source_width ? options->source_width : 75,
	};
	int code = check(options, error);

	if (code)
		return code;
	table.calls = dw_model_calls(model, &ask, error);
	if (!table.calls)
		return DWELL_E_NOMEM;
	if (options->group.stack_frames && !table.calls->has_stacks)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "no stacks were recorded here: record with dwell run --stacks, or with "
		                    "with_stack of a profile");
	if (options->group.shapes && !table.calls->has_shapes)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "no shapes were recorded here: record with dwell run --shapes, or with "
		                    "record_shapes of a profile");
	if (!table.calls->count)
		return 0;
	table.symbols = dw_model_symbols(model, NULL);
	table.self_us = (double)table.calls->self_ns / 1e3;
	table.overload = options->group.overload && !table.old;
	table.memory = table.calls->has_memory;
	table.shapes = options->group.shapes;
	table.stacks = options->group.stack_frames > 0;
	table.flops = table.calls->has_flops && asked_for_flops(dw_model_source(model));
	make_columns(&table);
	put_head(&table);
	code = put_rows(&table, error);
	if (code)
		return code;
	put_separator(&table);
	char total[32];
	time_text(&table, table.self_us, total);
	fprintf(file, "Self CPU time total: %s\n", total);
	return 0;
}
