/*
 * The entries of a file: dictionary, processes, threads, steps, clocks, metadata.
 *
 * Called once for each file by source_open.c, after chunks.c. An entry is valid if its tag and size are,
 * and if it is not smaller than its type requires. A killed process leaves holes. If it wrote the
 * size of an entry, the whole hole is skipped, because the text in it may look like entries.
 * Otherwise reading continues 8 bytes later. An entry is copied before it is checked, and text is
 * copied into the arena: no pointer into the map remains. Invariant: every stored id is below
 * id_count.
 */

#include "base/error.h"
#include "base/grow.h"
#include "dwell/probe.h"
#include "format/decode.h"
#include "read/read.h"

/* Ids count from 1, with an entry for each. A session that starts a new file continues to count, so
 * there may be more ids than entries. Arrays are as long as the largest id, so their number is
 * bounded. */
#ifndef DW_READ_SPARE_IDS /* lower for a fuzzer, whose inputs are small */
#define DW_READ_SPARE_IDS (1u << 16)
#endif

static size_t journal_least_bytes(uint32_t type)
{
	switch (type) {
	case DW_ENTRY_PROCESS: return offsetof(struct dw_entry_process, pid_namespace); /* older */
	case DW_ENTRY_THREAD: return offsetof(struct dw_entry_thread, cpu_ns); /* older */
	case DW_ENTRY_OP: return sizeof(struct dw_entry_op);
	case DW_ENTRY_FRAME: return sizeof(struct dw_entry_frame);
	case DW_ENTRY_MODULE: return sizeof(struct dw_entry_module);
	case DW_ENTRY_SYMBOL: return sizeof(struct dw_entry_symbol);
	case DW_ENTRY_CLOCK: return sizeof(struct dw_entry_clock);
	case DW_ENTRY_META: return sizeof(struct dw_entry_meta);
	case DW_ENTRY_STEP: return sizeof(struct dw_entry_step);
	case DW_ENTRY_PROFILE: return sizeof(struct dw_entry_profile);
	case DW_ENTRY_STEPS: return sizeof(struct dw_entry_steps);
	case DW_ENTRY_DEVICE: return sizeof(struct dw_entry_device);
	case DW_ENTRY_QUEUE: return sizeof(struct dw_entry_queue);
	case DW_ENTRY_LAUNCH: return sizeof(struct dw_entry_launch);
	case DW_ENTRY_DEVICE_CLOCK: return sizeof(struct dw_entry_device_clock);
	case DW_ENTRY_USAGE: return offsetof(struct dw_entry_usage, cycles);
	case DW_ENTRY_WITHDRAWAL: return sizeof(struct dw_entry_withdrawal);
	case DW_ENTRY_PLACE: return sizeof(struct dw_entry_place);
	default: return sizeof(struct dw_entry);
	}
}

static inline uint64_t journal_or_of_8(const uint64_t *words)
{
	uint64_t some = 0;

	for (size_t i = 0; i < 8; i++)
		some |= __atomic_load_n(&words[i], __ATOMIC_RELAXED);
	return some;
}

/* How many bytes from `at` on are zero, in steps of 8. Usually these were never reserved. */
static size_t journal_zeros(const char *at, size_t left)
{
	const uint64_t *words = (const uint64_t *)(const void *)at;
	size_t count = left / 8, i = 0;

	if (count && __atomic_load_n(words, __ATOMIC_RELAXED))
		return 0;
	while (i + 32 <= count && !(journal_or_of_8(&words[i]) | journal_or_of_8(&words[i + 8]) |
	                            journal_or_of_8(&words[i + 16]) | journal_or_of_8(&words[i + 24])))
		i += 32;
	while (i < count && !__atomic_load_n(&words[i], __ATOMIC_RELAXED))
		i++;
	return i * 8;
}

/* Reads the header of the entry at `at` in a journal chunk with `left` bytes. False: it is not an
 * entry, and the reader continues after *skip bytes. */
