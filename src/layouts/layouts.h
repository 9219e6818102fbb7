/*
 * Layouts: the printouts of other profilers, from our traces, to the letter.
 *
 * `dwell report --layout NAME` prints one in place of a view. A layout is a file and a
 * line in layouts.c; it asks the model for products, as views do, and writes text. It
 * copies an original's form, not its mistakes: what is meant to differ is said in
 * doc/from-TOOL.md. After a colon the name may carry a version of the original
 * ("torch:1.13").
 *
 * Called by the facade (src/trace).
 */
#ifndef DW_LAYOUTS_LAYOUTS_H
#define DW_LAYOUTS_LAYOUTS_H

#include <stdio.h>

#include "model/model.h"

struct dw_layout_options {
	const char *version;   /* what stands after the colon, or NULL: the newest */
	/* As for a view. */
	const char *sort;      /* as the original calls it, or a view's column; NULL: its own order */
	bool has_limit;
	size_t limit;          /* rows; SIZE_MAX: all */
	struct dw_grouping group;
	bool top_level;
	/* Zeros and NULLs are the original's own defaults. */
	const char *header;    /* a line above */
	const char *time_unit; /* "s", "ms", "us" */
	const char *engine;    /* of several nested engines, this one */
	unsigned name_width, shapes_width, source_width;
	bool has_verbosity;    /* else what the trace says */
	unsigned verbosity;
	bool has_skip_iteration; /* else what the trace says */
	uint64_t skip_iteration;
	bool events;           /* of layers: as for a view */
	const char *paths;
};

struct dw_layout {
	const char *name;
	const char *what;
	/* Errors of the file are found by the caller. With result 0, a message with code 0 in
	 * `error` is a note about what was printed. */
	int (*print)(struct dw_model *model, const struct dw_layout_options *options, FILE *file,
	             struct dwell_error *error);
};

/* NULL past the end. */
const struct dw_layout *dw_layout_at(size_t index);
/* "torch:1.13": *version (or NULL) lies in `name`. NULL with the nearest in `error`. */
const struct dw_layout *dw_layout_find(const char *name, const char **version,
                                       struct dwell_error *error);

/* ---- the layouts, for the registry -------------------------------------------------- */

int dw_layout_ignite(struct dw_model *model, const struct dw_layout_options *options, FILE *file,
                     struct dwell_error *error);
int dw_layout_singa(struct dw_model *model, const struct dw_layout_options *options, FILE *file,
                    struct dwell_error *error);
int dw_layout_torch(struct dw_model *model, const struct dw_layout_options *options, FILE *file,
                    struct dwell_error *error);
int dw_layout_torchprof(struct dw_model *model, const struct dw_layout_options *options,
                        FILE *file, struct dwell_error *error);
int dw_layout_lightning(struct dw_model *model, const struct dw_layout_options *options,
                        FILE *file, struct dwell_error *error);
int dw_layout_lightning_short(struct dw_model *model, const struct dw_layout_options *options,
                              FILE *file, struct dwell_error *error);
int dw_layout_lightning_pytorch(struct dw_model *model, const struct dw_layout_options *options,
                                FILE *file, struct dwell_error *error);
int dw_layout_pstats(struct dw_model *model, const struct dw_layout_options *options, FILE *file,
                     struct dwell_error *error);

#endif
