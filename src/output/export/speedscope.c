/*
 * speedscope: what each thread did in order of time, for speedscope.app.
 *
 * A thread with ranges is an `evented` profile: frames are opened and closed when ranges begin and end, so the tab
 * "Time Order" shows the run. All such profiles have one time line, which begins with the first range. A thread whose
 * samples stand for more time than its ranges take has a `sampled` profile: its samples in order of time, each with the
 * CPU time that it stands for. All profiles share their frames, one for each name.
 *
 * Of very many ranges the shortest are left out, which the document's name says. Very many samples are summed by call
 * path, which the profile's name says.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/free.h"
#include "base/text.h"
#include "base/numbers.h"
#include "export/export.h"
#include "export/spans.h"
#include "export/timeline.h"
#include "model/core/stack_functions.h"
#include "model/samples/samples.h"

/* A sample contains its whole path, so without a limit the size of the file would grow with the
 * square of the depth of a runaway recursion. */
#define MOST_FRAMES 2048u
#define MOST_RANGES 500000u      /* 40 MB, which a browser still reads */
#define MOST_IN_SAMPLES 5000000u /* frames of all samples: 25 MB */

struct speedscope {
	struct dw_model *model;
	const struct dw_source *source;
	struct dw_functions functions; /* its symbols: those of ranges, and of functions in samples */
	struct dw_writer_out *out;
	uint32_t *frames; /* by symbol: its frame + 1; 0: not used */
	uint32_t frame_count, profile_count;
	struct dw_spans spans;
	uint64_t start_ns, end_ns;      /* of all spans */
	bool any;                       /* an event, a sample or a frame was written to the list before */
	struct dw_sample_time *samples; /* by thread and time */
	size_t sample_count;
	struct speedscope_thread {
		uint64_t ranges_ns, samples_ns; /* of outermost ranges; of samples, their CPU time */
	} * threads;
	const struct dw_paths *paths;   /* the samples by call path; NULL: they are few */
	uint32_t path[MOST_FRAMES + 1]; /* frames, outermost first */
};

static bool speedscope_shows_samples(const struct speedscope *speedscope, uint32_t thread)
{
	return speedscope->threads[thread].samples_ns > speedscope->threads[thread].ranges_ns;
}

static void speedscope_separate(struct speedscope *speedscope, const char *separator)
{
	dw_out_text(speedscope->out, speedscope->any ? separator : "\n");
	speedscope->any = true;
}

/* ---- frames -------------------------------------------------------------------------------- */

static void speedscope_put_frame(struct speedscope *speedscope, const struct dw_symbol *symbols, uint32_t index)
{
	const struct dw_symbol *symbol = &symbols[index];
	struct dw_writer_out *out = speedscope->out;

	if (speedscope->frames[index])
		return;
	speedscope->frames[index] = ++speedscope->frame_count;
	speedscope_separate(speedscope, ",\n");
	dw_out_text(out, "{\"name\":");
	dw_out_string(out, symbol->name);
	if (symbol->file)
		DW_OUT_JSON(out, ",'file':#", symbol->file);
	if (symbol->file && symbol->line)
		DW_OUT_JSON(out, ",'line':#", symbol->line);
	dw_out_text(out, "}");
}

/* Sets `path` to the symbols of a sample, outermost first; if it is too deep, the outermost ones. Returns their number.
 */
static uint32_t speedscope_find_path(struct speedscope *speedscope, const struct dw_sample_time *sample)
{
	const struct dw_sample_row row = { .thread = sample->thread, .frame = sample->frame, .stack = sample->stack };
	const struct dw_sample_stack stack = dw_sample_stack_of(speedscope->source, &row);
	const uint32_t *first = speedscope->functions.by_frame[stack.file - speedscope->source->files];
	uint32_t count = 0;

	for (uint32_t i = stack.count; i-- > 0;) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, i);

		for (uint32_t n = frame ? frame->count : 1; n-- > 0 && count < MOST_FRAMES;)
			speedscope->path[count++] =
				frame ? speedscope->functions.list[first[dw_sample_stack_id(&stack, i)] + n] : 0;
	}
	if (!count)
		speedscope->path[count++] = 0; /* the symbol of stacks that could not be read */
	return count;
}

