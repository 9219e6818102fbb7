/* What the layouts lightning and lightning-short share (lightning.c). */
#ifndef DW_LAYOUTS_LIGHTNING_H
#define DW_LAYOUTS_LIGHTNING_H

#include "layouts/layouts.h"

/* SimpleProfiler's report of each stage, `extended` or not. */
int dw_layout_print_lightning(struct dw_model *model, const struct dwell_view_options *options,
                              bool extended, FILE *file, struct dwell_error *error);

#endif
