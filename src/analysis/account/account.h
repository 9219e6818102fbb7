/*
 * The account: where the time of a loop's thread goes, each ns in one cell.
 *
 *     cell = (class of the iteration, where, part of the step, the program's range, what the code does, state) -> ns
 *
 * The kernel says for how long the thread ran, waited for something, and had no CPU. Samples divide these sums: those
 * of CPU time divide the time in which it ran, those of waits the time in which it waited. So the cells never
 * contradict the kernel. A wait for another thread of the program, asleep or in a loop, is divided by what the others
 * did: their work is no wait, as far as equal work of all threads would not shorten it. What nothing is known of is a
 * cell, too. Cells add up to the time of the loop; an interval is computed after they are added (dw_account_sum()).
 *
 * Steps are the iterations of model/steps/iterations.h, so that a run without marked steps has an account.
 */
#pragma once

#include "base/code/activity.h"
#include "base/arena.h"
#include "model/samples/samples.h"

#define DW_ACCOUNT_STATES(X) \
	X(RUNS, "runs") \
	X(SPINS, "spins")       /* uses the CPU to wait for another thread */ \
	X(OTHERS, "others run") /* waits for a thread of the program that runs: the activity is that thread's */ \
	X(WAITS, "waits")       /* for what: the activity says */ \
	X(NO_CPU, "has no CPU") /* is ready to run, and others have the CPUs */ \
	X(UNKNOWN, "unknown")   /* the kernel's account was not read, or not how long the thread had no CPU */

enum dw_account_state {
#define X(name, words) DW_ACCOUNT_##name,
	DW_ACCOUNT_STATES(X)
#undef X
		DW_ACCOUNT_STATE_COUNT
};

/* A function of the program in a cell. */
struct dw_account_place {
	const struct dw_source_function *function;
	const char *module; /* NULL: a file of Python, or not known */
	uint32_t line;      /* with most of the time; 0: not known */
	bool root;          /* starts the program: main(), or the code of a script */
	double ns;          /* while it is on the stack */
	double self_ns;     /* while no other function of the program is above it */
	/* The function of a library that it calls in at least so much of the time, if it does in most of self_ns; or NULL. */
	const struct dw_source_function *callee;
	double callee_ns;
	/* The program's function that calls it in at least so much of the time, if one does in most of `ns`; or NULL. */
	const struct dw_source_function *caller;
	double caller_ns;
};

/* The samples that a time rests on. */
struct dw_account_basis {
	uint64_t samples, weight, squares;
};

#define DW_ACCOUNT_PLACES 32u /* the largest of a cell; the rest is only in its sum */

struct dw_account_cell {
	enum dw_iteration_class class;
	enum dw_sample_where where;
	enum dw_share share;
	uint32_t named; /* symbol of the range that the program named, or DW_NO_INDEX */
	enum dw_activity activity;
	const char *package; /* of imports: what is imported; NULL: not known. Equal packages are one pointer */
	uint32_t call; /* the number of the call that it is in, from 1; 0: in none. Its activity is what is done in it */
	enum dw_account_state state;
	double ns;
	/* The file of a library that the program calls in at least so much of the time, if it does in most of it; or NULL.
	 */
	const char *library;
	double library_ns;
	struct dw_account_basis basis;   /* without samples it is exact, or a rest */
	struct dw_account_place *places; /* descending by `ns` */
	size_t place_count;
};

/* The cells that records tell apart from others. */
struct dw_account_slice {
	enum dw_iteration_class class;
	enum dw_sample_where where;
	enum dw_share share;
	uint32_t named;
	size_t first, count; /* of dw_account.by_slice */
	double ns, runs_ns;  /* of its cells; of those in which the thread runs or spins */
	double samples;      /* independent ones, of these */
};

/* A call at one place of the program that takes much more time than any one kind of work in it. A program that calls it less
 * often saves all of them. A call that gets memory, and another one of the same function that gives it back, count as one call. */
enum { DW_ACCOUNT_CALLS = 3 };
struct dw_account_call {
	const struct dw_source_function *function, *callee; /* of the program; what it calls */
	const struct dw_source_function *other;             /* what else it calls, as deflateEnd() beside deflateInit(); or NULL */
	bool makes;                                         /* the callee makes, copies or destroys an object */
};

