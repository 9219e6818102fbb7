/*
 * Assigns every tick of a step thread to one share; see shares.h and division.h.
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
 *
 * A step may lie in several segments of a stream, and each segment can be walked at any time. What
 * a segment assigns to a step is added to the step when the step or the segment ends.
 */

#include "base/grow.h"
#include "base/order.h"
#include "model/steps/division.h"

/* ---- names ------------------------------------------------------------------------------------ */

static const struct dw_shares_frame *division_frame(const struct dw_shares_pass *division, uint32_t place)
{
	return (const void *)((const char *)dw_pass_at(division->pass, division->frame_bytes, place) +
	                      division->frame_offset);
}

/* Finds the frames that name the time of a step, by searching the whole stack. */
void dw_division_find_names(struct dw_shares_pass *division)
{
	division->phase = division->own = division->around = 0;
	dw_division_change(division);
	for (uint32_t place = division->pass->depth; place; place--) {
		const struct dw_shares_frame *frame = division_frame(division, place);

		if (!dw_division_is_named(frame))
			continue;
		if (place <= division->step_depth) {
			division->around = place;
			return;
		}
		*(frame->kind.class == DW_CLASS_PHASE ? &division->phase : &division->own) = place;
	}
}

/* ---- which share --------------------------------------------------------------------------- */

#define BIT(share) (1u << DW_SHARE_##share)
#define PHASES (BIT(EVALUATION) | BIT(OPTIMIZER) | BIT(BACKWARD) | BIT(FORWARD))

/* The share of time without a well-known share, and the place of the frame that names it. */
static enum dw_share division_own_share(const struct dw_shares_pass *division, uint32_t *frame)
{
	*frame = division->phase ? division->phase : division->own;
	if (*frame)
		return DW_SHARE_NAMED;
	if (division->classes_open[DW_CLASS_OPERATOR])
		return DW_SHARE_OPERATORS;
	if (division->classes_open[DW_CLASS_LAYER])
		return DW_SHARE_LAYERS;
	if (division->classes_open[DW_CLASS_FUNCTION])
		return DW_SHARE_FUNCTIONS;
	*frame = division->around;
	return *frame ? DW_SHARE_NAMED : DW_SHARE_OTHER;
}

int dw_division_beside_share(const struct dw_pace *pace, uint32_t set, size_t next)
{
	if (set & BIT(EVALUATION))
		return DW_SHARE_EVALUATION;
	if (set & BIT(CHECKPOINT))
		return DW_SHARE_CHECKPOINT;
	if (next == 0)
		return DW_BESIDE_START;
	if (next == pace->count)
		return DW_BESIDE_AFTER;
	set &= BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) | BIT(COMMUNICATION) | BIT(DEVICE);
	return set ? __builtin_ctz(set) : DW_SHARE_OTHER;
}

/* The share of time between steps, for dw_out_sums.outside_ticks. *row: the operator or the named
 * range that has it; DW_NO_INDEX: none. */
static enum dw_share division_outside_share(const struct dw_shares_pass *division, uint32_t *row)
{
	const uint32_t first = BIT(EVALUATION) | BIT(CHECKPOINT);
	const uint32_t waits = BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) | BIT(COMMUNICATION) | BIT(DEVICE);
	uint32_t place, named = 0;

	*row = DW_NO_INDEX;
	if (division->set & first)
		return division->set & BIT(EVALUATION) ? DW_SHARE_EVALUATION : DW_SHARE_CHECKPOINT;
	if (division->set & waits)
		return (enum dw_share)__builtin_ctz(division->set & waits);
	for (place = division->pass->depth; place; place--) {
		const struct dw_shares_frame *frame = division_frame(division, place);

		if (frame->kind.class == DW_CLASS_OPERATOR) {
			*row = frame->row;
			return DW_SHARE_OPERATORS;
		}
		if (dw_division_is_named(frame))
			named = place;
	}
	if (named) {
		*row = division_frame(division, named)->row;
		return DW_SHARE_NAMED;
	}
	if (!division->python && division->set & PHASES)
		return (enum dw_share)__builtin_ctz(division->set & PHASES);
	return division->classes_open[DW_CLASS_LAYER]      ? DW_SHARE_LAYERS
	       : division->classes_open[DW_CLASS_FUNCTION] ? DW_SHARE_FUNCTIONS
	                                                   : DW_SHARE_OTHER;
}

