/*
 * Property: whatever the bytes of an XSpace, opening it ends, within memory that their
 * number bounds, without a fault; and what was translated is a trace without damage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static int check_event(void *context, const struct dw_event *event)
{
	const struct dw_source *source = context;

	demand(event->thread < source->thread_count && event->start_ns <= event->end_ns);
	return 0;
}

static void check(const struct dw_source *source)
{
	struct dw_scope scope = { .has_steps = false };
	struct dw_model *model;

	for (size_t i = 0; i < source->repair_count; i++)
		demand(!strstr(source->repairs[i], "damaged: ") && !strstr(source->repairs[i], "ends inside"));
	if (dw_model_create(&model, source, &scope, NULL) != 0)
		return;
	demand(dw_model_flat(model, UINT32_MAX, NULL) && dw_model_tree(model, NULL) &&
	       dw_model_steps(model, NULL));
	demand(dw_model_events(model, check_event, (void *)(uintptr_t)source, NULL) == 0);
	dw_model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file = memfd_create("fuzz", MFD_CLOEXEC);
	struct dw_source *source;
	char path[32];
	const char *paths = path;

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	/* Traces are fuzz_source.c's affair. */
	if (file >= 0 && size && data[0] != 0x89 && write(file, data, size) == (ssize_t)size &&
	    dw_source_open(&source, &paths, 1, NULL) == 0) {
		check(source);
		dw_source_close(source);
	}
	close(file);
	return 0;
}
