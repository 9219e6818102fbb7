/*
 * Columns that several views have, and when a table has a column (`only` of struct dw_column).
 *
 * A view's columns are one list of DW_FIELD() lines (table/table.h). Its rows are structs, in which a group of these
 * columns is one member: `struct dw_view_stat stat` with DW_VIEW_STAT_FIELDS(struct x, stat).
 */
#pragma once

#include "views/common.h"

/* What a table has, as bits; a view's own begin at DW_HAS_OWN. */
enum dw_view_has { DW_HAS_STEPS = 1, DW_HAS_DEVICE = 2, DW_HAS_OWN = 4 };

/* dw_table_choose() that sets `error` when it returns NULL. */
struct dwell_table *dw_view_choose(const char *view, const struct dw_column *columns, size_t count, unsigned has,
                                   struct dwell_error *error);
#define DW_VIEW_CHOOSE(view, columns, has, error) \
	dw_view_choose(view, columns, sizeof(columns) / sizeof *(columns), has, error)

/* Calls and their times. */
struct dw_view_stat {
	uint64_t calls, self_ns, total_ns, mean_ns, min_ns, max_ns, p50_ns, p99_ns;
};
struct dw_view_stat dw_view_stat_of(const struct dw_stat *stat);
#define DW_VIEW_STAT_FIELDS(row, stat) \
	DW_FIELD_AS(row, stat.calls, "calls", "calls", COUNT, INT, .total = DW_TOTAL_SUM), \
		DW_FIELD_AS(row, stat.self_ns, "self_ns", "self", NS, INT, .total = DW_TOTAL_SUM), \
		DW_FIELD_AS(row, stat.total_ns, "total_ns", "total", NS, INT), \
		DW_FIELD_AS(row, stat.mean_ns, "mean_ns", "mean", NS, INT, .not_narrow = true), \
		DW_FIELD_AS(row, stat.min_ns, "min_ns", "min", NS, INT, .wide_only = true), \
		DW_FIELD_AS(row, stat.max_ns, "max_ns", "max", NS, INT, .wide_only = true), \
		DW_FIELD_AS(row, stat.p50_ns, "p50_ns", "p50", NS, INT, .wide_only = true), \
		DW_FIELD_AS(row, stat.p99_ns, "p99_ns", "p99", NS, INT, .not_narrow = true)

/* Work of devices that a row of the host submitted; only where the run has events of devices. */
struct dw_view_device {
	uint64_t self_ns, total_ns, events;
};
#define DW_VIEW_NO_DEVICE { DW_NO_NUMBER, DW_NO_NUMBER, DW_NO_NUMBER }
struct dw_device_sum;
/* Without numbers if `sum` is NULL or has no events. */
struct dw_view_device dw_view_device_of(const struct dw_device_sum *sum);
/* Of all calls in scope, for the totals. Returns false if out of memory. */
bool dw_view_device_all(struct dw_model *model, struct dw_view_device *all);
#define DW_VIEW_DEVICE_FIELDS(row, device, ...)                                                             \
	DW_FIELD_AS(row, device.self_ns, "device_ns", "device", NS, INT, .only = DW_HAS_DEVICE, __VA_ARGS__),    \
	DW_FIELD_AS(row, device.total_ns, "device_total_ns", "device total", NS, INT, .only = DW_HAS_DEVICE,     \
	            __VA_ARGS__),                                                                                \
	DW_FIELD_AS(row, device.events, "device_events", "device events", COUNT, INT, .only = DW_HAS_DEVICE,     \
	            .wide_only = true, __VA_ARGS__)

/* The same without the calls within. */
#define DW_VIEW_DEVICE_WORK_FIELDS(row, device, ...)                                                        \
	DW_FIELD_AS(row, device.self_ns, "device_ns", "device", NS, INT, .only = DW_HAS_DEVICE, __VA_ARGS__),    \
	DW_FIELD_AS(row, device.events, "device_events", "device events", COUNT, INT, .only = DW_HAS_DEVICE,     \
	            .wide_only = true, __VA_ARGS__)
