/*
 * The account of a process: the live bytes by kind and by owner, and the peak.
 *
 * Reads allocations and frees in order of time. A level lasts from one event to the next. When it
 * ends, it is compared with the peak (if a part of its time is in scope) and with the largest level
 * of each bucket that it covers. A new peak copies no levels: it only increments the device's
 * `epoch`. Each level has the epoch in which it last changed, and stores its value at the peak
 * before it changes again. So the cost of an event does not depend on the number of owners.
 *
 * A block that was allocated before the scope is live in the scope. Therefore levels count all
 * events; sums of allocations and frees count only events in scope.
 */
#include <strings.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"
#include "model/memory/account.h"

#define BUCKETS (DW_MEMORY_POINTS - 1)
#define MOST_PATHS (1u << 20)
#define DEEPEST_PATH 256u

static const char *const kind_names[] = { DW_MEMORY_KINDS(DW_LIST_TEXT) };

const char *dw_memory_kind_name(enum dw_memory_kind kind)
{
	return kind_names[kind];
}

/* ---- levels in time ------------------------------------------------------------------------ */

static void account_catch_up(const struct dw_memory_device *device, struct dw_memory_level *level)
{
	if (level->failures != device->failures) {
		level->at_failure = level->now;
		level->failures = device->failures;
	}
	if (level->epoch == device->epoch)
		return;
	level->at_peak = level->now;
	level->epoch = device->epoch;
}

static void account_fill_bucket(struct dw_memory_bucket *bucket, const struct dw_memory_device *device, uint64_t ticks)
{
	if (bucket->used && device->now <= bucket->total)
		return;
	bucket->used = true;
	bucket->total = device->now;
	bucket->ticks = ticks;
	for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++)
		bucket->kinds[kind] = device->levels[kind].now;
}

static void account_draw(const struct dw_memory_account *account, struct dw_memory_device *device,
                         uint64_t since, uint64_t until)
{
	uint64_t width = account->bucket_ticks, first, last;

	if (until < account->from_ticks || since > account->to_ticks)
		return;
	since = since > account->from_ticks ? since : account->from_ticks;
	until = until < account->to_ticks ? until : account->to_ticks;
	first = (since - account->from_ticks) / width;
	last = (until - account->from_ticks) / width;
	account_fill_bucket(&device->buckets[first], device, since);
	for (uint64_t i = first + 1; i <= last; i++)
		if (account->from_ticks + i * width < until)
			account_fill_bucket(&device->buckets[i], device, account->from_ticks + i * width);
}

/* Ends the level that the device has had since `since`. */
static void account_end_level(struct dw_memory_account *account, struct dw_memory_device *device, uint64_t until)
{
	uint64_t at = device->since;

	if (device->interval) {
		while (device->interval->end_ticks <= at && device->interval->start_ticks != UINT64_MAX)
			device->interval++;
		if (device->interval->start_ticks > at)
			at = device->interval->start_ticks;
	}
	if ((at == device->since || at < until) && device->now > device->peak) {
		device->peak = device->now;
		device->peak_ticks = at;
		device->epoch++;
	}
	account_draw(account, device, device->since, until);
	device->since = until;
}

/* ---- devices, kinds, holders --------------------------------------------------------------- */

static bool account_add_device(struct dw_memory_account *account, const char *name)
{
	struct dw_memory_device *device = DW_GROW(&account->devices, &account->device_capacity, account->device_count);

	if (device)
		device->buckets = calloc(BUCKETS, sizeof *device->buckets);
	if (!device || !device->buckets)
		return false;
	account->device_count++;
	device->name = account->device_count == DW_MEMORY_DEVICES ? "other devices" : name;
	if (account->model->intervals)
		device->interval = account->model->intervals[account->process];
	return true;
}

