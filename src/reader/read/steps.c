/*
 * Steps, profiles, metadata, and when everything ended.
 *
 * Called last by source_open.c: the end of a process is the latest time in its streams, threads and
 * steps, and open steps last until then.
 */
#include <stdio.h>

#include "base/order.h"
#include "format/keys.h"
#include "read/read.h"

DW_ORDER(compare_steps, struct dw_source_step, DW_UP(start_ns) DW_UP(number))

static uint32_t steps_process(const struct dw_source *source, const char *item, size_t thread)
{
	return source->threads[*(const uint32_t *)(const void *)(item + thread)].process;
}

/* Items that are sorted by start, sorted by process, then start: themselves, or a copy. `thread`: offset of the
 * thread's index in an item. NULL: out of memory. */
static void *steps_order_by_process(struct dw_reader *reader, void *items, size_t count, size_t bytes, size_t thread)
{
	const struct dw_source *source = &reader->source;
	size_t in_order = 1, *place;
	char *ordered;

	while (in_order < count && steps_process(source, (const char *)items + (in_order - 1) * bytes, thread) <=
	                               steps_process(source, (const char *)items + in_order * bytes, thread))
		in_order++;
	if (in_order >= count)
		return items;
	place = dw_read_take(reader, source->process_count + 1, sizeof *place);
	ordered = dw_read_take(reader, count, bytes);
	if (!place || !ordered)
		return NULL;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < count; i++) {
			const char *item = (const char *)items + i * bytes;
			uint32_t process = steps_process(source, item, thread);

			if (pass)
				memcpy(ordered + place[process]++ * bytes, item, bytes);
			else
				place[process + 1]++;
		}
		for (size_t i = 0; !pass && i < source->process_count; i++)
			place[i + 1] += place[i];
	}
	return ordered;
}

static int fill_steps(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (!DW_READ_TAKE_ALL(reader, steps, step_count))
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		const struct dw_read_file *file = &reader->files[f];
		const struct dw_source_clock *clock = &source->files[f].clock;

		for (size_t i = 0; i < file->step_count; i++) {
			const struct dw_read_step *from = &file->steps[i];
			struct dw_source_step *step = &source->steps[source->step_count];

			if (dw_read_thread_of(file, from->thread) == DW_NO_INDEX)
				continue; /* its thread is not known */
			source->step_count++;
			*step = (struct dw_source_step){ .thread = file->thread_by_id[from->thread],
				                             .recorded = from->recorded,
				                             .reduced = from->reduced,
				                             .brief = from->brief,
				                             .open = !from->end_ticks,
				                             .number = from->number,
				                             .cpu_ns = from->cpu_ns,
				                             .start_ticks = from->start_ticks,
				                             .end_ticks = from->end_ticks };
			if (!step->open && step->end_ticks < step->start_ticks)
				step->end_ticks = step->start_ticks;
			step->start_ns = dw_source_ns(clock, step->start_ticks);
			step->end_ns = step->open ? 0 : dw_source_ns(clock, step->end_ticks);
		}
		free(file->steps); /* nothing else reads them, and there may be many */
		reader->files[f].steps = NULL;
		reader->files[f].step_count = 0;
	}
	DW_SORT(source->steps, source->step_count, compare_steps);
	source->steps = steps_order_by_process(reader, source->steps, source->step_count, sizeof *source->steps,
	                                       offsetof(struct dw_source_step, thread));
	return source->steps ? 0 : -1;
}

DW_ORDER(steps_compare_summaries, struct dw_source_step_summary, DW_UP(start_ns) DW_UP(first_number))

