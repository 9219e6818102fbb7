/*
 * Arrows: from where a handle was sent to where it was received, and from the forward to the
 * backward call of one sequence number.
 *
 * The two ends may be in any two streams. So ends are collected, sorted by what they share
 * and by time, and paired when all streams are read.
 */
#ifndef DW_EXPORT_ARROWS_H
#define DW_EXPORT_ARROWS_H

#include "model/model.h"

/* One end of an arrow, at the begin of the call that it belongs to. */
struct dw_arrow_end {
	uint64_t ns;
	uint64_t id;     /* of the arrow; `links` have ids of their own */
	uint32_t track;
	uint32_t symbol;
	bool link;       /* from a forward to a backward call */
	bool arrives;    /* the second end */
};

struct dw_arrow_item;

/* Zeroed there are none. */
struct dw_arrows {
	struct dw_arrow_item *items;
	size_t count, capacity;
	uint32_t *names; /* by symbol: the first symbol of the same name */
};

/* The end that a FLOW_OUT or FLOW_IN is, or that a range with a sequence number is. `process`
 * is the one of the event. False when out of memory. */
bool dw_arrows_add_flow(struct dw_arrows *arrows, const struct dw_event *event, uint32_t track,
                        uint32_t process, const struct dw_symbol *symbols, size_t symbol_count);
bool dw_arrows_add_link(struct dw_arrows *arrows, const struct dw_event *event, uint32_t track,
                        size_t thread_count);
/* Calls `put` for each end, the first of an arrow right before the second, until it returns
 * false. A handle that is used again begins anew each time it is sent. Each reception has an
 * arrow of its own. What was sent and never received has a first end only; what was received
 * and never sent is left out, because viewers take it for damage. `*last_id` is the last id
 * in use, and is increased. */
void dw_arrows_pair(struct dw_arrows *arrows, uint64_t *last_id,
                    bool (*put)(void *to, const struct dw_arrow_end *end), void *to);
void dw_arrows_reset(struct dw_arrows *arrows);

#endif
