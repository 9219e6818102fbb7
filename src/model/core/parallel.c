/* One walk over the streams of a model, by all cores; see parallel.h. */
#include "model/core/parallel.h"

#include "base/system/pool.h"
#include "model/core/pass.h"

struct parallel {
	const struct dw_parallel *walk;
	const struct dw_walk_kind *kind;
	unsigned workers, round;
	uint32_t file;
	char *memory;             /* of the workers */
	struct dw_frames *frames; /* by worker */
	bool failed;              /* atomic */
};

static void *parallel_worker(const struct parallel *all, unsigned worker)
{
	return all->memory + worker * all->kind->worker_bytes;
}

static bool parallel_wants(const struct parallel *all, size_t stream)
{
	const struct dw_parallel *walk = all->walk;

	return (!walk->by_file || walk->model->source->streams[stream].file == all->file) &&
	       (!walk->only || walk->only(walk->model, stream)) &&
	       (!all->kind->wants || all->kind->wants(walk->context, all->round, stream));
}

static void parallel_walk_piece(void *context, unsigned worker, size_t at)
{
	struct parallel *all = context;
	const struct dw_parallel *walk = all->walk;
	size_t stream = walk->pieces ? walk->pieces->items[at].stream : walk->model->stream_order[at];
	const struct dw_segment whole = { .stream = stream, .to = walk->model->source->streams[stream].chunk_count };
	const struct dw_segment *segment = walk->pieces ? &walk->pieces->items[at] : &whole;

	if (__atomic_load_n(&all->failed, __ATOMIC_RELAXED) || !parallel_wants(all, stream))
		return;
	if (!all->kind->walk(walk->context, parallel_worker(all, worker), &all->frames[worker], walk->model, segment))
		__atomic_store_n(&all->failed, true, __ATOMIC_RELAXED);
}

static size_t parallel_pieces(const struct parallel *all)
{
	const struct dw_parallel *walk = all->walk;

	return walk->pieces ? walk->pieces->count : walk->model->source->stream_count;
}

/* Walks all streams, or those of the file, and merges what the workers have. */
static void parallel_walk_file(struct parallel *all)
{
	const struct dw_walk_kind *kind = all->kind;
	void *context = all->walk->context;
	unsigned rounds = all->walk->rounds ? all->walk->rounds : 1;

	for (all->round = 0; all->round < rounds && !all->failed; all->round++) {
		all->failed = kind->begin_round && !kind->begin_round(context, all->round);
		if (!all->failed)
			dw_pool_run(parallel_pieces(all), all->workers, parallel_walk_piece, all);
	}
	for (unsigned i = 0; kind->merge && i < all->workers; i++)
		all->failed |= !kind->merge(context, parallel_worker(all, i), all->file);
	if (kind->end_file)
		kind->end_file(context, all->file);
}

bool dw_walk_parallel(const struct dw_parallel *walk)
{
	struct parallel all = { .walk = walk, .kind = walk->kind };
	size_t files = walk->by_file ? walk->model->source->file_count : 1;

	all.workers = dw_pool_workers(parallel_pieces(&all));
	all.memory = calloc(all.workers * all.kind->worker_bytes + 1, 1);
	all.frames = calloc(all.workers, sizeof *all.frames);
	all.failed = !all.memory || !all.frames;
	for (unsigned i = 0; !all.failed && all.kind->init && i < all.workers; i++)
		all.failed = !all.kind->init(walk->context, parallel_worker(&all, i));
	for (; all.file < files && !all.failed; all.file++)
		parallel_walk_file(&all);
	for (unsigned i = 0; all.memory && all.kind->reset && i < all.workers; i++)
		all.kind->reset(parallel_worker(&all, i));
	free(all.memory);
	return dw_frames_free(all.frames, all.workers) && !all.failed;
}
