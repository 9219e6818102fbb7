/*
 * Arrows: from the place where a handle was sent to the place where it was received, and from the
 * forward to the backward call with the same sequence number.
 *
 * The two ends may be in any two streams. Therefore all ends are collected, sorted by what both
 * ends have in common and by time, and paired after all streams were read.
 */
#pragma once

#include "model/model.h"

/* One end of an arrow, at the begin of its call. */
struct dw_arrow_end {
	uint64_t ns;
	uint64_t id;     /* of the arrow; `links` have ids of their own */
	uint32_t track;
	uint32_t symbol;
	bool link;       /* from a forward to a backward call */
	bool arrives;    /* the second end */
};

struct dw_arrow_item;

/* Initialized by zeroing. */
struct dw_arrows {
	struct dw_arrow_item *items;
	size_t count, capacity;
	uint32_t *names; /* by symbol: the first symbol of the same name */
};

/* Adds an end for a FLOW_OUT, a FLOW_IN, or a range with a sequence number. `process` is the
 * event's process. Returns false if out of memory. */
bool dw_arrows_add_flow(struct dw_arrows *arrows, const struct dw_event *event, uint32_t track,
                        uint32_t process, const struct dw_symbol *symbols, size_t symbol_count);
bool dw_arrows_add_link(struct dw_arrows *arrows, const struct dw_event *event, uint32_t track, size_t thread_count);
/* Calls `put` for each end until it returns false; the first end of an arrow comes directly before
 * the second. A handle may be used again: each send starts a new arrow. Each reception has an arrow
 * of its own. If a handle was sent and never received, the arrow has a first end only. If it was
 * received and never sent, it is omitted, because viewers report it as damage. `*last_id` is the
 * last id in use, and is increased. */
void dw_arrows_pair(struct dw_arrows *arrows, uint64_t *last_id,
                    bool (*put)(void *to, const struct dw_arrow_end *end), void *to);
void dw_arrows_reset(struct dw_arrows *arrows);
