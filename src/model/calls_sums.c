/*
 * What is summed of each row of calls; see calls_inside.h.
 *
 * A row is found by its class of symbols, its prefix of stacks and whether its calls are
 * asynchronous, in a table of open addressing that is at most half full.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "model/calls_inside.h"

static size_t place_of(const struct dw_call_sums *sums, uint32_t class, uint32_t prefix,
                       bool is_async)
{
	uint64_t key = ((uint64_t)class << 32 | prefix << 1 | is_async) * 0x9e3779b97f4a7c15u;

	return (key ^ key >> 29) & sums->mask;
}

static bool widen(struct dw_call_sums *sums)
{
	size_t size = sums->slots ? (sums->mask + 1) * 2 : 1024;
	uint32_t *slots = calloc(size, sizeof *slots);

	if (!slots)
		return false;
	free(sums->slots);
	sums->slots = slots;
	sums->mask = size - 1;
	for (size_t i = 0; i < sums->count; i++) {
		const struct dw_call_sum *row = &sums->rows[i];
		size_t at = place_of(sums, row->class, row->prefix, row->is_async);

		while (slots[at])
			at = (at + 1) & sums->mask;
		slots[at] = (uint32_t)i + 1;
	}
	return true;
}

struct dw_call_sum *dw_call_sum_of(struct dw_call_sums *sums, uint32_t class, uint32_t prefix,
                                   uint32_t symbol, bool is_async)
{
	struct dw_call_sum *row;
	size_t at;

	if ((!sums->slots || sums->count * 2 >= sums->mask) && !widen(sums))
		return NULL;
	for (at = place_of(sums, class, prefix, is_async); sums->slots[at]; at = (at + 1) & sums->mask) {
		row = &sums->rows[sums->slots[at] - 1];
		if (row->class == class && row->prefix == prefix && row->is_async == is_async)
			return row;
	}
	row = DW_GROW(&sums->rows, &sums->capacity, sums->count);
	if (!row)
		return NULL;
	row->class = class;
	row->prefix = prefix;
	row->symbol = symbol;
	row->is_async = is_async;
	row->first_ns = UINT64_MAX;
	sums->slots[at] = (uint32_t)++sums->count;
	return row;
}

void dw_call_sums_reset(struct dw_call_sums *sums)
{
	free(sums->rows);
	free(sums->slots);
}
