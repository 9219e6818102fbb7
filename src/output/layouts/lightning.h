/* The function that the layouts lightning and lightning-short share (lightning.c). */
#pragma once

#include "layouts/layouts.h"

/* Prints SimpleProfiler's report of each stage, the extended one if `extended` is set. */
int dw_layout_print_lightning(struct dw_model *model, const struct dwell_view_options *options,
                              bool extended, FILE *file, struct dwell_error *error);
