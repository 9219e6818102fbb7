/* Finds the layers that a list of paths and patterns names; see layers.h. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/nearest.h"
#include "model/layers/layer_tree.h"

static int layers_no_such_layer(const struct dw_model *model, const struct dw_layers *layers,
                                const char *pattern, size_t length, struct dwell_error *error)
{
	struct dw_nearest nearest;
	char wanted[256];

	snprintf(wanted, sizeof wanted, "%.*s", (int)(length < 200 ? length : 200), pattern);
	dw_nearest_init(&nearest, wanted);
	for (size_t i = 0; i < layers->count; i++)
		dw_nearest_try(&nearest, layers->rows[i].path);
	return dw_error_set(error, DWELL_E_NAME, "no layer '%s' in %s%s", wanted, model->source->files[0].path,
	                    nearest.best ? dw_nearest_question(&nearest).at : " (dwell report --view layers lists all)");
}

int dw_layers_choose(struct dw_model *model, const struct dw_layers *layers, const char *paths,
                     enum dw_layer_choice **result, struct dwell_error *error)
{
	enum dw_layer_choice *choices = dw_arena_alloc(&model->arena, (layers->count + 1) * sizeof *choices);
	const char *pattern, *rest = paths ? paths : "*";
	size_t length;

	*result = choices;
	if (!choices)
		return dw_model_no_memory(model, error);
	if (!*rest)
		return dw_error_set(error, DWELL_E_ARGUMENT, "which layers? paths and patterns, as Net.stem,Net.block.*");
	while ((pattern = dw_glob_next(&rest, &length))) {
		bool found = false;

		for (size_t i = 0; i < layers->count; i++) {
			if (!dw_glob_match(pattern, length, layers->rows[i].path))
				continue;
			choices[i] = DW_LAYER_CHOSEN;
			found = true;
		}
		if (!found)
			return layers_no_such_layer(model, layers, pattern, length, error);
	}
	for (size_t i = 0; i < layers->count; i++) {
		uint32_t parent = layers->rows[i].parent;

		if (choices[i] != DW_LAYER_CHOSEN && parent != DW_NO_INDEX &&
		    (choices[parent] == DW_LAYER_CHOSEN || choices[parent] == DW_LAYER_BELOW))
			choices[i] = DW_LAYER_BELOW;
		if (choices[i] != DW_LAYER_CHOSEN)
			continue;
		/* The layers above a chosen one are shown too, because they show its place in the tree. */
		for (; parent != DW_NO_INDEX && choices[parent] == DW_LAYER_LEFT_OUT; parent = layers->rows[parent].parent)
			choices[parent] = DW_LAYER_ABOVE;
	}
	return 0;
}
