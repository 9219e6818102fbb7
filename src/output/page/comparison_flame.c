/*
 * The differential flame graph: the call paths of the runs after, coloured by what changed.
 *
 * Width is time per step after the change, as in a flame graph of those runs. Colour is the change of
 * a path's own time: a change in a deep function would colour all callers too if totals were shown.
 * The colours are quarters of the largest change, which the legend states. A path that only the runs
 * before have has no width; the subtitle has the sum of these.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "diff/paths.h"
#include "page/comparison.h"
#include "pictures/picture.h"

enum { KIND_THREAD, KIND_SAME, KIND_FASTER, KIND_SLOWER = KIND_FASTER + DW_DIFF_CLASSES,
       KINDS = KIND_SLOWER + DW_DIFF_CLASSES };

struct flame {
	const struct dw_diff *diff;
	struct dw_diff_path *nodes;
	const uint32_t *order;      /* depth first */
	double largest_ns;          /* change of self time */
	char *note;                 /* space for the tooltip of the last node */
	size_t note_size;
};

static uint32_t flame_kind(const struct flame *flame, const struct dw_diff_path *node)
{
	int class = dw_diff_path_class(flame->diff, node, flame->largest_ns);

	if (!node->depth)
		return KIND_THREAD;
	return class == 0 ? KIND_SAME : class > 0 ? KIND_SLOWER + (uint32_t)class - 1 : KIND_FASTER + (uint32_t)-class - 1;
}

static void flame_next_node(const void *context, size_t index, struct dw_picture_node *to)
{
	const struct flame *flame = context;
	const struct dw_diff_path *node = &flame->nodes[flame->order[index]];
	double change = dw_diff_path_change(flame->diff, node->total), own = dw_diff_path_change(flame->diff, node->self);

	to->label = node->name;
	to->value = (uint64_t)(dw_diff_path_mean(flame->diff, node->total, DW_DIFF_AFTER) + 0.5);
	to->self = DW_PICTURE_NO_SELF;
	to->count = 0;
	to->depth = node->depth;
	to->kind = flame_kind(flame, node);
	snprintf(flame->note, flame->note_size, "; %s before, %s%s",
	         dw_text_ns(dw_diff_path_mean(flame->diff, node->total, DW_DIFF_BEFORE), " ").at, change < 0 ? "-" : "+",
	         dw_text_ns(fabs(change), " ").at);
	if (node->depth)
		snprintf(flame->note + strlen(flame->note), flame->note_size - strlen(flame->note),
		         "; self %s, %s%s; calls a step %.4g before, %.4g after",
		         dw_text_ns(dw_diff_path_mean(flame->diff, node->self, DW_DIFF_AFTER), " ").at, own < 0 ? "-" : "+",
		         dw_text_ns(fabs(own), " ").at, dw_diff_path_mean(flame->diff, node->calls, DW_DIFF_BEFORE),
		         dw_diff_path_mean(flame->diff, node->calls, DW_DIFF_AFTER));
	to->note = flame->note;
}

