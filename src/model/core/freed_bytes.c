/*
 * The bytes that each free subtracts.
 *
 * A FREE record has only an address. Memory may be allocated in one stream and freed in another,
 * but a pass reads one stream after the other. All allocations and frees of a process are therefore
 * sorted by address and time first. A free of memory that was allocated before the recording counts
 * 0 bytes. Memory of devices counts 0 bytes too: the columns show CPU memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/core/events.h"
#include "model/core/freed_bytes.h"
#include "model/core/scope.h"

struct change {
	uint64_t ns, address, bytes;
	uint32_t process;
	uint32_t order;
	bool is_free;
};

struct collection {
	struct dw_model *model;
	struct change *changes;
	size_t count, capacity;
	bool failed;
};

static int freed_collect(void *pointer, const struct dw_event *event)
{
	struct collection *all = pointer;
	const char *device;
	struct change *change;

	if (event->type != DW_EVENT_ALLOC && event->type != DW_EVENT_FREE)
		return 0;
	change = DW_GROW(&all->changes, &all->capacity, all->count);
	if (!change || all->count == UINT32_MAX) {
		all->failed = true;
		return -1;
	}
	device = all->model->symbols[event->symbol].detail;
	change->ns = event->start_ns;
	change->address = event->handle;
	change->bytes = !device || strncmp(device, "cpu", 3) == 0 ? event->size_bytes : 0;
	change->process = all->model->source->threads[event->thread].process;
	change->order = (uint32_t)all->count++;
	change->is_free = event->type == DW_EVENT_FREE;
	return 0;
}

static int freed_compare_changes(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* Sorted by address and time, a free follows its allocation. */
static void freed_resolve(struct collection *all, struct dw_freed_change *changes)
{
	uint64_t live = 0;

	if (all->count)
		qsort(all->changes, all->count, sizeof *all->changes, freed_compare_changes);
	for (size_t i = 0; i < all->count; i++) {
		const struct change *change = &all->changes[i];

		if (!i || change[-1].process != change->process || change[-1].address != change->address)
			live = 0;
		changes[change->order].address = change->address;
		if (change->is_free) {
			changes[change->order].bytes = -(int64_t)live;
			live = 0;
		} else {
			changes[change->order].bytes = (int64_t)change->bytes;
			live = change->bytes;
		}
	}
}

static bool freed_has_allocations(const struct dw_model *model)
{
	for (uint32_t i = 0; i < model->symbol_count; i++)
		if (model->symbols[i].category == DWELL_CATEGORY_ALLOCATION)
			return true;
	return false;
}

bool dw_freed_bytes_init(struct dw_freed_bytes *freed, struct dw_model *model, bool wanted)
{
	static const struct dw_scope everything;
	struct collection all = { .model = model };
	bool done = true;

	memset(freed, 0, sizeof *freed);
	if (!wanted || !freed_has_allocations(model))
		return true;
	/* Memory freed in scope may have been allocated out of scope. */
	if (!dw_scope_is_all(model) && dw_model_within(model, &everything, &all.model, NULL) != 0)
		return false;
	dw_model_events(all.model, freed_collect, &all, NULL);
	done = !all.failed;
	freed->changes = done ? calloc(all.count + 1, sizeof *freed->changes) : NULL;
	if (freed->changes) {
		freed_resolve(&all, freed->changes);
		freed->count = all.count;
	}
	free(all.changes);
	return freed->changes != NULL;
}

void dw_freed_bytes_reset(struct dw_freed_bytes *freed)
{
	free(freed->changes);
}
