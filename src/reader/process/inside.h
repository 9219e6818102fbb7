/* What the files of this module share. */
#pragma once

#include <elfutils/libdwfl.h>

#include "base/code/code_names.h"
#include "base/map.h"
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
	bool in_call;          /* it was stopped at the end of a system call */
	uint64_t stopped_ns;
	uint8_t stack[256 << 10];
};

/* Reads a thread that is blocked, without stopping it. Only pc and sp are known. False: it runs, or
 * the kernel does not say. */
bool dw_snapshot_blocked(struct dw_snapshot *snapshot);
/* Whether the thread is still where dw_snapshot_blocked() found it. */
bool dw_snapshot_holds(const struct dw_snapshot *snapshot);
/* Stops the thread, copies its registers and up to `most` bytes of its stack, calls `inside`, which may be NULL, and
 * lets it run. Returns 0 or an errno. ETIMEDOUT: it has no CPU, or the kernel does not interrupt it (the parent of a vfork());
 * it stops late, and dw_snapshot_let_go() must be called until it has. */
int dw_snapshot_stop(struct dw_snapshot *snapshot, size_t most, uint64_t patience_ns, void (*inside)(void *context),
                     void *context);
bool dw_snapshot_is_late(uint32_t tid);
/* Lets threads run that have stopped late. True: there are no more. */
bool dw_snapshot_let_go(void);
/* Sleeps, and lets threads run as soon as they have stopped late. True: a signal ended it. */
bool dw_snapshot_sleep(uint64_t ns);
/* Runs the caller before other programs until dw_snapshot_stop() returns, or not any more. If the kernel permits it. */
void dw_snapshot_hurry(bool hurry);
/* Reads memory of a process; false if not all of it can be read. */
bool dw_process_memory(uint32_t pid, uint64_t address, void *to, size_t size);
/* The same, with the copied stack first. */
bool dw_snapshot_memory(const struct dw_snapshot *snapshot, uint64_t address, void *to, size_t size);

/* Why the kernel refused, with a remedy; of an errno. */
const char *dw_process_explain(int code);

/* ---- made.c -------------------------------------------------------------------------------------- */

/* Names of code that the process made at run time. */
struct dw_made {
	struct dw_code_process process; /* texts: in the arena of dw_process */
	struct dw_code_names names;
	bool was_read;
	char lacks[DW_CODE_NAMES_LACK_BYTES];
};

struct dw_unwind;
/* Finds where the process announces names, while it lives; again after it mapped more files. */
void dw_made_find(struct dw_unwind *unwind);
/* The name of the code at an address. NULL: it has none. The first call reads the files. */
const char *dw_made_name(struct dw_made *made, uint64_t pc, char text[DW_CODE_NAME_BYTES]);

/* ---- mapped.c ------------------------------------------------------------------------------------ */

/* Code of files as it is mapped, by address. */
struct dw_mapped {
	struct dw_mapped_part {
		uint64_t low, high, offset;
		char *path;
	} * parts;
	size_t count, capacity;
};

void dw_mapped_read(struct dw_mapped *mapped, uint32_t pid);
void dw_mapped_reset(struct dw_mapped *mapped);
/* The module whose file is mapped at *pc; sets *pc to where the loader mapped the same code. NULL: there is none. */
Dwfl_Module *dw_mapped_find(const struct dw_mapped *mapped, Dwfl *dwfl, uint64_t *pc);

/* ---- unwind.c ------------------------------------------------------------------------------------ */

#define DW_UNWIND_MOST_FRAMES 512u

/* A native frame: a place in code, and the stack pointer there. */
struct dw_native {
	uint64_t pc;  /* of a caller: its return address - 1 */
	uint64_t sp;  /* 0: not known */
};

struct dw_unwind {
	Dwfl *dwfl;
	uint32_t pid;
	struct dw_process *process;  /* its arena holds all texts */
	const struct dw_snapshot *snapshot;
	struct dw_native *frames;    /* of the walk */
	size_t count;
	bool no_memory;
	bool unknown;                /* a place in no module was looked up: a library may be new */
	bool names_later;            /* places in made code have no name until the caller asks for it */
	struct dw_made made;
	struct dw_mapped mapped;
	struct unwind_named {
		uint64_t pc;
		struct dw_place *place;
	} *names;                    /* places that were looked up; a search is slow */
	size_t name_count, name_capacity;
	struct dw_map by_pc;
};

