/* The registry of layouts, and the functions that all of them share; see layouts.h. */
#include "layouts/layouts.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"

static const struct dw_layout *const layouts[] = {
#define LAYOUT(name) &dw_layout_##name,
#include "layouts/layouts.def"
#undef LAYOUT
};
#define LAYOUT_COUNT (sizeof layouts / sizeof *layouts)

const struct dw_layout *dw_layout_at(size_t index)
{
	return index < LAYOUT_COUNT ? layouts[index] : NULL;
}

const struct dw_layout *dw_layout_find(const char *name, const char **version, struct dwell_error *error)
{
	size_t length = strcspn(name, ":");
	struct dw_nearest nearest;

	*version = name[length] ? name + length + 1 : NULL;
	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		if (strlen(layouts[i]->name) == length && strncmp(layouts[i]->name, name, length) == 0)
			return layouts[i];
		dw_nearest_try(&nearest, layouts[i]->name);
	}
	dw_error_set(error, DWELL_E_NAME, "no layout '%.100s'%s (dwell report --help lists all)", name,
	             dw_nearest_question(&nearest).at);
	return NULL;
}

/* ---- options ------------------------------------------------------------------------------ */

int dw_layout_parse_widths(const char *text, struct dw_layout_widths *widths, struct dwell_error *error)
{
	const struct { const char *name; unsigned *width; } columns[] = {
		{ "name=", &widths->name }, { "shapes=", &widths->shapes }, { "source=", &widths->source },
	};
	const char *at = text ? text : "";

	while (*at) {
		unsigned long number = 0;
		char *end = NULL;
		size_t i = 0;

		while (i < 3 && strncmp(at, columns[i].name, strlen(columns[i].name)) != 0)
			i++;
		if (i < 3)
			number = strtoul(at + strlen(columns[i].name), &end, 10);
		if (i == 3 || number < 1 || number > 100000 || (*end && *end != ','))
			return dw_error_set(error, DWELL_E_ARGUMENT,
			                    "--widths takes name=N,shapes=N,source=N, each at least 1; not '%.100s'", text);
		*columns[i].width = (unsigned)number;
		at = end + (*end == ',');
	}
	return 0;
}

int dw_layout_check(const struct dwell_view_options *options, struct dwell_error *error)
{
	struct dw_grouping group;
	struct dw_layout_widths widths;
	int code = dw_grouping_parse(options->group_by, &group, error);

	return code ? code : dw_layout_parse_widths(options->widths, &widths, error);
}

/* ---- printing ----------------------------------------------------------------------------- */

int dw_layout_run(const struct dw_layout *layout, struct dw_model *model,
                  const struct dw_layout_request *request, FILE *file, struct dwell_error *error)
{
	char *text = NULL;
	size_t length;
	FILE *memory;
	int code = dw_layout_check(request->options, error);

	if (code)
		return code;
	memory = open_memstream(&text, &length);
	if (!memory)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory printing");
	dw_error_set(error, 0, "%s", "");
	code = layout->print(model, request, memory, error);
	if ((fclose(memory) != 0 || !text) && !code)
		code = dw_error_set(error, DWELL_E_NOMEM, "out of memory printing");
	if (text) {
		dw_text_disarm(text, true);
		fputs(text, file);
	}
	free(text);
	/* If the layout handled an error and returned 0, its message is not a note. */
	if (!code && error && error->code)
		dw_error_set(error, 0, "%s", "");
	if (!code && (fflush(file) != 0 || ferror(file)))
		code = dw_error_set(error, DWELL_E_IO, "cannot print the %s layout: the output failed", layout->name);
	return code;
}
