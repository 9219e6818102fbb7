/*
 * torch: the table of torch.profiler's key_averages(), as PyTorch 2.13 prints it; "torch:1.13"
 * prints it as PyTorch 1.13.
 *
 * A row is all calls of an operator, of a named range, or of the steps. Rows are in the order of
 * their first calls, unless the caller sorts them. Columns are 12 characters wide. Those of names,
 * shapes and sources are as wide as needed, up to a limit. Two blanks follow each column.
 *
 * Three mistakes of PyTorch are not copied. FLOPs are under their own heading if there is a column
 * of sources. Whether a call is top-level is decided for each call. 999.9996us is printed as
 * 1.000ms.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "layouts/python.h"
#include "layouts/torch_parts.h"
#include "model/device/device.h"

#define COLUMN 12u

struct table {
	struct dw_torch_page page;
	const struct dwell_view_options *options;
	const struct dw_calls *calls;
	struct dw_torch_rows rows;
	const struct dw_symbol *symbols;
	struct dw_layout_widths most;
	double self_us, device_us, flops_scale;
	bool old;             /* PyTorch 1.13 */
	bool overload, memory, device_memory, shapes, stacks, flops;
};

/* ---- values ---------------------------------------------------------------------------------- */

static struct dw_text torch_time_text(const struct table *table, double us)
{
	const char *unit = table->options->time_unit;
	struct dw_text text;

	/* The unit is chosen for the rounded value, so that 1000.000us is never printed. */
	if (unit ? strcmp(unit, "s") == 0 : us >= 999999.5)
		snprintf(text.at, 32, "%.3fs", us / 1e6);
	else if (unit ? strcmp(unit, "ms") == 0 : us >= 999.9995)
		snprintf(text.at, 32, "%.3fms", us / 1e3);
	else
		snprintf(text.at, 32, "%.3fus", us);
	return text;
}

static struct dw_text torch_share_text(double us, double all_us)
{
	struct dw_text text = { "NaN" };

	if (all_us > 0)
		snprintf(text.at, 32, "%.2f%%", us * 100.0 / all_us);
	return text;
}

static struct dw_text torch_memory_text(const struct table *table, int64_t bytes)
{
	static const char *const units[][2] = { { " GB", " Gb" }, { " MB", " Mb" }, { " KB", " Kb" } };
	double size = (double)bytes;
	struct dw_text text;
	unsigned i = 0;

	while (i < 3 && fabs(size) < (double)(1u << (30 - 10 * i)))
		i++;
	if (i < 3)
		snprintf(text.at, 32, "%.2f%s", size / (double)(1u << (30 - 10 * i)), units[i][table->old]);
	else
		snprintf(text.at, 32, "%lld %s", (long long)bytes, table->old ? "b" : "B");
	return text;
}

static const struct dw_entry_shapes *torch_shapes_of(const struct table *table, const struct dw_call_row *row)
{
	return row->symbol == DW_NO_INDEX ? NULL : table->symbols[row->symbol].shapes;
}

static const char *torch_overload_of(const struct table *table, const struct dw_call_row *row)
{
	const char *detail = row->symbol == DW_NO_INDEX ? NULL : table->symbols[row->symbol].detail;

	return detail ? detail : "";
}

/* ---- columns --------------------------------------------------------------------------------- */

static unsigned torch_limit_width(size_t longest, unsigned most)
{
	return longest + 4 < most ? (unsigned)longest + 4 : most;
}

static size_t torch_longest_name(const struct table *table)
{
	size_t longest = 0;

	for (size_t i = 0; i < table->rows.count; i++) {
		const char *name = table->rows.rows[i].call->name;
		size_t length = dw_layout_characters(name, strlen(name));

		longest = length > longest ? length : longest;
	}
	return longest;
}

