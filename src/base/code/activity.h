/*
 * What code does, by its name: functions, libraries, and the operators of frameworks. The lists are in activity.def; facts,
 * rules, views and samples have no other ones.
 *
 * A name says something only if somebody else than the program gave it. A function of the program's own does what its
 * samples show: free_from_median() frees nothing. Its activity is "own", except for names that C and C++ reserve, which a
 * program that was linked statically contains too.
 *
 * Pure functions of their arguments: thread-safe, without allocation. A look-up takes up to 1 us; the reader makes it once
 * for each frame (struct dw_source_frame).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a function does: X(NAME, words). */
#define DW_ACTIVITIES(X)                                                                                     \
	X(UNKNOWN, "unknown")                     /* code of others that no row knows, or without a name */       \
	X(OWN, "own")                             /* code of the program */                                       \
	X(ALLOCATES, "allocates") X(FREES, "frees")                                                               \
	X(RETURNS, "returns memory")              /* to the system */                                             \
	X(FAULT, "page fault")                                                                                    \
	X(COPIES, "copies") X(CLEARS, "clears")                                                                   \
	X(FILE, "file")                           /* opens, closes, or uses a stream */                           \
	X(DESCRIPTOR, "reads or writes")          /* a file, a socket or a pipe, nobody knows which */            \
	X(DISK, "disk")                           /* waits until a disk has what was written */                   \
	X(SOCKET, "socket")                       /* or a wait for any of several descriptors */                  \
	X(DELAYED, "delayed message")             /* whose end TCP holds back until what was sent before is acknowledged */ \
	X(BEGINS, "begins threads")                                                                               \
	X(LOCK, "lock") X(BARRIER, "barrier")                                                                     \
	X(THREAD, "thread")                       /* waits for what another thread does: a condition, its end */  \
	X(CHILD, "child process") X(SPIN, "spins") X(SLEEP, "sleeps")                                             \
	X(TEXT, "text")                           /* makes or reads it */                                         \
	X(MATCHES, "regular expressions")         /* looks for them in text */                                    \
	X(ALGEBRA, "algebra")                     /* computes with arrays of numbers */                           \
	X(DEVICE, "device")                       /* asks an accelerator, or waits for it */                      \
	X(COMPRESSION, "compression") X(RANDOM, "random numbers")                                                 \
	X(LOOK_UP, "look-up")                     /* in a hash table or a tree */                                 \
	X(INTERPRETER, "interpreter")             /* of Python, with Python's own modules */                      \
	X(PACKAGE, "Python of libraries")         /* runs Python code of a library, or carries its calls out */   \
	X(OBJECTS, "Python's objects in arrays")  /* computes with each element by a call of the interpreter */   \
	X(COLLECTOR, "collector") X(LOGS, "logs")                                                                 \
	X(QUERIES, "database query") X(THROWS, "exception")                                                       \
	X(PICKLES, "pickles")                     /* objects of Python as bytes, and back */                      \
	X(COUNTS, "reference counts")             /* of pointers that share an object */                          \
	X(CHECKS, "checks")                       /* of a mode for debugging */                                   \
	X(STARTS, "starts")                       /* calls main(), a thread's function, or loads libraries */     \
	X(IMPORTS, "imports")                     /* a module of Python, with all that its import does */         \
	X(COMPILES, "compiles")                   /* what the program made while it ran: torch.compile, jax.jit */ \
	X(GIL, "interpreter's lock")              /* waits for the lock without which no thread runs Python */

#define DW_ACTIVITY_ID(name, words) DW_ACTIVITY_##name,
enum dw_activity { DW_ACTIVITIES(DW_ACTIVITY_ID) DW_ACTIVITY_COUNT };
#undef DW_ACTIVITY_ID

/* A set of activities, and whether one is in it. */
typedef uint64_t dw_activity_set;
_Static_assert(DW_ACTIVITY_COUNT <= 64, "");
#define DW_ACTIVITY_SET(name) (UINT64_C(1) << DW_ACTIVITY_##name)
#define DW_ACTIVITIES_OF_MEMORY (DW_ACTIVITY_SET(ALLOCATES) | DW_ACTIVITY_SET(FREES))
#define DW_ACTIVITIES_OF_COPIES (DW_ACTIVITY_SET(COPIES) | DW_ACTIVITY_SET(CLEARS))
#define DW_ACTIVITIES_OF_FILES (DW_ACTIVITY_SET(FILE) | DW_ACTIVITY_SET(DESCRIPTOR) | DW_ACTIVITY_SET(DISK))
#define DW_ACTIVITIES_OF_THREADS \
	(DW_ACTIVITY_SET(LOCK) | DW_ACTIVITY_SET(BARRIER) | DW_ACTIVITY_SET(THREAD) | DW_ACTIVITY_SET(GIL))

static inline bool dw_activity_in(enum dw_activity activity, dw_activity_set set)
{
	return set >> activity & 1;
}

