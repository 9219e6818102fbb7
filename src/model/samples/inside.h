/* Where a sample lies: between samples.c, which walks, and places.c. */
#pragma once

#include "model/core/pass.h"
#include "model/samples/sample.h"

struct dw_sample_frame {
	struct dw_frame frame;
	uint32_t row;
};

struct dw_sample_step {
	uint64_t start_ticks, end_ticks;
	bool reduced;  /* its operators and layers were not recorded */
	uint8_t class; /* of the iteration that it begins */
};

struct dw_sample_places {
	const struct dw_model *model;
	uint8_t *shares, *classes;     /* by row */
	bool *python;                  /* by thread: it runs the interpreter, as far as the trace shows */
	struct dw_sample_step **steps; /* by thread: its steps, or those of its process; NULL: none */
	struct dw_sample_step *all_steps;
};

/* False: out of memory. */
bool dw_sample_places_init(struct dw_sample_places *places, struct dw_model *model);
void dw_sample_places_reset(struct dw_sample_places *places);
/* Sets range, named and share of the row, from the open ranges; `reduced`: it lies in such a step. */
void dw_sample_place(const struct dw_sample_places *places, const struct dw_pass *pass, bool reduced,
                     struct dw_sample_row *row);
