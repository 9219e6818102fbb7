/*
 * graph.c - builds the list of operations: appending, the tape, sums of gradients, and the lifetime
 * of every tensor. Called by net.c, optim.c and the op_*.c files. Operations of one phase are
 * neighbours in the list; run.c runs them.
 */
#include "graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Doubles the capacity if necessary. Pointers to operations are valid until the next append. */
static void *graph_grown(void *items, int count, int *capacity, size_t item_size)
{
	if (count < *capacity)
		return items;
	*capacity = *capacity ? 2 * *capacity : 64;
	items = realloc(items, (size_t)*capacity * item_size);
	if (!items)
		die("no memory for the list of operations");
	return items;
}

void graph_init(struct graph *graph, const struct dnn *dnn, struct params *params, bool training)
{
	*graph = (struct graph){ .dnn = dnn, .params = params, .training = training };
}

void graph_reset(struct graph *graph)
{
	for (int i = 0; i < graph->op_count; i++)
		if (graph->ops[i].primitive)
			dnnl_primitive_destroy(graph->ops[i].primitive);
	for (int i = 0; i < graph->tensor_count; i++) {
		tensor_reset(graph->tensors[i]);
		free(graph->tensors[i]);
	}
	free(graph->ops);
	free(graph->tensors);
	free(graph->tape);
	*graph = (struct graph){ 0 };
}

void graph_set_layer(struct graph *graph, const char *layer)
{
	snprintf(graph->layer, sizeof graph->layer, "%s", layer);
}

struct tensor *graph_tensor(struct graph *graph, enum tensor_category category,
							enum tensor_lifetime lifetime, const char *name,
							const dnnl_memory_desc_t *layout)
{
	struct tensor *tensor = malloc(sizeof *tensor);

	if (!tensor)
		die("no memory for the list of operations");
	tensor_init(tensor, graph->dnn, name, category, lifetime, layout);
	graph->tensors =
		graph_grown(graph->tensors, graph->tensor_count, &graph->tensor_capacity, sizeof *graph->tensors);
	graph->tensors[graph->tensor_count++] = tensor;
	return tensor;
}

struct op *graph_plain_op(struct graph *graph, const char *name,
						  void (*run)(const struct op *, const struct dnn *))
{
	struct op *op;

	graph->ops = graph_grown(graph->ops, graph->op_count, &graph->op_capacity, sizeof *graph->ops);
	op = &graph->ops[graph->op_count++];
	*op = (struct op){ .name = name, .phase = graph->phase, .run = run };
	memcpy(op->layer, graph->layer, sizeof op->layer);
	return op;
}

static void graph_run_kernel(const struct op *op, const struct dnn *dnn)
{
	dnn_check(dnnl_primitive_execute(op->primitive, dnn->stream, op->argument_count, op->arguments),
			  op->name);
	dnn_check(dnnl_stream_wait(dnn->stream), op->name);
}

struct op *graph_kernel_op(struct graph *graph, const char *name,
						   const_dnnl_primitive_desc_t kernel)
{
	dnnl_memory_desc_t scratch = dnn_wanted_layout(kernel, DNNL_ARG_SCRATCHPAD);
	struct op *op = graph_plain_op(graph, name, graph_run_kernel);

	dnn_check(dnnl_primitive_create(&op->primitive, kernel), name);
	if (dnnl_memory_desc_get_size(&scratch))
		op_writes(op, DNNL_ARG_SCRATCHPAD,
				  graph_tensor(graph, TENSOR_TEMPORARY, TENSOR_TRANSIENT, "scratch", &scratch));
	return op;
}

static void graph_add_argument(struct op *op, int argument, struct tensor *tensor)
{
	if (argument == OP_PLAIN)
		return;
	assert(op->argument_count < OP_ARGUMENTS_MAX);
	op->arguments[op->argument_count++] = (dnnl_exec_arg_t){ argument, tensor->memory };
}

void op_reads(struct op *op, int argument, struct tensor *tensor)
{
	assert(op->read_count < OP_READS_MAX);
	op->reads[op->read_count++] = tensor;
	graph_add_argument(op, argument, tensor);
}

void op_writes(struct op *op, int argument, struct tensor *tensor)
{
	assert(op->write_count < OP_WRITES_MAX);
	op->writes[op->write_count++] = tensor;
	graph_add_argument(op, argument, tensor);
}

/* Without training the entry is not used, but it can still be filled in. */
struct tape_entry *graph_tape(struct graph *graph, struct tensor *input, struct tensor *output)
{
	struct tape_entry *entry;

