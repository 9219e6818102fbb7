/*
 * The processes and threads of a Chrome trace.
 *
 * Called by chrome_host.c for each event, so the thread of the event before is tried first. Only a
 * process or a thread with an event of the host is stored: Kineto also writes devices as processes
 * and their streams as threads, and names eight devices whether they exist or not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/chrome.h"

#define MOST_PROCESSES 4096u
/* Each thread takes at least a page of the image. So the number of threads is limited by the size
 * of the file in KiB. */
#define SPARE_THREADS 4096u
#define BYTES_A_THREAD 1024u
#define MOST_LABELS ((size_t)1 << 20)

bool chrome_owners_init(struct chrome *chrome)
{
	struct chrome_process *process =
	    DW_GROW(&chrome->processes, &chrome->process_capacity, chrome->process_count);

	if (!process)
		return false;
	/* The dictionary needs a journal before the first event; the first process takes it over. */
	chrome->process_count = 1;
	process->first_ns = INT64_MAX;
	dw_encode_process_init(&process->journal, &chrome->encode, 0);
	return true;
}

void chrome_owners_end_file(struct chrome *chrome)
{
	dw_map_reset(&chrome->processes_by_key);
	dw_map_reset(&chrome->threads_by_key);
	dw_map_reset(&chrome->labels_by_key);
	chrome->thread_count = chrome->label_count = 0;
	chrome->last_thread = UINT32_MAX;
}

void chrome_owners_reset(struct chrome *chrome)
{
	chrome_owners_end_file(chrome);
	free(chrome->processes);
	free(chrome->threads);
	free(chrome->labels);
}

uint64_t chrome_key_of(const struct chrome *chrome, const struct chrome_id *id)
{
	if (!id->is_text)
		return (uint64_t)id->number * 2;
	return chrome_hash(chrome->names.seed, id->text.at, id->text.length) | 1;
}

static uint32_t owners_hash(const struct chrome *chrome, uint64_t a, uint64_t b)
{
	const uint64_t key[2] = { a, b };

	return (uint32_t)chrome_hash(chrome->names.seed, key, sizeof key);
}

uint32_t chrome_add_process(struct chrome *chrome, uint64_t key)
{
	struct chrome_process *process = &chrome->processes[0];

	if (chrome->process_used) {
		process = DW_GROW(&chrome->processes, &chrome->process_capacity, chrome->process_count);
		if (!process) {
			chrome->failed = true;
			return 0;
		}
		chrome->process_count++;
		dw_encode_process_init(&process->journal, &chrome->encode, 0);
	}
	chrome->process_used = true;
	process->key = key;
	process->first_ns = INT64_MAX;
	return (uint32_t)(process - chrome->processes);
}

static uint32_t owners_find_process(struct chrome *chrome, const struct chrome_id *pid, uint64_t key)
{
	uint32_t hash = owners_hash(chrome, key, 0), found;
	struct chrome_process *process;

	found = DW_MAP_FIND(&chrome->processes_by_key, hash, i, chrome->processes[i].key == key);
	if (found != DW_MAP_NONE)
		return found;
	if (chrome->process_count >= MOST_PROCESSES)
		return (uint32_t)chrome->process_count - 1;
	found = chrome_add_process(chrome, key);
	process = &chrome->processes[found];
	process->pid = pid->is_text ? 0 : (uint32_t)pid->number;
	process->name = pid->is_text ? chrome_text_of(chrome, &pid->text) : 0;
	chrome->failed |= !dw_map_add(&chrome->processes_by_key, hash, found);
	return found;
}

