/*
 * The FLOPs of a run: each call of an operator counted once, with its time.
 *
 * One pass like flat_walk.c's that looks at operators only. What a call costs depends on
 * its symbol alone (name and shapes), so formulas are asked once a symbol and the
 * pass adds up calls and ticks. A range of another kind is a frame without a symbol,
 * kept because ends are counted by depth.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pool.h"
#include "model/flops.h"
#include "model/walk.h"

struct cost {
	uint64_t flops;
	enum dw_flops_why why;
};

struct frame {
	uint64_t start, child; /* child: what operators in it took */
	uint32_t symbol;       /* merged; DW_NO_INDEX: no operator, or out of scope */
	uint32_t previous;     /* the operator around it, + 1; 0: none */
	bool covered;          /* it or an operator around it counts */
	bool inner;            /* an operator around it counts */
};

struct tally {
	uint64_t calls, ticks;               /* of calls that count */
	uint64_t missed_calls, missed_ticks; /* of calls that do not, by self time */
};

struct worker {
	struct tally *tallies; /* by merged symbol */
	struct frame *frames;
	size_t capacity;
	void *buffer;
	bool failed;
};

struct pass {
	struct dw_model *model;
	const struct cost *costs;
	struct worker *workers;
	uint32_t file;
};

struct context {
	struct dw_walk walk; /* first */
	struct worker *worker;
	const struct cost *costs;
	const uint32_t *symbol_by_id;
	size_t depth, in_scope;
	uint32_t top; /* the innermost operator's place + 1; 0: none */
	uint64_t over;
};

/* ---- the loop ------------------------------------------------------------------------------ */

DW_INLINE void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	struct worker *worker = context->worker;
	struct frame *frame = NULL, *around;
	uint32_t symbol;

	if (context->depth < DW_MOST_DEPTH && !context->over)
		frame = DW_GROW(&worker->frames, &worker->capacity, context->depth);
	if (!frame) {
		worker->failed |= context->depth < DW_MOST_DEPTH && !context->over;
		context->over++;
		return;
	}
	context->depth++;
	frame->symbol = DW_NO_INDEX;
	if (dw_walk_op(&context->walk, id).kind != dw_kind_of(DWELL_CATEGORY_OPERATOR) ||
	    !context->walk.wanted || !dw_walk_in_time(&context->walk, ticks))
		return;
	symbol = context->symbol_by_id[id < context->walk.op_count ? id : 0];
	around = context->top ? &worker->frames[context->top - 1] : NULL;
	frame->start = ticks;
	frame->symbol = symbol;
	frame->previous = context->top;
	frame->inner = around && around->covered;
	frame->covered = frame->inner || context->costs[symbol].why == DW_FLOPS_COUNTED;
	context->top = (uint32_t)context->depth;
	context->in_scope++;
}

/* The innermost frame ends. */
static void pop(struct context *context, uint64_t ticks)
{
	struct frame *frame = &context->worker->frames[--context->depth];
	struct tally *tally;
	uint64_t duration;

	if (frame->symbol == DW_NO_INDEX)
		return;
	duration = ticks - frame->start;
	context->top = frame->previous;
	context->in_scope--;
	if (frame->previous)
		context->worker->frames[frame->previous - 1].child += duration;
	if (frame->inner)
		return;
	tally = &context->worker->tallies[frame->symbol];
	if (frame->covered) {
		tally->calls++;
		tally->ticks += duration;
	} else {
		tally->missed_calls++;
		tally->missed_ticks += duration - frame->child;
	}
}

DW_INLINE void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	if (context->over)
		context->over--;
	else if (context->depth)
		pop(context, ticks);
}

/*
 * A frame ends in the middle: it becomes the innermost and is popped. The operator in
 * it goes on in what lies around: its time so far is taken off there in advance, as
 * all of it will be added when it ends.
 */
static void end_of(struct context *context, uint64_t ticks, uint32_t n)
{
	struct frame *frames = context->worker->frames, frame;
	uint32_t place;

	if (context->over || n >= context->depth)
		return;
	place = (uint32_t)(context->depth - n);
	frame = frames[place - 1];
	memmove(&frames[place - 1], &frames[place], n * sizeof frame);
	for (size_t i = place - 1; i + 1 < context->depth; i++) {
		if (frames[i].symbol == DW_NO_INDEX || frames[i].previous < place)
			continue;
		if (frames[i].previous > place) {
			frames[i].previous--;
			continue;
		}
		frames[i].previous = frame.previous;
		frame.child += ticks - frames[i].start;
		if (frame.previous)
			frames[frame.previous - 1].child -= ticks - frames[i].start;
	}
	frames[context->depth - 1] = frame;
	uint32_t top = context->top;
	pop(context, ticks);
	context->top = top > place ? top - 1 : top == place ? frame.previous : top;
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	context->over = 0;
	while (context->depth)
		pop(context, ticks);
}

static __attribute__((noinline)) void visit_rest(struct context *context, uint64_t ticks,
                                                 const struct dw_record *record)
{
	if (record->kind == DW_THREAD)
		dw_walk_thread(&context->walk, ticks, record->id, flush);
	else if (record->kind == DW_END_OF)
		end_of(context, ticks, record->payload[0]);
}

DW_INLINE void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct dw_record copy = *record; /* so that the loop's own stays in registers */

	visit_rest(pointer, ticks, &copy);
}

static bool may_skip(void *pointer)
{
	struct context *context = pointer;

	if (context->in_scope)
		return false;
	flush(pointer, dw_time_now(&context->walk.time), DW_FLUSH_END);
	return true;
}

/* ---- streams side by side ------------------------------------------------------------------ */

