/*
 * roofline: how near is the device's work for operators to what the device can do?
 *
 * An operator with its shapes has arithmetic and bytes, of which the device allows so much a second (model/device/peaks.c). The longer
 * of both times is the least that its work can take; "of the roof" is its part of the time that the work took.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "model/core/shapes.h"
#include "model/device/device.h"
#include "model/device/roofline.h"
#include "model/time/flops.h"
#include "views/columns.h"
#include "views/device.h"

enum { PEAKS = DW_HAS_OWN }; /* those of the device are known */

struct roofline_row {
	const char *name, *bound;
	struct dw_cell shapes, of_roof, gflop, bytes, intensity, tflop_per_second, tb_per_second;
	uint64_t calls, device_ns;
	double share;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct roofline_row, name, "operator", NONE, TEXT),
	DW_FIELD(struct roofline_row, shapes, "shapes", NONE, TEXT, .wide_only = true),
	DW_FIELD(struct roofline_row, calls, "calls", COUNT, INT),
	DW_FIELD(struct roofline_row, device_ns, "device", NS, INT),
	DW_FIELD(struct roofline_row, share, "of the device", RATIO, REAL, .bar = true, .sums = "device_ns"),
	DW_FIELD(struct roofline_row, gflop, "GFLOP", NONE, REAL),
	DW_FIELD(struct roofline_row, bytes, "bytes", BYTES, INT),
	DW_FIELD(struct roofline_row, intensity, "FLOP/byte", NONE, REAL, .not_narrow = true),
	DW_FIELD(struct roofline_row, tflop_per_second, "TFLOP/s", NONE, REAL),
	DW_FIELD(struct roofline_row, tb_per_second, "TB/s", NONE, REAL),
	DW_FIELD(struct roofline_row, of_roof, "of the roof", RATIO, REAL, .only = PEAKS),
	DW_FIELD(struct roofline_row, bound, "bound by", NONE, TEXT, .only = PEAKS),
};

/* The least time of one call in ns, and what bounds it. NAN: not known. */
static double roofline_least_ns(const struct dw_roofline *roofline, const struct dw_roof_row *row, const char **bound)
{
	double peak = dw_device_peak(roofline->peaks, row->type, row->product);
	double compute = peak > 0 ? (double)row->flops * 1e9 / peak : row->flops ? NAN : 0;
	double memory = row->bytes >= 0 ? (double)row->bytes * 1e9 / roofline->peaks->bytes : 0;

	*bound = isnan(compute) || (compute <= 0 && memory <= 0) ? "" : compute >= memory ? "compute" : "memory";
	return **bound ? fmax(compute, memory) : NAN;
}

static struct roofline_row roofline_cells(const struct dw_roofline *roofline, const struct dw_roof_row *from, const char *name)
{
	double calls = (double)from->calls, seconds = (double)from->ns / 1e9, flops = (double)from->flops * calls;
	struct roofline_row row = { .name = name, .calls = from->calls, .device_ns = from->ns, .bound = "",
		                        .share = (double)from->ns / (double)(roofline->ns + roofline->alone_ns) };
	double least;

	if (!from->known) {
		row.bound = "not known";
		return row;
	}
	row.gflop = DW_REAL(flops / 1e9);
	row.tflop_per_second = DW_REAL(flops / 1e12 / seconds);
	if (from->bytes >= 0) {
		double bytes = (double)from->bytes * calls;

		row.bytes = DW_INT(bytes < 9e18 ? (int64_t)bytes : INT64_MAX);
		row.tb_per_second = DW_REAL(bytes / 1e12 / seconds);
		row.intensity = from->bytes ? DW_REAL((double)from->flops / (double)from->bytes) : DW_EMPTY;
	}
	least = roofline->peaks ? roofline_least_ns(roofline, from, &row.bound) : NAN;
	if (!isnan(least))
		row.of_roof = DW_REAL(least * calls / (double)from->ns);
	return row;
}

