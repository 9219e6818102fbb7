/*
 * op_pool.c - max pooling, which stores the position of each maximum in a workspace, and the
 * average over the whole image at the end of the network.
 */
#include <string.h>

#include "layers.h"

enum { WORKSPACE };

static void append_pool_backward(struct graph *graph, struct tape_entry *entry, const char *name,
								 dnnl_alg_kind_t algorithm)
{
	struct tensor *gradient, *result;
	dnnl_primitive_desc_t kernel;
	dnnl_pooling_desc_t desc;
	struct op *op;

	gradient = graph_in_layout(graph, entry->output->gradient, &entry->output->layout);
	result = graph_tensor(graph, TENSOR_GRADIENT, TENSOR_TRANSIENT, entry->input->name,
						  &entry->input->layout);
	dnn_check(dnnl_pooling_backward_desc_init(&desc, algorithm, &result->layout, &gradient->layout,
											  entry->strides, entry->kernel, entry->padding,
											  entry->padding),
			  name);
	kernel = dnn_describe(graph->dnn, &desc, entry->forward);
	op = graph_kernel_op(graph, name, kernel);
	op_reads(op, DNNL_ARG_DIFF_DST, gradient);
	if (entry->saved[WORKSPACE])
		op_reads(op, DNNL_ARG_WORKSPACE, entry->saved[WORKSPACE]);
	op_writes(op, DNNL_ARG_DIFF_SRC, result);
	graph_add_gradient(graph, entry->input, result);
	dnnl_primitive_desc_destroy(kernel);
}

static void pool_append_max_backward(struct graph *graph, struct tape_entry *entry)
{
	append_pool_backward(graph, entry, "max_pool_backward", dnnl_pooling_max);
}

static void pool_append_average_backward(struct graph *graph, struct tape_entry *entry)
{
	append_pool_backward(graph, entry, "average_pool_backward", dnnl_pooling_avg_exclude_padding);
}

static dnnl_primitive_desc_t pool_describe_forward(struct graph *graph, const struct tensor *input,
											       dnnl_alg_kind_t algorithm,
											       const struct tape_entry *entry)
{
	const dnnl_dim_t *in = input->layout.dims;
	dnnl_dims_t out_dims = { in[0], in[1] };
	dnnl_memory_desc_t dst;
	dnnl_pooling_desc_t desc;

	for (int i = 0; i < 2; i++)
		out_dims[2 + i] =
			(in[2 + i] + 2 * entry->padding[i] - entry->kernel[i]) / entry->strides[i] + 1;
	dst = dnn_layout(4, out_dims, dnnl_format_tag_any);
	dnn_check(dnnl_pooling_forward_desc_init(
				  &desc, graph->training ? dnnl_forward_training : dnnl_forward_inference,
				  algorithm, &input->layout, &dst, entry->strides, entry->kernel, entry->padding,
				  entry->padding),
			  "pooling");
	return dnn_describe(graph->dnn, &desc, NULL);
}

/* `shape` is an entry with only its geometry and its backward filled in. */
static struct tensor *append_pool(struct graph *graph, struct tensor *input, const char *name,
								  dnnl_alg_kind_t algorithm, const struct tape_entry *shape)
{
	dnnl_primitive_desc_t kernel = pool_describe_forward(graph, input, algorithm, shape);
	dnnl_memory_desc_t dst = dnn_wanted_layout(kernel, DNNL_ARG_DST);
	dnnl_memory_desc_t workspace = dnn_wanted_layout(kernel, DNNL_ARG_WORKSPACE);
	struct tensor *output = graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, name, &dst);
	struct op *op = graph_kernel_op(graph, name, kernel);
	struct tape_entry *entry = graph_tape(graph, input, output);

	op_reads(op, DNNL_ARG_SRC, input);
	op_writes(op, DNNL_ARG_DST, output);
	if (dnnl_memory_desc_get_size(&workspace)) {
		entry->saved[WORKSPACE] = graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT,
											   "pooling workspace", &workspace);
		op_writes(op, DNNL_ARG_WORKSPACE, entry->saved[WORKSPACE]);
	}
	entry->append_backward = shape->append_backward;
	entry->forward = kernel;
	memcpy(entry->kernel, shape->kernel, sizeof entry->kernel);
	memcpy(entry->strides, shape->strides, sizeof entry->strides);
	memcpy(entry->padding, shape->padding, sizeof entry->padding);
	return output;
}

struct tensor *layer_max_pool(struct graph *graph, struct tensor *input, int kernel, int stride,
							  int padding)
{
	struct tape_entry shape = { .append_backward = pool_append_max_backward,
								.kernel = { kernel, kernel },
								.strides = { stride, stride },
								.padding = { padding, padding } };

	return append_pool(graph, input, "max_pool", dnnl_pooling_max, &shape);
}

struct tensor *layer_global_average_pool(struct graph *graph, struct tensor *input)
{
	struct tape_entry shape = { .append_backward = pool_append_average_backward,
								.kernel = { input->layout.dims[2], input->layout.dims[3] },
								.strides = { 1, 1 } };

	return append_pool(graph, input, "average_pool", dnnl_pooling_avg_exclude_padding, &shape);
}