static void speedscope_put_frames(struct speedscope *speedscope)
{
	const struct dw_symbol *symbols = speedscope->functions.symbols;
	const struct dw_paths *paths = speedscope->paths;

	dw_out_text(speedscope->out, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < speedscope->spans.count; i++)
		speedscope_put_frame(speedscope, symbols, speedscope->spans.list[i].symbol);
	for (size_t i = 0; !paths && i < speedscope->sample_count; i++)
		for (uint32_t k = 0, count = speedscope_find_path(speedscope, &speedscope->samples[i]); k < count; k++)
			speedscope_put_frame(speedscope, symbols, speedscope->path[k]);
	for (size_t i = 0, root = 0; paths && i < paths->count; i++)
		if (!paths->nodes[i].depth)
			root = i;
		else if (speedscope_shows_samples(speedscope, paths->nodes[root].symbol))
			speedscope_put_frame(speedscope, symbols, paths->nodes[i].symbol);
	dw_out_text(speedscope->out, "]},\n");
	speedscope->any = false;
}

/* ---- profiles ------------------------------------------------------------------------------ */

static void speedscope_begin_profile(struct speedscope *speedscope, const char *type, uint32_t track, const char *more,
                                     const char *unit, uint64_t end)
{
	const struct dw_source_thread *thread = &speedscope->source->threads[track / 2];
	const struct dw_source_process *process = &speedscope->source->processes[thread->process];
	char name[320], of[256];

	dw_timeline_track_name(speedscope->source, track, of);
	if (process->rank >= 0)
		snprintf(name, sizeof name, "rank %d: %.240s (%u)%s", (int)process->rank, of, thread->tid, more);
	else
		snprintf(name, sizeof name, "%.240s (%u)%s", of, thread->tid, more);
	dw_out_text(speedscope->out, speedscope->profile_count++ ? ",\n" : "\n");
	DW_OUT_JSON(speedscope->out, "{'type':#,'name':#,'unit':#,'startValue':0,'endValue':#", type, (const char *)name,
	            unit, end);
}

static void speedscope_put_event(void *to, bool opens, uint32_t symbol, uint64_t ns)
{
	struct speedscope *speedscope = to;
	char *at;

	speedscope_separate(speedscope, ",\n");
	at = dw_out_reserve(speedscope->out, 96);
	if (!at)
		return;
	at = opens ? DW_PUT(at, "{\"type\":\"O\",\"frame\":") : DW_PUT(at, "{\"type\":\"C\",\"frame\":");
	at = dw_put_u64(at, speedscope->frames[symbol] - 1);
	at = DW_PUT(at, ",\"at\":");
	at = dw_put_u64(at, ns - speedscope->start_ns);
	*at++ = '}';
	dw_out_wrote(speedscope->out, at);
}

static bool speedscope_put_ranges(struct speedscope *speedscope)
{
	const struct dw_spans *spans = &speedscope->spans;
	bool good = true;

	for (size_t i = 0, count; good && i < spans->count; i += count) {
		count = dw_spans_of_track(spans, i);
		speedscope_begin_profile(speedscope, "evented", spans->list[i].track, "", "nanoseconds",
		                         speedscope->end_ns - speedscope->start_ns);
		dw_out_text(speedscope->out, ",\n\"events\":[");
		speedscope->any = false;
		good = dw_spans_replay(&spans->list[i], count, speedscope_put_event, speedscope);
		dw_out_text(speedscope->out, "]}");
	}
	return good;
}

static void speedscope_put_path(struct speedscope *speedscope, uint32_t count)
{
	speedscope_separate(speedscope, ",");
	for (uint32_t i = 0; i < count; i++) {
		dw_out_text(speedscope->out, i ? "," : "[");
		dw_out_u64(speedscope->out, speedscope->frames[speedscope->path[i]] - 1);
	}
	dw_out_text(speedscope->out, "]");
}

/* How many samples from `at` on, of those before `end`, have its stack. *weight: the sum of their weights. */
static size_t speedscope_equal(const struct speedscope *speedscope, size_t at, size_t end, uint64_t *weight)
{
	const struct dw_sample_time *first = &speedscope->samples[at];
	size_t to = at;

	for (*weight = 0;
	     to < end && speedscope->samples[to].frame == first->frame && speedscope->samples[to].stack == first->stack;
	     to++)
		*weight += speedscope->samples[to].weight;
	return to - at;
}

