/*
 * Memory against a reference account, over random streams (random_stream.h).
 *
 * Allocations and frees are drawn among the ranges: of known and unknown addresses, twice of the
 * same one, on two devices, of two streams whose records mix in time. The reference goes through
 * all events in order of time and keeps every block in a list. Compared are, by device and by
 * owner: allocations, frees and their bytes, what is left, and what was held at the peak; of the
 * categories only those that the program names itself.
 */
#include "random_stream.h"

#include "model/core/model_data.h"
#include "model/core/segments.h"
#include "model/memory/memory.h"

/* ---- drawing ----------------------------------------------------------------------------- */

/* `meaning`: what a range of the name is to the owner of an allocation. */
enum { OWNS_NOTHING, NAMED_RANGE, OPERATOR_RANGE };

static const struct random_name names[] = {
	{ .name = "zone a", .category = DWELL_CATEGORY_ZONE, .meaning = NAMED_RANGE },
	{ .name = "action", .category = DWELL_CATEGORY_ACTION, .meaning = NAMED_RANGE },
	{ .name = "op a", .category = DWELL_CATEGORY_OPERATOR, .meaning = OPERATOR_RANGE },
	{ .name = "op b", .category = DWELL_CATEGORY_OPERATOR, .meaning = OPERATOR_RANGE },
	{ .name = "aten::mm", .category = DWELL_CATEGORY_OPERATOR, .meaning = OPERATOR_RANGE },
	{ .name = "net.a", .category = DWELL_CATEGORY_LAYER },
	{ .name = "fn a", .category = DWELL_CATEGORY_FUNCTION },
	{ .name = "collect", .category = DWELL_CATEGORY_COLLECTOR },
	{ .name = "forward", .category = DWELL_CATEGORY_PHASE, .meaning = NAMED_RANGE },
	{ .name = "backward", .category = DWELL_CATEGORY_PHASE, .meaning = NAMED_RANGE },
	{ .name = "optimizer", .category = DWELL_CATEGORY_PHASE, .meaning = NAMED_RANGE },
	{ .name = "next batch", .category = DWELL_CATEGORY_DATA, .meaning = NAMED_RANGE },
};
enum {
	OPS = sizeof names / sizeof *names,
	NO_OWNER = OPS,
	OWNERS,
	DEVICES = 2,
	SAID = 3,          /* names of categories that the program says; the one after is "other" */
	ADDRESSES = 30,
	DEEPEST_OWNER = 256, /* owners deeper than this many count as the one that they lie in */
};

static const char *const device_names[DEVICES] = { "cpu", "gpu" };
static const char *const category_names[SAID + 1] = { "parameter", "activation", "optimizer_state",
	                                                  "other" };
static const enum dw_memory_kind category_kinds[SAID] = { DW_MEMORY_PARAMETER,
	                                                      DW_MEMORY_ACTIVATION,
	                                                      DW_MEMORY_OPTIMIZER_STATE };

/* An allocation or a free. */
struct event {
	uint64_t ticks, address, bytes;
	uint32_t stream, device, category, owner;
	bool is_free;
	bool within[OWNERS]; /* the owners around an allocation, and its own */
};

static struct event *events;
static size_t event_count, event_capacity;
static uint32_t allocation_ids[DEVICES][SAID + 1], free_id;

static void memory_draw_begin(void)
{
	event_count = 0;
	for (uint32_t device = 0; device < DEVICES; device++)
		for (uint32_t i = 0; i <= SAID; i++)
			allocation_ids[device][i] =
			    dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, category_names[i],
			                 device ? device_names[device] : NULL, 0, NULL, 0);
	free_id = dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, "free", NULL, 0, NULL, 0);
}

/* The innermost open operator, else the innermost range with a name of the program's. */
static void memory_find_owner(struct event *event)
{
	uint32_t depth = 0;
	bool in_operator = false;

	event->owner = NO_OWNER;
	for (uint32_t i = 0; i < reference.depth && depth < DEEPEST_OWNER; i++) {
		uint32_t op = reference.open[i].op, meaning = names[op].meaning;

		if (meaning == OWNS_NOTHING)
			continue;
		depth++;
		event->within[op] = true;
		if (meaning == OPERATOR_RANGE || !in_operator)
			event->owner = op;
		in_operator |= meaning == OPERATOR_RANGE;
	}
	if (event->owner == NO_OWNER)
		event->within[NO_OWNER] = true;
}

