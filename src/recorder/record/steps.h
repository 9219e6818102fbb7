/* Steps, and the gate that follows them. */
#pragma once

#include "record/session_state.h"
#include "record/thread.h"

void dw_step_join(void);                  /* takes a gate in a new session */
void dw_step_leave(void);                 /* releases it at process exit */
void dw_step_close(struct dw_slot *slot); /* ends the open step; slot may be NULL */
void dw_step_next(struct dw_slot *slot);  /* and begins another */
/* Ends the open step and sets the gate for the next one. Returns the end; 0 means none was open. */
uint64_t dw_step_end(struct dw_slot *slot);
/* Ends the open step and begins one at `ticks`, not before that end; 0 means now. Returns its
 * begin. */
uint64_t dw_step_begin(struct dw_slot *slot, uint64_t ticks);
void dw_step_cancel(struct dw_slot *slot);                     /* cancels the open step */
void dw_step_past(struct dw_slot *slot, uint64_t start_ticks); /* records a step that ends now */
/* Whether the file has no more space for an entry per step. All processes of the run advance
 * next_block, so the limit applies to all of them together. */
static inline bool dw_step_summary_needed(const struct dw_head *head)
{
	return DW_LOAD(head->next_block) >= head->max_blocks - head->reserve_blocks / 2;
}
/* How many blocks summaries of steps may still use. */
static inline uint32_t dw_step_summary_blocks(const struct dw_head *head)
{
	uint32_t names = head->reserve_blocks / 4 ? head->reserve_blocks / 4 : 1;
	uint32_t end = head->max_blocks - names, next = DW_LOAD(head->next_block);

	return next < end ? end - next : 0;
}
/* The entry for the next step of a thread that summarises. It is cancelled; the step that had it is now in the
 * summary. NULL: the file has no space for a ring. */
struct dw_entry_step *dw_step_ring_take(struct dw_slot *slot);
/* Adds the step of an entry of the ring to the summary, if it ended, and cancels the entry. */
void dw_step_ring_free(struct dw_slot *slot, struct dw_entry_step *entry);
/* Adds a step that ended to the summary; false with the cause if there is no entry for it. */
bool dw_step_summary_add(struct dw_slot *slot, const struct dw_entry_step *step, uint64_t end_ticks,
                         uint64_t cpu_ns, enum dw_loss *cause);
/* Ends a capture whose time has passed: its controller may have been killed. In process.c. */
void dw_step_look(void);
/* Whether one of the next `steps` steps is chosen to be recorded, with something of `mask`. */
bool dw_step_wanted_soon(uint32_t mask, unsigned steps);
/* Whether the user chose the steps, or a profile or a capture wants something of `mask`. */
bool dw_step_asked(uint32_t mask);
bool dw_step_gated(void); /* whether the gate follows steps */
/* Adds (`more`) or removes a profile that wants what `mask` contains. */
void dw_step_want(uint32_t mask, bool more);
