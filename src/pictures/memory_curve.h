/*
 * Memory over time by what it is for, as a picture.
 *
 * The exporters' registry calls it (format "memory"). A panel a device of a process,
 * the fullest on top; steps begin at the lines; below stands who held the peak.
 */
#ifndef DW_PICTURES_MEMORY_CURVE_H
#define DW_PICTURES_MEMORY_CURVE_H

#include "model/model.h"
#include "pictures/curve.h"

/* Title NULL: the program's name. Errors: DWELL_E_NOMEM; DWELL_E_NO_DATA: no allocation
 * was recorded. Those of `put` are its own. */
int dw_memory_curve_write(struct dw_model *model, const char *title, dw_put *put, void *to,
                          struct dwell_error *error);

#endif
