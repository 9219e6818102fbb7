/*
 * The profilers that can be created by name. Each decides what a stage records, and its report is a
 * layout of the program's own trace.
 */
#include "compat/lightning/lightning.h"

#include <string.h>
#include <strings.h>

#include <dwell/trace.h>

/* Opens the part of the trace that is the stage; *trace is NULL if nothing was recorded yet. */
static int builtin_open_stage(const struct dwell_lightning_profiler *actions, struct dwell_trace **trace,
                               struct dwell_error *error)
{
	const struct dwell_lightning_own *own = actions->own;
	struct dwell_scope scope = { .size = sizeof scope };
	const char *path = dwell_trace_path();

	*trace = NULL;
	if (own->open)
		scope.profile_id = dwell_profile_id(own->open);
	else if (own->has_result)
		return dwell_trace_open_result(trace, &own->result, error);
	if (!scope.profile_id || !path)
		return 0;
	return dwell_trace_open(trace, &path, 1, &scope, error);
}

static int builtin_print_layout(const struct dwell_lightning_profiler *actions, const char *layout,
                                const struct dwell_view_options *options, FILE *file, struct dwell_error *error)
{
	struct dwell_trace *trace;
	int code = builtin_open_stage(actions, &trace, error);

	if (!code && trace)
		code = dwell_trace_layout(trace, layout, options, file, error);
	dwell_trace_close(trace);
	return code;
}

/* ---- simple -------------------------------------------------------------------------------- */

static int builtin_simple_summary(struct dwell_lightning_profiler *actions, FILE *file, struct dwell_error *error)
{
	return builtin_print_layout(actions, actions->own->options.brief ? "lightning-short" : "lightning",
	                             NULL, file, error);
}

/* ---- advanced ------------------------------------------------------------------------------ */

static int builtin_advanced_setup(struct dwell_lightning_profiler *actions, struct dwell_error *error)
{
	(void)error;
	actions->own->profile.with_functions = true;
	return 0;
}

/* A restriction below 1 is a share of the lines. It is passed as a part of the layout's name. */
static int builtin_advanced_summary(struct dwell_lightning_profiler *actions, FILE *file, struct dwell_error *error)
{
	double restriction = actions->own->options.line_restriction;
	struct dwell_view_options options = { .size = sizeof options,
		.limit = restriction > 1 ? (size_t)restriction : 0 };
	char layout[40] = "pstats";

	if (restriction > 0 && restriction < 1)
		snprintf(layout, sizeof layout, "pstats:%.15g", restriction);
	return builtin_print_layout(actions, layout, &options, file, error);
}

/* ---- operators ------------------------------------------------------------------------------ */

static int builtin_operators_setup(struct dwell_lightning_profiler *actions, struct dwell_error *error)
{
	const struct dwell_lightning_options *options = &actions->own->options;

	(void)error;
	actions->own->profile.record_shapes |= options->record_shapes;
	actions->own->profile.profile_memory |= options->profile_memory;
	return 0;
}

/* The training steps of the stage are the steps of its profile, which a schedule counts. */
static void builtin_operators_stop(struct dwell_lightning_profiler *actions, const char *action)
{
	static const char *const steps[][2] = { { "fit", "training_step" },
		{ "validate", "validation_step" }, { "test", "test_step" }, { "predict", "predict_step" } };
	const struct dwell_lightning_own *own = actions->own;
	const char *dot = strrchr(action, '.');

	if (!own->open || !actions->stage || (!own->profile.schedule.active && !own->profile.action))
		return;
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (strcmp(steps[i][0], actions->stage) == 0 && strcmp(steps[i][1], dot ? dot + 1 : action) == 0)
			dwell_profile_step(own->open, NULL);
}

static int builtin_operators_summary(struct dwell_lightning_profiler *actions, FILE *file, struct dwell_error *error)
{
	const struct dwell_lightning_options *from = &actions->own->options;
	struct dwell_view_options options = { .size = sizeof options, .sort = actions->own->sort_by,
		.limit = from->row_limit, .group_by = from->record_shapes ? "shape" : NULL };

	char layout[512] = "lightning-pytorch";

	if (actions->own->record_functions)
		snprintf(layout, sizeof layout, "lightning-pytorch:%s", actions->own->record_functions);
	return builtin_print_layout(actions, layout, &options, file, error);
}

/* ---- xla ------------------------------------------------------------------------------------- */

static int builtin_xla_setup(struct dwell_lightning_profiler *actions, struct dwell_error *error)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;

	actions->own->captured = true;
	options.categories = DWELL_MASK_NONE;
	return dwell_active() ? 0 : dwell_start(&options, error);
}

/* Starts the server at the first of these actions. "[Strategy]Single.training_step" counts as
 * training_step. */
static void builtin_xla_start(struct dwell_lightning_profiler *actions, const char *action)
{
	static const char *const served[] = { "training_step", "backward", "validation_step",
		"test_step", "predict_step" };
	const char *dot = strrchr(action, '.');
	unsigned port = actions->own->options.port;

	if (actions->own->asked)
		return;
	for (size_t i = 0; i < sizeof served / sizeof *served && !actions->own->asked; i++)
		actions->own->asked = strcmp(dot ? dot + 1 : action, served[i]) == 0;
	if (actions->own->asked && dwell_serve_start(port ? port : 9012, &actions->own->failed) == DWELL_E_STATE)
		actions->own->failed.code = 0; /* an earlier stage or the program started the server */
}

static int builtin_xla_teardown(struct dwell_lightning_profiler *actions, struct dwell_error *error)
{
	int code = actions->own->failed.code;

	if (code)
		*error = actions->own->failed;
	actions->own->failed.code = 0;
	return code;
}

/* ---- by name --------------------------------------------------------------------------------- */

#define METHODS(name_, ...) { .size = sizeof(struct dwell_lightning_methods), .name = name_, __VA_ARGS__ }

static const struct dwell_lightning_methods builtin[] = {
	METHODS("simple", .summary = builtin_simple_summary),
	METHODS("advanced", .setup = builtin_advanced_setup, .summary = builtin_advanced_summary),
	METHODS("operators", .setup = builtin_operators_setup, .stop = builtin_operators_stop,
	        .summary = builtin_operators_summary),
	METHODS("xla", .setup = builtin_xla_setup, .start = builtin_xla_start, .teardown = builtin_xla_teardown),
	METHODS("actions", .summary = NULL),
	METHODS("none", .summary = NULL),
};
const char dw_lightning_builtin_names[] = "simple, advanced, operators (or pytorch), xla, actions and none";

const struct dwell_lightning_methods *dw_lightning_builtin(const char *name)
{
	if (strcasecmp(name, "pytorch") == 0)
		name = "operators";
	if (strcasecmp(name, "passthrough") == 0)
		name = "none";
	for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
		if (strcasecmp(builtin[i].name, name) == 0)
			return &builtin[i];
	return NULL;
}