static bool journal_header_at(const char *at, size_t left, struct dw_entry *header, size_t *skip)
{
	const struct dw_entry *entry = (const struct dw_entry *)(const void *)at;

	*skip = 8;
	if (left < sizeof *entry)
		return false;
	/* Pairs with the release of the tag: the entry is complete. */
	header->tag = __atomic_load_n(&entry->tag, __ATOMIC_ACQUIRE);
	header->bytes = __atomic_load_n(&entry->bytes, __ATOMIC_RELAXED);
	header->id = __atomic_load_n(&entry->id, __ATOMIC_RELAXED);
	header->aux = __atomic_load_n(&entry->aux, __ATOMIC_RELAXED);
	if (header->bytes % 8 || header->bytes > left || header->bytes > DW_ENTRY_MAX_BYTES ||
	    header->bytes < sizeof *header)
		return false;
	if (!header->tag)
		*skip = header->bytes; /* reserved and never completed */
	return header->tag >> 16 == DW_ENTRY_MAGIC && header->bytes >= journal_least_bytes(header->tag & 0xffff);
}

/* Offset of the field that is written last, after others that change in place; 0 means none. */
static size_t journal_last_written(uint32_t type)
{
	switch (type) {
	case DW_ENTRY_STEP: return offsetof(struct dw_entry_step, end_ticks);
	case DW_ENTRY_PROFILE: return offsetof(struct dw_entry_profile, end_ticks);
	case DW_ENTRY_STEPS: return offsetof(struct dw_entry_steps, count);
	default: return 0;
	}
}

/* Copies an entry whose header was read. Fields that were added to a type later are 0 if the entry
 * is of an older version. */
static void journal_copy_entry(const char *at, const struct dw_entry *header, struct dw_entry *to)
{
	uint32_t type = header->tag & 0xffff;
	size_t last = journal_last_written(type);
	uint64_t value = 0;

	/* Acquire pairs with the writer's release: the copy has what was written before. */
	if (last)
		value = __atomic_load_n((const uint64_t *)(const void *)(at + last), __ATOMIC_ACQUIRE);
	dw_copy_shared(to, at, header->bytes);
	*to = *header;
	if (last)
		memcpy((char *)to + last, &value, sizeof value);
	if (type == DW_ENTRY_PROCESS && header->bytes < sizeof(struct dw_entry_process))
		memset((char *)to + header->bytes, 0, sizeof(struct dw_entry_process) - header->bytes);
}

/* `entry` is a copy: complete if `whole` was requested, otherwise only the header. */
typedef int visit_entry(struct dw_read_file *file, struct dw_arena *arena, uint32_t process,
                        const struct dw_entry *entry);

static int journal_each_entry(struct dw_read_file *file, struct dw_arena *arena, bool whole, visit_entry *visit)
{
	struct dw_entry header, *copy = whole ? malloc(DW_ENTRY_MAX_BYTES) : &header;
	char *block = file->pack.pack ? malloc(DW_BLOCK_BYTES) : NULL;
	int result = copy && (block || !file->pack.pack) ? 0 : -1;

	for (size_t i = 0; i < file->chunk_count && !result; i++) {
		const struct dw_read_chunk *chunk = &file->chunks[i];
		const char *data = (const char *)chunk->header;
		size_t skip;

		if (chunk->type != DW_CHUNK_JOURNAL || (chunk->place && !dw_pack_unpack(chunk->place, block)))
			continue;
		data = chunk->place ? block : data;
		for (size_t at = DW_CHUNK_HEADER_BYTES; at < chunk->data_bytes && !result;) {
			skip = journal_zeros(data + at, chunk->data_bytes - at);
			at += skip;
			if (skip)
				continue;
			if (!journal_header_at(data + at, chunk->data_bytes - at, &header, &skip)) {
				at += skip;
				continue;
			}
			file->entry = chunk->place ? NULL : data + at;
			if (whole)
				journal_copy_entry(data + at, &header, copy);
			result = visit(file, arena, chunk->process, copy);
			at += header.bytes;
		}
	}
	if (whole)
		free(copy);
	free(block);
	return result;
}

/* ---- the first pass: the number of ids ------------------------------------------- */

/* Not of a PROFILE, which nothing refers to. */
static bool journal_has_id(uint32_t type)
{
	return type == DW_ENTRY_PROCESS || type == DW_ENTRY_THREAD || type == DW_ENTRY_STRING ||
	       type == DW_ENTRY_OP || type == DW_ENTRY_SHAPES || type == DW_ENTRY_FRAME ||
	       type == DW_ENTRY_STACK || type == DW_ENTRY_MODULE ||
	       (type >= DW_ENTRY_DEVICE && type <= DW_ENTRY_DEVICE_CLOCK);
}

