/*
 * The profile by name: number of calls and times.
 *
 * Most views need this pass, and it is the fastest one. It adds each range to the tally of its row
 * when the range ends; the code for each range is in profile_by_name_pass.h. Workers add up streams
 * and segments separately. Their sums are merged after each file, because each file has a clock of
 * its own. All categories are counted at once and stored; a request selects rows from there and
 * sorts them.
 */

#include "base/free.h"
#include "base/order.h"
#include "base/pool.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/time/profile_by_name_pass.h"
#include "model/time/profiles.h"

/* ---- a worker ----------------------------------------------------------------------------- */

/* Extends the arrays that are indexed by tally; existing values are kept. */
static bool profile_grow_tallies(struct dw_profile_worker *worker, size_t used, size_t count)
{
	struct dw_tally *tallies = dw_tallies_create(count);
	uint32_t *calls = calloc(count, sizeof *calls);
	uint64_t *nested = calloc(count, sizeof *nested);
	bool ready = tallies && calls && nested;

	if (ready && used) {
		memcpy(tallies, worker->tallies, used * sizeof *tallies);
		memcpy(calls, worker->calls, used * sizeof *calls);
		memcpy(nested, worker->nested, used * sizeof *nested);
	}
	DW_FREE(ready ? worker->tallies : tallies, ready ? worker->calls : calls, ready ? worker->nested : nested);
	if (ready) {
		worker->tallies = tallies;
		worker->calls = calls;
		worker->nested = nested;
	}
	worker->failed |= !ready;
	return ready;
}

bool dw_profile_worker_init(struct dw_profile_worker *worker, uint32_t row_count)
{
	if (worker->failed || worker->tallies)
		return !worker->failed;
	worker->row_count = row_count;
	worker->row_calls = calloc(row_count + 1, sizeof *worker->row_calls);
	worker->failed = !worker->row_calls || !profile_grow_tallies(worker, 0, 1);
	return !worker->failed;
}

void dw_profile_worker_reset(struct dw_profile_worker *worker)
{
	bool failed = worker->failed;

	DW_FREE(worker->tallies, worker->calls, worker->nested, worker->row_calls, worker->shared);
	dw_arena_reset(&worker->arena);
	memset(worker, 0, sizeof *worker);
	worker->failed = failed;
}

/* Finds the first tally of a combination of scopes; adds the combination if it is new. 0: out of
 * memory. */
static uint32_t profile_find_combination(struct dw_profile_worker *worker, uint32_t bits)
{
	size_t used = 1 + (size_t)worker->combination_count * worker->row_count;

	if (worker->combinations[bits])
		return worker->combinations[bits];
	if (!profile_grow_tallies(worker, used, used + worker->row_count))
		return 0;
	worker->combination_count++;
	worker->combinations[bits] = (uint32_t)used;
	return (uint32_t)used;
}

static void profile_take_arrays(struct dw_profile *profile)
{
	profile->tallies = profile->worker->tallies;
	profile->calls = profile->worker->calls;
	profile->nested = profile->worker->nested;
}

void dw_profile_begin_stream(struct dw_profile *profile, struct dw_profile_worker *worker,
                             const struct dw_model *const *models, unsigned count, uint32_t process)
{
	*profile = (struct dw_profile){ .worker = worker, .row_calls = worker->row_calls };
	dw_tally_pending_init(&profile->pending);
	dw_scope_set_init(&profile->scopes, models, count, process);
	if (count == 1 && dw_scope_is_all(models[0]))
		profile_find_combination(worker, 1); /* dw_profile_enter() assumes its first tally is 1 */
	profile_take_arrays(profile);
}

void dw_profile_end_stream(struct dw_profile *profile, const struct dw_pass *pass)
{
	struct dw_profile_worker *worker = profile->worker;
	uint64_t last_ns = dw_source_ns(&pass->walk.file->clock, dw_time_now(&pass->walk.time));

	dw_tally_flush(&profile->pending);
	worker->failed |= pass->walk.failed;
	/* In damaged traces, ends whose begin would take too long to find count as ends without a
	 * begin. */
	worker->orphans += pass->orphans + pass->walk.time.skipped;
	worker->records += pass->walk.time.records;
	worker->last_ns = last_ns > worker->last_ns ? last_ns : worker->last_ns;
}

__attribute__((noinline)) void dw_profile_renew_scopes(struct dw_profile *profile, uint32_t thread, uint64_t ticks)
{
	dw_scope_set_renew(&profile->scopes, thread, ticks);
	if (!profile->scopes.bits)
		return;
	profile->first_tally = profile_find_combination(profile->worker, profile->scopes.bits);
	profile_take_arrays(profile);
	if (!profile->first_tally)
		profile->scopes.bits = 0; /* out of memory */
}

