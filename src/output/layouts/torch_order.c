/*
 * The order of the torch layout's rows, by PyTorch's names of columns or ours.
 *
 * Called by torch.c. Columns of devices are known also without devices: then their values are 0, so
 * that a program that sorts by them does not fail.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/order.h"
#include "layouts/torch_parts.h"

/* The sum over all calls. As in PyTorch, a call within another call of its row counts too. */
static double torch_order_total_of(const struct dw_call_row *call)
{
	return (double)(call->stat.total_ns + call->stat.nested_ns);
}

#define DEVICE_SORTS(X, device)                                                           \
	X(device "_time", (double)row->device_ns / (double)call->stat.count)                 \
	X(device "_time_total", (double)row->device_ns)                                      \
	X("self_" device "_time_total", (double)row->self_device_ns)                         \
	X(device "_memory_usage", (double)call->device_total_bytes)                          \
	X("self_" device "_memory_usage", (double)call->device_bytes)
#define SORTS(X)                                                                          \
	X("self_cpu_time_total", (double)call->stat.self_ns) X("self_ns", (double)call->stat.self_ns) \
	X("cpu_time_total", torch_order_total_of(call)) X("total_ns", torch_order_total_of(call)) \
	X("cpu_time", torch_order_total_of(call) / (double)call->stat.count)                  \
	X("mean_ns", torch_order_total_of(call) / (double)call->stat.count)                   \
	X("min_ns", (double)call->stat.min_ns) X("max_ns", (double)call->stat.max_ns)         \
	X("p50_ns", (double)call->stat.p50_ns) X("p99_ns", (double)call->stat.p99_ns)         \
	X("count", (double)call->stat.count) X("calls", (double)call->stat.count)             \
	X("cpu_memory_usage", (double)call->total_bytes)                                      \
	X("self_cpu_memory_usage", (double)call->self_bytes) X("flops", (double)call->flops)  \
	X("device_ns", (double)row->self_device_ns) X("device_total_ns", (double)row->device_ns) \
	DEVICE_SORTS(X, "cuda") DEVICE_SORTS(X, "device") DEVICE_SORTS(X, "xpu")              \
	DEVICE_SORTS(X, "privateuse1")

static bool torch_order_value_of(const char *sort, const struct dw_torch_row *row, double *value)
{
	const struct dw_call_row *call = row->call;

#define X(name, expression)                                                               \
	if (strcmp(sort, name) == 0) {                                                        \
		*value = expression;                                                              \
		return true;                                                                      \
	}
	SORTS(X)
#undef X
	return false;
}

int dw_torch_check_sort(const char *sort, struct dwell_error *error)
{
	static const struct dw_call_row no_call;
	const struct dw_torch_row none = { .call = &no_call };
	struct dw_nearest nearest;
	double unused;

	if (torch_order_value_of(sort, &none, &unused))
		return 0;
	dw_nearest_init(&nearest, sort);
#define X(name, expression) dw_nearest_try(&nearest, name);
	SORTS(X)
#undef X
	return dw_error_set(error, DWELL_E_NAME, "no column '%.100s' to sort by in the torch layout%s", sort,
	                    nearest.best ? dw_nearest_question(&nearest).at : ": self_cpu_time_total, cpu_time_total, count, ...");
}

/* The largest value comes first. Equal ones keep their order. */
DW_ORDER(torch_order_compare, struct dw_torch_row, DW_DOWN(value) DW_UP(place))

void dw_torch_order(struct dw_torch_rows *rows, const char *sort)
{
	for (size_t i = 0; i < rows->count; i++) {
		rows->rows[i].place = i;
		rows->rows[i].value = 0;
		if (sort)
			torch_order_value_of(sort, &rows->rows[i], &rows->rows[i].value);
	}
	if (rows->count && sort)
		qsort(rows->rows, rows->count, sizeof *rows->rows, torch_order_compare);
}
