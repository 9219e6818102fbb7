/*
 * Makes traces of the ranks of a job whose times are known, for tests and benchmarks.
 *
 *     make_ranks FOLDER RANKS STEPS [OPTION VALUE]...
 *
 *     operators N    operators of each step (default 8)
 *     noise P        standard deviation of each part of a step, in percent (default 2)
 *     seed N
 *     slow R PART P  rank R takes P percent of a step longer in each step, in PART: data, forward,
 *                    backward, optimizer or collector
 *     once R N P     rank R takes P percent of a step longer in step N, in the collector
 *     stop R N       rank R ends in step N, which stays open
 *     hang R N       rank R stays in data loading for 5 s in step N, and the others in the
 *                    all-reduce; then the recording ends
 *     hosts N        ranks per host (default all)
 *     world N        the world size that the ranks know (default RANKS)
 *     collectives B  the all-reduces are recorded as collectives of B bytes
 *     layers N       forward consists of N layers, Net.0 and so on
 *     layer K        with slow, in forward: all of it in layer K
 *     inputs R P     each rank's data loading allocates 1 MiB a step, and rank R P percent more
 *     activations R P  the same in forward instead of data loading
 *     between R P    rank R waits P percent of a step between each two steps
 *     delay P        in each step the thread waited for a CPU for P percent of a step; no longer steps
 *     lost R N       rank R lost N records, because the middle was overwritten
 *     job R          rank R and those after it are of another job
 *     start R S      rank R began S seconds after the others
 *     clock S        the clock of each host is S seconds ahead of that of the host before
 *     like TRACE     steps are those of TRACE, in which several ranks were recorded; see below
 *
 * The files are FOLDER/rank-0000.dwell and so on. Each step has data loading of 2 ms, forward of
 * 10, backward of 20, an optimizer of 3, and an all-reduce in which each rank waits for the last
 * one, plus 1 ms. The noise is normal and independent.
 *
 * With `like`, each rank takes steps of the recorded ranks, drawn in runs of ten on average, with all their
 * ranges and allocations, and so with the parts, operators and noise of that program. Only the collective in
 * which a rank waited longest is made anew: all ranks leave it together, after the last one has entered it,
 * and the transfer, which is the 5th percentile of the recorded times there. Ranks differ by no constant.
 * Percentages are of the mean recorded step. `noise`, `operators`, `layers`, `inputs`,
 * `activations`, `stop`, `hang` and `between` have no effect.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dwell/probe.h"
#include "../tools/encode_records.h"
#include "random.h"
#include "real_steps.h"

enum { DATA, FORWARD, BACKWARD, OPTIMIZER, COLLECTOR, PARTS };
static const char *const part_names[PARTS] = { "data", "forward", "backward", "optimizer",
	                                           "collector" };
static const double part_ms[PARTS] = { 2, 10, 20, 3, 0 };
#define STEP_MS 36.0
#define TRANSFER_NS 1000000u
#define MOST_LAYERS 100u
#define INPUT_BYTES 1048576.0

static struct {
	const char *folder;
	unsigned ranks, steps, operators, hosts, world;
	unsigned bytes, layers;
	double noise, clock;
	int slow_rank, slow_part, once_rank, stop_rank, hang_rank;
	unsigned once_step, stop_step, hang_step, lost;
	int slow_layer, input_rank, input_part, lost_rank, job_rank, late_rank, between_rank;
	double slow, once, input, late, between, delay;
} job = {
	.operators = 8, .noise = 2, .slow_rank = -1, .once_rank = -1, .stop_rank = -1, .hang_rank = -1,
	.slow_layer = -1, .input_rank = -1, .lost_rank = -1, .job_rank = -1, .late_rank = -1, .between_rank = -1
};

static struct real_trace real; /* of `like`; without steps: not given */
static double step_ms = STEP_MS;

struct rank {
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;
	uint32_t thread, ops[PARTS], inner[PARTS], reduce, group, block, layers[MOST_LAYERS];
	unsigned number;
	uint64_t now;
	/* With `like`: ops by symbol, the step that is taken, and what is planted in it. */
	uint32_t *real_ops;
	size_t real_step;
	uint64_t arrival, planted_at, planted_ns;
	bool collector;
};

