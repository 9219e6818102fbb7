/* What is live, by address: open addressing, for the account and for what is told of kinds. */
#include <stdlib.h>
#include <string.h>

#include "model/memory_inside.h"

static size_t home_of(const struct dw_memory_lives *lives, uint64_t address)
{
	return (size_t)((address * 0x9e3779b97f4a7c15u) >> 20) & lives->mask;
}

struct dw_memory_live *dw_memory_live_find(const struct dw_memory_lives *lives, uint64_t address)
{
	size_t at = home_of(lives, address);

	while (lives->items[at].holder && lives->items[at].address != address)
		at = (at + 1) & lives->mask;
	return &lives->items[at];
}

bool dw_memory_live_room(struct dw_memory_lives *lives)
{
	struct dw_memory_live *old = lives->items;
	size_t old_size = old ? lives->mask + 1 : 0, size = old_size ? old_size * 2 : 1024;

	if (lives->count * 2 < old_size)
		return true;
	lives->items = calloc(size, sizeof *lives->items);
	if (!lives->items) {
		lives->items = old;
		return false;
	}
	lives->mask = size - 1;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].holder)
			*dw_memory_live_find(lives, old[i].address) = old[i];
	free(old);
	return true;
}

/* No tombstones: what stands behind moves up where its search would have stopped. */
void dw_memory_live_remove(struct dw_memory_lives *lives, struct dw_memory_live *live)
{
	size_t hole = (size_t)(live - lives->items), at = hole;

	lives->count--;
	for (;;) {
		at = (at + 1) & lives->mask;
		if (!lives->items[at].holder)
			break;
		size_t home = home_of(lives, lives->items[at].address);
		if (((at - home) & lives->mask) < ((at - hole) & lives->mask))
			continue;
		lives->items[hole] = lives->items[at];
		hole = at;
	}
	lives->items[hole].holder = 0;
}

void dw_memory_live_reset(struct dw_memory_lives *lives)
{
	free(lives->items);
	memset(lives, 0, sizeof *lives);
}
