/*
 * op_linear.c - the fully connected layer at the end, with bias. It reads the pooled N x C x 1 x 1
 * tensor directly: its weight is OUT x C x 1 x 1, which has the same memory layout as PyTorch's OUT
 * x C.
 */
#include <stdio.h>

#include "layers.h"

static void linear_backward_weights(struct graph *graph, struct tape_entry *entry)
{
	dnnl_memory_desc_t *weight = &entry->weight->gradient.layout;
	dnnl_inner_product_desc_t desc;
	dnnl_primitive_desc_t kernel;
	struct op *op;

	dnn_check(dnnl_inner_product_backward_weights_desc_init(&desc, &entry->input->layout, weight,
															&entry->bias->gradient.layout,
															&entry->output->layout),
			  "linear backward weights");
	kernel = dnn_describe(graph->dnn, &desc, entry->forward);
	op = graph_kernel_op(graph, "linear_backward_weights", kernel);
	op_reads(op, DNNL_ARG_SRC, entry->input);
	op_reads(op, DNNL_ARG_DIFF_DST, entry->output->gradient);
	op_writes(op, DNNL_ARG_DIFF_WEIGHTS, &entry->weight->gradient);
	op_writes(op, DNNL_ARG_DIFF_BIAS, &entry->bias->gradient);
	dnnl_primitive_desc_destroy(kernel);
}

static void linear_backward_data(struct graph *graph, struct tape_entry *entry)
{
	struct tensor *result = graph_tensor(graph, TENSOR_GRADIENT, TENSOR_TRANSIENT,
										 entry->input->name, &entry->input->layout);
	dnnl_inner_product_desc_t desc;
	dnnl_primitive_desc_t kernel;
	struct op *op;

	dnn_check(dnnl_inner_product_backward_data_desc_init(
				  &desc, &result->layout, &entry->weight->value.layout, &entry->output->layout),
			  "linear backward data");
	kernel = dnn_describe(graph->dnn, &desc, entry->forward);
	op = graph_kernel_op(graph, "linear_backward_data", kernel);
	op_reads(op, DNNL_ARG_WEIGHTS, &entry->weight->value);
	op_reads(op, DNNL_ARG_DIFF_DST, entry->output->gradient);
	op_writes(op, DNNL_ARG_DIFF_SRC, result);
	graph_add_gradient(graph, entry->input, result);
	dnnl_primitive_desc_destroy(kernel);
}

static void linear_append_backward(struct graph *graph, struct tape_entry *entry)
{
	linear_backward_weights(graph, entry);
	linear_backward_data(graph, entry);
}

static struct param *linear_declare(struct graph *graph, const char *name, const char *part,
							        const dnnl_memory_desc_t *layout, long fan)
{
	char full_name[TENSOR_NAME_MAX];
	struct param *param;

	snprintf(full_name, sizeof full_name, "%s.%s", name, part);
	param = params_declare(graph->params, full_name, true, layout);
	param->init = PARAM_KAIMING_UNIFORM;
	param->fan = fan;
	return param;
}

/* With ten outputs and 512 inputs, plain layouts are fast enough. */
struct tensor *layer_linear(struct graph *graph, const char *name, struct tensor *input,
							int features)
{
	const dnnl_dim_t *in = input->layout.dims;
	dnnl_dims_t weight_dims = { features, in[1], in[2], in[3] };
	dnnl_dims_t bias_dims = { features }, out_dims = { in[0], features };
	dnnl_memory_desc_t weight_layout = dnn_layout(4, weight_dims, dnnl_abcd);
	dnnl_memory_desc_t bias_layout = dnn_layout(1, bias_dims, dnnl_a);
	dnnl_memory_desc_t dst = dnn_layout(2, out_dims, dnnl_ab);
	long fan = (long)(in[1] * in[2] * in[3]);
	struct param *weight = linear_declare(graph, name, "weight", &weight_layout, fan);
	struct param *bias = linear_declare(graph, name, "bias", &bias_layout, fan);
	struct tensor *output = graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, name, &dst);
	dnnl_inner_product_desc_t desc;
	dnnl_primitive_desc_t kernel;
	struct tape_entry *entry;
	struct op *op;

	dnn_check(dnnl_inner_product_forward_desc_init(
				  &desc, graph->training ? dnnl_forward_training : dnnl_forward_inference,
				  &input->layout, &weight_layout, &bias_layout, &dst),
			  "linear");
	kernel = dnn_describe(graph->dnn, &desc, NULL);
	op = graph_kernel_op(graph, "linear", kernel);
	op_reads(op, DNNL_ARG_SRC, input);
	op_reads(op, DNNL_ARG_WEIGHTS, &weight->value);
	op_reads(op, DNNL_ARG_BIAS, &bias->value);
	op_writes(op, DNNL_ARG_DST, output);
	entry = graph_tape(graph, input, output);
	entry->append_backward = linear_append_backward;
	entry->forward = kernel;
	entry->weight = weight;
	entry->bias = bias;
	return output;
}
