/* Samples one after the other as nested spans; see chart.h. */
#include <stdlib.h>
#include <string.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/numbers.h"
#include "model/core/product.h"
#include "model/core/stack_functions.h"
#include "model/samples/chart.h"
#include "model/samples/samples.h"

#define MOST_DEPTH 512u /* of a sample; of a deeper one the outermost frames */
#define UNKNOWN 0u      /* the symbol of stacks that could not be read, and of frames that the file lacks */

struct chart_open {
	uint64_t start_ns;
	uint32_t symbol;
};

struct chart {
	struct dw_model *model;
	struct dw_sample_chart *result;
	struct dw_functions functions;
	size_t capacity;
	struct chart_open open[MOST_DEPTH]; /* outermost first */
	uint32_t open_count, thread;
	uint64_t last_ns;                   /* the time of the sample before; 0: there is none */
	uint32_t path[MOST_DEPTH];
	bool failed;
};

/* Whose a function is. Code of an interpreter and of dwell only leads from one function that readers look for to the next. */
enum chart_owner { CHART_BETWEEN, CHART_SYSTEM, CHART_LIBRARY, CHART_PROGRAM };

static enum chart_owner chart_owner_of(const struct dw_source_frame *frame, uint32_t n, bool outermost)
{
	bool is_entry = outermost && frame && frame->activity == DW_ACTIVITY_STARTS && !frame->functions[n].file;

	if (!frame || is_entry)
		return CHART_SYSTEM;
	if (frame->role == DW_LIBRARY_INTERPRETER || frame->role == DW_LIBRARY_RECORDER)
		return frame->module ? CHART_BETWEEN : CHART_SYSTEM; /* a module of Python has functions of its own */
	if (!dw_sample_is_own(frame, &frame->functions[n]))
		return CHART_SYSTEM;
	return frame->role == DW_LIBRARY_OWN ? CHART_PROGRAM : CHART_LIBRARY;
}

/* Sets `path` to the symbols of a sample, outermost first, from the outermost function of the program on, or of a library
 * where the program has none. Returns their number. */
static uint32_t chart_find_path(struct chart *chart, const struct dw_sample_time *sample)
{
	const struct dw_sample_row row = { .thread = sample->thread, .frame = sample->frame, .stack = sample->stack };
	const struct dw_sample_stack stack = dw_sample_stack_of(chart->model->source, &row);
	const uint32_t *first = chart->functions.by_frame[stack.file - chart->model->source->files];
	uint32_t outermost[CHART_PROGRAM + 1] = { DW_NO_INDEX, DW_NO_INDEX, DW_NO_INDEX, DW_NO_INDEX };
	uint32_t count = 0, kept = 0, begin;

	for (uint32_t i = stack.count; i-- > 0;) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, i);

		for (uint32_t n = frame ? frame->count : 1; n-- > 0 && count < MOST_DEPTH;) {
			enum chart_owner owner = chart_owner_of(frame, n, i + 1 == stack.count);

			count = owner >= CHART_LIBRARY ? kept : count;
			if (outermost[owner] == DW_NO_INDEX)
				outermost[owner] = count;
			chart->path[count++] = frame ? chart->functions.list[first[dw_sample_stack_id(&stack, i)] + n] : UNKNOWN;
			kept = owner != CHART_BETWEEN ? count : kept;
		}
	}
	begin = outermost[CHART_PROGRAM] != DW_NO_INDEX ? outermost[CHART_PROGRAM] : outermost[CHART_LIBRARY];
	if (begin != DW_NO_INDEX)
		memmove(chart->path, chart->path + begin, (count -= begin) * sizeof *chart->path);
	if (!count)
		chart->path[count++] = UNKNOWN;
	return count;
}

/* Ends the functions from depth `to` on, at the last sample. */
static void chart_close(struct chart *chart, uint32_t to)
{
	struct dw_sample_chart *result = chart->result;

	while (chart->open_count > to) {
		const struct chart_open *open = &chart->open[--chart->open_count];
		const struct dw_sample_span span = { open->start_ns, chart->last_ns, chart->thread, open->symbol,
			                                 chart->open_count };

		chart->failed |= !DW_APPEND(&result->spans, &chart->capacity, &result->count, span);
		if (!chart->open_count)
			result->sampled_ns[chart->thread] += span.end_ns - span.start_ns;
	}
}

static void chart_add(struct chart *chart, const struct dw_sample_time *sample)
{
	const struct dw_source *source = chart->model->source;
	double period = dw_samples_period(source, source->threads[sample->thread].process);
	uint64_t stands_ns = dw_whole((double)sample->weight * period), start_ns;
	uint32_t count = chart_find_path(chart, sample), common = 0;

	if (sample->thread != chart->thread || !chart->last_ns) {
		chart_close(chart, 0);
		chart->thread = sample->thread;
		chart->last_ns = 0;
	}
	start_ns = sample->ns > stands_ns ? sample->ns - stands_ns : 0;
	start_ns = start_ns > chart->last_ns ? start_ns : chart->last_ns;
	while (common < count && common < chart->open_count && chart->open[common].symbol == chart->path[common])
		common++;
	if (common == count && common == chart->open_count && start_ns > chart->last_ns)
		common--;
	chart_close(chart, common);
	for (; chart->open_count < count; chart->open_count++)
		chart->open[chart->open_count] = (struct chart_open){ start_ns, chart->path[chart->open_count] };
	chart->last_ns = sample->ns;
}

static bool chart_comes_before(const struct dw_sample_time *a, const struct dw_sample_time *b)
{
	return a->thread != b->thread ? a->thread < b->thread : a->ns < b->ns;
}

static bool chart_make(struct chart *chart)
{
	struct dw_sample_time *samples = NULL, *waits = NULL;
	size_t sample_count = 0, wait_count = 0, i = 0, k = 0;

	chart->failed = !dw_functions_init(&chart->functions, chart->model) ||
	                dw_model_samples_in_order(chart->model, false, &samples, &sample_count, NULL) ||
	                dw_model_samples_in_order(chart->model, true, &waits, &wait_count, NULL);
	while (!chart->failed && (i < sample_count || k < wait_count)) {
		bool waits_next = i == sample_count || (k < wait_count && chart_comes_before(&waits[k], &samples[i]));

		chart_add(chart, waits_next ? &waits[k++] : &samples[i++]);
	}
	chart_close(chart, 0);
	DW_FREE(samples, waits);
	return !chart->failed;
}

static bool chart_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_sample_chart *to = result;
	struct chart *chart;
	bool good;

	to->symbols = model->symbols;
	to->symbol_count = (uint32_t)model->symbol_count;
	to->sampled_ns = calloc(model->source->thread_count + 1, sizeof *to->sampled_ns);
	if (!dw_source_has_samples(model->source))
		return to->sampled_ns != NULL;
	chart = calloc(1, sizeof *chart);
	good = chart && to->sampled_ns;
	if (good) {
		chart->model = model;
		chart->result = to;
		good = chart_make(chart);
		to->symbols = chart->functions.symbols;
		to->symbol_count = chart->functions.symbol_count;
	}
	free(chart);
	return good;
}

static void chart_free(void *result)
{
	struct dw_sample_chart *chart = result;

	DW_FREE(chart->spans, chart->sampled_ns);
}

DW_PRODUCT(sample_chart, struct dw_sample_chart, chart_compute, chart_free);
DW_PRODUCT_GETTER(sample_chart, struct dw_sample_chart)
