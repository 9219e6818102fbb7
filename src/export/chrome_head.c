/*
 * What stands above the events: where the trace is from, what was recorded and what was
 * lost; what the program said about itself.
 *
 * Called by chrome.c, once.
 */
#include <stdlib.h>

#include "export/chrome.h"
#include "export/stacks.h"

static void write_key(struct dw_writer_out *out, bool *any, const char *key)
{
	dw_out_text(out, *any ? "," : "");
	*any = true;
	dw_out_string(out, key);
	dw_out_text(out, ":");
}

static int compare_metas(const void *left, const void *right)
{
	const struct dw_source_meta *a = *(const struct dw_source_meta *const *)left;
	const struct dw_source_meta *b = *(const struct dw_source_meta *const *)right;
	int order;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	order = strcmp(a->key, b->key);
	return order ? order : a < b ? -1 : 1;
}

static void write_value(struct dw_writer_out *out, const struct dw_source_meta *meta)
{
	if (meta->json && dw_json_valid(meta->value))
		dw_out_text(out, meta->value);
	else
		dw_out_string(out, meta->value);
}

/* Those of `process` from `metas` on, the last value of each key. */
static void write_metas(struct dw_writer_out *out, const struct dw_source_meta **metas,
                        size_t count, uint32_t process)
{
	bool any = false;

	dw_out_text(out, ",\"meta\":{");
	for (size_t i = 0; i < count && metas[i]->process == process; i++) {
		const struct dw_source_meta *meta = metas[i];

		if (i + 1 < count && metas[i + 1]->process == process &&
		    strcmp(metas[i + 1]->key, meta->key) == 0)
			continue;
		write_key(out, &any, meta->key);
		write_value(out, meta);
	}
	dw_out_text(out, "}");
}

static void write_process(struct dw_chrome *chrome, uint32_t index,
                          const struct dw_source_meta **metas, size_t meta_count)
{
	const struct dw_source_process *process = &chrome->source->processes[index];
	struct dw_writer_out *out = chrome->out;

	dw_out_text(out, "\n{\"pid\":");
	dw_out_u64(out, chrome->pids[index]);
	dw_out_text(out, ",\"name\":");
	dw_out_string(out, process->name);
	dw_out_text(out, ",\"command\":");
	dw_out_string(out, process->command);
	if (*process->job) {
		dw_out_text(out, ",\"job\":");
		dw_out_string(out, process->job);
	}
	if (process->rank >= 0) {
		dw_out_text(out, ",\"rank\":");
		dw_out_i64(out, process->rank);
		dw_out_text(out, ",\"world_size\":");
		dw_out_i64(out, process->world_size);
	}
	dw_out_text(out, ",\"host\":");
	dw_out_string(out, chrome->source->files[process->file].head->hostname);
	write_metas(out, metas, meta_count, index);
	dw_out_text(out, "}");
}

static void write_processes(struct dw_chrome *chrome)
{
	const struct dw_source *source = chrome->source;
	const struct dw_source_meta **metas = calloc(source->meta_count + 1, sizeof *metas);
	size_t at = 0;
	bool any = false;

	if (!metas) {
		chrome->failed = true;
		return;
	}
	for (size_t i = 0; i < source->meta_count; i++)
		metas[i] = &source->metas[i];
	qsort(metas, source->meta_count, sizeof *metas, compare_metas);
	dw_out_text(chrome->out, ",\n\"processes\":[");
	for (uint32_t i = 0; i < source->process_count; i++) {
		if (source->processes[i].flags & DW_PROCESS_RUNNER)
			continue;
		while (at < source->meta_count && metas[at]->process < i)
			at++;
		dw_out_text(chrome->out, any ? "," : "");
		any = true;
		write_process(chrome, i, metas + at, source->meta_count - at);
	}
	dw_out_text(chrome->out, "]");
	free(metas);
}

/* Keys that the document has of its own. */
static bool is_ours(const char *key)
{
	static const char *const ours[] = {
		"schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "deviceProperties",
		"distributedInfo", "record_shapes", "with_stack", "profile_memory", "dwell",
		"traceEvents", "traceName",
	};

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcmp(key, ours[i]) == 0)
			return true;
	return false;
}

/* The facts of the first process that has any, where tools for PyTorch's traces look for
 * what a program said about itself. */