static int steps_fill_summaries(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (!DW_READ_TAKE_ALL(reader, step_summaries, summary_count))
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		const struct dw_read_file *file = &reader->files[f];
		const struct dw_source_clock *clock = &source->files[f].clock;

		for (size_t i = 0; i < file->summary_count; i++) {
			const struct dw_read_summary *from = &file->summaries[i];
			uint32_t thread = dw_read_thread_of(file, from->thread);

			if (thread == DW_NO_INDEX)
				continue; /* its thread is not known */
			source->step_summaries[source->step_summary_count++] = (struct dw_source_step_summary){
				.thread = thread,
				.first_number = from->first_number,
				.count = from->count,
				.recorded = from->recorded < from->count ? from->recorded : from->count,
				.start_ns = dw_source_ns(clock, from->start_ticks),
				.end_ns = dw_source_ns(clock, from->end_ticks),
				.start_ticks = from->start_ticks,
				.end_ticks = from->end_ticks,
				.step_ns = dw_source_span_ns(clock, from->step_ticks),
				.cpu_ns = from->cpu_ns,
				.cpu_count = from->cpu_count,
				.shortest_ns = dw_source_span_ns(clock, from->shortest_ticks),
				.longest_ns = dw_source_span_ns(clock, from->longest_ticks),
				.ns_per_tick = clock->ns_per_tick,
				.durations = from->durations,
			};
		}
	}
	if (source->step_summary_count)
		qsort(source->step_summaries, source->step_summary_count, sizeof *source->step_summaries,
		      steps_compare_summaries);
	source->step_summaries =
		steps_order_by_process(reader, source->step_summaries, source->step_summary_count,
	                           sizeof *source->step_summaries, offsetof(struct dw_source_step_summary, thread));
	return source->step_summaries ? 0 : -1;
}

/* The time of a thread's summaries, which follow each other, and the last of them. */
struct summed {
	uint64_t start_ticks, end_ticks;
	struct dw_source_step_summary *last;
};

/* Whether the summary was read, or its program killed, just before `count` became one more: everything else has the
 * step already (dw_step_summary_add). */
static bool summary_lacks_one(const struct dw_source_step_summary *summary)
{
	uint64_t durations = 0;

	for (unsigned i = 0; i < DW_STEPS_BUCKETS; i++)
		durations += summary->durations[i];
	return durations == summary->count + 1;
}

/* Drops steps that a summary has already: the program was killed, or this was read, between adding a step to a
 * summary and freeing the step's entry. */
static int drop_summarised_steps(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;
	struct summed *summed; /* by thread */
	size_t kept = 0;

	if (!source->step_summary_count)
		return 0;
	summed = dw_read_take(reader, source->thread_count, sizeof *summed);
	if (!summed)
		return -1;
	for (size_t i = 0; i < source->step_summary_count; i++) {
		struct dw_source_step_summary *summary = &source->step_summaries[i];
		struct summed *of = &summed[summary->thread];

		if (!of->last || summary->start_ticks < of->start_ticks)
			of->start_ticks = summary->start_ticks;
		if (!of->last || summary->end_ticks > of->end_ticks) {
			of->end_ticks = summary->end_ticks;
			of->last = summary;
		}
	}
	for (size_t i = 0; i < source->step_count; i++) {
		const struct summed *of = &summed[source->steps[i].thread];

		if (source->steps[i].start_ticks < of->start_ticks || source->steps[i].start_ticks >= of->end_ticks)
			source->steps[kept++] = source->steps[i];
		else if (summary_lacks_one(of->last))
			of->last->count++;
	}
	source->step_count = kept;
	return 0;
}

DW_ORDER(steps_compare_usages, struct dw_source_usage, DW_UP(thread) DW_UP(start_ticks))

/* Sorts the usages and drops those that overlap the one before: only damaged files have such. */
static void steps_order_usages(struct dw_source *source)
{
	size_t kept = 0;

	DW_SORT(source->usages, source->usage_count, steps_compare_usages);
	for (size_t i = 0; i < source->usage_count; i++) {
		const struct dw_source_usage *before = kept ? &source->usages[kept - 1] : NULL;

		if (!before || before->thread != source->usages[i].thread || before->end_ticks <= source->usages[i].start_ticks)
			source->usages[kept++] = source->usages[i];
	}
	source->usage_count = kept;
}

DW_ORDER(steps_compare_machines, struct dw_source_machine, DW_UP(file) DW_UP(start_ticks))