struct dw_account {
	uint32_t thread;  /* index; DW_NO_INDEX: there is no loop, and no cell */
	bool known;       /* the kernel's account of the thread was read */
	bool waits_known; /* and for how long it had no CPU, so that the rest are waits */
	double wall_ns;   /* of the loop; the cells sum to it */
	double own_ns;    /* of wall_ns: without the time for which the thread had no CPU. What shares are of */
	double state_ns[DW_ACCOUNT_STATE_COUNT];
	double system_ns;     /* in which it ran in the kernel; 0: not known */
	double others_cpu_ns; /* for which other threads of the process ran */
	double others_ns;     /* for which they ran or, by estimate, were ready to */
	struct dw_account_basis
		basis[DW_ACCOUNT_STATE_COUNT]; /* the samples that divide each state; those of RUNS divide SPINS, too */
	/* The loop's iterations by class, and their time. Without any, it is not known of which class the cells are. */
	struct {
		size_t count;
		double ns;
		bool bounded; /* the kernel says for how long the thread had no CPU in them, and not only in the loop */
	} classes[DW_ITERATION_CLASSES];
	struct dw_account_call calls[DW_ACCOUNT_CALLS]; /* no two of them have the same callee */
	size_t call_count;
	const struct dw_symbol *symbols; /* of the model: what `named` of a cell is an index of */
	struct dw_account_cell *cells;   /* descending */
	size_t count;
	const struct dw_account_slice *slices;
	size_t slice_count;
	const uint32_t *by_slice; /* the cells, by slice */
};

/* Finds the slices of an account whose cells are complete. Without them, intervals are as if everything were exact. The
 * memory is the arena's. False: out of memory. */
bool dw_account_slice_cells(struct dw_account *account, struct dw_arena *arena);

/* The account of the main loop of the run's iterations. NULL with `error`: out of memory. */
const struct dw_account *dw_account_of(struct dw_model *model, struct dwell_error *error);

/* The run of the loop's thread: what it did before its first iteration, in the loop, and after its last one. */
enum dw_account_phase { DW_ACCOUNT_START, DW_ACCOUNT_LOOP, DW_ACCOUNT_END, DW_ACCOUNT_PHASE_COUNT };
struct dw_account_run {
	double wall_ns; /* 0: there is no loop, or only a part of the time is in scope, or in the file */
	const struct dw_account *phases[DW_ACCOUNT_PHASE_COUNT];
	struct dw_account
		ends[2]; /* those of start and end: of their cells, `where` is that of their samples, and there is no share */
};
const struct dw_account_run *dw_account_of_run(struct dw_model *model, struct dwell_error *error);
/* What a phase takes, without the time for which there was no CPU. */
double dw_account_phase_ns(const struct dw_account_run *run, enum dw_account_phase phase);
/* What the program itself is known to do in the time of an account: all but imports, the collector and
 * waits for a device. 0: no samples divide it. */
double dw_account_work(const struct dw_account *account);
/* The phase that a report names before the loop: the larger end, if the loop is less than half of the run. An end in which the program
 * works for at least as long as the loop comes before a start that mainly imports. DW_ACCOUNT_LOOP: none. */
enum dw_account_phase dw_account_main_phase(const struct dw_account_run *run);

/* Parts whose records say what the time is for, whatever the thread does in them. */
#define DW_ACCOUNT_EXPLAINED \
	(1u << DW_SHARE_PROFILER | 1u << DW_SHARE_COLLECTOR | 1u << DW_SHARE_DATA | 1u << DW_SHARE_COMMUNICATION | \
	 1u << DW_SHARE_DEVICE | 1u << DW_SHARE_CHECKPOINT | 1u << DW_SHARE_EVALUATION)

/* Of these, those that are one call of the program, as evaluate(): the function that is that call is their place. */
#define DW_ACCOUNT_REGIONS \
	(1u << DW_SHARE_CHECKPOINT | 1u << DW_SHARE_EVALUATION)

