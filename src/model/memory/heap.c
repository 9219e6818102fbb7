/*
 * The places of the code that allocate from the heap; see struct dw_memory_place.
 *
 * The holders of the account are call stacks in ranges. Those of the same place are added up.
 */
#include <math.h>

#include "base/map.h"
#include "base/numbers.h"
#include "base/order.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/memory/account.h"

#define BEYOND_CHANCE 3.0 /* standard deviations */

static const struct dw_source_function unread = { "(stack not read)", NULL, 0 };

bool dw_source_has_heap(const struct dw_source *source)
{
	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, DW_KEY_HEAP_PERIOD) == 0 || strcmp(source->metas[i].key, DW_KEY_HEAP_LACKS) == 0)
			return true;
	return false;
}

double dw_memory_error(double variance)
{
	return variance > 0 ? DW_DEVIATIONS * sqrt(variance) : 0;
}

/* Libraries between a program and malloc. */
static bool heap_is_runtime(const struct dw_source_frame *frame)
{
	return frame->role == DW_LIBRARY_SYSTEM || frame->role == DW_LIBRARY_ALLOCATOR || frame->role == DW_LIBRARY_RECORDER;
}

enum wanted { WITH_LINES, OUTSIDE_RUNTIME, ANY };

/* The first two functions of a stack that are wanted, innermost first. */
static unsigned heap_find_functions(const struct dw_source_file *file, uint32_t stack, enum wanted wanted,
                                    const struct dw_source_function *found[2])
{
	unsigned count = 0;

	if (!file->frames || !file->stacks || stack >= file->symbol_count)
		return 0;
	for (uint32_t i = 0; i < file->stacks[stack].count; i++) {
		uint32_t id = __atomic_load_n(&file->stacks[stack].frames[i], __ATOMIC_RELAXED);
		const struct dw_source_frame *frame = id < file->symbol_count ? file->frames[id] : NULL;

		for (uint32_t n = 0; frame && n < frame->count && (wanted == ANY || !heap_is_runtime(frame)); n++) {
			const struct dw_source_function *function = &frame->functions[n];

			/* Python's own importer has lines in no file: "<frozen importlib._bootstrap>". */
			if (wanted == WITH_LINES && (!function->file || !function->line || *function->file == '<'))
				continue;
			found[count++] = function;
			if (count == 2)
				return count;
		}
	}
	return count;
}

static bool heap_is_same(const struct dw_source_function *a, const struct dw_source_function *b)
{
	return a == b || (a && b && a->line == b->line && strcmp(a->name, b->name) == 0 && dw_text_same(a->file, b->file));
}

static uint32_t heap_hash(uint32_t hash, const struct dw_source_function *function)
{
	if (!function)
		return hash;
	hash = dw_map_hash_bytes(hash, function->name, strlen(function->name));
	return dw_map_hash_bytes(hash, &function->line, sizeof function->line);
}

static void heap_add(struct dw_memory_place *place, const struct dw_memory_holder *holder, double halves[2])
{
	place->use.at_peak_bytes += holder->use.at_peak_bytes;
	place->use.live_bytes += holder->use.live_bytes;
	place->use.live_count += holder->use.live_count;
	place->use.allocated_bytes += holder->use.allocated_bytes;
	place->use.freed_bytes += holder->use.freed_bytes;
	place->use.allocations += holder->use.allocations;
	place->samples += holder->samples;
	place->use.frees += holder->use.frees;
	place->peak_variance += (double)holder->variance.at_peak;
	place->live_variance += (double)holder->variance.now;
	place->growth_bytes += (double)holder->marked[2] - (double)holder->marked[0];
	place->growth_variance += (double)holder->changed_variance;
	halves[0] += (double)holder->marked[1] - (double)holder->marked[0];
	halves[1] += (double)holder->marked[2] - (double)holder->marked[1];
}

DW_ORDER(heap_compare_places, struct dw_memory_place, DW_DOWN(use.at_peak_bytes) DW_DOWN(use.allocated_bytes)
         DW_TEXT(function->name) DW_UP(function->line))

/* Where a holder's stack allocates. */
static void heap_find_place(const struct dw_source_file *file, const struct dw_memory_holder *holder, struct dw_memory_place *place)
{
	const struct dw_source_function *at[2] = { &unread, NULL };

	if (!heap_find_functions(file, holder->stack, WITH_LINES, at) && !heap_find_functions(file, holder->stack, OUTSIDE_RUNTIME, at))
		heap_find_functions(file, holder->stack, ANY, at);
	*place = (struct dw_memory_place){ .function = at[0], .caller = at[1] };
}

/* Adds up the holders of a device by place, or by thread. Returns an array of the arena; NULL: out of memory. */
static struct dw_memory_place *heap_add_up(const struct dw_memory_account *account, uint32_t device, bool by_thread, size_t *count)
{
	const struct dw_source *source = account->model->source;
	const struct dw_source_file *file = &source->files[source->processes[account->process].file];
	double(*halves)[2] = calloc(account->holder_count + 1, sizeof *halves);
	struct dw_memory_place *places = dw_arena_alloc(&account->model->arena, (account->holder_count + 1) * sizeof *places);
	struct dw_map map = { NULL, 0, 0 };
	bool good = halves && places;

	for (size_t i = 0; good && i < account->holder_count; i++) {
		const struct dw_memory_holder *holder = &account->holders[i];
		struct dw_memory_place place = { .thread = holder->thread };
		uint32_t hash, found;

		if (holder->device != device)
			continue;
		if (!by_thread)
			heap_find_place(file, holder, &place);
		hash = heap_hash(heap_hash(place.thread, place.function), place.caller);
		found = DW_MAP_FIND(&map, hash, n, places[n].thread == place.thread && heap_is_same(places[n].function, place.function) &&
		                                       heap_is_same(places[n].caller, place.caller));
		if (found == DW_MAP_NONE) {
			found = (uint32_t)(*count)++;
			places[found] = place;
			good = dw_map_add(&map, hash, found);
		}
		heap_add(&places[found], holder, halves[found]);
	}
	for (size_t i = 0; good && i < *count; i++)
		places[i].grows = places[i].growth_bytes > BEYOND_CHANCE * sqrt(fmax(places[i].growth_variance, 0)) &&
		                  fmin(halves[i][0], halves[i][1]) > places[i].growth_bytes / 5;
	dw_map_reset(&map);
	free(halves);
	return good ? places : NULL;
}

bool dw_memory_make_places(struct dw_memory_pool *pool, const struct dw_memory_account *account, uint32_t device)
{
	pool->growth_steps = account->growth_steps;
	pool->places = heap_add_up(account, device, false, &pool->place_count);
	pool->threads = heap_add_up(account, device, true, &pool->thread_count);
	for (size_t i = 0; i < account->holder_count; i++) {
		if (account->holders[i].device != device)
			continue;
		pool->peak_variance += (double)account->holders[i].variance.at_peak;
		pool->live_variance += (double)account->holders[i].variance.now;
	}
	if (pool->places)
		DW_SORT(pool->places, pool->place_count, heap_compare_places);
	return pool->places && pool->threads;
}
