/*
 * Creates and destroys profilers, and begins and ends their stages.
 *
 * A stage is a profile object of <dwell/dwell.h> with the name of the stage. The profile is open
 * between setup and teardown. After that, reports use its result.
 */
#include "compat/lightning/lightning.h"

#include <stdlib.h>
#include <string.h>

/* Replaces *to by a copy of `from`, which may be NULL. False when out of memory. */
static bool profiler_copy_text(char **to, const char *from)
{
	char *text = from ? strdup(from) : NULL;

	if (from && !text)
		return false;
	free(*to);
	*to = text;
	return true;
}

/* ---- create and destroy ------------------------------------------------------------------- */

int dwell_lightning_init(struct dwell_lightning_profiler *actions, const struct dwell_lightning_methods *methods,
                         const char *dirpath, const char *filename, struct dwell_error *error)
{
	static const struct dwell_profile_options defaults = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_lightning_own *own;

	if (!methods || methods->size != sizeof *methods)
		return dw_error_set(error, DWELL_E_ARGUMENT, "dwell_lightning_methods.size is %zu, not %zu",
		                    methods ? methods->size : 0, sizeof *methods);
	own = calloc(1, sizeof *own);
	if (!own || !profiler_copy_text(&own->dirpath, dirpath) || !profiler_copy_text(&own->filename, filename)) {
		if (own)
			free(own->dirpath);
		free(own);
		return dw_error_set(error, DWELL_E_NOMEM, "no memory for a profiler");
	}
	own->profile = defaults;
	*actions = (struct dwell_lightning_profiler){ .methods = methods, .records = true, .local_rank = -1,
		.dirpath = own->dirpath, .filename = own->filename, .own = own };
	return 0;
}

static void profiler_free_own(struct dwell_lightning_own *own)
{
	dwell_profile_destroy(own->open);
	free(own->stage);
	free(own->dirpath);
	free(own->filename);
	free(own->log_dir);
	free(own->sort_by);
	free(own->record_functions);
	free(own);
}

void dwell_lightning_reset(struct dwell_lightning_profiler *actions)
{
	if (!actions || !actions->own)
		return;
	if (actions->stage)
		dwell_lightning_teardown(actions, NULL);
	dw_lightning_forget_open(actions);
	profiler_free_own(actions->own);
	actions->own = NULL;
}

void dwell_lightning_destroy(struct dwell_lightning_profiler *actions)
{
	if (!actions)
		return;
	dwell_lightning_reset(actions);
	free(actions);
}

struct dwell_lightning_profiler *dwell_lightning_create(const char *name, const struct dwell_lightning_options *options,
                                                        struct dwell_error *error)
{
	static const struct dwell_lightning_options defaults = DWELL_LIGHTNING_OPTIONS_INIT;
	const struct dwell_lightning_methods *methods = dw_lightning_builtin(name);
	struct dwell_lightning_profiler *actions;

