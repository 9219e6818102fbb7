/*
 * What the calling process may use of its machine: CPUs and memory. Containers limit both by control groups
 * (of version 1 and 2), and taskset limits CPUs. For commands, not for what is loaded into other programs: these
 * functions open files.
 */
#pragma once

#include <stdint.h>

/* CPUs: at least 1. A part of a CPU counts as one. */
unsigned dw_limits_cpus(void);
/* Bytes of memory: those of the machine, or fewer if a control group has a limit. */
double dw_limits_memory(void);
/* Bytes of memory that a process of this machine has; 0: it does not live, or is not visible. */
uint64_t dw_limits_resident(uint32_t pid);
/* Bytes of memory that processes which have `used` bytes may still get: what the machine has available, or what the
 * control group leaves, if that is less. 0: none, or not known. */
uint64_t dw_limits_left(uint64_t used);

/* Processes that the kernel has killed because memory ran out: in the control group that the file `groups` names, and on the whole
 * machine. 0: none, or not known. */
struct dw_limit_kills {
	uint64_t of_group, of_machine;
};
void dw_limits_count_kills(struct dw_limit_kills *kills, const char *groups, const char *folder);

enum dw_limit { DW_LIMIT_CPUS, DW_LIMIT_MEMORY };
/* The smallest limit of the control group that the file `groups` names (/proc/self/cgroup), and of the groups
 * around it: CPUs, which may be a fraction, or bytes. `folder` is where control groups are mounted
 * (/sys/fs/cgroup). 0: there is no limit, or it cannot be read. */
double dw_limits_of_groups(enum dw_limit limit, const char *groups, const char *folder);