static int journal_count_ids(struct dw_read_file *file, struct dw_arena *arena, uint32_t process,
                             const struct dw_entry *entry)
{
	/* until the ops are read, op_capacity counts the entries */
	file->op_capacity++;
	if (journal_has_id(entry->tag & 0xffff) && entry->id <= DW_ID_MASK && entry->id >= file->id_count)
		file->id_count = entry->id + 1;
	return 0;
}

static int journal_make_tables(struct dw_read_file *file)
{
	size_t most = file->op_capacity + file->op_capacity / 2 + DW_READ_SPARE_IDS;

	file->op_capacity = 0;
	if (file->id_count > most)
		file->id_count = (uint32_t)most;
	if (!file->id_count)
		file->id_count = 1;
	file->strings = calloc(file->id_count, sizeof *file->strings);
	file->shapes = calloc(file->id_count, sizeof *file->shapes);
	file->thread_by_id = malloc(file->id_count * sizeof *file->thread_by_id);
	if (!file->strings || !file->shapes || !file->thread_by_id)
		return -1;
	memset(file->thread_by_id, 0xff, file->id_count * sizeof *file->thread_by_id);
	return 0;
}

/* ---- the second pass: the entries' contents ---------------------------------------- */

/* A new item of one of the file's lists; it counts once the counter is raised. */
#define JOURNAL_ADD(file, list, item) DW_GROW(&(file)->list, &(file)->item##_capacity, (file)->item##_count)
/* Appends an item to such a list. -1: out of memory. */
#define JOURNAL_APPEND(file, list, item, ...) \
	(DW_APPEND(&(file)->list, &(file)->item##_capacity, &(file)->item##_count, __VA_ARGS__) ? 0 : -1)

static int journal_damaged(struct dw_read_file *file)
{
	file->damaged++;
	return 0;
}

static int journal_take_string(struct dw_read_file *file, struct dw_arena *arena, const struct dw_entry *entry)
{
	uint32_t length = entry->aux & DW_TEXT_LENGTH_MASK;
	char *text;

	if (length > entry->bytes - sizeof *entry)
		return journal_damaged(file);
	if (entry->aux & DW_TEXT_CUT) {
		text = dw_arena_alloc(arena, length + 4);
		if (text) {
			memcpy(text, entry + 1, length);
			memcpy(text + length, "...", 4);
		}
	} else {
		text = dw_arena_text(arena, (const char *)(entry + 1), length);
	}
	file->strings[entry->id] = text;
	return text ? 0 : -1;
}

static bool journal_shapes_fit(const struct dw_entry *entry)
{
	const uint8_t *at = (const uint8_t *)(entry + 1), *end = (const uint8_t *)entry + entry->bytes;

	for (uint32_t i = 0; i < entry->aux; i++) {
		if (end - at < 8 || end - at - 8 < (ptrdiff_t)at[1] * 8)
			return false;
		at += 8 + (size_t)at[1] * 8;
	}
	return true;
}

static int journal_take_shapes(struct dw_read_file *file, struct dw_arena *arena, const struct dw_entry *entry)
{
	void *copy;

	if (!journal_shapes_fit(entry))
		return journal_damaged(file);
	copy = dw_arena_alloc(arena, entry->bytes);
	if (!copy)
		return -1;
	memcpy(copy, entry, entry->bytes);
	file->shapes[entry->id] = copy;
	return 0;
}

static int journal_take_process(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_process *from = (const struct dw_entry_process *)(const void *)entry;
	bool identified = entry->bytes >= sizeof *from;
	const struct dw_read_process process = { entry->id, entry->aux, from->pid, from->ppid, from->rank,
		from->local_rank, from->world_size, from->flags, from->name, from->command, from->job, from->start_ticks,
		DW_NO_INDEX, identified ? from->pid_namespace : 0, identified ? from->birth : 0 };

	return JOURNAL_APPEND(file, processes, process, process);
}

static int journal_take_thread(struct dw_read_file *file, struct dw_arena *arena, const struct dw_entry *entry)
{
	const struct dw_entry_thread *from = (const struct dw_entry_thread *)(const void *)entry;
	struct dw_read_thread *thread = JOURNAL_ADD(file, threads, thread);

	if (!thread)
		return -1;
	*thread = (struct dw_read_thread){ .id = entry->id, .process = entry->aux, .tid = from->tid, .stream = from->stream,
		.start_ticks = from->start_ticks, .index = DW_NO_INDEX };
	for (unsigned i = 0; i < DW_LOSS_SLOTS; i++)
		thread->lost[i] = from->lost[i];
	if (entry->bytes >= sizeof *from) {
		thread->cpu_ns = from->cpu_ns;
		thread->sampled_cpu_ns = from->sampled_cpu_ns;
		thread->sample_weight = from->sample_weight;
		thread->end = from->end;
		thread->lived = from->lived;
	}
	thread->name = dw_arena_text(arena, from->name, strnlen(from->name, sizeof from->name));
	file->thread_by_id[entry->id] = (uint32_t)file->thread_count++;
	return thread->name ? 0 : -1;
}

static int journal_take_op(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_op *from = (const struct dw_entry_op *)(const void *)entry;

	return JOURNAL_APPEND(file, ops, op,
	                      (struct dw_read_op){ entry->id, entry->aux, from->name, from->detail, from->shapes,
	                          from->file, from->line, from->frame });
}

static int journal_take_step(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_step *from = (const struct dw_entry_step *)(const void *)entry;

	if (entry->aux & DW_STEP_CANCELLED)
		return 0;
	if (from->start_ticks > DW_TICKS_MAX || from->end_ticks > DW_TICKS_MAX)
		return journal_damaged(file);
	return JOURNAL_APPEND(file, steps, step,
	    (struct dw_read_step){ .number = from->number, .thread = entry->id, .start_ticks = from->start_ticks,
	        .end_ticks = from->end_ticks, .cpu_ns = from->end_ticks ? from->cpu_ns : 0,
	        .what = entry->aux & DW_STEP_WHAT, .recorded = entry->aux & DW_STEP_RECORDED, .tentative = entry->aux & DW_STEP_TENTATIVE,
	        .reduced = entry->aux & DW_STEP_REDUCED && !(entry->aux & DW_STEP_RECORDED),
	        .brief = entry->aux & DWELL_STEP_BRIEF && !(entry->aux & DW_STEP_RECORDED) });
}

/* A live program may be adding to the entry. This is a copy, whose sums may include one step more
 * or less than `count`. */
static int journal_take_summary(struct dw_read_file *file, struct dw_arena *arena, const struct dw_entry *entry)
{
	const struct dw_entry_steps *from = (const struct dw_entry_steps *)(const void *)entry;
	struct dw_read_summary *summary, now = {
		entry->id, from->first_number, from->start_ticks, from->end_ticks, from->step_ticks,
		from->cpu_ns, from->cpu_count, from->shortest_ticks, from->longest_ticks, from->recorded,
		from->count, entry->aux & DW_STEP_TENTATIVE, NULL };

	if (!now.count)
		return 0; /* reserved, and the thread was killed in its first step */
	if (now.start_ticks > DW_TICKS_MAX || now.end_ticks > DW_TICKS_MAX ||
	    now.end_ticks < now.start_ticks || now.step_ticks > DW_TICKS_MAX ||
	    now.longest_ticks > now.step_ticks || now.shortest_ticks > now.longest_ticks)
		return journal_damaged(file);
	summary = JOURNAL_ADD(file, summaries, summary);
	now.durations = dw_arena_alloc(arena, sizeof from->durations);
	if (!summary || !now.durations)
		return -1;
	memcpy(now.durations, from->durations, sizeof from->durations);
	*summary = now;
	file->summary_count++;
	return 0;
}

static int journal_take_machine(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_machine *from = (const struct dw_entry_machine *)(const void *)entry;
	bool crowds = entry->bytes >= offsetof(struct dw_entry_machine, blocked);

	if (from->end_ticks > DW_TICKS_MAX || from->start_ticks > from->end_ticks)
		return journal_damaged(file);
	return JOURNAL_APPEND(file, machines, machine,
	                      (struct dw_read_machine){ from->start_ticks, from->end_ticks, from->busy_ns, from->own_ns,
	                          from->program, from->looks, from->at_lock, from->at_file, from->asleep,
	                          crowds ? from->crowd_looks : 0, crowds ? from->crowded : 0,
	                          entry->bytes >= sizeof *from ? from->blocked : 0,
	                          entry->bytes >= sizeof *from && entry->aux & DW_USAGE_STOLEN ? from->stolen_us : 0,
	                          entry->bytes >= sizeof *from && entry->aux & DW_USAGE_STOLEN });
}

static int journal_take_usage(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_usage *from = (const struct dw_entry_usage *)(const void *)entry;
	bool counters = entry->aux & DW_USAGE_COUNTERS && entry->bytes >= sizeof *from;

	if (from->end_ticks > DW_TICKS_MAX || from->start_ticks > from->end_ticks)
		return journal_damaged(file);
	return JOURNAL_APPEND(file, usages, usage,
	                      (struct dw_read_usage){ entry->id, entry->aux & DW_USAGE_DELAY, from->start_ticks,
	                          from->end_ticks, from->cpu_ns, from->delay_ns, from->process_cpu_ns, from->waits,
	                          from->preemptions, from->minor_faults, from->major_faults, counters,
	                          counters ? from->cycles : 0, counters ? from->instructions : 0,
	                          counters ? from->cache_misses : 0 });
}

static int journal_take_withdrawal(struct dw_read_file *file, const struct dw_entry *entry)
{
	return JOURNAL_APPEND(file, withdrawals, withdrawal, *(const struct dw_entry_withdrawal *)(const void *)entry);
}

/* A writer changes the sums at any time: `count` is read first, and the others hold at least these
 * times. */
static int journal_take_place(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_place *from = (const struct dw_entry_place *)(const void *)entry;
	struct dw_entry_place *place = JOURNAL_ADD(file, places, place);
	uint64_t count = __atomic_load_n(&from->count, __ATOMIC_ACQUIRE);

	if (!place)
		return -1;
	memcpy(place, from, sizeof *place);
	place->count = count;
	if (place->step_ticks > DW_TICKS_MAX || place->other_ticks > DW_TICKS_MAX ||
	    place->longest_ticks > DW_TICKS_MAX || place->cpu_ticks > DW_TICKS_MAX)
		return journal_damaged(file);
	file->place_count += count != 0;
	return 0;
}

/* Frames of a million stacks need much memory: they stay where they are in the file. */
static int journal_take_stack(struct dw_read_file *file, struct dw_arena *arena, const struct dw_entry *entry)
{
	size_t bytes = entry->bytes - sizeof *entry;
	const uint32_t *frames = file->entry ? (const void *)(file->entry + sizeof *entry) : NULL;

	if (!file->stacks)
		file->stacks = calloc(file->id_count, sizeof *file->stacks);
	if (!file->stacks)
		return -1;
	if (entry->aux > bytes / sizeof *frames)
		return journal_damaged(file);
	if (!frames && (frames = dw_arena_alloc(arena, bytes)))
		memcpy((void *)(uintptr_t)frames, entry + 1, bytes);
	if (!frames)
		return -1;
	file->stacks[entry->id] = (struct dw_source_stack){ frames, entry->aux };
	return 0;
}

static int journal_take_symbol(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_symbol *from = (const struct dw_entry_symbol *)(const void *)entry;

	return JOURNAL_APPEND(file, symbols, symbol,
	                      (struct dw_read_symbol){ entry->id, entry->aux, from->function, from->file, from->line, from->loop });
}

static int journal_take_frame(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_frame *from = (const struct dw_entry_frame *)(const void *)entry;

	return JOURNAL_APPEND(file, frames, frame,
	                      (struct dw_read_frame){ entry->id, entry->aux, from->offset, from->function, from->file,
	                          from->line, from->process, (uint32_t)file->frame_count });
}

static int journal_take_module(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_module *from = (const struct dw_entry_module *)(const void *)entry;
	struct dw_read_module *module = JOURNAL_ADD(file, modules, module);

	if (!module)
		return -1;
	module->id = entry->id;
	module->path = from->path;
	if (from->build_id_bytes <= sizeof module->build_id) {
		module->build_id_bytes = from->build_id_bytes;
		memcpy(module->build_id, from->build_id, from->build_id_bytes);
	}
	file->module_count++;
	return 0;
}

static int journal_take_profile(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_profile *from = (const struct dw_entry_profile *)(const void *)entry;

	if (!entry->id || from->start_ticks > DW_TICKS_MAX || from->end_ticks > DW_TICKS_MAX)
		return journal_damaged(file);
	return JOURNAL_APPEND(file, profiles, profile,
	                      (struct dw_read_profile){ entry->id, entry->aux, from->name, from->mask, from->cycle,
	                          from->start_ticks, from->end_ticks });
}

static int journal_take_meta(struct dw_read_file *file, uint32_t process, const struct dw_entry *entry)
{
	const struct dw_entry_meta *from = (const struct dw_entry_meta *)(const void *)entry;

	return JOURNAL_APPEND(file, metas, meta,
	                      (struct dw_read_meta){ process, entry->id, entry->aux, from->flags & DW_META_JSON });
}

static int journal_take_clock(struct dw_read_file *file, const struct dw_entry *entry)
{
	const struct dw_entry_clock *from = (const struct dw_entry_clock *)(const void *)entry;
	struct dw_read_clock clock = { from->ticks, from->monotonic_ns, from->realtime_ns, from->error_ns };

	if (clock.ticks > DW_TICKS_MAX || clock.monotonic_ns > DW_TICKS_MAX)
		return journal_damaged(file);
	if (!file->first_clock.ticks || clock.ticks < file->first_clock.ticks)
		file->first_clock = clock;
	if (!file->last_clock.ticks || clock.ticks > file->last_clock.ticks)
		file->last_clock = clock;
	return JOURNAL_APPEND(file, clocks, clock, clock);
}

static int journal_take_entry(struct dw_read_file *file, struct dw_arena *arena, uint32_t process,
                              const struct dw_entry *entry)
{
	uint32_t type = entry->tag & 0xffff;

	if (journal_has_id(type) && (entry->id >= file->id_count || !entry->id))
		return journal_damaged(file);
	switch (type) {
	case DW_ENTRY_PROCESS: return journal_take_process(file, entry);
	case DW_ENTRY_THREAD: return journal_take_thread(file, arena, entry);
	case DW_ENTRY_STRING: return journal_take_string(file, arena, entry);
	case DW_ENTRY_OP: return journal_take_op(file, entry);
	case DW_ENTRY_SHAPES: return journal_take_shapes(file, arena, entry);
	case DW_ENTRY_FRAME: return journal_take_frame(file, entry);
	case DW_ENTRY_STACK: return journal_take_stack(file, arena, entry);
	case DW_ENTRY_MODULE: return journal_take_module(file, entry);
	case DW_ENTRY_SYMBOL: return journal_take_symbol(file, entry);
	case DW_ENTRY_PROFILE: return journal_take_profile(file, entry);
	case DW_ENTRY_META: return journal_take_meta(file, process, entry);
	case DW_ENTRY_STEP: return journal_take_step(file, entry);
	case DW_ENTRY_STEPS: return journal_take_summary(file, arena, entry);
	case DW_ENTRY_USAGE:
		return entry->aux & DW_USAGE_MACHINE ? journal_take_machine(file, entry) : journal_take_usage(file, entry);
	case DW_ENTRY_WITHDRAWAL: return journal_take_withdrawal(file, entry);
	case DW_ENTRY_PLACE: return journal_take_place(file, entry);
	case DW_ENTRY_CLOCK: return journal_take_clock(file, entry);
	case DW_ENTRY_DEVICE:
	case DW_ENTRY_QUEUE:
	case DW_ENTRY_LAUNCH:
	case DW_ENTRY_DEVICE_CLOCK: return dw_read_device_entry(file, entry);
	default: return 0; /* names of threads follow below; other types are of later versions */
	}
}

/* Called last, because a THREAD_NAME may come before its STRING if journals interleave. */
static int journal_take_name(struct dw_read_file *file, struct dw_arena *arena, uint32_t process,
                             const struct dw_entry *entry)
{
	const char *name;

	if ((entry->tag & 0xffff) != DW_ENTRY_THREAD_NAME || entry->id >= file->id_count)
		return 0;
	name = dw_read_string(file, entry->aux);
	if (name && file->thread_by_id[entry->id] != DW_NO_INDEX)
		file->threads[file->thread_by_id[entry->id]].name = name;
	return 0;
}

int dw_read_journals(struct dw_read_file *file, struct dw_arena *arena, struct dwell_error *error)
{
	journal_each_entry(file, arena, false, journal_count_ids);
	if (journal_make_tables(file) || journal_each_entry(file, arena, true, journal_take_entry) ||
	    journal_each_entry(file, arena, false, journal_take_name) || dw_read_decide_iterations(file))
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading the names in %s", file->path);
	return 0;
}
