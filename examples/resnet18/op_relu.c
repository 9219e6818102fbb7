/*
 * op_relu.c - ReLU. Its backward pass reads its output, so that its input can be released directly
 * after the forward pass.
 */
#include "layers.h"

static const dnnl_alg_kind_t algorithm = dnnl_eltwise_relu_use_dst_for_bwd;

static void relu_append_backward(struct graph *graph, struct tape_entry *entry)
{
	struct tensor *output = entry->output, *gradient, *result;
	dnnl_primitive_desc_t kernel;
	dnnl_eltwise_desc_t desc;
	struct op *op;

	gradient = graph_in_layout(graph, output->gradient, &output->layout);
	result =
		graph_tensor(graph, TENSOR_GRADIENT, TENSOR_TRANSIENT, entry->input->name, &output->layout);
	dnn_check(
		dnnl_eltwise_backward_desc_init(&desc, algorithm, &output->layout, &output->layout, 0, 0),
		"ReLU backward");
	kernel = dnn_describe(graph->dnn, &desc, entry->forward);
	op = graph_kernel_op(graph, "relu_backward", kernel);
	op_reads(op, DNNL_ARG_DST, output);
	op_reads(op, DNNL_ARG_DIFF_DST, gradient);
	op_writes(op, DNNL_ARG_DIFF_SRC, result);
	graph_add_gradient(graph, entry->input, result);
	dnnl_primitive_desc_destroy(kernel);
}

struct tensor *layer_relu(struct graph *graph, struct tensor *input)
{
	struct tensor *output =
		graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, "relu", &input->layout);
	dnnl_primitive_desc_t kernel;
	struct tape_entry *entry;
	dnnl_eltwise_desc_t desc;
	struct op *op;

	dnn_check(dnnl_eltwise_forward_desc_init(
				  &desc, graph->training ? dnnl_forward_training : dnnl_forward_inference,
				  algorithm, &input->layout, 0, 0),
			  "ReLU");
	kernel = dnn_describe(graph->dnn, &desc, NULL);
	op = graph_kernel_op(graph, "relu", kernel);
	op_reads(op, DNNL_ARG_SRC, input);
	op_writes(op, DNNL_ARG_DST, output);
	entry = graph_tape(graph, input, output);
	entry->append_backward = relu_append_backward;
	entry->forward = kernel;
	return output;
}
