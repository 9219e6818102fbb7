/*
 * Folded stacks in the form of PyTorch's export_stacks(), "outermost;..;innermost US": the recorded
 * call stacks with the time of the operators that they called, in whole microseconds.
 *
 * Called by folded.c for its metrics other than time. PyTorch writes a line for each call; here
 * each stack has one line with the sum, because flame graph tools add lines up anyway. Sums below a
 * microsecond are omitted, as in PyTorch.
 */

#include "base/arena.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "base/order.h"
#include "export/export.h"
#include "export/stacks.h"
#include "model/device/device.h"

struct line {
	const char *text;
	uint64_t ns;
};

struct lines {
	struct line *lines;
	size_t count, capacity;
	struct dw_arena arena;
	struct dw_writer_out text, function; /* in memory */
	bool failed;
};

/* Replaces the characters that separate frames and values. */
static void stacks_put_frame(struct lines *lines, const struct dw_source_function *function)
{
	struct dw_writer_out *from = &lines->function;

	from->used = 0;
	dw_stack_function_text(from, function);
	for (size_t i = 0; i < from->used; i++)
		if (memchr(" ;\t\n", from->buffer[i], 4))
			from->buffer[i] = '_';
	dw_out_text(&lines->text, lines->text.used ? ";" : "");
	dw_out_bytes(&lines->text, from->buffer, from->used);
	lines->failed |= from->error || lines->text.error;
}

static void stacks_add_line(struct lines *lines, struct dw_stack stack, uint64_t ns)
{
	struct line *line = DW_GROW(&lines->lines, &lines->capacity, lines->count);

	lines->text.used = 0;
	for (uint32_t i = stack.count; i-- > 0;) {
		const struct dw_source_frame *frame = dw_stack_frame(&stack, i);

		for (uint32_t k = frame ? frame->count : 0; k-- > 0;)
			stacks_put_frame(lines, &frame->functions[k]);
	}
	if (line && !lines->failed)
		line->text = dw_arena_text(&lines->arena, lines->text.used ? lines->text.buffer : "", lines->text.used);
	lines->failed |= !line || !line->text;
	if (lines->failed)
		return;
	line->ns = ns;
	lines->count += lines->text.used != 0;
}

static int stacks_compare_rows(const void *left, const void *right, void *context)
{
	const struct dw_source *source = context;
	const struct dw_stacks_row *a = left, *b = right;
	uint32_t a_file = source->processes[source->threads[a->thread].process].file;
	uint32_t b_file = source->processes[source->threads[b->thread].process].file;

	if (a_file != b_file)
		return a_file < b_file ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

DW_ORDER(stacks_compare_lines, struct line, DW_TEXT(text))

/* Makes the text of each stack once, because it is long. */
static void stacks_make_lines(struct lines *lines, const struct dw_source *source, struct dw_stacks *stacks)
{
	if (stacks->count)
		qsort_r(stacks->rows, stacks->count, sizeof *stacks->rows, stacks_compare_rows, (void *)(uintptr_t)source);
	for (size_t i = 0, next; i < stacks->count && !lines->failed; i = next) {
		const struct dw_stacks_row *row = &stacks->rows[i];
		uint64_t ns = 0;

		for (next = i; next < stacks->count &&
		               stacks_compare_rows(row, &stacks->rows[next], (void *)(uintptr_t)source) == 0;)
			ns += stacks->rows[next++].self_ns;
		if (row->stack)
			stacks_add_line(lines, dw_stack_at(source, row->thread, row->stack), ns);
	}
	if (!lines->failed && lines->count)
		qsort(lines->lines, lines->count, sizeof *lines->lines, stacks_compare_lines);
}

static void stacks_put_lines(const struct lines *lines, struct dw_writer_out *out)
{
	for (size_t i = 0, next; i < lines->count; i = next) {
		uint64_t ns = 0;

		for (next = i; next < lines->count && strcmp(lines->lines[i].text, lines->lines[next].text) == 0;)
			ns += lines->lines[next++].ns;
		if (ns < 1000)
			continue;
		dw_out_text(out, lines->lines[i].text);
		dw_out_text(out, " ");
		dw_out_u64(out, ns / 1000);
		dw_out_text(out, "\n");
	}
}

/* PyTorch's names, and the device's under the name that it has had since 2.1. */
static const struct { const char *name; bool device; } stacks_metrics[] = {
	{ "time", false }, { "self_cpu_time_total", false }, { "self_cuda_time_total", true },
	{ "self_device_time_total", true },
};
#define METRICS (sizeof stacks_metrics / sizeof *stacks_metrics)

static int stacks_check_metric(const struct dw_model *model, const char *metric, bool *device,
                               struct dwell_error *error)
{
	const char *path = dw_model_source(model)->files[0].path;
	struct dw_nearest nearest;
	size_t i = 1; /* time is drawn from calls, not from stacks */

	while (i < METRICS && strcmp(stacks_metrics[i].name, metric) != 0)
		i++;
	if (i == METRICS) {
		dw_nearest_init(&nearest, metric);
		for (i = 0; i < METRICS; i++)
			dw_nearest_try(&nearest, stacks_metrics[i].name);
		return dw_error_set(error, DWELL_E_NAME, "no metric '%.100s'%s%s%s there are: time, self_cpu_time_total, "
		                    "self_cuda_time_total", metric, nearest.best ? ": did you mean '" : ";",
		                    nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
	}
	*device = stacks_metrics[i].device;
	if (*device && !dw_model_has_device(model))
		return dw_error_set(error, DWELL_E_NO_DATA, "%s has no device time: none is recorded; use --metric "
		                    "self_cpu_time_total", path);
	return dw_stacks_any(dw_model_source(model))
	           ? 0
	           : dw_error_set(error, DWELL_E_NO_DATA,
	                          "%s has no stacks: record with dwell run --stacks", path);
}

int dw_export_folded_stacks(struct dw_model *model, const struct dwell_export_options *options,
                            struct dw_writer_out *out, struct dwell_error *error)
{
	struct lines lines = { 0 };
	struct dw_stacks stacks;
	bool device = false;
	int result = stacks_check_metric(model, options->metric, &device, error);

	if (result)
		return result;
	result = (device ? dw_stacks_make_device : dw_stacks_make)(&stacks, model, error);
	dw_out_init_memory(&lines.text);
	dw_out_init_memory(&lines.function);
	if (!result) {
		stacks_make_lines(&lines, dw_model_source(model), &stacks);
		if (!lines.failed && !lines.count)
			result = dw_error_set(error, DWELL_E_NO_DATA, "%s has no stacks: record with dwell run --stacks",
			                      dw_model_source(model)->files[0].path);
		stacks_put_lines(&lines, out);
	}
	if (lines.failed)
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while exporting to %s", dw_out_name(out));
	dw_out_reset(&lines.text);
	dw_out_reset(&lines.function);
	dw_arena_reset(&lines.arena);
	free(lines.lines);
	dw_stacks_reset(&stacks);
	return result;
}