static size_t torch_longest_shapes(const struct table *table)
{
	size_t longest = 0;

	for (size_t i = 0; i < table->calls->count; i++) {
		char *text = dw_shapes_text(torch_shapes_of(table, &table->calls->rows[i]), DW_SHAPES_AS_TORCH);

		if (text && strlen(text) > longest)
			longest = strlen(text);
		free(text);
	}
	return longest;
}

static size_t torch_longest_source(const struct table *table)
{
	size_t longest = 0;

	for (size_t i = 0; i < table->calls->count; i++)
		for (const char *at = table->calls->rows[i].stack; at && *at;) {
			size_t bytes = strcspn(at, "\n"), length = dw_layout_characters(at, bytes);

			longest = length > longest ? length : longest;
			at += bytes + (at[bytes] == '\n');
		}
	return longest;
}

/* The heading of the FLOPs, with the largest unit in which the smallest value is at least 1. */
static const char *torch_flops_head(struct table *table)
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

static void torch_make_columns(struct table *table)
{
	struct dw_torch_page *page = &table->page;
	unsigned name_width = torch_limit_width(torch_longest_name(table), table->most.name);
	bool device = table->rows.has_device;
	const struct { const char *head; bool there; } heads[] = {
		{ "Self CPU %", true }, { "Self CPU", true }, { "CPU total %", true }, { "CPU total", true },
		{ "CPU time avg", true }, { "Self CUDA", device }, { "Self CUDA %", device }, { "CUDA total", device },
		{ "CUDA time avg", device }, { "CPU Mem", table->memory }, { "Self CPU Mem", table->memory },
		{ "CUDA Mem", table->device_memory }, { "Self CUDA Mem", table->device_memory }, { "# of Calls", true },
	};

	dw_torch_add_column(page, "Name", name_width, false);
	if (table->overload)
		dw_torch_add_column(page, "Overload Name", name_width, false);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (heads[i].there)
			dw_torch_add_column(page, heads[i].head, COLUMN, false);
	if (table->shapes)
		dw_torch_add_column(page, "Input Shapes", torch_limit_width(torch_longest_shapes(table), table->most.shapes),
		                    false);
	if (table->stacks)
		dw_torch_add_column(page, "Source Location", torch_limit_width(torch_longest_source(table), table->most.source),
		                    true);
	if (table->flops)
		dw_torch_add_column(page, torch_flops_head(table), COLUMN, false);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void torch_put_head(const struct table *table)
{
	if (table->options->header) {
		dw_torch_put_line(&table->page, '=');
		fprintf(table->page.file, "%s\n", table->options->header);
	}
	if (table->options->top_level) {
		dw_torch_put_line(&table->page, '=');
		fputs("This report only display top-level ops statistics\n", table->page.file);
	}
	dw_torch_put_heads(&table->page);
}

/* Prints each frame after the first in its own line, then an empty line. */
static void torch_put_frames(const struct table *table, const char *rest)
{
	const struct dw_torch_page *page = &table->page;
	unsigned frames = 1;

	for (bool last = false; !last;) {
		size_t bytes = rest ? strcspn(rest, "\n") : 0;

		last = !rest || !*rest || (table->old && frames >= 5);
		for (size_t i = 0; i < page->column_count; i++) {
			if (strcmp(page->columns[i].head, "Source Location") == 0 && !last)
				dw_torch_put_source(page, &page->columns[i], rest, bytes);
			else
				dw_torch_put_text(page, &page->columns[i], "");
		}
		fputc('\n', page->file);
		frames++;
		if (!last)
			rest += bytes + (rest[bytes] == '\n');
	}
}

/* Prints the times of a device. Returns the next column. */
static const struct dw_torch_column *torch_put_device(const struct table *table, const struct dw_torch_row *row,
                                                      const struct dw_torch_column *column)
{
	double self_us = (double)row->self_device_ns / 1e3, total_us = (double)row->device_ns / 1e3;

	dw_torch_put_text(&table->page, column++, torch_time_text(table, self_us).at);
	dw_torch_put_text(&table->page, column++, torch_share_text(self_us, table->device_us).at);
	dw_torch_put_text(&table->page, column++, torch_time_text(table, total_us).at);
	dw_torch_put_text(&table->page, column++, torch_time_text(table, total_us / (double)row->call->stat.count).at);
	return column;
}

/* Prints the name and the times. Returns the next column. */
static const struct dw_torch_column *torch_put_times(const struct table *table, const struct dw_call_row *row)
{
	const struct dw_torch_page *page = &table->page;
	const struct dw_torch_column *column = page->columns;
	double self_us = (double)row->stat.self_ns / 1e3;
	double total_us = (double)(row->stat.total_ns + row->stat.nested_ns) / 1e3;

	dw_torch_put_name(page, column++, row->name, table->most.name);
	if (table->overload)
		dw_torch_put_name(page, column++, torch_overload_of(table, row), table->most.name);
	dw_torch_put_text(page, column++, torch_share_text(self_us, table->self_us).at);
	dw_torch_put_text(page, column++, torch_time_text(table, self_us).at);
	dw_torch_put_text(page, column++, row->is_async ? "0" : torch_share_text(total_us, table->self_us).at);
	dw_torch_put_text(page, column++, torch_time_text(table, total_us).at);
	dw_torch_put_text(page, column++, torch_time_text(table, total_us / (double)row->stat.count).at);
	return column;
}

static bool torch_put_row(const struct table *table, const struct dw_torch_row *from)
{
	const struct dw_torch_page *page = &table->page;
	const struct dw_call_row *row = from->call;
	const struct dw_torch_column *column = torch_put_times(table, row);
	size_t first = row->stack ? strcspn(row->stack, "\n") : 0;
	char buffer[32];

	if (table->rows.has_device)
		column = torch_put_device(table, from, column);
	if (table->memory) {
		dw_torch_put_text(page, column++, torch_memory_text(table, row->total_bytes).at);
		dw_torch_put_text(page, column++, torch_memory_text(table, row->self_bytes).at);
	}
	if (table->device_memory) {
		dw_torch_put_text(page, column++, torch_memory_text(table, row->device_total_bytes).at);
		dw_torch_put_text(page, column++, torch_memory_text(table, row->device_bytes).at);
	}
	snprintf(buffer, sizeof buffer, "%llu", (unsigned long long)row->stat.count);
	dw_torch_put_text(page, column++, buffer);
	if (table->shapes) {
		char *text = dw_shapes_text(torch_shapes_of(table, row), DW_SHAPES_AS_TORCH);

		if (!text)
			return false;
		dw_torch_put_cell(page, column, text, dw_torch_bytes(text, strlen(text), column->width));
		column++;
		free(text);
	}
	if (table->stacks)
		dw_torch_put_source(page, column++, row->stack ? row->stack : "", first);
	if (table->flops) {
		snprintf(buffer, sizeof buffer, "%8.3f", (double)row->flops * table->flops_scale);
		dw_torch_put_text(page, column++, row->flops ? buffer : "--");
	}
	fputc('\n', page->file);
	if (table->stacks)
		torch_put_frames(table, row->stack && row->stack[first] ? row->stack + first + 1 : NULL);
	return true;
}

static int torch_put_rows(struct table *table, struct dwell_error *error)
{
	size_t limit = dw_layout_rows(table->options, 100);
	bool done = true;

	dw_torch_order(&table->rows, table->options->sort);
	for (size_t i = 0; done && i < table->rows.count && i < limit; i++)
		done = torch_put_row(table, &table->rows.rows[i]);
	return done ? 0 : dw_error_set(error, DWELL_E_NOMEM, "out of memory printing a table");
}

/* ---- the layout ------------------------------------------------------------------------------ */

/* FLOPs have a column only if the program requested them. They may be known without that. */
static bool torch_asked_for_flops(const struct dw_source *source)
{
	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, "with_flops") == 0 || strncmp(source->metas[i].key, "peak_flops", 10) == 0)
			return true;
	return false;
}

