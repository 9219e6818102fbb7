/* Makes the curve of memory from the model; see memory_curve.h. */
#include "pictures/memory_curve.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/memory/memory.h"

#define MOST_PANELS 6u
#define LEAST_PART 50u /* of the largest peak: 2%, about two pixels */
#define MOST_HOLDERS 10u

/* Kinds of memory that change little are at the bottom, so that the other kinds move only the upper
 * edge. */
static const struct { enum dw_memory_kind kind; struct dw_picture_kind shown; } order[] = {
	{ DW_MEMORY_PARAMETER, { "parameter", DW_HUE_BLUE } },
	{ DW_MEMORY_OPTIMIZER_STATE, { "optimizer state", DW_HUE_VIOLET } },
	{ DW_MEMORY_GRADIENT, { "gradient", DW_HUE_ROSE } },
	{ DW_MEMORY_INPUT, { "input", DW_HUE_YELLOW } },
	{ DW_MEMORY_ACTIVATION, { "activation", DW_HUE_AMBER } },
	{ DW_MEMORY_TEMPORARY, { "temporary", DW_HUE_TEAL } },
	{ DW_MEMORY_OTHER, { "other", DW_HUE_GREY } },
};
#define KINDS (sizeof order / sizeof *order)
_Static_assert(KINDS == DW_MEMORY_KIND_COUNT, "every kind is drawn");

struct memory_curve {
	struct dw_model *model;
	const struct dw_memory *memory;
	struct dw_arena arena;
	struct dw_picture_kind series[KINDS];
	struct dw_curve_panel panels[MOST_PANELS];
	struct dw_curve_holder holders[MOST_HOLDERS];
	struct dw_curve_mark *marks;
	struct dw_curve curve;
};

static void memory_curve_next_point(const void *context, size_t panel, size_t index, uint64_t *at_ns, uint64_t *values)
{
	const struct memory_curve *it = context;
	const struct dw_memory_point *point = &it->memory->pools[panel].points[index];

	*at_ns = point->ns;
	for (size_t i = 0; i < KINDS; i++)
		values[i] = point->bytes[order[i].kind];
}

static const char *memory_curve_step_text(struct memory_curve *it, const struct dw_memory_pool *pool)
{
	if (pool->peak_step == DW_NO_INDEX)
		return "";
	return dw_arena_printf(&it->arena, ", step %llu",
	                       (unsigned long long)dw_model_source(it->model)->steps[pool->peak_step].number);
}

static const char *memory_curve_pool_label(struct memory_curve *it, const struct dw_memory_pool *pool)
{
	const struct dw_source_process *process = &dw_model_source(it->model)->processes[pool->process];

	if (process->rank >= 0)
		return dw_arena_printf(&it->arena, "rank %d: %s", (int)process->rank, pool->device);
	return dw_arena_printf(&it->arena, "%s (process %u): %s", process->label, process->pid, pool->device);
}

static bool memory_curve_make_panels(struct memory_curve *it)
{
	size_t count = 0;

	/* Small pools are left out: all panels have one scale, so they would be flat lines. Pools are sorted by their peaks. */
	while (count < MOST_PANELS && count < it->memory->pool_count && it->memory->pools[count].point_count &&
	       it->memory->pools[count].all.at_peak_bytes >= it->memory->pools[0].all.at_peak_bytes / LEAST_PART)
		count++;
	for (size_t i = 0; i < count; i++) {
		const struct dw_memory_pool *pool = &it->memory->pools[i];
		const char *step = memory_curve_step_text(it, pool);

		it->panels[i] = (struct dw_curve_panel){
			.label = it->memory->pool_count > 1 ? memory_curve_pool_label(it, pool) : pool->device,
			.points = pool->point_count,
			.peak_ns = pool->peak_ns,
			.peak_value = pool->all.at_peak_bytes,
			.peak_label = step ? dw_arena_printf(&it->arena, "peak %s at %s%s",
			                                     dw_text_bytes((double)pool->all.at_peak_bytes, " ").at,
			                                     dw_text_ns((double)pool->peak_ns, " ").at, step)
			                   : NULL,
		};
		if (!it->panels[i].label || !it->panels[i].peak_label)
			return false;
	}
	it->curve.panels = it->panels;
	it->curve.panel_count = count;
	return true;
}

static void memory_curve_make_holders(struct memory_curve *it)
{
	const struct dw_symbol *symbols = dw_model_symbols(it->model, NULL);
	const struct dw_memory_pool *pool = &it->memory->pools[0];
	size_t count = 0;

	for (; count < MOST_HOLDERS && count < pool->owner_count; count++) {
		const struct dw_memory_owner *owner = &pool->owners[count];

		if (!owner->use.at_peak_bytes)
			break;
		it->holders[count] = (struct dw_curve_holder){
			owner->symbol == DW_NO_INDEX ? "(no operator)" : symbols[owner->symbol].name,
			owner->use.at_peak_bytes, pool->all.at_peak_bytes,
		};
	}
	it->curve.holders = it->holders;
	it->curve.holder_count = count;
}

