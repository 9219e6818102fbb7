/*
 * flops: how much arithmetic is it, how fast, and what was not counted?
 *
 *   flops      operators by FLOPs, with the time of their outermost calls
 *   uncounted  operators without a count, by self time, and the reason
 *
 * These are no columns of the operators view, because that view shows self time and FLOP/s must be
 * computed from the time of whole calls. model/flops.h has the formulas.
 */
#include <stdlib.h>

#include "base/text.h"
#include "format/keys.h"
#include "model/time/flops.h"
#include "views/columns.h"

#define MOST_NAMED 3                          /* operators without a count that the headline names */
#define PEAK_HOW_KEY "peak_flops_measured_as" /* a sentence on the method */

enum { PEAK = DW_HAS_OWN, BYTES = PEAK << 1 }; /* the machine's peak is known; the program gave the bytes of calls */

struct flops_counted {
	struct dw_cell name, calls, flops, gflop, share, total_ns, gflop_per_second, of_peak, bytes, gb_per_second;
};

static const struct dw_column counted_columns[] = {
	DW_FIELD(struct flops_counted, name, "operator", NONE, TEXT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct flops_counted, calls, "calls", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct flops_counted, flops, "FLOP", COUNT, INT, .data_only = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct flops_counted, gflop, "GFLOP", NONE, REAL, .total = DW_TOTAL_OWN),
	DW_FIELD(struct flops_counted, share, "of FLOPs", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN, .sums = "flops"),
	DW_FIELD(struct flops_counted, total_ns, "time", NS, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct flops_counted, gflop_per_second, "GFLOP/s", NONE, REAL, .total = DW_TOTAL_OWN),
	DW_FIELD(struct flops_counted, of_peak, "of the peak", RATIO, REAL, .only = PEAK, .total = DW_TOTAL_OWN),
	DW_FIELD(struct flops_counted, bytes, "bytes", BYTES, INT, .only = BYTES, .total = DW_TOTAL_OWN),
	DW_FIELD(struct flops_counted, gb_per_second, "GB/s", NONE, REAL, .only = BYTES, .total = DW_TOTAL_OWN),
};

struct flops_missed {
	struct dw_cell name, calls, self_ns, share, why;
};

static const struct dw_column missed_columns[] = {
	DW_FIELD(struct flops_missed, name, "not counted", NONE, TEXT),
	DW_FIELD(struct flops_missed, calls, "calls", COUNT, INT),
	DW_FIELD(struct flops_missed, self_ns, "self", NS, INT),
	DW_FIELD(struct flops_missed, share, "of operators", RATIO, REAL, .bar = true, .sums = "self_ns"),
	DW_FIELD(struct flops_missed, why, "why", NONE, TEXT),
};

static const char *flops_why_uncounted(enum dw_flops_why reason)
{
	switch (reason) {
	case DW_FLOPS_NO_SHAPES: return "shapes not recorded";
	case DW_FLOPS_NO_MEMORY: return "tensors without elements";
	case DW_FLOPS_NOT_ENOUGH: return "arguments do not say";
	default: return "no formula";
	}
}

/* Formats a number with three digits and a prefix: "1.81 TFLOP". */
static struct dw_text flops_text(double flops, const char *unit)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	struct dw_text text;
	size_t i = 0;

	while (i + 1 < sizeof prefixes / sizeof *prefixes && flops >= 999.5) {
		flops /= 1000;
		i++;
	}
	snprintf(text.at, sizeof text.at, "%.20s %s%s", dw_text_number(flops).at, prefixes[i], unit);
	return text;
}

/* Returns the FLOP/s measured on the machine of the run, or 0 if they were not measured. */
static double flops_machine_peak(const struct dw_source *source)
{
	const char *text = dw_view_meta(source, DW_KEY_PEAK_FLOPS);

	return text ? strtod(text, NULL) : 0;
}

/* Notes how the peak was measured, because it is not the peak of the processor's data sheet. */
static void flops_note_peak(struct dwell_table *table, const struct dw_source *source)
{
	const char *how = dw_view_meta(source, PEAK_HOW_KEY);

	if (flops_machine_peak(source) > 0 && how)
		dw_table_note(table, "The peak is %s: %s.", flops_text(flops_machine_peak(source), "FLOP/s").at, how);
}

