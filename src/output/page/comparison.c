/* The page of a comparison; see comparison.h. */
#include "page/comparison.h"

#include <errno.h>
#include <math.h>

#include "base/error.h"
#include "diff/paths.h"
#include "page/report.h"

#define COMPARISON_MOST_PATHS 64u      /* of a side; the page counts the others */
#define COMPARISON_MOST_OPERATORS 250u

/* ---- the flame graph --------------------------------------------------------------------------- */

struct comparison_flame {
	struct dw_diff *diff;
	struct dw_writer_out *out;
	uint32_t *order, *names; /* names: numbers of nodes, each the first with its name */
	size_t count, name_count, shown;
	double largest_ns;
	struct dw_map map;
};

static double comparison_widest(const struct comparison_flame *flame, const struct dw_diff_path *node)
{
	return fmax(dw_diff_path_mean(flame->diff, node->total, DW_DIFF_BEFORE),
	            dw_diff_path_mean(flame->diff, node->total, DW_DIFF_AFTER));
}

static void comparison_put_node(struct comparison_flame *flame, uint32_t at)
{
	const struct dw_diff_path *nodes = flame->diff->paths->nodes, *node = &nodes[at];
	const double *const sums[] = { node->total, node->self };
	uint32_t hash = dw_map_hash_bytes(0, node->name, strlen(node->name));
	uint32_t name = DW_MAP_FIND(&flame->map, hash, i, strcmp(nodes[flame->names[i]].name, node->name) == 0);
	struct dw_writer_out *out = flame->out;

	if (name == DW_MAP_NONE && dw_map_add(&flame->map, hash, (uint32_t)flame->name_count)) {
		name = (uint32_t)flame->name_count++;
		flame->names[name] = at;
	}
	if (name == DW_MAP_NONE) {
		out->error = ENOMEM;
		return;
	}
	dw_out_text(out, flame->shown++ ? ",\n" : "");
	DW_PAGE_PUT(out, "#,#,#,#", node->depth, name, node->depth ? (int64_t)node->category : -1,
	            dw_diff_path_class(flame->diff, node, flame->largest_ns));
	for (unsigned i = 0; i < 2; i++)
		for (unsigned side = 0; side < DW_DIFF_SIDES; side++) {
			DW_OUT_JSON(out, ",#", (int64_t)(dw_diff_path_mean(flame->diff, sums[i], side) + 0.5));
		}
	for (unsigned side = 0; side < DW_DIFF_SIDES; side++) {
		DW_OUT_JSON(out, ",#", round(1000 * dw_diff_path_mean(flame->diff, node->calls, side)) / 1000);
	}
}

/* Returns how many nodes are wide enough, and writes them if `put` is set. */
static size_t comparison_walk(struct comparison_flame *flame, double least_ns, bool put)
{
	const struct dw_diff_path *nodes = flame->diff->paths->nodes;
	uint32_t narrow = UINT32_MAX; /* depth of the narrow node whose children follow */
	size_t count = 0;

	for (size_t i = 0; i < flame->count; i++) {
		const struct dw_diff_path *node = &nodes[flame->order[i]];

		if (node->depth > narrow)
			continue;
		narrow = comparison_widest(flame, node) < least_ns ? node->depth : UINT32_MAX;
		if (narrow != UINT32_MAX)
			continue;
		count++;
		if (put)
			comparison_put_node(flame, flame->order[i]);
	}
	return count;
}

static void comparison_put_nodes(struct comparison_flame *flame)
{
	double least_ns = 0;

	for (size_t i = 0; i < flame->count; i++)
		if (!flame->diff->paths->nodes[flame->order[i]].depth)
			least_ns += comparison_widest(flame, &flame->diff->paths->nodes[flame->order[i]]);
	for (least_ns = least_ns / 20000 + 1; comparison_walk(flame, least_ns, false) > DW_PAGE_MOST_PATHS;)
		least_ns *= 2;
	DW_OUT_JSON(flame->out, "'flame':{'largest_ns':#,'nodes':[", flame->largest_ns);
	comparison_walk(flame, least_ns, true);
	DW_PAGE_PUT(flame->out, "],'left_out':#,'names':[", flame->count - flame->shown);
	for (size_t i = 0; i < flame->name_count; i++) {
		dw_out_text(flame->out, i ? "," : "");
		dw_page_put_text(flame->out, flame->diff->paths->nodes[flame->names[i]].name);
	}
	dw_out_text(flame->out, "]}");
}

