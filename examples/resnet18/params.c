/*
 * params.c - declares, finds and initializes parameters. Called by the op_*.c files while a graph
 * is built and by main.c to fill them. Items are never moved, because graphs keep pointers to them.
 */
#include "params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

void params_init(struct params *params, const struct dnn *dnn)
{
	memset(params, 0, sizeof *params);
	params->dnn = dnn;
}

void params_reset(struct params *params)
{
	for (int i = 0; i < params->count; i++) {
		struct param *param = &params->items[i];

		for (int k = 0; k < param->state_count; k++)
			tensor_reset(&param->states[k]);
		if (param->trained)
			tensor_reset(&param->gradient);
		tensor_reset(&param->value);
	}
	params->count = 0;
}

struct param *params_find(struct params *params, const char *name)
{
	for (int i = 0; i < params->count; i++)
		if (strcmp(params->items[i].value.name, name) == 0)
			return &params->items[i];
	return NULL;
}

struct param *params_declare(struct params *params, const char *name, bool trained,
							 const dnnl_memory_desc_t *layout)
{
	struct param *param = params_find(params, name);

	if (param)
		return param;
	if (params->count == PARAMS_MAX)
		die("more than %d parameters: raise PARAMS_MAX", PARAMS_MAX);
	param = &params->items[params->count++];
	param->trained = trained;
	tensor_init(&param->value, params->dnn, name, TENSOR_PARAMETER, TENSOR_PERSISTENT, layout);
	if (trained)
		tensor_init(&param->gradient, params->dnn, name, TENSOR_GRADIENT, TENSOR_PERSISTENT,
					layout);
	return param;
}

static void params_fill_values(const struct param *param, struct rng *rng, float *values, size_t count)
{
	float deviation = param->fan ? sqrtf(2.0f / (float)param->fan) : 0;
	float bound = param->fan ? 1.0f / sqrtf((float)param->fan) : 0;

	for (size_t i = 0; i < count; i++) {
		switch (param->init) {
		case PARAM_ZERO:
			values[i] = 0;
			break;
		case PARAM_ONE:
			values[i] = 1;
			break;
		case PARAM_KAIMING_NORMAL:
			values[i] = rng_normal(rng, deviation);
			break;
		case PARAM_KAIMING_UNIFORM:
			values[i] = rng_uniform(rng, -bound, bound);
			break;
		}
	}
}

/* Values are drawn in row-major order, so that a seed has the same result with any layout. */
void params_fill(struct params *params, uint64_t seed)
{
	struct rng rng;

	rng_init(&rng, seed, 1);
	for (int i = 0; i < params->count; i++) {
		struct param *param = &params->items[i];
		size_t count = tensor_element_count(&param->value);
		size_t size_bytes = count * sizeof(float);
		float *values = tensor_memory_alloc(size_bytes, TENSOR_TEMPORARY);

		params_fill_values(param, &rng, values, count);
		tensor_from_plain(params->dnn, &param->value, values);
		tensor_memory_free(values, size_bytes);
	}
}
