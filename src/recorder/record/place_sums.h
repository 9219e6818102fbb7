/* The sums of a thread's times by line; see places.c. */
#pragma once

#include <string.h>

#include "record/thread.h"

#define DW_PLACES 256u /* a power of two */
#define DW_PLACES_MOST (DW_PLACES * 3 / 4)
#define DW_PLACES_OUTSIDE 16u

struct dw_places {
	uint32_t count;
	struct place {
		uint32_t kind, from, to, op;
		struct dw_entry_place *entry; /* NULL: a free place, or the file had no space */
		bool used;
	} at[DW_PLACES];
	struct place others[DWELL_PLACE_OPERATOR + 1]; /* by kind: what found no place in `at` */
	/* Times since the last step: the next one may be found late, and begin before them. */
	struct {
		struct dw_entry_place *entry;
		uint64_t start, end;
	} outside[DW_PLACES_OUTSIDE];
	uint32_t outside_count;
};

/* Forgets the sums of an earlier session or thread. */
static inline void dw_places_forget(struct dw_slot *slot)
{
	if (slot->places && slot->places->count)
		memset(slot->places, 0, sizeof *slot->places);
}
