/* The list of formats, and the function that runs one; see export.h. */
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "export/out.h"
#include "pictures/flamegraph.h"
#include "pictures/memory_curve.h"

/* Pictures do not know outputs; they write through this function. */
static void export_put_picture(void *to, const char *bytes, size_t length)
{
	dw_out_bytes(to, bytes, length);
}

static int export_calls(struct dw_model *model, const struct dw_export_options *options, bool down,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	struct dw_flamegraph_options picture = { options->title, options->metric, down };

	return dw_flamegraph_write(model, &picture, export_put_picture, out, NULL, error);
}

static int export_flamegraph(struct dw_model *model, const struct dw_export_options *options,
                             struct dw_writer_out *out, struct dwell_error *error)
{
	return export_calls(model, options, false, out, error);
}

static int export_icicle(struct dw_model *model, const struct dw_export_options *options,
                         struct dw_writer_out *out, struct dwell_error *error)
{
	return export_calls(model, options, true, out, error);
}

static int export_memory(struct dw_model *model, const struct dw_export_options *options,
                         struct dw_writer_out *out, struct dwell_error *error)
{
	return dw_memory_curve_write(model, options->title, export_put_picture, out, error);
}

static const struct dw_export_format formats[] = {
	{ "chrome", "Chrome trace JSON, for ui.perfetto.dev and chrome://tracing", false,
	  dw_export_chrome },
	{ "folded", "call stacks with their own nanoseconds, a line each, for flame graphs", true,
	  dw_export_folded },
	{ "perfetto", "a Perfetto trace, for ui.perfetto.dev and trace_processor", false,
	  dw_export_perfetto },
	{ "speedscope", "the call tree of each thread, for speedscope.app", false,
	  dw_export_speedscope },
	{ "pprof", "calls, time and memory as a protocol buffer, for pprof", false,
	  dw_export_pprof },
	{ "xplane", "XSpace, for TensorBoard's profile plugin (XProf)", false, dw_export_xplane },
	{ "flamegraph", "the call tree as an interactive SVG, for a browser", true,
	  export_flamegraph },
	{ "icicle", "the same with the outermost calls on top", true, export_icicle },
	{ "memory", "memory over time by what it is for, as an interactive SVG", false, export_memory },
	{ "pstats", "function calls for Python's pstats, snakeviz and the like", false,
	  dw_export_pstats },
};

const struct dw_export_format *dw_export_at(size_t index)
{
	return index < sizeof formats / sizeof *formats ? &formats[index] : NULL;
}

const struct dw_export_format *dw_export_find(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

/* Writes the names of all formats, or of those that take a metric, into `to`. */
static const char *export_list_formats(char *to, size_t size, bool with_metric)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < sizeof formats / sizeof *formats && used < size; i++)
		if (!with_metric || formats[i].takes_metric)
			used += (size_t)snprintf(to + used, size - used, "%s%s", used ? ", " : "",
			                         formats[i].name);
	return to;
}

static int export_refuse_format(const char *name, struct dwell_error *error)
{
	struct dw_nearest nearest;
	char all[256];

	export_list_formats(all, sizeof all, false);
	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		dw_nearest_try(&nearest, formats[i].name);
	if (nearest.best)
		return dw_error_set(error, DWELL_E_NAME,
		                    "no export format '%.100s': did you mean '%s'? There are: %s", name,
		                    nearest.best, all);
	return dw_error_set(error, DWELL_E_NAME, "no export format '%.100s'; there are: %s", name, all);
}

static int export_refuse_metric(const char *name, struct dwell_error *error)
{
	char all[256];

	return dw_error_set(error, DWELL_E_NAME, "%s takes no metric; metrics are for %s", name,
	                    export_list_formats(all, sizeof all, true));
}

int dw_export_run(struct dw_model *model, const char *name, const char *path,
                  const struct dw_export_options *options, struct dwell_error *error)
{
	static const struct dw_export_options own = { NULL, NULL };
	const struct dw_export_format *format = dw_export_find(name);
	struct dw_writer_out out;
	int result, closed;

	if (!format)
		return export_refuse_format(name, error);
	if (options && options->metric && !format->takes_metric && strcmp(options->metric, "time") != 0)
		return export_refuse_metric(name, error);
	result = dw_out_open(&out, path, error);
	if (result)
		return result;
	result = format->write(model, options ? options : &own, &out, error);
	/* If the format failed, its own message is kept. */
	closed = dw_out_close(&out, result == 0, result ? NULL : error);
	return result ? result : closed;
}
