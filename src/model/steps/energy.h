/* The energy of a step of the run's device, by the device's own counter, which dwell run --counters reads. */
#pragma once

#include "model/core/model.h"

struct dw_energy {
	bool known;           /* the others below are; else there is no window of 10 s with steps, or several devices */
	double joules, error; /* of a step; +- that, of 95% */
	double watts;         /* in the windows */
	size_t windows, samples;
};

/* NULL with `error` if memory ran out. */
const struct dw_energy *dw_model_energy(struct dw_model *model, struct dwell_error *error);
