/*
 * The control page of a trace that is being written: captures by `dwell serve`, and by `dwell run` for `dwell capture`.
 *
 * For one thread. A capture ends at its time even if this process is killed.
 */
#pragma once

#include "dwell/dwell.h"
#include "format/layout.h"

struct dw_serve_control {
	struct dw_head *head; /* block 0, mapped */
	struct dw_control *page;
	uint64_t capture; /* this server's capture while it records; otherwise 0 */
	uint64_t alive_until_ms; /* until then dw_serve_is_alive() returns true without a new check */
};

int dw_serve_control_open(struct dw_serve_control *control, const char *trace, struct dwell_error *error);
void dw_serve_control_close(struct dw_serve_control *control);
/* Enables recording for at most that duration, even if this process is killed. False: another
 * controller's capture is running. */
bool dw_serve_arm(struct dw_serve_control *control, uint32_t mask, uint64_t duration_ms);
void dw_serve_disarm(struct dw_serve_control *control);
uint64_t dw_serve_ticks(const struct dw_serve_control *control);
/* Whether the creator or a process that steps is alive, or may be alive where this process cannot
 * see it. An answer "true" may be half a second old. */
bool dw_serve_is_alive(struct dw_serve_control *control);

/* The processes that step, each at a gate. False: none does at this one, or it has ended. *steps: how many it has
 * begun. */
uint32_t dw_serve_gate_count(const struct dw_serve_control *control);
bool dw_serve_gate_steps(const struct dw_serve_control *control, uint32_t gate, uint64_t *steps);