/* ---- calls within calls of the same row --------------------------------------------------- */

static uint32_t profile_row_of(const struct dw_profile_worker *worker, uint32_t tally)
{
	return (tally - 1) % worker->row_count;
}

/* The combination of scopes that a tally belongs to, as bits. */
static uint32_t profile_bits_of(const struct dw_profile_worker *worker, uint32_t tally)
{
	for (uint32_t bits = 1; tally && bits < 1u << DW_SCOPES; bits++) {
		uint32_t first = worker->combinations[bits];

		if (first && tally >= first && tally < first + worker->row_count)
			return bits;
	}
	return 0;
}

/* Whether calls of the row are open in a scope, other than calls of the tally. */
static bool profile_others_open(const struct dw_profile_worker *worker, uint32_t row, uint32_t tally, unsigned scope)
{
	for (uint32_t bits = 1; bits < 1u << DW_SCOPES; bits++) {
		uint32_t first = worker->combinations[bits];

		if (first && bits >> scope & 1 && first + row != tally && worker->calls[first + row])
			return true;
	}
	return false;
}

static uint64_t *profile_shared_of(struct dw_profile_worker *worker, uint32_t row, unsigned scope)
{
	if (!worker->shared)
		worker->shared = calloc((size_t)DW_SCOPES * (worker->row_count + 1), sizeof *worker->shared);
	worker->failed |= !worker->shared;
	return worker->shared ? &worker->shared[(size_t)scope * worker->row_count + row] : NULL;
}

__attribute__((noinline)) void dw_profile_end_shared(struct dw_profile *profile, const struct dw_profile_frame *frame,
                                                     uint64_t duration)
{
	struct dw_profile_worker *worker = profile->worker;
	uint32_t bits = profile_bits_of(worker, frame->tally);

	for (unsigned scope = 0; scope < DW_SCOPES; scope++) {
		bool others = bits >> scope & 1 && profile_others_open(worker, frame->row, frame->tally, scope);
		uint64_t *shared = others ? profile_shared_of(worker, frame->row, scope) : NULL;

		if (shared)
			*shared += duration;
	}
}

/*
 * When the range ends, its whole duration will count as nested in the open ranges of its row. If
 * all of these began later, the time from its begin to the first of theirs is in none of them and
 * must not count as nested. So that time is subtracted here.
 */
__attribute__((noinline)) void dw_profile_unnest(struct dw_profile *profile, const struct dw_pass *pass, uint32_t place,
                                                 size_t frame_bytes, size_t offset)
{
	struct dw_profile_worker *worker = profile->worker;
	const struct dw_frame *frame = dw_pass_at(pass, frame_bytes, place);
	const struct dw_profile_frame *own = (const void *)((const char *)frame + offset);
	uint32_t missing = profile_bits_of(worker, own->tally);
	uint32_t row = missing ? profile_row_of(worker, own->tally) : 0;

	for (uint32_t at = 1; at <= pass->depth && missing; at++) {
		const struct dw_frame *other = dw_pass_at(pass, frame_bytes, at);
		const struct dw_profile_frame *theirs = (const void *)((const char *)other + offset);
		uint32_t both = at != place && theirs->tally && profile_row_of(worker, theirs->tally) == row
		                    ? profile_bits_of(worker, theirs->tally) & missing : 0;

		for (unsigned scope = 0; both && at > place && scope < DW_SCOPES; scope++) {
			uint64_t *shared = both >> scope & 1 ? profile_shared_of(worker, row, scope) : NULL;

			if (shared)
				*shared -= other->start - frame->start;
		}
		missing &= ~both;
	}
}

void dw_profile_carry(struct dw_profile *profile, const struct dw_profile_frame *frame, uint64_t child, bool all)
{
	profile->tallies[frame->tally].self -= child;
	profile->calls[frame->tally] = 0;
	if (!all)
		profile->row_calls[frame->row] = 0;
}

/* ---- other records ------------------------------------------------------------------------ */

