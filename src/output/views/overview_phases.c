/*
 * Sentences of the overview about what the loop does in turn: phases other than learning, several updates a step,
 * and what happens once in many steps.
 */
#include <stdio.h>

#include "base/text.h"
#include "model/core/share_names.h"
#include "model/steps/loop_phases.h"
#include "views/overview_parts.h"

#define LEAST_PHASE 0.01 /* of the loop, that it does not learn: below it nothing is said */

/* Whether the loop does more than one update a step: names and their counts tell. To find what it does in turn takes a
 * walk of the records. */
static bool phases_are_several(const struct dw_overview *overview)
{
	const struct dw_flat *flat = dw_model_flat(overview->model, ~0u, NULL);
	uint64_t updates = 0;

	for (size_t i = 0; flat && i < flat->count; i++) {
		enum dw_share share = dw_share_of(&overview->symbols[flat->rows[i].symbol]);

		if (share == DW_SHARE_EVALUATION || share == DW_SHARE_CHECKPOINT)
			return true;
		updates += share == DW_SHARE_OPTIMIZER ? flat->rows[i].stat.count : 0;
	}
	return updates && updates != overview->steps->count;
}

/* Of the loop that the facts are of; NULL: what it does is not known, or not of this part of the run. */
static const struct dw_loop_phases *phases_of_loop(const struct dw_overview *overview)
{
	const struct dw_loop_phases *phases;

	if (dw_model_is_partial(overview->model) || !phases_are_several(overview) ||
	    !(phases = dw_model_loop_phases(overview->model, NULL)))
		return NULL;
	for (size_t i = 0; i < overview->steps->thread_count; i++)
		if (overview->steps->threads[i] == overview->facts->thread)
			return &phases[i];
	return NULL;
}

/* "Phases of the loop, each with the data and waits before the next: acting 40% (12 times), learning 60% (12 times)." */
static void phases_note_shares(struct dwell_table *table, const struct dw_loop_phases *phases)
{
	double ns[DW_PHASE_CHECKPOINT], all = 0;
	char list[256];
	size_t used = 0;

	for (unsigned kind = 0; kind < DW_PHASE_CHECKPOINT; kind++)
		all += ns[kind] = (double)phases->phases[kind].loop.until_ns;
	if (!(ns[DW_PHASE_ACTING] + ns[DW_PHASE_INFERENCE] >= LEAST_PHASE * all) || !(all > 0))
		return;
	for (unsigned kind = DW_PHASE_CHECKPOINT; kind-- > 0;)
		if (ns[kind] > 0)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %s (%s time%s)", used ? ", " : "",
			                         dw_phase_name((enum dw_phase_kind)kind), dw_text_percent(ns[kind] / all).at,
			                         dw_text_count((int64_t)phases->phases[kind].loop.times).at,
			                         dw_text_plural(phases->phases[kind].loop.times));
	dw_table_say_below(table, DW_LABEL_NOTE,
	                   "Phases of the loop, each with the data and waits before the next: %s.", list);
}

static void phases_note_updates(struct dwell_table *table, const struct dw_loop_phases *phases)
{
	const struct dw_loop_event *updates = &phases->events[DW_LOOP_UPDATE];

	if (phases->iterations && updates->most > 1 && updates->least == updates->most)
		dw_table_say_below(table, DW_LABEL_NOTE, "A step has %u optimizer steps.", updates->most);
	else if (phases->iterations && updates->mean > 1)
		dw_table_say_below(table, DW_LABEL_NOTE,
		                   "A step has %u to %u optimizer steps, %s on average.", updates->least, updates->most,
		              dw_text_number(updates->mean).at);
	else if (phases->accumulated > 1)
		dw_table_say_below(table, DW_LABEL_NOTE, "An optimizer step follows %s backward passes on average.",
		              dw_text_number(phases->accumulated).at);
}

/* "1 evaluation, 90.0 ms", or "3 evaluations, 90.0 ms each". */
static void phases_write_rare(char *to, size_t size, const char *name, const struct dw_phase_sums *sums, const struct dw_steps *steps)
{
	*to = '\0';
	if (sums->times && dw_overview_is_named(sums->run_ns, steps))
		snprintf(to, size, "%s %s%s, %s%s", dw_text_count((int64_t)sums->times).at, name, dw_text_plural(sums->times),
		         dw_text_ns((double)sums->run_ns / (double)sums->times, " ").at, sums->times > 1 ? " each" : "");
}

static void phases_note_rare(struct dwell_table *table, const struct dw_loop_phases *phases, const struct dw_steps *steps)
{
	char evaluations[96], checkpoints[96];

	phases_write_rare(evaluations, sizeof evaluations, "evaluation", &phases->phases[DW_PHASE_EVALUATION].all, steps);
	phases_write_rare(checkpoints, sizeof checkpoints, "checkpoint", &phases->phases[DW_PHASE_CHECKPOINT].all, steps);
	if (*evaluations || *checkpoints)
		dw_table_say_below(table, DW_LABEL_NOTE, "The run has %s%s%s.", evaluations, *evaluations && *checkpoints ? "; " : "",
		                   checkpoints);
}

void dw_overview_note_phases(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_loop_phases *phases = phases_of_loop(overview);

	if (!phases)
		return;
	phases_note_updates(table, phases);
	phases_note_shares(table, phases);
	phases_note_rare(table, phases, overview->steps);
}
