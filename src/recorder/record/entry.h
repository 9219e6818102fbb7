/* Entries of the journal. */
#pragma once

#include "record/record.h"

/*
 * Reserves space for an entry of `bytes` (rounded up to 8). It is zero except for its field
 * `bytes`. NULL, counted as lost, if there is no space. dw_journal_commit() makes it part of the
 * file. Only fields that are documented as changed in place may change later.
 */
void *dw_journal_reserve(size_t bytes);
/* The same, but the caller counts the loss; `cause` receives why there is no space. */
void *dw_journal_try(size_t bytes, enum dw_loss *cause);
/* The same for entries of times, STEP and PROFILE, which have chunks of their own. `bytes`: some DW_TIMES_BYTES. */
void *dw_journal_try_times(size_t bytes, enum dw_loss *cause);
void dw_journal_look_times(void); /* a profile has ended: chunks of such entries may be complete now */
/* The loss cause of a name or step whose entry failed because of `cause`. */
enum dw_loss dw_journal_loss(enum dw_loss cause);
static inline void dw_journal_commit(void *entry, enum dw_entry_type type)
{
	/* Pairs with a reader's acquire of the tag: the entry is complete. */
	__atomic_store_n(&((struct dw_entry *)entry)->tag, DW_ENTRY_TAG(type), __ATOMIC_RELEASE);
}
void dw_journal_clock(void);
/* Corrects the clock after the counter was reset, which some machines do when they wake up. `last`
 * is the time of a record, which is later than the counter's time now. */
void dw_journal_rebase(uint64_t last);
/* Opens the first chunk of a process; `self` identifies the process. Call it under the lock. */
bool dw_journal_open(const struct dw_entry_process *self);
