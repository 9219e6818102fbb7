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
 * A thread that summarises keeps its newest steps in a ring of entries: the step that had the entry
 * before is added to the summary when the entry is used again. If only the newest records are kept,
 * threads do so from their first step, and a ring may grow to 250,880 entries as long as half of the
 * reserve is free. Otherwise a ring has one entry, for the open step, so that it can be seen if the
 * program is killed; it is added to the summary when it ends.
 *
 * Several optimizers that step once each in an iteration are one step here: an update joins the one before if it has no
 * batch and its optimizer has not stepped yet. The reader decides so, too, of single steps (read/iterations.c).
 *
 * Called by step.c. Only the thread whose steps an entry collects changes the entry.
 */
#include "record/chunks.h"
#include "record/entry.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/steps.h"
#include "record/thread.h"

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

/* The optimizer that stepped, as a bit; 0: none did. */
static uint32_t summary_optimizer(uint32_t aux)
{
	return (aux & DWELL_STEP_KIND) == DWELL_STEP_UPDATE ? 1u << dw_step_optimizer(aux) : 0;
}

static bool summary_joins(const struct dw_slot *slot, uint32_t aux)
{
	uint32_t optimizer = summary_optimizer(aux), stepped = slot->summed.optimizers;

	return optimizer && stepped && !(stepped & optimizer) && !(aux & DWELL_STEP_BATCH) && slot->summary->count;
}

/* The step goes on with an update of another optimizer. */
static void summary_extend(struct dw_slot *slot, struct dw_entry_steps *entry, const struct dw_entry_step *step,
                           uint64_t end_ticks, uint64_t cpu_ns)
{
	uint64_t before = slot->summed.ticks, shortest = slot->summed.shortest;
	uint64_t ticks = end_ticks > slot->summed.start ? end_ticks - slot->summed.start : before;

	entry->step_ticks += ticks - before;
	entry->cpu_ns += cpu_ns;
	entry->shortest_ticks = ticks < shortest ? ticks : shortest;
	if (ticks > entry->longest_ticks)
		entry->longest_ticks = ticks;
	entry->durations[dw_steps_bucket(before)]--;
	entry->durations[dw_steps_bucket(ticks)]++;
	slot->summed.ticks = ticks;
	slot->summed.optimizers |= summary_optimizer(step->entry.aux);
	__atomic_store_n(&entry->end_ticks, end_ticks, __ATOMIC_RELEASE);
}

bool dw_step_summary_add(struct dw_slot *slot, const struct dw_entry_step *step, uint64_t end_ticks, uint64_t cpu_ns,
                         enum dw_loss *cause)
{
	uint64_t ticks = end_ticks > step->start_ticks ? end_ticks - step->start_ticks : 0;
	struct dw_entry_steps *entry = slot->summary;

	if (entry && summary_joins(slot, step->entry.aux)) {
		summary_extend(slot, entry, step, end_ticks, cpu_ns);
		return true;
	}
	entry = summary_find_entry(slot, step->entry.aux & DW_STEP_TENTATIVE, cause);
	if (!entry)
		return false;
	if (!entry->count) {
		entry->first_number = step->number;
		entry->start_ticks = step->start_ticks;
		entry->shortest_ticks = UINT64_MAX;
	}
	slot->summed.start = step->start_ticks;
	slot->summed.ticks = ticks;
	slot->summed.shortest = entry->shortest_ticks;
	slot->summed.optimizers = summary_optimizer(step->entry.aux);
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

/* ---- the ring ------------------------------------------------------------------- */

#define RING_LARGEST 1024u /* entries of a segment; they fit a block */

/* How many entries a segment has: 1, 1, 2, 4 and so on. So a thread with few steps takes little. */
static uint32_t summary_ring_entries(uint32_t segment)
{
	return segment < 2 ? 1 : segment < 12 ? 1u << (segment - 1) : RING_LARGEST;
}

static bool ring_grow(struct dw_step_ring *ring)
{
	uint32_t count = summary_ring_entries(ring->count);
	struct dw_entry_step *entries;
	enum dw_loss cause;

	if (ring->count == DW_STEP_SEGMENTS || (ring->count && dw_step_summary_needed(dw_session_map())))
		return false;
	entries = dw_journal_try(count * sizeof *entries, &cause);
	if (!entries)
		return false;
	for (uint32_t i = 0; i < count; i++)
		entries[i].entry.bytes = sizeof *entries; /* readers skip those that were never used */
	ring->segments[ring->count++] = entries;
	return true;
}

static struct dw_entry_step *ring_next(struct dw_step_ring *ring)
{
	if (ring->at == summary_ring_entries(ring->segment)) {
		ring->segment++;
		ring->at = 0;
	}
	if (ring->segment == ring->count && !ring_grow(ring))
		ring->segment = 0;
	return ring->count ? &ring->segments[ring->segment][ring->at++] : NULL;
}

void dw_step_ring_free(struct dw_slot *slot, struct dw_entry_step *entry)
{
	enum dw_loss cause;

	/* A reader that finds the step in the summary, too, drops it: it began before the summary's end. */
	if (!(entry->entry.aux & DW_STEP_CANCELLED) && entry->end_ticks &&
	    !dw_step_summary_add(slot, entry, entry->end_ticks, entry->cpu_ns, &cause))
		dw_slot_lost(slot, dw_journal_loss(cause), 1);
	__atomic_store_n(&entry->entry.aux, DW_STEP_CANCELLED, __ATOMIC_RELEASE);
}

struct dw_entry_step *dw_step_ring_take(struct dw_slot *slot)
{
	struct dw_entry_step *entry = ring_next(&slot->ring);

	if (!entry)
		return NULL;
	if (entry->entry.tag) {
		dw_step_ring_free(slot, entry);
		return entry;
	}
	entry->entry.id = slot->thread;
	entry->entry.aux = DW_STEP_CANCELLED;
	dw_journal_commit(entry, DW_ENTRY_STEP);
	return entry;
}
