/*
 * What an overview says of threads that use the CPU to wait for each other: teams of OpenMP, and of libraries of algebra with threads
 * of their own, and threads of the program in a loop that only another thread can end. The account is of the main thread alone, and what
 * another thread does while it spins is that thread's work.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/samples/samples.h"
#include "model/steps/usage.h"
#include "rules/rules.h"
#include "views/overview_parts.h"

/* CPU time of all threads, and what of it waits so. */
struct teams {
	const char *library; /* with most of it; NULL: the program's own code has */
	const struct dw_source_function *own; /* of the program, in which most of it is then */
	uint64_t weight, spins, squares, most, cpu_ns;
	bool is_algebra;
};

/* The function of the program that spins in this sample, or NULL. */
static const struct dw_source_function *teams_own(const struct dw_source *source, const struct dw_sample_row *row)
{
	uint32_t within;

	return dw_sample_spins(source, row, &within) == DW_SPIN_OWN ? dw_sample_own_function(source, row, within) : NULL;
}

/* The library that spins in this sample, or NULL. Libraries of algebra give up the CPU in a loop. */
static const char *teams_library(const struct dw_source *source, const struct dw_sample_row *row, bool *is_algebra)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(source, row);
	const struct dw_source_frame *frame;
	uint32_t within, at = 0;

	*is_algebra = false;
	if (dw_sample_spins(source, row, &within) == DW_SPIN_TEAM)
		return (frame = dw_sample_stack_at(&stack, within - 1)) != NULL ? frame->module : NULL;
	while (dw_sample_role(&stack, at) == DW_LIBRARY_KERNEL)
		at++;
	frame = dw_sample_stack_at(&stack, at);
	if (!frame || frame->role != DW_LIBRARY_SYSTEM || frame->activity != DW_ACTIVITY_SPIN)
		return NULL;
	frame = dw_sample_stack_at(&stack, at + 1);
	*is_algebra = frame && frame->role == DW_LIBRARY_ALGEBRA;
	return *is_algebra ? frame->module : NULL;
}

static void teams_add(struct teams *teams, const struct dw_source *source, const struct dw_samples *samples)
{
	for (size_t i = 0; i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];
		bool is_algebra;
		const char *library = teams_library(source, row, &is_algebra);
		const struct dw_source_function *own = library ? NULL : teams_own(source, row);

		teams->weight += row->weight;
		teams->squares += row->squares;
		if (!library && !own)
			continue;
		teams->spins += row->weight;
		teams->cpu_ns += row->cpu_ns;
		if (row->weight > teams->most) {
			teams->most = row->weight;
			teams->library = library;
			teams->own = own;
			teams->is_algebra = is_algebra;
		}
	}
}

/* How many threads have a CPU each, beside other programs; without such programs, half as many as there are CPUs. */
static long teams_fit(const struct dw_overview *overview, bool *is_crowded)
{
	struct dw_machine_of machine = dw_machine_between(overview->model, 0, overview->wall_ns);
	long cpus = dw_machine_cpus(overview->source), others = 0;

	if (dw_usage_is_known(machine.known) && machine.wall_ns > 0)
		others = lround(machine.others_ns / machine.wall_ns);
	*is_crowded = others > 0;
	return others >= cpus ? 1 : others > 0 ? cpus - others : cpus > 2 ? cpus / 2 : 1;
}

/* "libgomp.so.1's team", "of the program", and where. */
static void teams_say(struct dwell_table *table, const struct teams *teams, double share, bool is_crowded)
{
	char whose[80], place[300] = "";

	if (teams->library)
		snprintf(whose, sizeof whose, "%.60s's team", dw_text_base_name(teams->library));
	else
		snprintf(whose, sizeof whose, "the program");
	if (!teams->library)
		dw_account_place(&(struct dw_account_sum){ .function = teams->own, .line = teams->own->line }, place);
	dw_table_say(table, DW_LABEL_SLOW,
	             "Threads of %s spin for %.0f%% of the CPU time, %s%s%s: they use the CPU to wait for each other%s.",
	             whose, share * 100, dw_text_ns((double)teams->cpu_ns, " ").at, *place ? ", most of it in " : "", place,
	             is_crowded ? ", and other programs have CPUs that they need" : "");
}

void dw_overview_head_teams(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_samples *samples = dw_model_samples(overview->model, NULL);
	struct teams teams = { .library = NULL };
	double share, low, high;
	bool is_crowded;
	long fit;

	if (!samples)
		return;
	teams_add(&teams, overview->source, samples);
	share = teams.weight ? (double)teams.spins / (double)teams.weight : 0;
	dw_samples_interval(share, teams.weight, teams.squares, &low, &high);
	if (!teams.spins || low < DW_RULE_LARGE)
		return;
	fit = teams_fit(overview, &is_crowded);
	teams_say(table, &teams, share, is_crowded);
	if (!teams.library)
		dw_table_say(table, DW_LABEL_TRY,
		             "let a thread that waits give up its CPU, after some tries: a condition variable, a futex, a semaphore");
	else if (teams.is_algebra)
		dw_table_say(table, DW_LABEL_TRY,
		             "fewer threads: OPENBLAS_NUM_THREADS=%ld MKL_NUM_THREADS=%ld BLIS_NUM_THREADS=%ld in the environment%s", fit,
		             fit, fit, is_crowded ? ", one for each CPU that is free" : "");
	else
		dw_table_say(table, DW_LABEL_TRY,
		             "let them sleep, OMP_WAIT_POLICY=passive in the environment; or fewer threads, OMP_NUM_THREADS=%ld%s; give "
		             "them equal parts, as schedule(dynamic) does", fit, is_crowded ? " (one for each CPU that is free)" : "");
	dw_table_say(table, DW_LABEL_LOOK, "dwell report --view waits");
}
