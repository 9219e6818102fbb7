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

#include "base/grow.h"
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

struct live {
	uint64_t address, bytes;
	uint32_t process; /* + 1; 0: an empty slot */
	uint32_t device;
};

struct table {
	struct live *slots;
	size_t mask, used;
};

static size_t slot_of(const struct table *table, uint64_t address, uint32_t process)
{
	uint64_t hash = (address ^ (uint64_t)process << 48) * 0x9e3779b97f4a7c15u;

	return (size_t)(hash >> 20) & table->mask;
}

static struct live *find(const struct table *table, uint64_t address, uint32_t process)
{
	size_t at = slot_of(table, address, process);

	while (table->slots[at].process &&
	       (table->slots[at].address != address || table->slots[at].process != process))
		at = (at + 1) & table->mask;
	return &table->slots[at];
}

static bool make_room(struct table *table)
{
	struct table grown = { .mask = table->mask * 2 + 1, .used = table->used };

	if (table->slots && table->used * 2 <= table->mask)
		return true;
	if (!table->slots)
		grown.mask = 1023;
	grown.slots = calloc(grown.mask + 1, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; table->slots && i <= table->mask; i++)
		if (table->slots[i].process)
			*find(&grown, table->slots[i].address, table->slots[i].process) = table->slots[i];
	free(table->slots);
	*table = grown;
	return true;
}

/* No tombstones: what stands behind moves up where its search would have stopped. */
static void forget(struct table *table, struct live *live)
{
	size_t hole = (size_t)(live - table->slots), at = hole;

	table->used--;
	for (;;) {
		size_t home;

		at = (at + 1) & table->mask;
		if (!table->slots[at].process)
			break;
		home = slot_of(table, table->slots[at].address, table->slots[at].process);
		if (((at - home) & table->mask) < ((at - hole) & table->mask))
			continue;
		table->slots[hole] = table->slots[at];
		hole = at;
	}
	table->slots[hole].process = 0;
}

/* ---- devices ------------------------------------------------------------------------ */

struct device {
	const char *name;
	int type, number; /* as PyTorch counts them: CPU 0, CUDA 1; -1: no number */
};

struct replay {
	struct dw_chrome *chrome;
	dw_chrome_put_memory *put;
	void *to;
	struct table table;
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
	struct live *live;

	if (!make_room(&replay->table))
		return false;
	live = find(&replay->table, change->address, process + 1);
	if (live->process) {
		/* Freed where it was allocated. An allocation of a live address: its free is lost. */
		device = change->bytes == FREED ? live->device : device;
		totals[live->device] -= (int64_t)live->bytes;
		bytes = change->bytes == FREED ? -(int64_t)live->bytes : 0;
	}
	if (change->bytes != FREED) {
		replay->table.used += !live->process;
		*live = (struct live){ change->address, change->bytes & INT64_MAX, process + 1, device };
		bytes = (int64_t)live->bytes;
		/* a damaged trace may say anything */
		if (__builtin_add_overflow(totals[device], bytes, &totals[device]))
			totals[device] = INT64_MAX;
	} else if (live->process) {
		forget(&replay->table, live);
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
	free(replay->table.slots);
	free(replay->totals);
	free(replay->device_by_symbol);
	free(replay);
}
