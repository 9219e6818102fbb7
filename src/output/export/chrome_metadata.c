/*
 * The members of a Chrome trace before its events: the traces from which it was made, what was
 * recorded and lost, and the program's metadata.
 *
 * Called by chrome.c, once.
 */

#include "base/order.h"
#include "export/chrome_metadata.h"
#include "export/json.h"
#include "export/stacks.h"

static void metadata_put_key(struct dw_writer_out *out, bool *any, const char *key)
{
	dw_out_text(out, *any ? "," : "");
	*any = true;
	DW_OUT_JSON(out, "#:", key);
}

DW_ORDER_OF_POINTERS(metadata_compare_metas, struct dw_source_meta, DW_UP(process) DW_TEXT(key) DW_UP_PLACE)

static void metadata_put_value(struct dw_writer_out *out, const struct dw_source_meta *meta)
{
	if (meta->json && dw_json_valid(meta->value))
		dw_out_text(out, meta->value);
	else
		dw_out_string(out, meta->value);
}

/* Writes the metadata of `process`, which is at the start of `metas`: the last value of each key. */
static void metadata_put_metas(struct dw_writer_out *out, const struct dw_source_meta **metas,
                        size_t count, uint32_t process)
{
	bool any = false;

	dw_out_text(out, ",\"meta\":{");
	for (size_t i = 0; i < count && metas[i]->process == process; i++) {
		const struct dw_source_meta *meta = metas[i];

		if (i + 1 < count && metas[i + 1]->process == process && strcmp(metas[i + 1]->key, meta->key) == 0)
			continue;
		metadata_put_key(out, &any, meta->key);
		metadata_put_value(out, meta);
	}
	dw_out_text(out, "}");
}

static void metadata_put_process(struct dw_timeline *timeline, uint32_t index,
                          const struct dw_source_meta **metas, size_t meta_count)
{
	const struct dw_source_process *process = &timeline->source->processes[index];
	struct dw_writer_out *out = timeline->out;

	DW_OUT_JSON(out, "\n{'pid':#,'name':#,'command':#", timeline->pids[index], process->name, process->command);
	if (*process->job)
		DW_OUT_JSON(out, ",'job':#", process->job);
	if (process->rank >= 0)
		DW_OUT_JSON(out, ",'rank':#,'world_size':#", process->rank, process->world_size);
	DW_OUT_JSON(out, ",'host':#", timeline->source->files[process->file].head->hostname);
	metadata_put_metas(out, metas, meta_count, index);
	dw_out_text(out, "}");
}

/* All entries by process and key, or NULL with timeline->failed set. The caller frees them. */
static const struct dw_source_meta **metadata_sort(struct dw_timeline *timeline)
{
	const struct dw_source *source = timeline->source;
	const struct dw_source_meta **metas = calloc(source->meta_count + 1, sizeof *metas);

	timeline->failed |= !metas;
	for (size_t i = 0; metas && i < source->meta_count; i++)
		metas[i] = &source->metas[i];
	if (metas)
		qsort(metas, source->meta_count, sizeof *metas, metadata_compare_metas);
	return metas;
}

static void metadata_put_processes(struct dw_timeline *timeline)
{
	const struct dw_source *source = timeline->source;
	const struct dw_source_meta **metas = metadata_sort(timeline);
	size_t at = 0;
	bool any = false;

	if (!metas)
		return;
	dw_out_text(timeline->out, ",\n\"processes\":[");
	for (uint32_t i = 0; i < source->process_count; i++) {
		if (source->processes[i].flags & DW_PROCESS_RUNNER)
			continue;
		while (at < source->meta_count && metas[at]->process < i)
			at++;
		dw_out_text(timeline->out, any ? "," : "");
		any = true;
		metadata_put_process(timeline, i, metas + at, source->meta_count - at);
	}
	dw_out_text(timeline->out, "]");
	free(metas);
}

static void metadata_put_devices(struct dw_timeline *timeline)
{
	const struct dw_source *source = timeline->source;
	struct dw_writer_out *out = timeline->out;
	const char *comma = "";

	dw_out_text(out, ",\n\"deviceProperties\":[");
	for (size_t i = 0; i < source->device_count; i++) {
		if (!source->devices[i].id)
			continue; /* a placeholder */
		dw_out_text(out, comma);
		comma = ",";
		DW_OUT_JSON(out, "{'id':#,'name':#", source->devices[i].number, source->devices[i].name);
		if (source->devices[i].memory_bytes)
			DW_OUT_JSON(out, ",'totalGlobalMem':#", source->devices[i].memory_bytes);
		if (source->devices[i].processors)
			DW_OUT_JSON(out, ",'numSms':#", source->devices[i].processors);
		dw_out_text(out, "}");
	}
	dw_out_text(out, "],\n");
}

