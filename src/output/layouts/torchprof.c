/*
 * torchprof: the listing of torchprof's display(), made from our layers.
 *
 * As in torchprof, only some modules have figures: the leaves or, with paths, the layers that these
 * name, each with the layers below it. With events, each of them is followed by a row for each
 * operator by name, in order of their first calls.
 *
 * Unlike in torchprof, the total of a layer is the sum of its operators' self times, which is the
 * time of its outermost operators; torchprof adds nested operators again. Lines are drawn only to
 * siblings that follow. A path that names no layer is an error.
 *
 * A pass from the last row to the first finds the rows with a next sibling: those whose depth
 * occurred since the last shallower row. So the cost of a listing does not depend on its depth.
 */

#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "layouts/layouts.h"
#include "model/layers/layers.h"

enum { MODULE, SELF_CPU, CPU, SELF_DEVICE, DEVICE, SELF_MEMORY, MEMORY, SELF_DEVICE_MEMORY, DEVICE_MEMORY,
       CALLS, COLUMNS };
#define CELL 48

static const char *const titles[COLUMNS] = { "Module", "Self CPU total", "CPU total",
	"Self CUDA total", "CUDA total", "Self CPU Mem", "CPU Mem", "Self CUDA Mem", "CUDA Mem",
	"Number of Calls" };

struct row {
	const char *name;
	uint32_t depth;
	bool measured, has_next;
	uint64_t self_ns, total_ns, device_ns, device_total_ns, calls;
	int64_t self_bytes, total_bytes, device_bytes, device_total_bytes;
};

struct listing {
	const struct dw_layers *layers;
	const enum dw_layer_choice *choices;
	bool events, by_path;
	struct row *rows;
	size_t count, capacity;
	size_t widths[COLUMNS]; /* 0 means the column is left out */
	uint32_t deepest;
	bool failed;
};

/* ---- rows ------------------------------------------------------------------------------ */

static struct row *torchprof_add_row(struct listing *listing, const char *name, uint32_t depth)
{
	struct row *row = listing->failed ? NULL : DW_GROW(&listing->rows, &listing->capacity, listing->count);

	if (!row) {
		listing->failed = true;
		return NULL;
	}
	row->name = name;
	row->depth = depth;
	if (depth > listing->deepest)
		listing->deepest = depth;
	listing->count++;
	return row;
}

static void torchprof_add_operator(struct listing *listing, const struct dw_layer_operator *operator,
                                   size_t first, uint32_t depth)
{
	const struct dw_layers *layers = listing->layers;
	struct row *row = NULL;

	if (!operator->calls)
		return; /* it was called in the backward pass only */
	for (size_t i = first; i < listing->count && !row; i++)
		if (strcmp(listing->rows[i].name, operator->name) == 0)
			row = &listing->rows[i];
	if (!row)
		row = torchprof_add_row(listing, operator->name, depth);
	if (!row)
		return;
	row->measured = true;
	row->self_ns += operator->own.operators_ns;
	row->total_ns += operator->total_ns;
	row->device_ns += operator->own.device_ns;
	row->device_total_ns += layers->has_device_events ? operator->device_total_ns : operator->own.device_ns;
	row->self_bytes += operator->own.bytes;
	row->total_bytes += operator->total_bytes;
	row->device_bytes += operator->own.device_bytes;
	row->device_total_bytes += operator->device_total_bytes;
	row->calls += operator->calls;
}

/* Adds a row for each operator of the layer and of the layers below it, by name. */
static void torchprof_add_operators(struct listing *listing, size_t index)
{
	const struct dw_layers *layers = listing->layers;
	uint32_t depth = layers->rows[index].depth;
	size_t first = listing->count, i = index;

	do {
		struct dw_layer_operators from = layers->rows[i].operators;

		for (size_t o = from.first; o < from.first + from.count; o++)
			torchprof_add_operator(listing, &layers->operators[o], first, depth + 1);
	} while (++i < layers->count && layers->rows[i].depth > depth);
}

