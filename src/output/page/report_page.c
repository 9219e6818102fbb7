/* The file of a report, and which views it has; see report.h. */
#include "page/report.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/system/pool.h"
#include "model/device/device.h"
#include "page/span.h"
#include "views/views.h"

#define MOST_TIMELINE_BYTES (5u << 19)
#define MOST_METAS 200u

/* What shares products is computed by one thread, and different groups at the same time. */
enum report_group { GROUP_FIRST, GROUP_SUMS, GROUP_CALLS, GROUP_TIMELINE, GROUPS };

static const struct {
	const char *view;
	const char *title;    /* of a table that is grouped; otherwise NULL */
	const char *group_by;
	size_t limit;
	bool all;
	enum report_group group;
} report_views[] = {
	{ "overview", NULL, NULL, 12, false, GROUP_FIRST },
	{ "verdict", NULL, NULL, SIZE_MAX, true, GROUP_SUMS },
	{ "account", NULL, NULL, 60, false, GROUP_SUMS },
	{ "steps", NULL, NULL, 30, false, GROUP_SUMS },
	{ "phases", NULL, NULL, 60, false, GROUP_SUMS },
	{ "operators", NULL, NULL, 250, false, GROUP_SUMS },
	{ "operators", "by shape", "shape", 250, false, GROUP_CALLS },
	{ "operators", "by stack", "stack:5", 120, false, GROUP_CALLS },
	{ "layers", NULL, NULL, 400, false, GROUP_CALLS },
	{ "functions", NULL, NULL, 250, false, GROUP_SUMS },
	{ "hot", NULL, NULL, 100, false, GROUP_SUMS },
	{ "hot", "by line", "line", 100, false, GROUP_SUMS },
	{ "waits", NULL, NULL, 100, false, GROUP_SUMS },
	{ "requests", NULL, NULL, 100, false, GROUP_SUMS },
	{ "actions", NULL, NULL, 250, false, GROUP_SUMS },
	{ "events", NULL, NULL, 200, false, GROUP_SUMS },
	{ "handlers", NULL, NULL, 200, false, GROUP_SUMS },
	{ "sequence", NULL, NULL, 250, false, GROUP_SUMS },
	{ "dataloader", NULL, NULL, 200, false, GROUP_SUMS },
	{ "memory", NULL, NULL, 150, false, GROUP_SUMS },
	{ "threads", NULL, NULL, 200, false, GROUP_SUMS },
	{ "gc", NULL, NULL, 100, false, GROUP_SUMS },
	{ "flops", NULL, NULL, 100, false, GROUP_SUMS },
	{ "device", NULL, NULL, 200, false, GROUP_SUMS },
	{ "kernels", NULL, NULL, 200, false, GROUP_SUMS },
	{ "streams", NULL, NULL, 200, false, GROUP_SUMS },
	{ "stragglers", NULL, NULL, 50, false, GROUP_SUMS },
	{ "facts", NULL, NULL, SIZE_MAX, false, GROUP_SUMS },
};
#define VIEWS (sizeof report_views / sizeof *report_views)

static int report_put_timeline(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error);

static const struct {
	const char *name;
	int (*put)(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error);
	enum report_group group;
} report_parts[] = {
	{ "steps", dw_page_put_steps, GROUP_SUMS },
	{ "flames", dw_page_put_flame, GROUP_SUMS },
	{ "memory", dw_page_put_memory, GROUP_SUMS },
	{ "timeline", report_put_timeline, GROUP_TIMELINE },
};
#define PARTS (sizeof report_parts / sizeof *report_parts)

/* What the groups have written, until it is put together. */
struct report_work {
	struct dw_model *model;
	struct dw_model *models[GROUPS];
	bool first_done;
	struct dw_page_progress *progress; /* or NULL */
	unsigned panels;                   /* that are done; atomic */
	struct dw_writer_out views[VIEWS], parts[PARTS];
	struct {
		int result;
		struct dwell_error error;
	} groups[GROUPS];
};

/* ---- text ------------------------------------------------------------------------------------ */

/* ---- the parts ---------------------------------------------------------------------------------- */

