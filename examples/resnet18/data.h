/*
 * data.h - a data set in MNIST's format: four IDX files in one folder.
 */
#pragma once

#include <stdint.h>

#include "tensor.h"

struct digits {
	int count, height, width;
	uint8_t *pixels; /* count x height x width */
	uint8_t *labels; /* count, 0..9 */
};

struct data_set {
	char folder[4096];
	struct digits train, held_out;
};

/* `folder` NULL: the digits that come with the program. Ends it on bad files. */
void data_load(struct data_set *data, const char *folder);
void data_reset(struct data_set *data);

/* One image as the network takes it: scaled to 0..1, then MNIST's mean and deviation. */
void data_normalize(const struct digits *digits, int index, float *out);
