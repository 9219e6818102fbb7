/*
 * singa: the printout of SINGA's Device.PrintTimeProfiling(), made from our steps.
 *
 * Verbosity 0 prints nothing, 1 the times of forward and backward propagation, 2 each operation in
 * the order of the graph, 3 the distributed operations ("Dist" in the name). The program sets the
 * verbosity and the number of skipped iterations with its metadata `singa.verbosity` and
 * `singa.skip_iteration`. The options override them. The defaults are 2 and 0.
 *
 * The time of an operation that ran on a device is the device's, as in SINGA with CUDA. As in SINGA,
 * the forward time is the sum of the operations before the first backward operation,
 * and the backward time is the rest of the iteration. Unlike in SINGA, a mean is over the timed
 * iterations that have the operation, and without timed iterations no figure is printed.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "frameworks/frameworks.h"
#include "layouts/layouts.h"
#include "model/sequence/sequence.h"

#define MOST_VERBOSITY 3
#define DEFAULT_VERBOSITY 2

struct listing {
	const struct dw_sequence *sequence;
	const struct dw_symbol *symbols;
	uint64_t verbosity, skip;
	uint64_t recorded; /* the verbosity at which the program recorded itself */
	size_t limit;
};

/* ---- options ------------------------------------------------------------------------- */

/* The last value of the key in the first process that has it, or NULL. */
static const char *singa_find_fact(const struct dw_source *source, const char *key)
{
	const char *value = NULL;
	uint32_t process = 0;

	for (size_t i = 0; i < source->meta_count; i++) {
		const struct dw_source_meta *meta = &source->metas[i];

		if (strcmp(meta->key, key) != 0 || (value && meta->process != process))
			continue;
		value = meta->value;
		process = meta->process;
	}
	return value;
}

/* Reads a number of the metadata, if the trace has it, into *value. `option` is what the message of
 * an error suggests instead. */
static int singa_take_number(const struct dw_source *source, const char *key, const char *option,
                             uint64_t most, uint64_t *value, struct dwell_error *error)
{
	const char *text = singa_find_fact(source, key);
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *value <= most)
		return 0;
	return dw_error_set(error, DWELL_E_CORRUPT,
	                    "the trace says that %s is '%.40s', which is no number%s: give one with %s",
	                    key, text, most == MOST_VERBOSITY ? " from 0 to 3" : "", option);
}

static int singa_take_options(struct listing *listing, const struct dw_source *source,
                              const struct dwell_view_options *options, struct dwell_error *error)
{
	int code;

	listing->recorded = DEFAULT_VERBOSITY;
	listing->skip = options->has_skip_iteration ? options->skip_iteration : 0;
	listing->limit = dw_layout_rows(options, SIZE_MAX);
	code = singa_take_number(source, "singa.verbosity", "--verbosity", MOST_VERBOSITY, &listing->recorded,
	                         options->has_verbosity ? NULL : error);
	listing->verbosity = options->has_verbosity ? options->verbosity : listing->recorded;
	if (options->has_verbosity)
		code = 0;
	if (!code && !options->has_skip_iteration)
		code = singa_take_number(source, "singa.skip_iteration", "--skip-iteration", UINT64_MAX, &listing->skip, error);
	if (!code && listing->verbosity > MOST_VERBOSITY)
		code = dw_error_set(error, DWELL_E_ARGUMENT, "the verbosity is 0 (nothing), 1 (forward and backward), 2 (every "
		                    "operation) or 3 (distributed ones), not %llu", (unsigned long long)listing->verbosity);
	return code;
}

/* ---- printing ------------------------------------------------------------------------ */

/* The mean time of an operation: with CUDA, SINGA measures it on the device. */
static double singa_mean_ns(const struct dw_sequence_op *op)
{
	return op->device_events ? (double)op->device_ns / (double)op->stat.count : op->mean_ns;
}

/* Nodes that wait, and operations without a time, are in the graph but not in the list. */
static bool singa_is_timed(const struct listing *listing, const struct dw_sequence_op *op)
{
	return op->stat.count && singa_mean_ns(op) > 0 && !dw_framework_is_wait(listing->symbols[op->symbol].name);
}

static uint32_t singa_count_timed(const struct listing *listing)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < listing->sequence->count; i++)
		count += singa_is_timed(listing, &listing->sequence->ops[i]);
	return count;
}

/* Uses the phase if the program marks its backward phase, otherwise the name. */
static bool singa_is_backward(const struct listing *listing, const struct dw_sequence_op *op)
{
	return op->phase == DW_IN_BACKWARD || (!listing->sequence->has_backward &&
	                                       strstr(listing->symbols[op->symbol].name, "Backward"));
}