static double flops_per_second(uint64_t flops, uint64_t ns)
{
	return ns ? (double)flops * 1e9 / (double)ns : 0;
}

static struct flops_counted flops_cells(const char *name, const struct dw_flops_row *from, uint64_t all, double peak)
{
	double speed = flops_per_second(from->flops, from->ns);
	struct flops_counted row = { .name = DW_STRING(name),
		                         .calls = DW_INT(from->calls),
		                         .flops = DW_INT(dw_flops_shown(from->flops)),
		                         .gflop = DW_REAL((double)from->flops / 1e9),
		                         .share = DW_PART(from->flops, all),
		                         .total_ns = DW_INT(from->ns) };

	if (from->ns) {
		row.gflop_per_second = DW_REAL(speed / 1e9);
		row.of_peak = peak > 0 ? DW_REAL(speed / peak) : DW_EMPTY;
	}
	if (from->bytes_ns) {
		row.bytes = DW_INT(dw_flops_shown(from->bytes));
		row.gb_per_second = DW_REAL(flops_per_second(from->bytes, from->bytes_ns) / 1e9);
	}
	return row;
}

static struct dwell_table *flops_is_counted(struct dw_model *model, const struct dw_flops_sum *sum,
                                            struct dwell_error *error)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	double peak = flops_machine_peak(dw_model_source(model));
	struct dwell_table *table =
		DW_VIEW_CHOOSE("flops", counted_columns, (peak > 0 ? PEAK : 0) | (sum->bytes_ns ? BYTES : 0), error);
	struct dw_flops_row all = {
		.flops = sum->flops, .ns = sum->counted_ns, .bytes = sum->bytes, .bytes_ns = sum->bytes_ns
	};
	struct flops_counted row;

	if (!table)
		return NULL;
	for (size_t i = 0; i < sum->count; i++) {
		if (!sum->rows[i].calls)
			continue;
		all.calls += sum->rows[i].calls;
		row = flops_cells(symbols[sum->rows[i].symbol].name, &sum->rows[i], sum->flops, peak);
		dw_table_put(table, 0, &row, sizeof row);
	}
	row = flops_cells("all counted", &all, sum->flops, peak);
	dw_table_put_totals(table, &row, sizeof row);
	return table;
}

static struct dwell_table *flops_put_uncounted(struct dw_model *model, const struct dw_flops_sum *sum,
                                               struct dwell_error *error)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct dwell_table *table = DW_VIEW_CHOOSE("flops", missed_columns, 0, error);
	double all_ns = (double)sum->counted_ns + (double)sum->missed_ns;
	bool no_shapes = false, not_enough = false;

	if (!table)
		return NULL;
	table->part = "uncounted";
	for (size_t i = 0; i < sum->count; i++) {
		const struct dw_flops_row *from = &sum->rows[i];

		if (!from->missed_calls)
			continue;
		DW_TABLE_PUT(table, 0, struct flops_missed, .name = DW_STRING(symbols[from->symbol].name),
		             .calls = DW_INT(from->missed_calls), .self_ns = DW_INT(from->missed_ns),
		             .share = DW_PART(from->missed_ns, all_ns), .why = DW_STRING(flops_why_uncounted(from->why)));
		no_shapes |= from->why == DW_FLOPS_NO_SHAPES;
		not_enough |= from->why == DW_FLOPS_NOT_ENOUGH;
	}
	dw_table_sort_by(table, "self_ns");
	if (no_shapes)
		dw_table_note(table, "Shapes were not recorded: dwell run --shapes records those that "
		                     "operators are given with DWELL_OP_SHAPES().");
	if (not_enough)
		dw_table_note(table, "Arguments do not say: give what the operator writes after what it "
		                     "reads, or strides and windows as DWELL_ARG_INTS.");
	return table;
}

/* Adds a sentence on the FLOPs of a mean step, counted inside the steps only. Returns -1 if out of
 * memory. */