static int torch_check(const struct dw_layout_request *request, struct dwell_error *error)
{
	const struct dwell_view_options *options = request->options;
	const char *version = request->version, *unit = options->time_unit;

	if (version && strcmp(version, "1.13") != 0 && strcmp(version, "2.13") != 0)
		return dw_error_set(error, DWELL_E_NAME, "no layout 'torch:%.20s': there are torch (2.13) and torch:1.13",
		                    version);
	if (unit && strcmp(unit, "s") != 0 && strcmp(unit, "ms") != 0 && strcmp(unit, "us") != 0)
		return dw_error_set(error, DWELL_E_ARGUMENT, "the torch layout prints times in s, ms or us, not '%.20s'", unit);
	return options->sort ? dw_torch_check_sort(options->sort, error) : 0;
}

static int torch_check_recorded(const struct dw_calls *calls, const struct dw_grouping *group,
                                struct dwell_error *error)
{
	if (group->stack_frames && !calls->has_stacks)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "no stacks were recorded here: record with dwell run --stacks, or with "
		                    "with_stack of a profile");
	if (group->shapes && !calls->has_shapes)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "no shapes were recorded here: record with dwell run --shapes, or with "
		                    "record_shapes of a profile");
	return 0;
}

static int torch_put_table(struct table *table, struct dwell_error *error)
{
	int code;

	torch_make_columns(table);
	torch_put_head(table);
	code = torch_put_rows(table, error);
	if (code)
		return code;
	dw_torch_put_separator(&table->page);
	fprintf(table->page.file, "Self CPU time total: %s\n", torch_time_text(table, table->self_us).at);
	if (table->rows.has_device)
		fprintf(table->page.file, "Self CUDA time total: %s\n", torch_time_text(table, table->device_us).at);
	return 0;
}