static void write_facts(struct dw_chrome *chrome)
{
	const struct dw_source *source = chrome->source;
	const struct dw_source_meta **metas = calloc(source->meta_count + 1, sizeof *metas);

	if (!metas) {
		chrome->failed = true;
		return;
	}
	for (size_t i = 0; i < source->meta_count; i++)
		metas[i] = &source->metas[i];
	qsort(metas, source->meta_count, sizeof *metas, compare_metas);
	for (size_t i = 0; i < source->meta_count && metas[i]->process == metas[0]->process; i++) {
		bool last = i + 1 == source->meta_count || metas[i + 1]->process != metas[i]->process ||
		            strcmp(metas[i + 1]->key, metas[i]->key) != 0;

		if (!last || is_ours(metas[i]->key))
			continue;
		dw_out_string(chrome->out, metas[i]->key);
		dw_out_text(chrome->out, ":");
		write_value(chrome->out, metas[i]);
		dw_out_text(chrome->out, ",\n");
	}
	free(metas);
}

/* What was recorded beside times: 1 or 0, as PyTorch says it. */
static void write_recorded(struct dw_chrome *chrome)
{
	bool shapes = false, stacks = dw_stacks_any(chrome->source);
	uint32_t categories = dw_model_categories(chrome->model);

	for (size_t i = 0; i < chrome->symbol_count; i++)
		shapes |= chrome->symbols[i].shapes != NULL &&
		          chrome->symbols[i].category == DWELL_CATEGORY_OPERATOR;
	dw_out_text(chrome->out, shapes ? "\"record_shapes\":1,\n" : "\"record_shapes\":0,\n");
	dw_out_text(chrome->out, stacks ? "\"with_stack\":1,\n" : "\"with_stack\":0,\n");
	dw_out_text(chrome->out, categories >> DWELL_CATEGORY_ALLOCATION & 1
	                             ? "\"profile_memory\":1,\n"
	                             : "\"profile_memory\":0,\n");
}

static void write_losses(struct dw_chrome *chrome)
{
	static const char *const causes[DW_LOSS_SLOTS] = {
#define X(name, label, text) label,
		DW_LOSS_CAUSES(X)
#undef X
	};
	bool any = false;

	dw_out_text(chrome->out, ",\n\"losses\":{");
	for (unsigned i = 0; i < DW_LOSS_SLOTS; i++) {
		if (!chrome->source->lost[i] || !causes[i])
			continue;
		write_key(chrome->out, &any, causes[i]);
		dw_out_u64(chrome->out, chrome->source->lost[i]);
	}
	dw_out_text(chrome->out, "}");
}

static void write_texts(struct dw_chrome *chrome, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		dw_out_text(chrome->out, i ? "," : "");
		dw_out_string(chrome->out, texts[i]);
	}
	dw_out_text(chrome->out, "]");
}

/* Kineto's way to say which rank a file is of; a file of several has none. */
static void write_rank(struct dw_chrome *chrome)
{
	const struct dw_source_process *ranked = NULL;

	for (size_t i = 0; i < chrome->source->process_count; i++) {
		const struct dw_source_process *process = &chrome->source->processes[i];

		if (process->rank < 0)
			continue;
		if (ranked && ranked->rank != process->rank)
			return;
		ranked = process;
	}
	if (!ranked)
		return;
	dw_out_text(chrome->out, "\"distributedInfo\":{\"rank\":");
	dw_out_i64(chrome->out, ranked->rank);
	dw_out_text(chrome->out, ",\"world_size\":");
	dw_out_i64(chrome->out, ranked->world_size);
	dw_out_text(chrome->out, "},\n");
}

void dw_chrome_head(struct dw_chrome *chrome)
{
	struct dw_writer_out *out = chrome->out;
	const char *const *repairs;
	size_t count;

	dw_out_text(out,
	            "{\"schemaVersion\":1,\n\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":");
	dw_out_u64(out, chrome->source->realtime_start_ns);
	dw_out_text(out, ",\n\"deviceProperties\":[],\n");
	write_rank(chrome);
	write_recorded(chrome);
	write_facts(chrome);
	dw_out_text(out, "\"dwell\":{\"version\":");
	dw_out_string(out, dwell_version());
	dw_out_text(out, ",\n\"traces\":[");
	for (size_t i = 0; i < chrome->source->file_count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_out_string(out, chrome->source->files[i].path);
	}
	dw_out_text(out, "],\n\"coverage\":");
	dw_out_real(out, dw_model_coverage(chrome->model));
	write_losses(chrome);
	repairs = dw_model_repairs(chrome->model, &count);
	chrome->failed |= !repairs;
	dw_out_text(out, ",\n\"repairs\":[");
	write_texts(chrome, repairs, repairs ? count : 0);
	write_processes(chrome);
	dw_out_text(out, "},\n");
}