static void torchprof_add_layer(struct listing *listing, size_t index)
{
	const struct dw_layer *layer = &listing->layers->rows[index];
	struct row *row = torchprof_add_row(listing, layer->name, layer->depth);

	if (!row || !(listing->by_path ? listing->choices[index] == DW_LAYER_CHOSEN : layer->leaf))
		return;
	if (listing->events) { /* the operators have the figures, not the layer */
		torchprof_add_operators(listing, index);
		return;
	}
	row->measured = true;
	row->self_ns = row->total_ns = layer->all.operators_ns;
	row->device_ns = row->device_total_ns = layer->all.device_ns;
	row->self_bytes = row->total_bytes = layer->all.bytes;
	row->device_bytes = row->device_total_bytes = layer->all.device_bytes;
	row->calls = layer->calls;
}

/* Finds the rows that have a next sibling; see above. */
static bool torchprof_find_next(struct listing *listing)
{
	bool *met = calloc(listing->deepest + 2, sizeof *met);
	uint32_t deepest = 0;

	if (!met)
		return false;
	for (size_t i = listing->count; i-- > 0;) {
		struct row *row = &listing->rows[i];

		for (; deepest > row->depth; deepest--)
			met[deepest] = false;
		deepest = row->depth;
		row->has_next = met[row->depth];
		met[row->depth] = true;
	}
	free(met);
	return true;
}

/* ---- cells ------------------------------------------------------------------------------- */

static void torchprof_put_time(char *cell, uint64_t ns)
{
	if (ns >= 1000000000)
		snprintf(cell, CELL, "%.3fs", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(cell, CELL, "%.3fms", (double)ns / 1e6);
	else
		snprintf(cell, CELL, "%.3fus", (double)ns / 1e3);
}

static void torchprof_put_bytes(char *cell, int64_t bytes)
{
	static const char *const units[] = { "Kb", "Mb", "Gb" };
	double size = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes > -1024 && bytes < 1024) {
		snprintf(cell, CELL, "%d b", (int)bytes);
		return;
	}
	for (; unit < 2 && (size >= 1024 || size <= -1024); unit++)
		size /= 1024;
	snprintf(cell, CELL, "%.2f %s", size, units[unit]);
}

static void torchprof_fill_rows(char cells[COLUMNS][CELL], const struct row *row)
{
	memset(cells, 0, COLUMNS * CELL);
	if (!row->measured)
		return;
	torchprof_put_time(cells[SELF_CPU], row->self_ns);
	torchprof_put_time(cells[CPU], row->total_ns);
	torchprof_put_time(cells[SELF_DEVICE], row->device_ns);
	torchprof_put_time(cells[DEVICE], row->device_total_ns);
	torchprof_put_bytes(cells[SELF_MEMORY], row->self_bytes);
	torchprof_put_bytes(cells[MEMORY], row->total_bytes);
	torchprof_put_bytes(cells[SELF_DEVICE_MEMORY], row->device_bytes);
	torchprof_put_bytes(cells[DEVICE_MEMORY], row->device_total_bytes);
	snprintf(cells[CALLS], CELL, "%llu", (unsigned long long)row->calls);
}

static size_t torchprof_width_of(const struct row *row)
{
	size_t width = row->depth ? row->depth + 3 : 0;
	const char *at = row->name;
	uint32_t code;

	while ((code = dw_utf8_next(&at)))
		width += dw_utf8_columns(code);
	return width;
}

static void torchprof_measure_widths(struct listing *listing)
{
	size_t *widths = listing->widths;
	char cells[COLUMNS][CELL];

	for (size_t i = 0; i < COLUMNS; i++)
		widths[i] = strlen(titles[i]);
	for (size_t row = 0; row < listing->count; row++) {
		size_t name = torchprof_width_of(&listing->rows[row]);

		widths[MODULE] = name > widths[MODULE] ? name : widths[MODULE];
		torchprof_fill_rows(cells, &listing->rows[row]);
		for (size_t i = 1; i < COLUMNS; i++)
			widths[i] = strlen(cells[i]) > widths[i] ? strlen(cells[i]) : widths[i];
	}
	if (!listing->layers->has_memory)
		widths[SELF_MEMORY] = widths[MEMORY] = 0;
	if (!listing->layers->has_device_memory)
		widths[SELF_DEVICE_MEMORY] = widths[DEVICE_MEMORY] = 0;
	if (!listing->layers->has_device)
		widths[SELF_DEVICE] = widths[DEVICE] = 0;
}

