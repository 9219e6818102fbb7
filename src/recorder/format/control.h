/*
 * Operations on the control page: the masks of gates, and captures.
 *
 * Used by the recorder, which moves gates and opens profiles, and by the capture service. A gate's
 * mask is computed from words that other processes may change at the same time. Whoever changes one
 * of them adds one to `generation` and computes the masks until no other change came in between. So
 * the last one to compute has seen all changes. All of it is seq_cst, because it happens at steps
 * and captures and never in a probe.
 *
 * A capture is one word, so that whoever ends it ends this capture and no later one:
 *
 *     63               32 31                0
 *     | categories wanted | when it ends    |   in 2^20 ticks, which wrap; 0 means none
 *
 * It ends at its time even if its controller was killed. The recorder checks this when it takes a
 * chunk and at steps; a controller, when it wants a capture of its own.
 */
#pragma once

#include <stdbool.h>

#include "format/layout.h"

/* Each file that includes this uses only some of the functions. */
#define DW_CONTROL_INLINE __attribute__((unused)) static inline

#define DW_CAPTURE_SHIFT 20
#define DW_CONTROL_NOTHING (1u << 31) /* DWELL_MASK_NONE: a mask of nothing, because 0 means all */
#define DW_CONTROL_LAYERS (1u << 27)  /* DWELL_DETAIL_LAYERS: added to any open gate */
#define DW_CONTROL_REDUCED 2u         /* of a gate's `open` */
#define DW_CONTROL_COSTLY (1u << 2 | 1u << 3) /* operators and layers, which a reduced gate leaves out */

DW_CONTROL_INLINE uint64_t dw_control_capture(uint32_t mask, uint64_t end_ticks)
{
	return (uint64_t)mask << 32 | (uint32_t)((end_ticks >> DW_CAPTURE_SHIFT) + 1);
}

DW_CONTROL_INLINE bool dw_control_capture_over(uint64_t capture, uint64_t ticks)
{
	return (int32_t)((uint32_t)(ticks >> DW_CAPTURE_SHIFT) - (uint32_t)capture) >= 0;
}

DW_CONTROL_INLINE uint32_t dw_control_mask(const struct dw_control *control, const struct dw_gate *gate)
{
	uint32_t capture = (uint32_t)(__atomic_load_n(&control->capture, __ATOMIC_SEQ_CST) >> 32);
	uint32_t wanted = __atomic_load_n(&control->mask, __ATOMIC_SEQ_CST);
	uint32_t open = __atomic_load_n(&gate->open, __ATOMIC_SEQ_CST);
	uint32_t mask = open == DW_CONTROL_REDUCED ? wanted & ~DW_CONTROL_COSTLY : open ? wanted : 0;

	mask |= __atomic_load_n(&gate->profiles, __ATOMIC_SEQ_CST);
	mask = capture ? (mask & ~DW_CONTROL_NOTHING) | capture : mask;
	return mask ? mask | (wanted & DW_CONTROL_LAYERS) : 0;
}

/* Call it after a change of words that the masks of `count` gates depend on. A process that changes
 * the page at the same time computes the gates too, so a few repetitions are enough. The limit
 * keeps a process that changes the page all the time from blocking others. */
DW_CONTROL_INLINE void dw_control_compute(struct dw_control *control, struct dw_gate *gates,
                                      uint32_t count)
{
	uint32_t generation = __atomic_add_fetch(&control->generation, 1, __ATOMIC_SEQ_CST), now;

	for (unsigned tries = 0; tries < 64; tries++) {
		for (uint32_t i = 0; i < count; i++)
			__atomic_store_n(&gates[i].mask, dw_control_mask(control, &gates[i]), __ATOMIC_SEQ_CST);
		now = __atomic_load_n(&control->generation, __ATOMIC_SEQ_CST);
		if (now == generation)
			return;
		generation = now;
	}
}

DW_CONTROL_INLINE void dw_control_compute_all(struct dw_head *head, struct dw_control *control)
{
	uint32_t count = __atomic_load_n(&head->next_gate, __ATOMIC_SEQ_CST);

	dw_control_compute(control, control->gates, count < DW_GATES ? count : DW_GATES);
}

/* False: another capture has not ended. */
DW_CONTROL_INLINE bool dw_control_begin_capture(struct dw_head *head, struct dw_control *control,
                                            uint64_t capture, uint64_t ticks)
{
	uint64_t before = __atomic_load_n(&control->capture, __ATOMIC_SEQ_CST);

	if ((before && !dw_control_capture_over(before, ticks)) ||
	    !__atomic_compare_exchange_n(&control->capture, &before, capture, false, __ATOMIC_SEQ_CST,
	                                 __ATOMIC_SEQ_CST))
		return false;
	dw_control_compute_all(head, control);
	return true;
}

/* Ends this capture, unless it has ended already. */
DW_CONTROL_INLINE void dw_control_end_capture(struct dw_head *head, struct dw_control *control,
                                          uint64_t capture)
{
	if (__atomic_compare_exchange_n(&control->capture, &capture, 0, false, __ATOMIC_SEQ_CST,
	                                __ATOMIC_SEQ_CST))
		dw_control_compute_all(head, control);
}

/* Ends a capture whose time has passed. Any process may call it. */
DW_CONTROL_INLINE void dw_control_look(struct dw_head *head, struct dw_control *control, uint64_t ticks)
{
	uint64_t capture = __atomic_load_n(&control->capture, __ATOMIC_RELAXED);

	if (capture && dw_control_capture_over(capture, ticks))
		dw_control_end_capture(head, control, capture);
}
