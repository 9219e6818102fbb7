/*
 * Processes and threads of a source: converts ids of a file to indices.
 *
 * Called by source_open.c after source_files.c. If chunks refer to a process without an entry, a process is added for it. So
 * every index in the result is valid.
 */

#include "base/grow.h"
#include "read/read.h"

static struct dw_read_process *processes_find(struct dw_read_file *file, uint32_t id)
{
	uint32_t place = dw_read_index_find(&file->process_places, id);

	return place ? &file->processes[place - 1] : NULL;
}

/* The index of the process `id` of a file; a process without an entry is added. */
int dw_read_process_index(struct dw_reader *reader, struct dw_read_file *file, uint32_t id, uint32_t *index)
{
	uint32_t *place = dw_read_index_at(&file->process_places, id);
	struct dw_read_process *process;

	if (!place)
		return -1;
	if (!*place) {
		process = DW_GROW(&file->processes, &file->process_capacity, file->process_count);
		if (!process)
			return -1;
		*process = (struct dw_read_process){ .id = id, .rank = -1, .local_rank = -1,
			.world_size = -1, .start_ticks = file->head->start_ticks, .index = DW_NO_INDEX };
		*place = (uint32_t)++file->process_count;
	}
	process = &file->processes[*place - 1];
	if (process->index == DW_NO_INDEX)
		process->index = (uint32_t)reader->source.process_count++;
	*index = process->index;
	return 0;
}

/* If several entries have one id, the first one counts. */
static int processes_place(struct dw_read_file *file)
{
	for (size_t i = 0; i < file->process_count; i++) {
		uint32_t *place = dw_read_index_at(&file->process_places, file->processes[i].id);

		if (!place)
			return -1;
		if (!*place)
			*place = (uint32_t)i + 1;
	}
	return 0;
}

static const char *processes_text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

/* Assigns the indices first. Processes without any chunk or thread count too. */
static int processes_number(struct dw_reader *reader)
{
	uint32_t index;

	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		if (processes_place(file))
			return -1;
		for (size_t i = 0; i < file->process_count; i++)
			if (dw_read_process_index(reader, file, file->processes[i].id, &index))
				return -1;
		for (size_t i = 0; i < file->chunk_count; i++)
			if ((i == 0 || file->chunks[i].process != file->chunks[i - 1].process) &&
			    dw_read_process_index(reader, file, file->chunks[i].process, &index))
				return -1;
		for (size_t i = 0; i < file->thread_count; i++)
			if (dw_read_process_index(reader, file, file->threads[i].process, &index))
				return -1;
	}
	return 0;
}

static int processes_fill(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (processes_number(reader))
		return -1;
	source->processes = dw_read_take(reader, source->process_count, sizeof *source->processes);
	if (!source->processes)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->process_count; i++) {
			const struct dw_read_process *from = &file->processes[i];
			struct dw_read_process *parent = processes_find(file, from->parent);
			enum dw_alive alive = dw_read_process_alive(file, from);

			if (from->index == DW_NO_INDEX)
				continue; /* a second entry of the same id */
			source->processes[from->index] = (struct dw_source_process){
				.file = (uint32_t)f, .id = from->id,
				.parent = parent && parent != from ? parent->index : DW_NO_INDEX,
				.pid = from->pid, .ppid = from->ppid, .rank = from->rank,
				.local_rank = from->local_rank, .world_size = from->world_size,
				.flags = from->flags,
				.name = processes_text_or(dw_read_string(file, from->name), "(unknown)"),
				.command = processes_text_or(dw_read_string(file, from->command), ""),
				.job = processes_text_or(dw_read_string(file, from->job), ""),
				.start_ns = dw_source_ns(&source->files[f].clock, from->start_ticks),
				.alive = alive == DW_ALIVE, .may_write = alive != DW_DEAD,
			};
			source->live |= source->processes[from->index].alive;
			source->processes[from->index].label = dw_read_label(&reader->arena, &source->processes[from->index]);
			if (!source->processes[from->index].label)
				return -1;
		}
	}
	return 0;
}

static uint64_t processes_lived_ns(const struct dw_source_clock *clock, uint32_t lived)
{
	return lived < UINT32_MAX ? dw_source_span_ns(clock, (uint64_t)lived << DW_LIVED_BITS) : 0;
}

static int processes_fill_threads(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;
	size_t most = 0;

	for (size_t f = 0; f < reader->file_count; f++)
		most += reader->files[f].thread_count + reader->files[f].chunk_count;
	source->threads = dw_read_take(reader, most, sizeof *source->threads);
	if (!source->threads)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->thread_count; i++) {
			struct dw_read_thread *from = &file->threads[i];
			struct dw_source_thread *thread = &source->threads[source->thread_count];

			from->index = (uint32_t)source->thread_count++;
			if (dw_read_process_index(reader, file, from->process, &thread->process))
				return -1;
			thread->id = from->id;
			thread->tid = from->tid;
			thread->stream = from->stream;
			thread->name = from->name;
			thread->start_ns = dw_source_ns(&source->files[f].clock, from->start_ticks);
			memcpy(thread->lost, from->lost, sizeof thread->lost);
			thread->cpu_ns = from->cpu_ns;
			thread->sampled_cpu_ns = from->sampled_cpu_ns;
			thread->sample_weight = from->sample_weight;
			thread->lived_ns = processes_lived_ns(&source->files[f].clock, from->lived);
			thread->end = from->end;
			for (unsigned cause = 0; cause < DW_LOSS_SLOTS; cause++)
				source->lost[cause] += from->lost[cause];
		}
		for (uint32_t id = 0; id < file->id_count; id++)
			if (file->thread_by_id[id] != DW_NO_INDEX)
				file->thread_by_id[id] = file->threads[file->thread_by_id[id]].index;
		source->files[f].thread_by_id = file->thread_by_id;
	}
	return 0;
}

int dw_read_fill_processes(struct dw_reader *reader)
{
	return processes_fill(reader) || processes_fill_threads(reader) ? -1 : 0;
}