	if (!options)
		options = &defaults;
	if (!methods) {
		dw_error_set(error, DWELL_E_NAME, "no profiler '%.100s': there are %s", name, dw_lightning_builtin_names);
		return NULL;
	}
	if (options->size != sizeof *options || !(options->line_restriction >= 0)) {
		dw_error_set(error, DWELL_E_ARGUMENT, "dwell_lightning_options: use DWELL_LIGHTNING_OPTIONS_INIT, and a "
		             "line_restriction of 0 or more");
		return NULL;
	}
	actions = malloc(sizeof *actions);
	if (!actions) {
		dw_error_set(error, DWELL_E_NOMEM, "no memory for a profiler");
		return NULL;
	}
	if (dwell_lightning_init(actions, methods, options->dirpath, options->filename, error)) {
		free(actions);
		return NULL;
	}
	if (!profiler_copy_text(&actions->own->sort_by, options->sort_by) ||
	    !profiler_copy_text(&actions->own->record_functions, options->record_functions)) {
		dw_error_set(error, DWELL_E_NOMEM, "no memory for a profiler");
		dwell_lightning_destroy(actions);
		return NULL;
	}
	actions->own->options = *options;
	if (options->profile)
		actions->own->profile = *options->profile;
	actions->own->options.profile = NULL;
	actions->records = strcmp(methods->name, "none") != 0;
	return actions;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static int profiler_begin_stage(struct dwell_lightning_profiler *actions, struct dwell_error *error)
{
	struct dwell_lightning_own *own = actions->own;
	int code = 0;

	if (actions->methods->setup)
		code = actions->methods->setup(actions, error);
	own->has_result = false;
	if (code || !actions->records || own->captured)
		return code;
	own->profile.name = own->stage;
	own->open = dwell_profile_create(&own->profile, error);
	return own->open ? dwell_profile_start(own->open, error) : error->code;
}

int dwell_lightning_setup(struct dwell_lightning_profiler *actions, const char *stage, int local_rank,
                          const char *log_dir, struct dwell_error *error)
{
	struct dwell_error unused = { 0, "" };
	struct dwell_lightning_own *own = actions ? actions->own : NULL;
	int code;

	if (!actions)
		return 0;
	if (actions->stage)
		return dw_error_set(error, DWELL_E_STATE, "the profiler is in stage '%.100s': tear that down first",
		                    actions->stage);
	if (!profiler_copy_text(&own->stage, stage) || (log_dir && !profiler_copy_text(&own->log_dir, log_dir)))
		return dw_error_set(error, DWELL_E_NOMEM, "no memory for a stage");
	actions->stage = own->stage;
	actions->local_rank = local_rank < 0 ? -1 : local_rank;
	if (!own->dirpath && own->log_dir)
		actions->dirpath = own->log_dir;
	code = profiler_begin_stage(actions, error ? error : &unused);
	if (code) {
		dwell_profile_destroy(own->open);
		own->open = NULL;
		actions->stage = NULL;
	}
	return code;
}

int dwell_lightning_summary(struct dwell_lightning_profiler *actions, FILE *file, struct dwell_error *error)
{
	struct dwell_error unused = { 0, "" };

	if (!actions || !actions->methods->summary)
		return 0;
	return actions->methods->summary(actions, file, error ? error : &unused);
}

void dw_lightning_end_profile(struct dwell_lightning_own *own)
{
	if (!own->open)
		return;
	dwell_profile_stop(own->open, NULL);
	own->has_result = dwell_profile_result(own->open, &own->result, NULL) == 0;
	dwell_profile_destroy(own->open);
	own->open = NULL;
}

int dwell_lightning_result(const struct dwell_lightning_profiler *actions, struct dwell_profile_result *result,
                           struct dwell_error *error)
{
	if (actions && actions->own->open && dwell_profile_id(actions->own->open) && dwell_trace_path()) {
		*result = (struct dwell_profile_result){ .path = dwell_trace_path(),
			.id = dwell_profile_id(actions->own->open) };
		return 0;
	}
	if (!actions || !actions->own->has_result)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "the profiler has recorded no stage: begin one with dwell_lightning_setup()");
	*result = actions->own->result;
	return 0;
}

int dwell_lightning_teardown(struct dwell_lightning_profiler *actions, struct dwell_error *error)
{
	struct dwell_error unused = { 0, "" };
	struct dwell_lightning_own *own = actions ? actions->own : NULL;
	char name[96];
	int code = 0;

	if (!actions || !actions->stage)
		return 0;
	if (dw_lightning_close_open(actions, name, sizeof name))
		code = dw_error_set(error, DWELL_E_STATE, "action '%s' was open at the end of stage '%.100s': it was closed; "
		                    "stop it with dwell_lightning_stop()", name, actions->stage);
	dw_lightning_end_profile(own);
	if (actions->methods->teardown) {
		int own_code = actions->methods->teardown(actions, error && !code ? error : &unused);

		code = code ? code : own_code;
	}
	actions->stage = NULL;
	return code;
}
