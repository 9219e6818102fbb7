/* Columns that several views have; see columns.h. */
#include "views/columns.h"

#include "base/error.h"
#include "model/device/sums.h"

struct dwell_table *dw_view_choose(const char *view, const struct dw_column *columns, size_t count, unsigned has,
                                   struct dwell_error *error)
{
	struct dwell_table *table = dw_table_choose(view, columns, count, has);

	if (!table)
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the %s view", view);
	return table;
}

struct dw_view_stat dw_view_stat_of(const struct dw_stat *stat)
{
	uint64_t mean_ns = stat->count ? (stat->total_ns + stat->nested_ns + stat->count / 2) / stat->count : 0;

	return (struct dw_view_stat){
		.calls = stat->count,
		.self_ns = stat->self_ns,
		.total_ns = stat->total_ns,
		.mean_ns = mean_ns,
		.min_ns = stat->min_ns,
		.max_ns = stat->max_ns,
		.p50_ns = stat->p50_ns,
		.p99_ns = stat->p99_ns,
	};
}

struct dw_view_device dw_view_device_of(const struct dw_device_sum *sum)
{
	if (!sum || !sum->total_events)
		return (struct dw_view_device)DW_VIEW_NO_DEVICE;
	return (struct dw_view_device){ .self_ns = sum->self_ns, .total_ns = sum->total_ns, .events = sum->self_events };
}

bool dw_view_device_all(struct dw_model *model, struct dw_view_device *all)
{
	const struct dw_device_work *work = dw_model_device_work(model, NULL);

	*all = (struct dw_view_device){ .total_ns = DW_NO_NUMBER };
	for (size_t i = 0; work && i < work->call_count; i++)
		if (work->calls[i].in_scope) {
			all->self_ns += work->calls[i].device_ns;
			all->events += work->calls[i].work;
		}
	return work != NULL;
}