static uint32_t profile_category_of(const struct dw_record *record)
{
	switch (record->kind) {
	case DW_MARK: return 1u << DWELL_CATEGORY_MARK;
	case DW_COUNTER: return 1u << DWELL_CATEGORY_COUNTER;
	case DW_ALLOC:
	case DW_FREE: return 1u << DWELL_CATEGORY_ALLOCATION;
	case DW_FLOW_OUT:
	case DW_FLOW_IN: return 1u << DWELL_CATEGORY_FLOW;
	case DW_ASYNC_BEGIN: return DW_CATEGORIES_ASYNC;
	case DW_EXT: return record->id >> DW_EXT_TYPE_SHIFT == DW_EXT_HEAP ? 1u << DWELL_CATEGORY_ALLOCATION : 0;
	default: return 0;
	}
}

void dw_profile_note(struct dw_profile *profile, const struct dw_record *record)
{
	profile->worker->other_categories |= profile_category_of(record);
}

/* ---- the pass ----------------------------------------------------------------------------- */

struct profile_frame {
	struct dw_frame frame;
	struct dw_profile_frame own;
};

struct profile_state {
	struct dw_pass pass;
	struct dw_profile profile;
};

DW_INLINE void profile_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct profile_state *at = state;
	struct profile_frame *frame = place;

	dw_profile_enter(&at->profile, &at->pass, &frame->frame, &frame->own, ticks, dw_walk_op(&at->pass.walk, id), true);
}

DW_INLINE void profile_enter_scoped(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct profile_state *at = state;
	struct profile_frame *frame = place;

	dw_profile_enter(&at->profile, &at->pass, &frame->frame, &frame->own, ticks, dw_walk_op(&at->pass.walk, id), false);
	frame->frame.in_scope = frame->own.tally != 0;
}

DW_INLINE void profile_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	const struct profile_frame *frame = place;

	dw_profile_leave(&((struct profile_state *)state)->profile, &frame->frame, &frame->own, ticks, how, true);
}

DW_INLINE void profile_leave_scoped(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	const struct profile_frame *frame = place;

	dw_profile_leave(&((struct profile_state *)state)->profile, &frame->frame, &frame->own, ticks, how, false);
}

static void profile_unnest(void *state, uint32_t place, uint64_t ticks)
{
	struct profile_state *at = state;

	dw_profile_unnest(&at->profile, &at->pass, place, sizeof(struct profile_frame),
	                  offsetof(struct profile_frame, own));
}

DW_INLINE void profile_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	dw_profile_note(&((struct profile_state *)state)->profile, record);
}

static void profile_carry(void *state, void *place)
{
	const struct profile_frame *frame = place;

	dw_profile_carry(&((struct profile_state *)state)->profile, &frame->own, frame->frame.child, true);
}

static void profile_carry_scoped(void *state, void *place)
{
	const struct profile_frame *frame = place;

	dw_profile_carry(&((struct profile_state *)state)->profile, &frame->own, frame->frame.child, false);
}

static void profile_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	dw_profile_flushed(&((struct profile_state *)state)->profile);
}

/* Two loops, so that a pass over everything has no cost for scopes. */
static const struct dw_pass_hooks profile_hooks = {
	.frame_bytes = sizeof(struct profile_frame), .deepest = DW_DEEPEST, .chains = true, .all_linked = true,
	.enter = profile_enter, .leave = profile_leave, .note = profile_note, .carry = profile_carry,
	.unnest = profile_unnest,
};
static const struct dw_pass_hooks profile_hooks_scoped = {
	.frame_bytes = sizeof(struct profile_frame), .deepest = DW_DEEPEST, .chains = true, .all_linked = true,
	.scoped = true, .enter = profile_enter_scoped, .leave = profile_leave_scoped,
	.note = profile_note, .carry = profile_carry_scoped, .unnest = profile_unnest, .flushed = profile_flushed,
};
DW_PASS_DEFINE(profile_all, profile_hooks)
DW_PASS_DEFINE(profile_scoped, profile_hooks_scoped)

/* ---- parallel walk ------------------------------------------------------------------------ */

struct profile_pass {
	struct dw_model *model;
	const struct dw_op **ops;
	uint32_t row_count, file;
	const struct dw_segments *segments;
	struct profile_walker {
		struct dw_profile_worker worker;
		struct dw_frames frames;
	} *walkers;
};

static void profile_walk_segment(void *context, unsigned index, size_t at)
{
	struct profile_pass *pass = context;
	struct profile_walker *walker = &pass->walkers[index];
	const struct dw_model *model = pass->model;
	const struct dw_segment *segment = &pass->segments->items[at];
	const struct dw_source_stream *stream = &model->source->streams[segment->stream];
	struct profile_state state;

	if (stream->file != pass->file || !dw_profile_worker_init(&walker->worker, pass->row_count))
		return;
	memset(&state, 0, sizeof state);
	dw_pass_init(&state.pass, model, segment->stream, &walker->frames);
	state.pass.walk.ops = pass->ops[pass->file];
	dw_profile_begin_stream(&state.profile, &walker->worker, &model, 1, stream->process);
	if (walker->worker.failed)
		return;
	if (dw_scope_is_all(model))
		profile_all_segment(&state.pass, segment);
	else
		profile_scoped_segment(&state.pass, segment);
	dw_profile_end_stream(&state.profile, &state.pass);
}

