/* Prints numbers like Python, and a report for each stage; see python.h. */
#include "layouts/python.h"

#include <ctype.h>
#include <string.h>

/* Finds the end of the digits before `end` without zeros after the decimal point. */
static char *python_strip_zeros(char *text, char *end)
{
	if (!memchr(text, '.', (size_t)(end - text)))
		return end;
	while (end[-1] == '0')
		end--;
	return end[-1] == '.' ? end - 1 : end;
}

void dw_layout_python_real(char text[32], double value, int digits)
{
	char *exponent;
	int power;

	snprintf(text, 32, "%.*e", digits - 1, value);
	exponent = strchr(text, 'e');
	if (!exponent)
		return; /* inf or nan */
	sscanf(exponent + 1, "%d", &power);
	if (power >= -4 && power < digits - 1) {
		snprintf(text, 32, "%.*f", digits - 1 - power, value);
		exponent = python_strip_zeros(text, text + strlen(text));
		snprintf(exponent, 32 - (size_t)(exponent - text), "%s",
		         memchr(text, '.', (size_t)(exponent - text)) ? "" : ".0");
		return;
	}
	memmove(python_strip_zeros(text, exponent), exponent, strlen(exponent) + 1);
}

size_t dw_layout_characters(const char *text, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

void dw_layout_put_stage(FILE *file, const char *stage)
{
	for (; stage && *stage; stage++)
		fputc(toupper((unsigned char)*stage), file);
	fputs(stage ? " Profiler Report\n" : "Profiler Report\n", file);
}

/* ---- stages ------------------------------------------------------------------------------- */

static bool python_is_stage(const char *name)
{
	static const char *const stages[] = { "fit", "validate", "test", "predict", "sanity_check" };

	for (size_t i = 0; name && i < sizeof stages / sizeof *stages; i++)
		if (strcmp(name, stages[i]) == 0)
			return true;
	return false;
}

/* The name of the stage that is the scope, or NULL. */
static const char *python_scope_stage(const struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_scope *scope = dw_model_scope(model);
	const char *name = scope->profile;

	for (size_t i = 0; !name && scope->profile_id && i < source->profile_count; i++)
		if (source->profiles[i].id == scope->profile_id)
			name = source->profiles[i].name;
	return python_is_stage(name) ? name : NULL;
}

static bool python_seen_before(const struct dw_source *source, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(source->profiles[i].name, source->profiles[index].name) == 0)
			return true;
	return false;
}

int dw_layout_stages(struct dw_model *model, dw_layout_stage *print, FILE *file, void *context,
                     struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	struct dw_scope scope = *dw_model_scope(model);
	bool any = false;

	if (scope.profile || scope.profile_id)
		return print(model, python_scope_stage(model), file, context, error);
	for (size_t i = 0; i < source->profile_count; i++) {
		struct dw_model *stage;
		int code;

		if (!python_is_stage(source->profiles[i].name) || python_seen_before(source, i))
			continue;
		if (any)
			fputc('\n', file);
		any = true;
		scope.profile = source->profiles[i].name;
		code = dw_model_within(model, &scope, &stage, error);
		if (!code)
			code = print(stage, scope.profile, file, context, error);
		if (code)
			return code;
	}
	return any ? 0 : print(model, NULL, file, context, error);
}
