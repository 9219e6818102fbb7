/*
 * The stacks of a process that runs, read from outside: native frames and frames of Python, mixed.
 *
 *   snapshot.c  registers and a copy of the stack of one thread
 *   unwind.c    native frames of a snapshot, with inlined functions, lines and names (elfutils)
 *   made.c      finds the files in which the process names code that it made at run time
 *   mapped.c    finds the file of code that a program mapped a second time
 *   python.c    frames of the interpreter, read from its memory
 *   objects.c   objects of Python by type and name, and the names of its threads
 *   lines.c     lines and inlined functions of a file of code (lines.h)
 *   stacks.c    all threads once; joins both kinds of frames
 *   holders.c   what a thread waits for, and who holds it
 *   tasks.c     tasks of asyncio, and what they await
 *   follow.c    the threads again and again (follow.h)
 *
 * These files are libdwell-process.so, which the command loads when it needs it, because elfutils is large.
 *
 * Nothing is loaded into the process, and nothing in it is written. A thread that is blocked in a
 * system call is read without stopping it. Any other thread is stopped by ptrace while its
 * registers and its stack are copied, which takes less than 0.2 ms as a rule.
 */
#pragma once

#include "base/arena.h"
#include "dwell/dwell.h"

struct dw_process_frame {
	const char *function;  /* never NULL; an address in hexadecimal if there is no name */
	const char *module;    /* file name of the program or library; NULL: a frame of Python */
	const char *file;      /* source file; NULL: not known */
	int line;              /* 0: not known */
	uint64_t sp;           /* native: the stack pointer in this function; 0: not known */
	bool inlined;
	bool interpreter;      /* code of the interpreter between frames of Python */
};

/* A place in code. */
struct dw_place {
	const struct dw_process_frame *functions; /* innermost first: those that the compiler inlined there, and the function */
	uint32_t count;    /* at least 1 */
	bool loop;         /* native code of the interpreter's loop, by its name */
	bool library;      /* native code of the C library */
	uint64_t made;     /* address of code that is in no file: the process made it at run time; 0: other code */
	uint32_t id;       /* the caller's own; 0 at first */
};

struct dw_process_thread {
	uint32_t tid;
	char name[64];         /* Python's or the kernel's; dw_top_insides_name() has those that the recorder knows */
	char state;            /* of /proc/PID/task/TID/stat: R runs, S sleeps, D waits for a disk, T stopped */
	const char *waits;     /* "a lock", "a timer", "a descriptor"; NULL: it runs, or it is not known */
	uint32_t holder;       /* tid of the thread that holds the lock, or of the one whose end it waits for; 0: not known */
	const char *lock;      /* what the holder has: "a lock", "the interpreter's lock"; NULL: there is no holder */
	bool joins;            /* `holder` is the thread whose end it waits for */
	uint64_t stopped_ns;   /* for how long the thread was stopped; 0: it was not */
	const char *problem;   /* why the stack is missing or ends early; or NULL */
	struct dw_process_frame *frames; /* innermost first */
	size_t count;
};

struct dw_process {
	uint32_t pid;
	const char *command;   /* its command line */
	unsigned python;       /* minor version of the interpreter in it; 0: none was found */
	const char *problem;   /* why frames of Python are missing; or NULL */
	struct dw_process_thread *threads;
	size_t count, capacity;
	struct dw_process_thread *tasks; /* of asyncio, that wait: without tid; `waits` is what they await */
	size_t task_count, task_capacity;
	struct dw_arena arena;
};

/* Reads the stacks of all threads of a process. The caller resets `process` with
 * dw_process_reset(), also after an error. Errors: DWELL_E_NO_DATA if there is no such process,
 * DWELL_E_IO with a remedy if the kernel does not permit it, DWELL_E_NOMEM. */
DWELL_API int dw_process_read(struct dw_process *process, uint32_t pid, struct dwell_error *error);
DWELL_API void dw_process_reset(struct dw_process *process);
