/* The session: which file this process writes to. It is kept across fork. */
#pragma once

#include <sys/stat.h>

#include "record/record.h"

struct dw_session {
	struct dw_head *head;       /* atomic; NULL: no session */
	struct dw_head *map;        /* atomic; the last session's head, which stays mapped */
	struct dw_control *control; /* atomic */
	uint32_t generation;        /* atomic; counts the sessions of this process and its ancestors */
	uint32_t clock_kind;        /* atomic */
	uint64_t tick_offset;       /* atomic; added to the counter after it was reset; see journal.c */
	int fd;                     /* atomic; -1: none is kept. The program may have closed it: see dw_window_file() */
	dev_t device;               /* atomic */
	ino_t inode;                /* atomic */
	uint32_t opening;           /* atomic; odd while a session takes the place of the last one */
	uint64_t run_id[2];         /* atomic */
	bool runner;             /* this is `dwell run` itself */
	bool started_here;       /* by dwell_start(), not by `dwell run` */
	bool side;               /* a file that this process made because it cannot join the run's */
	bool awaits;             /* that file is made before the first record: the head is in memory */
	pid_t starter;           /* the process that ends the run when it ends, if started_here */
	uint32_t parent_process; /* PROCESS id of the last process to register: a child's parent */
	void (*before_stop)(void); /* NULL: nothing; see serve.c */
	char path[4096];
	char final_path[4096]; /* where a spilled trace is moved at the end; otherwise "" */
};
extern struct dw_session dw_session;

static inline struct dw_head *dw_session_map(void)
{
	/* Pairs with the release store of a new session: the contents of the head are visible. */
	return __atomic_load_n(&dw_session.map, __ATOMIC_ACQUIRE);
}

static inline bool dw_session_is_file(const struct stat *status)
{
	return status->st_dev == DW_LOAD(dw_session.device) && status->st_ino == DW_LOAD(dw_session.inode);
}

/* NULL: nothing is recorded. Pairs with the release store of a new session: a thread that sees the
 * head also sees the other fields of dw_session. */
static inline struct dw_head *dw_session_head(void)
{
	return __atomic_load_n(&dw_session.head, __ATOMIC_ACQUIRE);
}

/* Adopts a file of the run, whose head is mapped. */
int dw_session_adopt_head(struct dw_head *head, int fd, const char *path, struct dwell_error *error);
/* Adopts an open trace file: maps its head and opens the gate. */
int dw_session_adopt(int fd, const char *path, bool started_here, struct dwell_error *error);
/*
 * A session without a file, for side.c: the head is in private memory. The first entry makes the file: dw_side_is_ready(),
 * under the lock, does that and calls dw_session_move(). False: there is no file to record to.
 */
bool dw_session_await(struct dw_head *head);
bool dw_session_move(int fd, const char *path);
/* Prepares a side file. `run` is the head of the run's file, or NULL if it cannot be read. */
bool dw_side_begin(const struct dw_head *run);
bool dw_side_is_ready(void);
/* Ends recording at once, in this process: the file is no longer what was written. For signal handlers. */
void dw_session_abandon(void);
/* Whether the file still has this session's head. If not, recording ends. */
bool dw_session_is_whole(void);
/* Handles faults in the trace's memory from now on, unless it does already (fault.c). */
void dw_fault_watch(void);
/* The time now, in ticks of the run's clock. */
static inline uint64_t dw_now(void)
{
	return dw_clock_read(DW_LOAD(dw_session.clock_kind)) + DW_LOAD(dw_session.tick_offset);
}
/* Whether probes may read the counter inline: it is the run's clock. */
static inline bool dw_session_inline(void)
{
	return DW_LOAD(dw_session.clock_kind) != DW_CLOCK_MONOTONIC && !DW_LOAD(dw_session.tick_offset);
}
