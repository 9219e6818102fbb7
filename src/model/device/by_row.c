/*
 * Device work of each name; see sums.h.
 */
#include <stdlib.h>

#include "model/core/product.h"
#include "model/device/sums.h"

struct by_row {
	struct dw_device_sum *rows;
};

static bool by_row_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_device_work *work = dw_model_device_work(model, NULL);
	uint32_t categories = *(const uint32_t *)request;
	struct by_row *by_row = result;
	uint32_t *last = calloc(model->row_count + (size_t)1, sizeof *last); /* call + 1 */

	by_row->rows = dw_arena_alloc(&model->arena, (model->row_count + (size_t)1) * sizeof *by_row->rows);
	for (uint32_t i = 0; last && by_row->rows && work && i < work->call_count; i++) {
		const struct dw_device_call *call = &work->calls[i];
		bool inner = true;

		if (!call->work || !call->in_scope)
			continue;
		for (uint32_t at = dw_device_first_owner(call); at != DW_NO_INDEX; at = dw_device_next_owner(work, call, at)) {
			uint32_t symbol = work->owners[at].symbol, row = model->symbol_row[symbol];
			struct dw_device_sum *sum = &by_row->rows[row];

			if (!(categories >> model->symbols[symbol].category & 1))
				continue;
			sum->self_ns += inner ? call->device_ns : 0;
			sum->self_events += inner ? call->work : 0;
			sum->total_ns += last[row] != i + 1 ? call->device_ns : 0;
			sum->total_events += last[row] != i + 1 ? call->work : 0;
			last[row] = i + 1;
			inner = false;
		}
	}
	free(last);
	return last && by_row->rows && work;
}

DW_PRODUCT(device_by_row, struct by_row, by_row_compute, NULL);

const struct dw_device_sum *dw_model_device_by_row(struct dw_model *model, uint32_t categories,
                                                   struct dwell_error *error)
{
	const struct by_row *by_row = dw_product_get(model, &dw_product_device_by_row, categories, &categories, error);

	return by_row ? by_row->rows : NULL;
}
