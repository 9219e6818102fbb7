/*
 * The host as a process sees it: its boot, its namespaces, and which processes live.
 *
 * A process id alone does not name a process. The kernel gives the number to another
 * process later, and a process in another pid namespace has another number there. So
 * a process is identified by its id, the pid namespace in which it has this id, and
 * the moment of its birth. dw_process_lives() never guesses: where it cannot see, it
 * answers "unknown", and a caller that could do harm treats this as alive.
 *
 * Everything here uses open(), read() and stat() only, takes no memory from the heap
 * and may run in a signal handler. It may change errno.
 */
#ifndef DW_BASE_HOST_H
#define DW_BASE_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct dw_identity {
	uint32_t pid;
	uint64_t pid_namespace; /* inode of the namespace in which `pid` is the id; 0: not known */
	uint64_t birth;         /* field 22 of /proc/PID/stat; 0: not known */
};

enum dw_alive { DW_DEAD, DW_ALIVE, DW_ALIVE_UNKNOWN };

/* The calling process. Its birth is left unknown in a time namespace that shifts it:
 * others would read another number. */
void dw_identify(struct dw_identity *self);
/* Whether both are known to be the same process. */
bool dw_identity_same(const struct dw_identity *a, const struct dw_identity *b);

/*
 * Whether a process of this boot lives. A zombie is dead: it can write no more.
 *
 * A process of another pid namespace is looked for in /proc, where a process of a
 * nested namespace appears with both its ids. `scans` bounds how often that is done
 * on behalf of one caller (NULL: no bound); beyond it the answer is "unknown".
 */
enum dw_alive dw_process_lives(const struct dw_identity *process, unsigned *scans);

/* The id of this boot of the machine; false and zeros where it is not known. */
bool dw_host_boot_id(uint8_t id[16]);
/* The inode of a namespace of the calling process ("pid", "time"); 0: not known. */
uint64_t dw_host_namespace(const char *name);

/* Closes all file descriptors from `first` on, also where there is no close_range() (Linux
 * before 5.9, sandboxes). For a child of fork that is about to execute another program. */
void dw_host_close_from(int first);

#endif
