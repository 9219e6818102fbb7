/*
 * Random streams of records, and a reference that knows the ranges in them.
 *
 * A stream is drawn record by record: ranges that begin, end, are ended from the middle, by
 * position or by name; lost records, gaps of recycled chunks, thread switches, runs of ranges
 * deeper than the limits, and records that change no range. The same draws drive the reference.
 * It keeps all open ranges in a list and, whenever time passes, gives the time to the ranges that
 * are innermost of their kind. It has no tricks, so that a reader can see that it is right.
 *
 * A test of a product supplies the names of ranges and a function that draws the product's own
 * records (allocations, counters, steps). It compares the product with figures that it computes
 * from `reference`, by the rules in doc/reference/format.md and doc/reference/figures.md.
 *
 * Each record has a time of its own: a range is open at the time of a later record if and only
 * if start < time <= end. 1 tick = 1 ns.
 *
 * On a failure random_test() prints the seed of the stream. With DWELL_TEST_SEED=N in the
 * environment it tests only the stream of that seed; DWELL_TEST_RUNS=N tests N streams.
 */
#pragma once

#include "made.h"
#include "model/core/model_data.h"

enum {
	MOST_OPS = 40,
	THREADS = 5, /* those below FIRST_THREADS hold the first stream, the others the second */
	FIRST_THREADS = 3,
	MOST_OPEN = 4096,
	DEEPEST_OF_TREE = 1024,
	MOST_MOVED_IN_TREE = 64,
};

struct random_name {
	const char *name;
	uint32_t category;
	uint64_t flops;     /* of a call, as the model counts them: 48 or 0 */
	const char *detail;
	uint32_t meaning;   /* for the test that uses the name */
};

/* What a test draws. */
struct random_ask {
	const struct random_name *names;
	uint32_t name_count;   /* at most MOST_OPS */
	uint32_t others;       /* of 1000 records, those that `draw_other` draws */
	void (*draw_other)(void);
	void (*draw_begin)(void); /* before the first record of a trace; NULL: nothing */
	bool windows;          /* the scope of some traces is a window of time */
};

enum range_end { ENDED, CUT, OPEN };

struct range {
	uint32_t op, thread, stream;
	uint64_t start, end;
	uint64_t self_kind; /* time as the innermost open range of its kind */
	uint32_t path;      /* of the tree, as long as the ranges around it are open; NO_PATH: beyond its depth */
	uint32_t layer;     /* the layer that it is, or else the innermost layer around it; MOST_OPS: none */
	uint32_t path_depth;
	bool folded;        /* deeper than the tree's stack */
	bool kept;          /* it has a node of its own in the tree */
	bool by_name, counts, covered, inner;
	enum range_end why;
};

#define NO_PATH UINT32_MAX

struct path {
	uint32_t parent, op, thread; /* a root has no op: MOST_OPS */
	uint64_t count, total, self, open, cut;
};

/* A moment at which records are missing. */
struct missing {
	uint64_t ticks;
	uint32_t thread;
};

struct reference {
	const struct random_name *names;
	uint32_t name_count;
	struct range open[MOST_OPEN];
	uint32_t depth;
	bool stayed;                 /* more ranges outlived one around them than the tree moves */
	struct range *closed;        /* in the order of their ends, stream after stream */
	size_t closed_count, closed_capacity;
	struct missing *missing;
	size_t missing_count, missing_capacity;
	uint64_t now;
	uint64_t end;                /* of the process; valid when all is drawn */
	uint32_t thread, stream, stream_count;
	uint64_t busy[THREADS], ranges[THREADS];
	uint64_t outermost[THREADS][MOST_OPS]; /* time of the range that began first of those that are open */
	struct path *paths;
	size_t path_count, path_capacity;
	/* Functions: open calls, and the time of the outermost ones. */
	uint32_t level[MOST_OPS];
	uint64_t primitive[MOST_OPS], primitive_total[MOST_OPS];
	uint64_t self_function[MOST_OPS], function_calls[MOST_OPS];
	uint64_t self_operator[MOST_OPS];
	uint64_t covered[MOST_OPS];  /* time during which at least one range of the name counts */
	uint64_t layer_calls[MOST_OPS], layer_self[MOST_OPS], layer_operators[MOST_OPS + 1];
	uint64_t flops_calls, flops_time, missed_calls, missed_time;
	uint64_t from, to;           /* ranges count that begin in this window */
};

extern struct reference reference;
extern struct made made;
extern uint32_t random_ids[MOST_OPS], random_threads[THREADS]; /* ids in the file */
extern bool random_named;    /* some ends name their range */
extern bool random_plain;    /* nearly all records are begins and ends */
extern bool random_overlaps; /* some ranges end from the middle */

/* A number below `below`, which is not 0. */
uint32_t random_below(uint32_t below);
/* Time passes; the time of the next record. */
uint64_t random_next_time(void);
/* The stream that is being drawn. */
struct dw_encode_stream *random_stream(void);
/* Grows an array that has `count` items; ends the program when memory is out. */
void *random_grow(void *items, size_t *capacity, size_t count, size_t bytes);

/* Draws a trace into `made`, which the caller opens, and fills `reference`. */
void random_draw_trace(const struct random_ask *ask, uint64_t seed);
/* The scope of the trace that was drawn. */
struct dw_scope random_scope(void);

/* Draws traces, opens the model of each in its scope, unless `open` does, and calls `compare`. */
static inline void random_test_seed(const struct random_ask *ask, int (*open)(void),
                                    void (*compare)(void), uint64_t seed)
{
	struct dw_scope scope;
	unsigned long before = check_failures;

	random_draw_trace(ask, seed);
	scope = random_scope();
	if ((open ? open() : made_open(&made, &scope)) != 0) {
		CHECK_FAIL("cannot open the trace of seed %" PRIu64, seed);
		return;
	}
	compare();
	made.model = made.model->whole;
	made_close(&made);
	if (check_failures != before)
		CHECK_FAIL("that was seed %" PRIu64 " (%s)", seed,
		           random_named ? "with ends by name" : "no names");
}

static inline void random_test(const struct random_ask *ask, int (*open)(void),
                               void (*compare)(void), uint64_t usual_runs)
{
	const char *seed = getenv("DWELL_TEST_SEED"), *runs = getenv("DWELL_TEST_RUNS");
	uint64_t count = runs ? strtoull(runs, NULL, 10) : check_is_slow() ? usual_runs / 15 : usual_runs;

	if (seed) {
		random_test_seed(ask, open, compare, strtoull(seed, NULL, 10));
		return;
	}
	for (uint64_t i = 1; i <= count && check_failures < 20; i++)
		random_test_seed(ask, open, compare, i);
}