/* Whose code a library has. Of Python code, the file is its library. */
enum dw_library_role {
	DW_LIBRARY_OWN,         /* the program's, or not known */
	DW_LIBRARY_KERNEL,
	DW_LIBRARY_SYSTEM,      /* of C and C++ */
	DW_LIBRARY_HEADER,      /* the same, compiled into the program: dw_library_of_function() */
	DW_LIBRARY_TEAM,        /* runs a team of threads: OpenMP */
	DW_LIBRARY_ALLOCATOR,
	DW_LIBRARY_RECORDER,    /* dwell itself */
	DW_LIBRARY_ALGEBRA,
	DW_LIBRARY_ARRAY,       /* arrays of Python: NumPy */
	DW_LIBRARY_INTERPRETER, /* and Python's own modules */
	DW_LIBRARY_FRAMEWORK,   /* of training and inference */
	DW_LIBRARY_DEVICE,      /* calls of an accelerator */
	DW_LIBRARY_CODEC,
	DW_LIBRARY_PACKAGE,     /* any other that was installed, for Python or by the system */
	DW_LIBRARY_ANY,         /* in rows of the table: the library does not matter */
};

struct dw_library {
	enum dw_library_role role;
	enum dw_activity usual; /* of functions that have no row */
};

/* What an operator of a framework does. */
enum dw_operator_family {
	DW_OPERATOR_OTHER,
	DW_OPERATOR_SYNC,       /* waits for a result */
	DW_OPERATOR_LAYOUT,     /* copies into another layout */
	DW_OPERATOR_COPY,
	DW_OPERATOR_CLEAR,      /* writes one value */
	DW_OPERATOR_VIEW,       /* moves nothing */
	DW_OPERATOR_EMPTY,      /* only allocates */
	DW_OPERATOR_CONVERSION,
	DW_OPERATOR_ELEMENTWISE,
	DW_OPERATOR_PRODUCT,    /* of matrices, convolutions, attention, one step of a recurrent layer */
	DW_OPERATOR_RECURRENT,  /* a recurrent layer over all steps of a sequence */
	DW_OPERATOR_DECOMPOSITION,
	DW_OPERATOR_ORDER,      /* sorts, or compares all with all */
	DW_OPERATOR_FUSED,      /* an optimizer's, over all parameters */
	DW_OPERATOR_FOREACH,    /* over a list of tensors */
	DW_OPERATOR_COMPILED,   /* a call of code that torch.compile made */
	DW_OPERATOR_RUNTIME,    /* a range of a framework's own runtime or compiler */
};

/* Frameworks that give ranges their names. */
enum dw_known_framework { DW_KNOWN_NONE, DW_KNOWN_LIGHTNING, DW_KNOWN_PYTORCH, DW_KNOWN_JAX };

/* The module of functions that CPython recorded by its own names: "posix.read", "Logger.info". */
#define DW_MODULE_CPYTHON "libpython"

/* `module`: the path of a library, a program or a file of Python; NULL: not known. */
struct dw_library dw_library_of(const char *module);
static inline enum dw_library_role dw_library_role_of(const char *module)
{
	return dw_library_of(module).role;
}
/* The Python package that a file is of, by the folder of packages or of Python's own modules in which it lies: "torch".
 * Not terminated: its length is in *length. NULL: it lies in none. */
const char *dw_package_of(const char *file, size_t *length);
/* What people call a library: "numpy" of any file of that package, "libm" of "/usr/lib/libm.so.6". Returns `text`. */
const char *dw_library_name(const char *module, char text[64]);
/* The library of a function in code of a library. In code of the program it is DW_LIBRARY_HEADER, if the function came there
 * from a header of the compiler or the system: by its name, or by the file of its source (or NULL). */
struct dw_library dw_library_of_function(struct dw_library library, const char *name, const char *file);
/* Whether a function belongs to the program, and not to the system below it, also not by a header of C++. */
bool dw_code_is_own(enum dw_library_role role, const char *name, const char *file);
/* What the function does. `own`: it is the program's. Of code that is not, a NULL `module` is a library of the system. */
enum dw_activity dw_activity_of(const char *module, const char *name, bool own);
/* The same where the library is known. */
enum dw_activity dw_activity_of_code(struct dw_library library, const char *name, bool own);
/* What a wait in a function of libc is for; `caller`: the library of the code that calls it. The interpreter of Python builds its own
 * lock of a mutex and a condition, and of nothing else: what it lends to programs are semaphores. So this needs no names of its
 * functions, which stripped interpreters lack. */
enum dw_activity dw_activity_of_wait(const char *module, const char *name, const char *caller);
/* Whether the name stands for code that the program made while it ran, and that nothing names. */
bool dw_code_is_made(const char *name);
/* Whether the name is only a place, as "libx.so+0x12f0", or that of no function. */
bool dw_code_is_nameless(const char *name);
const char *dw_activity_name(enum dw_activity activity);

enum dw_operator_family dw_operator_family_of(const char *name);
/* Whether operators only move or clear memory, for whatever calls them. */
static inline bool dw_operator_moves(enum dw_operator_family family)
{
	return family == DW_OPERATOR_LAYOUT || family == DW_OPERATOR_COPY || family == DW_OPERATOR_CLEAR;
}
/* The framework that gives ranges such names, or has a library with such a path. */
enum dw_known_framework dw_known_framework_of(const char *name);