/* Also for negative values, which result from subtractions. */
static uint64_t profile_scale_ticks(uint64_t ticks, double ratio)
{
	return ratio == 1 ? ticks : (uint64_t)(int64_t)((double)(int64_t)ticks * ratio);
}

void dw_profile_merge(struct dw_flat_all *const *profiles, struct dw_model *const *models,
                      unsigned count, struct dw_profile_worker *worker, double ratio)
{
	for (unsigned scope = 0; scope < count; scope++) {
		struct dw_flat_all *all = profiles[scope];

		for (uint32_t bits = 1; bits < 1u << DW_SCOPES; bits++)
			for (uint32_t row = 0, first = worker->combinations[bits];
			     first && bits >> scope & 1 && row < all->row_count; row++) {
				dw_tally_merge(&all->tallies[row], &models[scope]->arena, &worker->tallies[first + row], ratio);
				all->nested[row] += profile_scale_ticks(worker->nested[first + row], ratio);
				all->open += worker->tallies[first + row].open;
			}
		for (uint32_t row = 0; worker->shared && row < all->row_count; row++)
			all->nested[row] += profile_scale_ticks(worker->shared[(size_t)scope * worker->row_count + row], ratio);
		all->records += worker->records;
		all->orphans += worker->orphans;
		all->categories |= worker->other_categories;
		if (worker->last_ns > all->last_ns)
			all->last_ns = worker->last_ns;
	}
	dw_profile_worker_reset(worker);
}

/* Adds all streams to `all`, whose tallies must exist and be empty. `ops`: by file, then id. Call
 * dw_profile_finish() afterwards. -1: out of memory. */
