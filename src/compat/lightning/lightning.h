/* The structures and functions that the files of libdwell-lightning share. */
#ifndef DW_PROFILER_PROFILER_H
#define DW_PROFILER_PROFILER_H

#include <dwell/compat/lightning.h>

#include "base/error.h"

struct dwell_lightning_own {
	struct dwell_profile_options profile; /* the options of a stage's profile */
	struct dwell_profile *open;           /* the profile of the current stage, or NULL */
	bool has_result;
	struct dwell_profile_result result;   /* of the last stage */
	char *stage, *dirpath, *filename;
	char *log_dir;                        /* of dwell_lightning_setup() */
	struct dwell_lightning_options options; /* of a profiler made by name; its texts are not used */
	char *sort_by, *record_functions;
	bool captured;                        /* only captures are recorded */
	bool asked;                           /* dwell_serve_start() was called */
	struct dwell_error failed;            /* why captures are not served; reported at teardown */
};

/* Ends the stage's recording; later records do not belong to it. */
void dw_lightning_end_profile(struct dwell_lightning_own *own);

/* The methods by name, or NULL. builtin.c */
const struct dwell_lightning_methods *dw_lightning_builtin(const char *name);
extern const char dw_lightning_builtin_names[];

/* open.c: the open actions of all threads. Closes those of this profiler and copies the name of
 * one of them to `name`. Returns false if there was none. */
bool dw_lightning_close_open(const struct dwell_lightning_profiler *actions, char *name, size_t room);
/* Called before the profiler is freed: no open action may point to it. */
void dw_lightning_forget_open(const struct dwell_lightning_profiler *actions);

#endif
