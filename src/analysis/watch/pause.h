/*
 * Reasons for which a rank that ends no step and records nothing does not hang: it does something that takes long.
 *
 *   - Its process used half a CPU or more, or waited for it, since the last record. This counts between ranges of its
 * thread and in evaluation, and not in communication, nor if waits of its libraries are not recorded, which may use a
 * CPU.
 *   - It is in a checkpoint: a process that writes a file need not use a CPU.
 *   - At the same place it stood still as long before and went on, and it comes as many steps after such a pause as
 * that one after another, or after the begin. A rank that stood still because of a fault is not excused for as long
 * later.
 *
 * The first two count for DW_PAUSE_MOST_NS, and outside evaluation for DW_PAUSE_CPU_NS: an endless loop looks the same.
 * A rank inside communication has no reason of its own.
 */
#pragma once

#include "watch/glance.h"

#define DW_PAUSE_MOST_NS UINT64_C(1800000000000)
#define DW_PAUSE_CPU_NS UINT64_C(300000000000)
#define DW_PAUSE_CPU 0.5      /* of a CPU */
#define DW_PAUSE_AS_LONG 1.25 /* times the time for which it stood still before */
#define DW_PAUSE_OFF 32       /* the steps between two pauses may differ by this part of them */
#define DW_PAUSE_STEPS 5u     /* pauses of which the steps are known */
#define DW_PAUSE_PLACES 3u    /* and places at which a rank has them */

/* A place at which a rank stood still and went on. */
struct dw_pause_before {
	uint32_t place;
	double ns;                      /* for how long at most */
	uint64_t steps[DW_PAUSE_STEPS]; /* in which steps, in a ring; 0: none, or in the first one */
	unsigned count;
};

/* Of a rank. Zeroed at the begin. */
struct dw_pause {
	uint64_t cpu_ns;
	double rate; /* CPUs that it uses while it does steps */
	bool rate_known;
	bool works;                                     /* as its last file says */
	bool named;                                     /* and its work is evaluation or a checkpoint */
	uint32_t place;                                 /* where it stands now; 0: in communication, or not known */
	uint64_t step;                                  /* in which step */
	struct dw_pause_before before[DW_PAUSE_PLACES]; /* in a ring */
	unsigned count;                                 /* of places in all */
};

/* Takes a file that was written at `written_ns`, the one before at `before_ns` (0: it is the first). The rank stood
 * still since `moved_ns`; `ended_ns`: it went on since the file before, after it stood still for that long at most, or
 * 0. */
void dw_pause_take(struct dw_pause *pause, const struct dw_glance *glance, uint64_t before_ns, uint64_t written_ns,
                   uint64_t moved_ns, double ended_ns);
/* Whether the rank works, after it stood still for so long. */
bool dw_pause_is(const struct dw_pause *pause, double still_ns);
