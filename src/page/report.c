/* The file of a report, and which views it has; see report.h. */
#include "page/report.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"
#include "page/span.h"
#include "views/views.h"

#define MOST_TIMELINE_BYTES (5u << 19)
#define MOST_METAS 200u
#define DATA_MARK "@DWELL_DATA@"

static const struct {
	const char *view;
	const char *title;    /* of a table that is grouped; otherwise NULL */
	const char *group_by;
	size_t limit;
	bool all;
} report_views[] = {
	{ "overview", NULL, NULL, 12, false },
	{ "verdict", NULL, NULL, SIZE_MAX, true },
	{ "steps", NULL, NULL, 30, false },
	{ "phases", NULL, NULL, 60, false },
	{ "operators", NULL, NULL, 250, false },
	{ "operators", "by shape", "shape", 250, false },
	{ "operators", "by stack", "stack:5", 120, false },
	{ "layers", NULL, NULL, 400, false },
	{ "functions", NULL, NULL, 250, false },
	{ "actions", NULL, NULL, 250, false },
	{ "events", NULL, NULL, 200, false },
	{ "handlers", NULL, NULL, 200, false },
	{ "sequence", NULL, NULL, 250, false },
	{ "dataloader", NULL, NULL, 200, false },
	{ "memory", NULL, NULL, 150, false },
	{ "threads", NULL, NULL, 200, false },
	{ "gc", NULL, NULL, 100, false },
	{ "flops", NULL, NULL, 100, false },
	{ "device", NULL, NULL, 200, false },
	{ "kernels", NULL, NULL, 200, false },
	{ "streams", NULL, NULL, 200, false },
	{ "facts", NULL, NULL, SIZE_MAX, false },
};

/* ---- text ------------------------------------------------------------------------------------ */

/* In HTML only "<" can end the element of the data. JSON needs it in texts alone, where it may be
 * escaped. */
void dw_page_put(void *out, const char *bytes, size_t length)
{
	const char *end = bytes + length, *sign;

	while ((sign = memchr(bytes, '<', (size_t)(end - bytes)))) {
		dw_out_bytes(out, bytes, (size_t)(sign - bytes));
		dw_out_text(out, "\\u003c");
		bytes = sign + 1;
	}
	dw_out_bytes(out, bytes, (size_t)(end - bytes));
}

void dw_page_put_text(struct dw_writer_out *out, const char *text)
{
	char cut[DW_PAGE_MOST_TEXT + 4];
	size_t length = strnlen(text, DW_PAGE_MOST_TEXT + 1);

	if (length > DW_PAGE_MOST_TEXT) {
		length = DW_PAGE_MOST_TEXT;
		while (length > DW_PAGE_MOST_TEXT - 4 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
		memcpy(cut, text, length);
		memcpy(cut + length, "\xe2\x80\xa6", 4);
		text = cut;
	}
	dw_json_text(dw_page_put, out, text);
}

/* ---- the parts ---------------------------------------------------------------------------------- */

static void report_put_trace(struct dw_writer_out *out, const struct dw_source *source)
{
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
	dw_out_text(out, "],\"files\":");
	dw_out_u64(out, source->file_count);
	dw_out_text(out, ",\"bytes\":");
	dw_out_u64(out, bytes);
	dw_out_text(out, ",\"created_s\":");
	dw_out_u64(out, source->realtime_start_ns / 1000000000u);
	dw_out_text(out, ",\"end_ns\":");
	dw_out_u64(out, source->end_ns);
	dw_out_text(out, ",\"live\":");
	dw_out_text(out, source->live ? "true" : "false");
	dw_out_text(out, ",\"program\":");
	for (size_t i = 0; i <= source->process_count; i++) {
		if (i < source->process_count && source->processes[i].flags & DW_PROCESS_RUNNER)
			continue;
		dw_page_put_text(out, i < source->process_count ? source->processes[i].label : "");
		break;
	}
	dw_out_text(out, "}");
}

/* Adds the tables of a view. A view without data in this trace adds none. */
static int report_put_view(struct dw_writer_out *out, struct dw_model *model, size_t index, bool *any,
                           struct dwell_error *error)
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
		dw_out_text(out, *any ? ",\n" : "\n");
		*any = true;
		dw_page_put_table(out, part, report_views[index].title);
	}
	dw_table_destroy(table);
	return result;
}

static int report_put_tables(struct dw_writer_out *out, struct dw_model *model,
                             struct dwell_error *error)
{
	bool any = false;
	int result = 0;

	dw_out_text(out, "\"tables\":[");
	for (size_t i = 0; !result && i < sizeof report_views / sizeof *report_views; i++)
		result = report_put_view(out, model, i, &any, error);
	dw_out_text(out, "]");
	return result;
}

static void report_put_environment(struct dw_writer_out *out, const struct dw_source *source)
{
	dw_out_text(out, "\"environment\":[");
	for (size_t i = 0; i < source->meta_count && i < MOST_METAS; i++) {
		const struct dw_source_meta *meta = &source->metas[i];

		dw_out_text(out, i ? ",\n[" : "\n[");
		dw_page_put_text(out, source->processes[meta->process].label);
		dw_out_text(out, ",");
		dw_page_put_text(out, meta->key);
		dw_out_text(out, ",");
		dw_page_put_text(out, meta->value);
		dw_out_text(out, "]");
	}
	dw_out_text(out, "]");
}

/* The timeline is written to memory first: what it says is not escaped for HTML. */
static int report_put_timeline(struct dw_writer_out *out, struct dw_model *model,
                               struct dwell_error *error)
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

static int report_put_data(struct dw_writer_out *out, struct dw_model *model,
                           struct dwell_error *error)
{
	static const struct {
		const char *name;
		int (*put)(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error);
	} parts[] = {
		{ "steps", dw_page_put_steps },
		{ "flame", dw_page_put_flame },
		{ "memory", dw_page_put_memory },
		{ "timeline", report_put_timeline },
	};
	int result;

	dw_out_text(out, "{\"version\":1,\n");
	report_put_trace(out, dw_model_source(model));
	dw_out_text(out, ",\n");
	report_put_environment(out, dw_model_source(model));
	dw_out_text(out, ",\n");
	result = report_put_tables(out, model, error);
	for (size_t i = 0; !result && i < sizeof parts / sizeof *parts; i++) {
		dw_out_text(out, ",\n\"");
		dw_out_text(out, parts[i].name);
		dw_out_text(out, "\":");
		result = parts[i].put(out, model, error);
	}
	dw_out_text(out, "}");
	return result;
}

int dw_page_report(struct dw_model *model, struct dw_writer_out *out, struct dwell_error *error)
{
	const char *data = strstr(dw_page_bundle, DATA_MARK);
	int result;

	dw_out_bytes(out, dw_page_bundle, (size_t)(data - dw_page_bundle));
	result = report_put_data(out, model, error);
	dw_out_text(out, data + strlen(DATA_MARK));
	return result;
}
