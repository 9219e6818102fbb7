/*
 * What an overview says of teams whose threads use the CPU to wait for each other: those of OpenMP, and of libraries of algebra
 * with threads of their own. The account is of the main thread alone; most threads of a team are others.
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
	const char *library; /* with most of it */
	uint64_t weight, spins, squares, most, cpu_ns;
	bool is_algebra;
};

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

		teams->weight += row->weight;
		teams->squares += row->squares;
		if (!library)
			continue;
		teams->spins += row->weight;
		teams->cpu_ns += row->cpu_ns;
		if (row->weight > teams->most) {
			teams->most = row->weight;
			teams->library = library;
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

void dw_overview_head_teams(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_samples *samples = dw_model_samples(overview->model, NULL);
	struct teams teams = { .library = NULL };
	double share, low, high;
	const char *name;
	bool is_crowded;
	long fit;

	if (!samples)
		return;
	teams_add(&teams, overview->source, samples);
	share = teams.weight ? (double)teams.spins / (double)teams.weight : 0;
	dw_samples_interval(share, teams.weight, teams.squares, &low, &high);
	if (!teams.library || low < DW_RULE_LARGE)
		return;
	name = strrchr(teams.library, '/') ? strrchr(teams.library, '/') + 1 : teams.library;
	fit = teams_fit(overview, &is_crowded);
	dw_table_say(table, DW_LABEL_SLOW,
	             "Threads of %.60s's team spin for %.0f%% of the CPU time, %s: they use the CPU to wait for each other%s.", name,
	             share * 100, dw_text_ns((double)teams.cpu_ns, " ").at,
	             is_crowded ? ", and other programs have CPUs that they need" : "");
	if (teams.is_algebra)
		dw_table_say(table, DW_LABEL_TRY,
		             "fewer threads: OPENBLAS_NUM_THREADS=%ld MKL_NUM_THREADS=%ld BLIS_NUM_THREADS=%ld in the environment%s", fit,
		             fit, fit, is_crowded ? ", one for each CPU that is free" : "");
	else
		dw_table_say(table, DW_LABEL_TRY,
		             "let them sleep, OMP_WAIT_POLICY=passive in the environment; or fewer threads, OMP_NUM_THREADS=%ld%s; give "
		             "them equal parts, as schedule(dynamic) does", fit, is_crowded ? " (one for each CPU that is free)" : "");
	dw_table_say(table, DW_LABEL_LOOK, "dwell report --view waits");
}
