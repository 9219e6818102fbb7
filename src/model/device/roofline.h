/*
 * Rooflines: what operators compute and move, by the time that devices worked for them.
 *
 * The work of a device belongs to the innermost operator around its call whose arithmetic is known by its shapes (time/flops.h), and
 * else to the innermost operator of all. So the rows add up to the device's time.
 */
#pragma once

#include "model/core/model.h"
#include "model/device/peaks.h"

struct dw_roof_row {
	uint32_t symbol;     /* one for each name with its shapes */
	bool known;
	uint64_t calls, ns;  /* calls with work of the device, and its time */
	uint64_t flops;      /* of a call, if it is known */
	int64_t bytes;       /* of a call, the least that it reads and writes; -1: unknown */
	uint8_t type;        /* of its elements, enum dwell_dtype */
	bool product;        /* a product of matrices, a convolution, attention */
};

struct dw_roofline {
	struct dw_roof_row *rows; /* by time, descending */
	size_t count;
	const char *device;       /* the name of the devices with the most work; no others are counted */
	uint32_t devices;         /* so many of them */
	const struct dw_device_peaks *peaks; /* NULL: not known */
	uint64_t ns, known_ns, alone_ns;     /* of all rows, of those that are known; of work without an operator */
	uint64_t other_ns;                   /* of devices with other names */
};

/* NULL with `error` if memory ran out. Ask dw_model_has_device() first. */
const struct dw_roofline *dw_model_roofline(struct dw_model *model, struct dwell_error *error);
