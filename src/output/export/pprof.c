/*
 * pprof: calls, time and memory as profile.proto, for `pprof` and tools that read its files.
 *
 * If stacks were recorded, a sample consists of the name of a range and the functions that called
 * it; otherwise it is a path of the call tree. Time is the self time of the innermost frame, so
 * samples add up to the busy time of the threads. Memory has separate samples, by the operator that
 * allocated it. The thread is a label of a sample, not a frame.
 *
 * Without ranges, or with the metric samples, the samples are those of the trace, with their CPU time.
 * Called through export.c. Each message is written when it is complete. Strings are numbered in the
 * order of their first use and written before it: the format allows lists in pieces and in any
 * order.
 */

#include "base/error.h"
#include "base/free.h"
#include "base/proto.h"
#include "export/export.h"
#include "export/stacks.h"
#include "model/memory/memory.h"
#include "model/samples/samples.h"

/* A sample contains its whole path, so without a limit the size of the file would grow with the
 * square of the depth of a runaway recursion. */
#define MOST_FRAMES 2048u

/* Fields of profile.proto. */
enum { SAMPLE_TYPE = 1, SAMPLE = 2, MAPPING = 3, LOCATION = 4, FUNCTION = 5, STRING_TABLE = 6,
	   TIME_NANOS = 9, DURATION_NANOS = 10, COMMENT = 13, DEFAULT_SAMPLE_TYPE = 14 };