/* Which cells: those of explained parts, and those of all other parts, and of all imports, by state and activity. */
struct dw_account_select {
	uint32_t explained;                                 /* bits of DW_ACCOUNT_EXPLAINED */
	dw_activity_set activities[DW_ACCOUNT_STATE_COUNT]; /* by state */
	uint32_t where;   /* of these only those there: bits of enum dw_sample_where; 0: anywhere */
	uint32_t classes; /* of these only those of such iterations: bits of enum dw_iteration_class; 0: of all */
	bool beyond;      /* of their time only what as many steady iterations do not take */
	bool by_name;     /* of these only the share NAMED, under this name: */
	uint32_t named;
	bool by_package; /* of these only imports of this package: */
	const char *package;
	uint32_t call; /* of these only those in this call; 0: in any call or none; DW_ACCOUNT_NO_CALL: in none */
};
#define DW_ACCOUNT_NO_CALL UINT32_MAX

/* How many iterations are of these classes: bits of enum dw_iteration_class. */
size_t dw_account_iterations(const struct dw_account *account, uint32_t classes);

/* How unlike the cells that iterations of a class take beyond steady ones are to what steady ones take: 0: all cells
 * are longer alike, as on a slower machine; 1: they are others. */
double dw_account_unlike(const struct dw_account *account, const struct dw_account_select *beyond);

/* All cells of some states, or of all states. */
#define DW_ACCOUNT_ALL UINT64_MAX /* activities */
struct dw_account_select dw_account_select_states(uint32_t states, dw_activity_set activities);

#define DW_ACCOUNT_MOST 0.5

struct dw_account_sum {
	double ns, low_ns, high_ns; /* with the 95% interval */
	uint64_t samples;
	/* The function that it lies in: the innermost one of the program that has at least half of it (DW_ACCOUNT_MOST), or
	 * the largest one. Of a part of the run, as evaluation or the time between steps, it is the one that has most of it
	 * and little else. NULL: there is none. `place_ns`: its part; `dominates`: it has half of it, and samples show that
	 * this is no chance. */
	const struct dw_source_function *function;
	uint32_t line;
	double place_ns;
	/* What else the function does, with what it calls of libraries: the time of other cells while it is the innermost function of the
	 * program. Whoever changes it may save this, too. Of a function that starts the program: what its line does. 0 if it does not
	 * dominate. */
	double rest_ns;
	bool dominates;
	bool root; /* the function starts the program */
	/* The function of a library that it calls in at least half of place_ns, as "strlen". NULL: there is none. */
	const struct dw_source_function *callee;
	/* The function of the program that calls it in most of place_ns, and the line there. NULL: none does, or it is not known, or it
	 * calls itself. `passes`: the function hands on: nearly all of place_ns is in its callee. */
	const struct dw_source_function *caller;
	uint32_t caller_line;
	bool passes;
	/* A second function of the program, which the first one does not call: of all others the one with most time of its own. NULL: it
	 * is small, or nobody knows whether the first one calls it. */
	const struct dw_source_function *second;
	uint32_t second_line;
	double second_ns;
	/* The library that the program calls in at least half of it: dw_library_name() has its name. NULL: there is none.
	 */
	const char *library;
	/* The range that the program named in which at least half of it lies. NULL: there is none. */
	const struct dw_symbol *range;
	enum dw_share share; /* the part of a step in which at least half of it lies. DW_SHARE_COUNT: there is none */
};

/* Writes the name of the function that a sum lies in, as "ask", or "" if there is none. Returns `text`. */
const char *dw_account_function(const struct dw_account_sum *sum, char text[200]);
/* "ask (net.c:10)": the function of a sum with its line. "" if it has none. Returns `text`. */
const char *dw_account_place(const struct dw_account_sum *sum, char text[300]);
/* The same of its caller. */
const char *dw_account_caller(const struct dw_account_sum *sum, char text[300]);
/* The same of its second one. */
const char *dw_account_second_place(const struct dw_account_sum *sum, char text[300]);
/* "strlen", "copy.deepcopy": what the function of a sum calls. "" if that is not known, or its name is too long for a sentence. Returns
 * `text`. */
const char *dw_account_callee(const struct dw_account_sum *sum, char text[80]);
/* Whether a library leads with `led_ns` before others, of which `library` comes with `ns`: of libraries that come one
 * after the other, the last one that leads has at least what it leads with, and one with most of the time leads. */
