/*
 * op_norm_sync.c - batch normalization by the statistics of the whole batch, which is distributed
 * over the ranks. Called by op_norm.c, whose kernels then normalize by given statistics. This file
 * computes the rest: sums over the rank's part, sums over the ranks, and the part of the gradient
 * that is due to the statistics.
 *
 * Sums are doubles, because the variance is the mean of the squares minus the square of the mean.
 * The parts of all ranks have the same size.
 */
#include <math.h>

#include "layers.h"
#include "ranks.h"

enum { MEAN, VARIANCE };

/* ---- elements by channel, in any of oneDNN's layouts --------------------- */

struct walk {
	dnnl_dim_t images, channels, height, width;
	dnnl_dim_t block;      /* number of channels that are adjacent in memory; 1: channels are not
	                        * interleaved */
	const dnnl_dim_t *strides;
};

static struct walk norm_sync_walk_of(const dnnl_memory_desc_t *layout)
{
	const dnnl_blocking_desc_t *blocking = &layout->format_desc.blocking;
	struct walk walk = { layout->dims[0], layout->dims[1], layout->dims[2], layout->dims[3], 1,
						 blocking->strides };

	if (blocking->inner_nblks == 1 && blocking->inner_idxs[0] == 1)
		walk.block = blocking->inner_blks[0];
	else if (blocking->inner_nblks)
		die("batch normalization over ranks does not know this layout");
	return walk;
}

/* Returns the index of the channel's first pixel in the image. Pixels are strides[2] and [3]
 * apart. */
static dnnl_dim_t norm_sync_start_of(const struct walk *walk, dnnl_dim_t image, dnnl_dim_t channel)
{
	return image * walk->strides[0] + channel / walk->block * walk->strides[1] +
		   channel % walk->block;
}

static double norm_sync_count_of(const struct walk *walk)
{
	return (double)(walk->images * walk->height * walk->width);
}

/* ---- forward ------------------------------------------------------------- */

static void norm_sync_sum_channel(const struct walk *walk, const float *values, dnnl_dim_t channel,
						          double *sum, double *squares)
{
	*sum = *squares = 0;
	for (dnnl_dim_t n = 0; n < walk->images; n++)
		for (dnnl_dim_t h = 0; h < walk->height; h++) {
			const float *row = values + norm_sync_start_of(walk, n, channel) + h * walk->strides[2];

			for (dnnl_dim_t w = 0; w < walk->width; w++) {
				double value = row[w * walk->strides[3]];

				*sum += value;
				*squares += value * value;
			}
		}
}

static void norm_sync_run_sums(const struct op *op, const struct dnn *dnn)
{
	struct walk walk = norm_sync_walk_of(&op->reads[0]->layout);
	double *sums = op->writes[0]->data;

	(void)dnn;
	for (dnnl_dim_t c = 0; c < walk.channels; c++)
		norm_sync_sum_channel(&walk, op->reads[0]->data, c, &sums[c], &sums[walk.channels + c]);
}

static void norm_sync_run_average(const struct op *op, const struct dnn *dnn)
{
	(void)dnn;
	ranks_average((struct ranks *)op->settings, op->writes[0]->data,
				  op->writes[0]->size_bytes / sizeof(double));
}

static void norm_sync_run_statistics(const struct op *op, const struct dnn *dnn)
{
	const double *sums = op->reads[0]->data;
	struct walk walk = norm_sync_walk_of(&op->reads[1]->layout);
	float *mean = op->writes[MEAN]->data, *variance = op->writes[VARIANCE]->data;
	double count = norm_sync_count_of(&walk);

	(void)dnn;
	for (dnnl_dim_t c = 0; c < walk.channels; c++) {
		double average = sums[c] / count;

		mean[c] = (float)average;
		variance[c] = (float)fmax(sums[walk.channels + c] / count - average * average, 0);
	}
}

/* Two doubles per channel. */
static struct tensor *norm_sync_sums_tensor(struct graph *graph, dnnl_dim_t channels)
{
	dnnl_memory_desc_t layout = dnn_layout(1, (dnnl_dims_t){ 4 * channels }, dnnl_a);

	return graph_tensor(graph, TENSOR_TEMPORARY, TENSOR_TRANSIENT, "sums by channel", &layout);
}

static void norm_sync_append_average(struct graph *graph, struct tensor *sums)
{
	struct op *op = graph_plain_op(graph, "Dist_s_synch_allreduce", norm_sync_run_average);

	op->communicates = true;
	op->settings = graph->norm_ranks;
	op_reads(op, OP_PLAIN, sums);
	op_writes(op, OP_PLAIN, sums);
}