/* DW_NO_INDEX when out of memory. */
static uint32_t account_find_device(struct dw_memory_account *account, uint32_t symbol)
{
	const char *name = account->model->symbols[symbol].detail;
	size_t at = 0;

	if (account->device_by_symbol[symbol])
		return account->device_by_symbol[symbol] - 1u;
	name = name ? name : "cpu";
	while (at < account->device_count && strcmp(account->devices[at].name, name) != 0)
		at++;
	if (at == DW_MEMORY_DEVICES)
		at--;
	else if (at == account->device_count && !account_add_device(account, name))
		return DW_NO_INDEX;
	account->device_by_symbol[symbol] = (uint8_t)(at + 1);
	return (uint32_t)at;
}

uint32_t dw_memory_kind_of(struct dw_memory_account *account, uint32_t symbol)
{
	const char *name = account->model->symbols[symbol].name;
	uint32_t kind = 0;

	if (account->kind_by_symbol[symbol])
		return account->kind_by_symbol[symbol] - 1u;
	if (strcasecmp(name, "optimizer_state") == 0)
		kind = DW_MEMORY_OPTIMIZER_STATE;
	else
		while (kind < DW_MEMORY_OTHER && strcasecmp(name, kind_names[kind]) != 0)
			kind++;
	account->kind_by_symbol[symbol] = (uint8_t)(kind + 1);
	return kind;
}

/* DW_NO_INDEX when out of memory. */
static uint32_t account_find_holder(struct dw_memory_account *account, const struct dw_memory_event *event, uint32_t device)
{
	uint32_t layer = account->fails ? event->layer : DW_NO_INDEX;
	uint32_t hash = dw_map_hash(((uint64_t)event->stack << 32 | event->thread) ^ (uint64_t)event->path << 8 ^ device ^
	                            (uint64_t)(layer + 1) << 40), found;
	struct dw_memory_holder *holder;

	found = DW_MAP_FIND(&account->by_path, hash, i, account->holders[i].path == event->path &&
	                                                account->holders[i].device == device &&
	                                                account->holders[i].stack == event->stack &&
	                                                account->holders[i].thread == event->thread &&
	                                                account->holders[i].layer == layer);
	if (found != DW_MAP_NONE)
		return found;
	holder = DW_GROW(&account->holders, &account->holder_capacity, account->holder_count);
	if (!holder || !dw_map_add(&account->by_path, hash, (uint32_t)account->holder_count))
		return DW_NO_INDEX;
	holder->path = event->path;
	holder->device = device;
	holder->stack = event->stack;
	holder->thread = event->thread;
	holder->layer = layer;
	return (uint32_t)account->holder_count++;
}

/* ---- growth -------------------------------------------------------------------------------- */

/* The marks: the begin of the step after a quarter of all, of one between, and of the last one. So each is at the same place of
 * a step, and what the first steps make and keep is no growth. */
static void account_set_marks(struct dw_memory_account *account)
{
	const struct dw_memory_in_step *steps = account->steps;
	size_t from = 0, end = account->step_count, first;

	while (from < end && steps[from].start_ticks < account->from_ticks)
		from++;
	while (end > from && steps[end - 1].start_ticks > account->to_ticks)
		end--;
	if (end - from < 8)
		return;
	first = from + (end - from + 3) / 4;
	account->growth_steps = end - 1 - first;
	account->marks[0] = steps[first].start_ticks;
	account->marks[1] = steps[first + account->growth_steps / 2].start_ticks;
	account->marks[2] = steps[end - 1].start_ticks;
	account->mark_count = DW_MEMORY_MARKS;
}

static void account_pass_marks(struct dw_memory_account *account, uint64_t ticks)
{
	for (; account->mark < account->mark_count && ticks >= account->marks[account->mark]; account->mark++)
		for (size_t i = 0; i < account->holder_count; i++)
			account->holders[i].marked[account->mark] = account->holders[i].level.now;
}

/* Whether it is between the first mark and the last one. */
static bool account_is_between(const struct dw_memory_account *account)
{
	return account->mark > 0 && account->mark < account->mark_count;
}

/* ---- events -------------------------------------------------------------------------------- */

static bool account_in_scope(struct dw_memory_account *account, uint64_t ticks)
{
	if (!account->interval)
		return true;
	while (ticks >= account->interval->end_ticks && account->interval->start_ticks != UINT64_MAX)
		account->interval++;
	return ticks >= account->interval->start_ticks;
}

