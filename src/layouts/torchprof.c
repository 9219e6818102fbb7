/*
 * torchprof: the listing of torchprof's display(), from our layers.
 *
 * Leaves have figures, other modules none, as there. Self is the operators' own time, so
 * that the total of a leaf is its wall time in operators, where torchprof adds nested
 * operators again; lines are drawn to the siblings that follow.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "layouts/layouts.h"
#include "model/layers.h"

#define COLUMNS 6
#define CELL 48

static const char *const titles[COLUMNS] = { "Module", "Self CPU total", "CPU total",
	"Self CPU Mem", "CPU Mem", "Number of Calls" };

static void put_time(char *cell, uint64_t ns)
{
	if (ns >= 1000000000)
		snprintf(cell, CELL, "%.3fs", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(cell, CELL, "%.3fms", (double)ns / 1e6);
	else
		snprintf(cell, CELL, "%.3fus", (double)ns / 1e3);
}

static void put_bytes(char *cell, int64_t bytes)
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

/* Whether a sibling of the layer, or of the one above it at `depth`, follows. */
static bool has_next(const struct dw_layers *layers, size_t index, uint32_t depth)
{
	for (size_t i = index + 1; i < layers->count && layers->rows[i].depth >= depth; i++)
		if (layers->rows[i].depth == depth)
			return true;
	return false;
}

static void put_lines(const struct dw_layers *layers, size_t index, FILE *file)
{
	uint32_t depth = layers->rows[index].depth;

	for (uint32_t outer = 1; outer < depth; outer++)
		fputs(has_next(layers, index, outer) ? "│" : " ", file);
	if (depth)
		fputs(has_next(layers, index, depth) ? "├── " : "└── ", file);
}

static size_t width_of(const struct dw_layer *layer)
{
	size_t width = layer->depth ? layer->depth + 3 : 0;
	const char *at = layer->name;
	uint32_t code;

	while ((code = dw_utf8_next(&at)))
		width += dw_utf8_columns(code);
	return width;
}

static void fill(char cells[COLUMNS][CELL], const struct dw_layers *layers, size_t index)
{
	const struct dw_layer *layer = &layers->rows[index];
	bool leaf = index + 1 == layers->count || layer[1].depth <= layer->depth;

	memset(cells, 0, COLUMNS * CELL);
	if (!leaf)
		return;
	put_time(cells[1], layer->own.operators_ns);
	put_time(cells[2], layer->all.operators_ns);
	put_bytes(cells[3], layer->own.bytes);
	put_bytes(cells[4], layer->all.bytes);
	snprintf(cells[5], CELL, "%llu", (unsigned long long)layer->calls);
}

static void put_row(char cells[COLUMNS][CELL], const size_t *widths, FILE *file)
{
	for (size_t i = 1; i < COLUMNS; i++)
		if (widths[i])
			fprintf(file, " | %-*s", (int)widths[i], cells[i]);
	fputc('\n', file);
}

static void measure(const struct dw_layers *layers, size_t *widths)
{
	char cells[COLUMNS][CELL];

	for (size_t i = 0; i < COLUMNS; i++)
		widths[i] = strlen(titles[i]);
	for (size_t row = 0; row < layers->count; row++) {
		size_t name = width_of(&layers->rows[row]);

		widths[0] = name > widths[0] ? name : widths[0];
		fill(cells, layers, row);
		for (size_t i = 1; i < COLUMNS; i++)
			widths[i] = strlen(cells[i]) > widths[i] ? strlen(cells[i]) : widths[i];
	}
	if (!layers->has_memory)
		widths[3] = widths[4] = 0;
}

int dw_layout_torchprof(struct dw_model *model, const struct dw_layout_options *options, FILE *file,
                        struct dwell_error *error)
{
	const struct dw_layers *layers = dw_model_layers(model, error);
	char cells[COLUMNS][CELL];
	size_t widths[COLUMNS];

	if (!layers)
		return DWELL_E_NOMEM;
	if (options->version)
		return dw_error_set(error, DWELL_E_NAME, "the layout torchprof has no version '%.40s'",
		                    options->version);
	if (!layers->count)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "no layers were recorded: mark each layer's call with DWELL_LAYER(\"path\")");
	measure(layers, widths);
	for (size_t i = 0; i < COLUMNS; i++)
		snprintf(cells[i], CELL, "%s", titles[i]);
	fprintf(file, "%-*s", (int)widths[0], titles[0]);
	put_row(cells, widths, file);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (i && widths[i])
			fputs("-|-", file);
		for (size_t dash = 0; dash < widths[i]; dash++)
			fputc('-', file);
	}
	fputc('\n', file);
	for (size_t row = 0; row < layers->count; row++) {
		put_lines(layers, row, file);
		fprintf(file, "%s%*s", layers->rows[row].name,
		        (int)(widths[0] - width_of(&layers->rows[row])), "");
		fill(cells, layers, row);
		put_row(cells, widths, file);
	}
	return 0;
}
