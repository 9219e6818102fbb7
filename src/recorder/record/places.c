/*
 * Places: sums of a thread's times by the lines of the program that they belong to.
 *
 * A probe knows the line that calls each operator, and reports the times that are long enough: from
 * one operator to the next, and long operators, from the thread's first step on. A program has few such lines. So the file has one
 * entry for each pair of lines and thread, which its thread changes in place, and a long run takes
 * no more space than a short one.
 */

#include "record/entry.h"
#include "record/ids.h"
#include "record/place_sums.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/thread.h"
#include "record/usages.h"

static struct dw_entry_place *places_write(const struct dw_slot *slot, const struct place *place)
{
	struct dw_entry_place *entry = dw_journal_reserve(sizeof *entry);

	if (!entry)
		return NULL;
	entry->entry.id = slot->thread;
	entry->entry.aux = place->kind;
	entry->from = place->from;
	entry->to = place->to;
	entry->op = place->op;
	dw_journal_commit(entry, DW_ENTRY_PLACE);
	return entry;
}

/* The place of these lines. A new one is not `used` yet. */
static struct place *places_find(struct dw_places *places, const struct place *wanted)
{
	uint32_t hash = (wanted->from * 0x9e3779b1u ^ wanted->to * 0x85ebca6bu ^ wanted->op * 0xc2b2ae35u) +
	                wanted->kind;

	for (uint32_t at = hash >> 16;; at++) {
		struct place *place = &places->at[at % DW_PLACES];

		if (!place->used)
			return places->count < DW_PLACES_MOST ? place : &places->others[wanted->kind];
		if (place->from == wanted->from && place->to == wanted->to && place->op == wanted->op &&
		    place->kind == wanted->kind)
			return place;
	}
}

static struct dw_entry_place *places_entry(struct dw_slot *slot, struct place wanted)
{
	struct place *place;

	if (!slot->places && !(slot->places = dw_intern_memory(sizeof *slot->places)))
		return NULL;
	place = places_find(slot->places, &wanted);
	if (!place->used) {
		if (place == &slot->places->others[wanted.kind])
			wanted.from = wanted.to = wanted.op = 0;
		wanted.used = true;
		*place = wanted;
		slot->places->count++;
		place->entry = places_write(slot, place);
	}
	return place->entry;
}

static uint64_t places_overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	start = start > from ? start : from;
	end = end < to ? end : to;
	return end > start ? end - start : 0;
}

/* The part of a time in the open step and in the one before it. A time that spans more steps, none of
 * which calls an operator, is rare: of that, the steps between count as outside. */
static uint64_t places_in_steps(const struct dw_slot *slot, uint64_t start, uint64_t end)
{
	uint64_t part = places_overlap(start, end, slot->ended_start, slot->ended_end);

	return part + (slot->step ? places_overlap(start, end, slot->step->start_ticks, UINT64_MAX) : 0);
}

void dw_places_step(struct dw_slot *slot, uint64_t start_ticks)
{
	struct dw_places *places = slot->places;

	for (uint32_t i = 0; i < places->outside_count; i++) {
		struct dw_entry_place *entry = places->outside[i].entry;
		uint64_t part = places_overlap(places->outside[i].start, places->outside[i].end,
		                               start_ticks > slot->ended_end ? start_ticks : slot->ended_end,
		                               UINT64_MAX);

		DW_STORE(entry->other_ticks, entry->other_ticks - part);
		DW_STORE(entry->step_ticks, entry->step_ticks + part);
	}
	places->outside_count = 0;
}

static void places_remember(struct dw_slot *slot, struct dw_entry_place *entry, uint64_t start, uint64_t end)
{
	struct dw_places *places = slot->places;

	if (slot->step || places->outside_count == DW_PLACES_OUTSIDE)
		return;
	places->outside[places->outside_count].entry = entry;
	places->outside[places->outside_count].start = start;
	places->outside[places->outside_count++].end = end;
}

/* What lies before the thread's first step is start-up, and not counted. */
static void places_add(struct dw_entry_place *entry, const struct dw_slot *slot, uint64_t start,
                       uint64_t end, uint64_t cpu_ns)
{
	uint64_t in_steps = places_in_steps(slot, start, end), length = end - start;

	if (!slot->ended_end)
		length = in_steps;
	DW_STORE(entry->step_ticks, entry->step_ticks + in_steps);
	DW_STORE(entry->other_ticks, entry->other_ticks + length - in_steps);
	if (length > entry->longest_ticks)
		DW_STORE(entry->longest_ticks, length);
	if (cpu_ns != DWELL_PLACE_NO_CPU) {
		DW_STORE(entry->cpu_ns, entry->cpu_ns + cpu_ns);
		DW_STORE(entry->cpu_ticks, entry->cpu_ticks + length);
	}
	/* Pairs with a reader's acquire of count: the sums contain at least these times. */
	__atomic_store_n(&entry->count, entry->count + 1, __ATOMIC_RELEASE);
}

void dwell_place_add(enum dwell_place_kind kind, uint32_t from, uint32_t to, uint32_t op,
                     uint64_t start_ticks, uint64_t end_ticks, uint64_t cpu_ns)
{
	DW_KEEP_ERRNO;
	enum dw_loss cause;
	struct dw_slot *slot = dw_session_head() ? dw_slot_here(&cause) : NULL;
	struct dw_entry_place *entry = NULL;

	if (slot && end_ticks > start_ticks && (slot->step || slot->ended_end))
		entry = places_entry(slot, (struct place){ kind, from, to, op, NULL, false });
	if (entry) {
		places_add(entry, slot, start_ticks, end_ticks, cpu_ns);
		places_remember(slot, entry, start_ticks, end_ticks);
	}
}

uint64_t dwell_ticks_of_ms(void)
{
	const struct dw_head *head = dw_session_head();

	return head ? head->ticks_per_second / 1000 : UINT64_MAX;
}
