/* The list of renderers and the code that they share; see render.h. */
#include "render/render.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"

static const struct dw_renderer renderers[] = {
	{ "text", "aligned columns for people", true, dw_render_text },
	{ "csv", "comma-separated values, raw", false, dw_render_csv },
	{ "json", "one document, raw values", false, dw_render_json },
	{ "md", "Markdown tables", true, dw_render_markdown },
	{ "html", "a page for a browser, or tables for a notebook", true, dw_render_html },
};
#define RENDERERS (sizeof renderers / sizeof *renderers)

const struct dw_renderer *dw_renderer_at(size_t index)
{
	return index < RENDERERS ? &renderers[index] : NULL;
}

const struct dw_renderer *dw_renderer_find(const char *name, struct dwell_error *error)
{
	struct dw_nearest nearest;

	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < RENDERERS; i++) {
		if (strcmp(renderers[i].name, name) == 0)
			return &renderers[i];
		dw_nearest_try(&nearest, renderers[i].name);
	}
	if (nearest.best)
		dw_error_set(error, DWELL_E_NAME,
		             "no format '%s'; did you mean '%s'? There are text, csv, json, md, html", name, nearest.best);
	else
		dw_error_set(error, DWELL_E_NAME, "no format '%s'; there are text, csv, json, md, html", name);
	return NULL;
}

int dw_render(const struct dw_renderer *renderer, const struct dwell_table *const *tables,
              size_t count, FILE *file, const struct dwell_print_options *options, struct dwell_error *error)
{
	errno = 0;
	renderer->render(tables, count, file, options);
	if (fflush(file) == 0 && !ferror(file))
		return 0;
	return dw_error_set(error, errno == ENOSPC ? DWELL_E_NOSPACE : DWELL_E_IO,
	                    "cannot write the report: %s", strerror(errno ? errno : EIO));
}

void dw_render_put(void *file, const char *bytes, size_t length)
{
	fwrite(bytes, 1, length, file);
}

void dw_render_real(FILE *file, double value)
{
	char text[40];

	snprintf(text, sizeof text, "%.9g", value);
	for (char *at = text; *at; at++)
		if (*at == ',')
			*at = '.';
	fputs(text, file);
}