static int steps_fill_usages(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (!DW_READ_TAKE_ALL(reader, usages, usage_count))
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		const struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->usage_count; i++) {
			const struct dw_read_usage *from = &file->usages[i];
			uint32_t thread = dw_read_thread_of(file, from->thread);

			if (thread == DW_NO_INDEX || from->end_ticks == from->start_ticks)
				continue; /* its thread is not known, or it says nothing */
			source->usages[source->usage_count++] = (struct dw_source_usage){
				.thread = thread,
				.delay_known = from->delay_known,
				.start_ticks = from->start_ticks,
				.end_ticks = from->end_ticks,
				.cpu_ns = from->cpu_ns,
				.delay_ns = from->delay_known ? from->delay_ns : 0,
				.process_cpu_ns = from->process_cpu_ns,
				.waits = from->waits,
				.preemptions = from->preemptions,
				.minor_faults = from->minor_faults,
				.major_faults = from->major_faults,
				.counters_known = from->counters_known,
				.cycles = from->cycles,
				.instructions = from->instructions,
				.cache_misses = from->cache_misses,
			};
		}
	}
	steps_order_usages(source);
	return 0;
}

static int steps_fill_machines(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (!DW_READ_TAKE_ALL(reader, machines, machine_count))
		return -1;
	for (size_t f = 0; f < reader->file_count; f++)
		for (size_t i = 0; i < reader->files[f].machine_count; i++) {
			const struct dw_read_machine *from = &reader->files[f].machines[i];

			if (from->end_ticks > from->start_ticks)
				source->machines[source->machine_count++] =
					(struct dw_source_machine){ (uint32_t)f,   from->start_ticks, from->end_ticks,   from->busy_ns,
					                            from->own_ns,  from->program,     from->looks,       from->at_lock,
					                            from->at_file, from->asleep,      from->crowd_looks, from->crowded,
					                            from->blocked, from->stolen_us,   from->knows_stolen };
		}
	DW_SORT(source->machines, source->machine_count, steps_compare_machines);
	return 0;
}

static int steps_fill_profiles(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (!DW_READ_TAKE_ALL(reader, profiles, profile_count))
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		const struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->profile_count; i++) {
			const struct dw_read_profile *from = &file->profiles[i];
			const char *name = dw_read_string(file, from->name);
			uint32_t thread = dw_read_thread_of(file, from->thread);

			if (thread == DW_NO_INDEX)
				continue; /* its thread is not known */
			source->profiles[source->profile_count++] = (struct dw_source_profile){
				.file = (uint32_t)f,
				.id = from->id,
				.thread = thread,
				.name = name ? name : "(unknown)",
				.mask = from->mask,
				.open = !from->end_ticks,
				.cycle = from->cycle,
				.start_ticks = from->start_ticks,
				.end_ticks = from->end_ticks,
			};
		}
	}
	return 0;
}

/* A process that learned its rank after its entry was written says so here. */
static int steps_take_rank(struct dw_reader *reader, const struct dw_source_meta *meta)
{
	struct dw_source_process *process = &reader->source.processes[meta->process];
	int rank, local_rank, world_size;

	if (strcmp(meta->key, DW_KEY_RANK) != 0 ||
	    sscanf(meta->value, "[%d,%d,%d]", &rank, &local_rank, &world_size) != 3 || rank < 0)
		return 0;
	process->rank = rank;
	process->local_rank = local_rank >= 0 ? local_rank : process->local_rank;
	process->world_size = world_size;
	process->label = dw_read_label(&reader->arena, process);
	return process->label ? 0 : -1;
}

static int steps_fill_metas(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (!DW_READ_TAKE_ALL(reader, metas, meta_count))
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->meta_count; i++) {
			struct dw_source_meta *meta = &source->metas[source->meta_count];

			meta->key = dw_read_string(file, file->metas[i].key);
			meta->value = dw_read_string(file, file->metas[i].value);
			meta->json = file->metas[i].json;
			if (!meta->key || !meta->value)
				continue;
			if (dw_read_process_index(reader, file, file->metas[i].process, &meta->process))
				return -1;
			source->meta_count++;
			if (steps_take_rank(reader, meta))
				return -1;
		}
	}
	return 0;
}

static void steps_raise_end(uint64_t *end_ns, uint64_t ns)
{
	if (ns > *end_ns)
		*end_ns = ns;
}

