/*
 * loader.h - a thread that prepares the training batches ahead of the trainer,
 * at most `prefetch` of them. A queue that is empty when the trainer comes is a
 * run that waits for its data.
 */
#pragma once

#include "data.h"

struct loader;

struct batch {
	int size;      /* images in it */
	float *images; /* as the network takes them */
	int32_t *labels;
	size_t image_bytes, label_bytes;
};

struct loader_settings {
	int batch_size;  /* images of a part */
	int parts, part; /* each batch has so many parts, of which this one is loaded */
	int prefetch;
	int delay_ms; /* artificial, a batch */
	bool shuffle;
	uint64_t seed;
};

/* `digits` must outlive the loader. The last images of an epoch that do not
 * fill a batch are left out; shuffled, they are others each epoch. */
struct loader *loader_create(const struct digits *digits, const struct loader_settings *settings);
void loader_destroy(struct loader *loader);
int loader_batches_per_epoch(const struct loader *loader);

/* The next batch, epoch after epoch without end; the caller's until batch_reset. */
void loader_take(struct loader *loader, struct batch *batch);

void batch_init(struct batch *batch, const struct digits *digits, int size);
void batch_reset(struct batch *batch);
/* A place in the batch; index -1: no image, not counted. */
void batch_set(struct batch *batch, const struct digits *digits, int place, int index);
