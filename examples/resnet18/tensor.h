/*
 * tensor.h - tensors and the one allocator that all of their memory comes from.
 *
 * A tensor is a layout (oneDNN's memory descriptor), a category and, while it
 * is alive, memory. `tensor_memory_alloc` and `tensor_memory_free` are the only
 * places that take or return memory, so they are where a profiler looks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dnn.h"

#define TENSOR_NAME_MAX 64

enum tensor_category {
	TENSOR_PARAMETER,
	TENSOR_GRADIENT,
	TENSOR_ACTIVATION,
	TENSOR_INPUT,
	TENSOR_OPTIMIZER_STATE,
	TENSOR_TEMPORARY,
	TENSOR_CATEGORY_COUNT
};

enum tensor_lifetime {
	TENSOR_TRANSIENT,  /* from the operation that writes it first to the one that uses it last */
	TENSOR_PERSISTENT, /* as long as the struct */
	TENSOR_BOUND       /* somebody else's memory, named by tensor_bind before each run */
};

struct tensor {
	char name[TENSOR_NAME_MAX];
	enum tensor_category category;
	enum tensor_lifetime lifetime;
	dnnl_memory_desc_t layout;
	dnnl_memory_t memory;
	void *data;
	size_t size_bytes;
	struct tensor *gradient; /* set while the backward list is built (graph.c) */
	int last_use;            /* index of the last operation that touches it (graph.c) */
};

struct tensor_usage {
	size_t live_bytes;
	size_t peak_bytes;
};

void tensor_memory_keep_freed(void);
void *tensor_memory_alloc(size_t size_bytes, enum tensor_category category);
void tensor_memory_free(void *memory, size_t size_bytes);
struct tensor_usage tensor_memory_usage(void);
const char *tensor_category_name(enum tensor_category category);

void tensor_init(struct tensor *tensor, const struct dnn *dnn, const char *name,
				 enum tensor_category category, enum tensor_lifetime lifetime,
				 const dnnl_memory_desc_t *layout);
void tensor_reset(struct tensor *tensor);
void tensor_bind(struct tensor *tensor, void *data);
void tensor_make_alive(struct tensor *tensor);
void tensor_release(struct tensor *tensor);

size_t tensor_element_count(const struct tensor *tensor);
bool tensor_same_layout(const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b);

/* Row-major copies, as PyTorch stores them; `values` has tensor_element_count floats. */
void tensor_from_plain(const struct dnn *dnn, struct tensor *tensor, const float *values);
void tensor_to_plain(const struct dnn *dnn, const struct tensor *tensor, float *values);