static void account_release(struct dw_memory_account *account, uint32_t number, uint64_t ticks, bool counts)
{
	const struct dw_memory_block *live = &account->blocks[number];
	struct dw_memory_holder *holder = &account->holders[live->holder];
	struct dw_memory_device *device = &account->devices[holder->device];
	struct dw_memory_use *kind = &device->kinds[live->kind];

	account_end_level(account, device, ticks);
	account_catch_up(device, &holder->level);
	account_catch_up(device, &device->levels[live->kind]);
	account_catch_up(device, &holder->variance);
	holder->level.now -= live->bytes;
	holder->variance.now -= live->variance;
	if (account_is_between(account))
		holder->changed_variance += live->mark ? -live->variance : live->variance;
	device->levels[live->kind].now -= live->bytes;
	device->now -= live->bytes;
	holder->use.live_count -= live->count;
	kind->live_count -= live->count;
	if (counts) {
		holder->use.freed_bytes += live->bytes;
		kind->freed_bytes += live->bytes;
		holder->use.frees += live->count;
		kind->frees += live->count;
	}
	dw_live_remove(&account->live, number);
}

/* The kind of the next allocation, from the first pass. If the trace is still written, the second
 * pass may find more allocations; these have the kind that their symbol names. */
static uint32_t account_next_kind(struct dw_memory_account *account, uint32_t symbol)
{
	size_t at = account->allocation++;

	return at < account->kind_count ? account->kinds[at] : dw_memory_kind_of(account, symbol);
}

/* Of steps of several threads that overlap, the block belongs to the first. */
static void account_note_activation(struct dw_memory_account *account, uint64_t ticks, uint64_t bytes)
{
	struct dw_memory_in_step *step;

	while (account->step_at < account->step_count && account->steps[account->step_at].end_ticks <= ticks)
		account->step_at++;
	step = account->steps + account->step_at;
	if (account->step_at < account->step_count && step->start_ticks <= ticks && bytes > step->result.largest_bytes)
		step->result.largest_bytes = bytes;
}

static bool account_allocate(struct dw_memory_account *account, const struct dw_memory_event *event, bool counts)
{
	struct dw_memory_block *block;
	uint32_t number;
	uint64_t bytes = event->bytes & INT64_MAX; /* a damaged trace may have any value */
	uint32_t index = account_find_device(account, event->symbol),
			 kind = account_next_kind(account, event->symbol);
	uint32_t owner = index == DW_NO_INDEX ? index : account_find_holder(account, event, index);
	struct dw_memory_device *device;
	struct dw_memory_holder *holder;

	if (owner == DW_NO_INDEX)
		return false;
	device = &account->devices[index];
	holder = &account->holders[owner];
	account_end_level(account, device, event->ticks);
	account_catch_up(device, &holder->level);
	account_catch_up(device, &device->levels[kind]);
	account_catch_up(device, &holder->variance);
	holder->level.now += bytes;
	holder->variance.now += event->variance;
	if (account_is_between(account))
		holder->changed_variance += event->variance;
	device->sampled |= event->space == DW_MEMORY_HEAP;
	device->levels[kind].now += bytes;
	device->now += bytes;
	holder->use.live_count += event->count;
	device->kinds[kind].live_count += event->count;
	if (counts) {
		holder->use.allocated_bytes += bytes;
		device->kinds[kind].allocated_bytes += bytes;
		holder->use.allocations += event->count;
		holder->samples++;
		device->kinds[kind].allocations += event->count;
		if (kind == DW_MEMORY_ACTIVATION)
			account_note_activation(account, event->ticks, bytes);
	}
	number = dw_live_add(&account->live, event->address, event->space);
	block = number == DW_MAP_NONE ? NULL : DW_GROW(&account->blocks, &account->block_capacity, number);
	if (!block)
		return false;
	*block = (struct dw_memory_block){ bytes, event->variance, owner, kind, event->count, account->mark };
	return true;
}