int dw_torch_print(struct dw_model *model, const struct dw_layout_request *request, FILE *file,
                   struct dwell_error *error)
{
	const struct dwell_view_options *options = request->options;
	struct dw_calls_ask ask = { .top_level = options->top_level, .memory = true };
	struct table table = {
		.page.file = file, .options = options, .old = request->version && request->version[0] == '1',
		.most = { .name = 55, .shapes = 80, .source = 75 },
	};
	int code = torch_check(request, error);

	if (!code)
		code = dw_grouping_parse(options->group_by, &ask.group, error);
	if (!code)
		code = dw_calls_parse_ranges(options->ranges, &ask, error);
	if (!code)
		code = dw_layout_parse_widths(options->widths, &table.most, error);
	if (code)
		return code;
	ask.all_ranges = ask.group.annotations = dw_model_has_device(model);
	ask.group.sizes = ask.group.shapes;
	table.calls = dw_model_calls(model, &ask, error);
	if (!table.calls)
		return DWELL_E_NOMEM;
	code = torch_check_recorded(table.calls, &ask.group, error);
	if (code)
		return code;
	table.symbols = dw_model_symbols(model, NULL);
	table.self_us = (double)table.calls->self_ns / 1e3;
	table.overload = ask.group.overload && !table.old;
	table.memory = table.calls->has_memory;
	/* As in PyTorch: only where some call has more of it after than before. */
	for (size_t i = 0; i < table.calls->count; i++)
		table.device_memory |= table.calls->rows[i].device_bytes > 0;
	table.shapes = ask.group.shapes;
	table.stacks = ask.group.stack_frames > 0;
	table.flops = table.calls->has_flops && torch_asked_for_flops(dw_model_source(model));
	code = dw_torch_rows_make(&table.rows, model, table.calls, &ask, table.old, error);
	table.device_us = (double)table.rows.device_ns / 1e3;
	if (!code && table.rows.count)
		code = torch_put_table(&table, error);
	dw_torch_rows_reset(&table.rows);
	return code;
}

const struct dw_layout dw_layout_torch = {
	.name = "torch", .what = "torch.profiler's table, PyTorch 2.13 (torch:1.13)", .print = dw_torch_print,
};