/* Writes the samples of one thread in order of time. Neighbours with the same stack are one. */
static void speedscope_put_samples(struct speedscope *speedscope, size_t from, size_t end)
{
	uint32_t thread = speedscope->samples[from].thread;
	double period = dw_samples_period(speedscope->source, speedscope->source->threads[thread].process);
	double factor = period > 0 ? period : 1;
	uint64_t weight, total = 0;

	for (size_t i = from; i < end;
	     i += speedscope_equal(speedscope, i, end, &weight), total += dw_whole((double)weight * factor))
		;
	speedscope_begin_profile(speedscope, "sampled", thread * 2, "", period > 0 ? "nanoseconds" : "none", total);
	dw_out_text(speedscope->out, ",\n\"samples\":[");
	speedscope->any = false;
	for (size_t i = from; i < end; i += speedscope_equal(speedscope, i, end, &weight))
		speedscope_put_path(speedscope, speedscope_find_path(speedscope, &speedscope->samples[i]));
	dw_out_text(speedscope->out, "],\n\"weights\":[");
	speedscope->any = false;
	for (size_t i = from; i < end;) {
		i += speedscope_equal(speedscope, i, end, &weight);
		speedscope_separate(speedscope, ",");
		dw_out_u64(speedscope->out, dw_whole((double)weight * factor));
	}
	dw_out_text(speedscope->out, "]}");
}

/* Writes the call paths of the thread whose root is at `from`, except those without self time. */
static void speedscope_put_paths(struct speedscope *speedscope, size_t from, size_t end)
{
	const struct dw_path *nodes = speedscope->paths->nodes;
	uint64_t total = 0;

	for (size_t i = from + 1; i < end; i++)
		total += nodes[i].self_ns;
	speedscope_begin_profile(speedscope, "sampled", nodes[from].symbol * 2,
	                         ", by call path: too many samples for an order of time", "nanoseconds", total);
	dw_out_text(speedscope->out, ",\n\"samples\":[");
	speedscope->any = false;
	for (size_t i = from + 1; i < end; i++) {
		uint32_t depth = nodes[i].depth < MOST_FRAMES ? nodes[i].depth : MOST_FRAMES;

		speedscope->path[depth - 1] = nodes[i].symbol;
		if (nodes[i].self_ns)
			speedscope_put_path(speedscope, depth);
	}
	dw_out_text(speedscope->out, "],\n\"weights\":[");
	speedscope->any = false;
	for (size_t i = from + 1; i < end; i++)
		if (nodes[i].self_ns) {
			speedscope_separate(speedscope, ",");
			dw_out_u64(speedscope->out, nodes[i].self_ns);
		}
	dw_out_text(speedscope->out, "]}");
}

static void speedscope_put_sampled(struct speedscope *speedscope)
{
	const struct dw_paths *paths = speedscope->paths;

	for (size_t i = 0, end; !paths && i < speedscope->sample_count; i = end) {
		for (end = i;
		     end < speedscope->sample_count && speedscope->samples[end].thread == speedscope->samples[i].thread;)
			end++;
		speedscope_put_samples(speedscope, i, end);
	}
	for (size_t i = 0, end; paths && i < paths->count; i = end) {
		for (end = i + 1; end < paths->count && paths->nodes[end].depth;)
			end++;
		if (speedscope_shows_samples(speedscope, paths->nodes[i].symbol))
			speedscope_put_paths(speedscope, i, end);
	}
}

/* ---- all ----------------------------------------------------------------------------------- */

static void speedscope_put_document(struct speedscope *speedscope, const char *title, bool *good)
{
	const struct dw_spans *spans = &speedscope->spans;
	struct dw_writer_out *out = speedscope->out;
	const char *name = title ? title : speedscope->source->files[0].path;
	char left_out[128] = "";
	char *whole;

	if (spans->left_out)
		snprintf(left_out, sizeof left_out, " (%llu ranges are left out, the longest of %s)",
		         (unsigned long long)spans->left_out, dw_text_ns((double)spans->longest_left_out_ns, " ").at);
	whole = dw_arena_printf(&speedscope->model->arena, "%s%s", name, left_out);
	dw_out_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"dwell ");
	dw_out_text(out, dwell_version());
	DW_OUT_JSON(out, "',\n'name':#,\n'activeProfileIndex':0,\n", whole ? (const char *)whole : name);
	speedscope_put_frames(speedscope);
	dw_out_text(out, "\"profiles\":[");
	*good = speedscope_put_ranges(speedscope);
	speedscope_put_sampled(speedscope);
	dw_out_text(out, "]}\n");
}

/* Finds the ranges, unless a metric of samples is asked for, and the limits of their time. */
static int speedscope_collect_ranges(struct speedscope *speedscope, const struct dwell_export_options *options,
                                     struct dwell_error *error)
{
	struct dw_export_filter filter = { .pattern = options->named };
	struct dw_spans *spans = &speedscope->spans;
	const char *end;
	int result;

