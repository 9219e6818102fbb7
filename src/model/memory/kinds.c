/*
 * Finds the kinds of blocks that the program calls "other"; the rules are in memory.h.
 *
 * This is the first pass over a process's events. It runs before the account, because the kind of a
 * block depends on its free and on the end of the range that decides (its span), and both may come
 * after the peak. The pass stores one byte for each allocation, in order of time. The account
 * reads these bytes, so that it corrects nothing later and its kinds sum to the total.
 *
 * The end of a span is no event in the merge. Streams are read ahead of the merge: when a free is
 * handled, all ends before it have been read (an end that was not read is in a later chunk).
 */
#include <strings.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/core/share_names.h"
#include "model/memory/account.h"
#include "model/memory/kinds.h"

#define MOST_SIZES 1000u /* different sizes of parameters that are compared */
#define BY_RULE 0x80u /* a bit above the kind: the kind comes from a rule, not from the program */

/* ---- roles of ranges ----------------------------------------------------------------------- */

static enum dw_memory_role kinds_role(const struct dw_symbol *symbol)
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
		roles[row] = (uint8_t)kinds_role(&model->symbols[model->row_symbol[row]]);
	return roles;
}

/* ---- spans --------------------------------------------------------------------------------- */

/* 0 when out of memory. */
uint32_t dw_memory_span_open(struct dw_memory_kind_pass *pass, uint64_t ticks, bool backward)
{
	uint32_t index = pass->free_span;
	struct dw_memory_span *span;

	if (index) {
		pass->free_span = pass->spans[index].next_free;
		span = &pass->spans[index];
	} else {
		if (!pass->span_count) /* 0 means none */
			pass->span_count = DW_GROW(&pass->spans, &pass->span_capacity, 0) != NULL;
		span = pass->span_count ? DW_GROW(&pass->spans, &pass->span_capacity, pass->span_count) : NULL;
		if (!span || pass->span_count == UINT32_MAX) {
			pass->failed = true;
			return 0;
		}
		index = (uint32_t)pass->span_count++;
	}
	*span = (struct dw_memory_span){ .end_ticks = UINT64_MAX };
	if (backward) {
		struct dw_memory_backward *entry = DW_GROW(&pass->backwards, &pass->backward_capacity, pass->backward_count);
		size_t at = pass->backward_count;

		if (!entry) {
			pass->failed = true;
			return 0;
		}
		span->refs = 1; /* never reused */
		for (; at > pass->backward_at && pass->backwards[at - 1].ticks > ticks; at--)
			pass->backwards[at] = pass->backwards[at - 1]; /* of a thread that was read ahead */
		pass->backwards[at] = (struct dw_memory_backward){ ticks, index };
		pass->backward_count++;
	}
	return index;
}

static void kinds_free_span(struct dw_memory_kind_pass *pass, uint32_t index)
{
	pass->spans[index].next_free = pass->free_span;
	pass->free_span = index;
}

/* Ends a span. It is not reused while events that were read but not merged refer to it. */
void dw_memory_span_close(struct dw_memory_kind_pass *pass, uint32_t index, uint64_t ticks)
{
	if (!index)
		return;
	pass->spans[index].end_ticks = ticks;
	if (!pass->spans[index].refs)
		kinds_free_span(pass, index);
}

static void kinds_release_span(struct dw_memory_kind_pass *pass, uint32_t index)
{
	if (index && --pass->spans[index].refs == 0 && pass->spans[index].end_ticks != UINT64_MAX)
		kinds_free_span(pass, index);
}

/* ---- what surrounds an allocation ----------------------------------------------------------- */

static bool kinds_in_step(struct dw_memory_kind_pass *pass, uint64_t ticks)
{
	for (; pass->step_at < pass->step_count && pass->steps[pass->step_at].start <= ticks; pass->step_at++)
		if (pass->steps[pass->step_at].end > pass->step_reach)
			pass->step_reach = pass->steps[pass->step_at].end;
	return ticks < pass->step_reach;
}

/* The span of the last backward range to begin, if it is still open; 0: none. Threads of devices
 * run operators of a backward range that is open in the thread that waits for them. */