/* The symbol of an allocation on the device whose counter this is; DW_NO_INDEX: there is none. */
static uint32_t account_find_reserving(const struct dw_memory_account *account, uint32_t counter)
{
	const struct dw_model *model = account->model;
	size_t length = dw_memory_reserved_device(&model->symbols[counter]);

	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];

		if (symbol->category == DWELL_CATEGORY_ALLOCATION && symbol->detail &&
		    strncmp(symbol->detail, model->symbols[counter].name, length) == 0 && !symbol->detail[length])
			return i;
	}
	return DW_NO_INDEX;
}

/* The counter stands before the first block, so its device may be new. */
static bool account_reserve(struct dw_memory_account *account, const struct dw_memory_event *event)
{
	uint32_t counter = event->symbol, index, symbol;
	struct dw_memory_device *device;

	if (!account->device_by_symbol[counter]) {
		symbol = account_find_reserving(account, counter);
		index = symbol == DW_NO_INDEX ? DW_NO_INDEX : account_find_device(account, symbol);
		if (index == DW_NO_INDEX)
			return symbol == DW_NO_INDEX;
		account->device_by_symbol[counter] = (uint8_t)(index + 1);
	}
	device = &account->devices[account->device_by_symbol[counter] - 1u];
	account_end_level(account, device, event->ticks);
	account_catch_up(device, &device->reserved);
	device->reserved.now = event->bytes;
	if (account_in_scope(account, event->ticks) && event->bytes > device->most_reserved)
		device->most_reserved = event->bytes;
	return true;
}

static bool account_fail(struct dw_memory_account *account, const struct dw_memory_event *event)
{
	uint32_t index = account_find_device(account, event->symbol);
	struct dw_memory_device *device;

	if (index == DW_NO_INDEX)
		return false;
	if (!account_in_scope(account, event->ticks))
		return true;
	device = &account->devices[index];
	device->failures++;
	device->failure = *event;
	return true;
}

void dw_memory_account_put(struct dw_memory_account *account, const struct dw_memory_event *event)
{
	bool counts = account_in_scope(account, event->ticks), is_free = event->type == DW_MEMORY_FREE;
	uint32_t number;

	if (event->type == DW_MEMORY_SAID || account->failed)
		return;
	account_pass_marks(account, event->ticks);
	if (event->type == DW_MEMORY_RESERVED) {
		account->failed = !account_reserve(account, event);
		return;
	}
	if (event->type == DW_MEMORY_FAILED) {
		account->failed = !account_fail(account, event);
		return;
	}
	number = dw_live_find(&account->live, event->address, event->space);
	if (is_free && number == DW_MAP_NONE) {
		/* In a scope of threads, a thread out of scope may have allocated it. */
		account->unknown_frees += counts && !account->model->wanted_threads;
		return;
	}
	if (number != DW_MAP_NONE) {
		account->doubled += !is_free && counts;
		account_release(account, number, event->ticks, counts && is_free);
	}
	if (!is_free)
		account->failed = !account_allocate(account, event, counts);
}

/* ---- where ------------------------------------------------------------------------------------- */

uint32_t dw_memory_owner_row(const struct dw_memory_account *account, uint32_t index)
{
	const struct dw_call_path *path = dw_call_path_at(&account->paths, index);
	const struct dw_model *model = account->model;
	uint32_t innermost = path->key;

	for (; path->depth; path = dw_call_path_at(&account->paths, path->parent))
		if (model->symbols[model->row_symbol[path->key]].category == DWELL_CATEGORY_OPERATOR)
			return path->key;
	return innermost;
}

uint32_t dw_memory_step_at(const struct dw_source *source, uint32_t process, uint64_t ticks)
{
	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (source->threads[step->thread].process == process && ticks >= step->start_ticks &&
		    (ticks < step->end_ticks || step->open))
			return (uint32_t)i;
	}
	return DW_NO_INDEX;
}

/* ---- beginning and end --------------------------------------------------------------------- */

DW_ORDER(account_compare_steps, struct dw_memory_in_step, DW_UP(start_ticks))

