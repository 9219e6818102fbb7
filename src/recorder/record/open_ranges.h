/* Which ranges of a thread are open. */
#pragma once

#include "record/thread.h"

#define DW_OPEN_DEEPEST 64u /* deeper ranges are counted, and their ids are not stored */
struct dw_open {
	bool busy;           /* in use: a signal handler must not use it */
	bool interrupted;    /* by a signal handler, while it was in use */
	uint32_t generation; /* of the session; 0: the list is unknown */
	uint64_t number;     /* of the chunk that is decoded */
	uint32_t at_words;   /* how much of it */
	uint32_t depth;
	uint32_t scope;      /* depth at the begin of the step that is a block */
	uint32_t ids[DW_OPEN_DEEPEST];
};
/* Decodes what the slot's thread has recorded since the last call. Needs slot->open. */
void dw_open_follow(struct dw_slot *slot);
