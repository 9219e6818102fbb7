/*
 * The model's layers as a picture: time, memory or backward time, layer by layer.
 *
 * flamegraph.c calls it for its metrics `layers`, `memory` and `backward`. A layer lies
 * in the one that holds it, with the operators of its own beside the layers in it; what
 * lies in no layer is a block of its own, so that the whole is the operators view's.
 */
#ifndef DW_PICTURES_LAYERS_H
#define DW_PICTURES_LAYERS_H

#include "model/model.h"
#include "pictures/picture.h"

enum dw_layer_picture_of { DW_LAYER_PICTURE_TIME, DW_LAYER_PICTURE_MEMORY, DW_LAYER_PICTURE_BACKWARD };

/* Title NULL: the program's name. Errors: DWELL_E_NOMEM; DWELL_E_NO_DATA: no layers, or
 * nothing of the kind, were recorded. Those of `put` are its own. */
int dw_layer_picture_write(struct dw_model *model, enum dw_layer_picture_of of, const char *title,
                           bool down, dw_put *put, void *to, struct dw_picture_drawn *drawn,
                           struct dwell_error *error);

#endif