void norm_sync_statistics(struct graph *graph, struct tensor *input, struct tensor *statistics[2])
{
	dnnl_dim_t channels = input->layout.dims[1];
	dnnl_memory_desc_t layout = dnn_layout(1, &channels, dnnl_a);
	struct tensor *sums = norm_sync_sums_tensor(graph, channels);
	struct op *op = graph_plain_op(graph, "batch_norm_sums", norm_sync_run_sums);

	op_reads(op, OP_PLAIN, input);
	op_writes(op, OP_PLAIN, sums);
	norm_sync_append_average(graph, sums);
	statistics[MEAN] =
		graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, "batch mean", &layout);
	statistics[VARIANCE] =
		graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_TRANSIENT, "batch variance", &layout);
	op = graph_plain_op(graph, "batch_norm_statistics", norm_sync_run_statistics);
	op_reads(op, OP_PLAIN, sums);
	op_reads(op, OP_PLAIN, input); /* only for its shape */
	op_writes(op, OP_PLAIN, statistics[MEAN]);
	op_writes(op, OP_PLAIN, statistics[VARIANCE]);
}

/* ---- backward ------------------------------------------------------------ */

enum { GRADIENT_SCALE, GRADIENT_SHIFT };

/* The gradients of scale and shift are the sums that the correction needs. */
static void norm_sync_run_gradient_sums(const struct op *op, const struct dnn *dnn)
{
	const float *scale = op->reads[GRADIENT_SCALE]->data, *shift = op->reads[GRADIENT_SHIFT]->data;
	dnnl_dim_t channels = op->reads[GRADIENT_SCALE]->layout.dims[0];
	double *sums = op->writes[0]->data;

	(void)dnn;
	for (dnnl_dim_t c = 0; c < channels; c++) {
		sums[c] = shift[c];
		sums[channels + c] = scale[c];
	}
}

enum { SUMS, INPUT, CORRECTION_MEAN, CORRECTION_VARIANCE, SCALE };

/* The kernel treated the statistics as constants, but they depend on every element. */
static void norm_sync_run_correction(const struct op *op, const struct dnn *dnn)
{
	const double *sums = op->reads[SUMS]->data;
	const float *input = op->reads[INPUT]->data, *mean = op->reads[CORRECTION_MEAN]->data;
	const float *variance = op->reads[CORRECTION_VARIANCE]->data, *scale = op->reads[SCALE]->data;
	struct walk walk = norm_sync_walk_of(&op->reads[INPUT]->layout);
	float *gradient = op->writes[0]->data;
	double count = norm_sync_count_of(&walk);

	(void)dnn;
	for (dnnl_dim_t c = 0; c < walk.channels; c++) {
		double deviation = sqrt((double)variance[c] + (double)norm_epsilon);
		float factor = (float)(scale[c] / deviation / count);
		float shift = factor * (float)sums[c];
		float slope = factor * (float)(sums[walk.channels + c] / deviation);

		for (dnnl_dim_t n = 0; n < walk.images; n++)
			for (dnnl_dim_t h = 0; h < walk.height; h++) {
				dnnl_dim_t row = norm_sync_start_of(&walk, n, c) + h * walk.strides[2];

				for (dnnl_dim_t w = 0; w < walk.width; w++) {
					dnnl_dim_t i = row + w * walk.strides[3];

					gradient[i] -= shift + slope * (input[i] - mean[c]);
				}
			}
	}
}

void norm_sync_gradient(struct graph *graph, const struct tape_entry *entry,
						struct tensor *gradient)
{
	struct tensor *sums = norm_sync_sums_tensor(graph, entry->input->layout.dims[1]);
	struct op *op = graph_plain_op(graph, "batch_norm_backward_sums", norm_sync_run_gradient_sums);

	op_reads(op, OP_PLAIN, &entry->weight->gradient);
	op_reads(op, OP_PLAIN, &entry->bias->gradient);
	op_writes(op, OP_PLAIN, sums);
	norm_sync_append_average(graph, sums);
	op = graph_plain_op(graph, "batch_norm_backward_statistics", norm_sync_run_correction);
	op_reads(op, OP_PLAIN, sums);
	op_reads(op, OP_PLAIN, entry->input);
	op_reads(op, OP_PLAIN, entry->saved[MEAN]);
	op_reads(op, OP_PLAIN, entry->saved[VARIANCE]);
	op_reads(op, OP_PLAIN, &entry->weight->value);
	op_writes(op, OP_PLAIN, gradient);
}
