/*
 * The last allocation of a pool that failed, and the process that the kernel killed because memory ran out; see
 * struct dw_memory_failure. The levels at that moment are in the account.
 */
#include <stdio.h>

#include "base/free.h"
#include "base/order.h"
#include "format/keys.h"
#include "model/memory/account.h"

bool dw_memory_was_killed(const struct dw_source *source, uint32_t process)
{
	bool killed = false, ran_out = false;
	unsigned pid;
	int number;

	for (size_t i = 0; i < source->meta_count; i++) {
		const struct dw_source_meta *meta = &source->metas[i];

		ran_out |= strcmp(meta->key, DW_KEY_OOM_KILLED) == 0;
		if (strcmp(meta->key, DW_KEY_STATUS) == 0)
			killed = sscanf(meta->value, "{\"signal\":%d,\"pid\":%u", &number, &pid) == 2 &&
			         pid == source->processes[process].pid;
	}
	return killed && ran_out;
}

bool dw_memory_fails(const struct dw_source *source)
{
	bool fails = dw_source_meta(source, DW_NO_INDEX, DW_KEY_OOM_KILLED) != NULL;

	for (size_t i = 0; i < source->file_count; i++)
		fails |= source->files[i].head && source->files[i].head->flags & DW_HEAD_FAILED_ALLOC;
	return fails;
}

DW_ORDER(failure_compare_layers, struct dw_memory_layer, DW_DOWN(bytes) DW_UP(symbol))

static bool failure_make_layers(struct dw_memory_failure *failure, const struct dw_memory_account *account, uint32_t device)
{
	struct dw_model *model = account->model;
	uint64_t *bytes = calloc(model->row_count + 1, sizeof *bytes);

	for (size_t i = 0; bytes && i < account->holder_count; i++) {
		const struct dw_memory_holder *holder = &account->holders[i];

		if (holder->device == device)
			bytes[holder->layer < model->row_count ? holder->layer : model->row_count] += holder->use.at_failure_bytes;
	}
	for (uint32_t row = 0; bytes && row <= model->row_count; row++)
		failure->layer_count += bytes[row] > 0;
	failure->layers = dw_arena_alloc(&model->arena, (failure->layer_count + 1) * sizeof *failure->layers);
	failure->layer_count = 0;
	for (uint32_t row = 0; bytes && failure->layers && row <= model->row_count; row++)
		if (bytes[row])
			failure->layers[failure->layer_count++] = (struct dw_memory_layer){
				row == model->row_count ? DW_NO_INDEX : model->row_symbol[row], bytes[row] };
	DW_SORT(failure->layers, failure->layer_count, failure_compare_layers);
	free(bytes);
	return bytes && failure->layers;
}

bool dw_memory_make_failure(struct dw_memory_pool *pool, const struct dw_memory_account *account, uint32_t device)
{
	const struct dw_memory_device *of = &account->devices[device];
	const struct dw_memory_event *event = &of->failure;
	const struct dw_model *model = account->model;
	struct dw_memory_failure *failure = &pool->failure;

	failure->owner = failure->layer = failure->step = DW_NO_INDEX;
	if (!of->failures)
		return true;
	failure->killed = account->killed && !model->intervals;
	failure->count = of->failures - failure->killed;
	failure->ns = dw_source_ns(&model->source->files[model->source->processes[account->process].file].clock, event->ticks);
	failure->bytes = event->bytes;
	failure->used_bytes = event->address;
	failure->limit_bytes = event->variance;
	failure->held_bytes = pool->all.at_failure_bytes;
	failure->reserved_bytes = of->reserved.at_failure;
	failure->step = dw_memory_step_at(model->source, account->process, event->ticks);
	if (event->path)
		failure->owner = model->row_symbol[dw_memory_owner_row(account, event->path)];
	if (event->layer < model->row_count)
		failure->layer = model->row_symbol[event->layer];
	return failure_make_layers(failure, account, device);
}