/* A mark at the begin of each step of the process with the most memory. Steps are sorted by
 * process. */
static bool memory_curve_make_marks(struct memory_curve *it)
{
	const struct dw_source *source = dw_model_source(it->model);
	uint32_t process = it->memory->pools[0].process;
	const struct dw_source_clock *clock = &source->files[source->processes[process].file].clock;

	it->marks = dw_arena_alloc(&it->arena, (source->step_count + 1) * sizeof *it->marks);
	for (size_t i = 0; it->marks && i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		uint64_t at_ns = dw_source_ns(clock, step->start_ticks);

		if (source->threads[step->thread].process != process || at_ns < it->curve.from_ns || at_ns > it->curve.to_ns)
			continue;
		it->marks[it->curve.mark_count++] = (struct dw_curve_mark){
			at_ns, step->open ? it->curve.to_ns : dw_source_ns(clock, step->end_ticks), step->number,
		};
	}
	it->curve.marks = it->marks;
	return it->marks != NULL;
}

static void memory_curve_make_time(struct memory_curve *it)
{
	const struct dw_source *source = dw_model_source(it->model);
	bool all = !dw_model_scope(it->model)->has_steps;

	it->curve.from_ns = UINT64_MAX;
	for (size_t i = 0; i < it->curve.panel_count; i++) {
		const struct dw_memory_pool *pool = &it->memory->pools[i];
		uint64_t first = pool->points[0].ns, last = pool->points[pool->point_count - 1].ns;
		uint64_t end = source->processes[pool->process].end_ns;

		last = all && end > last ? end : last;
		it->curve.from_ns = first < it->curve.from_ns ? first : it->curve.from_ns;
		it->curve.to_ns = last > it->curve.to_ns ? last : it->curve.to_ns;
	}
	it->curve.to_ns += it->curve.to_ns == it->curve.from_ns;
}

static bool memory_curve_make_words(struct memory_curve *it, const char *title)
{
	const struct dw_source *source = dw_model_source(it->model);
	const struct dw_memory_pool *pool = &it->memory->pools[0];
	const char *name = source->processes[pool->process].label, *step = memory_curve_step_text(it, pool);
	size_t hidden = it->memory->pool_count - it->curve.panel_count;

	it->curve.title = title ? title : *name ? name : "dwell";
	it->curve.subtitle = dw_arena_printf(&it->arena, "memory by what it is for; peak %s%s, %s left at the end",
	                                     dw_text_bytes((double)pool->all.at_peak_bytes, " ").at, step ? step : "",
	                                     pool->all.live_bytes ? dw_text_bytes((double)pool->all.live_bytes, " ").at : "nothing");
	it->curve.holders_label = dw_arena_printf(&it->arena, "who allocated what was live at the peak%s%s",
	                                          it->curve.panel_count > 1 ? " of " : "",
	                                          it->curve.panel_count > 1 ? it->panels[0].label : "");
	it->curve.note = dw_arena_printf(&it->arena, "a value is the largest of its stretch of time%s",
	                                 hidden ? "; memories with smaller peaks are left out" : "");
	return step && it->curve.subtitle && it->curve.holders_label && it->curve.note;
}

int dw_memory_curve_write(struct dw_model *model, const char *title, dw_put *put, void *to, struct dwell_error *error)
{
	struct memory_curve it = { .model = model, .memory = dw_model_memory(model, error) };
	int result = 0;

	if (!it.memory)
		return error ? error->code : DWELL_E_NOMEM;
	if (!it.memory->pool_count || !it.memory->pools[0].point_count)
		return dw_error_set(error, DWELL_E_NO_DATA, "%s holds no allocations to draw: programs say theirs with "
		                    "DWELL_ALLOC() and DWELL_FREE()", dw_model_source(model)->files[0].path);
	for (size_t i = 0; i < KINDS; i++)
		it.series[i] = order[i].shown;
	it.curve.series = it.series;
	it.curve.series_count = KINDS;
	it.curve.unit = dw_text_bytes;
	it.curve.point = memory_curve_next_point;
	it.curve.context = &it;
	it.curve.mark = "step";
	if (memory_curve_make_panels(&it)) {
		memory_curve_make_time(&it);
		memory_curve_make_holders(&it);
	}
	if (it.curve.panel_count && memory_curve_make_marks(&it) && memory_curve_make_words(&it, title))
		dw_curve_write(&it.curve, put, to);
	else
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing the memory");
	dw_arena_reset(&it.arena);
	return result;
}
