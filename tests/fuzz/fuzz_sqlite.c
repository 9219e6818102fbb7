/*
 * Property: whatever the bytes of an SQLite file, opening it ends, within memory and time that its
 * size bounds, without a fault; and what was translated is a trace without damage.
 */
#include <string.h>

#include "bounds.h"
#include "file.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_event(void *context, const struct dw_event *event)
{
	const struct dw_source *source = context;

	demand(event->thread < source->thread_count && event->start_ns <= event->end_ns);
	return 0;
}

static void check(const struct dw_source *source, const uint8_t *data, size_t size)
{
	struct dw_scope scope = { .has_steps = false };
	struct dw_model *model;

	for (size_t i = 0; i < source->repair_count; i++)
		demand(!strstr(source->repairs[i], "damaged: ") && !strstr(source->repairs[i], "ends inside"));
	if (dw_model_create(&model, source, &scope, NULL) != 0)
		return;
	if (bounds_asks(data, size, 0, 2))
		demand(dw_model_flat(model, UINT32_MAX, NULL) && dw_model_steps(model, NULL));
	if (bounds_asks(data, size, 1, 2))
		demand(dw_model_events(model, check_event, (void *)(uintptr_t)source, NULL) == 0);
	dw_model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_source *source;
	const char *path = FILE_PATH;

	if (size < 16 || memcmp(data, "SQLite format 3", 16) != 0)
		return 0;
	file_begin(size);
	file_write(0, data, size);
	bounds_begin();
	if (dw_source_open(&source, &path, 1, NULL) == 0) {
		/* The image is mapped: a block takes a page and what its records take. */
		demand(source->files[0].size_bytes / DW_BLOCK_BYTES <= 3 * 4096 + 64 + size / 128);
		check(source, data, size);
		dw_source_close(source);
	}
	bounds_end(data, size, size);
	return 0;
}
