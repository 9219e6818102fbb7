/*
 * dnn.h - oneDNN's engine and stream, and how this program ends on an error.
 *
 * The trainer cannot go on after a failed primitive or a missing file, so both
 * end it with a message and status 1; nothing needs unwinding.
 */
#pragma once

#include <stddef.h>

#include <oneapi/dnnl/dnnl.h>

struct dnn {
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	/* Scratch memory is ours to provide, so that it is seen as a tensor. */
	dnnl_primitive_attr_t attributes;
};

void dnn_init(struct dnn *dnn, int threads);
void dnn_reset(struct dnn *dnn);
int dnn_thread_count(void);

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void dnn_check(dnnl_status_t status, const char *what);

dnnl_memory_desc_t dnn_layout(int dim_count, const dnnl_dim_t *dims, dnnl_format_tag_t tag);
dnnl_memory_desc_t dnn_plain_layout(const dnnl_memory_desc_t *like);
dnnl_memory_desc_t dnn_any_layout(const dnnl_memory_desc_t *like);

/* Both end the program when oneDNN has no such kernel. */
dnnl_primitive_desc_t dnn_describe(const struct dnn *dnn, const_dnnl_op_desc_t desc,
								   const_dnnl_primitive_desc_t forward_hint);
dnnl_memory_desc_t dnn_wanted_layout(const_dnnl_primitive_desc_t kernel, int argument);
