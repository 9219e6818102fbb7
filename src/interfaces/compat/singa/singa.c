/*
 * <dwell/compat/singa.h>. A verbosity above 0 opens a profile that records the categories of its
 * level. The listing is the layout "singa" of what that profile recorded.
 *
 * Invariant: `profile` is open exactly while `verbosity` is above 0 in the process `pid`.
 */
#include <dwell/compat/singa.h>

#include <inttypes.h>
#include <unistd.h>

#include <dwell/trace.h>

#include "base/error.h"

#define MOST_VERBOSITY 3
#define PHASES (1u << DWELL_CATEGORY_PHASE)
#define COMMUNICATION (1u << DWELL_CATEGORY_COMMUNICATION)
#define OPERATORS (1u << DWELL_CATEGORY_OPERATOR)
#define DEVICE (1u << DWELL_CATEGORY_DEVICE) /* an operation's time is then the device's, without a wait for it */

/* By verbosity. Steps are not in the list because every session records them. */
static const uint32_t categories[MOST_VERBOSITY + 1] = { 0, PHASES | DEVICE,
	                                   PHASES | OPERATORS | COMMUNICATION | DEVICE,
	                                   PHASES | COMMUNICATION | DEVICE };

static struct {
	pid_t pid;
	int verbosity;
	uint64_t skip_iteration;
	struct dwell_profile *profile;
} state = { .skip_iteration = DWELL_SINGA_SKIP_ITERATION };

/* Resets the state in a child process after fork, which has none of its parent's profiles. */
static void singa_know_process(void)
{
	if (state.pid == getpid())
		return;
	dwell_profile_destroy(state.profile);
	state.profile = NULL;
	state.verbosity = 0;
	state.pid = getpid();
}

static void singa_store_number(const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, value);
	dwell_meta_json(key, text);
}

int dwell_singa_set_verbosity(int verbosity, struct dwell_error *error)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile *profile = NULL;

	singa_know_process();
	if (verbosity < 0 || verbosity > MOST_VERBOSITY)
		return dw_error_set(error, DWELL_E_ARGUMENT, "no verbosity %d: 0 (nothing), 1 (forward and backward), 2 (each "
		                    "operation) or 3 (the distributed ones)", verbosity);
	if (verbosity == state.verbosity && (!verbosity || dwell_active()))
		return 0;
	if (verbosity) {
		struct dwell_error unused;

		error = error ? error : &unused;
		options.name = "time profiling";
		options.categories = categories[verbosity];
		profile = dwell_profile_create(&options, error);
		if (!profile || dwell_profile_start(profile, error)) {
			dwell_profile_destroy(profile);
			return error->code;
		}
		singa_store_number("singa.verbosity", (uint64_t)verbosity);
		singa_store_number("singa.skip_iteration", state.skip_iteration);
	}
	dwell_profile_destroy(state.profile);
	state.profile = profile;
	state.verbosity = verbosity;
	return 0;
}

void dwell_singa_set_skip_iteration(uint64_t iterations)
{
	singa_know_process();
	state.skip_iteration = iterations;
	if (state.profile)
		singa_store_number("singa.skip_iteration", iterations);
}

int dwell_singa_print_time_profiling(FILE *file, struct dwell_error *error)
{
	struct dwell_scope scope = { .size = sizeof scope };
	struct dwell_view_options options = { .size = sizeof options,
		.has_verbosity = true, .has_skip_iteration = true };
	const char *path = dwell_trace_path();
	struct dwell_trace *trace;
	int code;

	singa_know_process();
	if (!state.profile)
		return 0;
	scope.profile_id = dwell_profile_id(state.profile);
	if (!scope.profile_id || !path)
		return dw_error_set(error, DWELL_E_NO_DATA, "the session has ended: print before dwell_stop()");
	code = dwell_trace_open(&trace, &path, 1, &scope, error);
	if (code)
		return code;
	options.verbosity = (uint64_t)state.verbosity;
	options.skip_iteration = state.skip_iteration;
	code = dwell_trace_layout(trace, "singa", &options, file, error);
	dwell_trace_close(trace);
	return code;
}