static uint32_t kinds_find_backward(struct dw_memory_kind_pass *pass, uint64_t ticks)
{
	uint32_t span;

	while (pass->backward_at < pass->backward_count && pass->backwards[pass->backward_at].ticks <= ticks)
		pass->backward_at++;
	if (!pass->backward_at)
		return 0;
	span = pass->backwards[pass->backward_at - 1].span;
	return pass->spans[span].end_ticks > ticks ? span : 0;
}

/* The kind of the block if it outlives its span. May replace the span by a backward range's. */
static enum dw_memory_kind kinds_when_it_stays(struct dw_memory_kind_pass *pass, struct dw_memory_event *event)
{
	bool steps = kinds_in_step(pass, event->ticks) || !pass->step_count;
	uint32_t other;

	switch (event->role) {
	case DW_MEMORY_IN_DATA: return DW_MEMORY_INPUT;
	case DW_MEMORY_IN_OPTIMIZER: return DW_MEMORY_OPTIMIZER_STATE;
	case DW_MEMORY_IN_BACKWARD: return DW_MEMORY_GRADIENT;
	case DW_MEMORY_IN_FORWARD: return DW_MEMORY_ACTIVATION;
	default: break;
	}
	other = event->span ? kinds_find_backward(pass, event->ticks) : 0;
	if (!other)
		return steps ? DW_MEMORY_ACTIVATION : DW_MEMORY_OTHER;
	pass->spans[other].refs++;
	kinds_release_span(pass, event->span);
	event->span = other;
	return DW_MEMORY_GRADIENT;
}

/* ---- events -------------------------------------------------------------------------------- */

static void kinds_decide(struct dw_memory_kind_pass *pass, struct dw_memory_pending *block, uint64_t ticks)
{
	uint32_t span = block->span;

	if (!span)
		return;
	pass->kinds[block->allocation] =
		(uint8_t)(BY_RULE | (pass->spans[span].end_ticks <= ticks ? block->stays : DW_MEMORY_TEMPORARY));
	block->span = 0;
	kinds_release_span(pass, span);
}

static bool kinds_is_unsaid(const struct dw_memory_kind_pass *pass, uint32_t symbol)
{
	return strcasecmp(pass->account->model->symbols[symbol].name, "other") == 0;
}

static bool kinds_has_parameter(const struct dw_memory_kind_pass *pass, uint64_t bytes)
{
	for (size_t i = 0; i < pass->parameter_count; i++)
		if (pass->parameters[i] == bytes)
			return true;
	return false;
}

/* Notes the size of a parameter. Models have few different ones. */
static void kinds_note_parameter(struct dw_memory_kind_pass *pass, uint32_t kind, uint64_t bytes)
{
	if (kind != DW_MEMORY_PARAMETER || pass->parameter_count == MOST_SIZES || kinds_has_parameter(pass, bytes))
		return;
	pass->failed |= !DW_APPEND(&pass->parameters, &pass->parameter_capacity, &pass->parameter_count, bytes);
}

/* In steps that are recorded without operators, threads that run the operators of a backward range have no range open.
 * Sets the span to that range. */
static bool kinds_is_backward_without_operators(struct dw_memory_kind_pass *pass, struct dw_memory_event *event)
{
	event->span = pass->reduced && !event->role ? kinds_find_backward(pass, event->ticks) : 0;
	if (event->span)
		pass->spans[event->span].refs++;
	return event->span != 0;
}

static void kinds_allocate(struct dw_memory_kind_pass *pass, struct dw_memory_event *event)
{
	uint32_t kind = dw_memory_kind_of(pass->account, event->symbol), stays = DW_MEMORY_OTHER;
	uint8_t *kept = DW_GROW(&pass->kinds, &pass->kind_capacity, pass->kind_count);
	uint32_t number = dw_live_add(&pass->live, event->address, event->space);
	struct dw_memory_pending *block = NULL;

	if (number != DW_MAP_NONE)
		block = DW_GROW(&pass->pending, &pass->pending_capacity, number);
	if (!kept || !block) {
		pass->failed = true;
		return;
	}
	*kept = (uint8_t)kind;
	kinds_note_parameter(pass, kind, event->bytes);
	if (!event->span && kinds_is_unsaid(pass, event->symbol) && kinds_is_backward_without_operators(pass, event)) {
		stays = DW_MEMORY_GRADIENT;
	} else if (event->span && kinds_is_unsaid(pass, event->symbol)) {
		stays = kinds_when_it_stays(pass, event);
	} else if (event->span) {
		kinds_release_span(pass, event->span);
		event->span = 0;
	}
	*block = (struct dw_memory_pending){ (uint32_t)pass->kind_count++, event->span, stays, event->bytes,
		pass->step_count && event->ticks < pass->steps[0].end };
}

