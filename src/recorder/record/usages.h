/* What the kernel and the processor count for a thread. */
#pragma once

#include "record/thread.h"

/* Opens the processor's counters for the calling thread. Returns 0, or the errno of the kernel. */
int dw_counters_open(struct dw_counters *counters);
/* Reads them into the usage; leaves counters_known false if they cannot be read. */
void dw_counters_read(struct dw_counters *counters, struct dw_usage *usage);
/* Closes what is open. Preserves errno. */
void dw_counters_close(struct dw_counters *counters);

/* Reads a thread's schedstat: its time on a CPU, and its time ready without one. False: it cannot be read. */
bool dw_usage_read_delay(const char *path, uint64_t *cpu_ns, uint64_t *delay_ns);
/* Reads the calling thread's usage and writes what it used since the last reading (usage.c). */
void dw_usage_read(struct dw_slot *slot);
/* A step begins: times since then were counted as outside any step. Needs slot->places. */
void dw_places_step(struct dw_slot *slot, uint64_t start_ticks);