static int flops_head_steps(struct dwell_table *table, struct dw_model *model, struct dwell_error *error)
{
	struct dw_model *inside = dw_model_counted(model, DW_COUNTED_ALL_THREADS, error);
	const struct dw_steps *steps = inside ? dw_model_steps(model, error) : NULL;
	const struct dw_flops_sum *sum = steps ? dw_model_flops(inside, error) : NULL;
	double peak = flops_machine_peak(dw_model_source(model));
	int result = inside && !sum ? -1 : 0;

	if (sum && sum->flops && steps->recorded_count && steps->recorded_ns) {
		double count = (double)steps->recorded_count;
		double speed = flops_per_second(sum->flops, steps->recorded_ns);

		const char *least = sum->missed_ns ? "at least " : "";

		dw_table_head(table, "A step is %s%s in %s: %s%s%s%s%s.", least,
		              flops_text((double)sum->flops / count, "FLOP").at,
		              dw_text_ns((double)steps->recorded_ns / count, " ").at, least,
		              flops_text(speed, "FLOP/s").at, peak > 0 ? ", " : "",
		              peak > 0 ? dw_text_percent(speed / peak).at : "",
		              peak > 0 ? " of the machine's measured peak" : "");
	}
	return result;
}

/* Writes "; not counted: softmax (no formula), relu (no formula) and 3 more", longest first. */
static void flops_note_missed(const struct dw_symbol *symbols, const struct dw_flops_sum *sum, char *to, size_t size)
{
	size_t named = 0, missed = 0, used = 0;
	uint64_t last_ns = UINT64_MAX;

	to[0] = '\0';
	for (size_t i = 0; i < sum->count; i++)
		missed += sum->rows[i].missed_calls > 0;
	while (named < MOST_NAMED && named < missed) {
		const struct dw_flops_row *next = NULL;

		for (size_t i = 0; i < sum->count; i++) {
			const struct dw_flops_row *row = &sum->rows[i];

			if (row->missed_calls && row->missed_ns < last_ns && (!next || row->missed_ns > next->missed_ns))
				next = row;
		}
		if (!next)
			break; /* a row with the same time as the last one */
		last_ns = next->missed_ns;
		used += (size_t)snprintf(to + used, size - used, "%s%.80s (%s)", named ? ", " : "; not counted: ",
		                         symbols[next->symbol].name, flops_why_uncounted(next->why));
		named++;
	}
	if (missed > named)
		snprintf(to + used, size - used, "%s%zu more", named ? " and " : "; not counted: ", missed - named);
}

/* The first sentence names the counted share of the operators' time: if it is small, the other
 * figures mean little. */
static void flops_head(struct dwell_table *table, const struct dw_symbol *symbols, const struct dw_flops_sum *sum)
{
	double all_ns = (double)sum->counted_ns + (double)sum->missed_ns;
	char missed[512];

	flops_note_missed(symbols, sum, missed, sizeof missed);
	dw_table_head(table, "FLOPs are counted for %s of all operators' time: %s in %s%s.",
	              dw_text_percent(all_ns > 0 ? (double)sum->counted_ns / all_ns : 0).at,
	              flops_text((double)sum->flops, "FLOP").at, dw_text_ns((double)sum->counted_ns, " ").at, missed);
}

static struct dwell_table *flops_view(struct dw_model *model, const struct dwell_view_options *options,
                                      struct dwell_error *error)
{
	const struct dw_flops_sum *sum = dw_model_flops(model, error);
	struct dwell_table *first = sum ? flops_is_counted(model, sum, error) : NULL;

	if (!first)
		return NULL;
	flops_head(first, dw_model_symbols(model, NULL), sum);
	flops_note_peak(first, dw_model_source(model));
	first->next = flops_put_uncounted(model, sum, error);
	if (first->next && flops_head_steps(first, model, error) == 0)
		return first;
	dw_table_destroy(first);
	return NULL;
}

const struct dw_view dw_view_flops = {
	.name = "flops", .question = "how much arithmetic is it, how fast, and what was not counted?",
	.run = flops_view, .row_name = "name", .row_ns = "total_ns", .limit = 20,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(counted_columns), DW_VIEW_TABLE(missed_columns)),
	.categories = DW_VIEW_CATEGORY(OPERATOR), .reads_steps = true, .needs = "operators", .remedy = "mark them with DWELL_OP_SHAPES()",
};