enum { TYPE = 1, UNIT = 2 };
enum { LOCATION_ID = 1, VALUE = 2, LABEL = 3 };
enum { KEY = 1, STRING = 2, NUMBER = 3 };
enum { LINE = 4, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { NAME = 2, SYSTEM_NAME = 3, FILENAME = 4 };

enum label { THREAD, TID, PID, DEVICE, LABEL_COUNT };
enum value { TIME, CALLS, TIME_VALUES, ALLOCATED = TIME_VALUES, ALLOCATED_COUNT, LIVE, LIVE_COUNT,
	         VALUE_COUNT };

struct pprof {
	struct dw_model *model;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	size_t symbol_count;
	struct dw_writer_out *out;
	struct dw_proto message;
	uint64_t strings, functions, locations; /* number of written items of each kind */
	uint64_t labels[LABEL_COUNT];           /* strings */
	uint64_t *symbol_locations;             /* by symbol, and one more for "no operator"; 0
	                                         * means not written yet */
	uint64_t **frame_locations;             /* by file, then by frame id */
	uint64_t *thread_names;                 /* by thread: string */
	uint64_t path[MOST_FRAMES];  /* locations of a sample, innermost first */
	uint64_t outer[MOST_FRAMES]; /* locations of a call path, outermost first */
	size_t value_count;
	bool samples;               /* only samples: their paths of functions */
	bool waits;                 /* of these, samples of waits */
	bool failed;
};

/* Writes the message, or its complete part. */
static void pprof_send(struct pprof *pprof)
{
	pprof->failed |= pprof->message.failed;
	dw_out_bytes(pprof->out, (const char *)pprof->message.bytes, pprof->message.used);
	pprof->message.used = 0;
}

/* Returns the number of a string, which is written if it is new. No message may be open. */
static uint64_t pprof_put_string(struct pprof *pprof, const char *text)
{
	dw_proto_text(&pprof->message, STRING_TABLE, text);
	pprof_send(pprof);
	return pprof->strings++;
}

/* ---- locations ---------------------------------------------------------------------- */

static uint64_t pprof_put_function(struct pprof *pprof, const char *name, const char *file)
{
	uint64_t name_string = pprof_put_string(pprof, name);
	uint64_t file_string = file ? pprof_put_string(pprof, file) : 0;
	size_t at = dw_proto_open(&pprof->message, FUNCTION);

	dw_proto_u64(&pprof->message, 1, ++pprof->functions);
	dw_proto_u64(&pprof->message, NAME, name_string);
	dw_proto_u64(&pprof->message, SYSTEM_NAME, name_string);
	dw_proto_u64(&pprof->message, FILENAME, file_string);
	dw_proto_close(&pprof->message, at);
	pprof_send(pprof);
	return pprof->functions;
}

/* `functions` are inlined into one another, innermost first. */
static uint64_t pprof_put_location(struct pprof *pprof, const struct dw_source_function *functions, uint32_t count)
{
	uint64_t first = pprof->functions + 1;
	size_t at;

	for (uint32_t i = 0; i < count; i++)
		pprof_put_function(pprof, functions[i].name, functions[i].file);
	at = dw_proto_open(&pprof->message, LOCATION);
	dw_proto_u64(&pprof->message, 1, ++pprof->locations);
	for (uint32_t i = 0; i < count; i++) {
		size_t line = dw_proto_open(&pprof->message, LINE);

		dw_proto_u64(&pprof->message, LINE_FUNCTION, first + i);
		if (functions[i].line)
			dw_proto_u64(&pprof->message, LINE_NUMBER, functions[i].line);
		dw_proto_close(&pprof->message, line);
	}
	dw_proto_close(&pprof->message, at);
	pprof_send(pprof);
	return pprof->locations;
}

static uint64_t pprof_symbol_location(struct pprof *pprof, uint32_t symbol)
{
	struct dw_source_function function = { "(no operator)", NULL, 0 };
	uint64_t *at = &pprof->symbol_locations[symbol < pprof->symbol_count ? symbol : pprof->symbol_count];

	if (symbol < pprof->symbol_count)
		function = (struct dw_source_function){ pprof->symbols[symbol].name,
			pprof->symbols[symbol].file, pprof->symbols[symbol].line };
	if (!*at)
		*at = pprof_put_location(pprof, &function, 1);
	return *at;
}

/* Returns 0 if the file does not contain the frame. */
static uint64_t pprof_frame_location(struct pprof *pprof, const struct dw_stack *stack, uint32_t index)
{
	uint32_t id = __atomic_load_n(&stack->frames[index], __ATOMIC_RELAXED);
	const struct dw_source_frame *frame = id < stack->file->symbol_count ? stack->file->frames[id] : NULL;
	uint64_t **locations = &pprof->frame_locations[stack->file - pprof->source->files];

	if (!frame)
		return 0;
	if (!*locations)
		*locations = calloc(stack->file->symbol_count, sizeof **locations);
	if (!*locations) {
		pprof->failed = true;
		return 0;
	}
	if (!(*locations)[id])
		(*locations)[id] = pprof_put_location(pprof, frame->functions, frame->count);
	return (*locations)[id];
}

/* ---- samples ------------------------------------------------------------------------ */

static void pprof_put_label(struct pprof *pprof, enum label key, uint32_t field, uint64_t value)
{
	size_t at = dw_proto_open(&pprof->message, LABEL);

	dw_proto_u64(&pprof->message, KEY, pprof->labels[key]);
	dw_proto_u64(&pprof->message, field, value);
	dw_proto_close(&pprof->message, at);
}

/* Begins a sample with the frames path[0] to path[frames - 1]. The caller adds labels and closes
 * it. */
static size_t pprof_begin_sample(struct pprof *pprof, uint32_t frames, const uint64_t values[VALUE_COUNT])
{
	size_t at = dw_proto_open(&pprof->message, SAMPLE), list;

	list = dw_proto_open(&pprof->message, LOCATION_ID);
	for (uint32_t i = 0; i < frames; i++)
		dw_proto_varint(&pprof->message, pprof->path[i]);
	dw_proto_close(&pprof->message, list);
	list = dw_proto_open(&pprof->message, VALUE);
	for (size_t i = 0; i < pprof->value_count; i++)
		dw_proto_varint(&pprof->message, values[i]);
	dw_proto_close(&pprof->message, list);
	return at;
}

static void pprof_put_time(struct pprof *pprof, uint32_t frames, uint32_t thread, uint64_t self_ns, uint64_t count)
{
	const uint64_t values[VALUE_COUNT] = { [TIME] = self_ns, [CALLS] = count };
	const struct dw_source_thread *of = &pprof->source->threads[thread];
	size_t at;

	if (!pprof->thread_names[thread])
		pprof->thread_names[thread] = pprof_put_string(pprof, of->name);
	at = pprof_begin_sample(pprof, frames, values);
	pprof_put_label(pprof, THREAD, STRING, pprof->thread_names[thread]);
	pprof_put_label(pprof, TID, NUMBER, of->tid);
	pprof_put_label(pprof, PID, NUMBER, pprof->source->processes[of->process].pid);
	dw_proto_close(&pprof->message, at);
	pprof_send(pprof);
}

/* If a path is too deep, its sample contains the outermost frames and the innermost one. */
static int pprof_put_paths(struct pprof *pprof, struct dwell_error *error)
{
	const struct dw_paths *paths = dw_model_paths(pprof->model, DW_PATHS_CALLS, error);
	uint64_t *outer = pprof->outer;
	uint32_t thread = 0;

	if (!paths)
		return error ? error->code : DWELL_E_NOMEM;
	for (size_t i = 0; i < paths->count && !pprof->out->error; i++) {
		const struct dw_path *node = &paths->nodes[i];
		uint32_t frames = node->depth < MOST_FRAMES ? node->depth : MOST_FRAMES;

		if (!node->depth) {
			thread = node->symbol;
			continue;
		}
		outer[frames - 1] = pprof_symbol_location(pprof, node->symbol);
		for (uint32_t k = 0; k < frames; k++)
			pprof->path[k] = outer[frames - 1 - k];
		pprof_put_time(pprof, frames, thread, node->self_ns, node->count);
	}
	return 0;
}

static int pprof_put_stacks(struct pprof *pprof, struct dwell_error *error)
{
	struct dw_stacks stacks;
	int result = dw_stacks_make(&stacks, pprof->model, error);
	bool any = false;

	for (size_t i = 0; i < stacks.count && !any; i++)
		any = stacks.rows[i].stack != 0;
	if (!result && !any) { /* the stacks of the trace are those of samples */
		dw_stacks_reset(&stacks);
		return pprof_put_paths(pprof, error);
	}
	for (size_t i = 0; i < stacks.count && !result && !pprof->out->error; i++) {
		const struct dw_stacks_row *row = &stacks.rows[i];
		struct dw_stack stack = dw_stack_at(pprof->source, row->thread, row->stack);
		uint32_t frames = 1;

		pprof->path[0] = pprof_symbol_location(pprof, row->symbol);
		for (uint32_t k = 0; k < stack.count && frames < MOST_FRAMES; k++) {
			pprof->path[frames] = pprof_frame_location(pprof, &stack, k);
			frames += pprof->path[frames] != 0;
		}
		pprof_put_time(pprof, frames, row->thread, row->self_ns, row->count);
	}
	dw_stacks_reset(&stacks);
	return result;
}

static int pprof_put_samples(struct pprof *pprof, struct dwell_error *error)
{
	const struct dw_samples *samples =
		pprof->waits ? dw_model_wait_samples(pprof->model, error) : dw_model_samples(pprof->model, error);

	if (!samples)
		return error ? error->code : DWELL_E_NOMEM;
	for (size_t i = 0; i < samples->count && !pprof->out->error; i++) {
		const struct dw_sample_row *row = &samples->rows[i];
		struct dw_sample_stack sample = dw_sample_stack_of(pprof->source, row);
		struct dw_stack callers = { sample.file, sample.callers, sample.count - sample.first };
		struct dw_stack inner = { sample.file, &sample.frame, sample.first };
		uint32_t frames = 0;

		for (uint32_t k = 0; k < sample.count && frames < MOST_FRAMES; k++) {
			pprof->path[frames] = k < sample.first ? pprof_frame_location(pprof, &inner, k)
			                                       : pprof_frame_location(pprof, &callers, k - sample.first);
			frames += pprof->path[frames] != 0;
		}
		pprof_put_time(pprof, frames, row->thread, row->cpu_ns, row->count);
	}
	return 0;
}

static void pprof_put_owner(struct pprof *pprof, const struct dw_memory_pool *pool, uint64_t device,
                            const struct dw_memory_owner *owner)
{
	const uint64_t values[VALUE_COUNT] = {
		[ALLOCATED] = owner->use.allocated_bytes, [ALLOCATED_COUNT] = owner->use.allocations,
		[LIVE] = owner->use.live_bytes, [LIVE_COUNT] = owner->use.live_count,
	};
	size_t at;

	pprof->path[0] = pprof_symbol_location(pprof, owner->symbol);
	at = pprof_begin_sample(pprof, 1, values);
	pprof_put_label(pprof, PID, NUMBER, pprof->source->processes[pool->process].pid);
	pprof_put_label(pprof, DEVICE, STRING, device);
	dw_proto_close(&pprof->message, at);
	pprof_send(pprof);
}

static int pprof_put_memory(struct pprof *pprof, struct dwell_error *error)
{
	const struct dw_memory *memory = dw_model_memory(pprof->model, error);

	if (!memory)
		return error ? error->code : DWELL_E_NOMEM;
	for (size_t i = 0; i < memory->pool_count; i++) {
		const struct dw_memory_pool *pool = &memory->pools[i];
		uint64_t device = pprof_put_string(pprof, pool->device);

		for (size_t k = 0; k < pool->owner_count; k++)
			pprof_put_owner(pprof, pool, device, &pool->owners[k]);
	}
	return 0;
}

/* ---- the document ------------------------------------------------------------------- */

static void pprof_put_head(struct pprof *pprof)
{
	const char *const types[VALUE_COUNT][2] = {
		[TIME] = { pprof->waits ? "wait" : pprof->samples ? "cpu" : "time", "nanoseconds" },
		[CALLS] = { pprof->samples ? "samples" : "calls", "count" },
		[ALLOCATED] = { "alloc_space", "bytes" }, [ALLOCATED_COUNT] = { "alloc_objects", "count" },
		[LIVE] = { "inuse_space", "bytes" }, [LIVE_COUNT] = { "inuse_objects", "count" },
	};
	static const char *const labels[LABEL_COUNT] = {
		[THREAD] = "thread", [TID] = "tid", [PID] = "pid", [DEVICE] = "device"
	};
	uint64_t time = 0;

	pprof_put_string(pprof, ""); /* string 0 is empty */
	for (size_t i = 0; i < pprof->value_count; i++) {
		uint64_t type = pprof_put_string(pprof, types[i][0]), unit = pprof_put_string(pprof, types[i][1]);
		size_t at = dw_proto_open(&pprof->message, SAMPLE_TYPE);

		time = i == TIME ? type : time;
		dw_proto_u64(&pprof->message, TYPE, type);
		dw_proto_u64(&pprof->message, UNIT, unit);
		dw_proto_close(&pprof->message, at);
	}
	for (size_t i = 0; i < LABEL_COUNT; i++)
		pprof->labels[i] = pprof_put_string(pprof, labels[i]);
	dw_proto_u64(&pprof->message, DEFAULT_SAMPLE_TYPE, time);
	dw_proto_u64(&pprof->message, TIME_NANOS, pprof->source->realtime_start_ns);
	dw_proto_u64(&pprof->message, DURATION_NANOS, pprof->source->end_ns);
	pprof_send(pprof);
}

/* Comments on lost and repaired records, shown by other tools that open the file. */
static void pprof_put_comments(struct pprof *pprof)
{
	size_t count;
	const char *const *repairs = dw_model_repairs(pprof->model, &count);
	uint64_t lost = 0, string;
	char text[96];

	for (unsigned i = 0; i < DW_LOSS_SLOTS; i++)
		lost += pprof->source->lost[i];
	snprintf(text, sizeof text, "dwell %s; %llu records were lost", dwell_version(), (unsigned long long)lost);
	string = pprof_put_string(pprof, text);
	dw_proto_u64(&pprof->message, COMMENT, string);
	for (size_t i = 0; repairs && i < count; i++) {
		string = pprof_put_string(pprof, repairs[i]);
		dw_proto_u64(&pprof->message, COMMENT, string);
	}
	pprof_send(pprof);
}

static int pprof_put_profile(struct pprof *pprof, struct dwell_error *error)
{
	int result;

	pprof_put_head(pprof);
	pprof_put_comments(pprof);
	result = pprof->samples ? pprof_put_samples(pprof, error)
	         : dw_stacks_any(pprof->source) ? pprof_put_stacks(pprof, error) : pprof_put_paths(pprof, error);
	if (!result && !pprof->samples && pprof->value_count == VALUE_COUNT)
		result = pprof_put_memory(pprof, error);
	return result;
}

static int pprof_write(struct dw_model *model, const struct dwell_export_options *options,
                       struct dw_writer_out *out, struct dwell_error *error)
{
	const struct dw_paths *paths = dw_model_drawn_paths(model, options ? options->metric : NULL, error);
	struct pprof *pprof = paths ? calloc(1, sizeof *pprof) : NULL;
	int result = 0;

