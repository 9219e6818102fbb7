/*
 * Groups of ranks, their collectives, and what a Work waits for: shared by collectives.c in Python and by
 * native/collectives.c in C++.
 *
 * All ranks call the collectives of a group in the same order, so that counting them gives the same number in
 * each rank; they are counted whether or not they are recorded. So are the messages from one rank to another.
 */
#pragma once

#include <dwell/probe.h>
#include <stdbool.h>

/* What a call of a group is. */
enum torch_call { TORCH_COLLECTIVE, TORCH_SENT, TORCH_RECEIVED, TORCH_RECEIVED_OF_ANY };

struct torch_collective {
	uint32_t group; /* an id of dwell_intern_group(); 0: not known */
	uint64_t sequence, bytes;
	unsigned size; /* of the group, as given to dwp_group_put() */
};

/* The group that is the object at this address; NULL: none is. */
struct torch_group *dwp_group_find(const void *object);
/* From now on the object is the group of this name with `size` ranks (0: not known), which all ranks agree on; in it this process
 * is rank `rank` (-1: not known). Groups of one name are one group: an object may be freed and made again. NULL: there are too
 * many groups. */
struct torch_group *dwp_group_put(const void *object, const char *name, unsigned size, int rank);
/* The next collective of the group, which may be NULL, without its bytes. */
struct torch_collective dwp_group_count(struct torch_group *group);
/* The next message to or from the rank `peer` of the group; -1: from any rank. Its group is that of all messages of these two
 * ranks in this direction, "0 -> 1 of NAME", in which both ranks count. A message from any rank has no number, nor have messages
 * that are received after it: which pair it belonged to is not known. */
struct torch_collective dwp_group_count_message(struct torch_group *group, enum torch_call direction, int peer);
/* What the Work at this address waits for. A later Work may have the address; it replaces the first. */
void dwp_group_put_work(const void *work, struct torch_collective collective);
/* Returns what it waits for, and forgets it: the first wait is the one that lasts. */
struct torch_collective dwp_group_take_work(const void *work);
