/*
 * One walk over the streams of a model, by all cores.
 *
 * What a walk adds up it adds up in memory of its workers, which needs no lock. If each file is to be kept apart,
 * because its clock is its own, the workers' sums are merged after each file.
 */
#pragma once

#include "model/core/segments.h"
#include "model/core/walk.h"

/* How records are walked, and what becomes of the workers' sums. Functions get the `context` of the walk. */
struct dw_walk_kind {
	size_t worker_bytes;
	bool (*init)(const void *context, void *worker); /* zeroed memory. False: out of memory */
	void (*reset)(void *worker);                     /* called in any case, also for zeroed memory */
	/* A piece of a stream. False: out of memory. */
	bool (*walk)(void *context, void *worker, struct dw_frames *frames, const struct dw_model *model,
	             const struct dw_segment *segment);
	/* After all pieces, or with `by_file` after those of each file. False: out of memory. NULL: nothing is to do. */
	bool (*merge)(void *context, void *worker, uint32_t file);
	void (*end_file)(void *context, uint32_t file);
	/* Before each round, and whether a stream is walked in it. */
	bool (*begin_round)(void *context, unsigned round);
	bool (*wants)(const void *context, unsigned round, size_t stream);
};

struct dw_parallel {
	const struct dw_walk_kind *kind;
	const struct dw_model *model;
	void *context;
	const struct dw_segments *pieces; /* NULL: whole streams */
	bool by_file;                     /* one file after the other; otherwise `file` is 0 */
	unsigned rounds;                  /* 0: one */
	bool (*only)(const struct dw_model *model, size_t stream); /* NULL: all streams */
};

/* False: out of memory. */
bool dw_walk_parallel(const struct dw_parallel *walk);