static void report_put_trace(struct dw_writer_out *out, struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	uint64_t bytes = 0;
	struct stat status;

	dw_out_text(out, "\"trace\":{\"paths\":[");
	for (size_t i = 0; i < source->file_count; i++) {
		if (stat(source->files[i].path, &status) == 0)
			bytes += (uint64_t)status.st_size;
		if (i >= 64)
			continue;
		dw_out_text(out, i ? "," : "");
		dw_page_put_text(out, source->files[i].path);
	}
	DW_PAGE_PUT(out, "],'files':#,'bytes':#,'created_s':#,'end_ns':#,'live':", source->file_count, bytes,
	            source->realtime_start_ns / 1000000000u, source->end_ns);
	dw_out_text(out, source->live ? "true" : "false");
	dw_out_text(out, ",\"program\":");
	dw_page_put_text(out, dw_view_program(model));
	dw_out_text(out, "}");
}

/* Writes the tables of a view. A view without data in this trace writes none. */
static int report_put_view(struct dw_writer_out *out, struct dw_model *model, size_t index, struct dwell_error *error)
{
	const struct dwell_view_options options = { .size = sizeof options,
		.limit = report_views[index].limit, .group_by = report_views[index].group_by,
		.all = report_views[index].all };
	const struct dw_view *view = dw_view_find(report_views[index].view, error);
	struct dwell_table *table = NULL;
	int result = dw_view_run(view, model, &options, &table, error);

	if (result == DWELL_E_NO_DATA)
		return 0;
	for (const struct dwell_table *part = table; !result && part; part = part->next) {
		dw_out_text(out, part == table ? "" : ",\n");
		dw_page_put_table(out, part, report_views[index].title);
	}
	dw_table_destroy(table);
	return result;
}

static void report_put_environment(struct dw_writer_out *out, const struct dw_source *source)
{
	dw_out_text(out, "\"environment\":[");
	for (size_t i = 0; i < source->meta_count && i < MOST_METAS; i++) {
		const struct dw_source_meta *meta = &source->metas[i];

		dw_out_text(out, i ? ",\n[" : "\n[");
		DW_PAGE_PUT(out, "#,#,#]", source->processes[meta->process].label, meta->key, meta->value);
	}
	dw_out_text(out, "]");
}

/* The timeline is written to memory first: what it says is not escaped for HTML. */
static int report_put_timeline(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error)
{
	struct dw_page_spans *spans;
	struct dw_writer_out memory;
	int result = dw_page_spans_create(&spans, model, error);

	if (result)
		return result;
	dw_out_init_memory(&memory);
	result = dw_page_spans_read(spans, 0, error);
	if (result >= 0)
		result = dw_page_timeline(spans, MOST_TIMELINE_BYTES, &memory, error);
	dw_page_spans_destroy(spans);
	if (!result && memory.error)
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while writing the timeline");
	if (!result)
		dw_page_put(out, memory.buffer, memory.used);
	dw_out_reset(&memory);
	return result;
}

/* ---- the groups ---------------------------------------------------------------------------------- */

/* Returns an error if the report is no longer wanted. */
static int report_next(struct report_work *work, struct dwell_error *error)
{
	unsigned done = __atomic_fetch_add(&work->panels, 1, __ATOMIC_RELAXED);

	if (!work->progress)
		return 0;
	__atomic_store_n(&work->progress->done, done * DW_PAGE_PROGRESS_ALL / (unsigned)(VIEWS + PARTS), __ATOMIC_RELAXED);
	return __atomic_load_n(&work->progress->stop, __ATOMIC_RELAXED)
	           ? dw_error_set(error, DWELL_E_NO_DATA, "the report was stopped")
	           : 0;
}

static void report_run_group(struct report_work *work, enum report_group group, struct dw_model *model)
{
	int *result = &work->groups[group].result;
	struct dwell_error *error = &work->groups[group].error;

	for (size_t i = 0; !*result && i < VIEWS; i++)
		if (report_views[i].group == group && !(*result = report_next(work, error)))
			*result = report_put_view(&work->views[i], model, i, error);
	for (size_t i = 0; !*result && i < PARTS; i++)
		if (report_parts[i].group == group && !(*result = report_next(work, error)))
			*result = report_parts[i].put(&work->parts[i], model, error);
}

