/*
 * Makes the summaries of the ranks of a large job, for tests and benchmarks.
 *
 *     make_summaries FOLDER RANKS STEPS [OPTION VALUE]...
 *
 *     hosts N       ranks per host (default 8)
 *     rack N        hosts per rack (default 20); host 63 is gpu-r03-n04
 *     noise P       standard deviation of each part of a step, in percent (default 5)
 *     between P     standard deviation of the constant difference between ranks, in percent (default 0.3)
 *     names N       operators of each rank (default 200)
 *     slow-rank R P    rank R takes P percent of a step longer in forward
 *     slow-host H P    the same of all ranks of host number H
 *     slow-rack K P    the same of all ranks of rack number K
 *     since P       slow ranks are slow after P percent of the steps (default 0)
 *     write N       only the first N files, with an additional step: they are written again
 *
 * Files are FOLDER/000000.sum and so on, each of one rank with up to 1,024 spans. Each step has data loading of 2 ms,
 * forward of 10, backward of 20, an optimizer of 3, and an all-reduce in which each rank waits for the last one, plus
 * 1 ms. The noise of the mean of a span is that of its steps, divided by the root of their number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "summary/summary.h"

#define PARTS 4
#define STEP_MS 36.0
static const enum dw_part made_parts[PARTS] = { DW_PART_DATA, DW_PART_FORWARD, DW_PART_BACKWARD, DW_PART_OPTIMIZER };
static const double made_ms[PARTS] = { 2, 10, 20, 3 };
#define MOST_SLOW 64

static struct {
	const char *folder;
	unsigned ranks, hosts, rack, names, written;
	uint64_t steps;
	double noise, between, since;
	struct { char kind; unsigned number; double percent; } slow[MOST_SLOW];
	unsigned slow_count;
} job = { .hosts = 8, .rack = 20, .noise = 5, .between = 0.3, .names = 200 };

static unsigned made_span_log2;
static size_t made_span_count;
static double *made_last; /* by span: the work of the slowest rank in its mean step, in ms */

/* Normal with mean 0 and deviation 1, by sums and products alone: the same on each machine. */
static double made_normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
		sum += (double)(*state >> 11) / 9007199254740992.0;
	}
	return sum;
}

static double made_root(double value)
{
	double root = value > 1 ? value : 1;

	for (int i = 0; i < 60; i++)
		root = (root + value / root) / 2;
	return root;
}

/* By how many percent of a step a rank is slower in a span. */
static double made_slower(unsigned rank, size_t span)
{
	unsigned host = rank / job.hosts;
	double percent = 0;

	for (unsigned i = 0; i < job.slow_count; i++) {
		unsigned own = job.slow[i].kind == 'r' ? rank : job.slow[i].kind == 'h' ? host : host / job.rack;

		if (own == job.slow[i].number && (double)span * 100 >= job.since * (double)made_span_count)
			percent += job.slow[i].percent;
	}
	return percent;
}

/* The parts of a rank's mean step in each span, in ms. */
static void made_rank_parts(unsigned rank, double (*parts)[PARTS])
{
	uint64_t state = rank * UINT64_C(0x9e3779b97f4a7c15) + 1;
	double between = 1 + job.between / 100 * made_normal(&state);
	double root = made_root((double)(UINT64_C(1) << made_span_log2));

	for (size_t s = 0; s < made_span_count; s++)
		for (int p = 0; p < PARTS; p++)
			parts[s][p] = made_ms[p] * between * (1 + job.noise / 100 * made_normal(&state) / root) +
			              (p == 1 ? STEP_MS * made_slower(rank, s) / 100 : 0);
}

static double made_work(const double parts[PARTS])
{
	return parts[0] + parts[1] + parts[2] + parts[3];
}

static void made_spans(struct dw_summary_rank *rank, double (*parts)[PARTS])
{
	uint64_t left = job.steps, blocked = 0;

	rank->steps = job.steps;
	rank->ns = 0;
	for (size_t s = 0; s < made_span_count; s++) {
		struct dw_summary_span *span = &rank->spans[s];
		uint64_t steps = left < UINT64_C(1) << made_span_log2 ? left : UINT64_C(1) << made_span_log2;

		*span = (struct dw_summary_span){ .index = s, .steps = steps, .longest = s << made_span_log2 };
		for (int p = 0; p < PARTS; p++)
			span->part_ns[made_parts[p]] = (uint64_t)(parts[s][p] * 1e6) * steps;
		span->part_ns[DW_PART_COMMUNICATION] = (uint64_t)((made_last[s] + 1 - made_work(parts[s])) * 1e6) * steps;
		for (int p = 0; p < DW_PART_COUNT; p++)
			span->ns += span->part_ns[p];
		span->longest_ns = span->ns / steps;
		rank->ns += span->ns;
		blocked += span->part_ns[DW_PART_COMMUNICATION];
		left -= steps;
	}
	rank->collectives->flight_ns = rank->collectives->blocked_ns = blocked;
	rank->span_count = made_span_count;
	rank->span_log2 = made_span_log2;
	rank->last_step = job.steps - 1;
	rank->wall_ns = rank->ns;
}