static void memory_draw_other(void)
{
	struct event event = { .ticks = random_next_time(), .stream = reference.stream };
	uint64_t words[2];

	event.is_free = random_below(100) < 45;
	event.address = words[0] = 0x1000 + random_below(random_below(4) ? 8 : ADDRESSES);
	if (event.is_free) {
		dw_encode_record(random_stream(), event.ticks, DW_FREE, free_id, words, 2);
	} else {
		event.device = random_below(4) == 0;
		event.category = random_below(SAID + 1);
		event.bytes = words[1] = random_below(20) ? random_below(5000) : (uint64_t)1 << 33;
		memory_find_owner(&event);
		dw_encode_record(random_stream(), event.ticks, DW_ALLOC,
		                 allocation_ids[event.device][event.category], words, 4);
	}
	events = random_grow(events, &event_capacity, event_count, sizeof *events);
	events[event_count++] = event;
}

/* ---- the reference account --------------------------------------------------------------- */

struct account {
	struct dw_memory_use uses[DEVICES][OWNERS];
	uint64_t total_bytes[DEVICES][OWNERS], total_count[DEVICES][OWNERS];
	struct dw_memory_use said[DEVICES][SAID + 1];
	uint64_t level[DEVICES], peak[DEVICES], peak_ticks[DEVICES], since[DEVICES];
	const struct event *live[ADDRESSES];
	uint64_t unknown_frees, doubled;
	bool used[DEVICES];
};

static struct account account;

