/*
 * The model: created, destroyed, and the small answers.
 *
 * Called by views, exporters and whoever analyses a source. Resolving names and
 * scope is done at once, for that can fail by the user's words; products are made
 * when they are asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/core/model_data.h"

int dw_model_no_memory(const struct dw_model *model, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOMEM, "out of memory analysing %s",
	                    model->source->files[0].path);
}

struct by_size {
	size_t stream, chunks;
};

static int compare_sizes(const void *left, const void *right)
{
	const struct by_size *a = left, *b = right;

	if (a->chunks != b->chunks)
		return a->chunks < b->chunks ? 1 : -1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

/* Large streams first, so that no core is left with one at the end. */
static int order_streams(struct dw_model *model)
{
	size_t count = model->source->stream_count;
	struct by_size *sizes = calloc(count + 1, sizeof *sizes);

	model->stream_order = dw_arena_alloc(&model->arena, (count + 1) * sizeof(size_t));
	if (!sizes || !model->stream_order) {
		free(sizes);
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		sizes[i] = (struct by_size){ i, model->source->streams[i].chunk_count };
	qsort(sizes, count, sizeof *sizes, compare_sizes);
	for (size_t i = 0; i < count; i++)
		model->stream_order[i] = sizes[i].stream;
	free(sizes);
	return 0;
}

int dw_model_create(struct dw_model **result, const struct dw_source *source,
                    const struct dw_scope *scope, struct dwell_error *error)
{
	struct dw_model *model = calloc(1, sizeof *model);
	int code;

	*result = NULL;
	if (!model)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	model->source = source;
	if (scope) {
		model->scope = *scope;
		if (scope->thread) {
			model->scope.thread =
			    dw_arena_text(&model->arena, scope->thread, strlen(scope->thread));
			if (!model->scope.thread) {
				dw_model_destroy(model);
				return dw_error_set(error, DWELL_E_NOMEM, "out of memory");
			}
		}
	}
	code = dw_symbols_merge(model) || order_streams(model) || dw_scope_find_namesakes(model)
	           ? dw_model_no_memory(model, error) : dw_scope_resolve(model, error);
	if (code) {
		dw_model_destroy(model);
		return code;
	}
	*result = model;
	return 0;
}

void dw_model_destroy(struct dw_model *model)
{
	if (!model)
		return;
	for (int of = 0; of < DW_PATHS_KINDS; of++)
		free(model->paths[of] ? model->paths[of]->nodes : NULL);
	dw_arena_reset(&model->arena);
	free(model);
}

const struct dw_source *dw_model_source(const struct dw_model *model)
{
	return model->source;
}

const struct dw_scope *dw_model_scope(const struct dw_model *model)
{
	return &model->scope;
}

bool dw_model_is_partial(const struct dw_model *model)
{
	return model->intervals != NULL;
}

const struct dw_symbol *dw_model_symbols(struct dw_model *model, size_t *count)
{
	if (count)
		*count = model->symbol_count;
	return model->symbols;
}

uint32_t dw_model_categories(struct dw_model *model)
{
	return dw_flat_categories(model, NULL);
}

/* ---- coverage -------------------------------------------------------------------------- */

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)(part < whole ? part : whole) / (double)whole : 1.0;
}

static uint64_t sum_intervals(const struct dw_interval *at)
{
	uint64_t ticks = 0;

	for (; at->start_ticks != UINT64_MAX; at++)
		ticks += at->end_ticks - at->start_ticks;
	return ticks;
}

/* The last tick of the holes; 0: there are none. */
static uint64_t last_tick(const struct dw_interval *at)
{
	uint64_t last = 0;

	for (; at->start_ticks != UINT64_MAX; at++)
		last = at->end_ticks;
	return last;
}

/* Without steps: of each thread from its first to its last record, which may be missing. */
static double thread_coverage(const struct dw_model *model, const struct dw_threads *threads)
{
	const struct dw_source *source = model->source;
	uint64_t asked = 0, missing = 0;

	for (size_t i = 0; i < threads->count; i++) {
		const struct dw_thread_row *row = &threads->rows[i];
		const struct dw_interval *holes = threads->missing[row->thread];
		uint32_t process = source->threads[row->thread].process;
		const struct dw_source_clock *clock = &source->files[source->processes[process].file].clock;
		uint64_t first_ns = row->first_ns, last_ns = row->last_ns;

		if (row->nested)
			continue;
		if (holes->start_ticks != UINT64_MAX) {
			uint64_t hole_ns = dw_source_ns(clock, holes->start_ticks);
			uint64_t end_ns = dw_source_ns(clock, last_tick(holes));

			first_ns = first_ns < hole_ns ? first_ns : hole_ns;
			last_ns = last_ns > end_ns ? last_ns : end_ns;
		}
		asked += last_ns - first_ns;
		missing += dw_source_span_ns(clock, sum_intervals(holes));
	}
	return ratio(asked > missing ? asked - missing : 0, asked);
}

double dw_model_coverage(struct dw_model *model)
{
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	const struct dw_threads *threads = dw_model_threads(model, NULL);

	if (!steps || !threads)
		return 0;
	if (!steps->count)
		return thread_coverage(model, threads);
	return ratio(steps->wall_ns > steps->missing_ns ? steps->wall_ns - steps->missing_ns : 0,
	             steps->wall_ns);
}

/* ---- repairs ------------------------------------------------------------------------------ */

/* 1204331 as 1,204,331. */
static const char *grouped(char text[32], uint64_t value)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
	char *to = text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

static const char *torn_sentence(struct dw_model *model, const struct dw_source_file *file)
{
	const struct dw_flat *flat = dw_model_flat(model, UINT32_MAX, NULL);
	char ranges[32], open[32], why[160] = "ends inside a chunk (the program was killed)";

	if (!flat)
		return NULL;
	if (file->missing_bytes)
		snprintf(why, sizeof why, "is a truncated copy (%s of %s are missing; copy it again)",
		         dw_text_bytes((double)file->missing_bytes, " ").at,
		         dw_text_bytes((double)file->missing_bytes + (double)file->size_bytes, " ").at);
	return dw_arena_printf(&model->arena,
	                       "%s %s: recovered %s range%s, "
	                       "the last at %.1f s; %s range%s open", file->path, why,
	                       grouped(ranges, flat->ranges), flat->ranges == 1 ? "" : "s",
	                       (double)flat->last_ns / 1e9, grouped(open, flat->open),
	                       flat->open == 1 ? " was" : "s were");
}

const char *const *dw_model_repairs(struct dw_model *model, size_t *count)
{
	const struct dw_source *source = model->source;
	size_t at = 0;

	*count = model->repair_count;
	if (model->has_repairs)
		return model->repairs;
	model->repairs = dw_arena_alloc(&model->arena, (source->file_count + source->repair_count + 1) *
	                                                   sizeof *model->repairs);
	if (!model->repairs)
		return NULL;
	for (size_t i = 0; i < source->file_count; i++) {
		if ((!source->files[i].torn && !source->files[i].missing_bytes) || source->live)
			continue;
		model->repairs[at] = torn_sentence(model, &source->files[i]);
		if (!model->repairs[at++])
			return NULL;
	}
	/* The source says of a torn file that it is torn; that has been said better. */
	for (size_t i = 0; i < source->repair_count; i++)
		if (!strstr(source->repairs[i], " ends inside a chunk ") &&
		    !strstr(source->repairs[i], " is a truncated copy: "))
			model->repairs[at++] = source->repairs[i];
	model->has_repairs = true;
	*count = model->repair_count = at;
	return model->repairs;
}
