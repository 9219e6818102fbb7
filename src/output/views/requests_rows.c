/* The rows of the view requests' first table; see requests_rows.h. */
#include <stdlib.h>

#include "base/order.h"
#include "views/columns.h"
#include "views/requests_rows.h"

static const struct dw_column columns[] = {
	DW_FIELD(struct dw_requests_cells, name, "threads, tasks", NONE, TEXT),
	DW_FIELD(struct dw_requests_cells, count, "count", COUNT, INT),
	DW_FIELD(struct dw_requests_cells, at_once, "at once", COUNT, INT),
	DW_FIELD(struct dw_requests_cells, mean_ns, "mean", NS, INT),
	DW_FIELD(struct dw_requests_cells, share, "share", RATIO, REAL, .of = "the requests' time", .bar = true),
	DW_FIELD(struct dw_requests_cells, p50_ns, "p50", NS, INT),
	DW_FIELD(struct dw_requests_cells, p90_ns, "p90", NS, INT),
	DW_FIELD(struct dw_requests_cells, p95_ns, "p95", NS, INT, .not_narrow = true),
	DW_FIELD(struct dw_requests_cells, p99_ns, "p99", NS, INT),
	DW_FIELD(struct dw_requests_cells, max_ns, "longest", NS, INT),
	DW_FIELD(struct dw_requests_cells, most, "most of it in", NONE, TEXT),
};
const struct dw_column_list dw_requests_columns = DW_COLUMN_LIST(columns);

struct dw_requests_times dw_requests_times_of(uint64_t *ns, size_t count)
{
	struct dw_requests_times times = { .count = count };

	qsort(ns, count, sizeof *ns, dw_compare_u64);
	for (size_t i = 0; i < count; i++)
		times.sum_ns += ns[i];
#define AT(percent) ns[count * (percent) / 100 < count ? count * (percent) / 100 : count - 1]
	if (count) {
		times.p50_ns = AT(50);
		times.p90_ns = AT(90);
		times.p95_ns = AT(95);
		times.p99_ns = AT(99);
		times.max_ns = ns[count - 1];
	}
#undef AT
	return times;
}

void dw_requests_put(struct dwell_table *table, const char *name, const struct dw_requests_times *times, uint64_t whole_ns)
{
	DW_TABLE_PUT(table, 1, struct dw_requests_cells, .name = DW_STRING(name), .count = DW_INT(times->count),
	             .mean_ns = DW_INT(times->sum_ns / times->count), .share = DW_PART(times->sum_ns, whole_ns),
	             .p50_ns = DW_INT(times->p50_ns), .p90_ns = DW_INT(times->p90_ns), .p95_ns = DW_INT(times->p95_ns),
	             .p99_ns = DW_INT(times->p99_ns), .max_ns = DW_INT(times->max_ns));
}
