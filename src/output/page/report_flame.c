/*
 * Call paths for the flame graph of the page; see report.h.
 *
 *   [{"of":"ranges","names":[...],"left_out":N,"nodes":[depth,name,category,total ns,self ns,calls, ...]},
 *    {"of":"samples",...},{"of":"waits",...}]
 *
 * In the graphs of samples and of waits a node is a function, and `calls` counts its samples. A graph that the trace has no
 * data for is not in the list. Nodes are depth first; those of depth 0 are threads, whose category is -1. Narrow nodes are left
 * out, with all below them: the least width is doubled until few enough remain.
 */
#include <stdlib.h>

#include "base/error.h"
#include "model/samples/samples.h"
#include "page/report.h"
#include "views/common.h"

struct flame {
	struct dw_model *model;
	const struct dw_paths *paths;
	uint32_t *number; /* by symbol: its place in `names` + 1; 0: it has none yet */
	uint32_t *names;  /* symbols, in the order of their first use */
	uint32_t name_count;
	bool any;        /* the list that is written has an entry: the first node may be too narrow for one */
};

/* Calls visit() for each node that is wide enough. Returns how many there are. */
static size_t flame_walk(const struct flame *flame, uint64_t least_ns,
                         void (*visit)(struct flame *flame, const struct dw_path *node, void *to),
                         void *to)
{
	size_t count = 0;
	uint32_t narrow = UINT32_MAX; /* depth of the narrow node whose children follow */

	for (size_t i = 0; i < flame->paths->count; i++) {
		const struct dw_path *node = &flame->paths->nodes[i];

		if (node->depth > narrow)
			continue;
		narrow = node->total_ns < least_ns ? node->depth : UINT32_MAX;
		if (narrow != UINT32_MAX)
			continue;
		count++;
		if (visit)
			visit((struct flame *)(uintptr_t)flame, node, to);
	}
	return count;
}

static uint64_t flame_least_ns(const struct flame *flame)
{
	uint64_t all_ns = 0, least_ns;

	for (size_t i = 0; i < flame->paths->count; i++)
		all_ns += flame->paths->nodes[i].depth ? 0 : flame->paths->nodes[i].total_ns;
	for (least_ns = all_ns / 20000 + 1; flame_walk(flame, least_ns, NULL, NULL) > DW_PAGE_MOST_PATHS;)
		least_ns *= 2;
	return least_ns;
}

static const char *flame_separator(struct flame *flame)
{
	const char *separator = flame->any ? "," : "";

	flame->any = true;
	return separator;
}

static void flame_put_node(struct flame *flame, const struct dw_path *node, void *to)
{
	struct dw_writer_out *out = to;
	bool thread = node->depth == 0;
	uint32_t name = 0;
	int64_t category = -1;

	if (!thread) {
		if (!flame->number[node->symbol]) {
			flame->names[flame->name_count++] = node->symbol;
			flame->number[node->symbol] = flame->name_count;
		}
		name = flame->number[node->symbol] - 1;
		category = flame->paths->symbols[node->symbol].category;
	}
	dw_out_text(out, flame_separator(flame));
	DW_PAGE_PUT(out, "#,#,#,#,#,#", node->depth, thread ? node->symbol : name, category, node->total_ns,
	            thread ? 0 : node->self_ns, node->count);
}

static void flame_put_thread(struct flame *flame, const struct dw_path *node, void *to)
{
	char name[256];

	if (node->depth)
		return;
	dw_out_text(to, flame_separator(flame));
	DW_PAGE_PUT(to, "'#':#", node->symbol, dw_view_thread_name(flame->model, node->symbol, false, name));
}

static int flame_put(struct dw_writer_out *out, struct dw_model *model, const char *of, const struct dw_paths *paths,
                     struct dwell_error *error)
{
	struct flame flame = { .model = model, .paths = paths };
	size_t symbols = paths->symbol_count, shown;
	uint64_t least_ns;

	flame.number = calloc(symbols + 1, sizeof *flame.number);
	flame.names = calloc(symbols + 1, sizeof *flame.names);
	if (!flame.number || !flame.names) {
		free(flame.number);
		free(flame.names);
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while writing call paths");
	}
	least_ns = flame_least_ns(&flame);
	DW_OUT_JSON(out, "{'of':#,'nodes':[", of);
	shown = flame_walk(&flame, least_ns, flame_put_node, out);
	DW_PAGE_PUT(out, "],'left_out':#,'threads':{", flame.paths->count - shown);
	flame.any = false;
	flame_walk(&flame, least_ns, flame_put_thread, out);
	dw_out_text(out, "},\"names\":[");
	for (uint32_t i = 0; i < flame.name_count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_page_put_text(out, flame.paths->symbols[flame.names[i]].name);
	}
	dw_out_text(out, "]}");
	free(flame.number);
	free(flame.names);
	return 0;
}

int dw_page_put_flame(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error)
{
	static const char *const metrics[] = { NULL, DW_METRIC_SAMPLES, DW_METRIC_WAITS };
	bool any = false, has_samples = false;
	int result = 0;

	dw_out_text(out, "[");
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics && !result; i++) {
		const struct dw_paths *paths;

		if (i == 1 && has_samples)
			continue;
		paths = dw_model_drawn_paths(model, metrics[i], error);
		if (!paths && error->code != DWELL_E_NO_DATA)
			return error->code;
		if (!paths || !paths->count)
			continue;
		has_samples |= paths->of_samples && !paths->of_waits;
		dw_out_text(out, any ? ",\n" : "");
		any = true;
		result = flame_put(out, model, paths->of_waits ? "waits" : paths->of_samples ? "samples" : "ranges", paths, error);
	}
	dw_out_text(out, "]");
	return result;
}
