/*
 * Call paths for the flame graph of the page; see report.h.
 *
 *   [{"of":"ranges","names":[...],"left_out":N,"nodes":[depth,name,category,total ns,self ns,calls, ...]},
 *    {"of":"samples",...,"kinds":["own code",...],"kind":[by name]},{"of":"waits",...}]
 *
 * In the graphs of samples and of waits a node is a function, `calls` counts its samples, and `kind` says what it is. There the
 * threads of one name are one, but for the first of each process: a program may begin some for each piece of its work. A graph
 * that the trace has no data for is not in the list. Nodes are depth first; those of depth 0 are threads, whose category is -1.
 * Narrow nodes are left out, with all below them: the least width is doubled until few enough remain.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/samples/samples.h"
#include "model/time/call_sums.h"
#include "page/report.h"
#include "pictures/flamegraph.h"
#include "views/common.h"

/* Threads that are shown as one, by thread: the first of them, and for it how many they are. */
struct flame_kinds {
	uint32_t *first, *count;
};

struct flame {
	struct dw_model *model;
	const struct dw_paths *paths;
	uint32_t *number; /* by symbol: its place in `names` + 1; 0: it has none yet */
	uint32_t *names;  /* symbols, in the order of their first use */
	uint32_t name_count;
	const struct flame_kinds *kinds; /* NULL: each thread is shown */
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
	uint32_t count = flame->kinds ? flame->kinds->count[node->symbol] : 1;
	char name[256], *tid;

	if (node->depth)
		return;
	dw_view_thread_name(flame->model, node->symbol, false, name);
	tid = count > 1 ? strrchr(name, '[') : NULL;
	if (tid)
		snprintf(tid, sizeof name - (size_t)(tid - name), "(%u threads)", count);
	dw_out_text(to, flame_separator(flame));
	DW_PAGE_PUT(to, "'#':#", node->symbol, name);
}

static bool flame_is_kind(const struct dw_source_thread *thread, const struct dw_source_thread *other)
{
	return thread->process == other->process && *thread->name && strcmp(thread->name, other->name) == 0;
}

/* Finds the kind of each thread that has a path. False: out of memory. */
static bool flame_find_kinds(struct flame_kinds *kinds, const struct dw_source *source, const struct dw_paths *paths)
{
	uint32_t *all = calloc(source->thread_count + 1, sizeof *all), count = 0;

	kinds->first = calloc(source->thread_count + 1, sizeof *kinds->first);
	kinds->count = calloc(source->thread_count + 1, sizeof *kinds->count);
	for (size_t i = 0; all && kinds->first && kinds->count && i < paths->count; i++) {
		uint32_t thread = paths->nodes[i].symbol, at = 0;
		bool is_first;

		if (paths->nodes[i].depth)
			continue;
		is_first = source->threads[thread].tid == source->processes[source->threads[thread].process].pid;
		while (!is_first && at < count && !flame_is_kind(&source->threads[thread], &source->threads[all[at]]))
			at++;
		if (!is_first && at == count)
			all[count++] = thread;
		kinds->first[thread] = is_first ? thread : all[at];
		kinds->count[kinds->first[thread]]++;
	}
	free(all);
	return all && kinds->first && kinds->count;
}

/* Adds the paths of the threads of each kind. False: out of memory. */
static bool flame_merge(const struct flame_kinds *kinds, const struct dw_paths *paths, struct dw_paths *merged)
{
	struct dw_call_sums sums = dw_call_sums_make(DW_TREE_PATHS, false);
	uint32_t at[DW_TREE_DEEPEST + 2];
	bool good = true;

	for (size_t i = 0; good && i < paths->count; i++) {
		const struct dw_path *path = &paths->nodes[i];
		uint32_t node = path->depth ? dw_call_sums_child(&sums, at[path->depth - 1], path->symbol)
		                            : dw_call_sums_root(&sums, kinds->first[path->symbol]);

		good = node < DW_CALL_PATH_FOLDED;
		if (!good)
			break;
		at[path->depth] = node;
		if (!path->depth) /* it gets the sum of those below it */
			continue;
		dw_call_sums_at(&sums, node)->total += path->total_ns;
		dw_call_sums_at(&sums, node)->self += path->self_ns;
		dw_call_sums_at(&sums, node)->path.calls += path->count;
	}
	*merged = *paths;
	merged->nodes = NULL;
	good = good && dw_paths_put(merged, &sums, 1);
	dw_call_sums_reset(&sums);
	return good;
}

/* What the functions of samples are. If memory runs out, it is not said. */
static void flame_put_kinds(const struct flame *flame, struct dw_writer_out *out)
{
	uint8_t *kinds = dw_frame_kinds(flame->model, flame->paths->symbols, flame->paths->symbol_count);

	if (!kinds)
		return;
	dw_out_text(out, ",\"kinds\":[");
	for (unsigned i = 0; i < DW_FRAME_KIND_COUNT; i++) {
		dw_out_text(out, i ? "," : "");
		dw_out_string(out, dw_frame_kind_name((enum dw_frame_kind)i));
	}
	dw_out_text(out, "],\"kind\":[");
	for (uint32_t i = 0; i < flame->name_count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_out_u64(out, kinds[flame->names[i]]);
	}
	dw_out_text(out, "]");
	free(kinds);
}

static int flame_put(struct dw_writer_out *out, struct dw_model *model, const struct dw_paths *paths,
                     const struct flame_kinds *kinds, struct dwell_error *error)
{
	struct flame flame = { .model = model, .paths = paths, .kinds = kinds };
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
	DW_OUT_JSON(out, "{'of':#,'nodes':[", paths->of_waits ? "waits" : paths->of_samples ? "samples" : "ranges");
	shown = flame_walk(&flame, least_ns, flame_put_node, out);
	DW_PAGE_PUT(out, "],'left_out':#,'threads':{", flame.paths->count - shown);
	flame.any = false;
	flame_walk(&flame, least_ns, flame_put_thread, out);
	dw_out_text(out, "},\"names\":[");
	for (uint32_t i = 0; i < flame.name_count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_page_put_text(out, flame.paths->symbols[flame.names[i]].name);
	}
	dw_out_text(out, "]");
	if (paths->of_samples)
		flame_put_kinds(&flame, out);
	dw_out_text(out, "}");
	free(flame.number);
	free(flame.names);
	return 0;
}

/* If memory runs out, each thread is shown. */
static int flame_put_samples(struct dw_writer_out *out, struct dw_model *model, const struct dw_paths *paths,
                             struct dwell_error *error)
{
	struct flame_kinds kinds = { .first = NULL };
	struct dw_paths merged = { .nodes = NULL };
	bool is_merged = flame_find_kinds(&kinds, dw_model_source(model), paths) && flame_merge(&kinds, paths, &merged);
	int result = flame_put(out, model, is_merged ? &merged : paths, is_merged ? &kinds : NULL, error);

	free(merged.nodes);
	free(kinds.first);
	free(kinds.count);
	return result;
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
		result = paths->of_samples ? flame_put_samples(out, model, paths, error) : flame_put(out, model, paths, NULL, error);
	}
	dw_out_text(out, "]");
	return result;
}