static bool made_write(struct dw_summary *summary, unsigned number)
{
	struct dw_proto proto = { 0 };
	char path[4096], part[4200];
	FILE *file;
	bool good;

	snprintf(path, sizeof path, "%s/%06u.sum", job.folder, number);
	snprintf(part, sizeof part, "%s.part", path);
	dw_summary_encode(summary, &proto);
	file = proto.failed ? NULL : fopen(part, "wb");
	good = file && fwrite(proto.bytes, 1, proto.used, file) == proto.used;
	if (file)
		good &= fclose(file) == 0 && rename(part, path) == 0;
	if (!good)
		fprintf(stderr, "make_summaries: cannot write %s\n", path);
	dw_proto_reset(&proto);
	return good;
}

static void made_lists(struct dw_summary_rank *rank)
{
	static char texts[DW_SUMMARY_NAMES][32];
	static struct dw_summary_name names[DW_SUMMARY_NAMES];
	static struct dw_summary_bucket bucket = { (unsigned)((25.1 - 8) * 4), 0 };
	static struct dw_summary_collective reduce = { .group = "world", .operation = "all_reduce" };

	for (unsigned i = 0; i < job.names && i < DW_SUMMARY_NAMES; i++) {
		snprintf(texts[i], sizeof texts[i], "aten::operator_%u", i);
		names[i] = (struct dw_summary_name){ texts[i], false, 10 * job.steps, 1000000 * job.steps / (i + 1) };
	}
	bucket.steps = job.steps;
	reduce.count = reduce.last_sequence = job.steps;
	reduce.bytes = job.steps << 20;
	rank->names = names;
	rank->name_count = job.names < DW_SUMMARY_NAMES ? job.names : DW_SUMMARY_NAMES;
	rank->named_steps = job.steps;
	rank->durations = &bucket;
	rank->duration_count = 1;
	rank->collectives = &reduce;
	rank->collective_count = 1;
}

static bool made_all(void)
{
	double (*parts)[PARTS];
	struct dw_summary_rank rank = { .job = "job", .command = "train.py" };
	struct dw_summary summary = { .ranks = &rank, .count = 1 };
	bool good = true;

	while ((job.steps - 1) >> made_span_log2 >= DW_SUMMARY_SPANS)
		made_span_log2++;
	made_span_count = (size_t)((job.steps - 1) >> made_span_log2) + 1;
	parts = calloc(made_span_count, sizeof *parts);
	made_last = calloc(made_span_count, sizeof *made_last);
	rank.spans = calloc(made_span_count, sizeof *rank.spans);
	if (!parts || !made_last || !rank.spans)
		return false;
	for (unsigned r = 0; r < job.ranks; r++) {
		made_rank_parts(r, parts);
		for (size_t s = 0; s < made_span_count; s++)
			if (made_work(parts[s]) > made_last[s])
				made_last[s] = made_work(parts[s]);
	}
	made_lists(&rank);
	for (unsigned r = 0; good && r < (job.written ? job.written : job.ranks); r++) {
		unsigned host = r / job.hosts;
		char name[64];

		snprintf(name, sizeof name, "gpu-r%02u-n%02u", host / job.rack, host % job.rack + 1);
		made_rank_parts(r, parts);
		made_spans(&rank, parts);
		rank.host = name;
		rank.rank = (int32_t)r;
		rank.local_rank = (int32_t)(r % job.hosts);
		rank.world_size = (int32_t)job.ranks;
		rank.pid = 1000 + r;
		rank.start_ns = UINT64_C(1700000000000000000) + r;
		rank.last_step += job.written != 0;
		good = made_write(&summary, r);
	}
	free(parts);
	free(made_last);
	free(rank.spans);
	return good;
}

static bool made_option(const char *name, char **values, int left, int *used)
{
	*used = strncmp(name, "slow-", 5) == 0 ? 2 : 1;
	if (left < *used)
		return false;
	if (*used == 2 && job.slow_count < MOST_SLOW) {
		job.slow[job.slow_count].kind = strcmp(name, "slow-rank") == 0 ? 'r' : strcmp(name, "slow-host") == 0 ? 'h' : 'k';
		job.slow[job.slow_count].number = (unsigned)atoi(values[0]);
		job.slow[job.slow_count++].percent = atof(values[1]);
	} else if (strcmp(name, "hosts") == 0) {
		job.hosts = (unsigned)atoi(values[0]);
	} else if (strcmp(name, "rack") == 0) {
		job.rack = (unsigned)atoi(values[0]);
	} else if (strcmp(name, "names") == 0) {
		job.names = (unsigned)atoi(values[0]);
	} else if (strcmp(name, "write") == 0) {
		job.written = (unsigned)atoi(values[0]);
	} else if (strcmp(name, "noise") == 0) {
		job.noise = atof(values[0]);
	} else if (strcmp(name, "between") == 0) {
		job.between = atof(values[0]);
	} else if (strcmp(name, "since") == 0) {
		job.since = atof(values[0]);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	bool good = argc >= 4;
	int used;

	if (good) {
		job.folder = argv[1];
		job.ranks = (unsigned)atoi(argv[2]);
		job.steps = strtoull(argv[3], NULL, 10);
		good = job.ranks && job.steps;
	}
	for (int i = 4; good && i < argc; i += 1 + used)
		good = made_option(argv[i], argv + i + 1, argc - i - 1, &used);
	if (!good || !job.hosts || !job.rack) {
		fprintf(stderr, "usage: make_summaries FOLDER RANKS STEPS [OPTION VALUE]...\n");
		return 2;
	}
	return made_all() ? 0 : 1;
}
