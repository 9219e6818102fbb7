/*
 * op_loss.c - softmax and cross entropy in one operation, implemented here, because with ten
 * classes it is too small to use a kernel. Sums are doubles, so that the loss hardly depends on the
 * order of the images.
 */
#include <math.h>

#include "layers.h"

enum { PROBABILITIES, LABELS };

/* Returns -log of the label's probability. */
static double loss_softmax(const float *logits, float *probabilities, dnnl_dim_t classes, int32_t label,
					       dnnl_dim_t *best)
{
	double sum = 0;

	*best = 0;
	for (dnnl_dim_t k = 1; k < classes; k++)
		if (logits[k] > logits[*best])
			*best = k;
	for (dnnl_dim_t k = 0; k < classes; k++)
		sum += exp((double)logits[k] - logits[*best]);
	for (dnnl_dim_t k = 0; k < classes; k++)
		probabilities[k] = (float)(exp((double)logits[k] - logits[*best]) / sum);
	return label < 0 ? 0 : log(sum) - ((double)logits[label] - logits[*best]);
}

static void loss_run_cross_entropy(const struct op *op, const struct dnn *dnn)
{
	const float *logits = op->reads[0]->data;
	const int32_t *labels = op->reads[1]->data;
	dnnl_dim_t count = op->reads[0]->layout.dims[0], classes = op->reads[0]->layout.dims[1];
	float *loss = op->writes[0]->data, *correct = op->writes[1]->data;
	float *probabilities = op->writes[2]->data;
	double sum = 0;
	int counted = 0, right = 0;

	(void)dnn;
	for (dnnl_dim_t i = 0; i < count; i++) {
		dnnl_dim_t best;

		sum +=
			loss_softmax(logits + i * classes, probabilities + i * classes, classes, labels[i], &best);
		counted += labels[i] >= 0;
		right += labels[i] == best;
	}
	*loss = counted ? (float)(sum / counted) : 0;
	*correct = (float)right;
}

static void loss_run_cross_entropy_backward(const struct op *op, const struct dnn *dnn)
{
	const float *probabilities = op->reads[0]->data;
	const int32_t *labels = op->reads[1]->data;
	dnnl_dim_t count = op->writes[0]->layout.dims[0], classes = op->writes[0]->layout.dims[1];
	float *gradient = op->writes[0]->data;
	int counted = 0;

	(void)dnn;
	for (dnnl_dim_t i = 0; i < count; i++)
		counted += labels[i] >= 0;
	for (dnnl_dim_t i = 0; i < count; i++)
		for (dnnl_dim_t k = 0; k < classes; k++)
			gradient[i * classes + k] =
				labels[i] < 0
					? 0
					: (probabilities[i * classes + k] - (labels[i] == k)) / (float)counted;
}

static void loss_append_backward(struct graph *graph, struct tape_entry *entry)
{
	struct tensor *result = graph_tensor(graph, TENSOR_GRADIENT, TENSOR_TRANSIENT,
										 entry->input->name, &entry->input->layout);
	struct op *op = graph_plain_op(graph, "cross_entropy_backward", loss_run_cross_entropy_backward);

	op_reads(op, OP_PLAIN, entry->saved[PROBABILITIES]);
	op_reads(op, OP_PLAIN, entry->saved[LABELS]);
	op_writes(op, OP_PLAIN, result);
	graph_add_gradient(graph, entry->input, result);
}

void layer_cross_entropy(struct graph *graph, struct tensor *logits, struct tensor *labels,
						 struct tensor *loss, struct tensor *correct)
{
	struct tensor *probabilities =
		graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, "probabilities", &logits->layout);
	struct op *op = graph_plain_op(graph, "cross_entropy", loss_run_cross_entropy);
	struct tape_entry *entry = graph_tape(graph, logits, loss);

	op_reads(op, OP_PLAIN, logits);
	op_reads(op, OP_PLAIN, labels);
	op_writes(op, OP_PLAIN, loss);
	op_writes(op, OP_PLAIN, correct);
	op_writes(op, OP_PLAIN, probabilities);
	entry->append_backward = loss_append_backward;
	entry->saved[PROBABILITIES] = probabilities;
	entry->saved[LABELS] = labels;
}