void dw_account_lead(const char **leads, double *led_ns, const char *library, double ns);
/* The same of functions that are called, or call. */
void dw_account_lead_function(const struct dw_source_function **leads, double *led_ns, const struct dw_source_function *function,
                              double ns);
struct dw_account_sum dw_account_sum(const struct dw_account *account, const struct dw_account_select *select);

/* What tables show: an explained part, a call, or the cells of all others with one state and activity; of imports also one
 * package. */
struct dw_account_row {
	enum dw_share share; /* DW_SHARE_COUNT: no explained part */
	enum dw_account_state state;
	enum dw_activity activity;
	const char *package;
	uint32_t call; /* 0: none */
	struct dw_account_sum sum;
};
#define DW_ACCOUNT_PACKAGES 16u /* the largest; the imports of all others are one */
/* The most that there can be. */
#define DW_ACCOUNT_ROWS ((size_t)DW_ACCOUNT_STATE_COUNT * (DW_ACTIVITY_COUNT + DW_ACCOUNT_PACKAGES) + DW_SHARE_COUNT + DW_ACCOUNT_CALLS)
/* Fills the rows with at least a ns, descending. They sum to the time of the loop. Returns their number. */
size_t dw_account_rows(const struct dw_account *account, struct dw_account_row *rows);
/* What a range that the program named has of the time in which the thread had a CPU or waited. */
struct dw_account_range {
	const struct dw_symbol *range;
	uint32_t named;
	double ns;
};
/* Fills at most `most` ranges, descending. Returns their number: 0 if memory ran out. */
size_t dw_account_ranges(const struct dw_account *account, struct dw_account_range *ranges, size_t most);
/* A part of the run: the loop, or what was done at the start or the end. */
struct dw_account_run_part {
	enum dw_account_phase phase;
	char words[64]; /* "importing torch", "Python"; of the loop, "" */
	bool known;     /* something of what was done is */
	bool imports;
	bool no_cpu;    /* others had the CPUs */
	struct dw_account_sum sum;
};
#define DW_ACCOUNT_RUN_PARTS 128u /* the most that there can be */
/* Fills what was done in the time of an account, descending, apart from what records explain. Returns the number of
 * parts. */
size_t dw_account_parts_of_phase(const struct dw_account *account, struct dw_account_run_part *parts);
/* What all phases take, without the time for which there was no CPU. */
double dw_account_run_own_ns(const struct dw_account_run *run);
/* Fills the parts by phase, and in each descending. They sum to the run's time. Returns their number. */
size_t dw_account_run_parts(const struct dw_account_run *run, struct dw_account_run_part *parts);
/* What the thread imports. */
struct dw_account_import {
	const char *package;
	double ns; /* without the time for which the thread had no CPU */
};
/* Fills at most `most` known packages, descending. Returns their number. */
size_t dw_account_imports(const struct dw_account *account, struct dw_account_import *imports, size_t most);
/* What is done in a call, descending: fills at most `most` rows, of kinds that sentences tell apart. Returns their number. */
struct dw_account_kind {
	const char *words; /* "allocating and freeing memory" */
	dw_activity_set activities;
	double ns;
};
size_t dw_account_kinds(const struct dw_account *account, uint32_t call, struct dw_account_kind *kinds, size_t most);
/* Whether a selection has the cells of a row. It has all of them or none. */
bool dw_account_selects(const struct dw_account_select *select, const struct dw_account_row *row);
/* Whether a cell is of a wait for another thread of the program that does not work, or works longer than this one. */
static inline bool dw_account_is_for_threads(const struct dw_account_cell *cell)
{
	return cell->state == DW_ACCOUNT_SPINS ||
	       (cell->state == DW_ACCOUNT_WAITS && dw_activity_in(cell->activity, DW_ACTIVITIES_OF_THREADS));
}

/* Whether samples divide the account, so that it says more than how long the thread ran. */
bool dw_account_is_divided(const struct dw_account *account);

/* "waits: sleeps", "runs: copies", "runs: imports torch", "runs: code of numpy", "others run: text", "data": for people. Returns
 * `text`. */
const char *dw_account_label(const struct dw_account_row *row, char text[64]);
const char *dw_account_state_name(enum dw_account_state state);
