/*
 * Every tick of a step thread to one share: see shares.h.
 *
 * At each instant the open ranges make a set of shares; the first of them in the
 * order of precedence has the instant. In a Python process forward, backward,
 * optimizer and evaluation mean time inside an operator: the rest of such a phase
 * is the interpreter's. Beside the steps it is the other way round: evaluation
 * and checkpoints name the whole time that they last, data loading and all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "dwell/probe.h"
#include "model/shares.h"
#include "model/walk.h"

#define MOST_SELFS 4096u /* rows kept of one step; a step with more has no culprit */

struct frame {
	uint32_t row;
	uint8_t share;   /* DW_SHARE_COUNT: none */
	bool operator;
};

struct context {
	struct dw_walk walk;
	struct dw_pace *pace;
	const uint8_t *shares;   /* by row, what dw_share_of() says */
	const bool *operators;   /* by row */
	struct frame *frames;
	size_t depth, capacity;
	uint32_t over;
	uint32_t open[DW_SHARE_COUNT], operators_open;
	uint32_t set;            /* the shares that are open: asked at every record */
	bool python;
	uint64_t last;           /* all before this has been given away */
	size_t next;             /* the step that we are in or before */
	bool inside;
	int beside;              /* where the instant before went, -1: into a step */
	uint64_t *self;          /* by row: of this step */
	uint32_t *touched;       /* rows with self time */
	uint32_t touched_count;
	bool failed;
};

/* ---- which share --------------------------------------------------------------------------- */

#define BIT(share) (1u << DW_SHARE_##share)
#define PHASES (BIT(EVALUATION) | BIT(OPTIMIZER) | BIT(BACKWARD) | BIT(FORWARD))

static enum dw_share step_share(const struct context *context)
{
	uint32_t set = context->set;

	if (context->python && set & PHASES && !context->operators_open)
		set = (set & ~PHASES) | BIT(PYTHON);
	return set ? (enum dw_share)__builtin_ctz(set) : DW_SHARE_OTHER;
}

static int beside_share(const struct context *context)
{
	uint32_t set = context->set;

	if (set & BIT(EVALUATION))
		return DW_SHARE_EVALUATION;
	if (set & BIT(CHECKPOINT))
		return DW_SHARE_CHECKPOINT;
	if (context->next == 0)
		return DW_BESIDE_START;
	if (context->next == context->pace->count)
		return DW_BESIDE_AFTER;
	set &= BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) | BIT(COMMUNICATION) | BIT(DEVICE);
	return set ? __builtin_ctz(set) : DW_SHARE_OTHER;
}

/* ---- giving time away ------------------------------------------------------------------------- */

static void give_self(struct context *context, uint64_t ticks)
{
	uint32_t row;

	if (!context->depth || !ticks)
		return;
	row = context->frames[context->depth - 1].row;
	if (!context->self[row]) {
		if (context->touched_count == MOST_SELFS)
			return;
		context->touched[context->touched_count++] = row;
	}
	context->self[row] += ticks;
}

static void leave_step(struct context *context)
{
	struct dw_pace_step *step = &context->pace->steps[context->next];

	if (step->sampled && context->touched_count) {
		step->selfs = malloc(context->touched_count * sizeof *step->selfs);
		context->failed |= !step->selfs;
		for (uint32_t i = 0; step->selfs && i < context->touched_count; i++)
			step->selfs[step->self_count++] =
			    (struct dw_self){ context->touched[i], context->self[context->touched[i]] };
	}
	for (uint32_t i = 0; i < context->touched_count; i++)
		context->self[context->touched[i]] = 0;
	context->touched_count = 0;
}

static void give(struct context *context, uint64_t ticks)
{
	struct dw_pace *pace = context->pace;
	int share;

	if (!ticks)
		return;
	if (context->inside) {
		pace->steps[context->next].share_ticks[step_share(context)] += ticks;
		if (pace->steps[context->next].sampled)
			give_self(context, ticks);
		context->beside = -1;
		return;
	}
	share = beside_share(context);
	pace->beside_ticks[share] += ticks;
	pace->beside_counts[share] += share != context->beside;
	context->beside = share;
}

/* Gives away all time up to `ticks`, cut where steps begin and end. */
static void advance(struct context *context, uint64_t ticks)
{
	struct dw_pace *pace = context->pace;

	if (ticks > pace->end_ticks)
		ticks = pace->end_ticks;
	for (;;) {
		uint64_t border = context->next == pace->count ? UINT64_MAX
		                  : context->inside ? pace->steps[context->next].end_ticks
		                                    : pace->steps[context->next].start_ticks;
		uint64_t to = ticks < border ? ticks : border;

		if (to > context->last) {
			give(context, to - context->last);
			context->last = to;
		}
		if (ticks < border || context->next == pace->count)
			return;
		if (context->inside) {
			leave_step(context);
			context->next++;
		}
		context->inside = !context->inside;
	}
}

