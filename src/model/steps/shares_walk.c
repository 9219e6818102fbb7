/* The walk that divides the steps alone, and what is computed after a walk; see shares.h. */

#include "base/code/activity.h"
#include "base/free.h"
#include "base/order.h"
#include "dwell/probe.h"
#include "frameworks/frameworks.h"
#include "model/steps/division.h"

/* ---- the memory ----------------------------------------------------------------------------------- */

static bool shares_make_rows(struct dw_row_ticks *rows, uint32_t count, uint32_t most)
{
	rows->ticks = calloc(count + (size_t)1, sizeof *rows->ticks);
	rows->rows = calloc(most + (size_t)1, sizeof *rows->rows);
	return rows->ticks && rows->rows;
}

bool dw_shares_worker_init(void *memory, const void *sums)
{
	struct dw_shares_worker *worker = memory;
	uint32_t row_count = ((const struct dw_shares *)sums)->model->row_count;

	worker->rows = calloc(row_count + (size_t)1, sizeof *worker->rows);
	worker->touched = calloc(row_count + (size_t)1, sizeof *worker->touched);
	return shares_make_rows(&worker->self, row_count, DW_MOST_SELFS) &&
	       shares_make_rows(&worker->named, row_count, row_count) && worker->rows && worker->touched;
}

void dw_shares_worker_reset(void *memory)
{
	struct dw_shares_worker *worker = memory;

	DW_FREE(worker->self.ticks, worker->self.rows, worker->named.ticks, worker->named.rows, worker->rows,
	        worker->touched);
	memset(worker, 0, sizeof *worker);
}

static enum dw_share_class shares_class_of(const struct dw_symbol *symbol)
{
	switch (symbol->category) {
	case DWELL_CATEGORY_PHASE:
		return DW_CLASS_PHASE;
	case DWELL_CATEGORY_ZONE:
		/* The phase says when the update begins. */
		return dw_framework_wraps_optimizer(symbol->name) ? DW_CLASS_NONE : DW_CLASS_OWN;
	case DWELL_CATEGORY_ACTION:
	case DWELL_CATEGORY_EVENT:
	case DWELL_CATEGORY_HANDLER:
		return DW_CLASS_OWN;
	case DWELL_CATEGORY_OPERATOR:
		return DW_CLASS_OPERATOR;
	case DWELL_CATEGORY_LAYER:
		return DW_CLASS_LAYER;
	case DWELL_CATEGORY_FUNCTION:
		return DW_CLASS_FUNCTION;
	default:
		return DW_CLASS_NONE;
	}
}

bool dw_shares_init(struct dw_shares *shares, struct dw_model *model, struct dw_pace *paces, size_t count)
{
	size_t threads = model->source->thread_count;

	*shares = (struct dw_shares){ .model = model, .paces = paces, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER };
	shares->by_thread = malloc((threads + 1) * sizeof *shares->by_thread);
	shares->steps = calloc(threads + 1, sizeof *shares->steps);
	shares->stream_steps = calloc(model->source->stream_count + 1, sizeof *shares->stream_steps);
	shares->kinds = calloc(model->row_count + (size_t)1, sizeof *shares->kinds);
	shares->plain = calloc(model->row_count + (size_t)1, sizeof *shares->plain);
	shares->named = calloc(model->row_count + (size_t)1, sizeof *shares->named);
	if (!shares->by_thread || !shares->steps || !shares->stream_steps || !shares->kinds || !shares->plain || !shares->named)
		return false;
	memset(shares->by_thread, 0xff, threads * sizeof *shares->by_thread);
	for (size_t i = 0; i < count; i++) {
		paces[i].rows = calloc(model->row_count + (size_t)1, sizeof *paces[i].rows);
		if (!paces[i].rows)
			return false;
		shares->by_thread[paces[i].thread] = (uint32_t)i;
		shares->steps[paces[i].thread] = true;
		shares->stream_steps[paces[i].stream] = true;
	}
	for (uint32_t row = 0; row < model->row_count; row++) {
		const struct dw_symbol *symbol = &model->symbols[model->row_symbol[row]];
		struct dw_row_kind *kind = &shares->kinds[row];

		kind->share = (uint8_t)dw_share_of(symbol);
		kind->class = (uint8_t)shares_class_of(symbol);
		kind->named = kind->share == DW_SHARE_COUNT && (kind->class == DW_CLASS_PHASE || kind->class == DW_CLASS_OWN);
		kind->moves = kind->class == DW_CLASS_OPERATOR && dw_operator_moves(dw_operator_family_of(symbol->name));
		kind->plain = kind->class == DW_CLASS_OPERATOR && kind->share == DW_SHARE_COUNT && !kind->moves;
		shares->plain[row] = kind->plain;
		shares->named[row] = kind->named && kind->class == DW_CLASS_OWN;
	}
	return dw_others_init(&shares->others, model, shares->steps);
}

void dw_shares_reset(struct dw_shares *shares)
{
	dw_others_reset(&shares->others);
	DW_FREE(shares->by_thread, shares->steps, shares->stream_steps, shares->kinds, shares->plain, shares->named);
}

/* ---- the walk --------------------------------------------------------------------------------------- */

/* What threads without steps did is to be known before the others are walked. */
enum { ROUND_OTHERS, ROUND_STEPS };

bool dw_shares_wants(const void *sums, unsigned round, size_t stream)
{
	const struct dw_shares *shares = sums;

	if (round == ROUND_STEPS || shares->stream_steps[stream])
		return round == ROUND_STEPS && shares->stream_steps[stream];
	return !shares->alone || dw_others_wants(&shares->others, stream);
}

