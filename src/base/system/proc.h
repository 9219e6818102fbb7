/*
 * What /proc shows of processes and threads, for code that is not loaded into other programs: it may use the heap and stdio.
 * The recorder reads its own in host.h and limits.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads a file of a process, or, if `tid` is not 0, of a thread of it, as text. Returns the length; -1 and errno if it cannot
 * be read. */
ssize_t dw_proc_read(uint32_t pid, uint32_t tid, const char *name, char *text, size_t size);

/* Reads what a link of a process leads to, as "exe". False, and "", if it cannot be read. */
bool dw_proc_read_link(uint32_t pid, const char *name, char *target, size_t size);

#define DW_PROC_STAT_BYTES 1024 /* that the file has at most */

struct dw_proc_stat {
	char name[16];
	char state; /* 'R', 'S', 'Z' ..., as proc(5) says */
	uint32_t parent;
	uint64_t cpu_ns, ended_ns; /* CPU time of the process, and of child processes that have ended */
	uint64_t threads, birth; /* birth: in ticks of the kernel since the machine started */
	uint64_t resident_pages;
	uint64_t stack; /* where its stack begins, which differs from one execution to the next; 0: it may not be read */
};

/* Reads what the kernel says of a process or thread. False, and zeros: it has ended. */
bool dw_proc_read_stat(uint32_t pid, uint32_t tid, struct dw_proc_stat *stat);
/* The same from the text of the file. False: it is not complete. */
bool dw_proc_parse_stat(const char *text, struct dw_proc_stat *stat);
/* Whether a process of this machine lives. One that has ended, and whose parent did not ask how, does not: a container may keep it
 * for minutes. */
bool dw_proc_lives(uint32_t pid);
/* A time that the kernel counts in its own ticks, in ns. */
uint64_t dw_proc_ns(uint64_t kernel_ticks);

/* How long a thread had a CPU, how long it was ready to run and had none, and how often it was given one. False, and zeros: it
 * has ended, or the kernel does not count. */
struct dw_proc_schedule {
	uint64_t cpu_ns, ready_ns, slices;
};
bool dw_proc_read_schedule(uint32_t pid, uint32_t tid, struct dw_proc_schedule *schedule);

/* The words of a process's command line. The pointers are into `text`; the last is NULL. Returns the length of the text, 0 if it
 * has none or has ended. */
#define DW_PROC_WORDS 64
size_t dw_proc_read_command(uint32_t pid, char *text, size_t size, char *words[DW_PROC_WORDS]);

struct dw_proc_mapping {
	uint64_t low, high, offset, inode;
	char access[5];   /* "r-xp" */
	const char *path; /* of the file, or "" */
};
/* Calls `take` for each mapping of a process until it returns false. Returns 0; an errno if it cannot be read. */
int dw_proc_read_maps(uint32_t pid, bool (*take)(void *context, const struct dw_proc_mapping *mapping), void *context);
