/*
 * op_norm.c - batch normalization. In training it normalizes by the batch's mean and variance, and
 * a separate operation updates the running statistics. In evaluation, or if the graph's statistics
 * are frozen, it normalizes by the running statistics.
 */
#include <stdio.h>
#include <string.h>

#include "layers.h"
#include "ranks.h"

const float norm_epsilon = 1e-5f;
static const float momentum = 0.1f;

enum { MEAN, VARIANCE };

/* oneDNN's variance divides by the count; PyTorch stores the unbiased variance. */
static void norm_run_running_statistics(const struct op *op, const struct dnn *dnn)
{
	const float *mean = op->reads[0]->data, *variance = op->reads[1]->data;
	const dnnl_memory_desc_t *layout = &op->reads[2]->layout;
	float *running_mean = op->writes[0]->data, *running_variance = op->writes[1]->data;
	double count = (double)(layout->dims[0] * layout->dims[2] * layout->dims[3]) *
				   ranks_count(op->settings);
	float unbiased = (float)(count / (count > 1 ? count - 1 : 1));

	(void)dnn;
	for (dnnl_dim_t c = 0; c < layout->dims[1]; c++) {
		running_mean[c] += momentum * (mean[c] - running_mean[c]);
		running_variance[c] += momentum * (variance[c] * unbiased - running_variance[c]);
	}
}

/* Whether the kernel receives the statistics as input: the running ones, or those of all ranks. */
static bool norm_is_given(const struct graph *graph)
{
	return !graph->training || graph->frozen_norm || graph->norm_ranks;
}

static void norm_append_backward(struct graph *graph, struct tape_entry *entry)
{
	unsigned flags = dnnl_use_scale | dnnl_use_shift;
	struct tensor *input = entry->input, *gradient, *result;
	dnnl_batch_normalization_desc_t desc;
	dnnl_primitive_desc_t kernel;
	struct op *op;

	gradient = graph_in_layout(graph, entry->output->gradient, &input->layout);
	result = graph_tensor(graph, TENSOR_GRADIENT, TENSOR_TRANSIENT, input->name, &input->layout);
	dnn_check(dnnl_batch_normalization_backward_desc_init(&desc, dnnl_backward, &input->layout,
														  &input->layout, norm_epsilon,
														  norm_is_given(graph)
															  ? flags | dnnl_use_global_stats
															  : flags),
			  "batch normalization backward");
	kernel = dnn_describe(graph->dnn, &desc, entry->forward);
	op = graph_kernel_op(graph, "batch_norm_backward", kernel);
	op_reads(op, DNNL_ARG_SRC, input);
	op_reads(op, DNNL_ARG_DIFF_DST, gradient);
	op_reads(op, DNNL_ARG_MEAN, entry->saved[MEAN]);
	op_reads(op, DNNL_ARG_VARIANCE, entry->saved[VARIANCE]);
	op_reads(op, DNNL_ARG_SCALE, &entry->weight->value);
	op_reads(op, DNNL_ARG_SHIFT, &entry->bias->value); /* not used, but counted as an input */
	op_writes(op, DNNL_ARG_DIFF_SRC, result);
	op_writes(op, DNNL_ARG_DIFF_SCALE, &entry->weight->gradient);
	op_writes(op, DNNL_ARG_DIFF_SHIFT, &entry->bias->gradient);
	if (graph->norm_ranks)
		norm_sync_gradient(graph, entry, result);
	graph_add_gradient(graph, input, result);
	dnnl_primitive_desc_destroy(kernel);
}

static struct param *norm_declare(struct graph *graph, const char *name, const char *part, bool trained,
							      enum param_init init, dnnl_dim_t channels)
{
	dnnl_memory_desc_t layout = dnn_layout(1, &channels, dnnl_a);
	char full_name[TENSOR_NAME_MAX];
	struct param *param;

	snprintf(full_name, sizeof full_name, "%s.%s", name, part);
	param = params_declare(graph->params, full_name, trained, &layout);
	param->init = init;
	return param;
}

