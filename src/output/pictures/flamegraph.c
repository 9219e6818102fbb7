/* The nodes of a flame graph, made from the call tree; see flamegraph.h. */
#include "pictures/flamegraph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/nearest.h"
#include "model/device/device.h"
#include "model/samples/samples.h"
#include "pictures/layers.h"

/* Kind 0 is threads and the whole; then the order of enum dwell_category. */
static const struct dw_picture_kind kinds[] = {
	{ "thread", DW_HUE_GREY },          { "zone", DW_HUE_BLUE },
	{ "phase", DW_HUE_VIOLET },         { "operator", DW_HUE_AMBER },
	{ "layer", DW_HUE_GREEN },          { "data", DW_HUE_YELLOW },
	{ "action", DW_HUE_LIME },          { "event", DW_HUE_LIME },
	{ "handler", DW_HUE_LIME },         { "function", DW_HUE_STONE },
	{ "collector", DW_HUE_SLATE },      { "communication", DW_HUE_ROSE },
	{ "device", DW_HUE_TEAL },          { "checkpoint", DW_HUE_GREEN },
	{ "evaluation", DW_HUE_TEAL },      { "profiler", DW_HUE_SLATE },
	{ "other", DW_HUE_STONE },
	/* phases that are parts of a step have the parts' colours on every page (web/src/timeline/hues.js) */
	{ "forward phase", DW_HUE_BLUE },   { "backward phase", DW_HUE_VIOLET },
	{ "optimizer phase", DW_HUE_LIME },
	/* functions of samples */
#define X(name, words, hue) { words, DW_HUE_##hue },
	DW_FRAME_KINDS(X)
#undef X
};
#define PHASES 3u
#define KIND_FRAMES (sizeof kinds / sizeof *kinds - DW_FRAME_KIND_COUNT)
#define KIND_OTHER (KIND_FRAMES - 1 - PHASES)

struct flamegraph {
	const struct dw_paths *paths;
	const char **threads; /* by index: the names in the picture */
	uint8_t *frames;      /* by symbol: enum dw_frame_kind; NULL: not of samples */
	struct dw_arena arena;
};

static uint32_t flamegraph_kind(const struct dw_symbol *symbol)
{
	for (uint32_t i = 1; symbol->category == DWELL_CATEGORY_PHASE && i <= PHASES; i++)
		if (strncmp(symbol->name, kinds[KIND_OTHER + i].name, strlen(symbol->name)) == 0 &&
		    strcmp(kinds[KIND_OTHER + i].name + strlen(symbol->name), " phase") == 0)
			return (uint32_t)KIND_OTHER + i;
	return symbol->category + 1 < KIND_OTHER ? symbol->category + 1 : (uint32_t)KIND_OTHER;
}

/* ---- functions of samples ---------------------------------------------------------------- */

static enum dw_frame_kind flamegraph_frame_kind(const struct dw_source_frame *frame, const struct dw_source_function *function)
{
	switch (dw_library_of_function((struct dw_library){ frame->role, DW_ACTIVITY_UNKNOWN }, function->name, function->file).role) {
	case DW_LIBRARY_OWN:
		return !frame->module && !function->file && dw_code_is_nameless(function->name) ? DW_FRAME_UNKNOWN : DW_FRAME_OWN;
	case DW_LIBRARY_KERNEL:
		return DW_FRAME_SYSTEM;
	case DW_LIBRARY_INTERPRETER:
		return DW_FRAME_INTERPRETER;
	case DW_LIBRARY_RECORDER:
		return DW_FRAME_PROFILER;
	default:
		return DW_FRAME_LIBRARY;
	}
}

/* Sets the kind of the functions of a frame that have none yet. */
static void flamegraph_take_frame(const struct dw_map *names, const struct dw_symbol *symbols, uint8_t *of,
                        const struct dw_source_frame *frame)
{
	for (uint32_t i = 0; i < frame->count; i++) {
		const char *name = frame->functions[i].name;
		uint32_t at = DW_MAP_FIND(names, dw_map_hash_bytes(0, name, strlen(name)), n, strcmp(symbols[n].name, name) == 0);

		if (at != DW_MAP_NONE && of[at] == DW_FRAME_UNKNOWN)
			of[at] = (uint8_t)flamegraph_frame_kind(frame, &frame->functions[i]);
	}
}

