/* Figures of ranks in Prometheus' text format; see metrics.h. */
#include "metrics/metrics.h"

#include <math.h>

#define SMALLEST_LOG2 17u /* of a histogram's buckets: 131 us */
#define LARGEST_LOG2 40u  /* 18 minutes */

enum { BETWEEN = DW_PART_COUNT };

/* ---- the text ------------------------------------------------------------------------------------------ */

static void metrics_head(FILE *file, const char *name, const char *type, const char *help)
{
	fprintf(file, "# HELP dwell_%s %s\n# TYPE dwell_%s %s\n", name, help, name, type);
}

static void metrics_put_label(FILE *file, const char *name, const char *value)
{
	fprintf(file, "%s=\"", name);
	for (; *value; value++)
		if (*value == '\n')
			fputs("\\n", file);
		else
			fprintf(file, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
	fputc('"', file);
}

static void metrics_put_rank(FILE *file, const char *job, int32_t rank, const char *host)
{
	char number[16];

	snprintf(number, sizeof number, "%d", rank);
	metrics_put_label(file, "run", job);
	metrics_put_label(file, ",rank", rank < 0 ? "" : number);
	metrics_put_label(file, ",host", host);
}

/* A sample of a rank, with at most two labels more. */
static void metrics_put(FILE *file, const char *name, const struct dw_summary_rank *rank, const char *label,
                        const char *value, double number)
{
	fprintf(file, "dwell_%s{", name);
	metrics_put_rank(file, rank->job, rank->rank, rank->host);
	if (label)
		metrics_put_label(file, label, value);
	fprintf(file, "} %.15g\n", number);
}

/* ---- figures with one number a rank -------------------------------------------------------------------- */

#define RANK(field) offsetof(struct dw_summary_rank, field)
static const struct {
	const char *name, *type, *help;
	size_t offset; /* of the number in a rank */
	bool measured; /* 0 means that it was not measured, and is left out */
	double unit;
} single[] = {
	{ "steps_total", "counter", "Recorded steps that ended, without the warm-up.", RANK(steps), false, 1 },
	{ "steps_missing_total", "counter", "Steps of the loop that were not recorded whole.", RANK(missing_steps), false, 1 },
	{ "last_step", "gauge", "Number of the last step that began.", RANK(last_step), false, 1 },
	{ "last_step_timestamp_seconds", "gauge", "When the last step ended, in seconds since 1970.", RANK(loop_end_ns), true, 1e9 },
	{ "memory_peak_bytes", "gauge", "Most memory that was allocated at once, of all devices.", RANK(memory_peak_bytes), true, 1 },
	{ "resident_memory_bytes", "gauge", "Memory of the process on its host.", RANK(resident_bytes), true, 1 },
	{ "memory_left_bytes", "gauge", "Memory that the process could still get on its host.", RANK(left_bytes), true, 1 },
	{ "start_timestamp_seconds", "gauge", "When the process began, in seconds since 1970.", RANK(start_ns), false, 1e9 },
};

/* ---- figures with several numbers a rank --------------------------------------------------------------- */

/* Buckets of whole octaves: cumulative counts of steps of at most 2^log2 ns. */
static void metrics_put_durations(FILE *file, const struct dw_summary_rank *rank)
{
	uint64_t counted = 0;
	size_t next = 0;
	char bound[32];

	for (unsigned log2 = SMALLEST_LOG2; log2 <= LARGEST_LOG2; log2++) {
		for (; next < rank->duration_count && rank->durations[next].bucket < (log2 - 8) * 4; next++)
			counted += rank->durations[next].steps;
		snprintf(bound, sizeof bound, "%.9g", exp2(log2) / 1e9);
		metrics_put(file, "step_duration_seconds_bucket", rank, ",le", bound, (double)counted);
	}
	metrics_put(file, "step_duration_seconds_bucket", rank, ",le", "+Inf", (double)rank->steps);
	metrics_put(file, "step_duration_seconds_sum", rank, NULL, NULL, (double)rank->ns / 1e9);
	metrics_put(file, "step_duration_seconds_count", rank, NULL, NULL, (double)rank->steps);
}

static void metrics_put_parts(FILE *file, const struct dw_summary_rank *rank)
{
	uint64_t ns[DW_PART_COUNT + 1] = { 0 };

	for (size_t i = 0; i < rank->span_count; i++) {
		for (unsigned part = 0; part < DW_PART_COUNT; part++)
			ns[part] += rank->spans[i].part_ns[part];
		ns[BETWEEN] += rank->spans[i].between_ns;
	}
	for (unsigned part = 0; part <= DW_PART_COUNT; part++)
		if (ns[part])
			metrics_put(file, "step_part_seconds_total", rank, ",part",
			            part == BETWEEN ? "between steps" : dw_facts_part_name((enum dw_part)part), (double)ns[part] / 1e9);
}

static void metrics_put_losses(FILE *file, const struct dw_summary_rank *rank)
{
	static const char *const causes[] = {
#define X(name, label, text) label,
		DW_LOSS_CAUSES(X)
#undef X
	};

	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (rank->lost[i])
			metrics_put(file, "records_lost_total", rank, ",cause", causes[i], (double)rank->lost[i]);
}

static double metrics_collective(const struct dw_summary_collective *collective, unsigned which)
{
	switch (which) {
	case 0: return (double)collective->count;
	case 1: return (double)collective->bytes;
	case 2: return (double)collective->flight_ns / 1e9;
	default: return (double)collective->blocked_ns / 1e9;
	}
}

static void metrics_put_collectives(FILE *file, const struct dw_summary *summary)
{
	static const struct {
		const char *name, *help;
	} figures[] = {
		{ "collectives_total", "Collectives that the rank entered." },
		{ "collective_bytes_total", "Bytes of the rank's own data in collectives." },
		{ "collective_seconds_total", "Time from entering collectives to leaving them." },
		{ "collective_blocked_seconds_total", "Of that, time in which a thread of the rank waited in calls." },
	};

	for (unsigned which = 0; which < sizeof figures / sizeof *figures; which++) {
		metrics_head(file, figures[which].name, "counter", figures[which].help);
		for (size_t i = 0; i < summary->count; i++) {
			const struct dw_summary_rank *rank = &summary->ranks[i];

			for (size_t c = 0; c < rank->collective_count; c++) {
				fprintf(file, "dwell_%s{", figures[which].name);
				metrics_put_rank(file, rank->job, rank->rank, rank->host);
				metrics_put_label(file, ",group", rank->collectives[c].group);
				metrics_put_label(file, ",operation", rank->collectives[c].operation);
				fprintf(file, "} %.15g\n", metrics_collective(&rank->collectives[c], which));
			}
		}
	}
}

/* ---- what is watched ----------------------------------------------------------------------------------- */

static void metrics_put_watched(FILE *file, const struct dw_watch *watch, const char *name, size_t i)
{
	fprintf(file, "dwell_%s{", name);
	metrics_put_rank(file, watch->name, watch->ranks[i].rank, watch->ranks[i].host);
}

static void metrics_put_watches(FILE *file, const struct dw_watch *watches, size_t count)
{
	metrics_head(file, "written_timestamp_seconds", "gauge", "When the rank's summary was written, in seconds since 1970.");
	for (size_t w = 0; w < count; w++)
		for (size_t i = 0; i < watches[w].count; i++) {
			metrics_put_watched(file, &watches[w], "written_timestamp_seconds", i);
			fprintf(file, "} %.3f\n", (double)watches[w].ranks[i].written_ns / 1e9);
		}
	metrics_head(file, "rank_state", "gauge", "1: the rank hangs, is lost, is slow or takes the memory, as dwell watch says.");
	for (size_t w = 0; w < count; w++)
		for (size_t i = 0; i < watches[w].count; i++)
			for (enum dw_watch_kind kind = DW_WATCH_HANG; kind <= DW_WATCH_MEMORY; kind++) {
				metrics_put_watched(file, &watches[w], "rank_state", i);
				metrics_put_label(file, ",state", dw_watch_kind_name(kind));
				fprintf(file, "} %d\n", watches[w].ranks[i].is[kind]);
			}
	metrics_head(file, "job_slower", "gauge", "1: the steps of the job take much longer than before.");
	for (size_t w = 0; w < count; w++) {
		fputs("dwell_job_slower{", file);
		metrics_put_label(file, "run", watches[w].name);
		fprintf(file, "} %d\n", watches[w].job.is[DW_WATCH_SLOWER]);
	}
}

void dw_metrics_write(const struct dw_summary *summary, const struct dw_watch *watches, size_t watch_count, FILE *file)
{
	static const struct {
		const char *name, *type, *help;
		void (*put)(FILE *file, const struct dw_summary_rank *rank);
	} several[] = {
		{ "step_duration_seconds", "histogram", "Length of a step.", metrics_put_durations },
		{ "step_part_seconds_total", "counter", "Time of steps by part; parts sum to the steps and what lies between them.",
		  metrics_put_parts },
		{ "records_lost_total", "counter", "Records that dwell lost, by cause.", metrics_put_losses },
	};

	metrics_head(file, "build_info", "gauge", "The version of dwell that wrote these figures.");
	fprintf(file, "dwell_build_info{version=\"%s\"} 1\n", dwell_version());
	for (size_t m = 0; m < sizeof single / sizeof *single; m++) {
		metrics_head(file, single[m].name, single[m].type, single[m].help);
		for (size_t i = 0; i < summary->count; i++) {
			uint64_t number = *(const uint64_t *)(const void *)((const char *)&summary->ranks[i] + single[m].offset);

			if (!single[m].measured || number)
				metrics_put(file, single[m].name, &summary->ranks[i], NULL, NULL, (double)number / single[m].unit);
		}
	}
	for (size_t m = 0; m < sizeof several / sizeof *several; m++) {
		metrics_head(file, several[m].name, several[m].type, several[m].help);
		for (size_t i = 0; i < summary->count; i++)
			several[m].put(file, &summary->ranks[i]);
	}
	metrics_put_collectives(file, summary);
	metrics_put_watches(file, watches, watch_count);
}
