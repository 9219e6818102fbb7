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

/* What a function of samples is, in words of the account (account/kinds.h), with the hue that these have on pages. */
#define DW_FRAME_KINDS(X) \
	X(UNKNOWN, "not known", GREY) /* of no file, and without a name */ \
	X(OWN, "own code", AMBER) \
	X(LIBRARY, "code of libraries", GREEN) \
	X(INTERPRETER, "interpreter", STONE) /* of Python, with Python's own modules */ \
	X(SYSTEM, "operating system", SLATE) \
	X(PROFILER, "profiler", SLATE)
enum dw_frame_kind {
#define X(name, words, hue) DW_FRAME_##name,
	DW_FRAME_KINDS(X)
#undef X
	DW_FRAME_KIND_COUNT
};
const char *dw_frame_kind_name(enum dw_frame_kind kind);
/* The kinds of the functions among symbols, which are the model's and then functions, as paths and charts of samples have them.
 * Functions of one name have that of the first which is known. The caller frees it. NULL: out of memory. */
uint8_t *dw_frame_kinds(struct dw_model *model, const struct dw_symbol *symbols, size_t count);