static double part_length(unsigned rank, unsigned step, unsigned part)
{
	double ms = part_ms[part] * fmax(0.1, 1 + job.noise / 100 * normal());

	if ((int)rank == job.slow_rank && (int)part == job.slow_part)
		ms += STEP_MS * job.slow / 100;
	if ((int)rank == job.once_rank && step == job.once_step && part == COLLECTOR)
		ms += STEP_MS * job.once / 100;
	return ms * 1e6;
}

static void like_begin(struct rank *rank)
{
	rank->real_ops = calloc(real.symbol_count + 1, sizeof *rank->real_ops);
	for (size_t i = 0; rank->real_ops && i < real.symbol_count; i++) {
		bool block = real.symbols[i].category == DWELL_CATEGORY_ALLOCATION;

		rank->real_ops[i] = dw_encode_op(&rank->process, real.symbols[i].category, real.symbols[i].name,
		                                 block ? "cpu" : NULL, 0, NULL, 0);
	}
}

static uint32_t rank_thread(struct rank *rank, unsigned number)
{
	uint32_t id = dw_encode_new_id(&rank->encode);
	struct dw_entry_thread *entry =
		dw_encode_entry(&rank->process, DW_ENTRY_THREAD, id, rank->process.id, sizeof *entry);

	if (!entry)
		return 0;
	entry->tid = 1000 + number;
	memcpy(entry->name, "train", 5);
	entry->lost[DW_LOSS_RECYCLED] = (int)number == job.lost_rank ? job.lost : 0;
	return id;
}

static void rank_begin(struct rank *rank, unsigned number)
{
	static const uint32_t categories[PARTS] = { DWELL_CATEGORY_DATA, DWELL_CATEGORY_PHASE,
		                                        DWELL_CATEGORY_PHASE, DWELL_CATEGORY_PHASE,
		                                        DWELL_CATEGORY_COLLECTOR };
	struct dw_entry_process *entry;
	struct dw_head *head;
	uint32_t job_id;

	dw_encode_init(&rank->encode, DW_CLOCK_MONOTONIC, 1000000000);
	head = dw_encode_head(&rank->encode);
	snprintf(head->hostname, sizeof head->hostname, "node%u", job.hosts ? number / job.hosts : 0);
	if (job.hang_rank < 0 && job.stop_rank < 0)
		head->flags |= DW_HEAD_FINISHED;
	head->start_realtime_ns =
		1700000000000000000u + number + ((int)number == job.late_rank ? (uint64_t)(job.late * 1e9) : 0);
	if (job.clock > 0)
		head->start_realtime_ns =
			1700000000000000000u + (job.hosts ? number / job.hosts : 0) * (uint64_t)(job.clock * 1e9);
	dw_encode_process_init(&rank->process, &rank->encode, 0);
	job_id = dw_encode_string(&rank->process,
	                          job.job_rank >= 0 && (int)number >= job.job_rank ? "job 8" : "job 7");
	entry = dw_encode_process_entry(&rank->process);
	entry->pid = 1000 + number;
	entry->rank = (int32_t)number;
	entry->local_rank = (int32_t)(job.hosts ? number % job.hosts : number);
	entry->world_size = (int32_t)job.world;
	entry->job = job_id;
	rank->thread = rank_thread(rank, number);
	dw_encode_stream_init(&rank->stream, &rank->process, 0, rank->thread);
	for (unsigned part = 0; part < PARTS; part++) {
		char name[64];

		snprintf(name, sizeof name, "%s.kernel", part_names[part]);
		rank->ops[part] =
			dw_encode_op(&rank->process, categories[part], part_names[part], NULL, 0, NULL, 0);
		rank->inner[part] =
			dw_encode_op(&rank->process, DWELL_CATEGORY_OPERATOR, name, NULL, 0, NULL, 0);
	}
	rank->number = number;
	for (unsigned i = 0; i < job.layers; i++) {
		char name[64];

		snprintf(name, sizeof name, "Net.%u", i);
		rank->layers[i] =
			dw_encode_op(&rank->process, DWELL_CATEGORY_LAYER, name, NULL, 0, NULL, 0);
	}
	if (job.input_rank >= 0)
		rank->block = dw_encode_op(&rank->process, DWELL_CATEGORY_ALLOCATION, "other", "cpu", 0,
		                           NULL, 0);
	rank->reduce =
		dw_encode_op(&rank->process, DWELL_CATEGORY_COMMUNICATION, "all_reduce", NULL, 0, NULL, 0);
	rank->group = dw_encode_string(&rank->process, "world");
	if (real.step_count)
		like_begin(rank);
}