bool dw_shares_begin_round(void *sums, unsigned round)
{
	struct dw_shares *shares = sums;

	shares->times = round == ROUND_STEPS ? dw_others_finish(&shares->others) : NULL;
	for (size_t i = 0; !shares->walked_mixed && i < shares->model->source->stream_count; i++)
		if (shares->stream_steps[i] && dw_others_wants(&shares->others, i))
			dw_others_walk(&shares->others, i);
	shares->walked_mixed = true;
	return shares->times || round == ROUND_OTHERS;
}

#define LOOP shares_alone
#define LOOP_HOOKS
#define LOOP_PARTS(PART) PART(shares, ALWAYS)
#define LOOP_DROPS_ROWS
#include "model/core/loop.h"

bool dw_shares_walk(struct dw_shares *shares, const struct dw_segments *pieces)
{
	struct dw_part_sums sums = { .shares = shares };

	shares->alone = true;
	return shares_alone_walk_all(shares->model, &sums, pieces, NULL) && !shares->failed;
}

/* ---- finishing -------------------------------------------------------------------------------------- */

/* Where the division of a pace has got to. */
struct finish {
	struct dw_pace *pace;
	uint64_t last;
	size_t next;
	bool inside;
	struct dw_out at;
};

/* Assigns time in which no range was open. */
static void shares_finish_give(struct finish *finish, uint64_t ticks)
{
	struct dw_pace *pace = finish->pace;
	int share = dw_division_beside_share(pace, 0, finish->next);
	unsigned class;

	if (finish->inside) {
		pace->steps[finish->next].sums.share_ticks[DW_SHARE_OTHER] += ticks;
		finish->at = (struct dw_out){ DW_OUT_IN_STEP, DW_OUT_IN_STEP };
		return;
	}
	pace->out.beside_ticks[share] += ticks;
	pace->out.beside_counts[share] += share != finish->at.beside;
	finish->at.beside = share;
	if (!finish->next || finish->next == pace->count)
		return;
	class = dw_pace_class(pace, finish->next);
	*(pace->steps[finish->next].reduced ? &pace->out.reduced_ticks[class]
	                                    : &pace->out.outside_ticks[class][DW_SHARE_OTHER]) += ticks;
	pace->out.outside_counts[DW_SHARE_OTHER] += finish->at.outside != DW_SHARE_OTHER;
	finish->at.outside = DW_SHARE_OTHER;
}

/* Assigns the time up to `ticks`, in which no range was open. */
static void shares_finish_fill(struct finish *finish, uint64_t ticks)
{
	struct dw_pace *pace = finish->pace;

	while (finish->last < ticks || finish->next < pace->count) {
		uint64_t border = finish->next == pace->count ? UINT64_MAX
		                  : finish->inside            ? pace->steps[finish->next].end_ticks
		                                              : pace->steps[finish->next].start_ticks;
		uint64_t to = ticks < border ? ticks : border;

		if (to > finish->last)
			shares_finish_give(finish, to - finish->last);
		finish->last = to > finish->last ? to : finish->last;
		if (ticks < border)
			return;
		finish->next += finish->inside;
		finish->inside = !finish->inside;
	}
}

/* Goes on after a piece, which has counted its first shares outside steps as new ones. */
static void shares_finish_add_piece(struct finish *finish, const struct dw_pace_piece *piece)
{
	struct dw_pace *pace = finish->pace;

	if (piece->first.beside == DW_OUT_NOTHING)
		return;
	if (piece->first.beside >= 0 && piece->first.beside == finish->at.beside)
		pace->out.beside_counts[piece->first.beside]--;
	if (piece->first.outside >= 0 && piece->first.outside == finish->at.outside)
		pace->out.outside_counts[piece->first.outside]--;
	finish->at = piece->last;
	finish->last = piece->to;
	finish->next = dw_division_find_step(pace, piece->to);
	finish->inside = finish->next < pace->count && pace->steps[finish->next].start_ticks <= piece->to;
}

DW_ORDER(shares_finish_compare_pieces, struct dw_pace_piece, DW_UP(from) DW_UP(to))

DW_ORDER(shares_finish_compare_owns, struct dw_own, DW_UP(step) DW_UP(from) DW_UP(order))

/* Groups the names by step, in the order of their first time, and adds up those that a step has in
 * several pieces. */
static void shares_finish_group_owns(struct dw_pace *pace)
{
	size_t kept = 0;

	DW_SORT(pace->owns, pace->own_count, shares_finish_compare_owns);
	for (size_t i = 0; i < pace->own_count; i++) {
		const struct dw_own own = pace->owns[i];
		struct dw_pace_step *step = &pace->steps[own.step];
		size_t at = step->own_first;

		if (!step->own_count)
			at = step->own_first = kept;
		while (at < kept && pace->owns[at].row != own.row)
			at++;
		if (at < kept) {
			pace->owns[at].ticks += own.ticks;
			continue;
		}
		pace->owns[kept++] = own;
		step->own_count++;
	}
	pace->own_count = kept;
}

bool dw_shares_finish(struct dw_shares *shares)
{
	for (size_t i = 0; i < shares->count; i++) {
		struct dw_pace *pace = &shares->paces[i];
		struct finish finish = { .pace = pace, .last = pace->start_ticks, .at = { DW_OUT_IN_STEP, DW_OUT_IN_STEP } };

		DW_SORT(pace->pieces, pace->piece_count, shares_finish_compare_pieces);
		for (size_t p = 0; p < pace->piece_count; p++) {
			shares_finish_fill(&finish, pace->pieces[p].from);
			shares_finish_add_piece(&finish, &pace->pieces[p]);
		}
		shares_finish_fill(&finish, pace->end_ticks);
		shares_finish_group_owns(pace);
	}
	return !shares->failed;
}
