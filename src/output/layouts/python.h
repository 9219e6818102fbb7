/*
 * Functions that the layouts of Python's profilers share: printing numbers like Python, and a
 * report for each stage of a trainer.
 */
#pragma once

#include "layouts/layouts.h"

/* f"{value:.{digits}}" */
void dw_layout_python_real(char text[32], double value, int digits);
/* Python's len(text): the number of code points in `bytes` bytes. */
size_t dw_layout_characters(const char *text, size_t bytes);

/* Prints "FIT Profiler Report\n", or "Profiler Report\n" if `stage` is NULL. */
void dw_layout_put_stage(FILE *file, const char *stage);

/*
 * Calls `print` for each stage of the trace, with a model of that stage. If the scope is a profile
 * or the trace has no stages, calls it once, with `model` and the stage that is the scope, or NULL.
 */
typedef int dw_layout_stage(struct dw_model *model, const char *stage, FILE *file, void *context,
                            struct dwell_error *error);
int dw_layout_stages(struct dw_model *model, dw_layout_stage *print, FILE *file, void *context,
                     struct dwell_error *error);