static void rank_operators(struct rank *rank, unsigned part, unsigned operators, uint64_t ns)
{
	for (unsigned i = 0; i < operators; i++) {
		dw_encode_begin(&rank->stream, rank->now + ns * i / operators + 1, rank->inner[part]);
		dw_encode_end(&rank->stream, rank->now + ns * (i + 1) / operators - 1);
	}
	rank->now += ns;
}

static void rank_layers(struct rank *rank, uint64_t ns)
{
	bool slow = (int)rank->number == job.slow_rank && job.slow_part == FORWARD && job.slow_layer >= 0;
	uint64_t more = slow ? (uint64_t)(STEP_MS * job.slow * 1e4) : 0, end = rank->now + ns;

	for (unsigned i = 0; i < job.layers; i++) {
		bool own = slow && (int)i == job.slow_layer;

		dw_encode_begin(&rank->stream, rank->now, rank->layers[i]);
		rank_operators(rank, FORWARD, job.operators / 2 / job.layers,
		               (ns - more) / job.layers + (own ? more : 0));
		dw_encode_end(&rank->stream, rank->now);
	}
	rank->now = end;
}

/* Allocates the batch, or activations. Those of two steps are alive at a time. */
static void rank_allocate(struct rank *rank, unsigned part, unsigned step)
{
	double more = (int)rank->number == job.input_rank ? 1 + job.input / 100 : 1;
	uint64_t block[2] = { (step % 2 + 1) << 20, (uint64_t)(INPUT_BYTES * more) };
	uint32_t words[4];

	memcpy(words, block, sizeof words);
	dw_encode_begin(&rank->stream, rank->now, rank->inner[part]);
	if (step >= 2)
		dw_encode_record(&rank->stream, rank->now, DW_FREE, rank->block, words, 2);
	dw_encode_record(&rank->stream, rank->now, DW_ALLOC, rank->block, words, 4);
	dw_encode_end(&rank->stream, rank->now + 1);
}

static void rank_part(struct rank *rank, unsigned part, unsigned step, uint64_t ns)
{
	if (!ns)
		return;
	dw_encode_begin(&rank->stream, rank->now, rank->ops[part]);
	if ((int)part == job.input_part && job.input_rank >= 0)
		rank_allocate(rank, part, step);
	if (part == FORWARD && job.layers)
		rank_layers(rank, ns);
	else
		rank_operators(rank, part, part == FORWARD || part == BACKWARD ? job.operators / 2 : 0, ns);
	dw_encode_end(&rank->stream, rank->now);
}

static void rank_reduce(struct rank *rank, uint64_t begin, unsigned step)
{
	dw_encode_begin(&rank->stream, begin, rank->reduce);
	if (job.bytes)
		dw_encode_collective(&rank->stream, begin, rank->group, step + 1, job.bytes);
}

static bool rank_write(struct rank *rank, unsigned number)
{
	char path[4096];
	size_t bytes;
	void *image;
	FILE *file;
	bool good;

	dw_encode_close(&rank->stream);
	image = dw_encode_take(&rank->encode, &bytes);
	snprintf(path, sizeof path, "%s/rank-%04u.dwell", job.folder, number);
	file = fopen(path, "wb");
	good = image && file && fwrite(image, 1, bytes, file) == bytes;
	if (file)
		good &= fclose(file) == 0;
	if (image)
		munmap(image, bytes);
	return good;
}

static bool rank_stopped(unsigned rank, unsigned step)
{
	return (int)rank == job.stop_rank && step > job.stop_step;
}

static uint64_t rank_begins(const struct rank *rank, uint64_t begin)
{
	return begin + ((int)rank->number == job.between_rank ? (uint64_t)(STEP_MS * job.between * 1e4) : 0);
}

