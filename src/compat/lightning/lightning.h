/* libdwell-lightning from the inside: what its files share. */
#ifndef DW_PROFILER_PROFILER_H
#define DW_PROFILER_PROFILER_H

#include <dwell/compat/lightning.h>

#include "base/error.h"

struct dwell_lightning_own {
	struct dwell_profile_options profile; /* what a stage records */
	struct dwell_profile *open;           /* the stage's */
	bool has_result;
	struct dwell_profile_result result;   /* of the stage that is over */
	char *stage, *dirpath, *filename;
	char *log_dir;                        /* of dwell_lightning_setup() */
	struct dwell_lightning_options options; /* of a profiler made by name; its texts are not used */
	char *sort_by, *record_functions;
	bool captured;                        /* nothing is recorded but what captures ask for */
	bool asked;                           /* to be served: once */
	struct dwell_error failed;            /* why captures are not served; told at the stage's end */
	bool made;                            /* by name: the library's memory */
};

/* What comes from here on is not the stage's. */
void dw_lightning_end_profile(struct dwell_lightning_own *own);

/* The methods by name, or NULL. builtin.c */
const struct dwell_lightning_methods *dw_lightning_builtin(const char *name);
extern const char dw_lightning_builtin_names[];

/* open.c: the actions that threads have open. Closes this thread's; the name of one that
 * was left open goes to `name`. False: there was none. */
bool dw_lightning_close_open(const struct dwell_lightning_profiler *actions, char *name, size_t room);
/* The profiler goes: its memory may become another's. */
void dw_lightning_forget_open(const struct dwell_lightning_profiler *actions);

#endif
