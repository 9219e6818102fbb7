/*
 * Assigns every tick of a step thread to one share; see shares.h.
 *
 * At each instant, the open ranges form a set of shares; the first one in the order of precedence
 * gets the time. If the set is empty, the time belongs to the first of these that exists: the
 * outermost phase that began in the step; the outermost other range that the program named in the
 * step; operators, layers or functions; a named range around the step. Otherwise the time is in no
 * range at all.
 *
 * In a Python process, forward, backward, optimizer and evaluation only include time inside an
 * operator: the rest of such a phase is the interpreter's. While backward waits for another thread
 * of the process, the time has the share of what that thread does: communication, or an operator of
 * the backward pass. Outside the steps, evaluation and checkpoints have precedence over data
 * loading and all others: they name all of their time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "dwell/probe.h"
#include "model/steps/shares.h"
#include "model/core/pass.h"
#include "model/core/scope.h"

#define MOST_SELFS 4096u /* rows for each step; times of further rows are dropped */

enum class { NO_CLASS, PHASE, OWN, OPERATOR, LAYER, FUNCTION, CLASSES };

struct frame {
	struct dw_frame frame;
	uint32_t row;
	uint8_t share;   /* DW_SHARE_COUNT: none */
	uint8_t class;
};

/* Ticks by row, and a list of the rows that have some. */
struct row_ticks {
	uint64_t *ticks;
	uint32_t *rows;
	uint32_t count;
};

struct division {
	struct dw_pass pass;
	struct dw_pace *paces;
	size_t pace_count;
	uint32_t thread;         /* the thread that `pace` belongs to */
	struct dw_pace *pace;    /* NULL: the thread has no steps */
	const uint8_t *shares;   /* by row: the result of dw_share_of() */
	const uint8_t *classes;  /* by row */
	uint32_t open[DW_SHARE_COUNT], classes_open[CLASSES];
	uint32_t set;            /* bits of the open shares, because each record needs them */
	bool python;
	uint32_t step_depth;     /* ranges at places up to this one began before the step */
	uint32_t phase, own;     /* places of the outermost ones in the step; 0: none */
	uint32_t around;         /* place of the innermost named range up to step_depth; 0: none */
	uint32_t unnested;       /* place of the range that ends; 0: the innermost */
	const struct dw_interval *communication, *operators; /* the pace's next intervals */
	struct row_ticks self;   /* of the current step */
	struct row_ticks named;
	bool failed;
};

/* ---- names ------------------------------------------------------------------------------------ */

static enum class class_of(const struct dw_symbol *symbol)
{
	switch (symbol->category) {
	case DWELL_CATEGORY_PHASE: return PHASE;
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_ACTION:
	case DWELL_CATEGORY_EVENT:
	case DWELL_CATEGORY_HANDLER: return OWN;
	case DWELL_CATEGORY_OPERATOR: return OPERATOR;
	case DWELL_CATEGORY_LAYER: return LAYER;
	case DWELL_CATEGORY_FUNCTION: return FUNCTION;
	default: return NO_CLASS;
	}
}

static bool is_named(const struct frame *frame)
{
	return frame->share == DW_SHARE_COUNT && (frame->class == PHASE || frame->class == OWN);
}

static struct frame *frame_at(const struct division *division, uint32_t place)
{
	return (struct frame *)dw_pass_at(&division->pass, sizeof(struct frame), place);
}

/* Finds the frames that name the time of a step, by searching the whole stack. */
static void find_names(struct division *division)
{
	division->phase = division->own = division->around = 0;
	for (uint32_t place = division->pass.depth; place; place--) {
		const struct frame *frame = frame_at(division, place);

		if (!is_named(frame))
			continue;
		if (place <= division->step_depth) {
			division->around = place;
			return;
		}
		*(frame->class == PHASE ? &division->phase : &division->own) = place;
	}
}

/* To be called when the innermost frame has begun. */
static void begin_name(struct division *division, const struct frame *frame)
{
	uint32_t *at = frame->class == PHASE ? &division->phase : &division->own;

	if (is_named(frame) && !*at)
		*at = division->pass.depth;
}

/* To be called when the frame that was at `place` has been removed from the stack. */
static void end_name(struct division *division, uint32_t place)
{
	bool before = place <= division->step_depth;

	division->step_depth -= before;
	if (place <= division->pass.depth || (before && division->around)) {
		find_names(division);
		return;
	}
	if (division->phase == place)
		division->phase = 0;
	if (division->own == place)
		division->own = 0;
}

