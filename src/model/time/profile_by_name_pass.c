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

static bool profile_worker_init(struct dw_profile_worker *worker, uint32_t row_count)
{
	if (worker->failed || worker->tallies)
		return !worker->failed;
	worker->row_count = row_count;
	worker->row_calls = calloc(row_count + 1, sizeof *worker->row_calls);
	worker->failed = !worker->row_calls || !profile_grow_tallies(worker, 0, 1);
	return !worker->failed;
}

void dw_profile_worker_reset(void *memory)
{
	struct dw_profile_worker *worker = memory;
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

static void profile_take_arrays(struct dw_profile_pass *profile)
{
	profile->tallies = profile->worker->tallies;
	profile->calls = profile->worker->calls;
	profile->nested = profile->worker->nested;
}

bool dw_profile_begin(void *own, void *all, void *memory, const struct dw_part_begin *from)
{
	struct dw_profile_pass *profile = own;
	const struct dw_profile_sums *sums = all;
	struct dw_profile_worker *worker = memory;
	const struct dw_source_stream *stream = from->pass->walk.stream;

	if (!profile_worker_init(worker, sums->row_count))
		return false;
	*profile = (struct dw_profile_pass){ .worker = worker, .pass = from->pass, .frame_bytes = from->frame_bytes,
		                                 .frame_offset = from->frame_offset, .row_calls = worker->row_calls };
	from->pass->walk.ops = sums->ops[stream->file];
	dw_tally_pending_init(&profile->pending);
	dw_scope_set_init(&profile->scopes, (const struct dw_model *const *)sums->models, sums->count, stream->process);
	if (sums->count == 1 && dw_scope_is_all(sums->models[0]))
		profile_find_combination(worker, 1); /* dw_profile_enter() assumes its first tally is 1 */
	profile_take_arrays(profile);
	return !worker->failed;
}

/* Adds what the walk itself counted to the worker. */
void dw_profile_end(void *own)
{
	struct dw_profile_pass *profile = own;
	const struct dw_pass *pass = profile->pass;
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

__attribute__((noinline)) void dw_profile_renew_scopes(struct dw_profile_pass *profile, uint32_t thread, uint64_t ticks)
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

__attribute__((noinline)) void dw_profile_end_shared(struct dw_profile_pass *profile, uint32_t tally, uint32_t row,
                                                     uint64_t duration)
{
	struct dw_profile_worker *worker = profile->worker;
	uint32_t bits = profile_bits_of(worker, tally);

	for (unsigned scope = 0; scope < DW_SCOPES; scope++) {
		bool others = bits >> scope & 1 && profile_others_open(worker, row, tally, scope);
		uint64_t *shared = others ? profile_shared_of(worker, row, scope) : NULL;

		if (shared)
			*shared += duration;
	}
}

static const struct dw_profile_frame *profile_own(const struct dw_profile_pass *profile, const struct dw_frame *frame)
{
	return (const void *)((const char *)frame + profile->frame_offset);
}

/*
 * When the range ends, its whole duration will count as nested in the open ranges of its row. If
 * all of these began later, the time from its begin to the first of theirs is in none of them and
 * must not count as nested. So that time is subtracted here.
 */
void dw_profile_unnest(void *state, uint32_t place)
{
	const struct dw_profile_pass *profile = state;
	const struct dw_pass *pass = profile->pass;
	struct dw_profile_worker *worker = profile->worker;
	const struct dw_frame *frame = dw_pass_at(pass, profile->frame_bytes, place);
	const struct dw_profile_frame *own = profile_own(profile, frame);
	uint32_t missing = profile_bits_of(worker, own->tally);
	uint32_t row = missing ? profile_row_of(worker, own->tally) : 0;

	for (uint32_t at = 1; at <= pass->depth && missing; at++) {
		const struct dw_frame *other = dw_pass_at(pass, profile->frame_bytes, at);
		const struct dw_profile_frame *theirs = profile_own(profile, other);
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

void dw_profile_carry(void *pass, void *frame, const struct dw_here *here)
{
	struct dw_profile_pass *profile = pass;
	const struct dw_profile_frame *own = frame;

	profile->tallies[own->tally].self -= here->range->child;
	profile->calls[own->tally] = 0;
	if (!here->everything)
		profile->row_calls[here->row] = 0;
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

void dw_profile_note(void *pass, uint64_t ticks, const struct dw_record *record)
{
	struct dw_profile_pass *profile = pass;

	profile->worker->other_categories |= profile_category_of(record);
}

/* ---- the sums of the workers -------------------------------------------------------------- */

/* Also for negative values, which result from subtractions. */
static uint64_t profile_scale_ticks(uint64_t ticks, double ratio)
{
	return ratio == 1 ? ticks : (uint64_t)(int64_t)((double)(int64_t)ticks * ratio);
}

bool dw_profile_merge(void *into, void *memory, uint32_t file)
{
	const struct dw_profile_sums *sums = into;
	struct dw_profile_worker *worker = memory;
	double ratio = dw_file_ratio(sums->models[0]->source, file);

	for (unsigned scope = 0; scope < sums->count; scope++) {
		struct dw_flat_all *all = sums->profiles[scope];

		for (uint32_t bits = 1; bits < 1u << DW_SCOPES; bits++)
			for (uint32_t row = 0, first = worker->combinations[bits];
			     first && bits >> scope & 1 && row < all->row_count; row++) {
				dw_tally_merge(&all->tallies[row], &sums->models[scope]->arena, &worker->tallies[first + row], ratio);
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
	return !worker->failed;
}

/* ---- the walk ----------------------------------------------------------------------------- */

/* Two loops, so that a walk over everything has no cost for scopes. */
#define LOOP profile_everything
#define LOOP_HOOKS .chains = true, .all_linked = true
#define LOOP_PARTS(PART) PART(profile, ALWAYS)
#define LOOP_DROPS_ROWS
#define LOOP_EVERYTHING
#include "model/core/loop.h"

#define LOOP profile_scoped
#define LOOP_HOOKS .chains = true, .all_linked = true, .scoped = true
#define LOOP_PARTS(PART) PART(profile, ALWAYS)
#include "model/core/loop.h"

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
	struct dw_flat_all *all = result;
	struct dw_profile_sums own = { &model, &all, 1, 0, dw_profile_prepare(model, all, *by) };
	struct dw_part_sums sums = { .profile = &own };
	const struct dw_segments *segments = own.ops ? dw_model_segments(model) : NULL;

	own.row_count = all->row_count;
	if (!segments || !(dw_scope_is_all(model) ? profile_everything_walk_all(model, &sums, segments, NULL)
	                                          : profile_scoped_walk_all(model, &sums, segments, NULL)))
		return false;
	dw_profile_finish(model, all);
	return true;
}

DW_PRODUCT_OF_RECORDS(profile, struct dw_flat_all, profile_compute_all, NULL);

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

DW_PRODUCT_OF_RECORDS(flat, struct dw_flat, profile_choose, NULL);

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
