/* The calling thread's slot. */
#pragma once

#include "record/chunks.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/thread.h"

struct dw_slot *dw_slot_find(enum dw_loss *cause); /* of dw_slot_here() */
/* The calling thread's slot, registered if necessary; NULL with the cause, for which `cause` may be NULL. */
static inline struct dw_slot *dw_slot_here(enum dw_loss *cause)
{
	/* Read only once: see dw_slot_find(). */
	struct dwell_stream *stream = DW_LOAD(dwell_this_stream);
	struct dw_slot *slot = (struct dw_slot *)(void *)stream;

	if (dw_session_head() && stream != &dw_slot_none && DW_LOAD(slot->tid) &&
	    slot->generation == DW_LOAD(dw_session.generation))
		return slot;
	return dw_slot_find(cause);
}
