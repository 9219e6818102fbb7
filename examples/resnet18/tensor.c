/*
 * tensor.c - the allocator and the lifetime of tensors. The memory of all tensors, of the loader's
 * batches and of oneDNN's scratch buffers is allocated by tensor_memory_alloc and freed by
 * tensor_memory_free, with its category.
 */
#include "tensor.h"

#include <assert.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/probe.h>

enum { ALIGNMENT = 64 }; /* a cache line and an AVX-512 register */

/* Two threads allocate (loader and trainer). The counts are not used to order anything. */
static _Atomic size_t live_bytes;
static _Atomic size_t peak_bytes;

const char *tensor_category_name(enum tensor_category category)
{
	static const char *const names[TENSOR_CATEGORY_COUNT] = { "parameter",       "gradient",
															  "activation",      "input",
															  "optimizer state", "temporary" };

	return names[category];
}

/* Keeps freed memory in the process: returning it to the kernel and faulting it in again took a
 * sixth of a step. */
void tensor_memory_keep_freed(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

/* The category of a probe must be a literal, hence one probe per category. */
static void tensor_tell_profiler(const void *memory, size_t size_bytes, enum tensor_category category)
{
	switch (category) {
	case TENSOR_PARAMETER:
		DWELL_ALLOC("parameter", "cpu", memory, size_bytes);
		break;
	case TENSOR_GRADIENT:
		DWELL_ALLOC("gradient", "cpu", memory, size_bytes);
		break;
	case TENSOR_ACTIVATION:
		DWELL_ALLOC("activation", "cpu", memory, size_bytes);
		break;
	case TENSOR_INPUT:
		DWELL_ALLOC("input", "cpu", memory, size_bytes);
		break;
	case TENSOR_OPTIMIZER_STATE:
		DWELL_ALLOC("optimizer state", "cpu", memory, size_bytes);
		break;
	case TENSOR_TEMPORARY:
		DWELL_ALLOC("temporary", "cpu", memory, size_bytes);
		break;
	case TENSOR_CATEGORY_COUNT:
		break;
	}
	(void)memory;
	(void)size_bytes;
}

void *tensor_memory_alloc(size_t size_bytes, enum tensor_category category)
{
	size_t rounded = (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	void *memory = aligned_alloc(ALIGNMENT, rounded);
	size_t live, peak;

	if (!memory)
		die("no memory for %zu bytes (%s); try a smaller --batch", size_bytes,
			tensor_category_name(category));
	live = atomic_fetch_add_explicit(&live_bytes, size_bytes, memory_order_relaxed) + size_bytes;
	peak = atomic_load_explicit(&peak_bytes, memory_order_relaxed);
	while (peak < live && !atomic_compare_exchange_weak_explicit(
							  &peak_bytes, &peak, live, memory_order_relaxed, memory_order_relaxed))
		;
	tensor_tell_profiler(memory, size_bytes, category);
	return memory;
}

void tensor_memory_free(void *memory, size_t size_bytes)
{
	if (!memory)
		return;
	DWELL_FREE(memory);
	atomic_fetch_sub_explicit(&live_bytes, size_bytes, memory_order_relaxed);
	free(memory);
}

struct tensor_usage tensor_memory_usage(void)
{
	return (struct tensor_usage){
		.live_bytes = atomic_load_explicit(&live_bytes, memory_order_relaxed),
		.peak_bytes = atomic_load_explicit(&peak_bytes, memory_order_relaxed),
	};
}

static void tensor_set_data(struct tensor *tensor, void *data)
{
	tensor->data = data;
	dnn_check(dnnl_memory_set_data_handle(tensor->memory, data), tensor->name);
}

void tensor_init(struct tensor *tensor, const struct dnn *dnn, const char *name,
				 enum tensor_category category, enum tensor_lifetime lifetime,
				 const dnnl_memory_desc_t *layout)
{
	*tensor = (struct tensor){ .category = category,
							   .lifetime = lifetime,
							   .layout = *layout,
							   .size_bytes = dnnl_memory_desc_get_size(layout),
							   .last_use = -1 };
	snprintf(tensor->name, sizeof tensor->name, "%s", name);
	dnn_check(dnnl_memory_create(&tensor->memory, layout, dnn->engine, DNNL_MEMORY_NONE), name);
	if (lifetime == TENSOR_PERSISTENT) {
		void *data = tensor_memory_alloc(tensor->size_bytes, category);

		memset(data, 0, tensor->size_bytes);
		tensor_set_data(tensor, data);
	}
}

void tensor_reset(struct tensor *tensor)
{
	if (tensor->lifetime != TENSOR_BOUND)
		tensor_memory_free(tensor->data, tensor->size_bytes);
	dnnl_memory_destroy(tensor->memory);
	*tensor = (struct tensor){ 0 };
}

void tensor_bind(struct tensor *tensor, void *data)
{
	assert(tensor->lifetime == TENSOR_BOUND);
	tensor_set_data(tensor, data);
}

void tensor_make_alive(struct tensor *tensor)
{
	if (!tensor->data)
		tensor_set_data(tensor, tensor_memory_alloc(tensor->size_bytes, tensor->category));
}

void tensor_release(struct tensor *tensor)
{
	assert(tensor->lifetime == TENSOR_TRANSIENT);
	tensor_memory_free(tensor->data, tensor->size_bytes);
	tensor_set_data(tensor, NULL);
}

size_t tensor_element_count(const struct tensor *tensor)
{
	size_t count = 1;

	for (int i = 0; i < tensor->layout.ndims; i++)
		count *= (size_t)tensor->layout.dims[i];
	return count;
}

bool tensor_same_layout(const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b)
{
	return dnnl_memory_desc_equal(a, b) != 0;
}

static void tensor_copy_between(const struct dnn *dnn, dnnl_memory_t from, dnnl_memory_t to)
{
	dnnl_primitive_desc_t kernel;
	dnnl_primitive_t reorder;
	const dnnl_memory_desc_t *from_layout, *to_layout;

	dnn_check(dnnl_memory_get_memory_desc(from, &from_layout), "layout of a copy");
	dnn_check(dnnl_memory_get_memory_desc(to, &to_layout), "layout of a copy");
	dnn_check(dnnl_reorder_primitive_desc_create(&kernel, from_layout, dnn->engine, to_layout,
												 dnn->engine, NULL),
			  "copy");
	dnn_check(dnnl_primitive_create(&reorder, kernel), "copy");
	dnn_check(
		dnnl_primitive_execute(reorder, dnn->stream, 2,
							   (dnnl_exec_arg_t[]){ { DNNL_ARG_FROM, from }, { DNNL_ARG_TO, to } }),
		"copy");
	dnn_check(dnnl_stream_wait(dnn->stream), "copy");
	dnnl_primitive_destroy(reorder);
	dnnl_primitive_desc_destroy(kernel);
}

static dnnl_memory_t tensor_wrap_plain(const struct dnn *dnn, const struct tensor *tensor, void *values)
{
	dnnl_memory_desc_t plain = dnn_plain_layout(&tensor->layout);
	dnnl_memory_t memory;

	dnn_check(dnnl_memory_create(&memory, &plain, dnn->engine, values), tensor->name);
	return memory;
}

void tensor_from_plain(const struct dnn *dnn, struct tensor *tensor, const float *values)
{
	/* oneDNN's handle is not const, but the reorder only reads it. */
	dnnl_memory_t plain = tensor_wrap_plain(dnn, tensor, (void *)values);

	tensor_copy_between(dnn, plain, tensor->memory);
	dnnl_memory_destroy(plain);
}

void tensor_to_plain(const struct dnn *dnn, const struct tensor *tensor, float *values)
{
	dnnl_memory_t plain = tensor_wrap_plain(dnn, tensor, values);

	tensor_copy_between(dnn, tensor->memory, plain);
	dnnl_memory_destroy(plain);
}