int dw_unwind_open(struct dw_unwind *unwind, struct dw_process *process, struct dwell_error *error);
void dw_unwind_close(struct dw_unwind *unwind);
/* After libraries were loaded or unloaded: reads the list of modules again, and forgets the places. */
void dw_unwind_renew(struct dw_unwind *unwind);
/* A copy of a text, in memory of the process that is looked at. NULL: there is no text, or no memory (unwind->no_memory). */
const char *dw_unwind_keep(struct dw_unwind *unwind, const char *text);
/* A name as in the source, without the compiler's suffix. NULL: out of memory. */
char *dw_unwind_plain(const char *symbol);
#define DW_UNWIND_INLINED 32u /* most functions at one address */
/* The function at an address by the symbol tables of the file and of its debug file, or NULL. */
const char *dw_unwind_function(struct dw_unwind *unwind, Dwfl_Module *module, uint64_t pc);
/* The functions that the compiler inlined at this address, innermost first, into `inlined`; at last
 * the function itself, of which only the line is set. Returns their number; 0: no debug information. */
size_t dw_unwind_inlined(struct dw_unwind *unwind, Dwfl_Module *module, uint64_t pc,
                         struct dw_process_frame inlined[DW_UNWIND_INLINED]);
/* The functions into which the compiler inlined one of this name, as "step, main": at most three. Returns how many there are. */
size_t dw_unwind_inlined_into(struct dw_unwind *unwind, Dwfl_Module *module, const char *name, char *text, size_t size);
/* The native frames of the snapshot, innermost first. False: the outer end was not reached. */
bool dw_unwind_walk(struct dw_unwind *unwind, const struct dw_snapshot *snapshot,
                    struct dw_native frames[DW_UNWIND_MOST_FRAMES], size_t *count);
/* Whether the libraries of these frames are still the ones that are mapped there. */
bool dw_unwind_is_current(struct dw_unwind *unwind, const struct dw_native *frames, size_t count);
/* The functions at an address. NULL: out of memory. */
const struct dw_place *dw_unwind_place(struct dw_unwind *unwind, uint64_t pc);
/* The address of a data symbol in a module whose file name contains `in`; 0: there is none.
 * *module gets the name of the file. */
uint64_t dw_unwind_symbol(struct dw_unwind *unwind, const char *in, const char *symbol, const char **module);

/* ---- python.c ------------------------------------------------------------------------------------ */

#define DW_PYTHON_MOST_FRAMES 1024u

/* A frame of the interpreter as it is in memory. */
struct dw_python_frame {
	uint64_t at;           /* its address */
	uint64_t code;         /* the code object */
	int64_t instruction;   /* its address; before 3.11 the number of a byte or of a unit of two */
	bool last;             /* the outermost one that one call of the interpreter's loop executes */
	uint64_t loop;         /* of the last one: an address in the native frame of that call; 0 before 3.12 */
};

struct dw_python_thread {
	uint32_t tid;
	uint64_t state;        /* address */
};

#define DW_PYTHON_PAGES 64u

struct dw_python {
	uint32_t pid;
	uint64_t runtime;      /* address of _PyRuntime; 0: no interpreter */
	const char *module;    /* file that contains the interpreter */
	bool known;            /* the layout is */
	struct dw_python_layout layout;
	uint64_t asyncio;      /* the global names of the module asyncio.tasks; 0: no frame led to it */
	uint64_t gil;          /* where the interpreter's lock names its holder; 0: no thread was seen to wait for it */
	uint64_t code_type, text_type; /* addresses of PyCode_Type and PyUnicode_Type; 0: not known */
	struct dw_python_thread *threads;
	size_t count, capacity;
	struct python_code *codes; /* code objects that were read */
	size_t code_count, code_capacity;
	struct dw_map by_code;
	struct python_named *names; /* places in them */
	size_t name_count, name_capacity;
	struct dw_map by_line;
	/* Pages of the process that were read for one walk. */
	unsigned page_count;
	uint64_t page_at[DW_PYTHON_PAGES];
	uint8_t pages[DW_PYTHON_PAGES][4096];
};