/* All ranks leave the all-reduce at the same time. */
static void job_step(struct rank *ranks, unsigned step, double *lengths)
{
	uint64_t begin = ranks[0].now, last = 0, own;

	for (unsigned r = 0; r < job.ranks; r++)
		begin = ranks[r].now > begin ? ranks[r].now : begin;
	for (unsigned r = 0; r < job.ranks; r++) {
		uint64_t sum = rank_begins(&ranks[r], begin) - begin;

		for (unsigned part = 0; part < PARTS; part++)
			sum += (uint64_t)(lengths[r * PARTS + part] = part_length(r, step, part));
		if (!rank_stopped(r, step) && sum > last)
			last = sum;
	}
	for (unsigned r = 0; r < job.ranks; r++) {
		struct rank *rank = &ranks[r];
		bool stops = (int)r == job.stop_rank && step == job.stop_step;

		if (rank_stopped(r, step))
			continue;
		rank->now = own = rank_begins(rank, begin);
		for (unsigned part = 0; part < PARTS; part++)
			rank_part(rank, part, step, (uint64_t)lengths[r * PARTS + part]);
		rank_reduce(rank, rank->now, step);
		rank->now = begin + last + TRANSFER_NS;
		if (!stops)
			dw_encode_end(&rank->stream, rank->now);
		dw_encode_step(&rank->process, rank->thread, step, own, stops ? 0 : rank->now, 0,
		               DW_STEP_RECORDED);
		if (job.delay > 0)
			dw_encode_usage(&rank->process, rank->thread, own, rank->now)->delay_ns =
			    (uint64_t)(job.delay / 100 * step_ms * 1e6);
		rank->now += 1000;
	}
}

/* ---- steps of a recorded trace ------------------------------------------------------------------- */

static bool like_is_in_part(const struct real_event *event, unsigned part)
{
	const struct real_symbol *symbol = &real.symbols[event->symbol];

	return event->type == DW_EVENT_RANGE &&
	       (part == DATA ? symbol->category == DWELL_CATEGORY_DATA
	                     : symbol->category == DWELL_CATEGORY_PHASE && strcmp(symbol->name, part_names[part]) == 0);
}

/* The end of the longest operator of a part before the collective, or of the part: there the step becomes
 * longer. */
static uint64_t like_place(const struct real_step *step, unsigned part)
{
	const struct real_event *outer = NULL, *longest = NULL;
	uint64_t last = step->collective < step->count ? step->events[step->collective].start_ns : step->ns;

	for (size_t i = 0; i < step->count; i++) {
		const struct real_event *event = &step->events[i];

		if (!outer && like_is_in_part(event, part))
			outer = event;
		if (outer && event->type == DW_EVENT_RANGE && event->end_ns <= outer->end_ns && event->end_ns <= last &&
		    real.symbols[event->symbol].category == DWELL_CATEGORY_OPERATOR &&
		    (!longest || event->end_ns - event->start_ns > longest->end_ns - longest->start_ns))
			longest = event;
	}
	return longest ? longest->end_ns : outer ? outer->end_ns : last;
}

static void like_choose(struct rank *rank, unsigned number)
{
	const struct real_step *step;
	double ms = 0;

	rank->real_step++;
	if (!number || uniform() < 0.1 || rank->real_step >= real.step_count)
		rank->real_step = (size_t)(uniform() * (double)real.step_count);
	step = &real.steps[rank->real_step];
	rank->arrival = rank->now + (step->collective < step->count ? step->events[step->collective].start_ns : 0);
	rank->collector = false;
	if ((int)rank->number == job.slow_rank) {
		ms = step_ms * job.slow / 100;
		rank->collector = job.slow_part == COLLECTOR;
	}
	if ((int)rank->number == job.once_rank && number == job.once_step) {
		ms = step_ms * job.once / 100;
		rank->collector = true;
	}
	rank->planted_ns = (uint64_t)(ms * 1e6);
	rank->planted_at = ms <= 0          ? UINT64_MAX
	                   : rank->collector ? rank->arrival - rank->now
	                                     : like_place(step, (unsigned)job.slow_part);
	if (rank->planted_at <= rank->arrival - rank->now)
		rank->arrival += rank->planted_ns;
}