void dw_memory_kind_pass_put(struct dw_memory_kind_pass *pass, struct dw_memory_event *event)
{
	struct dw_memory_pending *block;
	uint32_t number;

	if (pass->failed || event->type == DW_MEMORY_RESERVED || event->type == DW_MEMORY_FAILED)
		return;
	number = dw_live_find(&pass->live, event->address, event->space);
	block = number == DW_MAP_NONE ? NULL : &pass->pending[number];
	if (block)
		kinds_decide(pass, block, event->ticks); /* releases its span */
	if (event->type == DW_MEMORY_SAID) {
		if (block) {
			pass->kinds[block->allocation] = (uint8_t)dw_memory_kind_of(pass->account, event->symbol);
			kinds_note_parameter(pass, pass->kinds[block->allocation], block->bytes);
		}
		return;
	}
	if (block)
		dw_live_remove(&pass->live, number);
	if (event->type == DW_MEMORY_ALLOC)
		kinds_allocate(pass, event);
}

/* ---- beginning and end --------------------------------------------------------------------- */

DW_ORDER(kinds_compare_steps, struct dw_memory_step, DW_UP(start))

static void kinds_find_steps(struct dw_memory_kind_pass *pass)
{
	const struct dw_source *source = pass->account->model->source;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (source->threads[step->thread].process != pass->account->process)
			continue;
		pass->reduced |= step->reduced;
		pass->failed |= !DW_APPEND(&pass->steps, &pass->step_capacity, &pass->step_count,
		    (struct dw_memory_step){ step->start_ticks, step->open ? UINT64_MAX : step->end_ticks });
	}
	DW_SORT(pass->steps, pass->step_count, kinds_compare_steps);
}

void dw_memory_kind_pass_init(struct dw_memory_kind_pass *pass, struct dw_memory_account *account, const uint8_t *roles)
{
	memset(pass, 0, sizeof *pass);
	pass->account = account;
	pass->roles = roles;
	kinds_find_steps(pass);
}

#define KEPT_STEPS 3u /* of fewer, any step's blocks may still be in use */

/* Whether a library keeps the block for itself, as cuBLAS keeps its workspaces: operators of the first step allocated
 * it, and it is never freed. Gradients may stay as well; each has the size of a parameter. */
static bool kinds_is_kept(const struct dw_memory_kind_pass *pass, const struct dw_memory_pending *block)
{
	if (!block->first || pass->step_count < KEPT_STEPS)
		return false;
	return block->stays == DW_MEMORY_ACTIVATION ||
	       (block->stays == DW_MEMORY_GRADIENT && pass->parameter_count && !kinds_has_parameter(pass, block->bytes));
}

void dw_memory_kind_pass_end(struct dw_memory_kind_pass *pass)
{
	/* A block that is live at the end has outlived its span. Unused numbers have no span. */
	for (size_t i = 0; i < pass->live.count; i++)
		if (pass->pending[i].span)
			pass->kinds[pass->pending[i].allocation] =
			    (uint8_t)(BY_RULE | (kinds_is_kept(pass, &pass->pending[i]) ? DW_MEMORY_OTHER : pass->pending[i].stays));
	for (size_t i = 0; i < pass->kind_count; i++)
		if (pass->kinds[i] & BY_RULE)
			pass->kinds[i] = pass->operators ? pass->kinds[i] & ~BY_RULE : DW_MEMORY_OTHER;
}

void dw_memory_kind_pass_reset(struct dw_memory_kind_pass *pass)
{
	DW_FREE(pass->spans, pass->backwards, pass->steps, pass->kinds, pass->pending, pass->parameters);
	dw_live_reset(&pass->live);
	memset(pass, 0, sizeof *pass);
}