/* ---- which share --------------------------------------------------------------------------- */

#define BIT(share) (1u << DW_SHARE_##share)
#define PHASES (BIT(EVALUATION) | BIT(OPTIMIZER) | BIT(BACKWARD) | BIT(FORWARD))

/* The share of time without a well-known share, and the place of the frame that names it. */
static enum dw_share own_share(const struct division *division, uint32_t *frame)
{
	*frame = division->phase ? division->phase : division->own;
	if (*frame)
		return DW_SHARE_NAMED;
	if (division->classes_open[OPERATOR])
		return DW_SHARE_OPERATORS;
	if (division->classes_open[LAYER])
		return DW_SHARE_LAYERS;
	if (division->classes_open[FUNCTION])
		return DW_SHARE_FUNCTIONS;
	*frame = division->around;
	return *frame ? DW_SHARE_NAMED : DW_SHARE_OTHER;
}

static int beside_share(const struct division *division)
{
	uint32_t set = division->set;

	if (set & BIT(EVALUATION))
		return DW_SHARE_EVALUATION;
	if (set & BIT(CHECKPOINT))
		return DW_SHARE_CHECKPOINT;
	if (division->pace->next == 0)
		return DW_BESIDE_START;
	if (division->pace->next == division->pace->count)
		return DW_BESIDE_AFTER;
	set &= BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) | BIT(COMMUNICATION) | BIT(DEVICE);
	return set ? __builtin_ctz(set) : DW_SHARE_OTHER;
}

/* The share of time between steps, for dw_pace.outside_ticks. *row: the operator or the named range
 * that has it; DW_NO_INDEX: none. */
static enum dw_share outside_share(const struct division *division, uint32_t *row)
{
	const uint32_t first = BIT(EVALUATION) | BIT(CHECKPOINT);
	const uint32_t waits = BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) | BIT(COMMUNICATION) |
	                       BIT(DEVICE);
	uint32_t place, named = 0;

	*row = DW_NO_INDEX;
	if (division->set & first)
		return division->set & BIT(EVALUATION) ? DW_SHARE_EVALUATION : DW_SHARE_CHECKPOINT;
	if (division->set & waits)
		return (enum dw_share)__builtin_ctz(division->set & waits);
	for (place = division->pass.depth; place; place--) {
		const struct frame *frame = frame_at(division, place);

		if (frame->class == OPERATOR) {
			*row = frame->row;
			return DW_SHARE_OPERATORS;
		}
		if (is_named(frame))
			named = place;
	}
	if (named) {
		*row = frame_at(division, named)->row;
		return DW_SHARE_NAMED;
	}
	if (!division->python && division->set & PHASES)
		return (enum dw_share)__builtin_ctz(division->set & PHASES);
	return division->classes_open[LAYER]      ? DW_SHARE_LAYERS
	       : division->classes_open[FUNCTION] ? DW_SHARE_FUNCTIONS
	                                          : DW_SHARE_OTHER;
}

/* ---- assigning time -------------------------------------------------------------------------- */

static void give_row(struct row_ticks *to, uint32_t row, uint64_t ticks)
{
	if (!to->ticks[row])
		to->rows[to->count++] = row;
	to->ticks[row] += ticks;
}

static void give_self(struct division *division, uint64_t ticks)
{
	uint32_t row;

	if (!division->pass.depth || !ticks)
		return;
	row = frame_at(division, division->pass.depth)->row;
	if (division->self.ticks[row] || division->self.count < MOST_SELFS)
		give_row(&division->self, row, ticks);
}

static void forget_rows(struct row_ticks *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		rows->ticks[rows->rows[i]] = 0;
	rows->count = 0;
}

/* The step has had `ticks` in the range that the row names. `known` of its rows are there
 * already: a thread may hand its stream on and get it back within a step. */
static void division_keep_named(struct division *division, struct dw_pace_step *step,
                                uint32_t known, uint32_t row, uint64_t ticks)
{
	struct dw_pace *pace = division->pace;
	struct dw_self *own;

	if (!step->own_count)
		step->own_first = pace->own_count;
	for (uint32_t i = 0; i < known; i++) {
		own = &pace->owns[step->own_first + i];
		if (own->row == row) {
			own->ticks += ticks;
			return;
		}
	}
	own = DW_GROW(&pace->owns, &pace->own_capacity, pace->own_count);
	division->failed |= !own;
	if (!own)
		return;
	*own = (struct dw_self){ row, ticks };
	pace->own_count++;
	step->own_count++;
}

