/*
 * speedscope: the call tree as one sampled profile per thread, for speedscope.app.
 *
 * A sample is a path of the tree. Its weight is the self time of its last frame in nanoseconds, so
 * weights add up to the busy time of the thread. Siblings are ordered by their time, so the view
 * "time order" shows the tree and not the order of the run. All profiles share their frames, one
 * for each name.
 */
#include <stdlib.h>

#include "base/error.h"
#include "export/export.h"
#include "export/out.h"
#include "model/samples/samples.h"

/* A sample contains its whole path, so without a limit the size of the file would grow with the
 * square of the depth of a runaway recursion. */
#define MOST_FRAMES 2048u

struct speedscope {
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	const struct dw_paths *paths;
	struct dw_writer_out *out;
	uint32_t *frames; /* by symbol: its frame + 1; 0: not used */
	uint32_t path[MOST_FRAMES + 1]; /* by depth: frames */
};

static void speedscope_put_frames(struct speedscope *speedscope)
{
	struct dw_writer_out *out = speedscope->out;
	uint32_t count = 0;

	dw_out_text(out, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < speedscope->paths->count; i++) {
		uint32_t index = speedscope->paths->nodes[i].symbol;
		const struct dw_symbol *symbol = &speedscope->symbols[index];

		if (!speedscope->paths->nodes[i].depth || speedscope->frames[index])
			continue;
		dw_out_text(out, count ? ",\n{\"name\":" : "\n{\"name\":");
		speedscope->frames[index] = ++count;
		dw_out_string(out, symbol->name);
		if (symbol->file)
			DW_OUT_JSON(out, ",'file':#", symbol->file);
		if (symbol->file && symbol->line)
			DW_OUT_JSON(out, ",'line':#", symbol->line);
		dw_out_text(out, "}");
	}
	dw_out_text(out, "]},\n");
}

/* Writes the frames of a path, outermost first; if it is too deep, only the outermost ones. */
static void speedscope_put_path(struct speedscope *speedscope, uint32_t depth)
{
	dw_out_text(speedscope->out, "[");
	for (uint32_t i = 1; i <= depth && i <= MOST_FRAMES; i++) {
		dw_out_text(speedscope->out, i > 1 ? "," : "");
		dw_out_u64(speedscope->out, speedscope->path[i]);
	}
	dw_out_text(speedscope->out, "]");
}

/* Writes the nodes of the thread whose root is at `from`, except those without self time. */
static void speedscope_put_samples(struct speedscope *speedscope, size_t from, size_t end)
{
	struct dw_writer_out *out = speedscope->out;
	bool any = false;

	dw_out_text(out, ",\n\"samples\":[");
	for (size_t i = from + 1; i < end; i++) {
		const struct dw_path *node = &speedscope->paths->nodes[i];

		if (node->depth <= MOST_FRAMES)
			speedscope->path[node->depth] = speedscope->frames[node->symbol] - 1;
		if (!node->self_ns)
			continue;
		dw_out_text(out, any ? "," : "");
		any = true;
		speedscope_put_path(speedscope, node->depth);
	}
	any = false;
	dw_out_text(out, "],\n\"weights\":[");
	for (size_t i = from + 1; i < end; i++) {
		if (!speedscope->paths->nodes[i].self_ns)
			continue;
		dw_out_text(out, any ? "," : "");
		any = true;
		dw_out_u64(out, speedscope->paths->nodes[i].self_ns);
	}
	dw_out_text(out, "]}");
}

static void speedscope_put_profile(struct speedscope *speedscope, size_t from, size_t end)
{
	const struct dw_source_thread *thread = &speedscope->source->threads[speedscope->paths->nodes[from].symbol];
	const struct dw_source_process *process = &speedscope->source->processes[thread->process];
	struct dw_writer_out *out = speedscope->out;
	uint64_t total = 0;
	char name[256];

	for (size_t i = from + 1; i < end; i++)
		total += speedscope->paths->nodes[i].self_ns;
	if (process->rank >= 0)
		snprintf(name, sizeof name, "rank %d: %.200s (%u)", (int)process->rank, thread->name, thread->tid);
	else
		snprintf(name, sizeof name, "%.200s (%u)", thread->name, thread->tid);
	DW_OUT_JSON(out, "{'type':'sampled','name':#,'unit':'nanoseconds','startValue':0,'endValue':#", name, total);
	speedscope_put_samples(speedscope, from, end);
}

static size_t speedscope_thread_end(const struct dw_paths *paths, size_t root)
{
	size_t end = root + 1;

	while (end < paths->count && paths->nodes[end].depth)
		end++;
	return end;
}

static void speedscope_put_document(struct speedscope *speedscope, const char *title)
{
	const struct dw_paths *paths = speedscope->paths;
	struct dw_writer_out *out = speedscope->out;

	dw_out_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"dwell ");
	dw_out_text(out, dwell_version());
	DW_OUT_JSON(out, "',\n'name':#,\n'activeProfileIndex':0,\n", title ? title : speedscope->source->files[0].path);
	speedscope_put_frames(speedscope);
	dw_out_text(out, "\"profiles\":[");
	for (size_t i = 0, end; i < paths->count; i = end) {
		end = speedscope_thread_end(paths, i);
		dw_out_text(out, i ? ",\n" : "\n");
		speedscope_put_profile(speedscope, i, end);
	}
	dw_out_text(out, "]}\n");
}

static int speedscope_write(struct dw_model *model, const struct dwell_export_options *options,
                            struct dw_writer_out *out, struct dwell_error *error)
{
	const struct dw_paths *paths = dw_model_drawn_paths(model, options ? options->metric : NULL, error);
	struct speedscope *speedscope;

	if (!paths)
		return error ? error->code : DWELL_E_NOMEM;
	speedscope = calloc(1, sizeof *speedscope);
	if (speedscope) {
		speedscope->source = dw_model_source(model);
		speedscope->symbols = paths->symbols;
		speedscope->paths = paths;
		speedscope->out = out;
		speedscope->frames = calloc(paths->symbol_count + 1, sizeof *speedscope->frames);
	}
	if (!speedscope || !speedscope->frames) {
		free(speedscope);
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while exporting to %s", dw_out_name(out));
	}
	speedscope_put_document(speedscope, options ? options->title : NULL);
	free(speedscope->frames);
	free(speedscope);
	return 0;
}

const struct dw_export_format dw_export_speedscope = {
	.name = "speedscope", .what = "the call tree of each thread, for speedscope.app", .takes_metric = true,
	.write = speedscope_write,
};
