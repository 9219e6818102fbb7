/*
 * speedscope: the call tree as one sampled profile a thread, for speedscope.app.
 *
 * A sample is a path of the tree, its weight the nanoseconds spent in its last frame
 * itself, so that weights add up to the thread's busy time. Siblings come by time
 * taken, so the "time order" picture shows the tree, not the run. Frames are shared by
 * all profiles: one a name that occurs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "export/export.h"
#include "export/out.h"

/* A sample names its whole path: runaway recursion would grow it with the square. */
#define MOST_FRAMES 2048u

struct speedscope {
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	const struct dw_tree *tree;
	struct dw_writer_out *out;
	uint32_t *frames; /* by symbol: its frame + 1; 0: it does not occur */
};

static void write_frames(struct speedscope *speedscope)
{
	struct dw_writer_out *out = speedscope->out;
	uint32_t count = 0;

	dw_out_text(out, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < speedscope->tree->count; i++) {
		uint32_t index = speedscope->tree->nodes[i].symbol;
		const struct dw_symbol *symbol = &speedscope->symbols[index];

		if (index == DW_NO_INDEX || speedscope->frames[index])
			continue;
		dw_out_text(out, count ? ",\n{\"name\":" : "\n{\"name\":");
		speedscope->frames[index] = ++count;
		dw_out_string(out, symbol->name);
		if (symbol->file) {
			dw_out_text(out, ",\"file\":");
			dw_out_string(out, symbol->file);
		}
		if (symbol->file && symbol->line) {
			dw_out_text(out, ",\"line\":");
			dw_out_u64(out, symbol->line);
		}
		dw_out_text(out, "}");
	}
	dw_out_text(out, "]},\n");
}

/* Outermost first; of deeper ones the innermost frames. */
static void write_path(struct speedscope *speedscope, const struct dw_tree_node *node)
{
	uint32_t path[MOST_FRAMES], count = 0;

	for (; node->symbol != DW_NO_INDEX && count < MOST_FRAMES;
	     node = &speedscope->tree->nodes[node->parent])
		path[count++] = speedscope->frames[node->symbol] - 1;
	dw_out_text(speedscope->out, "[");
	while (count-- > 0) {
		dw_out_u64(speedscope->out, path[count]);
		dw_out_text(speedscope->out, count ? "," : "");
	}
	dw_out_text(speedscope->out, "]");
}

/* The nodes of the thread whose root is at `from`; those without own time are left out. */
static void write_samples(struct speedscope *speedscope, size_t from, size_t end)
{
	struct dw_writer_out *out = speedscope->out;
	bool any = false;

	dw_out_text(out, ",\n\"samples\":[");
	for (size_t i = from + 1; i < end; i++) {
		if (!speedscope->tree->nodes[i].stat.self_ns)
			continue;
		dw_out_text(out, any ? "," : "");
		any = true;
		write_path(speedscope, &speedscope->tree->nodes[i]);
	}
	any = false;
	dw_out_text(out, "],\n\"weights\":[");
	for (size_t i = from + 1; i < end; i++) {
		if (!speedscope->tree->nodes[i].stat.self_ns)
			continue;
		dw_out_text(out, any ? "," : "");
		any = true;
		dw_out_u64(out, speedscope->tree->nodes[i].stat.self_ns);
	}
	dw_out_text(out, "]}");
}

static void write_profile(struct speedscope *speedscope, size_t from, size_t end)
{
	const struct dw_source_thread *thread =
		&speedscope->source->threads[speedscope->tree->nodes[from].thread];
	const struct dw_source_process *process = &speedscope->source->processes[thread->process];
	struct dw_writer_out *out = speedscope->out;
	uint64_t total = 0;
	char name[256];

	for (size_t i = from + 1; i < end; i++)
		total += speedscope->tree->nodes[i].stat.self_ns;
	if (process->rank >= 0)
		snprintf(name, sizeof name, "rank %d: %.200s (%u)", (int)process->rank, thread->name,
		         thread->tid);
	else
		snprintf(name, sizeof name, "%.200s (%u)", thread->name, thread->tid);
	dw_out_text(out, "{\"type\":\"sampled\",\"name\":");
	dw_out_string(out, name);
	dw_out_text(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
	dw_out_u64(out, total);
	write_samples(speedscope, from, end);
}

static size_t end_of_thread(const struct dw_tree *tree, size_t root)
{
	size_t end = root + 1;

	while (end < tree->count && tree->nodes[end].symbol != DW_NO_INDEX)
		end++;
	return end;
}

static void write_document(struct speedscope *speedscope, const char *title)
{
	const struct dw_tree *tree = speedscope->tree;
	struct dw_writer_out *out = speedscope->out;

	dw_out_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	                 "\"exporter\":\"dwell ");
	dw_out_text(out, dwell_version());
	dw_out_text(out, "\",\n\"name\":");
	dw_out_string(out, title ? title : speedscope->source->files[0].path);
	dw_out_text(out, ",\n\"activeProfileIndex\":0,\n");
	write_frames(speedscope);
	dw_out_text(out, "\"profiles\":[");
	for (size_t i = 0, end; i < tree->count; i = end) {
		end = end_of_thread(tree, i);
		dw_out_text(out, i ? ",\n" : "\n");
		write_profile(speedscope, i, end);
	}
	dw_out_text(out, "]}\n");
}

int dw_export_speedscope(struct dw_model *model, const struct dw_export_options *options,
                         struct dw_writer_out *out, struct dwell_error *error)
{
	struct speedscope speedscope = { .source = dw_model_source(model), .out = out };
	size_t count;

	speedscope.tree = dw_model_tree(model, error);
	if (!speedscope.tree)
		return error ? error->code : DWELL_E_NOMEM;
	speedscope.symbols = dw_model_symbols(model, &count);
	speedscope.frames = calloc(count + 1, sizeof *speedscope.frames);
	if (!speedscope.frames)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while exporting to %s",
		                    dw_out_name(out));
	write_document(&speedscope, options ? options->title : NULL);
	free(speedscope.frames);
	return 0;
}
