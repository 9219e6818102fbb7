/*
 * Memory over time by kind, as a picture.
 *
 * export/export.c calls it (format "memory"). Each device of a process has a panel, the one
 * with the most memory on top. Lines show where steps begin. Below the panels are the holders
 * of the peak.
 */
#pragma once

#include "model/model.h"
#include "pictures/curve.h"

/* `title` defaults to the name of the program. Errors: DWELL_E_NOMEM; DWELL_E_NO_DATA if no
 * allocation was recorded. `put` keeps its own errors. */
int dw_memory_curve_write(struct dw_model *model, const char *title, dw_put *put, void *to, struct dwell_error *error);