uint8_t *dw_frame_kinds(struct dw_model *model, const struct dw_symbol *symbols, size_t count)
{
	const struct dw_source *source = dw_model_source(model);
	uint8_t *of = calloc(count + 1, 1);
	struct dw_map names = { NULL, 0, 0 };
	bool good = of != NULL;
	size_t first;

	dw_model_symbols(model, &first);
	for (size_t i = first; good && i < count; i++)
		good = dw_map_add(&names, dw_map_hash_bytes(0, symbols[i].name, strlen(symbols[i].name)), (uint32_t)i);
	for (size_t f = 0; good && f < source->file_count; f++)
		for (uint32_t id = 0; source->files[f].frames && id < source->files[f].symbol_count; id++)
			if (source->files[f].frames[id])
				flamegraph_take_frame(&names, symbols, of, source->files[f].frames[id]);
	dw_map_reset(&names);
	if (!good) {
		free(of);
		return NULL;
	}
	return of;
}

const char *dw_frame_kind_name(enum dw_frame_kind kind)
{
	static const char *const names[] = {
#define X(name, words, hue) words,
		DW_FRAME_KINDS(X)
#undef X
	};

	return names[kind];
}

/* ---- nodes ------------------------------------------------------------------------------- */

static void flamegraph_next_node(const void *context, size_t index, struct dw_picture_node *to)
{
	const struct flamegraph *graph = context;
	const struct dw_path *node = &graph->paths->nodes[index];
	bool thread = node->depth == 0;

	to->label = thread ? graph->threads[node->symbol] : graph->paths->symbols[node->symbol].name;
	to->value = node->total_ns;
	to->self = thread ? DW_PICTURE_NO_SELF : node->self_ns;
	to->count = node->count;
	to->depth = node->depth;
	to->kind = thread          ? 0
	           : graph->frames ? (uint32_t)KIND_FRAMES + graph->frames[node->symbol]
	                           : flamegraph_kind(&graph->paths->symbols[node->symbol]);
}

static uint32_t flamegraph_process(const struct dw_source *source, const struct dw_path *node)
{
	return source->threads[node->symbol].process;
}

/* Whether several processes have call paths. `dwell run` has none, nor have processes that only
 * wrote a fact. */
static bool flamegraph_has_processes(const struct dw_paths *paths, const struct dw_source *source)
{
	for (size_t i = 1; i < paths->count; i++)
		if (!paths->nodes[i].depth &&
		    flamegraph_process(source, &paths->nodes[i]) != flamegraph_process(source, &paths->nodes[0]))
			return true;
	return false;
}

static const char *flamegraph_thread_label(struct flamegraph *graph, const struct dw_model *model,
                                           uint32_t index, bool several)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_thread *thread = &source->threads[index];
	const struct dw_source_process *process = &source->processes[thread->process];
	char name[64], whose[64] = "";

	if (several && process->rank >= 0)
		snprintf(whose, sizeof whose, "rank %d: ", (int)process->rank);
	else if (several)
		snprintf(whose, sizeof whose, "process %u: ", process->pid);
	snprintf(name, sizeof name, "thread %u", thread->tid);
	if (*thread->name && dw_model_has_namesake(model, index))
		return dw_arena_printf(&graph->arena, "%s%s [%u]", whose, thread->name, thread->tid);
	return dw_arena_printf(&graph->arena, "%s%s", whose, *thread->name ? thread->name : name);
}

static bool flamegraph_name_threads(struct flamegraph *graph, const struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	bool several = flamegraph_has_processes(graph->paths, source);

	graph->threads = dw_arena_alloc(&graph->arena,
	                                (source->thread_count + 1) * sizeof *graph->threads);
	for (size_t i = 0; graph->threads && i < source->thread_count; i++) {
		graph->threads[i] = flamegraph_thread_label(graph, model, (uint32_t)i, several);
		if (!graph->threads[i])
			return false;
	}
	return graph->threads != NULL;
}

static const char *flamegraph_make_title(struct flamegraph *graph, const struct dw_source *source)
{
	const char *name = "";

	if (graph->paths->count)
		name = source->processes[flamegraph_process(source, &graph->paths->nodes[0])].label;
	return dw_arena_printf(&graph->arena, "%s", *name ? name : "dwell");
}

static const char *flamegraph_make_subtitle(struct flamegraph *graph)
{
	uint64_t total_ns = 0;
	size_t threads = 0, paths;

	for (size_t i = 0; i < graph->paths->count; i++) {
		if (graph->paths->nodes[i].depth)
			continue;
		total_ns += graph->paths->nodes[i].total_ns;
		threads++;
	}
	paths = graph->paths->count - threads;
	return dw_arena_printf(&graph->arena, "%s in %s call path%s of %zu thread%s; width is %s",
	                       dw_text_ns((double)total_ns, " ").at, dw_text_count((int64_t)paths).at,
	                       dw_text_plural(paths), threads, dw_text_plural(threads),
	                       graph->paths->of_waits ? "time of waiting by samples"
	                       : graph->paths->of_samples ? "CPU time by samples" : "time");
}

