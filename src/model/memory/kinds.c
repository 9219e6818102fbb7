/*
 * What blocks are for, of which the program says nothing: see the rule in memory.h.
 *
 * A first pass over a process's events, before its account is made: what a block is shows
 * when it is freed or where it outlives the range that decides (its span), and the peak may
 * lie before that. So the answer is kept, a byte an allocation in order of time, and the
 * account counts with it; it needs no correction, and categories sum to the whole.
 *
 * A span needs no event of its own: streams are read ahead of the merge, so when a free is
 * met, every end before it has been read (an end that has not lies in a later chunk).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "model/memory/account.h"

#define JUDGED 0x80u /* beside the kind: by the rule, not by the program */

/* ---- roles of ranges ----------------------------------------------------------------------- */

static enum dw_memory_role role_of(const struct dw_symbol *symbol)
{
	switch (dw_share_of(symbol)) {
	case DW_SHARE_DATA: return DW_MEMORY_IN_DATA;
	case DW_SHARE_OPTIMIZER: return DW_MEMORY_IN_OPTIMIZER;
	case DW_SHARE_BACKWARD: return DW_MEMORY_IN_BACKWARD;
	case DW_SHARE_FORWARD:
	case DW_SHARE_EVALUATION: return DW_MEMORY_IN_FORWARD;
	default: return DW_MEMORY_IN_NOTHING;
	}
}

uint8_t *dw_memory_roles(const struct dw_model *model)
{
	uint8_t *roles = calloc(model->row_count + 1, 1);

	for (uint32_t row = 0; roles && row < model->row_count; row++)
		roles[row] = (uint8_t)role_of(&model->symbols[model->row_symbol[row]]);
	return roles;
}

/* ---- spans --------------------------------------------------------------------------------- */

/* 0 when out of memory. */
uint32_t dw_memory_span_open(struct dw_memory_judge *judge, uint64_t ticks, bool backward)
{
	uint32_t index = judge->free_span;
	struct dw_memory_span *span;

	if (index) {
		judge->free_span = judge->spans[index].next_free;
		span = &judge->spans[index];
	} else {
		if (!judge->span_count) /* 0 stands for none */
			judge->span_count = DW_GROW(&judge->spans, &judge->span_capacity, 0) != NULL;
		span = judge->span_count
		           ? DW_GROW(&judge->spans, &judge->span_capacity, judge->span_count) : NULL;
		if (!span || judge->span_count == UINT32_MAX) {
			judge->failed = true;
			return 0;
		}
		index = (uint32_t)judge->span_count++;
	}
	*span = (struct dw_memory_span){ .end_ticks = UINT64_MAX };
	if (backward) {
		struct dw_memory_backward *entry =
			DW_GROW(&judge->backwards, &judge->backward_capacity, judge->backward_count);
		size_t at = judge->backward_count;

		if (!entry) {
			judge->failed = true;
			return 0;
		}
		span->refs = 1; /* never given back */
		for (; at > judge->backward_at && judge->backwards[at - 1].ticks > ticks; at--)
			judge->backwards[at] = judge->backwards[at - 1]; /* another thread's, read ahead */
		judge->backwards[at] = (struct dw_memory_backward){ ticks, index };
		judge->backward_count++;
	}
	return index;
}

static void give_back(struct dw_memory_judge *judge, uint32_t index)
{
	judge->spans[index].next_free = judge->free_span;
	judge->free_span = index;
}

/* Its blocks may still be in chunks that were read and not merged: they hold it too. */
void dw_memory_span_close(struct dw_memory_judge *judge, uint32_t index, uint64_t ticks)
{
	if (!index)
		return;
	judge->spans[index].end_ticks = ticks;
	if (!judge->spans[index].refs)
		give_back(judge, index);
}

static void let_go(struct dw_memory_judge *judge, uint32_t index)
{
	if (index && --judge->spans[index].refs == 0 && judge->spans[index].end_ticks != UINT64_MAX)
		give_back(judge, index);
}

/* ---- where an allocation stands ------------------------------------------------------------- */

static bool in_step(struct dw_memory_judge *judge, uint64_t ticks)
{
	for (; judge->step_at < judge->step_count && judge->steps[judge->step_at].start <= ticks;
	     judge->step_at++)
		if (judge->steps[judge->step_at].end > judge->step_reach)
			judge->step_reach = judge->steps[judge->step_at].end;
	return ticks < judge->step_reach;
}

/* The backward of another thread that is open now; 0: none. Device threads run operators of
 * a backward that a thread waits for. */
static uint32_t backward_elsewhere(struct dw_memory_judge *judge, uint64_t ticks)
{
	uint32_t span;

	while (judge->backward_at < judge->backward_count &&
	       judge->backwards[judge->backward_at].ticks <= ticks)
		judge->backward_at++;
	if (!judge->backward_at)
		return 0;
	span = judge->backwards[judge->backward_at - 1].span;
	return judge->spans[span].end_ticks > ticks ? span : 0;
}

/* What the block is if it outlives its span. */
static enum dw_memory_kind kind_when_it_stays(struct dw_memory_judge *judge,
                                              struct dw_memory_event *event)
{
	bool steps = in_step(judge, event->ticks) || !judge->step_count;
	uint32_t other;