/* ---- assigning time -------------------------------------------------------------------------- */

static void division_give_row(struct dw_row_ticks *to, uint32_t row, uint64_t ticks)
{
	if (!to->ticks[row])
		to->rows[to->count++] = row;
	to->ticks[row] += ticks;
}

/* The self time of a row in a step that is sampled. */
__attribute__((noinline)) void dw_division_give_row(const struct dw_shares_pass *division, uint32_t row, uint64_t ticks)
{
	struct dw_row_ticks *self = &division->worker->self;

	if (ticks && (self->ticks[row] || self->count < DW_MOST_SELFS))
		division_give_row(self, row, ticks);
}

__attribute__((noinline)) void dw_division_give_self(struct dw_shares_pass *division, uint64_t ticks)
{
	if (division->pass->depth)
		dw_division_give_row(division, division_frame(division, division->pass->depth)->row, ticks);
}

static void division_forget_rows(struct dw_row_ticks *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		rows->ticks[rows->rows[i]] = 0;
	rows->count = 0;
}

/* Whether `at` is in one of the intervals from *next on. Lowers *until to the end of the time for
 * which the answer is valid. Times must not run backward. */
static bool division_lies_in(const struct dw_interval **next, uint64_t at, uint64_t *until)
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
static void division_give_backward(struct dw_shares_pass *division, uint64_t from, uint64_t to, enum dw_share share)
{
	uint64_t *shares = division->sums.share_ticks;

	while (from < to) {
		uint64_t until = to;

		if (division_lies_in(&division->times[DW_OTHERS_COMMUNICATE], from, &until)) {
			shares[DW_SHARE_COMMUNICATION] += until - from;
		} else if (division_lies_in(&division->times[DW_OTHERS_OPERATE], from, &until)) {
			shares[DW_SHARE_BACKWARD] += until - from;
			division->sums.helped_ticks += until - from;
		} else {
			shares[share] += until - from;
		}
		from = until;
	}
}

/* A closure runs forward and backward inside an optimizer's step, and a hook of a gradient runs an
 * optimizer step inside backward. The innermost of them gets the time: returns `set` without the
 * others. */
static uint32_t division_keep_inner_phase(const struct dw_shares_pass *division, uint32_t set)
{
	const uint32_t passes = BIT(BACKWARD) | BIT(FORWARD);

	if (!(set & BIT(OPTIMIZER)) || !(set & passes))
		return set;
	for (uint32_t place = division->pass->depth; place; place--) {
		uint32_t share = 1u << division_frame(division, place)->kind.share;

		if (share & BIT(OPTIMIZER))
			return set & ~passes;
		if (share & passes)
			return set & ~BIT(OPTIMIZER);
	}
	return set;
}

/* The first time that the worker counts something of a row in this piece. */
__attribute__((noinline)) struct dw_pace_row *dw_division_touch(const struct dw_shares_pass *division, uint32_t row)
{
	struct dw_shares_worker *worker = division->worker;
	struct dw_pace_row *at = &worker->rows[row];

	worker->touched[worker->touched_count++] = row;
	at->touched = true;
	return at;
}

/* The innermost open operator gets the ticks as its self time. It only copies or clears memory: the next one around it
 * that does more had it done. Or it is not the innermost range. */