static int memory_compare_events(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

/* The level of a device has lasted until `until`. It may be a peak if a part of that time is in
 * scope. The bytes of each owner at that moment are what is live now. */
static void memory_end_level(uint32_t device, uint64_t until)
{
	uint64_t at = account.since[device];

	if (at < reference.from)
		at = reference.from;
	if ((at == account.since[device] || at < until) &&
	    account.level[device] > account.peak[device]) {
		account.peak[device] = account.level[device];
		account.peak_ticks[device] = at;
		for (uint32_t owner = 0; owner < OWNERS; owner++)
			account.uses[device][owner].at_peak_bytes = account.uses[device][owner].live_bytes;
		for (uint32_t i = 0; i <= SAID; i++)
			account.said[device][i].at_peak_bytes = account.said[device][i].live_bytes;
	}
	account.since[device] = until;
}

static void memory_remove(struct dw_memory_use *use, uint64_t bytes, bool counts)
{
	use->live_bytes -= bytes;
	use->live_count--;
	use->freed_bytes += counts ? bytes : 0;
	use->frees += counts;
}

static void memory_add(struct dw_memory_use *use, uint64_t bytes, bool counts)
{
	use->live_bytes += bytes;
	use->live_count++;
	use->allocated_bytes += counts ? bytes : 0;
	use->allocations += counts;
}

static void memory_release(const struct event *block, uint64_t ticks, bool counts)
{
	uint32_t device = block->device;

	memory_end_level(device, ticks);
	account.level[device] -= block->bytes;
	memory_remove(&account.uses[device][block->owner], block->bytes, counts);
	memory_remove(&account.said[device][block->category], block->bytes, counts);
}

static void memory_allocate(const struct event *event, bool counts)
{
	uint32_t device = event->device;

	memory_end_level(device, event->ticks);
	account.used[device] = true;
	account.level[device] += event->bytes;
	memory_add(&account.uses[device][event->owner], event->bytes, counts);
	memory_add(&account.said[device][event->category], event->bytes, counts);
	for (uint32_t owner = 0; owner < OWNERS && counts; owner++)
		if (event->within[owner]) {
			account.total_bytes[device][owner] += event->bytes;
			account.total_count[device][owner]++;
		}
}

static void memory_take_event(const struct event *event)
{
	const struct event **live = &account.live[event->address - 0x1000];
	bool counts = event->ticks >= reference.from;

	if (event->is_free && !*live)
		account.unknown_frees += counts;
	if (!event->is_free && *live)
		account.doubled += counts;
	if (*live)
		memory_release(*live, event->ticks, counts && event->is_free);
	*live = NULL;
	if (event->is_free)
		return;
	memory_allocate(event, counts);
	*live = event;
}

static void memory_make_account(void)
{
	uint64_t end = reference.to < reference.end ? reference.to : reference.end;

	memset(&account, 0, sizeof account);
	if (reference.from > reference.end) /* the process has ended before the scope begins */
		return;
	if (event_count)
		qsort(events, event_count, sizeof *events, memory_compare_events);
	for (size_t i = 0; i < event_count && events[i].ticks < reference.to; i++)
		memory_take_event(&events[i]);
	for (uint32_t device = 0; device < DEVICES; device++)
		memory_end_level(device, end > account.since[device] ? end : account.since[device]);
}

/* ---- the comparison ---------------------------------------------------------------------- */

static void memory_compare_use(const char *device, const char *owner,
                               const struct dw_memory_use *got, const struct dw_memory_use *want)
{
	if (memcmp(got, want, sizeof *got) == 0)
		return;
	CHECK_FAIL("%s, %s: peak %" PRIu64 " left %" PRIu64 "/%" PRIu64 " allocated %" PRIu64 "/%" PRIu64
	           " freed %" PRIu64 "/%" PRIu64 ", must be %" PRIu64 " %" PRIu64 "/%" PRIu64 " %" PRIu64
	           "/%" PRIu64 " %" PRIu64 "/%" PRIu64, device, owner, got->at_peak_bytes,
	           got->live_bytes, got->live_count, got->allocated_bytes, got->allocations,
	           got->freed_bytes, got->frees, want->at_peak_bytes, want->live_bytes,
	           want->live_count, want->allocated_bytes, want->allocations, want->freed_bytes,
	           want->frees);
}

static const char *memory_owner_name(uint32_t owner)
{
	return owner == NO_OWNER ? "(no operator)" : names[owner].name;
}

static void memory_compare_owner(const struct dw_memory_pool *pool, uint32_t device, uint32_t owner)
{
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);
	const struct dw_memory_owner none = { .symbol = DW_NO_INDEX };
	const struct dw_memory_owner *found = NULL;

	for (size_t i = 0; i < pool->owner_count; i++) {
		uint32_t symbol = pool->owners[i].symbol;

		if (owner == NO_OWNER ? symbol == DW_NO_INDEX
		                      : symbol != DW_NO_INDEX &&
		                            strcmp(symbols[symbol].name, names[owner].name) == 0)
			found = &pool->owners[i];
	}
	found = found ? found : &none;
	memory_compare_use(pool->device, memory_owner_name(owner), &found->use,
	                   &account.uses[device][owner]);
	if (found->total_bytes != account.total_bytes[device][owner] ||
	    found->total_count != account.total_count[device][owner])
		CHECK_FAIL("%s, %s: total %" PRIu64 "/%" PRIu64 ", must be %" PRIu64 "/%" PRIu64,
		           pool->device, memory_owner_name(owner), found->total_bytes, found->total_count,
		           account.total_bytes[device][owner], account.total_count[device][owner]);
}

/* A category that the program says has those blocks at least: "other" ones join some of them. */
static void memory_compare_categories(const struct dw_memory_pool *pool, uint32_t device)
{
	struct dw_memory_use sum = { 0 };

	for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++) {
		sum.at_peak_bytes += pool->kinds[kind].at_peak_bytes;
		sum.live_bytes += pool->kinds[kind].live_bytes;
		sum.live_count += pool->kinds[kind].live_count;
		sum.allocated_bytes += pool->kinds[kind].allocated_bytes;
		sum.freed_bytes += pool->kinds[kind].freed_bytes;
		sum.allocations += pool->kinds[kind].allocations;
		sum.frees += pool->kinds[kind].frees;
	}
	memory_compare_use(pool->device, "sum of categories", &sum, &pool->all);
	/* No rule makes a block a parameter. */
	memory_compare_use(pool->device, "parameter", &pool->kinds[DW_MEMORY_PARAMETER],
	                   &account.said[device][0]);
	for (uint32_t i = 1; i < SAID; i++) {
		const struct dw_memory_use *use = &pool->kinds[category_kinds[i]];

		CHECK(use->allocations >= account.said[device][i].allocations);
		CHECK(use->live_bytes >= account.said[device][i].live_bytes);
		CHECK(use->at_peak_bytes >= account.said[device][i].at_peak_bytes);
	}
}

