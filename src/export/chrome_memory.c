/*
 * Allocations as "[memory]" instants, each with what its device holds from then on.
 *
 * Memory is often freed by another thread than the one that allocated it, so a sum
 * needs all streams in order of time: changes are collected (40 bytes each), sorted
 * and replayed when the streams are done. A free does not say how much: a table from
 * (process, address) to bytes (24 bytes a live allocation, at most half full) does. Of
 * memory that was allocated before the recording a free has no bytes and changes no
 * sum.
 */
#include <stdlib.h>

#include "base/live.h"
#include "export/chrome.h"

#define MOST_DEVICES 64u
#define FREED UINT64_MAX

struct dw_chrome_change {
	uint64_t ns, address, bytes; /* FREED: a free */
	uint64_t order;
	uint32_t symbol, track;
};

void dw_chrome_memory_add(struct dw_chrome *chrome, const struct dw_event *event)
{
	struct dw_chrome_memory *memory = &chrome->memory;
	struct dw_chrome_change *change = DW_GROW(&memory->changes, &memory->capacity, memory->count);

	if (!change) {
		chrome->failed = true;
		return;
	}
	*change = (struct dw_chrome_change){
		event->start_ns, event->handle, event->type == DW_EVENT_FREE ? FREED : event->size_bytes,
		memory->count++, event->symbol, event->thread * 2 + chrome->nested
	};
}

static int compare(const void *left, const void *right)
{
	const struct dw_chrome_change *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* ---- what is live ------------------------------------------------------------------- */

struct block {
	uint64_t bytes;
	uint32_t device;
};

struct blocks {
	struct dw_live live; /* `space` is the process */
	struct block *items; /* by number */
	size_t capacity;
};

/* ---- devices ------------------------------------------------------------------------ */

struct device {
	const char *name;
	int type, number; /* as PyTorch counts them: CPU 0, CUDA 1; -1: no number */
};

struct replay {
	struct dw_chrome *chrome;
	dw_chrome_put_memory *put;
	void *to;
	struct blocks blocks;
	struct device devices[MOST_DEVICES];
	uint32_t device_count;
	uint8_t *device_by_symbol; /* + 1 */
	int64_t *totals;           /* by process and device */
};

static struct device device_of(const char *name)
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

static uint32_t device_at(struct replay *replay, uint32_t symbol)
{
	const char *name = replay->chrome->symbols[symbol].detail;
	uint32_t at = 0;

	if (replay->device_by_symbol[symbol])
		return replay->device_by_symbol[symbol] - 1u;
	name = name ? name : "cpu";
	while (at < replay->device_count && strcmp(replay->devices[at].name, name) != 0)
		at++;
	if (at == MOST_DEVICES)
		at--; /* the last one stands for all others */
	else if (at == replay->device_count)
		replay->devices[replay->device_count++] = device_of(name);
	replay->device_by_symbol[symbol] = (uint8_t)(at + 1);
	return at;
}

/* ---- the replay --------------------------------------------------------------------- */

static bool replay_change(struct replay *replay, const struct dw_chrome_change *change)
{
	uint32_t process = replay->chrome->source->threads[change->track / 2].process;
	uint32_t device = device_at(replay, change->symbol);
	int64_t bytes = 0, *totals = &replay->totals[(size_t)process * MOST_DEVICES];
	uint32_t number = dw_live_find(&replay->blocks.live, change->address, process);
	struct block *block;

	if (number != DW_MAP_NONE) {
		/* Freed where it was allocated. An allocation of a live address: its free is lost. */
		block = &replay->blocks.items[number];
		device = change->bytes == FREED ? block->device : device;
		totals[block->device] -= (int64_t)block->bytes;
		bytes = change->bytes == FREED ? -(int64_t)block->bytes : 0;
		dw_live_remove(&replay->blocks.live, number);
	}
	if (change->bytes != FREED) {
		number = dw_live_add(&replay->blocks.live, change->address, process);
		if (number == DW_MAP_NONE)
			return false;
		block = DW_GROW(&replay->blocks.items, &replay->blocks.capacity, number);
		if (!block)
			return false;
		*block = (struct block){ change->bytes & INT64_MAX, device };
		bytes = (int64_t)block->bytes;
		/* a damaged trace may say anything */
		if (__builtin_add_overflow(totals[device], bytes, &totals[device]))
			totals[device] = INT64_MAX;
	}
	replay->put(replay->to,
	            &(struct dw_chrome_memory_at){ change->ns, change->address, bytes, totals[device],
	                                           change->symbol, change->track, device,
	                                           replay->devices[device].name,
	                                           replay->devices[device].type,
	                                           replay->devices[device].number,
	                                           change->bytes == FREED });
	return true;
}

void dw_chrome_memory_write(struct dw_chrome *chrome, dw_chrome_put_memory *put, void *to)
{
	struct dw_chrome_memory *memory = &chrome->memory;
	struct replay *replay;

	if (!memory->count)
		return;
	qsort(memory->changes, memory->count, sizeof *memory->changes, compare);
	replay = calloc(1, sizeof *replay);
	if (!replay) {
		chrome->failed = true;
		return;
	}
	replay->chrome = chrome;
	replay->put = put;
	replay->to = to;
	replay->device_by_symbol = calloc(chrome->symbol_count + 1, 1);
	replay->totals = calloc(chrome->source->process_count * MOST_DEVICES, sizeof *replay->totals);
	chrome->failed |= !replay->device_by_symbol || !replay->totals;
	for (size_t i = 0; i < memory->count && !chrome->failed && !chrome->out->error; i++)
		chrome->failed = !replay_change(replay, &memory->changes[i]);
	dw_live_reset(&replay->blocks.live);
	free(replay->blocks.items);
	free(replay->totals);
	free(replay->device_by_symbol);
	free(replay);
}