__attribute__((noinline)) void dw_division_give_mover(struct dw_shares_pass *division, uint64_t ticks)
{
	uint32_t inner = DW_NO_INDEX, outer = DW_NO_INDEX;

	for (uint32_t place = division->pass->depth; place; place--) {
		const struct dw_shares_frame *frame = division_frame(division, place);

		if (frame->kind.class != DW_CLASS_OPERATOR)
			continue;
		inner = inner == DW_NO_INDEX ? frame->row : inner;
		outer = frame->row;
		if (!frame->kind.moves)
			break;
	}
	if (inner == DW_NO_INDEX)
		return;
	dw_division_row(division, inner)->ticks += ticks;
	if (division->all->kinds[inner].moves)
		dw_division_row(division, outer)->moved_ticks += ticks;
}

/* Finds out what operators that begin in the set of shares count as. */
__attribute__((noinline)) void dw_division_choose_calls(struct dw_shares_pass *division)
{
	const uint32_t others = BIT(EVALUATION) | BIT(CHECKPOINT) | BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) |
	                        BIT(COMMUNICATION) | BIT(DEVICE);
	uint32_t set;

	division->calls = (struct dw_division_calls){ .stale = false };
	if (division->next == division->pace->count)
		return;
	if (!division->inside) {
		division->calls.outside = division->next && !(division->set & others);
		return;
	}
	set = division_keep_inner_phase(division, division->set);
	division->calls.in_step = !(division->set & BIT(DATA));
	division->calls.called = !(set & BIT(BACKWARD));
	division->calls.optimizer = set & BIT(OPTIMIZER);
	division->calls.usual = division->pace->steps[division->next].usual;
}

/* Finds out where the time in the step is added from now on. Phases as a whole and operators are measured beside the
 * shares. */
static __attribute__((noinline)) void division_make_plan(struct dw_shares_pass *division)
{
	const struct dw_pace_step *step = &division->pace->steps[division->next];
	const bool idle = !division->classes_open[DW_CLASS_OPERATOR];
	uint32_t set = division_keep_inner_phase(division, division->set), frame = 0;
	struct dw_division_plan plan = { .sampled = step->sampled, .named = DW_NO_INDEX };

	/* What a closure runs in the optimizer's step is no update. */
	plan.wholes = ((division->set & ~BIT(OPTIMIZER)) | (set & BIT(OPTIMIZER))) >> DW_SHARE_OPTIMIZER &
	              ((1u << DW_WHOLE_COUNT) - 1);
	plan.closure = division->set & BIT(OPTIMIZER) && !(set & BIT(OPTIMIZER));
	plan.operators = !idle && !(division->set & BIT(DATA));
	plan.usual = plan.operators && step->usual;
	plan.backward = idle && set & BIT(BACKWARD) && !(set & ~PHASES);
	if (division->python && set & PHASES && idle)
		set = (set & ~PHASES) | BIT(PYTHON);
	plan.share = (uint8_t)(set ? (enum dw_share)__builtin_ctz(set) : division_own_share(division, &frame));
	if (plan.share == DW_SHARE_NAMED)
		plan.named = division_frame(division, frame)->row;
	*division->plan = plan;
}

/* Finds out until when it is known what plain operators change. To be called when another range has begun or ended. */
__attribute__((noinline)) void dw_division_quicken(struct dw_shares_pass *division)
{
	const struct dw_division_plan *plan = division->plan;
	const struct dw_shares_frame *inner = plan->usual && division->pass->depth ? division_frame(division, division->pass->depth) : NULL;

	division->quick = 0;
	if (plan->stale || division->resumed || !division->inside || (inner && !inner->kind.plain))
		return;
	if (division->calls.stale)
		dw_division_choose_calls(division);
	if (!division->calls.in_step)
		return;
	division->quick = division->border;
	division->inner = inner ? &dw_division_row(division, inner->row)->ticks : &division->nobody;
}

