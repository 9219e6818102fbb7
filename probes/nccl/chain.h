/*
 * Another profiler plugin of NCCL, which NCCL would have loaded in place of dwell's: NCCL loads one plugin only.
 *
 * `dwell run` names it in DWELL_NCCL_NEXT. It gets each event that it asks for, with its own handles as parents. Versions 5
 * and 6 describe the events of version 4 alike, so a plugin of another version than dwell's gets those of version 4.
 */
#pragma once

#include "interface.h"

/* What NCCL gets as the handle of an event: dwell's, and that of the other plugin. */
struct dwn_handle {
	void *own, *next;
};

/* Begins a communicator of the other plugin, if there is one. `version`: of dwell's plugin that NCCL uses. Adds to *mask
 * what it asks for. Returns its context, or NULL: nothing is passed on. */
struct dwn_next *dwn_next_init(int version, uint64_t id, const char *name, int nodes, int ranks, int rank, void *logger,
                               int *mask);
/* Passes an event on, if the plugin asks for its type. Returns its handle, or NULL. */
void *dwn_next_start(struct dwn_next *next, struct nccl_event *event, uint64_t type);
void dwn_next_stop(void *handle);
void dwn_next_state(void *handle, int state, void *arguments);
void dwn_next_end(struct dwn_next *next);
