/*
 * The layers of a rank: how long it was in each layer of its model. They are summed over at most
 * MOST_STEPS counted steps, spread over the loop, so that a long run takes no longer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/layers/layers.h"
#include "summary/summary.h"

#define MOST_STEPS 128u
#define MOST_PATH 127u /* bytes of a path that are kept */

static bool layers_are_recorded(struct dw_model *model)
{
	size_t count;
	const struct dw_symbol *symbols = dw_model_symbols(model, &count);

	for (size_t i = 0; i < count; i++)
		if (symbols[i].category == DWELL_CATEGORY_LAYER)
			return true;
	return false;
}

/* Chooses steps of the loop, by index of the source's steps. Returns their number. */
static size_t layers_choose_steps(struct dw_model *model, const struct dw_divided_loop *divided, bool *chosen)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	uint64_t from_ns = UINT64_MAX;
	size_t all = 0, seen = 0, count = 0;

	for (size_t i = 0; i < divided->count; i++)
		if (!divided->steps[i].warm_up && !divided->steps[i].alone && divided->steps[i].step->start_ns < from_ns)
			from_ns = divided->steps[i].step->start_ns;
	for (size_t i = 0; i < source->step_count; i++) {
		chosen[i] = steps->counted[i] && source->steps[i].thread == divided->loop->thread &&
		            source->steps[i].start_ns >= from_ns && dw_model_has_step(model, &source->steps[i]);
		all += chosen[i];
	}
	/* Of `all` steps, those where a multiple of all / MOST_STEPS is passed. */
	for (size_t i = 0; i < source->step_count; i++) {
		if (!chosen[i])
			continue;
		chosen[i] = all <= MOST_STEPS || (seen + 1) * MOST_STEPS / all > seen * MOST_STEPS / all;
		count += chosen[i];
		seen++;
	}
	return count;
}

/* The end of a path tells layers apart. */
static const char *layers_path(struct dw_summary *summary, const char *path)
{
	size_t length = strlen(path);
	char text[MOST_PATH + 1];

	if (length > MOST_PATH) {
		path += length - (MOST_PATH - 3);
		while (((unsigned char)*path & 0xc0) == 0x80) /* within a character */
			path++;
		snprintf(text, sizeof text, "...%s", path);
		path = text;
	}
	return dw_summary_text(summary, path, strlen(path));
}

static void layers_add(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_layers *layers)
{
	rank->layers = dw_arena_alloc(&summary->arena, (layers->count + 1) * sizeof *rank->layers);
	summary->failed |= !rank->layers;
	for (size_t i = 0; rank->layers && i < layers->count; i++) {
		const struct dw_layer *layer = &layers->rows[i];
		uint64_t ns = layer->self_ns + layer->own.backward_ns;

		if (ns)
			rank->layers[rank->layer_count++] = (struct dw_summary_name){
				layers_path(summary, layer->path), false, layer->calls, ns
			};
	}
}

bool dw_summary_add_layers(struct dw_summary *summary, struct dw_summary_rank *rank,
                           struct dw_model *model, const struct dw_divided_loop *divided, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_layers_ask ask = { .no_memory = true };
	struct dw_scope scope = *dw_model_scope(model);
	const struct dw_layers *layers;
	struct dw_model *part;
	bool *chosen;

	if (!layers_are_recorded(model))
		return true;
	chosen = calloc(source->step_count + 1, sizeof *chosen);
	if (!chosen)
		return false;
	rank->layer_steps = layers_choose_steps(model, divided, chosen);
	scope.has_steps = true;
	scope.steps_from = 0;
	scope.steps_to = UINT64_MAX;
	scope.steps_counted = chosen;
	if (rank->layer_steps && !dw_model_within(model, &scope, &part, error)) {
		layers = dw_model_layers(part, &ask, error);
		if (layers)
			layers_add(summary, rank, layers);
		summary->failed |= !layers;
		dw_model_forget(part);
	}
	free(chosen);
	return !summary->failed;
}
