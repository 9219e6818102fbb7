/*
 * optim.c - the optimizer's operations. A parameter, its gradient and its states have the same
 * layout, so the update processes memory in order. Padding elements are zero and remain zero.
 */
#include "optim.h"

#include <math.h>

static const float rmsprop_smoothing = 0.99f;
static const float rmsprop_epsilon = 1e-8f;

const char *optimizer_name(enum optimizer_kind kind)
{
	return kind == OPTIMIZER_SGD ? "sgd" : "rmsprop";
}

static size_t optim_stored_count(const struct tensor *tensor)
{
	return tensor->size_bytes / sizeof(float);
}

/* Without momentum there is no velocity: the step follows the gradient. */
static void optim_run_sgd(const struct op *op, const struct dnn *dnn)
{
	const struct optimizer *optimizer = op->settings;
	const float *restrict gradient = op->reads[0]->data;
	float *restrict value = op->writes[0]->data;
	float rate = optimizer->learning_rate, momentum = optimizer->momentum;
	size_t count = optim_stored_count(op->writes[0]);

	(void)dnn;
	if (op->write_count == 1) {
		for (size_t i = 0; i < count; i++)
			value[i] -= rate * gradient[i];
		return;
	}
	float *restrict velocity = op->writes[1]->data;

	for (size_t i = 0; i < count; i++) {
		velocity[i] = momentum * velocity[i] + gradient[i];
		value[i] -= rate * velocity[i];
	}
}

static void optim_run_rmsprop(const struct op *op, const struct dnn *dnn)
{
	const struct optimizer *optimizer = op->settings;
	const float *restrict gradient = op->reads[0]->data;
	float *restrict value = op->writes[0]->data, *restrict square = op->writes[1]->data;
	float rate = optimizer->learning_rate, momentum = optimizer->momentum;
	float keep = rmsprop_smoothing, take = 1 - rmsprop_smoothing;
	size_t count = optim_stored_count(op->writes[0]);

	(void)dnn;
	if (op->write_count == 2) {
		for (size_t i = 0; i < count; i++) {
			square[i] = keep * square[i] + take * gradient[i] * gradient[i];
			value[i] -= rate * gradient[i] / (sqrtf(square[i]) + rmsprop_epsilon);
		}
		return;
	}
	float *restrict velocity = op->writes[2]->data;

	for (size_t i = 0; i < count; i++) {
		square[i] = keep * square[i] + take * gradient[i] * gradient[i];
		velocity[i] = momentum * velocity[i] + gradient[i] / (sqrtf(square[i]) + rmsprop_epsilon);
		value[i] -= rate * velocity[i];
	}
}

static void optim_add_states(struct graph *graph, struct param *param, int count)
{
	while (param->state_count < count)
		tensor_init(&param->states[param->state_count++], graph->dnn, param->value.name,
					TENSOR_OPTIMIZER_STATE, TENSOR_PERSISTENT, &param->value.layout);
}

void optimizer_append(const struct optimizer *optimizer, struct graph *graph)
{
	bool sgd = optimizer->kind == OPTIMIZER_SGD;
	int state_count = (sgd ? 0 : 1) + (optimizer->momentum != 0);

	graph_begin_phase(graph, OP_OPTIMIZER);
	graph_set_layer(graph, "");
	for (int i = 0; i < graph->params->count; i++) {
		struct param *param = &graph->params->items[i];
		struct op *op;

		if (!param->trained)
			continue;
		optim_add_states(graph, param, state_count);
		op = graph_plain_op(graph, sgd ? "sgd" : "rmsprop", sgd ? optim_run_sgd : optim_run_rmsprop);
		op->settings = optimizer;
		op_reads(op, OP_PLAIN, &param->gradient);
		op_writes(op, OP_PLAIN, &param->value);
		for (int k = 0; k < state_count; k++)
			op_writes(op, OP_PLAIN, &param->states[k]);
	}
}