/* ---- the records ---------------------------------------------------------------------------------- */

static bool ours(const struct context *context)
{
	return context->walk.thread == context->pace->thread;
}

static void count_frame(struct context *context, const struct frame *frame, uint32_t by)
{
	if (frame->share < DW_SHARE_COUNT) {
		context->open[frame->share] += by;
		context->set &= ~(1u << frame->share);
		context->set |= (uint32_t)(context->open[frame->share] > 0) << frame->share;
	}
	context->operators_open += frame->operator ? by : 0;
}

DW_INLINE void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	uint32_t row = dw_walk_op(&context->walk, id).row;
	struct frame *frame = NULL;

	if (!ours(context))
		return;
	if (context->depth < DW_MOST_DEPTH && !context->over)
		frame = DW_GROW(&context->frames, &context->capacity, context->depth);
	if (!frame) {
		context->over++;
		return;
	}
	advance(context, ticks);
	context->depth++;
	*frame = (struct frame){ row, context->shares[row], context->operators[row] };
	count_frame(context, frame, 1);
}

static void end_of(struct context *context, uint64_t ticks, uint32_t n)
{
	struct frame frame;
	size_t at;

	if (!ours(context))
		return;
	if (context->over) {
		context->over -= n == 0;
		return;
	}
	if (n >= context->depth)
		return;
	advance(context, ticks);
	at = context->depth - 1 - n;
	frame = context->frames[at];
	memmove(&context->frames[at], &context->frames[at + 1], n * sizeof frame);
	context->depth--;
	count_frame(context, &frame, (uint32_t)-1);
}

DW_INLINE void visit_end(void *context, uint64_t ticks)
{
	end_of(context, ticks, 0);
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	if (ours(context) || why == DW_FLUSH_END)
		advance(context, ticks);
	while (context->depth && ours(context))
		count_frame(context, &context->frames[--context->depth], (uint32_t)-1);
	context->over = 0;
}

DW_INLINE void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct context *context = pointer;

	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	if (record->kind == DW_END_OF)
		end_of(context, ticks, record->payload[0]);
}

/* ---- the walk ----------------------------------------------------------------------------------------- */

static size_t find_stream(const struct dw_source *source, const struct dw_pace *pace)
{
	for (size_t i = 0; i < source->stream_count; i++)
		if (source->streams[i].process == pace->process && !source->streams[i].nested &&
		    source->streams[i].stream == source->threads[pace->thread].stream)
			return i;
	return source->stream_count;
}

static int make_tables(struct dw_model *model, struct context *context)
{
	uint8_t *shares = malloc(model->row_count + 1);
	bool *operators = malloc(model->row_count + 1);

	context->shares = shares;
	context->operators = operators;
	context->self = calloc(model->row_count + 1, sizeof *context->self);
	context->touched = calloc(MOST_SELFS, sizeof *context->touched);
	context->walk.buffer = malloc(DW_BLOCK_BYTES);
	if (!shares || !operators || !context->self || !context->touched || !context->walk.buffer)
		return -1;
	for (uint32_t row = 0; row < model->row_count; row++) {
		const struct dw_symbol *symbol = &model->symbols[model->row_symbol[row]];

		shares[row] = (uint8_t)dw_share_of(symbol);
		operators[row] = symbol->category == DWELL_CATEGORY_OPERATOR;
	}
	return 0;
}

int dw_pace_walk(struct dw_model *model, struct dw_pace *pace)
{
	const struct dw_source *source = model->source;
	struct context context = { .pace = pace, .last = pace->start_ticks, .beside = -1 };
	size_t stream = find_stream(source, pace);
	void *buffer;
	int result = make_tables(model, &context);

	buffer = context.walk.buffer;
	context.python = source->processes[pace->process].flags & DW_PROCESS_PYTHON;
	if (result == 0 && stream < source->stream_count) {
		dw_walk_init(&context.walk, model, stream, buffer);
		dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
	}
	if (result == 0) {
		advance(&context, pace->end_ticks);
		if (context.inside && context.next < pace->count)
			leave_step(&context);
	}
	free((void *)(uintptr_t)context.shares);
	free((void *)(uintptr_t)context.operators);
	free(context.self);
	free(context.touched);
	free(context.frames);
	free(buffer);
	return result || context.failed ? -1 : 0;
}