	switch (event->role) {
	case DW_MEMORY_IN_DATA: return DW_MEMORY_INPUT;
	case DW_MEMORY_IN_OPTIMIZER: return DW_MEMORY_OPTIMIZER_STATE;
	case DW_MEMORY_IN_BACKWARD: return DW_MEMORY_GRADIENT;
	case DW_MEMORY_IN_FORWARD: return DW_MEMORY_ACTIVATION;
	default: break;
	}
	other = event->span ? backward_elsewhere(judge, event->ticks) : 0;
	if (!other)
		return steps ? DW_MEMORY_ACTIVATION : DW_MEMORY_OTHER;
	judge->spans[other].refs++;
	let_go(judge, event->span);
	event->span = other;
	return DW_MEMORY_GRADIENT;
}

/* ---- events -------------------------------------------------------------------------------- */

static void decide(struct dw_memory_judge *judge, struct dw_memory_pending *block, uint64_t ticks)
{
	uint32_t span = block->span;

	if (!span)
		return;
	judge->kinds[block->allocation] = (uint8_t)(JUDGED | (judge->spans[span].end_ticks <= ticks
	                                                          ? block->stays : DW_MEMORY_TEMPORARY));
	block->span = 0;
	let_go(judge, span);
}

static bool is_unsaid(const struct dw_memory_judge *judge, uint32_t symbol)
{
	return strcasecmp(judge->account->model->symbols[symbol].name, "other") == 0;
}

static void take(struct dw_memory_judge *judge, struct dw_memory_event *event)
{
	uint32_t kind = dw_memory_kind_of(judge->account, event->symbol), stays = DW_MEMORY_OTHER;
	uint8_t *kept = DW_GROW(&judge->kinds, &judge->kind_capacity, judge->kind_count);
	uint32_t number = dw_live_add(&judge->live, event->address, 0);
	struct dw_memory_pending *block = NULL;

	if (number != DW_MAP_NONE)
		block = DW_GROW(&judge->pending, &judge->pending_capacity, number);
	if (!kept || !block) {
		judge->failed = true;
		return;
	}
	*kept = (uint8_t)kind;
	if (event->span && is_unsaid(judge, event->symbol)) {
		stays = kind_when_it_stays(judge, event);
	} else if (event->span) {
		let_go(judge, event->span);
		event->span = 0;
	}
	*block = (struct dw_memory_pending){ (uint32_t)judge->kind_count++, event->span, stays };
}

void dw_memory_judge_put(struct dw_memory_judge *judge, struct dw_memory_event *event)
{
	struct dw_memory_pending *block;
	uint32_t number;

	if (judge->failed)
		return;
	number = dw_live_find(&judge->live, event->address, 0);
	block = number == DW_MAP_NONE ? NULL : &judge->pending[number];
	if (block)
		decide(judge, block, event->ticks); /* gives its span back */
	if (event->type == DW_MEMORY_SAID) {
		if (block)
			judge->kinds[block->allocation] =
				(uint8_t)dw_memory_kind_of(judge->account, event->symbol);
		return;
	}
	if (block)
		dw_live_remove(&judge->live, number);
	if (event->type == DW_MEMORY_ALLOC)
		take(judge, event);
}

/* ---- beginning and end --------------------------------------------------------------------- */

static int compare_steps(const void *left, const void *right)
{
	const struct dw_memory_step *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static void find_steps(struct dw_memory_judge *judge)
{
	const struct dw_source *source = judge->account->model->source;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		struct dw_memory_step *to;

		if (source->threads[step->thread].process != judge->account->process)
			continue;
		to = DW_GROW(&judge->steps, &judge->step_capacity, judge->step_count);
		if (!to) {
			judge->failed = true;
			return;
		}
		*to = (struct dw_memory_step){ step->start_ticks,
			                           step->open ? UINT64_MAX : step->end_ticks };
		judge->step_count++;
	}
	if (judge->step_count)
		qsort(judge->steps, judge->step_count, sizeof *judge->steps, compare_steps);
}

void dw_memory_judge_init(struct dw_memory_judge *judge, struct dw_memory_account *account,
                          const uint8_t *roles)
{
	memset(judge, 0, sizeof *judge);
	judge->account = account;
	judge->roles = roles;
	find_steps(judge);
}

void dw_memory_judge_end(struct dw_memory_judge *judge)
{
	/* What is live still outlives what there was. Numbers out of use have no span. */
	for (size_t i = 0; i < judge->live.count; i++)
		if (judge->pending[i].span)
			judge->kinds[judge->pending[i].allocation] = (uint8_t)(JUDGED | judge->pending[i].stays);
	for (size_t i = 0; i < judge->kind_count; i++)
		if (judge->kinds[i] & JUDGED)
			judge->kinds[i] = judge->operators ? judge->kinds[i] & ~JUDGED : DW_MEMORY_OTHER;
}

void dw_memory_judge_reset(struct dw_memory_judge *judge)
{
	free(judge->spans);
	free(judge->backwards);
	free(judge->steps);
	free(judge->kinds);
	free(judge->pending);
	dw_live_reset(&judge->live);
	memset(judge, 0, sizeof *judge);
}
