/*
 * The order of the torch layout's rows: PyTorch's names of columns and ours.
 *
 * Called by torch.c. What only a device has is 0 here, so that a program's sort_by does
 * not fail where there is none.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "layouts/torch.h"

/* PyTorch adds up all calls, those within others of their row too. */
static double torch_order_total_of(const struct dw_call_row *row)
{
	return (double)(row->stat.total_ns + row->stat.nested_ns);
}

#define SORTS(X)                                                                          \
	X("self_cpu_time_total", (double)row->stat.self_ns) X("self_ns", (double)row->stat.self_ns) \
	X("cpu_time_total", torch_order_total_of(row)) X("total_ns", torch_order_total_of(row)) \
	X("cpu_time", torch_order_total_of(row) / (double)row->stat.count)                    \
	X("mean_ns", torch_order_total_of(row) / (double)row->stat.count)                     \
	X("min_ns", (double)row->stat.min_ns) X("max_ns", (double)row->stat.max_ns)           \
	X("p50_ns", (double)row->stat.p50_ns) X("p99_ns", (double)row->stat.p99_ns)           \
	X("count", (double)row->stat.count) X("calls", (double)row->stat.count)               \
	X("cpu_memory_usage", (double)row->total_bytes)                                       \
	X("self_cpu_memory_usage", (double)row->self_bytes) X("flops", (double)row->flops)    \
	X("cuda_time", 0) X("cuda_time_total", 0) X("self_cuda_time_total", 0)                \
	X("cuda_memory_usage", 0) X("self_cuda_memory_usage", 0) X("device_time", 0)          \
	X("device_time_total", 0) X("self_device_time_total", 0) X("device_memory_usage", 0)  \
	X("self_device_memory_usage", 0) X("xpu_time", 0) X("xpu_time_total", 0)              \
	X("self_xpu_time_total", 0) X("xpu_memory_usage", 0) X("self_xpu_memory_usage", 0)

static bool torch_order_value_of(const char *sort, const struct dw_call_row *row, double *value)
{
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
	static const struct dw_call_row none;
	struct dw_nearest nearest;
	double unused;

	if (torch_order_value_of(sort, &none, &unused))
		return 0;
	dw_nearest_init(&nearest, sort);
#define X(name, expression) dw_nearest_try(&nearest, name);
	SORTS(X)
#undef X
	return dw_error_set(error, DWELL_E_NAME,
	                    "no column '%.100s' to sort by in the torch layout%s%s%s",
	                    sort, nearest.best ? "; did you mean '" : "",
	                    nearest.best ? nearest.best : "",
	                    nearest.best ? "'?" : ": self_cpu_time_total, cpu_time_total, count, ...");
}

/* Largest first, equal ones as they were: they stand in one array. */
static int torch_order_compare(const void *left, const void *right)
{
	const struct dw_torch_row *a = left, *b = right;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

struct dw_torch_row *dw_torch_order(const struct dw_calls *calls, const char *sort)
{
	struct dw_torch_row *rows = calloc(calls->count + 1, sizeof *rows);

	for (size_t i = 0; rows && i < calls->count; i++) {
		rows[i].call = &calls->rows[i];
		if (sort)
			torch_order_value_of(sort, rows[i].call, &rows[i].value);
	}
	if (rows && calls->count)
		qsort(rows, calls->count, sizeof *rows, torch_order_compare);
	return rows;
}
