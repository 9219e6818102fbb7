/* The rows of the view requests' first table. */
#pragma once

#include "views/common.h"

struct dw_requests_cells {
	struct dw_cell name, count, at_once, mean_ns, share, p50_ns, p90_ns, p95_ns, p99_ns, max_ns, most;
};

extern const struct dw_column_list dw_requests_columns;

struct dw_requests_times {
	size_t count;
	uint64_t sum_ns, p50_ns, p90_ns, p95_ns, p99_ns, max_ns;
};
/* Sorts `ns`. */
struct dw_requests_times dw_requests_times_of(uint64_t *ns, size_t count);

/* A row below a kind's in the first table; `whole_ns`: what it has a share of, or 0. */
void dw_requests_put(struct dwell_table *table, const char *name, const struct dw_requests_times *times, uint64_t whole_ns);