	if (options->min_duration) /* dw_export_run() has checked it */
		dw_text_parse_ns(options->min_duration, &end, &filter.least_ns);
	result = dw_spans_collect(spans, speedscope->model, &filter, MOST_RANGES, error);
	speedscope->start_ns = spans->count ? UINT64_MAX : 0;
	for (size_t i = 0; i < spans->count; i++) {
		const struct dw_span *span = &spans->list[i];

		if (!span->depth)
			speedscope->threads[span->track / 2].ranges_ns += span->end_ns - span->start_ns;
		speedscope->start_ns = span->start_ns < speedscope->start_ns ? span->start_ns : speedscope->start_ns;
		speedscope->end_ns = span->end_ns > speedscope->end_ns ? span->end_ns : speedscope->end_ns;
	}
	return result;
}

static void speedscope_add_samples(struct speedscope *speedscope)
{
	double period = 0;

	for (size_t i = 0; i < speedscope->sample_count; i++) {
		const struct dw_sample_time *sample = &speedscope->samples[i];

		if (!i || sample->thread != sample[-1].thread)
			period = dw_samples_period(speedscope->source, speedscope->source->threads[sample->thread].process);
		speedscope->threads[sample->thread].samples_ns += dw_whole(sample->weight * (period > 0 ? period : 1));
	}
}

/* Finds the samples that are shown; of very many their sums by call path. */
static int speedscope_collect_samples(struct speedscope *speedscope, bool waits, struct dwell_error *error)
{
	size_t kept = 0, frames = 0;
	int result =
		dw_model_samples_in_order(speedscope->model, waits, &speedscope->samples, &speedscope->sample_count, error);

	if (result)
		return result;
	speedscope_add_samples(speedscope);
	for (size_t i = 0; i < speedscope->sample_count; i++) {
		const struct dw_sample_time *sample = &speedscope->samples[i];

		if (!speedscope_shows_samples(speedscope, sample->thread))
			continue;
		if (!kept || sample->frame != speedscope->samples[kept - 1].frame ||
		    sample->stack != speedscope->samples[kept - 1].stack)
			frames += speedscope_find_path(speedscope, sample);
		speedscope->samples[kept++] = *sample;
	}
	speedscope->sample_count = kept;
	if (frames <= MOST_IN_SAMPLES)
		return 0;
	speedscope->paths =
		waits ? dw_model_wait_paths(speedscope->model, error) : dw_model_sample_paths(speedscope->model, error);
	return speedscope->paths ? 0 : DWELL_E_NOMEM;
}

static int speedscope_run(struct speedscope *speedscope, const struct dwell_export_options *options,
                          struct dwell_error *error)
{
	bool waits = options->metric && strcmp(options->metric, DW_METRIC_WAITS) == 0;
	bool sampled = waits || (options->metric && strcmp(options->metric, DW_METRIC_SAMPLES) == 0), good;
	int result = 0;

	speedscope->threads = calloc(speedscope->source->thread_count + 1, sizeof *speedscope->threads);
	if (speedscope->threads && dw_functions_init(&speedscope->functions, speedscope->model))
		speedscope->frames = calloc(speedscope->functions.symbol_count + 1, sizeof *speedscope->frames);
	if (!speedscope->frames)
		return dw_model_no_memory(speedscope->model, error);
	if (!sampled)
		result = speedscope_collect_ranges(speedscope, options, error);
	if (!result)
		result = speedscope_collect_samples(speedscope, waits, error);
	if (result)
		return result;
	speedscope_put_document(speedscope, options->title, &good);
	return good ? 0 : dw_model_no_memory(speedscope->model, error);
}

static int speedscope_write(struct dw_model *model, const struct dwell_export_options *options,
                            struct dw_writer_out *out, struct dwell_error *error)
{
	struct speedscope *speedscope;
	int result = dw_model_check_drawn(model, options->metric, error);

	if (result)
		return result;
	speedscope = calloc(1, sizeof *speedscope);
	if (!speedscope)
		return dw_model_no_memory(model, error);
	speedscope->model = model;
	speedscope->source = dw_model_source(model);
	speedscope->out = out;
	result = speedscope_run(speedscope, options, error);
	dw_spans_reset(&speedscope->spans);
	DW_FREE(speedscope->samples, speedscope->threads, speedscope->frames);
	free(speedscope);
	return result;
}

const struct dw_export_format dw_export_speedscope = {
	.name = "speedscope",
	.what = "what each thread did in order of time, for speedscope.app",
	.takes_metric = true,
	.takes_filter = true,
	.write = speedscope_write,
};
