/* The recorded blocks that are live, by address; see blocks.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many live blocks have addresses with this hash. */
#define DWM_FILTER_BITS 15
extern uint8_t dwm_blocks_filter[1u << DWM_FILTER_BITS]; /* atomic */

static inline uint64_t dwm_blocks_hash(uintptr_t address)
{
	return (uint64_t)(address >> 4) * 0x9e3779b97f4a7c15u;
}

/* False: there is no such block. */
static inline bool dwm_blocks_may_have(const void *address)
{
	return __atomic_load_n(&dwm_blocks_filter[dwm_blocks_hash((uintptr_t)address) >> (64 - DWM_FILTER_BITS)], __ATOMIC_RELAXED) != 0;
}

/* False: there is no space for it. */
bool dwm_blocks_add(const void *address);
/* Whether there was such a block. */
bool dwm_blocks_remove(const void *address);
/* In a child of fork: there are none. */
void dwm_blocks_forget(void);