/* When a time of the recorded step is in the made one. */
static uint64_t like_time(const struct rank *rank, const struct real_step *step, uint64_t begin, uint64_t leave,
                          uint64_t at, bool end)
{
	const struct real_event *collective = &step->events[step->collective];
	uint64_t time = begin + at;

	if (at > rank->planted_at || (at == rank->planted_at && (end || rank->collector)))
		time += rank->planted_ns;
	if (step->collective < step->count && at >= collective->end_ns)
		time += leave - rank->arrival - (collective->end_ns - collective->start_ns);
	return time;
}

static void like_allocation(struct rank *rank, const struct real_event *event, uint64_t time)
{
	uint32_t words[4];

	memcpy(words, &event->address, 8);
	memcpy(words + 2, &event->bytes, 8);
	if (event->type == DW_EVENT_ALLOC)
		dw_encode_record(&rank->stream, time, DW_ALLOC, rank->real_ops[event->symbol], words, 4);
	else
		dw_encode_record(&rank->stream, time, DW_FREE, rank->real_ops[event->symbol], words, 2);
}

static void like_step(struct rank *rank, unsigned number, uint64_t leave)
{
	const struct real_step *step = &real.steps[rank->real_step];
	const struct real_event *collective = &step->events[step->collective];
	uint64_t begin = rank->now, ends[64];
	size_t depth = 0;

	for (size_t i = 0; i <= step->count; i++) {
		const struct real_event *event = &step->events[i];
		uint64_t from = i < step->count ? event->start_ns : UINT64_MAX;

		while (depth && ends[depth - 1] <= from) {
			depth--;
			dw_encode_end(&rank->stream, like_time(rank, step, begin, leave, ends[depth], true));
		}
		if (i == step->count)
			break;
		if (step->collective < i && event->end_ns <= collective->end_ns)
			continue; /* in the collective */
		if (event->type != DW_EVENT_RANGE) {
			like_allocation(rank, event, like_time(rank, step, begin, leave, from, false));
			continue;
		}
		if (i == step->collective && rank->collector && rank->planted_ns) {
			dw_encode_begin(&rank->stream, rank->arrival - rank->planted_ns, rank->ops[COLLECTOR]);
			dw_encode_end(&rank->stream, rank->arrival);
		}
		if (depth == 64)
			continue;
		ends[depth++] = event->end_ns;
		dw_encode_begin(&rank->stream, like_time(rank, step, begin, leave, from, false), rank->real_ops[event->symbol]);
		if (i == step->collective && job.bytes)
			dw_encode_collective(&rank->stream, rank->arrival, rank->group, number + 1, job.bytes);
	}
	rank->now = like_time(rank, step, begin, leave, step->ns, true);
	dw_encode_step(&rank->process, rank->thread, number, begin, rank->now, 0, DW_STEP_RECORDED);
	rank->now += 1000;
}

static void like_job_step(struct rank *ranks, unsigned number)
{
	uint64_t last = 0;

	for (unsigned r = 0; r < job.ranks; r++) {
		like_choose(&ranks[r], number);
		last = ranks[r].arrival > last ? ranks[r].arrival : last;
	}
	for (unsigned r = 0; r < job.ranks; r++)
		like_step(&ranks[r], number, last + real.transfer_ns);
}

static bool like_read(const char *path)
{
	double sum = 0;

	if (!real_trace_read(&real, path))
		return false;
	for (size_t s = 0; s < real.step_count; s++)
		sum += (double)real.steps[s].ns;
	step_ms = sum / (double)real.step_count / 1e6;
	return true;
}

static void job_hang(struct rank *ranks)
{
	for (unsigned r = 0; r < job.ranks; r++) {
		struct rank *rank = &ranks[r];

		dw_encode_step(&rank->process, rank->thread, job.hang_step, rank->now, 0, 0,
		               DW_STEP_RECORDED);
		if ((int)r != job.hang_rank) {
			rank_reduce(rank, rank->now + 30000000, job.hang_step);
			continue;
		}
		dw_encode_begin(&rank->stream, rank->now, rank->ops[DATA]);
		dw_encode_begin(&rank->stream, rank->now + 5000000000, rank->inner[DATA]);
		dw_encode_end(&rank->stream, rank->now + 5030000000);
	}
}

