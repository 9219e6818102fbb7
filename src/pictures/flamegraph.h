/*
 * The call tree as a picture: a flame graph, or an icicle when it goes down.
 *
 * The exporters' registry calls it (formats "flamegraph" and "icicle"). The whole is
 * all threads together; each thread lies in it with its outermost ranges on it. Widths
 * are time, so of several threads they add up to more than the run took.
 */
#ifndef DW_PICTURES_FLAMEGRAPH_H
#define DW_PICTURES_FLAMEGRAPH_H

#include "model/model.h"
#include "pictures/picture.h"

struct dw_flamegraph_options {
	const char *title;   /* NULL: the program's name */
	const char *metric;  /* NULL: "time"; see dw_flamegraph_write() */
	bool down;           /* an icicle */
};

/*
 * Widths are the time of all ranges ("time"), or of operators, below the functions of the
 * stacks that they were called from ("self_cpu", and what PyTorch calls it); or the nodes
 * are layers and widths their time, memory or backward ("layers", "memory", "backward").
 * `options` may be NULL. Errors: DWELL_E_NOMEM; DWELL_E_NAME: no such metric;
 * DWELL_E_NO_DATA: what is wanted was not recorded. Those of `put` are its own.
 */
int dw_flamegraph_write(struct dw_model *model, const struct dw_flamegraph_options *options,
                        dw_put *put, void *to, struct dw_picture_drawn *drawn,
                        struct dwell_error *error);

#endif
