/* What must hold for the trace that a foreign file became: for fuzz_kineto.c, fuzz_sqlite.c and
 * fuzz_xspace.c. */
#pragma once

#include <string.h>

#include "bounds.h"
#include "file.h"
#include "model/device/sums.h"
#include "model/device/times.h"
#include "model/model.h"

static inline int imported_check_event(void *context, const struct dw_event *event)
{
	const struct dw_source *source = context;

	demand(event->thread < source->thread_count && event->start_ns <= event->end_ns);
	return 0;
}

/* The events of devices are in order, and all refer to something. */
static inline void imported_check_devices(struct dw_model *model, const struct dw_source *source)
{
	const struct dw_device_work *work;

	if (!dw_model_has_device(model))
		return;
	work = dw_model_device_work(model, NULL);
	demand(work && dw_model_device_times(model, NULL) && dw_model_device_by_row(model, ~0u, NULL));
	for (size_t i = 0; i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];

		demand(event->start_ns <= event->end_ns && event->queue < source->queue_count &&
		       event->name < work->name_count &&
		       (event->call == DW_NO_INDEX || event->call < work->call_count));
	}
	for (size_t q = 0; q < work->queue_count; q++)
		for (size_t i = 1; i < work->queues[q].count; i++)
			demand(work->events[work->queues[q].first + i - 1].start_ns <=
			       work->events[work->queues[q].first + i].start_ns);
}

/* Aborts if the trace has damage or a product of it cannot be computed. */
static inline void imported_check(const struct dw_source *source, const uint8_t *data, size_t size)
{
	struct dw_scope scope = { .has_steps = false };
	struct dw_model *model;

	for (size_t i = 0; i < source->repair_count; i++)
		demand(!strstr(source->repairs[i], "damaged: ") && !strstr(source->repairs[i], "ends inside"));
	if (dw_model_create(&model, source, &scope, NULL) != 0)
		return;
	if (bounds_asks(data, size, 0, 3))
		demand(dw_model_flat(model, UINT32_MAX, NULL) && dw_model_tree(model, NULL) &&
		       dw_model_steps(model, NULL));
	if (bounds_asks(data, size, 1, 3))
		demand(dw_model_events(model, imported_check_event, (void *)(uintptr_t)source, NULL) == 0);
	if (bounds_asks(data, size, 2, 3))
		imported_check_devices(model, source);
	dw_model_destroy(model);
}

/* Opens the data as a file. Its image may have a block more for each `bytes_per_block` bytes. */
static inline int imported_test(const uint8_t *data, size_t size, size_t bytes_per_block)
{
	struct dw_source *source;
	const char *path = FILE_PATH;

	file_begin(size);
	file_write(0, data, size);
	bounds_begin();
	if (dw_source_open(&source, &path, 1, NULL) == 0) {
		/* The image is mapped: a block takes a page and what its records take. */
		demand(source->files[0].size_bytes / DW_BLOCK_BYTES <= 3 * 4096 + 64 + size / bytes_per_block);
		imported_check(source, data, size);
		dw_source_close(source);
	}
	bounds_end(data, size, size);
	return 0;
}