static bool prepare(struct worker *worker, size_t symbols)
{
	if (!worker->tallies)
		worker->tallies = calloc(symbols + 1, sizeof *worker->tallies);
	if (!worker->buffer)
		worker->buffer = malloc(DW_BLOCK_BYTES);
	worker->failed |= !worker->tallies || !worker->buffer;
	return !worker->failed;
}

static void walk_stream(void *pointer, unsigned index, size_t at)
{
	struct pass *pass = pointer;
	struct worker *worker = &pass->workers[index];
	struct dw_model *model = pass->model;
	size_t stream = model->stream_order[at];
	const struct dw_source_stream *from = &model->source->streams[stream];
	struct context context;

	if (from->file != pass->file || !dw_scope_has_stream(model, from) ||
	    !prepare(worker, model->symbol_count))
		return;
	memset(&context, 0, sizeof context);
	dw_walk_init(&context.walk, model, stream, worker->buffer);
	context.worker = worker;
	context.costs = pass->costs;
	context.symbol_by_id = model->symbol_by_id[from->file];
	dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, may_skip);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t flops_of(uint64_t flops, uint64_t calls)
{
	uint64_t product;

	return __builtin_mul_overflow(flops, calls, &product) ? UINT64_MAX : product;
}

/* Ticks are added up before they become nanoseconds: whichever worker had a stream, the sum
 * is rounded once. */
static void fold(struct worker *into, struct worker *from, size_t symbols)
{
	struct tally *tallies = from->tallies;

	from->tallies = NULL;
	if (!into->tallies) {
		into->tallies = tallies;
		return;
	}
	for (size_t i = 0; tallies && i < symbols; i++) {
		into->tallies[i].calls += tallies[i].calls;
		into->tallies[i].ticks += tallies[i].ticks;
		into->tallies[i].missed_calls += tallies[i].missed_calls;
		into->tallies[i].missed_ticks += tallies[i].missed_ticks;
	}
	free(tallies);
}

static void take_results(const struct pass *pass, struct worker *worker, struct dw_flops_row *rows)
{
	const struct dw_model *model = pass->model;
	const struct dw_source_clock *clock = &model->source->files[pass->file].clock;

	for (uint32_t i = 0; worker->tallies && i < model->symbol_count; i++) {
		const struct tally *tally = &worker->tallies[i];
		struct dw_flops_row *row = &rows[model->symbol_row[i]];

		row->calls += tally->calls;
		row->flops = add(row->flops, flops_of(pass->costs[i].flops, tally->calls));
		row->ns += dw_source_span_ns(clock, tally->ticks);
		row->missed_calls += tally->missed_calls;
		row->missed_ns += dw_source_span_ns(clock, tally->missed_ticks);
		if (tally->missed_calls)
			row->why = pass->costs[i].why;
	}
	free(worker->tallies);
	worker->tallies = NULL;
}

static bool walk_files(struct pass *pass, struct dw_flops_row *rows)
{
	const struct dw_source *source = pass->model->source;
	unsigned count = dw_pool_workers(source->stream_count);
	bool good;

	pass->workers = calloc(count, sizeof *pass->workers);
	good = pass->workers != NULL;
	for (uint32_t f = 0; good && f < source->file_count; f++) {
		pass->file = f;
		dw_pool_run(source->stream_count, count, walk_stream, pass);
		for (unsigned i = 0; i < count; i++) {
			good = good && !pass->workers[i].failed;
			if (i)
				fold(&pass->workers[0], &pass->workers[i], pass->model->symbol_count);
		}
		take_results(pass, &pass->workers[0], rows);
	}
	for (unsigned i = 0; pass->workers && i < count; i++) {
		free(pass->workers[i].frames);
		free(pass->workers[i].buffer);
	}
	free(pass->workers);
	return good;
}

static int compare_rows(const void *left, const void *right)
{
	const struct dw_flops_row *a = left, *b = right;

	if (a->flops != b->flops)
		return a->flops < b->flops ? 1 : -1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->missed_ns != b->missed_ns)
		return a->missed_ns < b->missed_ns ? 1 : -1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static struct cost *make_costs(const struct dw_model *model)
{
	struct cost *costs = calloc(model->symbol_count + 1, sizeof *costs);

	for (uint32_t i = 0; costs && i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];

		if (symbol->category == DWELL_CATEGORY_OPERATOR)
			costs[i].flops = dw_flops(symbol->name, symbol->shapes, &costs[i].why);
	}
	return costs;
}

static void finish(struct dw_model *model, struct dw_flops_sum *sum)
{
	for (uint32_t row = 0; row < model->row_count; row++) {
		struct dw_flops_row *from = &sum->rows[row];

		if (!from->calls && !from->missed_calls)
			continue;
		from->symbol = model->row_symbol[row];
		sum->flops = add(sum->flops, from->flops);
		sum->counted_ns += from->ns;
		sum->missed_ns += from->missed_ns;
		sum->rows[sum->count++] = *from;
	}
	if (sum->count)
		qsort(sum->rows, sum->count, sizeof *sum->rows, compare_rows);
}

const struct dw_flops_sum *dw_model_flops(struct dw_model *model, struct dwell_error *error)
{
	struct cost *costs = make_costs(model);
	struct pass pass = { .model = model, .costs = costs };
	struct dw_flops_sum *sum = dw_arena_alloc(&model->arena, sizeof *sum);
	bool good = costs && sum;

	if (good)
		sum->rows = dw_arena_alloc(&model->arena, (model->row_count + 1) * sizeof *sum->rows);
	good = good && sum->rows && walk_files(&pass, sum->rows);
	if (good)
		finish(model, sum);
	else
		dw_model_no_memory(model, error);
	free(costs);
	return good ? sum : NULL;
}
