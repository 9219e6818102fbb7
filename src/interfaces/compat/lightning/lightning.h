/* The structures and functions that the files of libdwell-lightning share. */
#pragma once

#include <dwell/compat/lightning.h>

#include "base/error.h"

struct dwell_lightning_own {
	struct dwell_profile_options profile; /* the options of a stage's profile */
	struct dwell_profile *open;           /* the profile of the current stage, or NULL */
	bool has_result;
	struct dwell_profile_result result;   /* of the last stage */
	char *stage, *dirpath, *filename;
	char *log_dir;                        /* of dwell_lightning_setup() */
	struct dwell_lightning_options options; /* of a profiler that was created by name; the copies
	                                         * below are used instead of its texts */
	char *sort_by, *record_functions;
	bool captured;                        /* records only captures (the profiler "xla") */
	bool asked;                           /* dwell_serve_start() was called */
	struct dwell_error failed;            /* why captures are not served; reported at teardown */
};

/* Ends the stage's recording; later records do not belong to it. */
void dw_lightning_end_profile(struct dwell_lightning_own *own);

/* builtin.c: the methods of the profiler with this name, or NULL. */
const struct dwell_lightning_methods *dw_lightning_builtin(const char *name);
extern const char dw_lightning_builtin_names[];

/* open.c: closes the open actions of this profiler in all threads. Copies the name of one of them
 * to `name`, which has `room` bytes. Returns false if no action was open. */
bool dw_lightning_close_open(const struct dwell_lightning_profiler *actions, char *name, size_t room);
/* Called before the profiler is freed: no open action may point to it. */
void dw_lightning_forget_open(const struct dwell_lightning_profiler *actions);
