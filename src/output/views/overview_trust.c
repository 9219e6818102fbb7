/* What the figures of an overview rest on: what is lost or not recorded, what recording cost, who else had the CPUs. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "model/steps/usage.h"
#include "rules/rules.h"
#include "views/overview_parts.h"

#define DELAY_SHARE DW_RULE_LARGE     /* of the run; from it on times are longer by what others did */
#define FREE_SHARE 0.01               /* of it: below, CPUs were free */
#define STOLEN_SHARE DW_RULE_DEADBAND /* of the CPUs' work; the same */

/* ---- what recording cost ----------------------------------------------------------------- */

/* The part "profiler" is a row above, and the rest lies within other rows. */
static void trust_write_cost(const struct dw_overview *overview, char *to, size_t size)
{
	const struct dw_facts_cost *cost = &overview->cost;
	const char *whole = overview->steps ? "the loop" : "the run";
	double within_ns = cost->ns - cost->part_ns, least_ns = DW_OVERVIEW_NOTHING * cost->ns / cost->share;
	char parts[96] = "";

	to[0] = '\0';
	if (isnan(cost->share))
		return;
	if (overview->steps && cost->part_ns >= least_ns && within_ns >= least_ns)
		snprintf(parts, sizeof parts, ", %s of it within other parts", dw_text_ns(within_ns, " ").at);
	if (cost->share < 0.0005)
		snprintf(to, size, "; profiling cost less than 0.1%% of %s", whole);
	else if (overview->steps)
		snprintf(to, size, "; profiling cost about %.1f%% of %s (%s a step%s)", cost->share * 100, whole,
		         dw_text_ns(cost->ns, " ").at, parts);
	else
		snprintf(to, size, "; profiling cost about %.1f%% of %s", cost->share * 100, whole);
}

static void trust_say_cupti(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_facts_cost *cost = &overview->cost;
	const struct dw_facts_bursts *bursts = !isnan(cost->share) && cost->cupti ? dw_facts_bursts(overview->model, NULL) : NULL;

	if (!bursts)
		return;
	if (!bursts->known)
		dw_table_say_below(table, DW_LABEL_REST,
		                   "What CUPTI's own work makes a step longer is not in it: too few recorded and unrecorded steps "
		                   "alternate.");
	else if (bursts->low_ns > 0)
		dw_table_say_below(table, DW_LABEL_REST,
		                   "Recorded steps take %s longer than others (95%% interval %s to %s; %zu and %zu steps)%s.",
		                   dw_text_ns(bursts->ns, " ").at, dw_text_ns(bursts->low_ns, " ").at, dw_text_ns(bursts->high_ns, " ").at,
		                   bursts->recorded_steps, bursts->other_steps,
		                   overview->facts && overview->facts->device_cost_ns > 0 ? "; the device's figures are without that" : "");
	else
		dw_table_say_below(table, DW_LABEL_REST, "Recorded steps take at most %s longer than others (%zu and %zu steps).",
		                   dw_text_ns(fmax(bursts->high_ns, 1), " ").at, bursts->recorded_steps, bursts->other_steps);
}

/* ---- the CPUs ---------------------------------------------------------------------------- */

/* The share of the time in which the thread of the figures waited for a CPU; NaN: not known. */
static double trust_delay(const struct dw_overview *overview)
{
	const struct dw_fact *delay = overview->facts ? &overview->facts->at[DW_FACT_CPU_DELAY] : NULL;

	if (overview->steps)
		return delay && delay->measured ? delay->value : NAN;
	return overview->delay_known ? overview->delay_share : NAN;
}

static void trust_write_cpus(const struct dw_overview *overview, char *to, size_t size)
{
	const struct dw_fact *others = overview->facts ? &overview->facts->at[DW_FACT_CPU_OTHERS] : NULL;
	double delay = trust_delay(overview);

	to[0] = '\0';
	if (delay < FREE_SHARE && others && others->measured && others->value >= DELAY_SHARE)
		snprintf(to, size, "; other programs used %.0f%% of the CPUs", others->value * 100); /* the thread may have slept */
	else if (delay < FREE_SHARE)
		snprintf(to, size, "; CPUs were free");
	else if (delay < DELAY_SHARE)
		snprintf(to, size, "; %s thread waited for a CPU for %.0f%% of its time",
		         overview->steps ? "the steps'" : "the main", delay * 100);
}

/* Then a verdict says so. */
static bool trust_is_oversubscribed(const struct dw_overview *overview)
{
	for (size_t i = 0; i < overview->verdicts.fired; i++)
		if (strcmp(overview->verdicts.at[i].rule->id, "oversubscribed") == 0)
			return true;
	return false;
}

