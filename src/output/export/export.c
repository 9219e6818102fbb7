/* The list of formats, and the function that runs one; see export.h. */
#include "export/export.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "export/out.h"

static const struct dw_export_format *const formats[] = {
#define FORMAT(name) &dw_export_##name,
#include "export/formats.def"
#undef FORMAT
};
#define FORMAT_COUNT (sizeof formats / sizeof *formats)

const struct dw_export_format *dw_export_at(size_t index)
{
	return index < FORMAT_COUNT ? formats[index] : NULL;
}

const struct dw_export_format *dw_export_find(const char *name)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

enum export_which { EXPORT_ALL, EXPORT_WITH_METRIC, EXPORT_WITH_FILTER };

/* Writes the names of these formats into `to`. */
static const char *export_list_formats(char *to, size_t size, enum export_which which)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < FORMAT_COUNT && used < size; i++)
		if (which == EXPORT_ALL || (which == EXPORT_WITH_METRIC ? formats[i]->takes_metric : formats[i]->takes_filter))
			used += (size_t)snprintf(to + used, size - used, "%s%s", used ? ", " : "", formats[i]->name);
	return to;
}

static int export_refuse_format(const char *name, struct dwell_error *error)
{
	struct dw_nearest nearest;
	char all[256];

	export_list_formats(all, sizeof all, EXPORT_ALL);
	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		dw_nearest_try(&nearest, formats[i]->name);
	if (nearest.best)
		return dw_error_set(error, DWELL_E_NAME, "no export format '%.100s': did you mean '%s'? There are: %s", name,
		                    nearest.best, all);
	return dw_error_set(error, DWELL_E_NAME, "no export format '%.100s'; there are: %s", name, all);
}

static int export_refuse_metric(const char *name, struct dwell_error *error)
{
	char all[256];

	return dw_error_set(error, DWELL_E_NAME, "%s takes no metric; metrics are for %s", name,
	                    export_list_formats(all, sizeof all, EXPORT_WITH_METRIC));
}

static int export_check_filter(const struct dw_export_format *format,
                               const struct dwell_export_options *options, struct dwell_error *error)
{
	const char *option = options->named ? "name" : "min-duration", *end = "";
	char all[256];
	uint64_t ns;

	if (!options->named && !options->min_duration)
		return 0;
	if (!format->takes_filter)
		return dw_error_set(error, DWELL_E_ARGUMENT, "%s has no --%s; these formats have it: %s", format->name, option,
		                    export_list_formats(all, sizeof all, EXPORT_WITH_FILTER));
	if (options->min_duration && (!dw_text_parse_ns(options->min_duration, &end, &ns) || *end))
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "--min-duration %s: give a time with its unit, as 10us, 1.5ms or 2s",
		                    options->min_duration);
	return 0;
}

int dw_export_run(struct dw_model *model, const char *name, const char *path,
                  const struct dwell_export_options *options, struct dwell_error *error)
{
	static const struct dwell_export_options own = { .size = sizeof own };
	const struct dw_export_format *format = dw_export_find(name);
	struct dw_writer_out out;
	int result, closed;

	if (!format)
		return export_refuse_format(name, error);
	if (options && options->metric && !format->takes_metric && strcmp(options->metric, "time") != 0)
		return export_refuse_metric(name, error);
	if (!format->write)
		return dw_error_set(error, DWELL_E_UNSUPPORTED, "%s is written by the command and by Python: dwell export --format %s "
		                    "-o FOLDER TRACE, or dwell.open(path).to_parquet(folder)", name, name);
	result = options ? export_check_filter(format, options, error) : 0;
	if (result)
		return result;
	result = dw_out_open(&out, path, error);
	if (result)
		return result;
	result = format->write(model, options ? options : &own, &out, error);
	/* If the format failed, its own message is kept. */
	closed = dw_out_close(&out, result == 0, result ? NULL : error);
	return result ? result : closed;
}
