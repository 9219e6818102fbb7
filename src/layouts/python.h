/*
 * What the layouts of Python's profilers share: numbers as Python writes them, and one
 * report a stage of a trainer.
 */
#ifndef DW_LAYOUTS_PYTHON_H
#define DW_LAYOUTS_PYTHON_H

#include "layouts/layouts.h"

/* f"{value:.{digits}}" */
void dw_layout_python_real(char text[32], double value, int digits);
/* len(text): code points in so many bytes. */
size_t dw_layout_characters(const char *text, size_t bytes);

/* "FIT Profiler Report\n"; no stage: without its name. */
void dw_layout_put_stage(FILE *file, const char *stage);

/*
 * Calls `print` once for each stage that the trace has, with a model of that stage; once
 * with `model` itself and the scope's own stage (or NULL) when the scope is a profile
 * already or the trace has no stages.
 */
typedef int dw_layout_stage(struct dw_model *model, const char *stage, FILE *file, void *context,
                            struct dwell_error *error);
int dw_layout_stages(struct dw_model *model, dw_layout_stage *print, FILE *file, void *context,
                     struct dwell_error *error);

#endif
