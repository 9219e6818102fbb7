/*
 * Layers as a picture: the time, memory or backward time of each.
 *
 * flamegraph.c calls it for its metrics `layers`, `memory` and `backward`. The children of a layer
 * are its inner layers and its own operators. Operators outside any layer have a block of their
 * own, so that the root is the sum of the view `operators`.
 */
#pragma once

#include "model/model.h"
#include "pictures/picture.h"

enum dw_layer_picture_of { DW_LAYER_PICTURE_TIME, DW_LAYER_PICTURE_MEMORY, DW_LAYER_PICTURE_BACKWARD };

/* `title` defaults to the name of the program. Errors: DWELL_E_NOMEM; DWELL_E_NO_DATA if no
 * layers, or none with this value, were recorded. `put` keeps its own errors. */
int dw_layer_picture_write(struct dw_model *model, enum dw_layer_picture_of of, const char *title,
                           bool down, dw_put *put, void *to, struct dw_picture_drawn *drawn, struct dwell_error *error);
