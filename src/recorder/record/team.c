/*
 * Which range of a thread other threads work for: DWELL_TEAM() and DWELL_WORKER().
 *
 * A worker's range has the name of the range that the team works for, and is of category ZONE: so
 * the calls, time and FLOPs of an operator are counted once, in the thread that called it.
 */
#include "record/ids.h"
#include "record/open_ranges.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/thread.h"


#define TEAM_CHAINS 1024u

/* ---- names of workers' ranges ------------------------------------------------------- */

/* The id of a range, and that of the same name for workers: 0 means that it has no name. */
struct team_name {
	struct team_name *next;
	uint32_t id, worker;
};

/* Pushed with a compare-and-swap, never removed from. */
static struct team_name *team_names[TEAM_CHAINS];

static uint32_t team_new_name(uint32_t id)
{
	struct team_name **chain = &team_names[id % TEAM_CHAINS];
	struct team_name *name = dw_intern_memory(sizeof *name);
	struct dw_entry_op op;
	uint32_t worker = 0;

	if (dw_intern_op_entry(id, &op)) {
		op.entry.aux = DWELL_CATEGORY_ZONE;
		op.detail = op.shapes = 0;
		worker = dw_intern(&op.entry);
	}
	if (!name)
		return worker;
	name->id = id;
	name->worker = worker;
	name->next = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(chain, &name->next, name, true, __ATOMIC_RELEASE,
	                                    __ATOMIC_RELAXED))
		;
	return worker;
}

static uint32_t team_name(uint32_t id)
{
	/* Pairs with the release in team_new_name(): names are complete. */
	struct team_name *name = __atomic_load_n(&team_names[id % TEAM_CHAINS], __ATOMIC_ACQUIRE);

	while (name && name->id != id)
		name = name->next;
	return name ? name->worker : team_new_name(id);
}

/* ---- what probes call --------------------------------------------------------------- */

static uint64_t team_here(struct dw_slot *slot)
{
	uint32_t worker = 0;

	/* A signal handler that interrupted a record, or this function, would find the list unfinished. */
	if (slot->main.busy || (!slot->open && !(slot->open = dw_intern_memory(sizeof *slot->open))) ||
	    slot->open->busy)
		return 0;
	dw_open_follow(slot);
	/* Functions have no name here: the range around them counts. */
	for (uint32_t depth = slot->open->depth; depth && !worker; depth--)
		if (depth <= DW_OPEN_DEEPEST)
			worker = team_name(slot->open->ids[depth - 1] & DW_ID_MASK);
	return worker ? (uint64_t)slot->thread << 32 | worker : 0;
}

uint64_t dwell_team(void)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_session_head() ? dw_slot_here(NULL) : NULL;

	return slot ? team_here(slot) : 0;
}

unsigned dwell_worker_begin(uint64_t team)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = team && dw_session_head() ? dw_slot_here(NULL) : NULL;
	unsigned began = DWELL_NOT_BEGUN;

	if (slot && slot->thread != team >> 32)
		began = dwell_begin_id((uint32_t)team, DWELL_CATEGORY_ZONE);
	return began;
}
