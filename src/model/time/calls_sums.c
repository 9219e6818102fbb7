/*
 * What is summed of each row of calls; see calls_inside.h. A row is found by its class of
 * symbols, its prefix of stacks and whether its calls are asynchronous.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "model/time/call_groups.h"

struct dw_call_sum *dw_call_sum_of(struct dw_call_sums *sums, uint32_t class, uint32_t prefix,
                                   uint32_t symbol, bool is_async)
{
	uint32_t hash = dw_map_hash((uint64_t)class << 32 | prefix << 1 | is_async), found;
	struct dw_call_sum *row;

	found = DW_MAP_FIND(&sums->map, hash, i, sums->rows[i].class == class &&
	                                         sums->rows[i].prefix == prefix &&
	                                         sums->rows[i].is_async == is_async);
	if (found != DW_MAP_NONE)
		return &sums->rows[found];
	row = DW_GROW(&sums->rows, &sums->capacity, sums->count);
	if (!row || !dw_map_add(&sums->map, hash, (uint32_t)sums->count))
		return NULL;
	row->class = class;
	row->prefix = prefix;
	row->symbol = symbol;
	row->is_async = is_async;
	row->first_ns = UINT64_MAX;
	sums->count++;
	return row;
}

void dw_call_sums_reset(struct dw_call_sums *sums)
{
	free(sums->rows);
	dw_map_reset(&sums->map);
}
