/*
 * op_conv.c - convolution without bias. Every kernel chooses the layouts for which it is fast;
 * tensors in another layout are converted by a separate reorder operation. The weight is stored in
 * the layout of the forward kernel.
 */
#include <stdio.h>
#include <string.h>

#include "layers.h"

static void conv_backward_weights(struct graph *graph, struct tape_entry *entry)
{
	dnnl_memory_desc_t src = dnn_any_layout(&entry->input->layout);
	dnnl_memory_desc_t weight = dnn_any_layout(&entry->weight->value.layout);
	dnnl_memory_desc_t dst = dnn_any_layout(&entry->output->layout), wanted;
	struct tensor *input, *gradient, *result;
	dnnl_convolution_desc_t desc;
	dnnl_primitive_desc_t kernel;
	struct op *op;

	dnn_check(dnnl_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &src,
														  &weight, NULL, &dst, entry->strides,
														  entry->padding, entry->padding),
			  "convolution backward weights");
	kernel = dnn_describe(graph->dnn, &desc, entry->forward);
	wanted = dnn_wanted_layout(kernel, DNNL_ARG_SRC);
	input = graph_in_layout(graph, entry->input, &wanted);
	wanted = dnn_wanted_layout(kernel, DNNL_ARG_DIFF_DST);
	gradient = graph_in_layout(graph, entry->output->gradient, &wanted);
	wanted = dnn_wanted_layout(kernel, DNNL_ARG_DIFF_WEIGHTS);
	result = graph_staging(graph, &entry->weight->gradient, &wanted);

	op = graph_kernel_op(graph, "convolution_backward_weights", kernel);
	op_reads(op, DNNL_ARG_SRC, input);
	op_reads(op, DNNL_ARG_DIFF_DST, gradient);
	op_writes(op, DNNL_ARG_DIFF_WEIGHTS, result);
	graph_settle(graph, result, &entry->weight->gradient);
	dnnl_primitive_desc_destroy(kernel);
}

static void conv_backward_data(struct graph *graph, struct tape_entry *entry)
{
	dnnl_memory_desc_t src = dnn_any_layout(&entry->input->layout);
	dnnl_memory_desc_t weight_any = dnn_any_layout(&entry->weight->value.layout);
	dnnl_memory_desc_t dst = dnn_any_layout(&entry->output->layout), wanted;
	struct tensor *weight, *gradient, *result;
	dnnl_convolution_desc_t desc;
	dnnl_primitive_desc_t kernel;
	struct op *op;

	dnn_check(dnnl_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &src,
													   &weight_any, &dst, entry->strides,
													   entry->padding, entry->padding),
			  "convolution backward data");
	kernel = dnn_describe(graph->dnn, &desc, entry->forward);
	wanted = dnn_wanted_layout(kernel, DNNL_ARG_WEIGHTS);
	weight = graph_in_layout(graph, &entry->weight->value, &wanted);
	wanted = dnn_wanted_layout(kernel, DNNL_ARG_DIFF_DST);
	gradient = graph_in_layout(graph, entry->output->gradient, &wanted);
	wanted = dnn_wanted_layout(kernel, DNNL_ARG_DIFF_SRC);
	result = graph_tensor(graph, TENSOR_GRADIENT, TENSOR_TRANSIENT, entry->input->name, &wanted);

	op = graph_kernel_op(graph, "convolution_backward_data", kernel);
	op_reads(op, DNNL_ARG_WEIGHTS, weight);
	op_reads(op, DNNL_ARG_DIFF_DST, gradient);
	op_writes(op, DNNL_ARG_DIFF_SRC, result);
	graph_add_gradient(graph, entry->input, result);
	dnnl_primitive_desc_destroy(kernel);
}

static void conv_append_backward(struct graph *graph, struct tape_entry *entry)
{
	conv_backward_weights(graph, entry);
	/* The gradient of the images is not needed. */
	if (entry->input->category != TENSOR_INPUT)
		conv_backward_data(graph, entry);
}

static dnnl_primitive_desc_t conv_describe_forward(struct graph *graph, const struct tensor *input,
											       const struct conv_shape *shape,
											       const dnnl_dims_t strides, const dnnl_dims_t padding)
{
	const dnnl_dim_t *in = input->layout.dims;
	dnnl_dims_t weight_dims = { shape->channels, in[1], shape->kernel, shape->kernel };
	dnnl_dims_t out_dims = { in[0], shape->channels,
							 (in[2] + 2 * shape->padding - shape->kernel) / shape->stride + 1,
							 (in[3] + 2 * shape->padding - shape->kernel) / shape->stride + 1 };
	dnnl_memory_desc_t src = dnn_any_layout(&input->layout);
	dnnl_memory_desc_t weight = dnn_layout(4, weight_dims, dnnl_format_tag_any);
	dnnl_memory_desc_t dst = dnn_layout(4, out_dims, dnnl_format_tag_any);
	dnnl_convolution_desc_t desc;

	/* Images are in row-major order and only one layer reads them. */
	if (input->category == TENSOR_INPUT)
		src = input->layout;
	dnn_check(dnnl_convolution_forward_desc_init(
				  &desc, graph->training ? dnnl_forward_training : dnnl_forward_inference,
				  dnnl_convolution_direct, &src, &weight, NULL, &dst, strides, padding, padding),
			  "convolution");
	return dnn_describe(graph->dnn, &desc, NULL);
}

static struct param *conv_declare_weight(struct graph *graph, const char *name,
									     const_dnnl_primitive_desc_t kernel, enum param_init init)
{
	dnnl_memory_desc_t layout = dnn_wanted_layout(kernel, DNNL_ARG_WEIGHTS);
	char full_name[TENSOR_NAME_MAX];
	struct param *weight;
	long area = (long)(layout.dims[2] * layout.dims[3]);

	snprintf(full_name, sizeof full_name, "%s.weight", name);
	weight = params_declare(graph->params, full_name, true, &layout);
	weight->init = init;
	weight->fan = area * (long)layout.dims[init == PARAM_KAIMING_NORMAL ? 0 : 1];
	return weight;
}

struct tensor *layer_conv(struct graph *graph, const char *name, struct tensor *input,
						  const struct conv_shape *shape, enum param_init init)
{
	dnnl_dims_t strides = { shape->stride, shape->stride };
	dnnl_dims_t padding = { shape->padding, shape->padding };
	dnnl_primitive_desc_t kernel = conv_describe_forward(graph, input, shape, strides, padding);
	dnnl_memory_desc_t src = dnn_wanted_layout(kernel, DNNL_ARG_SRC);
	dnnl_memory_desc_t weight_layout = dnn_wanted_layout(kernel, DNNL_ARG_WEIGHTS);
	dnnl_memory_desc_t dst = dnn_wanted_layout(kernel, DNNL_ARG_DST);
	struct param *weight = conv_declare_weight(graph, name, kernel, init);
	struct tensor *output = graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, name, &dst);
	struct tensor *source = graph_in_layout(graph, input, &src);
	struct tensor *weight_value = graph_in_layout(graph, &weight->value, &weight_layout);
	struct op *op = graph_kernel_op(graph, "convolution", kernel);
	struct tape_entry *entry = graph_tape(graph, input, output);

	op_reads(op, DNNL_ARG_SRC, source);
	op_reads(op, DNNL_ARG_WEIGHTS, weight_value);
	op_writes(op, DNNL_ARG_DST, output);
	entry->append_backward = conv_append_backward;
	entry->forward = kernel;
	entry->weight = weight;
	memcpy(entry->strides, strides, sizeof strides);
	memcpy(entry->padding, padding, sizeof padding);
	return output;
}
