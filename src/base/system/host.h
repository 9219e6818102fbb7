/*
 * The host as a process sees it: its boot, its namespaces, and which processes are alive.
 *
 * A process id alone does not identify a process. The kernel may use the number again later, and in
 * another pid namespace the process has another number. So a process is identified by its id, the
 * pid namespace of this id, and the time of its birth. dw_process_lives() never guesses: if it
 * cannot find out, it returns "unknown", and a caller that could do harm treats this as alive.
 *
 * All functions use only system calls and no memory from the heap, and may run in a signal handler.
 * They may change errno.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_identity {
	uint32_t pid;
	uint64_t pid_namespace; /* inode of the namespace in which `pid` is the id; 0 means not known */
	uint64_t birth;         /* field 22 of /proc/PID/stat; 0 means not known */
};

enum dw_alive { DW_DEAD, DW_ALIVE, DW_ALIVE_UNKNOWN };

/* The calling process. In a time namespace that shifts births its birth is left unknown, because
 * other processes would read another number. */
void dw_identify(struct dw_identity *self);

/*
 * Whether a process of this boot is alive. A zombie is dead, because it can write no more.
 *
 * A process of another pid namespace is searched for in /proc, where a process of a nested
 * namespace is shown with both ids. `scans` limits how often this is done for one caller (NULL: no
 * limit); after that the answer is "unknown".
 */
enum dw_alive dw_process_lives(const struct dw_identity *process, unsigned *scans);

/* The id of this boot of the machine; false and zeros if it is not known. */
bool dw_host_boot_id(uint8_t id[16]);
/* The inode of a namespace of the calling process ("pid", "time"); 0 means not known. */
uint64_t dw_host_namespace(const char *name);

/* What the calling process has of its address space, in bytes, and the limit (RLIMIT_AS). Zeros: it has no limit. */
void dw_host_address_space(uint64_t *used, uint64_t *limit);

/* Closes all file descriptors from `first` on, also without close_range() (Linux before 5.9,
 * sandboxes). For a child of fork that is about to execute another program. */
void dw_host_close_from(int first);