	if (!paths)
		return error ? error->code : DWELL_E_NOMEM;

	if (!pprof)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while exporting to %s", dw_out_name(out));
	pprof->model = model;
	pprof->samples = paths->of_samples;
	pprof->waits = paths->of_waits;
	pprof->source = dw_model_source(model);
	pprof->symbols = dw_model_symbols(model, &pprof->symbol_count);
	pprof->out = out;
	pprof->value_count = !pprof->samples && dw_model_categories(model) >> DWELL_CATEGORY_ALLOCATION & 1
	                         ? VALUE_COUNT : TIME_VALUES;
	pprof->symbol_locations = calloc(pprof->symbol_count + 1, sizeof *pprof->symbol_locations);
	pprof->frame_locations = calloc(pprof->source->file_count, sizeof *pprof->frame_locations);
	pprof->thread_names = calloc(pprof->source->thread_count + 1, sizeof *pprof->thread_names);
	pprof->failed = !pprof->symbol_locations || !pprof->frame_locations || !pprof->thread_names;
	if (!pprof->failed)
		result = pprof_put_profile(pprof, error);
	if (!result && pprof->failed)
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while exporting to %s", dw_out_name(out));
	for (size_t i = 0; pprof->frame_locations && i < pprof->source->file_count; i++)
		free(pprof->frame_locations[i]);
	DW_FREE(pprof->frame_locations, pprof->symbol_locations, pprof->thread_names);
	dw_proto_reset(&pprof->message);
	free(pprof);
	return result;
}

const struct dw_export_format dw_export_pprof = {
	.name = "pprof", .what = "calls, time and memory as a protocol buffer, for pprof", .takes_metric = true,
	.write = pprof_write,
};
