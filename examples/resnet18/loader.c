/*
 * loader.c - the loader's thread and its bounded queue. A mutex guards the queue; only the loader
 * uses the batches in it. Called by main.c, fit.c and step.c. The evaluation (metrics.c) uses only
 * the batch functions, because it needs no thread.
 */
#include "loader.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <dwell/probe.h>

#include "profile.h"
#include "rng.h"

struct loader {
	const struct digits *digits;
	struct loader_settings settings;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* signals a change of any member below */
	bool stopping;
	int first, count;
	struct batch *queue; /* ring buffer of settings.prefetch batches */
};

void batch_init(struct batch *batch, const struct digits *digits, int size)
{
	size_t count = (size_t)size;

	batch->size = size;
	batch->image_bytes = count * (size_t)(digits->height * digits->width) * sizeof(float);
	batch->label_bytes = count * sizeof(int32_t);
	batch->images = tensor_memory_alloc(batch->image_bytes, TENSOR_INPUT);
	batch->labels = tensor_memory_alloc(batch->label_bytes, TENSOR_INPUT);
}

void batch_reset(struct batch *batch)
{
	tensor_memory_free(batch->images, batch->image_bytes);
	tensor_memory_free(batch->labels, batch->label_bytes);
}

void batch_set(struct batch *batch, const struct digits *digits, int place, int index)
{
	size_t area = (size_t)(digits->height * digits->width);
	float *image = batch->images + (size_t)place * area;

	batch->labels[place] = index < 0 ? -1 : digits->labels[index];
	if (index < 0) {
		for (size_t i = 0; i < area; i++)
			image[i] = 0;
		return;
	}
	data_normalize(digits, index, image);
}

static void loader_pause_ms(int delay_ms)
{
	struct timespec delay = { delay_ms / 1000, delay_ms % 1000 * 1000000L };

	if (delay_ms > 0)
		nanosleep(&delay, NULL);
}

static void loader_prepare(const struct loader *loader, const int *order, struct batch *batch)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "load batch");
	batch_init(batch, loader->digits, loader->settings.batch_size);
	for (int i = 0; i < batch->size; i++)
		batch_set(batch, loader->digits, i, order[i]);
	loader_pause_ms(loader->settings.delay_ms);
}

/* Returns false if the loader should end. */
static bool loader_put(struct loader *loader, const struct batch *batch)
{
	DWELL_ZONE("put batch");
	bool going;

	pthread_mutex_lock(&loader->lock);
	while (loader->count == loader->settings.prefetch && !loader->stopping)
		pthread_cond_wait(&loader->changed, &loader->lock);
	going = !loader->stopping;
	if (going) {
		loader->queue[(loader->first + loader->count) % loader->settings.prefetch] = *batch;
		loader->count++;
		DWELL_FLOW_OUT("batch", (uintptr_t)batch->images);
		DWELL_COUNTER_UNIT("loader queue", "batches", loader->count);
	}
	pthread_cond_signal(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	return going;
}

static void loader_shuffle(int *order, int count, struct rng *rng)
{
	for (int i = count - 1; i > 0; i--) {
		int other = (int)rng_below(rng, (uint32_t)i + 1), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

static void *run_loader(void *argument)
{
	struct loader *loader = argument;
	int count = loader->digits->count, part_size = loader->settings.batch_size;
	int batch_size = part_size * loader->settings.parts;
	int *order = malloc((size_t)count * sizeof *order);
	struct batch batch;
	struct rng rng;

	profile_name_thread("loader");
	if (!order)
		die("no memory for the order of %d images", count);
	for (int i = 0; i < count; i++)
		order[i] = i;
	rng_init(&rng, loader->settings.seed, 2);
	for (;;) {
		if (loader->settings.shuffle)
			loader_shuffle(order, count, &rng);
		for (int first = 0; first + batch_size <= count; first += batch_size) {
			loader_prepare(loader, order + first + loader->settings.part * part_size, &batch);
			if (!loader_put(loader, &batch)) {
				batch_reset(&batch);
				free(order);
				return NULL;
			}
		}
	}
}

struct loader *loader_create(const struct digits *digits, const struct loader_settings *settings)
{
	struct loader *loader = calloc(1, sizeof *loader);
	int error;

	if (settings->batch_size * settings->parts > digits->count)
		die("--batch %d is more than the %d training images", settings->batch_size * settings->parts,
			digits->count);
	if (!loader || !(loader->queue = calloc((size_t)settings->prefetch, sizeof *loader->queue)))
		die("no memory for the loader's queue");
	loader->digits = digits;
	loader->settings = *settings;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->changed, NULL);
	error = pthread_create(&loader->thread, NULL, run_loader, loader);
	if (error)
		die("no loader thread: error %d", error);
	return loader;
}

void loader_take(struct loader *loader, struct batch *batch)
{
	pthread_mutex_lock(&loader->lock);
	while (loader->count == 0)
		pthread_cond_wait(&loader->changed, &loader->lock);
	*batch = loader->queue[loader->first];
	loader->first = (loader->first + 1) % loader->settings.prefetch;
	loader->count--;
	DWELL_FLOW_IN("batch", (uintptr_t)batch->images);
	DWELL_COUNTER_UNIT("loader queue", "batches", loader->count);
	pthread_cond_signal(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}

int loader_batches_per_epoch(const struct loader *loader)
{
	return loader->digits->count / (loader->settings.batch_size * loader->settings.parts);
}

void loader_destroy(struct loader *loader)
{
	pthread_mutex_lock(&loader->lock);
	loader->stopping = true;
	pthread_cond_signal(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	pthread_join(loader->thread, NULL);
	for (int i = 0; i < loader->count; i++)
		batch_reset(&loader->queue[(loader->first + i) % loader->settings.prefetch]);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	free(loader->queue);
	free(loader);
}
