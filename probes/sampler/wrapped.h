/* Functions of this library that are in front of another library's, and how those are found. */
#pragma once

#include <stdint.h>

#include "dwell/probe.h"

/* The function that a function of this library with this name is in front of. Takes the loader's lock. */
void *dws_next(const char *name);

/* A function of this library that is in front of another one, and what is known of that. */
struct dws_wrapped {
	const char *name, *version; /* version NULL: the default one */
	void *target;               /* atomic; NULL: not looked for yet */
	uint32_t frame;             /* atomic; its FRAME; 0: not needed yet */
} __attribute__((aligned(32)));
/* All of them stand in one section of the library, so that none can be forgotten. */
#define DWS_WRAPPED __attribute__((section("dws_wrapped"), used))
/* Finds all targets. Before main(); a function that is called earlier finds its own. */
void dws_targets_resolve(void);
void *dws_target_find(struct dws_wrapped *wrapped);
static inline void *dws_target(struct dws_wrapped *wrapped)
{
	void *target = __atomic_load_n(&wrapped->target, __ATOMIC_RELAXED);

	return DWELL_LIKELY(target != NULL) ? target : dws_target_find(wrapped);
}