static dnnl_primitive_desc_t norm_describe_forward(struct graph *graph, const struct tensor *input)
{
	unsigned flags = dnnl_use_scale | dnnl_use_shift;
	dnnl_batch_normalization_desc_t desc;

	dnn_check(dnnl_batch_normalization_forward_desc_init(
				  &desc, graph->training ? dnnl_forward_training : dnnl_forward_inference,
				  &input->layout, norm_epsilon,
				  norm_is_given(graph) ? flags | dnnl_use_global_stats : flags),
	          "batch normalization");
	return dnn_describe(graph->dnn, &desc, NULL);
}

static void norm_append_running_statistics(struct graph *graph, struct tensor *input,
									       struct tensor *const saved[2], struct param *running_mean,
									       struct param *running_variance)
{
	struct op *op = graph_plain_op(graph, "batch_norm_running_statistics", norm_run_running_statistics);

	op_reads(op, OP_PLAIN, saved[MEAN]);
	op_reads(op, OP_PLAIN, saved[VARIANCE]);
	op_reads(op, OP_PLAIN, input); /* only for its shape */
	op->settings = graph->norm_ranks;
	op_writes(op, OP_PLAIN, &running_mean->value);
	op_writes(op, OP_PLAIN, &running_variance->value);
}

/* `saved`: the batch's statistics, which the backward pass also needs. */
static void norm_append_training(struct graph *graph, struct op *op, struct tensor *input,
							     struct tensor *output, struct tape_entry *entry,
							     struct param *running_mean, struct param *running_variance)
{
	const dnnl_memory_desc_t *layout = &running_mean->value.layout;

	entry->saved[MEAN] =
		graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, "batch mean", layout);
	entry->saved[VARIANCE] =
		graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, "batch variance", layout);
	op_writes(op, DNNL_ARG_DST, output);
	op_writes(op, DNNL_ARG_MEAN, entry->saved[MEAN]);
	op_writes(op, DNNL_ARG_VARIANCE, entry->saved[VARIANCE]);
	entry->append_backward = norm_append_backward;
	norm_append_running_statistics(graph, input, entry->saved, running_mean, running_variance);
}

struct tensor *layer_batch_norm(struct graph *graph, const char *name, struct tensor *input)
{
	dnnl_dim_t channels = input->layout.dims[1];
	struct param *weight = norm_declare(graph, name, "weight", true, PARAM_ONE, channels);
	struct param *bias = norm_declare(graph, name, "bias", true, PARAM_ZERO, channels);
	struct param *mean = norm_declare(graph, name, "running_mean", false, PARAM_ZERO, channels);
	struct param *variance = norm_declare(graph, name, "running_var", false, PARAM_ONE, channels);
	dnnl_primitive_desc_t kernel = norm_describe_forward(graph, input);
	struct tensor *output =
		graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, name, &input->layout);
	struct tensor *given[2] = { &mean->value, &variance->value };
	struct tape_entry *entry = graph_tape(graph, input, output);
	struct op *op;

	if (graph->norm_ranks)
		norm_sync_statistics(graph, input, given);
	op = graph_kernel_op(graph, "batch_norm", kernel);

	entry->forward = kernel;
	entry->weight = weight;
	entry->bias = bias;
	op_reads(op, DNNL_ARG_SRC, input);
	op_reads(op, DNNL_ARG_SCALE, &weight->value);
	op_reads(op, DNNL_ARG_SHIFT, &bias->value);
	if (!norm_is_given(graph)) {
		norm_append_training(graph, op, input, output, entry, mean, variance);
	} else {
		op_reads(op, DNNL_ARG_MEAN, given[MEAN]);
		op_reads(op, DNNL_ARG_VARIANCE, given[VARIANCE]);
		op_writes(op, DNNL_ARG_DST, output);
		memcpy(entry->saved, given, sizeof given);
		entry->append_backward = norm_append_backward;
		if (graph->norm_ranks)
			norm_append_running_statistics(graph, input, given, mean, variance);
	}
	return output;
}
