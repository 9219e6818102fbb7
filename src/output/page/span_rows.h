/*
 * Rows of a track: what a timeline draws below one another.
 *
 * The items of a row do not overlap and are in order of time. A range goes to the row of its depth;
 * if that is occupied at its time, to the next row that is not. So ranges that overlap only partly
 * are never dropped. With a resolution, short ranges next to each other become one item, which
 * has their number and the name of the longest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DW_SPAN_MOST_ROWS 1024u /* of a track; the last one counts what deeper rows would show */

struct dw_span_item {
	uint64_t start_ns;
	uint64_t end_ns : 63;
	uint64_t open : 1;   /* no end was recorded */
	uint32_t name;
	uint32_t count;      /* ranges; more than 1: they were merged */
};

struct dw_span_row {
	struct dw_span_item *items;
	size_t count, capacity;
	uint64_t longest_ns; /* of the ranges in the last item */
};

/* Initialized by zeroing. */
struct dw_span_rows {
	struct dw_span_row *rows;
	size_t count, capacity;
	size_t items;        /* in all rows */
};

/* Adds an item to `row` or below it. `resolution_ns` 0: nothing is merged. False: out of memory. */
bool dw_span_rows_add(struct dw_span_rows *rows, uint32_t row, const struct dw_span_item *item, uint64_t resolution_ns);
/* Merges again with a coarser resolution. */
void dw_span_rows_coarsen(struct dw_span_rows *rows, uint64_t resolution_ns);
/* The first item of a row that ends after `ns`; the row's count if there is none. */
size_t dw_span_row_find(const struct dw_span_row *row, uint64_t ns);
void dw_span_rows_reset(struct dw_span_rows *rows);
