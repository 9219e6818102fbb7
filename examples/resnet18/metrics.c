/*
 * metrics.c - see metrics.h. Called by fit.c and step.c; all code runs in handlers and in the
 * evaluator's data source.
 */
#include "metrics.h"

/* ---- Accuracy and Loss --------------------------------------------------- */

static int metrics_reset(struct dwell_ignite_engine *engine, void *user)
{
	struct metrics *metrics = user;

	(void)engine;
	metrics->loss = metrics->correct = 0;
	metrics->images = 0;
	return 0;
}

/* The network's loss is the mean over the batch's images. */
static int metrics_update(struct dwell_ignite_engine *engine, void *user)
{
	struct metrics *metrics = user;
	const int32_t *labels = metrics->net->labels->data;
	const struct batch *batch = dwell_ignite_engine_state(engine)->batch;
	int images = 0;

	for (int i = 0; i < batch->size; i++)
		images += labels[i] >= 0; /* other images only fill up the batch */
	metrics->loss += net_loss(metrics->net) * images;
	metrics->correct += (double)net_correct(metrics->net);
	metrics->images += images;
	return 0;
}

static int metrics_compute(struct dwell_ignite_engine *engine, void *user)
{
	const struct metrics *metrics = user;
	double images = metrics->images;
	int result = dwell_ignite_engine_set_metric(engine, "accuracy", metrics->correct / images, NULL);

	return result ? result : dwell_ignite_engine_set_metric(engine, "loss", metrics->loss / images, NULL);
}

int metrics_attach(struct metrics *metrics, struct dwell_ignite_engine *engine, const struct net *net,
				   struct dwell_error *error)
{
	int result;

	metrics->net = net;
	result = dwell_ignite_engine_on(engine, "EPOCH_STARTED", metrics_reset, metrics, error);
	if (!result)
		result = dwell_ignite_engine_on(engine, "ITERATION_COMPLETED", metrics_update, metrics, error);
	if (!result)
		result = dwell_ignite_engine_on(engine, "EPOCH_COMPLETED | TERMINATE", metrics_compute, metrics,
								 error);
	return result;
}

/* ---- the held-out digits ------------------------------------------------- */

void held_out_init(struct held_out *held_out, const struct digits *digits, int batch_size)
{
	held_out->digits = digits;
	held_out->first = 0;
	batch_init(&held_out->batch, digits, batch_size);
}

void held_out_reset(struct held_out *held_out)
{
	batch_reset(&held_out->batch);
}

int held_out_next(struct held_out *held_out, void **batch)
{
	int count = held_out->digits->count, size = held_out->batch.size;

	if (held_out->first >= count)
		return 0;
	for (int i = 0; i < size; i++)
		batch_set(&held_out->batch, held_out->digits, i,
				  held_out->first + i < count ? held_out->first + i : -1);
	held_out->first += size;
	*batch = &held_out->batch;
	return 1;
}

uint64_t held_out_batches(const struct held_out *held_out)
{
	uint64_t size = (uint64_t)held_out->batch.size, count = (uint64_t)held_out->digits->count;

	return (count + size - 1) / size;
}