/* FLOPs of products of matrices in the steps, as a part of what the devices could have computed in their time. */
static int roofline_head_steps(struct dwell_table *table, struct dw_model *model, struct dwell_error *error)
{
	struct dw_model *inside = dw_model_counted(model, DW_COUNTED_ALL_THREADS, error);
	const struct dw_steps *steps = inside ? dw_model_steps(model, error) : NULL;
	const struct dw_roofline *roofline = steps ? dw_model_roofline(inside, error) : NULL;
	const struct dw_device_work *work = roofline ? dw_model_device_work(model, error) : NULL;
	double least_ns = 0, wall_ns;
	const char *bound;

	if (!work)
		return inside ? -1 : 0;
	wall_ns = (double)steps->recorded_ns * work->recorded * roofline->devices;
	for (size_t i = 0; i < roofline->count && roofline->peaks; i++) {
		struct dw_roof_row row = roofline->rows[i];
		double ns;

		row.bytes = -1;
		ns = row.known && row.product ? roofline_least_ns(roofline, &row, &bound) : NAN;
		least_ns += isnan(ns) ? 0 : ns * (double)row.calls;
	}
	if (least_ns > 0 && wall_ns > 0)
		dw_table_head(table, "MFU: products of matrices need %s of %s a step at the device's peak, %s.",
		              dw_text_ns(least_ns / (double)steps->recorded_count / roofline->devices, " ").at,
		              dw_text_ns((double)steps->recorded_ns / (double)steps->recorded_count, " ").at,
		              dw_text_percent(least_ns / wall_ns).at);
	return 0;
}

static void roofline_heads(struct dwell_table *table, const struct dw_roofline *roofline)
{
	const struct dw_device_peaks *peaks = roofline->peaks;
	double all_ns = (double)(roofline->ns + roofline->alone_ns);

	dw_table_head(table, "%s: arithmetic and bytes are known for %s of the time of its work.", roofline->device,
	              dw_text_percent(all_ns > 0 ? (double)roofline->known_ns / all_ns : 0).at);
	if (!peaks) {
		dw_table_note(table, "The peaks of %s are not known to dwell: no roof.", roofline->device);
		return;
	}
	dw_table_note(table, "Peaks in TFLOP/s: products in float16 and bfloat16 %s, in float32 %s (TF32 if the device has it), other "
	              "operators %s; memory %s TB/s (%s, without sparsity).", dw_text_number(peaks->half / 1e12).at,
	              dw_text_number(peaks->single / 1e12).at, dw_text_number(peaks->others / 1e12).at,
	              dw_text_number(peaks->bytes / 1e12).at, peaks->source);
	dw_table_note(table, "Bytes are the least: each argument is read once, each result written once. What caches hold makes more than "
	              "100%% of the roof possible.");
	if (roofline->other_ns)
		dw_table_note(table, "Other devices worked for %s: not in the table.", dw_text_ns((double)roofline->other_ns, " ").at);
}

static struct dwell_table *roofline_view(struct dw_model *model, const struct dwell_view_options *options,
                                         struct dwell_error *error)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const struct dw_roofline *roofline = dw_model_roofline(model, error);
	struct dwell_table *table;

	(void)options;
	if (!roofline)
		return NULL;
	if (!roofline->device || !roofline->known_ns) {
		dw_error_set(error, DWELL_E_NO_DATA, "no work of a device belongs to an operator with shapes: record with dwell run "
		                "--shapes, or with record_shapes of torch.profiler");
		return NULL;
	}
	table = DW_VIEW_CHOOSE("roofline", columns, roofline->peaks ? PEAKS : 0, error);
	if (!table)
		return NULL;
	roofline_heads(table, roofline);
	for (size_t i = 0; i < roofline->count; i++) {
		const struct dw_roof_row *from = &roofline->rows[i];
		struct roofline_row row = roofline_cells(roofline, from, symbols[from->symbol].name);
		char *text = dw_shapes_text(symbols[from->symbol].shapes, DW_SHAPES_FOR_PEOPLE);

		table->failed |= !text;
		if (text)
			dw_cell_text(table, &row.shapes, text);
		dw_table_put(table, 0, &row, sizeof row);
		free(text);
	}
	if (roofline_head_steps(table, model, error) == 0)
		return table;
	dw_table_destroy(table);
	return NULL;
}

const struct dw_view dw_view_roofline = {
	.name = "roofline",
	.question = "how near is the device's work for operators to what the device can do?",
	.run = roofline_view,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.row_name = "name",
	.row_ns = "device_ns",
	.limit = 20,
	.reads_steps = true,
	.needs_device = true,
	DW_VIEW_NEEDS_DEVICE,
};
