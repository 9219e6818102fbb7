/* The outermost ranges of each thread; see outermost.h. */
#include "base/free.h"
#include "model/time/outermost_pass.h"

#include "base/grow.h"
#include "base/numbers.h"
#include "base/order.h"

bool dw_outermost_worker_init(void *memory, const void *sums)
{
	struct dw_outermost_worker *worker = memory;
	uint32_t rows = ((const struct dw_outermost_sums *)sums)->model->row_count;

	worker->by_row = calloc(rows + (size_t)1, sizeof *worker->by_row);
	worker->rows = calloc(rows + (size_t)1, sizeof *worker->rows);
	return worker->by_row && worker->rows;
}

void dw_outermost_worker_reset(void *memory)
{
	struct dw_outermost_worker *worker = memory;

	DW_FREE(worker->by_row, worker->rows);
	*worker = (struct dw_outermost_worker){ .by_row = NULL };
}

bool dw_outermost_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from)
{
	struct dw_outermost_pass *outermost = pass;

	*outermost = (struct dw_outermost_pass){ from->pass, sums, worker, from->frame_bytes, 1 };
	outermost->ratio = dw_file_ratio(outermost->sums->model->source, from->pass->walk.stream->file);
	return true;
}

void dw_outermost_carried(void *pass)
{
	const struct dw_outermost_pass *outermost = pass;
	struct dw_outermost_worker *worker = outermost->worker;
	struct dw_outermost_sums *sums = outermost->sums;
	uint32_t thread = outermost->pass->walk.thread;

	if (!worker->row_count)
		return;
	pthread_mutex_lock(&sums->lock);
	for (uint32_t i = 0; i < worker->row_count; i++) {
		struct dw_outermost_sum *from = &worker->by_row[worker->rows[i]];

		sums->failed |= !DW_APPEND(&sums->items, &sums->capacity, &sums->count,
		                           (struct dw_outermost_sum){ thread, worker->rows[i], from->count,
		                               dw_file_scale(from->ticks, outermost->ratio) });
		*from = (struct dw_outermost_sum){ 0, 0, 0, 0 };
	}
	worker->row_count = 0;
	pthread_mutex_unlock(&sums->lock);
}

void dw_outermost_flushed(void *pass, uint64_t ticks, enum dw_flush why)
{
	if (why != DW_FLUSH_GAP)
		dw_outermost_carried(pass);
}

/* ---- the product ------------------------------------------------------------------------ */

DW_ORDER(outermost_compare_rows, struct dw_outermost_sum, DW_UP(thread) DW_UP(row))

/* The order of the call tree: threads by index, rows by descending total. `row` is a symbol. */
DW_ORDER(outermost_compare_totals, struct dw_outermost_sum, DW_UP(thread) DW_DOWN(ticks) DW_UP(row))

/* Adds up the sums of the same row and thread, and puts them in order. */
static void outermost_unite(const struct dw_model *model, struct dw_outermost_sums *sums)
{
	size_t count = 0;

	DW_SORT(sums->items, sums->count, outermost_compare_rows);
	for (size_t i = 0; i < sums->count; i++) {
		struct dw_outermost_sum *item = &sums->items[i];

		item->row = model->row_symbol[item->row];
		if (count && sums->items[count - 1].thread == item->thread && sums->items[count - 1].row == item->row) {
			sums->items[count - 1].count += item->count;
			sums->items[count - 1].ticks += item->ticks;
			continue;
		}
		sums->items[count++] = *item;
	}
	sums->count = count;
	DW_SORT(sums->items, count, outermost_compare_totals);
}

bool dw_outermost_finish(struct dw_model *model, struct dw_outermost_sums *sums, struct dw_tree *result)
{
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;
	struct dw_tree_node *nodes, *root = NULL;
	uint64_t root_ticks = 0;

	outermost_unite(model, sums);
	nodes = dw_arena_alloc(&model->arena, (2 * sums->count + 1) * sizeof *nodes);
	for (size_t i = 0; nodes && i < sums->count; i++) {
		const struct dw_outermost_sum *sum = &sums->items[i];

		if (!root || root->thread != sum->thread) {
			root = &nodes[result->count++];
			*root = (struct dw_tree_node){ .symbol = DW_NO_INDEX, .thread = sum->thread, .parent = DW_NO_INDEX };
			root_ticks = 0;
		}
		root_ticks += sum->ticks;
		root->stat.total_ns = dw_whole((double)root_ticks * ns_per_tick + 0.5);
		nodes[result->count++] = (struct dw_tree_node){ .symbol = sum->row,
			.thread = sum->thread, .parent = (uint32_t)(root - nodes), .depth = 1,
			.stat = { .count = sum->count, .total_ns = dw_whole((double)sum->ticks * ns_per_tick + 0.5) } };
	}
	result->nodes = nodes;
	free(sums->items);
	sums->items = NULL;
	return nodes && !sums->failed;
}

/* Of a scope that no joint walk has served. */
static bool outermost_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_tree *tree = dw_model_tree(model, NULL);

	if (tree)
		*(struct dw_tree *)result = *tree;
	return tree != NULL;
}

DW_PRODUCT_OF_RECORDS(outermost, struct dw_tree, outermost_compute, NULL);

DW_PRODUCT_GETTER(outermost, struct dw_tree)
