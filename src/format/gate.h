/*
 * A gate's mask: what its process records now.
 *
 * The same for the recorder and for a controller of another process, both of which
 * compute gates: what the control page wants while the gate is open, what the gate's
 * profiles want, and with either of them the choice of layers. All of it seq_cst: see
 * compute_masks() of record/step.c.
 */
#ifndef DW_FORMAT_GATE_H
#define DW_FORMAT_GATE_H

#include "dwell/probe.h"
#include "format/layout.h"

static inline void dw_gate_compute(struct dw_control *control, struct dw_gate *gate)
{
	uint32_t wanted = __atomic_load_n(&control->mask, __ATOMIC_SEQ_CST);
	uint32_t mask = __atomic_load_n(&gate->profiles, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&gate->open, __ATOMIC_SEQ_CST))
		mask |= wanted;
	if (mask)
		mask |= wanted & DWELL_DETAIL_LAYERS;
	__atomic_store_n(&gate->mask, mask, __ATOMIC_SEQ_CST);
}

#endif