/* ---- metrics -------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum dw_paths_of of;
	bool device;
} metrics[] = {
	{ "time", DW_PATHS_CALLS, false },
	{ DW_METRIC_SAMPLES, DW_PATHS_CALLS, false },
	{ DW_METRIC_WAITS, DW_PATHS_CALLS, false },
	{ "self_cpu", DW_PATHS_STACKS, false },
	{ "self_cpu_time_total", DW_PATHS_STACKS, false },
	{ "self_cuda", DW_PATHS_STACKS, true },
	{ "self_cuda_time_total", DW_PATHS_STACKS, true },
};

/* The metrics that draw layers. */
static const struct {
	const char *name;
	enum dw_layer_picture_of of;
} of_layers[] = {
	{ "layers", DW_LAYER_PICTURE_TIME },
	{ "memory", DW_LAYER_PICTURE_MEMORY },
	{ "backward", DW_LAYER_PICTURE_BACKWARD },
};

static int flamegraph_refuse_metric(const char *name, struct dwell_error *error)
{
	struct dw_nearest nearest;

	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
		dw_nearest_try(&nearest, metrics[i].name);
	for (size_t i = 0; i < sizeof of_layers / sizeof *of_layers; i++)
		dw_nearest_try(&nearest, of_layers[i].name);
	return dw_error_set(error, DWELL_E_NAME,
	                    "no metric '%.100s'%s%s%s time, samples, waits or self_cpu, and of layers: layers, memory, "
	                    "backward", name,
	                    nearest.best ? ": did you mean '" : "; there are",
	                    nearest.best ? nearest.best : "", nearest.best ? "'? There are" : "");
}

/* NULL when the data was not recorded, or when the call fails. */
static const struct dw_paths *flamegraph_find_paths(struct dw_model *model, const char *name,
                                                    struct dwell_error *error)
{
	const struct dw_paths *paths;
	size_t i = 0;

	while (i < sizeof metrics / sizeof *metrics && strcmp(metrics[i].name, name) != 0)
		i++;
	if (i == sizeof metrics / sizeof *metrics) {
		flamegraph_refuse_metric(name, error);
		return NULL;
	}
	if (metrics[i].device) {
		dw_error_set(error, DWELL_E_NO_DATA,
		             dw_model_has_device(model)
		                 ? "%s: '%s' is not drawn; dwell export --format folded --metric self_cuda_time_total has the stacks"
		                 : "%s holds no device times to draw '%s' from; --metric self_cpu is the processor's",
		             dw_model_source(model)->files[0].path, name);
		return NULL;
	}
	paths = metrics[i].of == DW_PATHS_CALLS ? dw_model_drawn_paths(model, name, error)
	                                         : dw_model_paths(model, metrics[i].of, error);
	if (paths && metrics[i].of == DW_PATHS_STACKS && !paths->has_stacks) {
		dw_error_set(error, DWELL_E_NO_DATA, "%s has no stacks: record with --stacks",
		             dw_model_source(model)->files[0].path);
		return NULL;
	}
	return paths;
}

int dw_flamegraph_write(struct dw_model *model, const struct dw_flamegraph_options *options,
                        dw_put *put, void *to, struct dw_picture_drawn *drawn,
                        struct dwell_error *error)
{
	static const struct dw_flamegraph_options own = { .metric = NULL };
	struct dwell_error local = { 0, "" };
	struct flamegraph graph = { .paths = NULL };
	struct dw_picture picture = {
		.root = "all", .counted = "call", .unit = dw_text_ns,
		.kinds = kinds, .kind_count = sizeof kinds / sizeof *kinds,
		.node = flamegraph_next_node, .context = &graph,
	};
	int result;

	options = options ? options : &own;
	error = error ? error : &local;
	for (size_t i = 0; options->metric && i < sizeof of_layers / sizeof *of_layers; i++)
		if (strcmp(of_layers[i].name, options->metric) == 0)
			return dw_layer_picture_write(model, of_layers[i].of, options->title, options->down, put,
			                              to, drawn, error);
	graph.paths = flamegraph_find_paths(model, options->metric ? options->metric : "time", error);
	if (!graph.paths)
		return error->code;
	if (graph.paths->of_samples)
		graph.frames = dw_frame_kinds(model, graph.paths->symbols, graph.paths->symbol_count);
	picture.down = options->down;
	picture.count = graph.paths->count;
	picture.counted = graph.paths->of_samples ? "sample" : picture.counted;
	picture.title = options->title ? options->title : flamegraph_make_title(&graph, dw_model_source(model));
	picture.subtitle = flamegraph_make_subtitle(&graph);
	if (flamegraph_name_threads(&graph, model) && picture.title && picture.subtitle)
		result = dw_picture_write(&picture, put, to, drawn, error);
	else
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing a flame graph");
	dw_arena_reset(&graph.arena);
	free(graph.frames);
	return result;
}