/* ---- lines ------------------------------------------------------------------------------- */

static void torchprof_put_row(char cells[COLUMNS][CELL], const size_t *widths, FILE *file)
{
	for (size_t i = 1; i < COLUMNS; i++)
		if (widths[i])
			fprintf(file, " | %-*s", (int)widths[i], cells[i]);
	fputc('\n', file);
}

static void torchprof_put_head(const size_t *widths, FILE *file)
{
	char cells[COLUMNS][CELL];

	for (size_t i = 0; i < COLUMNS; i++)
		snprintf(cells[i], CELL, "%s", titles[i]);
	fprintf(file, "%-*s", (int)widths[MODULE], titles[MODULE]);
	torchprof_put_row(cells, widths, file);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (i && widths[i])
			fputs("-|-", file);
		for (size_t dash = 0; dash < widths[i]; dash++)
			fputc('-', file);
	}
	fputc('\n', file);
}

/* `goes_on`: by depth, whether the last row of that depth has a next sibling. */
static void torchprof_put_rows(const struct listing *listing, bool *goes_on, FILE *file)
{
	char cells[COLUMNS][CELL];

	for (size_t i = 0; i < listing->count; i++) {
		const struct row *row = &listing->rows[i];

		for (uint32_t outer = 1; outer < row->depth; outer++)
			fputs(goes_on[outer] ? "│" : " ", file);
		goes_on[row->depth] = row->has_next;
		if (row->depth)
			fputs(row->has_next ? "├── " : "└── ", file);
		fprintf(file, "%s%*s", row->name, (int)(listing->widths[MODULE] - torchprof_width_of(row)), "");
		torchprof_fill_rows(cells, row);
		torchprof_put_row(cells, listing->widths, file);
	}
}

static int torchprof_print_table(struct listing *listing, FILE *file, struct dwell_error *error)
{
	bool *goes_on;

	for (size_t i = 0; i < listing->layers->count; i++)
		torchprof_add_layer(listing, i);
	goes_on = calloc(listing->deepest + 2, sizeof *goes_on);
	if (listing->failed || !goes_on || !torchprof_find_next(listing)) {
		free(goes_on);
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory printing layers");
	}
	torchprof_measure_widths(listing);
	torchprof_put_head(listing->widths, file);
	torchprof_put_rows(listing, goes_on, file);
	free(goes_on);
	return 0;
}

static int torchprof_print(struct dw_model *model, const struct dw_layout_request *request, FILE *file,
                           struct dwell_error *error)
{
	const struct dwell_view_options *options = request->options;
	const struct dw_layers_ask ask = { .operators = options->events, .uncalled = true };
	struct listing listing = { .events = options->events, .by_path = options->paths != NULL };
	enum dw_layer_choice *choices;
	int result;

	if (request->version)
		return dw_error_set(error, DWELL_E_NAME, "the layout torchprof has no version '%.40s'", request->version);
	listing.layers = dw_model_layers(model, &ask, error);
	if (!listing.layers)
		return DWELL_E_NOMEM;
	if (!listing.layers->count)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "no layers were recorded: mark each layer's call with DWELL_LAYER(\"path\")");
	result = dw_layers_choose(model, listing.layers, options->paths, &choices, error);
	if (result)
		return result;
	listing.choices = choices;
	result = torchprof_print_table(&listing, file, error);
	free(listing.rows);
	return result;
}

const struct dw_layout dw_layout_torchprof = {
	.name = "torchprof", .what = "torchprof's tree of modules", .print = torchprof_print,
};