static void division_give_step(struct dw_shares_pass *division, uint64_t from, uint64_t to)
{
	const struct dw_division_plan *plan = division->plan;
	const uint64_t ticks = to - from;

	for (uint32_t left = plan->wholes; left; left &= left - 1)
		division->sums.whole_ticks[__builtin_ctz(left)] += ticks;
	division->sums.closure |= plan->closure;
	if (plan->operators)
		division->sums.operator_ticks += ticks;
	if (plan->backward) {
		division_give_backward(division, from, to, (enum dw_share)plan->share);
		return;
	}
	division->sums.share_ticks[plan->share] += ticks;
	if (plan->named != DW_NO_INDEX)
		division_give_row(&division->worker->named, plan->named, ticks);
}

/* Assigns time outside steps, in both divisions of it. */
static void division_give_outside(struct dw_shares_pass *division, uint64_t ticks)
{
	int share = dw_division_beside_share(division->pace, division->set, division->next);
	struct dw_out_sums *out = &division->out;
	unsigned class;
	uint32_t row;

	out->beside_ticks[share] += ticks;
	out->beside_counts[share] += share != division->at.beside;
	division->at.beside = share;
	if (!division->next || division->next == division->pace->count)
		return;
	class = dw_pace_class(division->pace, division->next);
	share = (int)division_outside_share(division, &row);
	if (share == DW_SHARE_OTHER && division->pace->steps[division->next].reduced)
		out->reduced_ticks[class] += ticks;
	else
		out->outside_ticks[class][share] += ticks;
	if (share == DW_SHARE_COMMUNICATION) /* a time between two steps may belong to two segments */
		__atomic_fetch_add(&division->pace->steps[division->next].before_ticks, ticks, __ATOMIC_RELAXED);
	out->outside_counts[share] += share != division->at.outside;
	division->at.outside = share;
	if (row != DW_NO_INDEX)
		dw_division_row(division, row)->outside_ticks[class] += ticks;
}

static void division_given(struct dw_shares_pass *division, uint64_t to)
{
	division->last = division->seen = to;
	if (division->first.beside == DW_OUT_NOTHING)
		division->first = division->at;
}

/* Adds the time in a step for which the plan is valid. */
__attribute__((noinline)) void dw_division_catch_up(struct dw_shares_pass *division)
{
	if (division->seen <= division->last)
		return;
	division_give_step(division, division->last, division->seen);
	division->at = (struct dw_out){ DW_OUT_IN_STEP, DW_OUT_IN_STEP };
	division_given(division, division->seen);
}

void dw_division_give_name(const struct dw_shares_pass *division, uint32_t row, uint64_t ticks)
{
	if (ticks)
		division_give_row(&division->worker->named, row, ticks);
}

/* Whether a burst of named ranges may begin. */
bool dw_division_burst_names(struct dw_shares_pass *division, struct dw_burst *burst)
{
	if (!division->pace || !division->inside || division->resumed || burst->ticks >= division->border ||
	    division->classes_open[DW_CLASS_OPERATOR])
		return false;
	dw_division_give(division, burst->ticks);
	division->burst_gives = !division->set && !division->phase && !division->own;
	burst->until = division->border;
	burst->plain = division->all->named;
	return !division->plan->backward;
}

/* Adds the time of a burst of named ranges. */
static void division_end_names(struct dw_shares_pass *division, uint64_t to, uint64_t busy, uint64_t idle)
{
	if (division->burst_gives) {
		division->seen += idle;
		dw_division_catch_up(division);
		division->sums.share_ticks[DW_SHARE_NAMED] += busy;
		division->at = (struct dw_out){ DW_OUT_IN_STEP, DW_OUT_IN_STEP };
		division_given(division, to);
	}
	division->seen = to;
}

