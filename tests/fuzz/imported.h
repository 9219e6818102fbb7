/* What must hold for the trace that a foreign file became: for fuzz_kineto.c, fuzz_sqlite.c and
 * fuzz_xspace.c. */
#ifndef TESTS_FUZZ_IMPORTED_H
#define TESTS_FUZZ_IMPORTED_H

#include <string.h>

#include "bounds.h"
#include "file.h"
#include "model/model.h"

static inline int imported_check_event(void *context, const struct dw_event *event)
{
	const struct dw_source *source = context;

	demand(event->thread < source->thread_count && event->start_ns <= event->end_ns);
	return 0;
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
	if (bounds_asks(data, size, 0, 2))
		demand(dw_model_flat(model, UINT32_MAX, NULL) && dw_model_tree(model, NULL) &&
		       dw_model_steps(model, NULL));
	if (bounds_asks(data, size, 1, 2))
		demand(dw_model_events(model, imported_check_event, (void *)(uintptr_t)source, NULL) == 0);
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

#endif
