/*
 * Which of several scopes contain a range that begins now.
 *
 * For passes that compute a product for several models of one source at once: an overview needs
 * profiles of the whole run and of its steps. The answer is valid until a time that is stored with
 * it, so that most ranges cost one comparison.
 *
 * Times of a stream must not run backward. After a change of the thread call dw_scope_set_expire().
 */
#pragma once

#include "format/decode.h"
#include "model/core/model_data.h"

#define DW_SCOPES 4u

struct dw_scope_set {
	const struct dw_model *const *models;    /* `count` models of one source */
	const struct dw_interval *at[DW_SCOPES]; /* the interval that contains the current time or
	                                          * follows it; NULL: all times are in scope */
	unsigned count;
	uint32_t thread;  /* index; `at` is valid for this thread */
	uint32_t bits;    /* the answer: bit i is set if models[i] contains a range ... */
	uint64_t until;   /* ... that begins before this time */
};

static inline void dw_scope_set_init(struct dw_scope_set *set, const struct dw_model *const *models,
                                     unsigned count, uint32_t process)
{
	*set = (struct dw_scope_set){ .models = models, .count = count, .thread = DW_NO_INDEX };
	for (unsigned i = 0; i < count; i++)
		set->at[i] = models[i]->intervals ? models[i]->intervals[process] : NULL;
}

static inline void dw_scope_set_expire(struct dw_scope_set *set)
{
	set->until = 0;
}

static __attribute__((noinline, unused)) void dw_scope_set_renew(struct dw_scope_set *set,
                                                                 uint32_t thread, uint64_t ticks)
{
	bool moved = thread != set->thread && thread != DW_NO_INDEX;

	set->thread = thread;
	set->bits = 0;
	set->until = UINT64_MAX;
	for (unsigned i = 0; i < set->count; i++) {
		const struct dw_model *model = set->models[i];
		uint64_t border;
		bool inside;

		if (moved && model->thread_intervals)
			set->at[i] = model->thread_intervals[thread];
		if (model->wanted_threads && (thread == DW_NO_INDEX || !model->wanted_threads[thread]))
			continue;
		if (!set->at[i]) {
			set->bits |= 1u << i;
			continue;
		}
		while (ticks >= set->at[i]->end_ticks && set->at[i]->start_ticks != UINT64_MAX)
			set->at[i]++;
		inside = ticks >= set->at[i]->start_ticks;
		border = inside ? set->at[i]->end_ticks : set->at[i]->start_ticks;
		set->until = border < set->until ? border : set->until;
		set->bits |= (uint32_t)inside << i;
	}
}
