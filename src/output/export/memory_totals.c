/*
 * Memory in use after each allocation and free; see memory_totals.h.
 *
 * Called by timeline.c. Uses 40 bytes per change and 24 bytes per live block.
 */

#include "base/free.h"
#include "base/live.h"
#include "base/order.h"
#include "export/memory_totals.h"

#define MOST_DEVICES 64u
#define FREED UINT64_MAX

struct dw_memory_change {
	uint64_t ns, address, bytes; /* bytes is FREED for a free */
	uint64_t order;
	uint32_t symbol, track;
};

bool dw_memory_totals_add(struct dw_memory_totals *totals, const struct dw_event *event, uint32_t track)
{
	struct dw_memory_change *change = DW_GROW(&totals->changes, &totals->capacity, totals->count);

	if (!change)
		return false;
	*change = (struct dw_memory_change){
		event->start_ns, event->handle, event->type == DW_EVENT_FREE ? FREED : event->size_bytes,
		totals->count++, event->symbol, track
	};
	return true;
}

DW_ORDER(memory_compare_changes, struct dw_memory_change, DW_UP(ns) DW_UP(order))

/* ---- devices ----------------------------------------------------------------------------- */

struct device {
	const char *name;
	int type, number; /* numbers of PyTorch: CPU 0, CUDA 1; number -1: none */
};

struct block {
	uint64_t bytes;
	uint32_t device;
};

struct replay {
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	struct dw_live live;  /* `space` is the process */
	struct block *blocks; /* by number in `live` */
	size_t block_capacity;
	struct device devices[MOST_DEVICES];
	uint32_t device_count;
	uint8_t *device_by_symbol; /* + 1; 0: not looked up yet */
	int64_t *totals;           /* by process and device */
};

static struct device memory_device_of_name(const char *name)
{
	static const struct {
		const char *name;
		int type;
	} types[] = {
		{ "cpu", 0 }, { "cuda", 1 }, { "xpu", 12 }, { "mps", 13 }, { "meta", 14 }, { "hpu", 16 },
	};
	struct device device = { name, 20, -1 }; /* 20: private use */

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		size_t length = strlen(types[i].name);

		if (strncmp(name, types[i].name, length) == 0 && (!name[length] || name[length] == ':')) {
			device.type = types[i].type;
			device.number = name[length] ? atoi(name + length + 1) : types[i].type ? 0 : -1;
		}
	}
	return device;
}

static uint32_t memory_device(struct replay *replay, uint32_t symbol)
{
	const char *name = replay->symbols[symbol].detail;
	uint32_t at = 0;

	if (replay->device_by_symbol[symbol])
		return replay->device_by_symbol[symbol] - 1u;
	name = name ? name : "cpu";
	while (at < replay->device_count && strcmp(replay->devices[at].name, name) != 0)
		at++;
	if (at == MOST_DEVICES)
		at--; /* the last device also counts for all further devices */
	else if (at == replay->device_count)
		replay->devices[replay->device_count++] = memory_device_of_name(name);
	replay->device_by_symbol[symbol] = (uint8_t)(at + 1);
	return at;
}

/* ---- the replay -------------------------------------------------------------------------- */

/* Removes the block at an address, if there is one. Returns its bytes, and its device. */
static int64_t memory_remove_block(struct replay *replay, uint64_t address, uint32_t process,
                                   int64_t *totals, uint32_t *device)
{
	uint32_t number = dw_live_find(&replay->live, address, process);
	const struct block *block;

	if (number == DW_MAP_NONE)
		return 0;
	block = &replay->blocks[number];
	*device = block->device;
	/* a damaged trace may contain any number */
	if (__builtin_sub_overflow(totals[block->device], (int64_t)block->bytes, &totals[block->device]))
		totals[block->device] = INT64_MIN;
	dw_live_remove(&replay->live, number);
	return (int64_t)block->bytes;
}

static bool memory_add_block(struct replay *replay, uint64_t address, uint32_t process, uint64_t bytes, uint32_t device)
{
	uint32_t number = dw_live_add(&replay->live, address, process);
	struct block *block = number == DW_MAP_NONE ? NULL : DW_GROW(&replay->blocks, &replay->block_capacity, number);

	if (block)
		*block = (struct block){ bytes, device };
	return block != NULL;
}

/* Returns false if out of memory. */
static bool memory_replay_change(struct replay *replay, const struct dw_memory_change *change,
                                 struct dw_memory_total *to)
{
	uint32_t process = replay->source->threads[change->track / 2].process;
	uint32_t device = memory_device(replay, change->symbol), old_device = device;
	int64_t *totals = &replay->totals[(size_t)process * MOST_DEVICES], bytes;

	/* An allocation at a live address: its free was lost. */
	bytes = -memory_remove_block(replay, change->address, process, totals, &old_device);
	if (change->bytes == FREED) {
		device = old_device; /* freed where it was allocated */
	} else {
		bytes = (int64_t)(change->bytes & INT64_MAX);
		if (!memory_add_block(replay, change->address, process, (uint64_t)bytes, device))
			return false;
		if (__builtin_add_overflow(totals[device], bytes, &totals[device]))
			totals[device] = INT64_MAX;
	}
	*to = (struct dw_memory_total){
		.ns = change->ns, .address = change->address, .bytes = bytes, .total = totals[device],
		.symbol = change->symbol, .track = change->track, .process = process, .device = device,
		.device_name = replay->devices[device].name, .device_type = replay->devices[device].type,
		.device_number = replay->devices[device].number, .freed = change->bytes == FREED,
	};
	return true;
}

bool dw_memory_totals_replay(struct dw_memory_totals *totals, const struct dw_source *source,
                             const struct dw_symbol *symbols, size_t symbol_count,
                             bool (*put)(void *to, const struct dw_memory_total *total), void *to)
{
	struct replay *replay;
	bool good, go_on = true;

	if (!totals->count)
		return true;
	qsort(totals->changes, totals->count, sizeof *totals->changes, memory_compare_changes);
	replay = calloc(1, sizeof *replay);
	if (!replay)
		return false;
	replay->source = source;
	replay->symbols = symbols;
	replay->device_by_symbol = calloc(symbol_count + 1, 1);
	replay->totals = calloc(source->process_count * MOST_DEVICES, sizeof *replay->totals);
	good = replay->device_by_symbol && replay->totals;
	for (size_t i = 0; i < totals->count && good && go_on; i++) {
		struct dw_memory_total total;

		good = memory_replay_change(replay, &totals->changes[i], &total);
		go_on = good && put(to, &total);
	}
	dw_live_reset(&replay->live);
	DW_FREE(replay->blocks, replay->totals, replay->device_by_symbol, replay);
	return good;
}

void dw_memory_totals_reset(struct dw_memory_totals *totals)
{
	free(totals->changes);
	memset(totals, 0, sizeof *totals);
}