/* Adds the time from the begin of the burst to the first range that is still open, or to the last record if none is. */
void dw_shares_burst_end(void *pass, struct dw_burst *burst)
{
	struct dw_shares_pass *division = pass;
	uint64_t to = burst->depth ? burst->stack[1].start : burst->ticks, busy = burst->stack[0].child, idle = to - burst->from - busy;

	if (division->plan->sampled)
		dw_division_give_self(division, idle);
	if (division->burst_names) {
		division_end_names(division, to, busy, idle);
		return;
	}
	division->sums.operator_count += burst->ended;
	division->sums.optimizer_count += division->calls.optimizer ? burst->ended : 0;
	*division->inner += idle;
	if (!division->classes_open[DW_CLASS_OPERATOR]) {
		division->sums.called_count += division->calls.called ? division->outermost : 0;
		division->seen += idle;
		dw_division_catch_up(division);
		division->plan = &division->plans[1];
		division->seen += busy;
		dw_division_catch_up(division);
		division->plan = &division->plans[0];
	}
	division->seen = to;
}

void dw_shares_inside(void *pass, uint64_t ticks, const struct dw_burst *burst)
{
	struct dw_shares_pass *division = pass;

	if (ticks && division->plan->stale)
		dw_division_give(division, division->seen);
	division->seen += ticks;
}

/* Assigns the time up to `to`, in which no step begins or ends; in a step it may be added later. */
void dw_division_give(struct dw_shares_pass *division, uint64_t to)
{
	if (!division->inside) {
		division_give_outside(division, to - division->last);
		division_given(division, to);
		return;
	}
	if (division->plan->stale) {
		dw_division_catch_up(division);
		division_make_plan(division);
	}
	dw_division_see(division, to);
}

/* ---- what a step has had ------------------------------------------------------------------------ */

static bool division_keep_selfs(const struct dw_shares_pass *division, struct dw_pace_step *step)
{
	const struct dw_row_ticks *from = &division->worker->self;
	struct dw_self *selfs = realloc(step->selfs, (step->self_count + from->count + (size_t)1) * sizeof *selfs);
	uint32_t known = step->self_count;

	if (!selfs)
		return false;
	step->selfs = selfs;
	for (uint32_t i = 0; i < from->count; i++) {
		uint32_t at = 0;

		while (at < known && selfs[at].row != from->rows[i])
			at++;
		if (at == known) {
			at = step->self_count++;
			selfs[at] = (struct dw_self){ from->rows[i], 0 };
		}
		selfs[at].ticks += from->ticks[from->rows[i]];
	}
	return true;
}

static bool division_keep_named(const struct dw_shares_pass *division)
{
	const struct dw_row_ticks *from = &division->worker->named;
	struct dw_pace *pace = division->pace;

	for (uint32_t i = 0; i < from->count; i++)
		if (!DW_APPEND(&pace->owns, &pace->own_capacity, &pace->own_count,
		               (struct dw_own){ from->ticks[from->rows[i]], from->rows[i], i, division->next, division->from }))
			return false;
	return true;
}

static void division_add_sums(struct dw_step_sums *to, const struct dw_step_sums *from)
{
	for (unsigned share = 0; share < DW_SHARE_COUNT; share++)
		to->share_ticks[share] += from->share_ticks[share];
	for (unsigned whole = 0; whole < DW_WHOLE_COUNT; whole++)
		to->whole_ticks[whole] += from->whole_ticks[whole];
	to->operator_ticks += from->operator_ticks;
	to->operator_count += from->operator_count;
	to->called_count += from->called_count;
	to->optimizer_count += from->optimizer_count;
	to->closure |= from->closure;
	to->helped_ticks += from->helped_ticks;
}

/* Adds what was collected for the current step to the step, which ends or is left. */
static void division_leave_step(struct dw_shares_pass *division)
{
	struct dw_pace_step *step = &division->pace->steps[division->next];

	pthread_mutex_lock(&division->all->lock);
	division_add_sums(&step->sums, &division->sums);
	if (step->sampled && division->worker->self.count)
		division->failed |= !division_keep_selfs(division, step);
	division->failed |= !division_keep_named(division);
	pthread_mutex_unlock(&division->all->lock);
	memset(&division->sums, 0, sizeof division->sums);
	division_forget_rows(&division->worker->self);
	division_forget_rows(&division->worker->named);
}

