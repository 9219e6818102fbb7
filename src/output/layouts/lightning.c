/*
 * Lightning: the report of SimpleProfiler.
 *
 * `lightning` is the extended report; lightning_short.c prints the report of extended=False. A
 * stage is a profile named fit, validate, test, predict or sanity_check
 * (<dwell/compat/lightning.h>). If the trace has stages, each has a report; otherwise there is one
 * report of the whole scope. Shares are relative to the duration of the stage. Actions nest, so
 * rows may sum to more than it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "layouts/lightning.h"
#include "layouts/python.h"

/* Ranges that a program names itself; printed if it has no actions. */
#define OTHER_NAMES                                                                      \
	(1u << DWELL_CATEGORY_ZONE | 1u << DWELL_CATEGORY_PHASE | 1u << DWELL_CATEGORY_DATA |   \
	 1u << DWELL_CATEGORY_COMMUNICATION | 1u << DWELL_CATEGORY_CHECKPOINT |                 \
	 1u << DWELL_CATEGORY_EVALUATION)
#define ACTIONS (1u << DWELL_CATEGORY_ACTION)

struct row {
	const char *name;
	uint64_t calls, total_ns;
};

struct report {
	struct row *rows;
	size_t count, shown;
	uint64_t calls, wall_ns;
	int name_width;
};

static double lightning_mean_of(const struct row *row)
{
	return (double)row->total_ns / 1e9 / (double)row->calls;
}

DW_ORDER(lightning_compare_totals, struct row, DW_DOWN(total_ns) DW_TEXT(name))

static int lightning_compare_means(const void *left, const void *right)
{
	double a = lightning_mean_of(left), b = lightning_mean_of(right);

	return a != b ? (a > b ? -1 : 1) : lightning_compare_totals(left, right);
}

/* ---- the text --------------------------------------------------------------------------- */

/* Python's {text:<width}, which counts characters. */
static void lightning_put_padded(FILE *file, const char *text, int width)
{
	int length = (int)dw_layout_characters(text, strlen(text));

	fprintf(file, "%s%*s", text, width > length ? width - length : 0, "");
}

static void lightning_put_cell(FILE *file, const char *text)
{
	fputs("|  ", file);
	lightning_put_padded(file, text, 15);
	fputc('\t', file);
}

static void lightning_put_row(FILE *file, const struct report *report, const char *name, const char *const *cells)
{
	fputs("\n|  ", file);
	lightning_put_padded(file, name, report->name_width);
	fputc('\t', file);
	for (; *cells; cells++)
		lightning_put_cell(file, *cells);
	fputc('|', file);
}

/* A line as long as the header with its tabs expanded and its newline. */
static void lightning_put_line(FILE *file, const struct report *report, const char *const *cells)
{
	int at = 3 + report->name_width;

	for (; *cells; cells++) {
		int length = (int)strlen(*cells);

		at += 8 - at % 8;
		at += 3 + (length > 15 ? length : 15);
	}
	at += 8 - at % 8 + 2;
	fputc('\n', file);
	while (at--)
		fputc('-', file);
}

static void lightning_put_extended(FILE *file, const struct report *report)
{
	static const char *const heads[] = { "Mean duration (s)", "Num calls", "Total time (s)",
		                                 "Percentage %", NULL };
	char calls[24], mean[32], total[32], share[32];
	const char *const cells[] = { mean, calls, total, share, NULL };
	double wall = (double)report->wall_ns / 1e9;
	const char *const sums[] = { "-", calls, total, "100 %", NULL };

	lightning_put_line(file, report, heads);
	lightning_put_row(file, report, "Action", heads);
	lightning_put_line(file, report, heads);
	snprintf(calls, sizeof calls, "%" PRIu64, report->calls);
	dw_layout_python_real(total, wall, 5);
	lightning_put_row(file, report, "Total", sums);
	lightning_put_line(file, report, heads);
	for (size_t i = 0; i < report->shown; i++) {
		const struct row *row = &report->rows[i];

		snprintf(calls, sizeof calls, "%" PRIu64, row->calls);
		dw_layout_python_real(mean, lightning_mean_of(row), 5);
		dw_layout_python_real(total, (double)row->total_ns / 1e9, 5);
		dw_layout_python_real(share, wall > 0 ? 100 * ((double)row->total_ns / 1e9) / wall : 0, 5);
		lightning_put_row(file, report, row->name, cells);
	}
	lightning_put_line(file, report, heads);
}