/* Stores what was collected for the step that ends. */
static void leave_step(struct division *division)
{
	struct dw_pace *pace = division->pace;
	struct dw_pace_step *step = &pace->steps[pace->next];
	struct row_ticks *self = &division->self, *named = &division->named;
	uint32_t known = step->own_count;

	if (step->sampled && self->count && !step->selfs) {
		step->selfs = malloc(self->count * sizeof *step->selfs);
		division->failed |= !step->selfs;
		for (uint32_t i = 0; step->selfs && i < self->count; i++)
			step->selfs[step->self_count++] =
			    (struct dw_self){ self->rows[i], self->ticks[self->rows[i]] };
	}
	for (uint32_t i = 0; i < named->count; i++)
		division_keep_named(division, step, known, named->rows[i], named->ticks[named->rows[i]]);
	forget_rows(self);
	forget_rows(named);
}

/* Whether `at` is in one of the intervals from *next on. Lowers *until to the end of the time for
 * which the answer is valid. Times must not run backward. */
static bool lies_in(const struct dw_interval **next, uint64_t at, uint64_t *until)
{
	uint64_t border;
	bool in;

	while ((*next)->end_ticks <= at && (*next)->start_ticks != UINT64_MAX)
		(*next)++;
	in = (*next)->start_ticks <= at;
	border = in ? (*next)->end_ticks : (*next)->start_ticks;
	*until = *until < border ? *until : border;
	return in;
}

/* Backward without an operator in this thread: it may wait for another thread's operator. `share`
 * gets the time in which it does not. */
static void give_backward(struct division *division, uint64_t from, uint64_t to,
                          enum dw_share share)
{
	struct dw_pace *pace = division->pace;
	uint64_t *shares = pace->steps[pace->next].share_ticks;

	while (from < to) {
		uint64_t until = to;

		if (lies_in(&division->communication, from, &until)) {
			shares[DW_SHARE_COMMUNICATION] += until - from;
		} else if (lies_in(&division->operators, from, &until)) {
			shares[DW_SHARE_BACKWARD] += until - from;
			pace->steps[pace->next].helped_ticks += until - from;
		} else {
			shares[share] += until - from;
		}
		from = until;
	}
}

/* A closure runs forward and backward inside an optimizer's step, and a hook of a gradient runs an
 * optimizer step inside backward. The innermost of them gets the time: returns `set` without the
 * others. */
static uint32_t keep_inner_phase(const struct division *division, uint32_t set)
{
	const uint32_t passes = BIT(BACKWARD) | BIT(FORWARD);

	if (!(set & BIT(OPTIMIZER)) || !(set & passes))
		return set;
	for (uint32_t place = division->pass.depth; place; place--) {
		uint32_t share = 1u << frame_at(division, place)->share;

		if (share & BIT(OPTIMIZER))
			return set & ~passes;
		if (share & passes)
			return set & ~BIT(OPTIMIZER);
	}
	return set;
}

/* The innermost open operator gets the ticks as its self time. */
static void give_operator(struct division *division, uint64_t ticks)
{
	for (uint32_t place = division->pass.depth; place; place--) {
		const struct frame *frame = frame_at(division, place);

		if (frame->class == OPERATOR) {
			division->pace->rows[frame->row].ticks += ticks;
			return;
		}
	}
}

/* What is measured beside the shares: phases as a whole, and operators. */
static void give_wholes(struct division *division, struct dw_pace_step *step, uint64_t ticks)
{
	for (unsigned i = 0; i < DW_WHOLE_COUNT; i++)
		if (division->set & (BIT(OPTIMIZER) << i))
			step->whole_ticks[i] += ticks;
	if (!division->classes_open[OPERATOR])
		return;
	if (division->set & BIT(DATA)) {
		step->data_operator_ticks += ticks;
		return;
	}
	step->operator_ticks += ticks;
	if (step->usual)
		give_operator(division, ticks);
}

/* An operator begins. */
static void count_operator(struct division *division, uint32_t row)
{
	struct dw_pace *pace = division->pace;
	struct dw_pace_step *step;

	if (!pace->inside || pace->next == pace->count)
		return;
	step = &pace->steps[pace->next];
	if (division->set & BIT(DATA)) {
		step->data_operator_count++;
		return;
	}
	step->operator_count++;
	step->optimizer_count += (keep_inner_phase(division, division->set) & BIT(OPTIMIZER)) != 0;
	if (step->usual)
		pace->rows[row].count++;
}

