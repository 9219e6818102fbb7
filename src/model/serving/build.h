/* Making the product `serving`; only for this folder. */
#pragma once

#include "base/map.h"
#include "model/serving/serving.h"

/* A stage that is not yet with its request, and a request that is not yet in the order of the result. */
struct dw_serving_part {
	uint64_t handle, start_ns, end_ns;
	uint32_t process, name;
};

struct dw_serving_build {
	struct dw_model *model;
	struct dw_serving *to;
	size_t capacity, batch_capacity, kind_capacity;
	struct dw_serving_part *parts;
	size_t part_count, part_capacity;
	struct dw_map kinds; /* of to->kinds */
	bool named; /* batches are ranges that say what they compute */
};

/* The index of a stage's name. */
uint32_t dw_serving_stage_name(struct dw_serving *serving, const char *name);
/* Adds the batch of a range with this name, if it is one. False: out of memory. */
bool dw_serving_add_named(struct dw_serving_build *build, const char *name, uint32_t thread, uint64_t start_ns, uint64_t end_ns);
/* Where no range names a batch: the marked steps. Then, with all requests known, sorts the batches. False: out of memory. */
bool dw_serving_add_steps(struct dw_serving_build *build);
/* The batch of the process that began last at this time; NULL: none. */
struct dw_batch *dw_serving_batch_at(struct dw_serving *serving, uint32_t process, uint64_t ns);
/* What was in flight in the batches of steps. False: out of memory. */
bool dw_serving_count_in_flight(struct dw_serving_build *build);