static const char flame_style[] =
    ".dwp .c11{fill:#dbe9f8}.dwp .c12{fill:#b3d3f1}.dwp .c13{fill:#7fb4e6}.dwp .c14{fill:#4f92d6}\n"
    ".dwp .c15{fill:#fbe0dc}.dwp .c16{fill:#f6bdb4}.dwp .c17{fill:#ef9285}.dwp .c18{fill:#e8604f}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".dwp .c11{fill:#2f3c4a}.dwp .c12{fill:#2c4c6e}.dwp .c13{fill:#275d96}.dwp .c14{fill:#1f6dbd}\n"
    ".dwp .c15{fill:#4f3733}.dwp .c16{fill:#6f3a32}.dwp .c17{fill:#903a2f}.dwp .c18{fill:#b23a2c}\n"
    "}\n";

static bool flame_name_kinds(struct dw_diff *diff, double largest_ns,
                             struct dw_picture_kind kinds[KINDS])
{
	kinds[KIND_THREAD] = (struct dw_picture_kind){ "thread", DW_HUE_GREY };
	kinds[KIND_SAME] = (struct dw_picture_kind){ "self time as before", DW_HUE_STONE };
	for (unsigned i = 0; i < DW_DIFF_CLASSES; i++) {
		double from = i ? largest_ns * i / DW_DIFF_CLASSES : largest_ns * DW_DIFF_LEAST;
		double to = largest_ns * (i + 1) / DW_DIFF_CLASSES;

		for (unsigned slower = 0; slower < 2; slower++) {
			const char *name = dw_arena_printf(&diff->arena, "%s%s to %s%s", slower ? "+" : "-",
			                                   dw_text_ns(from, " ").at, slower ? "+" : "-", dw_text_ns(to, " ").at);

			kinds[(slower ? KIND_SLOWER : KIND_FASTER) + i] = (struct dw_picture_kind){
				name, (enum dw_picture_hue)(DW_HUE_COUNT + slower * DW_DIFF_CLASSES + i) };
			if (!name)
				return false;
		}
	}
	return true;
}

static const char *flame_make_subtitle(struct dw_diff *diff, const struct flame *flame, size_t count)
{
	double gone = 0;

	for (size_t i = 0; i < count; i++)
		if (!(flame->nodes[i].total[DW_DIFF_AFTER] > 0))
			gone += dw_diff_path_mean(flame->diff, flame->nodes[i].self, DW_DIFF_BEFORE);
	return dw_arena_printf(&diff->arena, "Width: time per step after, of all threads. Colour: change of self time, "
	                                     "at most %s.%s%s%s", dw_text_ns(flame->largest_ns, " ").at,
	                       gone > 0 ? " Only before: " : "", gone > 0 ? dw_text_ns(gone, " ").at : "",
	                       gone > 0 ? "." : "");
}

static const char *flame_make_title(struct dw_diff *diff)
{
	const struct dw_diff_estimate *by = dw_diff_deciding(diff);
	static const char *const measures[] = {
		[DW_DIFF_BY_PACE] = NULL, [DW_DIFF_BY_FAST] = "fast steps", [DW_DIFF_BY_CPU] = "processor time"
	};
	size_t before = diff->sides[DW_DIFF_BEFORE].count;

	return dw_arena_printf(&diff->arena, "%s: %+.1f%% %s%s (%zu run%s before, %zu after)", dw_diff_verdict_words(diff),
	                       100 * by->difference / by->before, measures[diff->by] ? "in " : "per ",
	                       measures[diff->by] ? measures[diff->by] : dw_diff_unit(diff), before, dw_text_plural(before),
	                       diff->sides[DW_DIFF_AFTER].count);
}

int dw_page_comparison_flame(struct dw_diff *diff, dw_put *put, void *to, struct dwell_error *error)
{
	struct dw_picture_kind kinds[KINDS];
	char note[512] = "";
	size_t count;
	uint32_t *order = dw_diff_paths_sort(diff, false, &count);
	struct flame flame = { diff, diff->paths ? diff->paths->nodes : NULL, order,
		                   dw_diff_paths_largest_ns(diff), note, sizeof note };
	struct dw_picture picture = {
		.root = "all", .counted = "call", .unit = dw_text_ns, .kinds = kinds, .kind_count = KINDS,
		.node = flame_next_node, .context = &flame, .style = flame_style, .plain = true, .count = count,
	};
	int code = 0;

	if (order && flame_name_kinds(diff, flame.largest_ns, kinds)) {
		picture.title = flame_make_title(diff);
		picture.subtitle = flame_make_subtitle(diff, &flame, diff->paths ? diff->paths->count : 0);
	}
	if (picture.title && picture.subtitle)
		code = dw_picture_write(&picture, put, to, NULL, error);
	else
		code = dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing the comparison");
	free(order);
	return code;
}
