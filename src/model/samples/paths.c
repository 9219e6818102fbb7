/* The paths of functions in samples, for flame graphs; see samples.h. */
#include <stdlib.h>
#include <string.h>

#include "model/core/product.h"
#include "model/core/stack_functions.h"
#include "model/samples/samples.h"
#include "model/time/call_sums.h"

#define UNKNOWN 0u /* the symbol of stacks that could not be read, and of frames that the file lacks */

/* Adds the functions of a frame below `node`, outermost first. Returns `node` itself for those beyond the limits. */
static uint32_t paths_enter_frame(struct dw_call_sums *sums, const struct dw_functions *functions,
                                  const struct dw_model *model, uint32_t file, uint32_t id, uint32_t node)
{
	const struct dw_source_file *from = &model->source->files[file];
	const struct dw_source_frame *frame = id < from->symbol_count ? from->frames[id] : NULL;

	for (uint32_t n = frame ? frame->count : 1; n-- > 0;) {
		uint32_t key = frame ? functions->list[functions->by_frame[file][id] + n] : UNKNOWN;
		uint32_t next = dw_call_sums_child(sums, node, key);

		if (next == DW_CALL_PATH_FOLDED || next == DW_NO_INDEX)
			return node;
		node = next;
	}
	return node;
}

static bool paths_add(struct dw_call_sums *sums, const struct dw_functions *functions, const struct dw_model *model,
                      const struct dw_sample_row *row, bool in_ns)
{
	uint32_t file = model->source->processes[model->source->threads[row->thread].process].file;
	struct dw_sample_stack stack = dw_sample_stack_of(model->source, row);
	uint32_t node = dw_call_sums_root(sums, row->thread);
	struct dw_call_sum *sum;

	if (node == DW_NO_INDEX)
		return false;
	for (uint32_t i = stack.count; i-- > 0;)
		node = paths_enter_frame(sums, functions, model, file, dw_sample_stack_id(&stack, i), node);
	if (!stack.count) {
		uint32_t unread = dw_call_sums_child(sums, node, UNKNOWN);

		node = unread < DW_CALL_PATH_FOLDED ? unread : node;
	}
	sum = dw_call_sums_at(sums, node);
	sum->self += in_ns ? row->cpu_ns : row->weight;
	sum->total += in_ns ? row->cpu_ns : row->weight;
	sum->path.calls += (uint32_t)row->count;
	return !sums->paths.failed;
}

static bool paths_make(struct dw_model *model, const struct dw_samples *samples, struct dw_paths *paths)
{
	struct dw_call_sums sums = dw_call_sums_make(DW_TREE_PATHS, false);
	struct dw_functions functions;
	bool good = samples && dw_functions_init(&functions, model);

	for (size_t i = 0; good && i < samples->count; i++)
		good = paths_add(&sums, &functions, model, &samples->rows[i], samples->has_periods);
	/* Children come after their parents. The total of a root is set below. */
	for (size_t i = sums.paths.count; good && i-- > 0;) {
		const struct dw_call_sum *sum = dw_call_sums_at(&sums, i);

		if (sum->path.depth < 2)
			continue;
		dw_call_sums_at(&sums, sum->path.parent)->total += sum->total;
		dw_call_sums_at(&sums, sum->path.parent)->path.calls += sum->path.calls;
	}
	if (good) {
		paths->symbols = functions.symbols;
		paths->symbol_count = functions.symbol_count;
		paths->of_samples = true;
		good = dw_paths_put(paths, &sums, 1);
	}
	dw_call_sums_reset(&sums);
	return good;
}

static bool paths_compute(struct dw_model *model, const void *request, void *result)
{
	return paths_make(model, dw_model_samples(model, NULL), result);
}

static bool paths_compute_waits(struct dw_model *model, const void *request, void *result)
{
	((struct dw_paths *)result)->of_waits = true;
	return paths_make(model, dw_model_wait_samples(model, NULL), result);
}

static void paths_free(void *result)
{
	free(((struct dw_paths *)result)->nodes);
}

DW_PRODUCT(sample_paths, struct dw_paths, paths_compute, paths_free);
DW_PRODUCT(wait_paths, struct dw_paths, paths_compute_waits, paths_free);

DW_PRODUCT_GETTER(sample_paths, struct dw_paths)
DW_PRODUCT_GETTER(wait_paths, struct dw_paths)

int dw_model_check_drawn(const struct dw_model *model, const char *metric, struct dwell_error *error)
{
	bool sampled = metric && (strcmp(metric, DW_METRIC_WAITS) == 0 || strcmp(metric, DW_METRIC_SAMPLES) == 0);

	if (sampled && !dw_source_has_samples(model->source))
		return dw_error_set(error, DWELL_E_NO_DATA, "%s has no samples: record with dwell run --sample 100",
		                    model->source->files[0].path);
	if (metric && !sampled && strcmp(metric, "time") != 0)
		return dw_error_set(error, DWELL_E_NAME, "no metric '%.100s'; there are: time, samples, waits", metric);
	return 0;
}

/* Whether these are no ranges but the profiler's own, which say nothing of the program. */
static bool paths_are_own(const struct dw_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		if (paths->nodes[i].depth && paths->symbols[paths->nodes[i].symbol].category != DWELL_CATEGORY_PROFILER)
			return false;
	return true;
}

const struct dw_paths *dw_model_drawn_paths(struct dw_model *model, const char *metric, struct dwell_error *error)
{
	bool sampled = dw_source_has_samples(model->source);
	const struct dw_paths *paths;

	if (dw_model_check_drawn(model, metric, error))
		return NULL;
	if (metric && strcmp(metric, DW_METRIC_WAITS) == 0)
		return dw_model_wait_paths(model, error);
	if (metric && strcmp(metric, DW_METRIC_SAMPLES) == 0)
		return dw_model_sample_paths(model, error);
	paths = dw_model_paths(model, DW_PATHS_CALLS, error);
	return paths && sampled && paths_are_own(paths) ? dw_model_sample_paths(model, error) : paths;
}
