/* Iterations that the reader decided become the steps of a source; see learned.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/order.h"
#include "format/keys.h"
#include "model/steps/learned.h"
#include "model/steps/steps.h"

/* Whether a second optimizer has a phase. */
static bool apply_has_several(const struct dw_source_file *file)
{
	for (size_t id = 0; id < file->symbol_count; id++) {
		const struct dw_symbol *symbol = &file->symbols[id];

		if (symbol->category == DWELL_CATEGORY_PHASE && symbol->name && symbol->detail &&
		    strcmp(symbol->name, "optimizer") == 0 && strtoul(symbol->detail, NULL, 10) > 1)
			return true;
	}
	return false;
}

static bool apply_is_asked(const struct dw_source *source)
{
	if (source->live || !source->step_count || !dw_source_meta(source, DW_NO_INDEX, DW_KEY_TORCH_STEPS))
		return false;
	for (size_t i = 0; i < source->file_count; i++)
		if (apply_has_several(&source->files[i]))
			return true;
	return false;
}

/* Whether the iterations of a loop are not simply its steps. */
static bool apply_differs(const struct dw_learned_loop *loop, const struct dw_loop *of)
{
	return loop->why == DW_LEARNED_DECIDED && (loop->count != of->count || loop->same != of->count);
}

/* CPU time of the process in an iteration, by that of the steps in it; 0: not known. */
static uint64_t apply_cpu_ns(const struct dw_step *steps, size_t count, const struct dw_source_step *own)
{
	size_t first = DW_FIRST(i, 0, count, steps[i].end_ns > own->start_ns);
	double cpu_ns = 0, wall_ns = 0;

	for (size_t i = first; i < count && steps[i].start_ns < own->end_ns; i++) {
		uint64_t from = steps[i].start_ns > own->start_ns ? steps[i].start_ns : own->start_ns;
		uint64_t to = steps[i].end_ns < own->end_ns ? steps[i].end_ns : own->end_ns;

		if (!steps[i].cpu_ns)
			return 0;
		cpu_ns += (double)steps[i].cpu_ns * (double)(to - from) / (double)(steps[i].end_ns - steps[i].start_ns);
		wall_ns += (double)(to - from);
	}
	return wall_ns > 0 ? (uint64_t)(cpu_ns / wall_ns * (double)(own->end_ns - own->start_ns)) : 0;
}

/* Puts the steps of all loops into `to`: the iterations where they differ. Returns how many. */
static size_t apply_collect(const struct dw_source *source, const struct dw_steps *steps,
                            const struct dw_learned *learned, bool *differs, struct dw_source_step *to)
{
	size_t count = 0;

	for (size_t i = 0; i < steps->thread_count; i++) {
		const struct dw_learned_loop *loop = &learned->loops[i];
		const struct dw_loop *of = &steps->loops[i];

		differs[of->thread] = apply_differs(loop, of);
		for (size_t k = 0; differs[of->thread] && k < loop->count; k++) {
			to[count] = learned->steps[loop->first + k];
			to[count].cpu_ns = apply_cpu_ns(steps->steps + of->first_step, of->count, &to[count]);
			count++;
		}
	}
	for (size_t i = 0; count && i < source->step_count; i++)
		if (!differs[source->steps[i].thread])
			to[count++] = source->steps[i];
	return count;
}

static int apply_learned(struct dw_source *source, struct dw_model *model, struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(model, error);
	const struct dw_learned *learned = steps ? dw_model_learned(model, error) : NULL;
	struct dw_source_step *to = learned ? malloc((learned->count + source->step_count + 1) * sizeof *to) : NULL;
	bool *differs = calloc(source->thread_count + 1, sizeof *differs);
	int result = learned ? 0 : error->code;
	size_t count = to && differs ? apply_collect(source, steps, learned, differs, to) : 0;

	if (learned && (!to || !differs || (count && dw_source_set_steps(source, to, count))))
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	free(to);
	free(differs);
	return result;
}

int dw_learned_apply(struct dw_source *source, struct dwell_error *error)
{
	struct dw_model *model;
	int result;

	if (!apply_is_asked(source))
		return 0;
	result = dw_model_create(&model, source, NULL, error);
	if (result)
		return result;
	result = apply_learned(source, model, error);
	dw_model_destroy(model);
	return result;
}
