/*
 * Summaries of steps, so that no step of a long run is missing from its trace.
 *
 * The entry of a step takes 48 bytes, and a journal never recycles its blocks. So steps get their
 * own entries until half of the file's reserve is used. From then on a thread adds its steps to a
 * STEPS entry, in place. An entry collects a number of steps, 1,024 at first. The number doubles
 * each time half of the remaining space for such entries is used. So there is always space for
 * later steps, and the longer the run is, the more steps each entry collects. The last quarter
 * of the reserve is for names.
 *
 *     | budget ...            | reserve: steps | steps | summaries | names |
 *                                        1/4     1/4        1/4       1/4
 *
 * Called by step.c. Only the thread whose steps an entry collects changes the entry.
 */
#include "record/record.h"

#include "format/steps.h"

#define FIRST_STEPS 1024u

/* How many steps a new entry collects; 0 means no more entries may be reserved. Threads that run
 * this at the same time may double the number twice, which does no harm. */
static uint64_t summary_entry_steps(void)
{
	uint32_t generation = DW_LOAD(dw_session.generation);
	uint32_t left = dw_step_summary_blocks(dw_session_map());

	if (DW_LOAD(dw_process->summary_generation) != generation) {
		DW_STORE(dw_process->summary_steps, FIRST_STEPS);
		DW_STORE(dw_process->summary_left, left);
		DW_STORE(dw_process->summary_generation, generation);
	}
	if (!left)
		return 0;
	if (left <= DW_LOAD(dw_process->summary_left) / 2) {
		DW_STORE(dw_process->summary_steps, DW_LOAD(dw_process->summary_steps) * 2);
		DW_STORE(dw_process->summary_left, left);
	}
	return DW_LOAD(dw_process->summary_steps);
}

/* The entry for the thread's next step. If there is no space for a new entry, the last one is
 * used on, if its steps are of the same kind: a withdrawal applies to all steps of an entry. */
static struct dw_entry_steps *summary_find_entry(struct dw_slot *slot, uint32_t kind, enum dw_loss *cause)
{
	struct dw_entry_steps *entry = slot->summary;
	uint64_t steps;

	if (entry && entry->entry.aux != kind)
		entry = slot->summary = NULL;
	if (entry && entry->count < slot->summary_end)
		return entry;
	steps = summary_entry_steps();
	if (steps || !entry)
		entry = dw_journal_try(sizeof *entry, cause);
	else
		entry = NULL;
	if (!entry) {
		slot->summary_end += FIRST_STEPS; /* then tries again to reserve an entry */
		return slot->summary;
	}
	entry->entry.id = slot->thread;
	entry->entry.aux = kind;
	dw_journal_commit(entry, DW_ENTRY_STEPS);
	slot->summary = entry;
	slot->summary_end = steps ? steps : FIRST_STEPS;
	return entry;
}

bool dw_step_summary_add(struct dw_slot *slot, const struct dw_entry_step *step, uint64_t end_ticks,
                         uint64_t cpu_ns, enum dw_loss *cause)
{
	struct dw_entry_steps *entry = summary_find_entry(slot, step->entry.aux & DW_STEP_TENTATIVE, cause);
	uint64_t ticks = end_ticks > step->start_ticks ? end_ticks - step->start_ticks : 0;

	if (!entry)
		return false;
	if (!entry->count) {
		entry->first_number = step->number;
		entry->start_ticks = step->start_ticks;
		entry->shortest_ticks = ticks;
	}
	entry->step_ticks += ticks;
	entry->cpu_ns += cpu_ns;
	entry->cpu_count += cpu_ns != 0;
	if (ticks < entry->shortest_ticks)
		entry->shortest_ticks = ticks;
	if (ticks > entry->longest_ticks)
		entry->longest_ticks = ticks;
	entry->recorded += step->entry.aux & DW_STEP_RECORDED;
	entry->durations[dw_steps_bucket(ticks)]++;
	DW_STORE(entry->end_ticks, end_ticks);
	/* Pairs with a reader's acquire of count: the sums include that many steps. */
	__atomic_store_n(&entry->count, entry->count + 1, __ATOMIC_RELEASE);
	return true;
}