/* A step that was never ended lasts as long as its process. */
static void end_open_step(const struct dw_source *source, struct dw_source_step *step)
{
	const struct dw_source_process *process = &source->processes[source->threads[step->thread].process];

	step->end_ns = process->end_ns > step->start_ns ? process->end_ns : step->start_ns;
	step->end_ticks = dw_source_ticks(&source->files[process->file].clock, step->end_ns);
	if (step->end_ticks < step->start_ticks)
		step->end_ticks = step->start_ticks;
}

/* Sets its times in ns, and an end if it has none. */
static void steps_place_profile(const struct dw_source *source, struct dw_source_profile *profile)
{
	const struct dw_source_clock *clock = &source->files[profile->file].clock;
	uint64_t end_ns = source->processes[source->threads[profile->thread].process].end_ns;

	if (profile->open)
		profile->end_ticks = dw_source_ticks(clock, end_ns);
	if (profile->end_ticks < profile->start_ticks)
		profile->end_ticks = profile->start_ticks;
	profile->start_ns = dw_source_ns(clock, profile->start_ticks);
	profile->end_ns = dw_source_ns(clock, profile->end_ticks);
}

static void steps_fill_ends(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	for (size_t i = 0; i < source->process_count; i++)
		source->processes[i].end_ns = source->processes[i].start_ns;
	for (size_t i = 0; i < source->thread_count; i++)
		steps_raise_end(&source->processes[source->threads[i].process].end_ns, source->threads[i].start_ns);
	for (size_t i = 0; i < source->stream_count; i++) {
		const struct dw_source_stream *stream = &source->streams[i];

		for (size_t c = 0; c < stream->chunk_count; c++)
			steps_raise_end(&source->processes[stream->process].end_ns,
			                dw_source_ns(&source->files[stream->file].clock, stream->chunks[c].end_ticks));
	}
	for (size_t i = 0; i < source->step_count; i++)
		steps_raise_end(&source->processes[source->threads[source->steps[i].thread].process].end_ns,
		                source->steps[i].open ? source->steps[i].start_ns : source->steps[i].end_ns);
	for (size_t i = 0; i < source->step_summary_count; i++) {
		const struct dw_source_step_summary *summary = &source->step_summaries[i];

		steps_raise_end(&source->processes[source->threads[summary->thread].process].end_ns, summary->end_ns);
	}
	for (size_t i = 0; i < source->process_count; i++)
		steps_raise_end(&source->end_ns, source->processes[i].end_ns);
	/* Work of devices may go on after the process; open ranges do not last until then. */
	for (size_t i = 0; i < source->events_count; i++)
		steps_raise_end(&source->end_ns,
		                dw_source_ns(&source->files[source->events[i].file].clock, source->events[i].chunk.end_ticks));
	for (size_t f = 0; f < reader->file_count; f++)
		if (reader->files[f].last_clock.ticks)
			steps_raise_end(&source->end_ns, dw_source_ns(&source->files[f].clock, reader->files[f].last_clock.ticks));
	for (size_t i = 0; i < source->process_count; i++)
		if (source->processes[i].alive)
			source->processes[i].end_ns = source->end_ns;
	for (size_t i = 0; i < source->step_count; i++)
		if (source->steps[i].open)
			end_open_step(source, &source->steps[i]);
	for (size_t i = 0; i < source->profile_count; i++)
		steps_place_profile(source, &source->profiles[i]);
}

int dw_read_fill_steps(struct dw_reader *reader)
{
	if (fill_steps(reader) || steps_fill_summaries(reader) || steps_fill_usages(reader) ||
	    steps_fill_machines(reader) || drop_summarised_steps(reader) || steps_fill_profiles(reader) ||
	    steps_fill_metas(reader))
		return -1;
	steps_fill_ends(reader);
	return 0;
}

const char *dw_source_meta(const struct dw_source *source, uint32_t process, const char *key)
{
	for (size_t i = source->meta_count; i-- > 0;)
		if ((process == DW_NO_INDEX || source->metas[i].process == process) && strcmp(source->metas[i].key, key) == 0)
			return source->metas[i].value;
	return NULL;
}
