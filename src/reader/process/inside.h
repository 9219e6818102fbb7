/* What the files of this module share. */
#ifndef DW_PROCESS_INSIDE_H
#define DW_PROCESS_INSIDE_H

#include <elfutils/libdwfl.h>

#include "format/python_frames.h"
#include "process/process.h"

/* ---- snapshot.c ---------------------------------------------------------------------------------- */

#define DW_PROCESS_REGISTERS 33
#ifdef __x86_64__
#define DW_PROCESS_SP 7 /* number of the stack pointer */
#else
#define DW_PROCESS_SP 31
#endif

/* Registers by their DWARF numbers, and a copy of the newest part of the stack. */
struct dw_snapshot {
	uint32_t pid, tid;
	uint64_t registers[DW_PROCESS_REGISTERS];
	uint64_t known;        /* a bit for each register */
	uint64_t pc, sp;
	uint64_t low;          /* address of stack[0] */
	size_t size;
	long call;             /* number of the system call in which it is blocked; -1: none */
	uint64_t argument;     /* the first of the call */
	bool blocked;
	uint64_t stopped_ns;
	uint8_t stack[256 << 10];
};

/* Reads a thread that is blocked, without stopping it. Only pc and sp are known. False: it runs, or
 * the kernel does not say. */
bool dw_snapshot_blocked(struct dw_snapshot *snapshot);
/* Whether the thread is still where dw_snapshot_blocked() found it. */
bool dw_snapshot_holds(const struct dw_snapshot *snapshot);
/* Stops the thread, reads it, and lets it run. Returns 0 or an errno. */
int dw_snapshot_stop(struct dw_snapshot *snapshot);
/* Reads memory of a process; false if not all of it can be read. */
bool dw_process_memory(uint32_t pid, uint64_t address, void *to, size_t size);
/* The same, with the copied stack first. */
bool dw_snapshot_memory(const struct dw_snapshot *snapshot, uint64_t address, void *to, size_t size);

/* Why the kernel refused, with a remedy; of an errno. */
const char *dw_process_explain(int code);

/* ---- unwind.c ------------------------------------------------------------------------------------ */

struct dw_unwind {
	Dwfl *dwfl;
	uint32_t pid;
	struct dw_process *process;  /* its arena holds all texts */
	struct dw_snapshot *snapshot;
	struct dw_process_thread *thread;
	bool no_memory;
	struct dw_unwind_name {
		uint64_t pc;
		const char *function, *module;
	} *names;                    /* of addresses that were looked up; a search is slow */
	size_t name_count, name_capacity;
};

int dw_unwind_open(struct dw_unwind *unwind, struct dw_process *process, struct dwell_error *error);
void dw_unwind_close(struct dw_unwind *unwind);
#define DW_UNWIND_INLINED 32u /* most functions at one address */
/* The functions that the compiler inlined at this address, innermost first, into `inlined`; at last
 * the function itself, of which only the line is set. Returns their number; 0: no debug information. */
size_t dw_unwind_inlined(struct dw_unwind *unwind, Dwfl_Module *module, uint64_t pc,
                         struct dw_process_frame inlined[DW_UNWIND_INLINED]);
/* Appends the native frames of the snapshot to the thread. False: the outer end was not reached. */
bool dw_unwind_thread(struct dw_unwind *unwind, struct dw_process_thread *thread, struct dw_snapshot *snapshot);
/* The address of a data symbol in a module whose file name contains `in`; 0: there is none.
 * *module gets the name of the file. */
uint64_t dw_unwind_symbol(struct dw_unwind *unwind, const char *in, const char *symbol, const char **module);

/* ---- python.c ------------------------------------------------------------------------------------ */

struct dw_python_frame {
	struct dw_process_frame frame;
	bool last;             /* the outermost one that one call of the interpreter's loop executes */
	uint64_t loop;         /* of the last one: an address in the native frame of that call; 0 before 3.12 */
};

struct dw_python_thread {
	uint32_t tid;
	struct dw_python_frame *frames; /* innermost first */
	size_t count, capacity;
};

struct dw_python {
	uint64_t runtime;      /* address of _PyRuntime; 0: no interpreter */
	const char *module;    /* file that contains the interpreter */
	bool known;            /* the layout is */
	struct dw_python_layout layout;
	struct dw_python_thread *threads;
	size_t count, capacity;
};

/* Finds the interpreter in the process. Sets process->problem if its version is not known. */
bool dw_python_find(struct dw_python *python, struct dw_unwind *unwind);
/* Reads the frames of all its threads. False: out of memory. Memory that changes meanwhile, or
 * cannot be read, ends a list early. */
bool dw_python_read(struct dw_python *python, struct dw_process *process);
const struct dw_python_thread *dw_python_thread_of(const struct dw_python *python, uint32_t tid);
void dw_python_reset(struct dw_python *python);

#endif