static void give_step(struct division *division, uint64_t from, uint64_t to)
{
	struct dw_pace_step *step = &division->pace->steps[division->pace->next];
	bool idle = !division->classes_open[OPERATOR];
	uint32_t set = keep_inner_phase(division, division->set);
	enum dw_share share;
	uint32_t frame = 0;

	give_wholes(division, step, to - from);
	if (step->sampled)
		give_self(division, to - from);
	if (idle && set & BIT(BACKWARD) && !(set & ~PHASES)) {
		share = division->python ? DW_SHARE_PYTHON : (enum dw_share)__builtin_ctz(set);
		give_backward(division, from, to, share);
		return;
	}
	if (division->python && set & PHASES && idle)
		set = (set & ~PHASES) | BIT(PYTHON);
	share = set ? (enum dw_share)__builtin_ctz(set) : own_share(division, &frame);
	step->share_ticks[share] += to - from;
	if (share == DW_SHARE_NAMED)
		give_row(&division->named, frame_at(division, frame)->row, to - from);
}

static void give_outside(struct division *division, uint64_t ticks)
{
	struct dw_pace *pace = division->pace;
	uint32_t row;
	int share;

	if (!pace->next || pace->next == pace->count)
		return;
	share = (int)outside_share(division, &row);
	pace->outside_ticks[share] += ticks;
	pace->outside_counts[share] += share != pace->outside;
	pace->outside = share;
	if (row != DW_NO_INDEX)
		pace->rows[row].outside_ticks += ticks;
}

static void give(struct division *division, uint64_t from, uint64_t to)
{
	struct dw_pace *pace = division->pace;
	int share;

	if (pace->inside) {
		give_step(division, from, to);
		pace->beside = pace->outside = -1;
		return;
	}
	give_outside(division, to - from);
	share = beside_share(division);
	pace->beside_ticks[share] += to - from;
	pace->beside_counts[share] += share != pace->beside;
	pace->beside = share;
}

/* Assigns all time up to `ticks`, split where steps begin and end. */
static void advance(struct division *division, uint64_t ticks)
{
	struct dw_pace *pace = division->pace;

	if (ticks > pace->end_ticks)
		ticks = pace->end_ticks;
	for (;;) {
		uint64_t border = pace->next == pace->count ? UINT64_MAX
		                  : pace->inside ? pace->steps[pace->next].end_ticks
		                                 : pace->steps[pace->next].start_ticks;
		uint64_t to = ticks < border ? ticks : border;

		if (to > pace->last) {
			give(division, pace->last, to);
			pace->last = to;
		}
		if (ticks < border || pace->next == pace->count)
			return;
		if (pace->inside) {
			leave_step(division);
			pace->next++;
		}
		pace->inside = !pace->inside;
		division->step_depth = division->pass.depth;
		find_names(division);
	}
}

/* ---- the records ---------------------------------------------------------------------------------- */

/* Selects the pace of the thread that writes now. The previous pace keeps what was collected. */
static __attribute__((noinline)) void choose_pace(struct division *division)
{
	division->thread = division->pass.walk.thread;
	division->pace = NULL;
	for (size_t i = 0; i < division->pace_count; i++)
		if (division->paces[i].thread == division->thread)
			division->pace = &division->paces[i];
	if (!division->pace)
		return;
	division->communication = division->pace->communication;
	division->operators = division->pace->operators;
	division->step_depth = 0;
	find_names(division);
}

DW_INLINE bool ours(struct division *division)
{
	if (__builtin_expect(division->pass.walk.thread != division->thread, 0))
		choose_pace(division);
	return division->pace != NULL;
}

static void count_frame(struct division *division, const struct frame *frame, uint32_t by)
{
	if (frame->share < DW_SHARE_COUNT) {
		division->open[frame->share] += by;
		division->set &= ~(1u << frame->share);
		division->set |= (uint32_t)(division->open[frame->share] > 0) << frame->share;
	}
	division->classes_open[frame->class] += by;
}

/* Before the stack changes, assigns the time up to now to the ranges that are open. */
DW_INLINE void division_settle(void *state, uint64_t ticks)
{
	struct division *division = state;

	if (ours(division))
		advance(division, ticks);
}

