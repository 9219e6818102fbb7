/*
 * The warning about a `dwell run --step-on NAME` that made no step.
 *
 * The runner stores NAME in the trace, and the probes store whether they found it. The
 * overview shows the warning, and the command does when a run has ended.
 */
#include <string.h>

#include "format/keys.h"
#include "views/common.h"

/* Returns the last value of a key, or NULL. */
static const char *step_on_find_fact(const struct dw_source *source, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, key) == 0)
			value = source->metas[i].value;
	return value;
}

/* Whether NAME made steps in at least one process. */
static bool step_on_made_steps(const struct dw_source *source)
{
	for (size_t i = 0; i < source->meta_count; i++)
		if ((strcmp(source->metas[i].key, DW_KEY_TORCH_STEP_ON) == 0 ||
		     strcmp(source->metas[i].key, DW_KEY_NATIVE_STEP_ON) == 0 ||
		     strcmp(source->metas[i].key, DW_KEY_INJECTED_STEP_ON) == 0) &&
		    strcmp(source->metas[i].value, "steps") == 0)
			return true;
	return false;
}

bool dw_view_step_on(const struct dw_source *source, char *text, size_t size)
{
	const char *name = step_on_find_fact(source, DW_KEY_STEP_ON);
	const char *state = step_on_find_fact(source, DW_KEY_TORCH_STEP_ON);
	const char *native = step_on_find_fact(source, DW_KEY_NATIVE_STEP_ON);
	const char *candidates = step_on_find_fact(source, DW_KEY_TORCH_STEP_ON_CANDIDATES);

	if (!name || step_on_made_steps(source))
		return false;
	if (state || (native && strcmp(native, "there") == 0))
		snprintf(text, size, "--step-on %s: it is there, and was never called", name);
	else if (native)
		snprintf(text, size, "--step-on %s: %s", name, native);
	else if (!dw_view_is_python(source) && !step_on_find_fact(source, DW_KEY_TORCH_VERSION))
		snprintf(text, size, "--step-on %s: no range of ITT or NVTX has this name", name);
	else
		snprintf(text, size, "--step-on %s: nothing of this name was seen%s%s", name,
		         candidates ? "; these would do: " : "", candidates ? candidates : "");
	return true;
}

void dw_view_head_step_on(struct dwell_table *table, const struct dw_source *source)
{
	char text[1024];

	if (dw_view_step_on(source, text, sizeof text))
		dw_table_head(table, "%s.", text);
}
