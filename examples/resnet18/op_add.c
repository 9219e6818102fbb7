/*
 * op_add.c - the addition that ends a residual block. Its backward pass needs no operation: both
 * inputs have the output's gradient, so they share the tensor (graph_add_gradient never writes to
 * it).
 */
#include "layers.h"

static void add_append_backward(struct graph *graph, struct tape_entry *entry)
{
	graph_add_gradient(graph, entry->input, entry->output->gradient);
	graph_add_gradient(graph, entry->saved[0], entry->output->gradient);
}

struct tensor *layer_add(struct graph *graph, struct tensor *a, struct tensor *b)
{
	struct tensor *second = graph_in_layout(graph, b, &a->layout);
	struct tensor *output =
		graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, "sum", &a->layout);
	dnnl_primitive_desc_t kernel;
	struct tape_entry *entry;
	dnnl_binary_desc_t desc;
	struct op *op;

	dnn_check(dnnl_binary_desc_init(&desc, dnnl_binary_add, &a->layout, &a->layout, &a->layout),
			  "addition");
	kernel = dnn_describe(graph->dnn, &desc, NULL);
	op = graph_kernel_op(graph, "add", kernel);
	op_reads(op, DNNL_ARG_SRC_0, a);
	op_reads(op, DNNL_ARG_SRC_1, second);
	op_writes(op, DNNL_ARG_DST, output);
	entry = graph_tape(graph, a, output);
	entry->append_backward = add_append_backward;
	entry->forward = kernel;
	entry->saved[0] = b;
	return output;
}