/* Finds the interpreter in the process. Sets process->problem if its version is not known. */
void dw_python_find(struct dw_python *python, struct dw_unwind *unwind);
/* Lists the threads of all its interpreters. False: out of memory. */
bool dw_python_list(struct dw_python *python);
/* The frames of the thread, innermost first. Memory that changes meanwhile, or cannot be read, ends the list early.
 * Only reads: may be called while the thread is stopped. */
size_t dw_python_walk(struct dw_python *python, uint32_t tid, struct dw_python_frame frames[DW_PYTHON_MOST_FRAMES]);
/* Reads the code and the instruction of the frame at an address. */
void dw_python_read_frame(struct dw_python *python, struct dw_python_frame *frame);
/* The function and the line of a frame; without functions if it is none. NULL: out of memory. */
const struct dw_place *dw_python_place(struct dw_python *python, struct dw_arena *arena,
                                       const struct dw_python_frame *frame);
void dw_python_reset(struct dw_python *python);

/* ---- stacks.c ------------------------------------------------------------------------------------ */

/* A frame of either kind. */
struct dw_mixed {
	const struct dw_place *place;
	uint64_t sp;       /* of a native one; 0: not known */
	bool interpreter;  /* code of the interpreter between frames of Python */
};
#define DW_MIXED_MOST (DW_UNWIND_MOST_FRAMES + DW_PYTHON_MOST_FRAMES)

/* What is read of one thread. */
struct dw_thread_read {
	struct dw_snapshot snapshot;
	struct dw_native native[DW_UNWIND_MOST_FRAMES];
	size_t native_count;
	struct dw_python_frame python[DW_PYTHON_MOST_FRAMES];
	size_t python_count;
	struct dw_mixed mixed[DW_MIXED_MOST];
	size_t count;
};

/* Replaces each call of the interpreter's loop with the frames that it executes. False: out of memory. */
bool dw_stacks_mix(struct dw_thread_read *read, struct dw_unwind *unwind, struct dw_python *python);

/* ---- holders.c ----------------------------------------------------------------------------------- */

/* "a timer", of the number of a system call; NULL: it is not one that waits. */
const char *dw_holder_wait(long call);
/* The kernel's number of the thread of which pthread_self() is this; 0: it is not known. */
uint32_t dw_holder_tid(uint32_t pid, uint64_t pthread);
/* The thread that holds the lock for which the thread waits by its innermost frames; or, with *joins, the one whose end it
 * waits for. 0: not known. Of glibc's locks alone. */
uint32_t dw_holder_native(uint32_t pid, const struct dw_thread_read *read, bool *joins);
/* Sets what the thread waits for, and who has it: locks of Python, too. */
void dw_holder_find(uint32_t pid, struct dw_python *python, const struct dw_thread_read *read, struct dw_process_thread *thread);
/* When all threads have been read: withdraws holders of the interpreter's lock that do not have it any more. */
void dw_holder_check(const struct dw_python *python, struct dw_process *process);

/* ---- objects.c ----------------------------------------------------------------------------------- */

bool dw_object_read(const struct dw_python *python, uint64_t address, void *to, size_t size);
/* The word at an address; 0: it cannot be read. */
uint64_t dw_object_word(const struct dw_python *python, uint64_t address);
/* Whether an object is of the type with this name. */
bool dw_object_is(const struct dw_python *python, uint64_t object, const char *name);
/* The text of a str, if it is ASCII; "": it is none. */
void dw_object_text(const struct dw_python *python, uint64_t object, char text[64]);
/* The value of a key of a dictionary; 0: there is none. */
uint64_t dw_object_lookup(const struct dw_python *python, uint64_t dictionary, const char *key);
/* The value of an attribute of an instance, up to Python 3.13; 0: there is none. */
uint64_t dw_object_attribute(const struct dw_python *python, uint64_t object, const char *name);
/* The name of a thread that the module threading began, by its outermost frame. False: it has none. */
bool dw_python_thread_name(struct dw_python *python, struct dw_arena *arena, const struct dw_python_frame *outermost, char name[64]);

/* ---- tasks.c ------------------------------------------------------------------------------------- */

/* For each frame of Python that is found: those of asyncio lead to the tasks. */
void dw_tasks_seen(struct dw_python *python, const struct dw_python_frame *frame, const char *file);
/* Adds the tasks that wait to the process. False: out of memory. */
bool dw_tasks_read(struct dw_process *process, struct dw_python *python);
