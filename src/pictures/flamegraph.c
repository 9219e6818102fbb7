/* The call tree as a picture's nodes; see flamegraph.h. */
#include "pictures/flamegraph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

/* In the order of enum dwell_category; kind 0 is threads and the whole. */
static const struct dw_picture_kind kinds[] = {
	{ "thread", DW_HUE_GREY },          { "zone", DW_HUE_BLUE },
	{ "phase", DW_HUE_VIOLET },         { "operator", DW_HUE_AMBER },
	{ "layer", DW_HUE_GREEN },          { "data", DW_HUE_YELLOW },
	{ "action", DW_HUE_LIME },          { "event", DW_HUE_LIME },
	{ "handler", DW_HUE_LIME },         { "function", DW_HUE_STONE },
	{ "collector", DW_HUE_SLATE },      { "communication", DW_HUE_ROSE },
	{ "device", DW_HUE_TEAL },          { "checkpoint", DW_HUE_VIOLET },
	{ "evaluation", DW_HUE_VIOLET },    { "profiler", DW_HUE_SLATE },
	{ "other", DW_HUE_STONE },
};
#define KIND_OTHER (sizeof kinds / sizeof *kinds - 1)

struct flamegraph {
	const struct dw_tree *tree;
	const struct dw_symbol *symbols;
	const char **threads; /* by index: as they are called here */
	struct dw_arena arena;
};

static uint32_t kind_of(uint32_t category)
{
	return category + 1 < KIND_OTHER ? category + 1 : KIND_OTHER;
}

static void give_node(const void *context, size_t index, struct dw_picture_node *to)
{
	const struct flamegraph *graph = context;
	const struct dw_tree_node *node = &graph->tree->nodes[index];
	bool thread = node->symbol == DW_NO_INDEX;

	to->label = thread ? graph->threads[node->thread] : graph->symbols[node->symbol].name;
	to->value = node->stat.total_ns;
	to->self = thread ? DW_PICTURE_NO_SELF : node->stat.self_ns;
	to->count = node->stat.count;
	to->depth = node->depth;
	to->kind = thread ? 0 : kind_of(graph->symbols[node->symbol].category);
}

static uint32_t process_of(const struct dw_source *source, const struct dw_tree_node *node)
{
	return source->threads[node->thread].process;
}

/* The runner and others that only wrote a fact do not count. */
static bool several_processes(const struct dw_tree *tree, const struct dw_source *source)
{
	for (size_t i = 1; i < tree->count; i++)
		if (!tree->nodes[i].depth &&
		    process_of(source, &tree->nodes[i]) != process_of(source, &tree->nodes[0]))
			return true;
	return false;
}

static const char *thread_label(struct flamegraph *graph, const struct dw_source *source,
                                const struct dw_source_thread *thread, bool several)
{
	const struct dw_source_process *process = &source->processes[thread->process];
	char name[64], whose[64] = "";

	if (several && process->rank >= 0)
		snprintf(whose, sizeof whose, "rank %d: ", (int)process->rank);
	else if (several)
		snprintf(whose, sizeof whose, "process %u: ", process->pid);
	snprintf(name, sizeof name, "thread %u", thread->tid);
	return dw_arena_printf(&graph->arena, "%s%s", whose, *thread->name ? thread->name : name);
}

static bool name_threads(struct flamegraph *graph, const struct dw_source *source)
{
	bool several = several_processes(graph->tree, source);

	graph->threads = dw_arena_alloc(&graph->arena,
	                                (source->thread_count + 1) * sizeof *graph->threads);
	for (size_t i = 0; graph->threads && i < source->thread_count; i++) {
		graph->threads[i] = thread_label(graph, source, &source->threads[i], several);
		if (!graph->threads[i])
			return false;
	}
	return graph->threads != NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *make_title(struct flamegraph *graph, const struct dw_source *source)
{
	const char *name = "";

	if (graph->tree->count)
		name = source->processes[process_of(source, &graph->tree->nodes[0])].name;
	return dw_arena_printf(&graph->arena, "%s", *name ? last_part(name) : "dwell");
}

static const char *make_subtitle(struct flamegraph *graph)
{
	uint64_t total_ns = 0;
	size_t threads = 0, paths;

	for (size_t i = 0; i < graph->tree->count; i++) {
		if (graph->tree->nodes[i].depth)
			continue;
		total_ns += graph->tree->nodes[i].stat.total_ns;
		threads++;
	}
	paths = graph->tree->count - threads;
	return dw_arena_printf(&graph->arena, "%s in %s call path%s of %zu thread%s; width is time",
	                       dw_text_ns((double)total_ns, " ").at, dw_text_count((int64_t)paths).at,
	                       dw_text_plural(paths), threads, dw_text_plural(threads));
}

int dw_flamegraph_write(struct dw_model *model, const struct dw_flamegraph_options *options,
                        dw_put *put, void *to, struct dw_picture_drawn *drawn,
                        struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	struct flamegraph graph = { .tree = dw_model_tree(model, error) };
	struct dw_picture picture = {
		.root = "all", .counted = "call", .unit = dw_text_ns, .down = options && options->down,
		.kinds = kinds, .kind_count = sizeof kinds / sizeof *kinds,
		.node = give_node, .context = &graph,
	};
	int result;

	if (!graph.tree)
		return error ? error->code : DWELL_E_NOMEM;
	graph.symbols = dw_model_symbols(model, NULL);
	picture.count = graph.tree->count;
	picture.title = options && options->title ? options->title : make_title(&graph, source);
	picture.subtitle = make_subtitle(&graph);
	if (graph.symbols && name_threads(&graph, source) && picture.title && picture.subtitle)
		result = dw_picture_write(&picture, put, to, drawn, error);
	else
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing a flame graph");
	dw_arena_reset(&graph.arena);
	return result;
}