static int comparison_put_flame(struct dw_diff *diff, struct dw_writer_out *out, struct dwell_error *error)
{
	struct comparison_flame flame = { .diff = diff, .out = out, .largest_ns = dw_diff_paths_largest_ns(diff) };
	int code = 0;

	flame.order = dw_diff_paths_sort(diff, true, &flame.count);
	flame.names = malloc((flame.count + 1) * sizeof *flame.names);
	if (!flame.order || !flame.names)
		code = dw_error_set(error, DWELL_E_NOMEM, "out of memory while writing call paths");
	else if (!flame.count)
		dw_out_text(out, "\"flame\":{\"largest_ns\":0,\"nodes\":[],\"left_out\":0,\"names\":[]}");
	else
		comparison_put_nodes(&flame);
	free(flame.order);
	free(flame.names);
	dw_map_reset(&flame.map);
	return code;
}

/* ---- the page ----------------------------------------------------------------------------------- */

static void comparison_put_side(const struct dw_diff *diff, unsigned side, struct dw_writer_out *out)
{
	dw_out_text(out, side == DW_DIFF_BEFORE ? "\"before\":[" : ",\"after\":[");
	for (size_t i = 0; i < diff->sides[side].count && i < COMPARISON_MOST_PATHS; i++) {
		dw_out_text(out, i ? "," : "");
		dw_page_put_text(out, diff->sides[side].runs[i].path);
	}
	dw_out_text(out, side == DW_DIFF_BEFORE ? "],\"before_count\":" : "],\"after_count\":");
	dw_out_u64(out, diff->sides[side].count);
}

static int comparison_put_tables(const struct dw_diff *diff, struct dw_writer_out *out, struct dwell_error *error)
{
	struct dwell_table *lists[] = { dw_diff_table(diff), dw_diff_comparable_table(diff),
		                            dw_diff_environment_table(diff), dw_diff_names_table(diff) };
	bool failed = false, any = false;

	for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
		failed |= !lists[i] || lists[i]->failed;
	for (unsigned i = 0; i < sizeof lists / sizeof *lists && !failed; i++)
		for (struct dwell_table *table = lists[i]; table; table = table->next) {
			if (table->part && strcmp(table->part, "operators") == 0)
				dw_table_limit(table, COMPARISON_MOST_OPERATORS);
			dw_out_text(out, any ? ",\n" : "\n");
			dw_page_put_table(out, table, i == 3 ? "names" : NULL);
			any = true;
		}
	for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
		dw_table_destroy(lists[i]);
	return failed ? dw_error_set(error, DWELL_E_NOMEM, "out of memory while writing the comparison") : 0;
}

int dw_page_comparison(struct dw_diff *diff, struct dw_writer_out *out, struct dwell_error *error)
{
	const char *mark = strstr(dw_page_bundle, DW_PAGE_DATA_MARK);
	int code;

	dw_out_bytes(out, dw_page_bundle, (size_t)(mark - dw_page_bundle));
	dw_out_text(out, "{\"version\":1,\"comparison\":{");
	comparison_put_side(diff, DW_DIFF_BEFORE, out);
	comparison_put_side(diff, DW_DIFF_AFTER, out);
	dw_out_text(out, "},\n\"tables\":[");
	code = comparison_put_tables(diff, out, error);
	dw_out_text(out, "],\n");
	code = code ? code : comparison_put_flame(diff, out, error);
	dw_out_text(out, "}");
	dw_out_text(out, mark + strlen(DW_PAGE_DATA_MARK));
	return code;
}
