/*
 * Folded stacks: "thread;outer;inner NANOSECONDS", the input of flame graph tools.
 *
 * Each line is a path of the call tree with the self time of its last frame. Times are in
 * nanoseconds, so that they add up exactly to the busy time of the threads. Paths without self time
 * are omitted. Without ranges, or with the metric samples, a line is a path of functions with its
 * CPU time by samples. If several processes have stacks, a stack begins with a frame for its process.
 * Threads with the same name may have equal paths; these are separate lines, which the tools add
 * up. Metrics other than time use the recorded call stacks (folded_stacks.c).
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "export/export.h"
#include "export/out.h"
#include "model/samples/samples.h"

/* Deeper frames become one frame "(deeper)". Otherwise the size of the file would grow with
 * the square of the depth of a runaway recursion. */
#define MOST_FRAMES 2048u

struct folded {
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	struct dw_writer_out path;    /* in memory: the frames so far */
	size_t ends[MOST_FRAMES + 2]; /* by depth: the length of the path with that frame */
	bool name_process;
};

/* Replaces separators in a name, and bytes that are not UTF-8, on which some tools stop. */
static void folded_add_frame(struct dw_writer_out *path, const char *name)
{
	while (*name) {
		uint32_t code = dw_utf8_next(&name);
		char *to = dw_out_reserve(path, 4);

		if (!to)
			return;
		dw_out_wrote(path, to + dw_utf8_put(to, code == ';' || dw_utf8_steers(code) ? '_' : code));
	}
}

static void folded_add_thread(struct folded *folded, uint32_t index)
{
	const struct dw_source_thread *thread = &folded->source->threads[index];
	const struct dw_source_process *process = &folded->source->processes[thread->process];
	char text[64];

	if (folded->name_process) {
		if (process->rank >= 0)
			snprintf(text, sizeof text, "rank %d (%u)", (int)process->rank, process->pid);
		else
			snprintf(text, sizeof text, "process %u", process->pid);
		folded_add_frame(&folded->path, text);
		dw_out_bytes(&folded->path, ";", 1);
	}
	snprintf(text, sizeof text, "thread %u", thread->tid);
	folded_add_frame(&folded->path, *thread->name ? thread->name : text);
}

static bool folded_has_processes(const struct dw_source *source, const struct dw_paths *paths)
{
	uint32_t first = DW_NO_INDEX;

	for (size_t i = 0; i < paths->count; i++) {
		uint32_t process;

		if (paths->nodes[i].depth)
			continue;
		process = source->threads[paths->nodes[i].symbol].process;
		if (first != DW_NO_INDEX && process != first)
			return true;
		first = process;
	}
	return false;
}

static void folded_put_node(struct folded *folded, struct dw_writer_out *out, const struct dw_path *node)
{
	uint32_t depth = node->depth < MOST_FRAMES ? node->depth : MOST_FRAMES;

	folded->path.used = depth ? folded->ends[depth - 1] : 0;
	if (depth)
		dw_out_bytes(&folded->path, ";", 1);
	if (!depth)
		folded_add_thread(folded, node->symbol);
	else
		folded_add_frame(&folded->path, depth == MOST_FRAMES ? "(deeper)" : folded->symbols[node->symbol].name);
	folded->ends[depth] = folded->path.used;
	if (!depth || !node->self_ns)
		return;
	dw_out_bytes(out, folded->path.buffer, folded->path.used);
	dw_out_bytes(out, " ", 1);
	dw_out_u64(out, node->self_ns);
	dw_out_bytes(out, "\n", 1);
}

static int folded_write(struct dw_model *model, const struct dwell_export_options *options,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	const struct dw_paths *paths;
	struct folded *folded;
	int result = 0;

	if (options && options->metric && strcmp(options->metric, "time") != 0 &&
	    strcmp(options->metric, DW_METRIC_SAMPLES) != 0 && strcmp(options->metric, DW_METRIC_WAITS) != 0)
		return dw_export_folded_stacks(model, options, out, error);
	paths = dw_model_drawn_paths(model, options ? options->metric : NULL, error);
	if (!paths)
		return error ? error->code : DWELL_E_NOMEM;
	folded = calloc(1, sizeof *folded);
	if (!folded)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while exporting to %s", dw_out_name(out));
	folded->source = dw_model_source(model);
	folded->symbols = paths->symbols;
	folded->name_process = folded_has_processes(folded->source, paths);
	dw_out_init_memory(&folded->path);
	for (size_t i = 0; i < paths->count && !folded->path.error; i++)
		folded_put_node(folded, out, &paths->nodes[i]);
	if (folded->path.error)
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while exporting to %s", dw_out_name(out));
	dw_out_reset(&folded->path);
	free(folded);
	return result;
}

const struct dw_export_format dw_export_folded = {
	.name = "folded", .what = "call stacks with their own nanoseconds, a line each, for flame graphs",
	.takes_metric = true, .write = folded_write,
};