static double singa_forward_ns(const struct listing *listing)
{
	const struct dw_sequence *sequence = listing->sequence;
	double sum_ns = 0;
	bool any = false;

	for (uint32_t i = 0; i < sequence->count; i++) {
		const struct dw_sequence_op *op = &sequence->ops[i];

		if (!op->stat.count)
			continue;
		if (singa_is_backward(listing, op))
			break;
		if (!singa_is_timed(listing, op))
			continue;
		sum_ns += singa_mean_ns(op) * ((double)op->stat.count / (double)sequence->iterations);
		any |= listing->symbols[op->symbol].category != DWELL_CATEGORY_COMMUNICATION;
	}
	/* No operation is before the first backward one: only phases were recorded, perhaps with
	 * communication. Then the forward phase has the time. */
	return any || !sequence->has_forward ? sum_ns : sequence->forward_ns;
}

static void singa_print_phases(const struct listing *listing, FILE *file)
{
	double iteration = listing->sequence->iteration_ns, forward = singa_forward_ns(listing);
	double backward = iteration - forward;

	/* The rest is 0 but for rounding, or negative because threads ran in parallel. */
	if (backward < iteration * 1e-12)
		backward = 0;
	fprintf(file, "\nTime Profiling:\nForward Propagation Time : %g sec\n", forward * 1e-9);
	fprintf(file, "Backward Propagation Time : %g sec\n", backward * 1e-9);
}

static void singa_print_operations(const struct listing *listing, FILE *file, struct dwell_error *error)
{
	const struct dw_sequence *sequence = listing->sequence;
	uint32_t printed = 0, partly = 0;

	fputs("\nTime Profiling:\n", file);
	for (uint32_t i = 0; i < sequence->count && printed < listing->limit; i++) {
		const struct dw_sequence_op *op = &sequence->ops[i];
		const char *name = listing->symbols[op->symbol].name;

		if (!singa_is_timed(listing, op) || (listing->verbosity == 3 && !strstr(name, "Dist")))
			continue;
		fprintf(file, "OP_ID%u. %s : %g sec\n", i, name, singa_mean_ns(op) * 1e-9);
		partly += op->stat.count < sequence->iterations;
		printed++;
	}
	if (partly)
		dw_error_set(error, 0, "the graph changes: %u of these %u operations %s not in all %s iterations; their "
		             "means are over those that have them", partly, printed,
		             partly == 1 ? "is" : "are", dw_text_count((int64_t)sequence->iterations).at);
	else if (!printed && listing->verbosity == 3)
		dw_error_set(error, 0, "no operation is distributed: none has \"Dist\" in its name");
}

static int singa_check_recorded(const struct listing *listing, struct dwell_error *error)
{
	struct dw_sequence_ask ask = { listing->skip };
	int code = dw_sequence_check(listing->sequence, &ask, error);

	if (code || singa_count_timed(listing))
		return code;
	if (listing->verbosity == MOST_VERBOSITY && listing->recorded == MOST_VERBOSITY)
		return 0; /* recorded at verbosity 3: no operation is distributed */
	if (listing->verbosity == 1 && !listing->sequence->has_forward)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "neither operations nor the phase \"forward\" were recorded: mark them with "
		                    "DWELL_OP(\"name\") or DWELL_PHASE(\"forward\")");
	if (listing->verbosity > 1 && listing->sequence->has_forward)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "phases were recorded and no operations: --verbosity 1 shows them, and "
		                    "recording at verbosity 2 has the operations too");
	return listing->verbosity == 1 ? 0
	                               : dw_error_set(error, DWELL_E_NO_DATA,
	                                              "no operations were recorded: mark them with "
	                                              "DWELL_OP(\"name\")");
}

static int singa_print(struct dw_model *model, const struct dw_layout_request *request, FILE *file,
                       struct dwell_error *error)
{
	struct listing listing = { .symbols = dw_model_symbols(model, NULL) };
	struct dw_sequence_ask ask;
	int code = 0;

	if (request->version)
		return dw_error_set(error, DWELL_E_NAME, "the layout singa has no version '%.40s'", request->version);
	code = singa_take_options(&listing, dw_model_source(model), request->options, error);
	if (code)
		return code;
	if (!listing.verbosity) {
		dw_error_set(error, 0, "at verbosity 0 nothing is printed (--verbosity 1, 2 or 3)");
		return 0;
	}
	ask.skip = listing.skip;
	listing.sequence = dw_model_sequence(model, &ask, error);
	if (!listing.sequence)
		return DWELL_E_NOMEM;
	code = singa_check_recorded(&listing, error);
	if (code)
		return code;
	if (listing.sequence->process_count > 1)
		dw_error_set(error, 0, "the means are over the iterations of %u processes; --thread shows one of them",
		             listing.sequence->process_count);
	if (listing.verbosity == 1)
		singa_print_phases(&listing, file);
	else
		singa_print_operations(&listing, file, error);
	return 0;
}

const struct dw_layout dw_layout_singa = {
	.name = "singa", .what = "SINGA's PrintTimeProfiling() at verbosity 1, 2 or 3", .print = singa_print,
};
