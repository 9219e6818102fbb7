/*
 * The recorder's files, and what all of them use: words that threads share, and calls of the kernel. Each of the
 * headers in this folder says what one or two files offer to the others.
 *
 *   file      creates a trace file, joins one, trims it at the end of the run
 *   session   which file this process writes to; start, stop
 *   join      the run that a process belongs to
 *   process   what all files share: the state that is wiped on fork, the lock, lost records
 *   hold      how locks are taken, and how long a thread waits for one
 *   side      the file of a process that cannot write to its run's file
 *   register  a process's first entry
 *   memory    memory that is never released
 *   fault     memory of the trace that was taken away
 *   window    blocks of the file: claimed, reserved, mapped, handed out, recycled
 *   journal   entries: appended by any thread without a lock
 *   intern    names to ids, for the life of the process
 *   named     names that the program makes at run time, of which a process keeps a limited number
 *   open      which ranges of a thread are open
 *   team      which range of a thread other threads work for
 *   layers    which layers are recorded
 *   slot      one for each live thread, with its streams
 *   chunk     a stream's next piece of the file: a new one or its own oldest
 *   busy      whether a stream is in use; records that were left unfinished
 *   stream    the slow half of writing a record
 *   probe     the exported functions of probe.h on top of stream
 *   operators operators with shapes, which threads cache
 *   device    events of devices, which drivers report late
 *   places    sums of times by the lines of the program
 *   step      steps and the gate that follows them
 *   scope     steps that are blocks of the program
 *   summary   steps that are summarised, when the file is nearly full
 *   schedule  the action for a step, by its number
 *   profile   profile objects: ranges for which a program asks for results
 *   serve     starts the capture service of this program
 *   account   processor time of the process and its threads, by the kernel's count
 *   metadata  what is known about a process: its name, rank, command, and what it reports
 *
 * Rules for all of these files. Probes run in signal handlers and in children of fork. So no code
 * here may end the program or print an error, allocate from the heap, wait for another thread
 * without bound, or change errno in a probe. What is not recorded is counted by cause. Memory comes
 * from mmap and is never unmapped, because another thread may be reading it.
 *
 * Tables are one of two kinds: caches of fixed size per thread, in which entries replace each
 * other, or chains that are extended by compare-and-swap and never shortened. base/map.h can be
 * neither: it allocates from the heap and moves its slots when it grows, and a signal handler or a
 * child of fork could find it half moved.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/system/clock.h"
#include "base/system/host.h"
#include "base/system/system.h"
#include "dwell/dwell.h"
#include "dwell/probe.h"
#include "format/layout.h"

/* Words that threads share without ordering other memory: each access is atomic and relaxed. */
#define DW_LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define DW_STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELAXED)

/* In front of the other declarations of a function: errno is at its end, wherever that is, what it is here. */
#define DW_KEEP_ERRNO int kept_errno __attribute__((cleanup(dw_put_errno), unused)) = errno
static inline void dw_put_errno(const int *kept)
{
	errno = *kept;
}

/*
 * Whether the recorder may call the kernel. A program that gives up system calls (seccomp) is ended by one that it did not
 * expect. From then on records are written to the space that is there, and the others are lost. At the end of a process that
 * did not start its session nothing needs the kernel, and it may be in such a sandbox without dwell's knowledge.
 */
extern bool dw_sandboxed; /* atomic; see dwell_sandbox() */
extern __thread bool dw_quiet __attribute__((tls_model("initial-exec"))); /* the calling thread makes no calls now */
/* System calls without libc's caches. */
static inline pid_t dw_gettid(void)
{
	return (pid_t)dw_call(SYS_gettid);
}
static inline pid_t dw_getpid(void)
{
	return (pid_t)dw_call(SYS_getpid);
}
static inline bool dw_may_call(void)
{
	return !DW_LOAD(dw_sandboxed) && !DW_LOAD(dw_quiet);
}
