/*
 * What is said about a `dwell run --step-on NAME`: that it made no step, and why; or in which library the function is.
 *
 * The runner stores NAME in the trace, and the probes store whether they found it. The
 * overview shows it, and the command does when a run has ended.
 */
#include <stdlib.h>
#include <string.h>

#include "base/code/demangle.h"
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

/* Writes a text with mangled names in it: before each is what it is in the source. */
static void step_on_demangle(char *to, size_t size, const char *text)
{
	char word[1024], *clear;
	size_t used = 0, bytes;

	for (to[0] = '\0'; *text && used < size; text += bytes) {
		bytes = strcspn(text, " ");
		snprintf(word, sizeof word, "%.*s", (int)bytes, text);
		clear = dw_demangle(word);
		bytes += strspn(text + bytes, " ");
		used += (size_t)snprintf(to + used, size - used, "%s%s%.*s", clear ? clear : "", clear ? " = " : "", (int)bytes,
		                         text);
		free(clear);
	}
}

bool dw_view_step_on(const struct dw_source *source, char *text, size_t size)
{
	const char *name = step_on_find_fact(source, DW_KEY_STEP_ON);
	const char *state = step_on_find_fact(source, DW_KEY_TORCH_STEP_ON);
	const char *native = step_on_find_fact(source, DW_KEY_NATIVE_STEP_ON);
	const char *candidates = step_on_find_fact(source, DW_KEY_TORCH_STEP_ON_CANDIDATES);
	const char *file = step_on_find_fact(source, DW_KEY_NATIVE_STEP_ON_FILE);
	char why[1024];

	if (!name)
		return false;
	if (step_on_made_steps(source)) {
		snprintf(text, size, "--step-on %s: steps are calls of the function in %s", name, file ? file : "");
		return file != NULL;
	}
	step_on_demangle(why, sizeof why, native ? native : "");
	if (state || strcmp(why, "there") == 0)
		snprintf(text, size, "--step-on %s: it is there%s%s, and was never called%s", name, file ? ", in " : "",
		         file ? file : "",
		         state ? "" : "; if the compiler put it into those that call it, name one of them (with -g, dwell says which)");
	else if (*why)
		snprintf(text, size, "--step-on %s: %s", name, why);
	else if (!dw_view_is_python(source) && !step_on_find_fact(source, DW_KEY_TORCH_VERSION))
		snprintf(text, size, "--step-on %s: no range of ITT or NVTX has this name", name);
	else
		snprintf(text, size, "--step-on %s: nothing of this name was seen%s%s%s", name,
		         candidates ? "; these would do: " : "", candidates ? candidates : "",
		         dw_view_is_python(source) && !strchr(name, ':') ? "; a function of a native library is FILE:NAME" : "");
	return true;
}

void dw_view_head_step_on(struct dwell_table *table, const struct dw_source *source)
{
	char text[1024];

	if (dw_view_step_on(source, text, sizeof text))
		dw_table_say(table, DW_LABEL_NOTE, "%s.", text);
}