static void report_run(void *context, unsigned worker, size_t index)
{
	struct report_work *work = context;
	enum report_group group = (enum report_group)(index + GROUP_FIRST + 1);

	if (group == GROUP_SUMS && !work->first_done)
		report_run_group(work, GROUP_FIRST, work->model);
	report_run_group(work, group, work->models[group]);
}

/* Runs the groups at the same time, each with a model of its own. With one core they share the model:
 * then no product is computed twice. All groups need the work of devices, so it comes first. */
static int report_run_groups(struct report_work *work, struct dwell_error *error)
{
	unsigned workers = dw_pool_workers(GROUPS - 1);
	int result = 0;

	if (dw_model_has_device(work->model)) {
		report_run_group(work, GROUP_FIRST, work->model);
		work->first_done = true;
		if (!dw_model_device_work(work->model, error))
			return DWELL_E_NOMEM;
	}
	for (unsigned i = GROUP_FIRST + 1; i < GROUPS && !result; i++) {
		work->models[i] = workers > 1 && i != GROUP_SUMS ? dw_model_beside(work->model, error) : work->model;
		result = work->models[i] ? 0 : DWELL_E_NOMEM;
	}
	if (!result)
		dw_pool_run(GROUPS - 1, workers, report_run, work);
	for (unsigned i = GROUP_FIRST + 1; i < GROUPS; i++)
		if (work->models[i] != work->model)
			dw_model_destroy(work->models[i]);
	return result;
}

static int report_run_all(struct report_work *work, struct dwell_error *error)
{
	int result = report_run_groups(work, error);

	for (size_t i = 0; !result && i < GROUPS; i++) {
		result = work->groups[i].result;
		if (result)
			*error = work->groups[i].error;
	}
	for (size_t i = 0; !result && i < VIEWS + PARTS; i++)
		if ((i < VIEWS ? &work->views[i] : &work->parts[i - VIEWS])->error)
			result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while writing a report");
	return result;
}

static void report_put_all(const struct report_work *work, struct dw_writer_out *out)
{
	bool any = false;

	dw_out_text(out, "{\"version\":1,\n");
	report_put_trace(out, work->model);
	dw_out_text(out, ",\n");
	report_put_environment(out, dw_model_source(work->model));
	dw_out_text(out, ",\n\"tables\":[");
	for (size_t i = 0; i < VIEWS; i++) {
		if (!work->views[i].used)
			continue;
		dw_out_text(out, any ? ",\n" : "\n");
		dw_out_bytes(out, work->views[i].buffer, work->views[i].used);
		any = true;
	}
	dw_out_text(out, "]");
	for (size_t i = 0; i < PARTS; i++) {
		dw_out_text(out, ",\n\"");
		dw_out_text(out, report_parts[i].name);
		dw_out_text(out, "\":");
		dw_out_bytes(out, work->parts[i].buffer, work->parts[i].used);
	}
	dw_out_text(out, "}");
}

int dw_page_report_data(struct dw_model *model, struct dw_page_progress *progress,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	struct report_work *work = calloc(1, sizeof *work);
	int result;

	if (!work)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while writing a report");
	work->model = model;
	work->progress = progress;
	for (size_t i = 0; i < VIEWS; i++)
		dw_out_init_memory(&work->views[i]);
	for (size_t i = 0; i < PARTS; i++)
		dw_out_init_memory(&work->parts[i]);
	result = report_run_all(work, error);
	if (!result)
		report_put_all(work, out);
	for (size_t i = 0; i < VIEWS; i++)
		dw_out_reset(&work->views[i]);
	for (size_t i = 0; i < PARTS; i++)
		dw_out_reset(&work->parts[i]);
	free(work);
	return result;
}

int dw_page_report(struct dw_model *model, struct dw_writer_out *out, struct dwell_error *error)
{
	const char *data = strstr(dw_page_bundle, DW_PAGE_DATA_MARK);
	int result;

	dw_out_bytes(out, dw_page_bundle, (size_t)(data - dw_page_bundle));
	result = dw_page_report_data(model, NULL, out, error);
	dw_out_text(out, data + strlen(DW_PAGE_DATA_MARK));
	return result;
}
