/*
 * Samples of call stacks: what the threads did while they used the CPU.
 *
 * A sample is a look at a thread after it has used the CPU for some periods (its weight). The rows
 * are sums of the samples that have everything in common that the product distinguishes. CPU time
 * is weight times period, so rows of one process add up to the CPU time that was sampled.
 */
#ifndef DW_MODEL_SAMPLES_SAMPLES_H
#define DW_MODEL_SAMPLES_SAMPLES_H

#include "model/core/model.h"
#include "model/samples/sample.h"
#include "model/time/profiles.h"

struct dw_samples {
	struct dw_sample_row *rows; /* by weight, descending */
	size_t count;
	uint64_t samples, weight, cpu_ns; /* sums of the rows */
	uint64_t unread;   /* samples whose stack could not be read */
	bool has_periods;  /* of all processes that have samples */
};

/* NULL with `error`: out of memory. Without samples there are no rows. */
const struct dw_samples *dw_model_samples(struct dw_model *model, struct dwell_error *error);
/* Whether a process was sampled, without a walk. */
bool dw_source_has_samples(const struct dw_source *source);

/* The CPU time of each path of functions by thread, as pictures draw it. Its counts are samples. */
const struct dw_paths *dw_model_sample_paths(struct dw_model *model, struct dwell_error *error);

/* What "time" draws: the ranges, or if no range was recorded, the samples; or what the metric
 * DW_METRIC_SAMPLES draws. `metric` NULL means time. Errors: DWELL_E_NO_DATA, DWELL_E_NOMEM. */
#define DW_METRIC_SAMPLES "samples"
const struct dw_paths *dw_model_drawn_paths(struct dw_model *model, const char *metric, struct dwell_error *error);

/* Half of the 95% interval of a share of all weight, if each of the samples is independent. */
double dw_samples_error(double share, uint64_t weight, uint64_t squares);

#endif
