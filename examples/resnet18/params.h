/*
 * params.h - the network's parameters and running statistics, by the names that
 * PyTorch's state_dict gives them. The training and the evaluation graph share
 * them; the graph that is built first decides their layouts.
 */
#pragma once

#include "tensor.h"

enum { PARAMS_MAX = 128, PARAM_STATES_MAX = 2 };

enum param_init {
	PARAM_ZERO,
	PARAM_ONE,
	PARAM_KAIMING_NORMAL, /* fan out, for ReLU: torchvision's convolutions */
	PARAM_KAIMING_UNIFORM /* +-1/sqrt(fan in): torch.nn's default */
};

struct param {
	struct tensor value;
	struct tensor gradient;                 /* if trained */
	struct tensor states[PARAM_STATES_MAX]; /* the optimizer's, if it has any */
	int state_count;
	bool trained; /* false: a running statistic */
	enum param_init init;
	long fan;
};

struct params {
	const struct dnn *dnn;
	int count;
	struct param items[PARAMS_MAX];
};

void params_init(struct params *params, const struct dnn *dnn);
void params_reset(struct params *params);

/* Finds the parameter, or makes it with this layout. */
struct param *params_declare(struct params *params, const char *name, bool trained,
							 const dnnl_memory_desc_t *layout);
struct param *params_find(struct params *params, const char *name);
void params_fill(struct params *params, uint64_t seed);
