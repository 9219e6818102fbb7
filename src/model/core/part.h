/*
 * Parts: what one product does in a walk that it may share with others.
 *
 * A part is a line of parts.def and, in a header of its own, the struct dw_part below. It has only what is special to
 * the product: what to do when a range begins and ends, and how the sums of the workers become one. loop.h makes a walk
 * of a list of parts.
 *
 * All of it is constant and inlined, so that a walk has no cost for what a part lacks. `pass` is the part's struct
 * dw_NAME_pass, `frame` its struct dw_NAME_frame of the range, `sums` what parts.def names, `worker` its struct
 * dw_NAME_worker. Every function is optional.
 */
#pragma once

#include "model/core/burst.h"

/* The sums of the parts of a walk. NULL: the walk is without the part. */
struct dw_part_sums {
#define PART(name, sums, file) struct sums *name;
#include "model/core/parts.def"
#undef PART
};

/* The range that a hook is called for. */
struct dw_here {
	struct dw_pass *pass;
	struct dw_frame *range;
	uint64_t ticks;
	uint32_t id;            /* enter: of the range's OP */
	uint32_t row;           /* enter, and in loops that keep rows leave and carry: of the range */
	uint32_t kind;          /* enter: of the range */
	enum dw_leave how;      /* leave */
	uint64_t duration;      /* leave: ticks since the range began */
	bool everything;        /* constant: the loop is for one scope, which includes everything */
};

/* What a walk of a piece begins with. */
struct dw_part_begin {
	struct dw_pass *pass;
	const struct dw_segment *segment;
	size_t frame_bytes, frame_offset; /* of the loop's frames; of the part's frame in one of them */
};

/* The row of the range at a place, in a loop that keeps rows: it follows struct dw_frame. */
DW_INLINE uint32_t dw_part_row(const struct dw_pass *pass, size_t frame_bytes, uint32_t place)
{
	return *(const uint32_t *)(const void *)(dw_pass_at(pass, frame_bytes, place) + 1);
}

struct dw_part {
	/* The memory of a worker, which is zeroed; worker_reset() is called in any case. False: out of memory. */
	bool (*worker_init)(void *worker, const void *sums);
	void (*worker_reset)(void *worker);

	/* Where a walk needs several rounds over the streams: how many, what comes before each of them (false: out of
	 * memory), and whether a stream is walked in it. */
	unsigned rounds;
	bool (*begin_round)(void *sums, unsigned round);
	bool (*wants)(const void *sums, unsigned round, size_t stream);

	/* A piece of a stream; `pass` is zeroed. False: out of memory. */
	bool (*begin)(void *pass, void *sums, void *worker, const struct dw_part_begin *from);
	void (*end)(void *pass);

	/* As in pass.h. */
	void (*enter)(void *pass, void *frame, const struct dw_here *here);
	void (*leave)(void *pass, void *frame, const struct dw_here *here);
	void (*note)(void *pass, uint64_t ticks, const struct dw_record *record);
	void (*settle)(void *pass, uint64_t ticks);

	/* Only for loops with bursts (burst.h). burst(): sets what it may read; false: none begins. ended(): a range of the burst has
	 * ended. burst_end(): the burst has ended, and each range that is still open begins for the walk. inside(): behind the begin of
	 * such a range, the time of the ranges that have ended in it. */
	bool (*burst)(void *pass, struct dw_burst *burst);
	void (*ended)(void *pass, const struct dw_burst_range *range);
	void (*burst_end)(void *pass, struct dw_burst *burst);
	void (*inside)(void *pass, uint64_t ticks, const struct dw_burst *burst);

	void (*unnest)(void *pass, uint32_t place);
	void (*flushed)(void *pass, uint64_t ticks, enum dw_flush why);
	void (*orphan)(void *pass, uint64_t ticks);
	void (*after_break)(void *pass, uint64_t ticks, const struct dw_record *record);
	void (*carry)(void *pass, void *frame, const struct dw_here *here);
	void (*carried)(void *pass);

	/* When all streams of a file have been walked: adds what a worker has to the sums, and empties the worker; then,
	 * after all workers, ends the file. Each file has a clock of its own. A part without merge() adds up in `sums`,
	 * and files are not kept apart for it. False: out of memory. */
	bool (*merge)(void *sums, void *worker, uint32_t file);
	void (*end_file)(void *sums, uint32_t file);
};
