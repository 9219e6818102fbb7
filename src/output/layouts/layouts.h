/*
 * Layouts: the exact printouts of other profilers, made from our traces.
 *
 * `dwell report --layout NAME` prints one instead of a view. A layout is a file NAME.c, which
 * defines dw_layout_NAME, and a line in layouts.def. It asks the model for products, as views
 * do, and writes text. It copies the form of the original, not its mistakes: doc/how/from-TOOL.md lists
 * the intended differences. The name may have a version of the original after a colon
 * ("torch:1.13").
 *
 * Called by the facade (src/interfaces/trace) and the command.
 */
#pragma once

#include "dwell/trace.h"
#include "model/model.h"

struct dw_layout_request {
	const char *version; /* the part of the name after the colon, or NULL */
	/* Never NULL. An option that is not set has the default of the original. */
	const struct dwell_view_options *options;
};

struct dw_layout {
	const char *name;
	const char *what;
	/* The caller checks the file for errors. If the result is 0, a message with code 0 in `error`
	 * is a note about the output. */
	int (*print)(struct dw_model *model, const struct dw_layout_request *request, FILE *file,
	             struct dwell_error *error);
};

/* The layouts in the order of layouts.def; NULL past the end. */
const struct dw_layout *dw_layout_at(size_t index);
/* Finds "torch:1.13" and sets *version to what follows the colon, within `name`, or to NULL.
 * Returns NULL, and names the nearest layout in `error`, if there is none. */
const struct dw_layout *dw_layout_find(const char *name, const char **version, struct dwell_error *error);
/* Whether the texts in `options` can be read: 0, DWELL_E_NAME or DWELL_E_ARGUMENT. */
int dw_layout_check(const struct dwell_view_options *options, struct dwell_error *error);
/* Prints a layout. Control characters in recorded names are printed as text, so that they do
 * not reach a terminal. */
int dw_layout_run(const struct dw_layout *layout, struct dw_model *model,
                  const struct dw_layout_request *request, FILE *file, struct dwell_error *error);

/* ---- for the layouts -------------------------------------------------------------------- */

/* The number of rows that the caller requested, or the default of the original. */
static inline size_t dw_layout_rows(const struct dwell_view_options *options, size_t own)
{
	return options->limit == DWELL_NO_ROWS ? 0 : options->limit ? options->limit : own;
}

/* Most characters of a cell, by column. */
struct dw_layout_widths {
	unsigned name, shapes, source;
};
/* Reads "name=40,shapes=120" and leaves the others as they are. Errors: DWELL_E_ARGUMENT. */
int dw_layout_parse_widths(const char *text, struct dw_layout_widths *widths, struct dwell_error *error);

#define LAYOUT(name) extern const struct dw_layout dw_layout_##name;
#include "layouts/layouts.def"
#undef LAYOUT