/* Assigns all time up to `ticks`, split where steps begin and end. */
void dw_division_advance(struct dw_shares_pass *division, uint64_t ticks)
{
	const struct dw_pace *pace = division->pace;

	if (ticks > pace->end_ticks)
		ticks = pace->end_ticks;
	for (;;) {
		uint64_t border = division->next == pace->count ? UINT64_MAX
		                  : division->inside            ? pace->steps[division->next].end_ticks
		                                                : pace->steps[division->next].start_ticks;
		uint64_t to = ticks < border ? ticks : border;

		if (to > division->last)
			dw_division_give(division, to);
		dw_division_catch_up(division);
		division->border = border < pace->end_ticks ? border : pace->end_ticks;
		if (ticks < border || division->next == pace->count)
			return;
		if (division->inside) {
			division_leave_step(division);
			division->next++;
		}
		division->inside = !division->inside;
		division->step_depth = division->pass->depth;
		dw_division_find_names(division);
	}
}

/* ---- pieces ------------------------------------------------------------------------------------- */

size_t dw_division_find_step(const struct dw_pace *pace, uint64_t ticks)
{
	return DW_FIRST(i, 0, pace->count, pace->steps[i].end_ticks > ticks);
}

static const struct dw_interval *division_find_time(const struct dw_interval *list, size_t count, uint64_t ticks)
{
	return &list[DW_FIRST(i, 0, count, list[i].end_ticks > ticks)];
}

/* Begins a piece of the thread that writes now. */
static void division_begin_piece(struct dw_shares_pass *division, uint64_t ticks)
{
	static const struct dw_interval none = { UINT64_MAX, UINT64_MAX };
	const struct dw_pace *pace = division->pace;
	const struct dw_others *others = division->all->times ? &division->all->times[pace->process] : NULL;

	if (ticks > pace->end_ticks)
		ticks = pace->end_ticks;
	division->from = division->last = division->seen = ticks > pace->start_ticks ? ticks : pace->start_ticks;
	division->next = dw_division_find_step(pace, ticks);
	division->inside = division->next < pace->count && pace->steps[division->next].start_ticks <= ticks;
	division->border = 0;
	division->first.beside = DW_OUT_NOTHING;
	division->at = (struct dw_out){ DW_OUT_IN_STEP, DW_OUT_IN_STEP };
	division->step_depth = 0;
	for (unsigned kind = 0; kind < DW_OTHER_KINDS; kind++)
		division->times[kind] = others ? division_find_time(others->times[kind], others->counts[kind], ticks) : &none;
	dw_division_find_names(division);
}

/* Adds what the piece has had outside steps, and of rows. */
static void division_add_outs(struct dw_pace *pace, const struct dw_shares_pass *division)
{
	struct dw_shares_worker *worker = division->worker;
	const struct dw_out_sums *from = &division->out;

	for (unsigned i = 0; i < DW_BESIDE_COUNT; i++) {
		pace->out.beside_ticks[i] += from->beside_ticks[i];
		pace->out.beside_counts[i] += from->beside_counts[i];
	}
	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++) {
		pace->out.reduced_ticks[class] += from->reduced_ticks[class];
		for (unsigned i = 0; i < DW_SHARE_COUNT; i++)
			pace->out.outside_ticks[class][i] += from->outside_ticks[class][i];
	}
	for (unsigned i = 0; i < DW_SHARE_COUNT; i++)
		pace->out.outside_counts[i] += from->outside_counts[i];
	for (uint32_t i = 0; i < worker->touched_count; i++) {
		struct dw_pace_row *row = &worker->rows[worker->touched[i]];
		struct dw_pace_row *to = &pace->rows[worker->touched[i]];

		to->ticks += row->ticks;
		to->moved_ticks += row->moved_ticks;
		to->count += row->count;
		for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
			to->outside_ticks[class] += row->outside_ticks[class];
		to->outside_count += row->outside_count;
		*row = (struct dw_pace_row){ .ticks = 0 };
	}
	worker->touched_count = 0;
}