uint32_t chrome_thread_of(struct chrome *chrome, const struct chrome_event *event)
{
	uint64_t pid = chrome_key_of(chrome, &event->pid), tid = chrome_key_of(chrome, &event->tid);
	struct chrome_thread *thread;
	uint32_t hash, process, found;

	if (chrome->last_thread != UINT32_MAX && pid == chrome->last_process_key &&
	    tid == chrome->last_thread_key)
		return chrome->last_thread;
	hash = owners_hash(chrome, pid, tid + 1);
	process = owners_find_process(chrome, &event->pid, pid);
	found = DW_MAP_FIND(&chrome->threads_by_key, hash, i,
	                    chrome->threads[i].key == tid && chrome->threads[i].process == process);
	if (found == DW_MAP_NONE &&
	    chrome->thread_count >= SPARE_THREADS + chrome_bytes_read(chrome) / BYTES_A_THREAD) {
		chrome_count(chrome, &chrome->threads_dropped);
		return UINT32_MAX;
	}
	if (found == DW_MAP_NONE) {
		thread = DW_GROW(&chrome->threads, &chrome->thread_capacity, chrome->thread_count);
		if (!thread || chrome->failed ||
		    !dw_map_add(&chrome->threads_by_key, hash, (uint32_t)chrome->thread_count)) {
			chrome->failed = true;
			return UINT32_MAX;
		}
		found = (uint32_t)chrome->thread_count++;
		*thread = (struct chrome_thread){ .key = tid, .process = process,
			.tid = event->tid.is_text ? 0 : (uint32_t)event->tid.number,
			.name = event->tid.is_text ? chrome_text_of(chrome, &event->tid.text) : 0 };
	}
	chrome->last_thread = found;
	chrome->last_process_key = pid;
	chrome->last_thread_key = tid;
	return found;
}

/* ---- names ---------------------------------------------------------------------------------- */

static uint32_t owners_find_label(const struct chrome *chrome, uint64_t process, uint64_t thread)
{
	return DW_MAP_FIND(&chrome->labels_by_key, owners_hash(chrome, process, thread), i,
	                   chrome->labels[i].process == process && chrome->labels[i].thread == thread);
}

void chrome_take_metadata(struct chrome *chrome, const struct chrome_event *event)
{
	bool of_thread = DW_JSON_IS(&event->name, "thread_name");
	uint64_t process = chrome_key_of(chrome, &event->pid);
	uint64_t thread = of_thread ? chrome_key_of(chrome, &event->tid) + 1 : 0;
	struct chrome_label *label;
	uint32_t found, name;

	if ((!of_thread && !DW_JSON_IS(&event->name, "process_name")) || !chrome_has(event, CHROME_NAME) ||
	    event->values[CHROME_NAME].kind != CHROME_TEXT || chrome->label_count >= MOST_LABELS)
		return;
	name = chrome_text_of(chrome, &event->values[CHROME_NAME].text);
	found = owners_find_label(chrome, process, thread);
	if (found == DW_MAP_NONE) {
		label = DW_GROW(&chrome->labels, &chrome->label_capacity, chrome->label_count);
		if (!label || !dw_map_add(&chrome->labels_by_key, owners_hash(chrome, process, thread),
		                          (uint32_t)chrome->label_count)) {
			chrome->failed = true;
			return;
		}
		found = (uint32_t)chrome->label_count++;
		*label = (struct chrome_label){ process, thread, 0 };
	}
	chrome->labels[found].name = name;
}

void chrome_owners_finish(struct chrome *chrome)
{
	uint32_t label;

	for (size_t i = 0; i < chrome->thread_count; i++) {
		struct chrome_thread *thread = &chrome->threads[i];

		label = owners_find_label(chrome, chrome->processes[thread->process].key, thread->key + 1);
		if (label != DW_MAP_NONE)
			thread->name = chrome->labels[label].name;
	}
	for (size_t i = chrome->first_process; i < chrome->process_count; i++) {
		struct chrome_process *process = &chrome->processes[i];
		struct dw_entry_process *entry;

		label = owners_find_label(chrome, process->key, 0);
		if (label != DW_MAP_NONE)
			process->name = chrome->labels[label].name;
		entry = dw_encode_process_entry(&process->journal);
		if (!entry)
			return;
		entry->pid = process->pid;
		entry->name = chrome_string(chrome, process->name);
		entry->rank = chrome->rank >= 0 && chrome->rank <= INT32_MAX ? (int32_t)chrome->rank : -1;
		entry->world_size = chrome->world_size > 0 && chrome->world_size <= INT32_MAX
		                        ? (int32_t)chrome->world_size : -1;
		entry->start_ticks = (uint64_t)chrome->first_ns + chrome->offset_ns;
	}
}