/* Whether the document has a member of its own with this name. */
static bool metadata_is_own_key(const char *key)
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

/* Writes the metadata of the first process that has any as members of the document, where tools for
 * PyTorch's traces expect them. */
static void metadata_put_program(struct dw_timeline *timeline)
{
	const struct dw_source *source = timeline->source;
	const struct dw_source_meta **metas = metadata_sort(timeline);

	for (size_t i = 0; metas && i < source->meta_count && metas[i]->process == metas[0]->process; i++) {
		bool last = i + 1 == source->meta_count || metas[i + 1]->process != metas[i]->process ||
		            strcmp(metas[i + 1]->key, metas[i]->key) != 0;

		if (!last || metadata_is_own_key(metas[i]->key))
			continue;
		DW_OUT_JSON(timeline->out, "#:", metas[i]->key);
		metadata_put_value(timeline->out, metas[i]);
		dw_out_text(timeline->out, ",\n");
	}
	free(metas);
}

/* Writes whether shapes, stacks and memory were recorded: 1 or 0, as in PyTorch's traces. */
static void metadata_put_recorded(struct dw_timeline *timeline)
{
	bool shapes = false, stacks = dw_stacks_any(timeline->source);
	uint32_t categories = dw_model_categories(timeline->model);

	for (size_t i = 0; i < timeline->symbol_count; i++)
		shapes |= timeline->symbols[i].shapes != NULL && timeline->symbols[i].category == DWELL_CATEGORY_OPERATOR;
	dw_out_text(timeline->out, shapes ? "\"record_shapes\":1,\n" : "\"record_shapes\":0,\n");
	dw_out_text(timeline->out, stacks ? "\"with_stack\":1,\n" : "\"with_stack\":0,\n");
	dw_out_text(timeline->out, categories >> DWELL_CATEGORY_ALLOCATION & 1
	                             ? "\"profile_memory\":1,\n"
	                             : "\"profile_memory\":0,\n");
}

static void metadata_put_losses(struct dw_timeline *timeline)
{
	bool any = false;

	dw_out_text(timeline->out, ",\n\"losses\":{");
	for (unsigned i = 0; i < DW_LOSS_SLOTS; i++) {
		if (!timeline->source->lost[i] || !dw_loss_cause(i))
			continue;
		metadata_put_key(timeline->out, &any, dw_loss_cause(i));
		dw_out_u64(timeline->out, timeline->source->lost[i]);
	}
	dw_out_text(timeline->out, "}");
}

static void metadata_put_texts(struct dw_timeline *timeline, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		dw_out_text(timeline->out, i ? "," : "");
		dw_out_string(timeline->out, texts[i]);
	}
	dw_out_text(timeline->out, "]");
}

/* Writes the rank in Kineto's form. A trace of several ranks has none. */
static void metadata_put_rank(struct dw_timeline *timeline)
{
	const struct dw_source_process *ranked = NULL;

	for (size_t i = 0; i < timeline->source->process_count; i++) {
		const struct dw_source_process *process = &timeline->source->processes[i];

		if (process->rank < 0)
			continue;
		if (ranked && ranked->rank != process->rank)
			return;
		ranked = process;
	}
	if (!ranked)
		return;
	DW_OUT_JSON(timeline->out, "'distributedInfo':{'rank':#,'world_size':#},\n", ranked->rank, ranked->world_size);
}

void dw_chrome_put_metadata(struct dw_timeline *timeline)
{
	struct dw_writer_out *out = timeline->out;
	const char *const *repairs;
	size_t count;

	dw_out_text(out, "{\"schemaVersion\":1,\n\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":");
	dw_out_u64(out, timeline->source->realtime_start_ns);
	metadata_put_devices(timeline);
	metadata_put_rank(timeline);
	metadata_put_recorded(timeline);
	metadata_put_program(timeline);
	DW_OUT_JSON(out, "'dwell':{'version':#,\n'traces':[", dwell_version());
	for (size_t i = 0; i < timeline->source->file_count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_out_string(out, timeline->source->files[i].path);
	}
	DW_OUT_JSON(out, "],\n'coverage':#", dw_model_coverage(timeline->model));
	metadata_put_losses(timeline);
	repairs = dw_model_repairs(timeline->model, &count);
	timeline->failed |= !repairs;
	dw_out_text(out, ",\n\"repairs\":[");
	metadata_put_texts(timeline, repairs, repairs ? count : 0);
	metadata_put_processes(timeline);
	dw_out_text(out, "},\n");
}