static int take_options(int count, char **values)
{
	for (int i = 0; i < count; i++) {
		const char *name = values[i];
		const char *value = i + 1 < count ? values[i + 1] : "";

		i++;
		if (strcmp(name, "operators") == 0)
			job.operators = (unsigned)atoi(value);
		else if (strcmp(name, "noise") == 0)
			job.noise = atof(value);
		else if (strcmp(name, "seed") == 0)
			random_state = strtoull(value, NULL, 10) * 77 + 1;
		else if (strcmp(name, "hosts") == 0)
			job.hosts = (unsigned)atoi(value);
		else if (strcmp(name, "collectives") == 0)
			job.bytes = (unsigned)atoi(value);
		else if (strcmp(name, "layers") == 0)
			job.layers = (unsigned)atoi(value) < MOST_LAYERS ? (unsigned)atoi(value) : MOST_LAYERS;
		else if (strcmp(name, "layer") == 0)
			job.slow_layer = atoi(value);
		else if (strcmp(name, "delay") == 0)
			job.delay = atof(value);
		else if (strcmp(name, "clock") == 0)
			job.clock = atof(value);
		else if (strcmp(name, "world") == 0)
			job.world = (unsigned)atoi(value);
		else if (strcmp(name, "slow") == 0 && i + 2 < count) {
			job.slow_rank = atoi(value);
			for (int part = 0; part < PARTS; part++)
				if (strcmp(values[i + 1], part_names[part]) == 0)
					job.slow_part = part;
			job.slow = atof(values[i + 2]);
			i += 2;
		} else if (strcmp(name, "once") == 0 && i + 2 < count) {
			job.once_rank = atoi(value);
			job.once_step = (unsigned)atoi(values[i + 1]);
			job.once = atof(values[i + 2]);
			i += 2;
		} else if (strcmp(name, "hang") == 0 && i + 1 < count) {
			job.hang_rank = atoi(value);
			job.hang_step = (unsigned)atoi(values[++i]);
		} else if ((strcmp(name, "inputs") == 0 || strcmp(name, "activations") == 0) && i + 1 < count) {
			job.input_part = *name == 'i' ? DATA : FORWARD;
			job.input_rank = atoi(value);
			job.input = atof(values[++i]);
		} else if (strcmp(name, "like") == 0) {
			if (!like_read(value))
				return -1;
		} else if (strcmp(name, "job") == 0) {
			job.job_rank = atoi(value);
		} else if (strcmp(name, "start") == 0 && i + 1 < count) {
			job.late_rank = atoi(value);
			job.late = atof(values[++i]);
		} else if (strcmp(name, "between") == 0 && i + 1 < count) {
			job.between_rank = atoi(value);
			job.between = atof(values[++i]);
		} else if (strcmp(name, "lost") == 0 && i + 1 < count) {
			job.lost_rank = atoi(value);
			job.lost = (unsigned)atoi(values[++i]);
		} else if (strcmp(name, "stop") == 0 && i + 1 < count) {
			job.stop_rank = atoi(value);
			job.stop_step = (unsigned)atoi(values[++i]);
		} else {
			fprintf(stderr, "make_ranks: '%s' is no option\n", name);
			return -1;
		}
	}
	return 0;
}

int main(int count, char **values)
{
	struct rank *ranks;
	double *lengths;

	if (count < 4) {
		fprintf(stderr, "usage: make_ranks FOLDER RANKS STEPS [OPTION VALUE]...\n");
		return 2;
	}
	job.folder = values[1];
	job.ranks = job.world = (unsigned)atoi(values[2]);
	job.steps = (unsigned)atoi(values[3]);
	if (take_options(count - 4, values + 4))
		return 2;
	ranks = calloc(job.ranks, sizeof *ranks);
	lengths = calloc(job.ranks * PARTS, sizeof *lengths);
	if (!ranks || !lengths)
		return 1;
	for (unsigned r = 0; r < job.ranks; r++)
		rank_begin(&ranks[r], r);
	for (unsigned step = 0; step < job.steps; step++) {
		if (job.hang_rank >= 0 && step == job.hang_step) {
			job_hang(ranks);
			break;
		}
		if (real.step_count)
			like_job_step(ranks, step);
		else
			job_step(ranks, step, lengths);
	}
	for (unsigned r = 0; r < job.ranks; r++)
		if (!rank_write(&ranks[r], r)) {
			fprintf(stderr, "make_ranks: cannot write rank %u\n", r);
			return 1;
		}
	free(ranks);
	free(lengths);
	return 0;
}
