/*
 * The order of the torch layout's rows, by PyTorch's names of columns or ours.
 *
 * Called by torch.c. Columns of devices are known and their values are 0, so that a program that
 * sorts by them does not fail.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "layouts/torch.h"

/* The sum over all calls. As in PyTorch, a call within another call of its row counts too. */
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

/* The largest value comes first. Equal ones keep their order, which is that of their addresses. */
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
