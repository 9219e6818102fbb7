/*
 * Files, names, processes and threads: converts ids of a file to indices of the source.
 *
 * Called once by source_open.c when all files are read. If chunks refer to a process without an entry, a
 * process is added for it. So every index in the result is valid.
 */

#include "base/grow.h"
#include "dwell/probe.h"
#include "read/read.h"

/* ---- the dictionary ------------------------------------------------------------------- */

static int people_fill_symbols(struct dw_reader *reader, const struct dw_read_file *from, struct dw_source_file *file)
{
	struct dw_symbol *symbols = dw_read_take(reader, from->id_count, sizeof *symbols);

	if (!symbols)
		return -1;
	for (size_t i = 0; i < from->op_count; i++) {
		const struct dw_read_op *op = &from->ops[i];
		struct dw_symbol *symbol = &symbols[op->id];
		const char *name = dw_read_string(from, op->name);

		*symbol = (struct dw_symbol){ .name = name ? name : "(unknown)", .detail = dw_read_string(from, op->detail),
			.file = dw_read_string(from, op->file), .line = op->line, .category = op->category,
			.shapes = op->shapes < from->id_count ? from->shapes[op->shapes] : NULL };
	}
	for (size_t i = 0; i < from->device_parts.launch_count; i++) {
		const struct dw_entry *launch = &from->device_parts.launches[i].entry;

		/* An OP cannot be a LAUNCH, so that the order of these copies does not matter. */
		if (launch->aux < from->id_count)
			symbols[launch->id] = symbols[launch->aux];
	}
	file->symbols = symbols;
	file->symbol_count = from->id_count;
	file->strings = from->strings;
	return 0;
}

static bool people_file_waits(const struct dw_read_file *file)
{
	struct dw_control control;

	if (file->size_bytes < DW_CONTROL_OFFSET + sizeof control)
		return false;
	memcpy(&control, file->data + DW_CONTROL_OFFSET, offsetof(struct dw_control, gates));
	return control.gated;
}

/* A file without this list is older. The list may change while it is copied. */
static const char *people_copy_layers(struct dw_reader *reader, const struct dw_read_file *file)
{
	size_t at = DW_CONTROL_OFFSET + offsetof(struct dw_control, layers);
	const char *list = (const char *)file->data + at;
	uint32_t mask;
	char *copy;

	if (file->size_bytes < DW_BLOCK_BYTES)
		return NULL;
	memcpy(&mask, file->data + DW_CONTROL_OFFSET + offsetof(struct dw_control, mask), sizeof mask);
	copy = mask & DWELL_DETAIL_LAYERS ? dw_read_take(reader, DW_LAYERS_BYTES + 1, 1) : NULL;
	if (copy)
		memcpy(copy, list, DW_LAYERS_BYTES);
	return copy && *copy ? copy : NULL;
}

static int people_fill_files(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (dw_read_clocks(reader->files, reader->file_count, &source->realtime_start_ns))
		return -1;
	source->files = dw_read_take(reader, reader->file_count, sizeof *source->files);
	if (!source->files)
		return -1;
	source->file_count = reader->file_count;
	for (size_t i = 0; i < source->file_count; i++) {
		struct dw_read_file *from = &reader->files[i];
		struct dw_source_file *file = &source->files[i];

		file->path = from->path;
		/* `dwell import` names the other tool as the writer of its trace. */
		file->large = !from->unbacked && from->size_bytes >= DW_SOURCE_LARGE_BYTES;
		file->foreign = from->foreign || strncmp(from->head->writer, "dwell", 5) != 0;
		file->size_bytes = from->size_bytes;
		file->head = from->head;
		file->torn = from->torn;
		file->missing_bytes = from->missing_bytes;
		file->waits = people_file_waits(from);
		file->named_ends = from->head->flags & DW_HEAD_NAMED_ENDS;
		file->layers = people_copy_layers(reader, from);
		file->clock = (struct dw_source_clock){ from->head->start_ticks, dw_read_u64(from->start_ns),
			                                    from->ns_per_tick, from->error_ns, from->pieces, from->piece_count };
		file->clock_jumps = from->clock_jumps;
		file->clock_jump_ns = from->clock_jump_ns;
		if (people_fill_symbols(reader, from, file))
			return -1;
		for (unsigned cause = 0; cause < DW_LOSS_SLOTS; cause++)
			source->lost[cause] += from->head->lost[cause];
	}
	return 0;
}

/* ---- processes and threads ---------------------------------------------------------------- */

static struct dw_read_process *people_find_process(struct dw_read_file *file, uint32_t id)
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
static int people_place_processes(struct dw_read_file *file)
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

static const char *people_text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

/* Assigns the indices first. Processes without any chunk or thread count too. */
static int people_number_processes(struct dw_reader *reader)
{
	uint32_t index;

	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		if (people_place_processes(file))
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

static int people_fill_processes(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (people_number_processes(reader))
		return -1;
	source->processes = dw_read_take(reader, source->process_count, sizeof *source->processes);
	if (!source->processes)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->process_count; i++) {
			const struct dw_read_process *from = &file->processes[i];
			struct dw_read_process *parent = people_find_process(file, from->parent);
			enum dw_alive alive = dw_read_process_alive(file, from);

			if (from->index == DW_NO_INDEX)
				continue; /* a second entry of the same id */
			source->processes[from->index] = (struct dw_source_process){
				.file = (uint32_t)f, .id = from->id,
				.parent = parent && parent != from ? parent->index : DW_NO_INDEX,
				.pid = from->pid, .ppid = from->ppid, .rank = from->rank,
				.local_rank = from->local_rank, .world_size = from->world_size,
				.flags = from->flags,
				.name = people_text_or(dw_read_string(file, from->name), "(unknown)"),
				.command = people_text_or(dw_read_string(file, from->command), ""),
				.job = people_text_or(dw_read_string(file, from->job), ""),
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

static int people_fill_threads(struct dw_reader *reader)
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

int dw_read_fill_people(struct dw_reader *reader)
{
	return people_fill_files(reader) || people_fill_processes(reader) || people_fill_threads(reader) ? -1 : 0;
}
