/*
 * The energy of a step: what a device used, by its own counter, over windows of at least 10 s.
 *
 * The counter is read about once a second, and a device renews it more rarely than it works on a step. So single steps have no energy:
 * a window has many, of which those at its ends count in part. The error is that of the mean over windows (95%), and no less than what the
 * device uses while a reading may be late.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/numbers.h"
#include "base/order.h"
#include "format/keys.h"
#include "model/core/events.h"
#include "model/core/product.h"
#include "model/steps/energy.h"
#include "model/steps/steps.h"

#define WINDOW_NS 10000000000u
#define LATE_NS 100000000.0 /* by which a reading may be older than it says, at both ends of a window together twice */

struct energy_sample { uint32_t row; uint64_t ns; double joules; };

struct energy_work {
	struct dw_model *model;
	const struct dw_symbol *symbols;
	struct energy_sample *samples;
	size_t count, capacity;
};

static bool energy_is_counter(const struct dw_symbol *symbol)
{
	size_t length = strlen(symbol->name), end = strlen(DW_COUNTER_ENERGY);

	return symbol->category == DWELL_CATEGORY_COUNTER && length > end && strcmp(symbol->name + length - end, DW_COUNTER_ENERGY) == 0;
}

static int energy_see(void *context, const struct dw_event *event)
{
	struct energy_work *energy = context;

	if (event->type != DW_EVENT_COUNTER || !energy_is_counter(&energy->symbols[event->symbol]) || !isfinite(event->value))
		return 0;
	return DW_APPEND(&energy->samples, &energy->capacity, &energy->count,
	                 (struct energy_sample){ dw_model_symbol_row(energy->model, event->symbol), event->start_ns, event->value })
	           ? 0 : DWELL_E_NOMEM;
}

DW_ORDER(energy_compare, struct energy_sample, DW_UP(row) DW_UP(ns))

/* How many steps a time has, those at its ends in part. */
static double energy_steps(const struct dw_steps *steps, uint64_t from_ns, uint64_t to_ns)
{
	double sum = 0;

	for (size_t i = 0; i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i];
		uint64_t from = step->start_ns > from_ns ? step->start_ns : from_ns, to = step->end_ns < to_ns ? step->end_ns : to_ns;

		if (from < to)
			sum += (double)(to - from) / (double)(step->end_ns - step->start_ns);
	}
	return sum;
}

/* The windows of one device. */
static void energy_sum(const struct energy_sample *samples, size_t count, const struct dw_steps *steps, struct dw_energy *to)
{
	double sum = 0, squares = 0, joules = 0, all_steps = 0, ns = 0, half = 0, late;

	for (size_t from = 0, i = 1; i < count; i++) {
		double of_window, in_window;

		if (samples[i].ns - samples[from].ns < WINDOW_NS)
			continue;
		in_window = energy_steps(steps, samples[from].ns, samples[i].ns);
		of_window = samples[i].joules - samples[from].joules;
		ns += (double)(samples[i].ns - samples[from].ns);
		from = i;
		if (in_window < 1 || of_window < 0) /* a counter that begins again */
			continue;
		joules += of_window;
		all_steps += in_window;
		sum += of_window / in_window;
		squares += of_window / in_window * (of_window / in_window);
		to->windows++;
	}
	if (!to->windows)
		return;
	to->known = true;
	to->joules = joules / all_steps;
	to->watts = joules / (ns / 1e9);
	if (to->windows > 1) {
		double n = (double)to->windows;

		half = dw_student(n) * sqrt(fmax(0, squares / n - sum / n * (sum / n)) / (n - 1));
	}
	late = 2 * to->watts * LATE_NS / 1e9 / (all_steps / (double)to->windows) / sqrt((double)to->windows);
	to->error = fmax(half, late);
}

static bool energy_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	struct energy_work energy = { .model = model, .symbols = dw_model_symbols(model, NULL) };
	struct dw_energy *to = result;
	bool good = steps != NULL, any = false;
	size_t symbols;

	(void)request;
	*to = (struct dw_energy){ .known = false };
	dw_model_symbols(model, &symbols);
	for (size_t i = 0; i < symbols && !any; i++)
		any = energy_is_counter(&energy.symbols[i]);
	if (good && any)
		good = dw_model_events(model, energy_see, &energy, NULL) == 0;
	DW_SORT(energy.samples, energy.count, energy_compare);
	to->samples = energy.count;
	/* One device alone: of several ranks, each has its own steps. */
	if (good && energy.count > 1 && energy.samples[0].row == energy.samples[energy.count - 1].row && steps->count)
		energy_sum(energy.samples, energy.count, steps, to);
	free(energy.samples);
	return good;
}

DW_PRODUCT(energy, struct dw_energy, energy_compute, NULL);

DW_PRODUCT_GETTER(energy, struct dw_energy)