	graph->tape = graph_grown(graph->tape, graph->tape_count, &graph->tape_capacity, sizeof *graph->tape);
	entry = &graph->tape[graph->tape_count++];
	*entry = (struct tape_entry){ .input = input, .output = output };
	memcpy(entry->layer, graph->layer, sizeof entry->layer);
	return entry;
}

static void graph_append_reorder(struct graph *graph, struct tensor *from, struct tensor *to)
{
	dnnl_primitive_desc_t kernel;
	struct op *op;

	dnn_check(dnnl_reorder_primitive_desc_create(&kernel, &from->layout, graph->dnn->engine,
												 &to->layout, graph->dnn->engine,
												 graph->dnn->attributes),
			  "reorder");
	op = graph_kernel_op(graph, "reorder", kernel);
	op_reads(op, DNNL_ARG_FROM, from);
	op_writes(op, DNNL_ARG_TO, to);
	dnnl_primitive_desc_destroy(kernel);
}

struct tensor *graph_in_layout(struct graph *graph, struct tensor *tensor,
							   const dnnl_memory_desc_t *layout)
{
	struct tensor *copy = graph_staging(graph, tensor, layout);

	if (copy != tensor)
		graph_append_reorder(graph, tensor, copy);
	return copy;
}

struct tensor *graph_staging(struct graph *graph, struct tensor *target,
							 const dnnl_memory_desc_t *layout)
{
	if (tensor_same_layout(&target->layout, layout))
		return target;
	return graph_tensor(graph, TENSOR_TEMPORARY, TENSOR_TRANSIENT, target->name, layout);
}

void graph_settle(struct graph *graph, struct tensor *staging, struct tensor *target)
{
	if (staging != target)
		graph_append_reorder(graph, staging, target);
}

/*
 * The sum is written to a new tensor, because the first gradient may also be that of another
 * tensor: a residual addition passes one tensor to both of its inputs.
 */
void graph_add_gradient(struct graph *graph, struct tensor *tensor, struct tensor *gradient)
{
	struct tensor *first = tensor->gradient, *sum;
	dnnl_primitive_desc_t kernel;
	dnnl_binary_desc_t desc;
	struct op *op;

	if (!first) {
		tensor->gradient = gradient;
		return;
	}
	gradient = graph_in_layout(graph, gradient, &first->layout);
	sum = graph_tensor(graph, TENSOR_GRADIENT, TENSOR_TRANSIENT, tensor->name, &first->layout);
	dnn_check(
		dnnl_binary_desc_init(&desc, dnnl_binary_add, &first->layout, &first->layout, &sum->layout),
		"gradient sum");
	kernel = dnn_describe(graph->dnn, &desc, NULL);
	op = graph_kernel_op(graph, "gradient_add", kernel);
	op_reads(op, DNNL_ARG_SRC_0, first);
	op_reads(op, DNNL_ARG_SRC_1, gradient);
	op_writes(op, DNNL_ARG_DST, sum);
	dnnl_primitive_desc_destroy(kernel);
	tensor->gradient = sum;
}

void graph_begin_phase(struct graph *graph, enum op_phase phase)
{
	assert(phase == graph->phase + 1);
	graph->phase = phase;
	graph->phase_first[phase] = graph->op_count;
}

void graph_build_backward(struct graph *graph)
{
	graph_begin_phase(graph, OP_BACKWARD);
	for (int i = graph->tape_count - 1; i >= 0; i--) {
		graph_set_layer(graph, graph->tape[i].layer);
		graph->tape[i].append_backward(graph, &graph->tape[i]);
	}
	graph_set_layer(graph, "");
}

static void graph_note_uses(struct tensor *const *tensors, int count, int index)
{
	for (int i = 0; i < count; i++)
		tensors[i]->last_use = index;
}

void graph_finish(struct graph *graph)
{
	for (int phase = graph->phase + 1; phase <= OP_PHASE_COUNT; phase++)
		graph->phase_first[phase] = graph->op_count;
	for (int i = 0; i < graph->op_count; i++) {
		graph_note_uses(graph->ops[i].reads, graph->ops[i].read_count, i);
		graph_note_uses(graph->ops[i].writes, graph->ops[i].write_count, i);
	}
	/* The forward descriptors were needed to create the backward ones. */
	for (int i = 0; i < graph->tape_count; i++)
		if (graph->tape[i].forward)
			dnnl_primitive_desc_destroy(graph->tape[i].forward);
	graph->tape_count = 0;
}
