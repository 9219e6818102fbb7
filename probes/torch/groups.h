/*
 * Groups of ranks, their collectives, and what a Work waits for: shared by collectives.c in Python and by
 * native/collectives.c in C++.
 *
 * All ranks call the collectives of a group in the same order, so that counting them gives the same number in
 * each rank; they are counted whether or not they are recorded.
 */
#pragma once

#include <dwell/probe.h>
#include <stdbool.h>

struct torch_collective {
	uint32_t group; /* an id of dwell_intern_group(); 0: not known */
	uint64_t sequence, bytes;
	unsigned size; /* of the group, as given to dwp_group_put() */
};

/* The group that is the object at this address; NULL: none is. */
struct torch_group *dwp_group_find(const void *object);
/* From now on the object is the group of this name with `size` ranks (0: not known), which all ranks agree on. Groups
 * of one name are one group: an object may be freed and made again. NULL: there are too many groups. */
struct torch_group *dwp_group_put(const void *object, const char *name, unsigned size);
/* The next collective of the group, which may be NULL, without its bytes. `counted`: false for communication of two ranks,
 * which has no number. */
struct torch_collective dwp_group_count(struct torch_group *group, bool counted);
/* What the Work at this address waits for. A later Work may have the address; it replaces the first. */
void dwp_group_put_work(const void *work, struct torch_collective collective);
/* Returns what it waits for, and forgets it: the first wait is the one that lasts. */
struct torch_collective dwp_group_take_work(const void *work);