static int profile_walk(struct dw_model *model, const struct dw_op **ops, struct dw_flat_all *all)
{
	const struct dw_source *source = model->source;
	const struct dw_segments *segments = dw_model_segments(model);
	unsigned count = segments ? dw_pool_workers(segments->count) : 0;
	struct profile_pass pass = { .model = model, .ops = ops, .row_count = all->row_count, .segments = segments };
	bool failed = false;

	pass.walkers = segments ? calloc(count, sizeof *pass.walkers) : NULL;
	if (!pass.walkers)
		return -1;
	for (uint32_t f = 0; f < source->file_count; f++) {
		pass.file = f;
		dw_pool_run(segments->count, count, profile_walk_segment, &pass);
		for (unsigned i = 0; i < count; i++) {
			failed |= pass.walkers[i].worker.failed;
			dw_profile_merge(&all, &model, 1, &pass.walkers[i].worker, dw_file_ratio(source, f));
		}
	}
	for (unsigned i = 0; i < count; i++)
		dw_frames_reset(&pass.walkers[i].frames);
	free(pass.walkers);
	return failed ? -1 : 0;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* The ops of a file with one row for each symbol. NULL: out of memory. */
static const struct dw_op *profile_ops_by_symbol(struct dw_model *model, size_t file)
{
	uint32_t count = model->source->files[file].symbol_count;
	struct dw_op *ops = dw_arena_alloc(&model->arena, (count + 1) * sizeof *ops);

	for (uint32_t id = 0; ops && id < count; id++) {
		ops[id].row = model->symbol_by_id[file][id];
		ops[id].kind = model->ops[file][id].kind;
	}
	return ops;
}

/* Sets the rows of `all`. Returns the row and kind of each id, by file. NULL: out of memory. */
static const struct dw_op **profile_choose_rows(struct dw_model *model, struct dw_flat_all *all, enum dw_by by)
{
	size_t file_count = model->source->file_count;
	const struct dw_op **ops = dw_arena_alloc(&model->arena, file_count * sizeof *ops);
	uint32_t *identity;

	for (size_t f = 0; ops && f < file_count; f++) {
		ops[f] = by == DW_BY_NAME ? model->ops[f] : profile_ops_by_symbol(model, f);
		if (!ops[f])
			return NULL;
	}
	if (by == DW_BY_NAME) {
		all->row_symbol = model->row_symbol;
		all->row_count = model->row_count;
		return ops;
	}
	identity = dw_arena_alloc(&model->arena, model->symbol_count * sizeof *identity);
	for (uint32_t i = 0; identity && i < model->symbol_count; i++)
		identity[i] = i;
	all->row_symbol = identity;
	all->row_count = model->symbol_count;
	return identity ? ops : NULL;
}

const struct dw_op **dw_profile_prepare(struct dw_model *model, struct dw_flat_all *all, enum dw_by by)
{
	const struct dw_op **ops = profile_choose_rows(model, all, by);

	all->tallies = dw_arena_alloc(&model->arena, (all->row_count + 1) * sizeof *all->tallies);
	all->nested = dw_arena_alloc(&model->arena, (all->row_count + 1) * sizeof *all->nested);
	return all->tallies && all->nested ? ops : NULL;
}

void dw_profile_finish(const struct dw_model *model, struct dw_flat_all *all)
{
	if (!dw_scope_is_all(model))
		all->orphans = 0; /* skipped chunks cause ends without a begin */
	for (uint32_t row = 0; row < all->row_count; row++) {
		uint32_t category = model->symbols[all->row_symbol[row]].category;

		all->ranges += all->tallies[row].count;
		if (all->tallies[row].count && category < 32)
			all->categories |= 1u << category;
	}
}

/* Counts all categories. The request is an enum dw_by. */
static bool profile_compute_all(struct dw_model *model, const void *request, void *result)
{
	const enum dw_by *by = request;
	const struct dw_op **ops = dw_profile_prepare(model, result, *by);

	if (!ops || profile_walk(model, ops, result))
		return false;
	dw_profile_finish(model, result);
	return true;
}

DW_PRODUCT(profile, struct dw_flat_all, profile_compute_all, NULL);

static const struct dw_flat_all *profile_get_all(struct dw_model *model, enum dw_by by)
{
	return dw_product_get(model, &dw_product_profile, by, &by, NULL);
}

uint32_t dw_model_categories(struct dw_model *model)
{
	const struct dw_flat_all *all = profile_get_all(model, DW_BY_NAME);

	return all ? all->categories : 0;
}

DW_ORDER(profile_compare_rows, struct dw_flat_row, DW_DOWN(stat.self_ns) DW_DOWN(stat.total_ns) DW_UP(symbol))

static bool profile_chosen(const struct dw_model *model, const struct dw_flat_all *all, uint32_t row,
                           uint32_t categories)
{
	uint32_t category = model->symbols[all->row_symbol[row]].category;

	return all->tallies[row].count && (category < 32 ? categories >> category & 1 : categories == UINT32_MAX);
}

struct profile_request {
	uint32_t categories;
	enum dw_by by;
};

/* Selects the rows of the requested categories and sorts them. */
static bool profile_choose(struct dw_model *model, const void *pointer, void *result)
{
	const struct profile_request *request = pointer;
	const struct dw_flat_all *all = profile_get_all(model, request->by);
	struct dw_flat *flat = result;
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;
	size_t count = 0;

	for (uint32_t row = 0; all && row < all->row_count; row++)
		count += profile_chosen(model, all, row, request->categories);
	flat->rows = dw_arena_alloc(&model->arena, (count + 1) * sizeof *flat->rows);
	if (!all || !flat->rows)
		return false;
	for (uint32_t row = 0; row < all->row_count; row++) {
		if (!profile_chosen(model, all, row, request->categories))
			continue;
		flat->rows[flat->count].symbol = all->row_symbol[row];
		dw_tally_stat_nested(&all->tallies[row], all->nested[row], ns_per_tick, &flat->rows[flat->count++].stat);
	}
	DW_SORT(flat->rows, count, profile_compare_rows);
	flat->wall_ns = dw_scope_wall_ns(model);
	flat->records = all->records;
	flat->ranges = all->ranges;
	flat->open = all->open;
	flat->orphans = all->orphans;
	flat->last_ns = all->last_ns;
	return true;
}

DW_PRODUCT(flat, struct dw_flat, profile_choose, NULL);

const struct dw_flat *dw_model_flat_by(struct dw_model *model, uint32_t categories, enum dw_by by,
                                       struct dwell_error *error)
{
	const struct profile_request request = { categories, by };

	return dw_product_get(model, &dw_product_flat, (uint64_t)by << 32 | categories, &request, error);
}

const struct dw_flat *dw_model_flat(struct dw_model *model, uint32_t categories, struct dwell_error *error)
{
	return dw_model_flat_by(model, categories, DW_BY_NAME, error);
}