/* The kernel cannot say which thread a hypervisor stopped, so that this is of the whole machine. */
static void trust_say_stolen(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_fact *stolen = overview->facts ? &overview->facts->at[DW_FACT_CPU_STOLEN] : NULL;

	if (stolen && stolen->measured && stolen->value >= STOLEN_SHARE)
		dw_table_say_below(table, DW_LABEL_REST, "The hypervisor of this virtual machine ran others for %.0f%% of the time for "
		                   "which the CPUs had work: times are longer by that.", stolen->value * 100);
}

/* If other programs used the CPU, all times include waiting for them. */
static void trust_say_delay(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_source *source = overview->source;
	double delay = trust_delay(overview);
	size_t threads = 0;
	long cpus = dw_machine_cpus(source);
	bool rest;

	if (!(delay >= DELAY_SHARE) || (overview->steps && trust_is_oversubscribed(overview)))
		return;
	if (overview->steps) {
		dw_table_say_below(table, DW_LABEL_REST, "The steps' thread waited for a CPU for %.0f%% of its time: other programs or "
		                   "threads had it. Times are not this thread's alone.", delay * 100);
		return;
	}
	for (size_t i = 0; i < source->thread_count; i++)
		threads += !(source->processes[source->threads[i].process].flags & DW_PROCESS_RUNNER);
	rest = overview->facts && overview->facts->account && overview->facts->account->state_ns[DW_ACCOUNT_NO_CPU] > 0;
	if (cpus > 0 && threads > (size_t)cpus)
		dw_table_say_below(table, DW_LABEL_REST, "The main thread waited for a CPU for %.0f%% of the run: other programs or "
		                   "the program's own %zu threads had the %ld CPU%s%s.", delay * 100, threads, cpus, cpus == 1 ? "" : "s",
		                   rest ? "; shares are of the rest" : "");
	else
		dw_table_say_below(table, DW_LABEL_REST, "Other programs had the CPU for %.0f%% of the run%s.", delay * 100,
		                   rest ? "; shares are of the rest" : ": times are not this program's alone");
}

/* ---- what is missing --------------------------------------------------------------------- */

/* How many bytes of a truncated copy are missing. */
static uint64_t trust_missing(const struct dw_overview *overview, size_t file)
{
	return overview->source->live ? 0 : overview->source->files[file].missing_bytes;
}

static bool trust_has_losses(const struct dw_overview *overview)
{
	bool any = false;

	for (size_t i = 0; i < DW_LOSS_SLOTS; i++)
		any |= overview->source->lost[i] != 0;
	for (size_t i = 0; i < overview->source->file_count; i++)
		any |= trust_missing(overview, i) != 0;
	return any;
}

static void trust_say_missing(struct dwell_table *table, const struct dwell_table *first, const struct dw_overview *overview)
{
	const struct dw_source *source = overview->source;
	double coverage = dw_model_coverage(overview->model);

	for (size_t i = 0; i < first->gap_count; i++)
		dw_table_say_below(table, DW_LABEL_REST, "Not recorded: %s.", first->gaps[i]);
	for (size_t i = 0; i < DW_LOSS_SLOTS; i++)
		if (source->lost[i])
			dw_table_say_below(table, DW_LABEL_REST, "Lost: %s record%s: %s.", dw_text_count((int64_t)source->lost[i]).at,
			                   dw_text_plural(source->lost[i]), dw_view_loss_text(source, i));
	for (size_t i = 0; i < source->file_count; i++)
		if (trust_missing(overview, i))
			dw_table_say_below(table, DW_LABEL_REST, "Lost: the last %s of the file; this is a truncated copy.",
			                   dw_text_bytes((double)trust_missing(overview, i), " ").at);
	if (coverage < 0.9995)
		dw_table_say_below(table, DW_LABEL_REST, "Recorded: %s of this time.", dw_text_percent(coverage).at);
}

void dw_overview_say_trust(struct dwell_table *table, const struct dwell_table *first, const struct dw_overview *overview)
{
	char cost[200], cpus[120], samples[80];
	bool lost = trust_has_losses(overview);

	trust_write_cost(overview, cost, sizeof cost);
	trust_write_cpus(overview, cpus, sizeof cpus);
	dw_overview_write_samples(overview, samples, sizeof samples);
	dw_table_say_below(table, DW_LABEL_TRUST, "%s%s%s%s.",
	                   lost                ? "records are lost"
	                   : first->gap_count ? "not all was recorded"
	                                       : "nothing is lost",
	                   cost, cpus, samples);
	trust_say_missing(table, first, overview);
	trust_say_cupti(table, overview);
	trust_say_delay(table, overview);
	trust_say_stolen(table, overview);
}