static void lightning_put_short(FILE *file, const struct report *report)
{
	static const char *const heads[] = { "Mean duration (s)", "Total time (s)", NULL };
	char mean[32], total[32];
	const char *const cells[] = { mean, total, NULL };

	lightning_put_line(file, report, heads);
	lightning_put_row(file, report, "Action", heads);
	lightning_put_line(file, report, heads);
	for (size_t i = 0; i < report->shown; i++) {
		dw_layout_python_real(mean, lightning_mean_of(&report->rows[i]), 5);
		dw_layout_python_real(total, (double)report->rows[i].total_ns / 1e9, 5);
		lightning_put_row(file, report, report->rows[i].name, cells);
	}
	lightning_put_line(file, report, heads);
}

/* ---- the reports -------------------------------------------------------------------------- */

static int lightning_collect_rows(struct dw_model *model, struct report *report, struct dwell_error *error)
{
	bool has_actions = dw_model_categories(model) & ACTIONS;
	const struct dw_flat *flat = dw_model_flat(model, has_actions ? ACTIONS : OTHER_NAMES, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);

	if (!flat)
		return DWELL_E_NOMEM;
	report->wall_ns = flat->wall_ns;
	report->rows = calloc(flat->count + 1, sizeof *report->rows);
	if (!report->rows)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the lightning layout");
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_flat_row *from = &flat->rows[i];
		const char *name = symbols[from->symbol].name;
		int width = (int)dw_layout_characters(name, strlen(name));

		if (!from->stat.count)
			continue;
		report->rows[report->count++] =
		    (struct row){ name, from->stat.count, from->stat.total_ns + from->stat.nested_ns };
		report->calls += from->stat.count;
		if (width > report->name_width)
			report->name_width = width;
	}
	return 0;
}

static int lightning_print_report(struct dw_model *model, const struct dwell_view_options *options,
                                  bool extended, const char *stage, FILE *file, struct dwell_error *error)
{
	struct report report = { 0 };
	int code = lightning_collect_rows(model, &report, error);

	if (code)
		return code;
	qsort(report.rows, report.count, sizeof *report.rows,
	      extended ? lightning_compare_totals : lightning_compare_means);
	report.shown = dw_layout_rows(options, SIZE_MAX);
	if (report.shown > report.count)
		report.shown = report.count;
	dw_layout_put_stage(file, stage);
	if (report.count && extended)
		lightning_put_extended(file, &report);
	else if (report.count)
		lightning_put_short(file, &report);
	fputc('\n', file);
	free(report.rows);
	return 0;
}

struct lightning_request {
	const struct dwell_view_options *options;
	bool extended;
};

static int lightning_print_stage(struct dw_model *model, const char *stage, FILE *file, void *context,
                                 struct dwell_error *error)
{
	const struct lightning_request *request = context;

	return lightning_print_report(model, request->options, request->extended, stage, file, error);
}

int dw_layout_print_lightning(struct dw_model *model, const struct dwell_view_options *options,
                              bool extended, FILE *file, struct dwell_error *error)
{
	struct lightning_request request = { options, extended };

	return dw_layout_stages(model, lightning_print_stage, file, &request, error);
}

static int lightning_print(struct dw_model *model, const struct dw_layout_request *request, FILE *file,
                           struct dwell_error *error)
{
	return dw_layout_print_lightning(model, request->options, true, file, error);
}

const struct dw_layout dw_layout_lightning = {
	.name = "lightning", .what = "Lightning's SimpleProfiler", .print = lightning_print,
};
