/* Rows of a track; see span_rows.h. */
#include "page/span_rows.h"

#include "base/grow.h"
#include "base/order.h"

static struct dw_span_item *rows_last(const struct dw_span_row *row)
{
	return row->count ? &row->items[row->count - 1] : NULL;
}

/* Merges `item` into the last item of the row if both are shorter than the resolution, and also
 * together. */
static bool rows_merge(struct dw_span_row *row, const struct dw_span_item *item, uint64_t resolution_ns)
{
	struct dw_span_item *last = rows_last(row);
	uint64_t length = (item->end_ns - item->start_ns) / item->count;

	if (!resolution_ns || !last || item->end_ns - item->start_ns >= resolution_ns ||
	    item->end_ns - last->start_ns >= resolution_ns)
		return false;
	if (length > row->longest_ns) {
		row->longest_ns = length;
		last->name = item->name;
	}
	last->end_ns = item->end_ns;
	last->open |= item->open;
	last->count += item->count < UINT32_MAX - last->count ? item->count : 0;
	return true;
}

static bool rows_append(struct dw_span_row *row, const struct dw_span_item *item)
{
	if (!DW_APPEND(&row->items, &row->capacity, &row->count, *item))
		return false;
	row->longest_ns = (item->end_ns - item->start_ns) / item->count;
	return true;
}

bool dw_span_rows_add(struct dw_span_rows *rows, uint32_t at, const struct dw_span_item *item, uint64_t resolution_ns)
{
	struct dw_span_row *row;
	struct dw_span_item *last;

	for (at = at < DW_SPAN_MOST_ROWS ? at : DW_SPAN_MOST_ROWS - 1;; at++) {
		while (rows->count <= at) {
			if (!DW_GROW(&rows->rows, &rows->capacity, rows->count))
				return false;
			rows->count++;
		}
		row = &rows->rows[at];
		last = rows_last(row);
		if (!last || last->end_ns <= item->start_ns)
			break;
		if (at + 1 == DW_SPAN_MOST_ROWS) {
			last->count += last->count < UINT32_MAX;
			return true;
		}
	}
	if (rows_merge(row, item, resolution_ns))
		return true;
	rows->items++;
	return rows_append(row, item);
}

void dw_span_rows_coarsen(struct dw_span_rows *rows, uint64_t resolution_ns)
{
	rows->items = 0;
	for (size_t i = 0; i < rows->count; i++) {
		struct dw_span_row *row = &rows->rows[i];
		size_t count = row->count;

		row->count = 0;
		for (size_t k = 0; k < count; k++) {
			struct dw_span_item item = row->items[k];

			if (!rows_merge(row, &item, resolution_ns)) {
				row->longest_ns = (item.end_ns - item.start_ns) / item.count;
				row->items[row->count++] = item;
			}
		}
		rows->items += row->count;
	}
}

size_t dw_span_row_find(const struct dw_span_row *row, uint64_t ns)
{
	return DW_FIRST(i, 0, row->count, row->items[i].end_ns > ns);
}

void dw_span_rows_reset(struct dw_span_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->rows[i].items);
	free(rows->rows);
	*rows = (struct dw_span_rows){ 0 };
}