static void division_end_piece(struct dw_shares_pass *division)
{
	struct dw_pace *pace = division->pace;

	if (division->inside && division->next < pace->count)
		division_leave_step(division);
	division->pace = NULL;
	division->thread = DW_NO_INDEX;
	division->border = 0;
	pthread_mutex_lock(&division->all->lock);
	division->failed |=
		!DW_APPEND(&pace->pieces, &pace->piece_capacity, &pace->piece_count,
	               (struct dw_pace_piece){ division->from, division->last, division->first, division->at });
	division_add_outs(pace, division);
	pthread_mutex_unlock(&division->all->lock);
	memset(&division->out, 0, sizeof division->out);
}

/* Selects the pace of the thread that writes now. */
__attribute__((noinline)) void dw_division_choose_pace(struct dw_shares_pass *division, uint64_t ticks)
{
	uint32_t pace;

	division->thread = division->pass->walk.thread;
	division->pace = NULL;
	pace = division->thread == DW_NO_INDEX ? DW_NO_INDEX : division->all->by_thread[division->thread];
	if (pace == DW_NO_INDEX || division->all->paces[pace].stream != division->stream)
		return;
	division->pace = &division->all->paces[pace];
	division_begin_piece(division, division->resumed ? division->resumed_ticks : ticks);
}

/* A range from before the segment is on the stack. When all are, finds which of them began before
 * the step: those whose begin is before the step's. */
void dw_division_resume(struct dw_shares_pass *division)
{
	uint32_t depth = division->pass->depth;

	if (--division->resumed)
		return;
	while (division->inside && division->step_depth < depth &&
	       dw_pass_at(division->pass, division->frame_bytes, division->step_depth + 1)->start <
	           division->pace->steps[division->next].start_ticks)
		division->step_depth++;
	dw_division_find_names(division);
}

void dw_shares_flushed(void *pass, uint64_t ticks, enum dw_flush why)
{
	struct dw_shares_pass *division = pass;

	division->resumed = 0;
	if (dw_division_has_pace(division, ticks)) {
		dw_division_advance(division, ticks);
		if (why != DW_FLUSH_GAP)
			division_end_piece(division);
	}
	division->step_depth = division->phase = division->own = division->around = 0;
	dw_division_change(division);
	division->border = 0; /* the next records may be of another thread */
}

void dw_shares_carried(void *pass)
{
	struct dw_shares_pass *division = pass;

	if (!division->pace)
		return;
	dw_division_advance(division, dw_time_now(&division->pass->walk.time));
	division_end_piece(division);
}

bool dw_shares_begin(void *own, void *sums, void *worker, const struct dw_part_begin *from)
{
	struct dw_shares_pass *division = own;
	struct dw_shares *shares = sums;
	const struct dw_segment *segment = from->segment;
	const struct dw_source *source = shares->model->source;
	const struct dw_source_stream *stream = &source->streams[segment->stream];

	division->all = shares;
	division->kinds = shares->kinds;
	division->worker = worker;
	division->pass = from->pass;
	division->stream = segment->stream;
	division->frame_bytes = from->frame_bytes;
	division->frame_offset = from->frame_offset;
	division->thread = DW_NO_INDEX;
	division->plan = &division->plans[0];
	division->python = source->processes[stream->process].flags & DW_PROCESS_PYTHON;
	division->collects = !shares->times && dw_others_wants(&shares->others, segment->stream);
	division->others.sums = &shares->others;
	if (segment->from) {
		division->resumed = segment->open_count;
		division->resumed_ticks = segment->ticks > segment->floor ? segment->ticks : segment->floor;
	}
	return true;
}

void dw_shares_end(void *pass)
{
	struct dw_shares_pass *division = pass;

	if (division->collects)
		dw_others_close(&division->others, division->pass->walk.stream->process);
	if (division->failed || division->pass->walk.failed)
		__atomic_store_n(&division->all->failed, true, __ATOMIC_RELAXED);
}
