/*
 * Functions by CPU time, from samples: self is the time in which a function was innermost, total
 * the time in which it was anywhere in the stack, counted once however often it is there.
 */
#pragma once

#include "model/samples/samples.h"

/* What distinguishes rows, besides the function. */
enum dw_hot_by {
	DW_HOT_LINES = 1,   /* the line */
	DW_HOT_THREADS = 2,
	DW_HOT_PHASES = 4,  /* the part of the step, and whether it is in a step */
	DW_HOT_RANGES = 8,  /* the innermost open range */
	/* Only functions of Python: the time of functions that they call is theirs. Time in no function
	 * of Python is a row without file. */
	DW_HOT_PYTHON = 16,
	DW_HOT_HOLDERS = 32, /* of waits: the thread that had the lock */
	DW_HOT_OWN = 64,    /* the time of libraries of the system is that of the program's function that calls them */
};

struct dw_hot_ask {
	bool waits;         /* waits, and use of the CPU only where a thread spins for other threads */
	unsigned by;        /* bits of enum dw_hot_by */
	/* Which samples count. NULL: all. */
	bool (*wants)(void *context, const struct dw_sample_row *row);
	void *context;
};

struct dw_hot_row {
	const char *name, *file; /* `file`: NULL if not known */
	const char *module; /* the library or program, one of them if the function's file is known; NULL: none, as of Python */
	const char *symbol; /* of a library's code that is in no function of Python: its function with most time, ""; else NULL */
	uint64_t symbol_self; /* weight of that function */
	bool in_several;    /* the short name is also that of a function of another library */
	uint32_t line;      /* without DW_HOT_LINES: the line with most self time, or if it has none, one of
	                     * those that call; 0: not known */
	struct dw_sample_row place; /* of a sample; by DW_HOT_THREADS, PHASES and RANGES valid for all */
	uint64_t self, total; /* weights */
	uint64_t self_ns, total_ns;
	uint64_t samples;   /* those of `total` */
	uint64_t self_samples;
};

struct dw_hot {
	struct dw_hot_row *rows; /* by self, then total, descending */
	size_t count;
	uint64_t samples, weight, squares, cpu_ns; /* of the samples that count */
	bool waits;          /* shares are of their time: that of the main thread is what the kernel leaves */
	uint64_t spun_ns, spun_samples; /* of these: those of threads that spin for other threads */
};

/* False: out of memory. Call dw_hot_reset() in any case. Texts are those of the source. */
bool dw_hot_make(struct dw_hot *hot, struct dw_model *model, const struct dw_hot_ask *ask);
void dw_hot_reset(struct dw_hot *hot);

/* Whether the row is of a function, and not of samples in none that is known. */
bool dw_hot_is_function(const struct dw_hot_row *row);
/* The name as people read it: short, and with its library if that distinguishes it, as "update (libnet.so)". */
const char *dw_hot_name(const struct dw_hot_row *row, char *text, size_t size);
/* "net.c:120", or the file alone, or "": the place of a row, without folders. */
const char *dw_hot_place(const struct dw_hot_row *row, char *text, size_t size);