static void memory_compare_pool(const struct dw_memory_pool *pool, uint32_t device)
{
	struct dw_memory_use all = { 0 };

	for (uint32_t owner = 0; owner < OWNERS; owner++) {
		const struct dw_memory_use *use = &account.uses[device][owner];

		memory_compare_owner(pool, device, owner);
		all.at_peak_bytes += use->at_peak_bytes;
		all.live_bytes += use->live_bytes;
		all.live_count += use->live_count;
		all.allocated_bytes += use->allocated_bytes;
		all.freed_bytes += use->freed_bytes;
		all.allocations += use->allocations;
		all.frees += use->frees;
	}
	memory_compare_use(pool->device, "all", &pool->all, &all);
	CHECK_EQ(pool->all.at_peak_bytes, account.peak[device]);
	if (account.peak[device])
		CHECK_EQ(pool->peak_ns, account.peak_ticks[device]);
	memory_compare_categories(pool, device);
}

static void memory_compare(void)
{
	const struct dw_memory *memory = dw_model_memory(made.model, &made.error);
	uint32_t pools = 0;

	REQUIRE(memory != NULL);
	memory_make_account();
	CHECK_EQ(memory->unknown_frees, account.unknown_frees);
	CHECK_EQ(memory->doubled, account.doubled);
	for (uint32_t device = 0; device < DEVICES; device++) {
		const struct dw_memory_pool *found = NULL;

		pools += account.used[device];
		for (size_t i = 0; i < memory->pool_count; i++)
			if (strcmp(memory->pools[i].device, device_names[device]) == 0)
				found = &memory->pools[i];
		CHECK_EQ(found != NULL, account.used[device]);
		if (found)
			memory_compare_pool(found, device);
	}
	CHECK_EQ(memory->pool_count, pools);
}

/* The segments that memory's walk finds begin as those that the first pass of segments.h finds. A
 * stream may stay in one piece in one of them. */
static void memory_compare_segments(void)
{
	const struct dw_segments *got, *want;
	struct dw_model *models[2];

	for (int i = 0; i < 2; i++) {
		REQUIRE(dw_model_create(&models[i], dw_model_source(made.model), NULL, &made.error) == 0);
		models[i]->segment_chunks = 1 + (reference.now & 1);
	}
	CHECK(dw_model_memory(models[0], NULL) != NULL);
	got = dw_model_segments(models[0]);
	want = dw_model_segments(models[1]);
	REQUIRE(got && want);
	for (size_t i = 0; i < got->count; i++)
		for (size_t w = 0; w < want->count; w++) {
			const struct dw_segment *a = &got->items[i], *b = &want->items[w];

			if (a->stream != b->stream || a->from != b->from || !a->from)
				continue;
			CHECK_EQ(a->to, b->to);
			CHECK_EQ(a->thread, b->thread);
			CHECK_EQ(a->ticks, b->ticks);
			CHECK_EQ(a->floor, b->floor);
			CHECK_EQ(a->open_count, b->open_count);
			for (uint32_t r = 0; r < a->open_count && r < b->open_count; r++) {
				CHECK_EQ(a->open[r].start, b->open[r].start);
				CHECK_EQ(a->open[r].id, b->open[r].id);
			}
		}
	dw_model_destroy(models[0]);
	dw_model_destroy(models[1]);
}

static void memory_compare_all(void)
{
	memory_compare();
	memory_compare_segments();
}

TEST(memory_agrees_with_the_reference_account)
{
	static const struct random_ask ask = { .names = names, .name_count = OPS, .others = 250,
		.draw_other = memory_draw_other, .draw_begin = memory_draw_begin, .windows = true };

	random_test(&ask, NULL, memory_compare_all, 150);
}

CHECK_MAIN
