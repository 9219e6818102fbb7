/*
 * The call tree as a picture: a flame graph, or an icicle when it grows downwards.
 *
 * export/export.c calls it (formats "flamegraph" and "icicle"). The root is all threads together.
 * The threads are its children, and the outermost ranges of a thread are the children of the
 * thread. Widths are time, so those of several threads sum to more than the duration of the run.
 */
#pragma once

#include "model/model.h"
#include "pictures/picture.h"

struct dw_flamegraph_options {
	const char *title;   /* NULL: the program's name */
	const char *metric;  /* NULL: "time"; see dw_flamegraph_write() */
	bool down;           /* an icicle */
};

/*
 * The metric selects the nodes and their widths: "time", all ranges and their time; "self_cpu" (or
 * PyTorch's name of it), operators within the functions of their call stacks and their self
 * time; "layers", "memory" and "backward", layers and their time, memory or backward time.
 * `options` may be NULL. Errors: DWELL_E_NOMEM; DWELL_E_NAME for an unknown metric;
 * DWELL_E_NO_DATA if the data was not recorded. `put` keeps its own errors.
 */
int dw_flamegraph_write(struct dw_model *model, const struct dw_flamegraph_options *options,
                        dw_put *put, void *to, struct dw_picture_drawn *drawn,
                        struct dwell_error *error);