static bool account_find_steps(struct dw_memory_account *account)
{
	const struct dw_source *source = account->model->source;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		const struct dw_source_thread *thread = &source->threads[step->thread];

		if (thread->process != account->process)
			continue;
		if (!DW_APPEND(&account->steps, &account->step_capacity, &account->step_count,
		               (struct dw_memory_in_step){ step->start_ticks, step->open ? UINT64_MAX : step->end_ticks,
		                   { .thread = step->thread, .start_ns = step->start_ns } }))
			return false;
	}
	DW_SORT(account->steps, account->step_count, account_compare_steps);
	return true;
}

bool dw_memory_account_init(struct dw_memory_account *account, struct dw_model *model, uint32_t process)
{
	const struct dw_source_process *from = &model->source->processes[process];
	const struct dw_source_clock *clock = &model->source->files[from->file].clock;
	const struct dw_interval *at = model->intervals ? model->intervals[process] : NULL;

	memset(account, 0, sizeof *account);
	account->model = model;
	account->process = process;
	account->interval = at;
	/* Also where the scope begins after the process's end: it holds nothing then. */
	if (at && (at->start_ticks == UINT64_MAX || at->start_ticks > dw_source_ticks(clock, from->end_ns)))
		return false;
	account->from_ticks = at ? at->start_ticks : dw_source_ticks(clock, from->start_ns);
	account->to_ticks = at ? at->end_ticks : dw_source_ticks(clock, from->end_ns);
	for (; at && at->start_ticks != UINT64_MAX; at++)
		account->to_ticks = at->end_ticks;
	if (account->to_ticks < account->from_ticks)
		account->to_ticks = account->from_ticks;
	account->bucket_ticks = (account->to_ticks - account->from_ticks) / BUCKETS + 1;
	account->device_by_symbol = calloc(model->symbol_count + 1, 1);
	account->kind_by_symbol = calloc(model->symbol_count + 1, 1);
	account->paths = (struct dw_call_paths){ .node_bytes = sizeof(struct dw_call_path),
		.most = MOST_PATHS, .deepest = DEEPEST_PATH };
	account->failed = !account->device_by_symbol || !account->kind_by_symbol || !account_find_steps(account) ||
	                  dw_call_path_root(&account->paths, DW_NO_INDEX) != 0;
	account_set_marks(account);
	return !account->failed;
}

void dw_memory_account_end(struct dw_memory_account *account)
{
	account_pass_marks(account, UINT64_MAX);
	for (size_t i = 0; i < account->device_count; i++) {
		struct dw_memory_device *device = &account->devices[i];

		account_end_level(account, device, account->to_ticks > device->since ? account->to_ticks : device->since);
		if (account->killed && !account->model->intervals) {
			device->failures++;
			device->failure = (struct dw_memory_event){ .ticks = account->to_ticks, .layer = DW_NO_INDEX };
		}
		account_catch_up(device, &device->reserved);
		for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++) {
			account_catch_up(device, &device->levels[kind]);
			device->kinds[kind].at_peak_bytes = device->levels[kind].at_peak;
			device->kinds[kind].at_failure_bytes = device->levels[kind].at_failure;
			device->kinds[kind].live_bytes = device->levels[kind].now;
		}
	}
	for (size_t i = 0; i < account->holder_count; i++) {
		struct dw_memory_holder *holder = &account->holders[i];

		account_catch_up(&account->devices[holder->device], &holder->level);
		account_catch_up(&account->devices[holder->device], &holder->variance);
		holder->use.at_peak_bytes = holder->level.at_peak;
		holder->use.at_failure_bytes = holder->level.at_failure;
		holder->use.live_bytes = holder->level.now;
	}
}

void dw_memory_account_reset(struct dw_memory_account *account)
{
	for (size_t i = 0; i < account->device_count; i++)
		free(account->devices[i].buckets);
	DW_FREE(account->devices, account->device_by_symbol, account->kind_by_symbol, account->holders);
	dw_map_reset(&account->by_path);
	DW_FREE(account->blocks, account->steps);
	dw_live_reset(&account->live);
	dw_call_paths_reset(&account->paths);
	memset(account, 0, sizeof *account);
}