DW_INLINE void division_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct division *division = state;
	struct frame *frame = place;
	uint32_t row = dw_walk_op(&division->pass.walk, id).row;

	*frame = (struct frame){ frame->frame, row, DW_SHARE_COUNT, NO_CLASS };
	if (!ours(division))
		return;
	frame->share = division->shares[row];
	frame->class = division->classes[row];
	count_frame(division, frame, 1);
	begin_name(division, frame);
	if (frame->class == OPERATOR)
		count_operator(division, row);
}

static void division_unnest(void *state, uint32_t place)
{
	((struct division *)state)->unnested = place;
}

DW_INLINE void division_leave(void *state, void *memory, uint64_t ticks, enum dw_leave how)
{
	struct division *division = state;
	uint32_t place = division->unnested ? division->unnested : division->pass.depth + 1;

	division->unnested = 0;
	if (!division->pace)
		return;
	count_frame(division, memory, (uint32_t)-1);
	if (how == DW_LEAVE_END)
		end_name(division, place);
}

static void division_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	struct division *division = state;

	if (ours(division)) {
		advance(division, ticks);
		if (why != DW_FLUSH_GAP && division->pace->inside && division->pace->next < division->pace->count)
			leave_step(division);
	}
	division->step_depth = division->phase = division->own = division->around = 0;
}

static const struct dw_pass_hooks division_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST,
	.enter = division_enter, .leave = division_leave, .settle = division_settle,
	.unnest = division_unnest, .flushed = division_flushed,
};
DW_PASS_DEFINE(division, division_hooks)

/* ---- the walk ----------------------------------------------------------------------------------------- */

static bool make_rows(struct row_ticks *rows, uint32_t count, uint32_t most)
{
	rows->ticks = calloc(count + 1, sizeof *rows->ticks);
	rows->rows = calloc(most + 1, sizeof *rows->rows);
	return rows->ticks && rows->rows;
}

static int make_tables(struct dw_model *model, struct division *division)
{
	uint8_t *shares = malloc(model->row_count + 1);
	uint8_t *classes = malloc(model->row_count + 1);

	division->shares = shares;
	division->classes = classes;
	if (!shares || !classes || !make_rows(&division->self, model->row_count, MOST_SELFS) ||
	    !make_rows(&division->named, model->row_count, model->row_count))
		return -1;
	for (uint32_t row = 0; row < model->row_count; row++) {
		const struct dw_symbol *symbol = &model->symbols[model->row_symbol[row]];

		shares[row] = (uint8_t)dw_share_of(symbol);
		classes[row] = (uint8_t)class_of(symbol);
	}
	return 0;
}

/* Assigns the time of a pace after its last record; if it has no records, all of its time. */
static void finish(struct division *division, struct dw_pace *pace)
{
	division->pass.walk.thread = pace->thread;
	choose_pace(division);
	advance(division, pace->end_ticks);
	if (pace->inside && pace->next < pace->count)
		leave_step(division);
}

int dw_pace_walk(struct dw_model *model, struct dw_pace *paces, size_t count)
{
	const struct dw_source *source = model->source;
	struct division division = { .paces = paces, .pace_count = count, .thread = DW_NO_INDEX };
	struct dw_frames frames = { NULL, 0 };
	void *buffer = malloc(DW_BLOCK_BYTES);
	int result = buffer ? make_tables(model, &division) : -1;

	division.python = source->processes[paces[0].process].flags & DW_PROCESS_PYTHON;
	for (size_t i = 0; i < count; i++) {
		paces[i].last = paces[i].start_ticks;
		paces[i].beside = paces[i].outside = -1;
		paces[i].rows = calloc(model->row_count + 1, sizeof *paces[i].rows);
		if (!paces[i].rows)
			result = -1;
	}
	if (result == 0 && paces[0].stream < source->stream_count) {
		dw_pass_init(&division.pass, model, paces[0].stream, &frames, buffer);
		division_walk(&division.pass);
	}
	for (size_t i = 0; result == 0 && i < count; i++)
		finish(&division, &paces[i]);
	free((void *)(uintptr_t)division.shares);
	free((void *)(uintptr_t)division.classes);
	free(division.self.ticks);
	free(division.self.rows);
	free(division.named.ticks);
	free(division.named.rows);
	dw_frames_reset(&frames);
	free(buffer);
	return result || division.failed || division.pass.failed ? -1 : 0;
}
