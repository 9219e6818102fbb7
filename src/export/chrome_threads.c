/*
 * Names and order of processes and threads, and the numbers by which events refer to
 * them.
 *
 * Called by chrome.c and perfetto.c, once each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "export/chrome.h"

/* The second user of a pid gets it with 1 in front, as it were: pids have at most
 * seven digits. Hosts and containers count alike, and exec keeps the pid. */
#define AGAIN 10000000u
#define MOST_AGAIN 99u
#define NESTED_AGAIN 100u /* + this much: the signal handlers of a thread */

struct number {
	uint32_t process, number, index;
};

static int compare_numbers(const void *left, const void *right)
{
	const struct number *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts and tells how often the number at `i` was there before, in its process. */
static uint64_t again(const struct number *numbers, size_t i, uint64_t before)
{
	bool same = i && numbers[i].process == numbers[i - 1].process &&
	            numbers[i].number == numbers[i - 1].number;

	/* so many threads of one tid are the kernel's reuse, and never overlap */
	return !same ? 0 : before < MOST_AGAIN ? before + 1 : before;
}

static void number_processes(struct dw_chrome *chrome, struct number *numbers)
{
	const struct dw_source *source = chrome->source;
	uint64_t times = 0;

	for (uint32_t i = 0; i < source->process_count; i++)
		numbers[i] = (struct number){ 0, source->processes[i].pid, i };
	qsort(numbers, source->process_count, sizeof *numbers, compare_numbers);
	for (size_t i = 0; i < source->process_count; i++) {
		/* processes beside each other do overlap: their times have no limit */
		times = i && numbers[i].number == numbers[i - 1].number ? times + 1 : 0;
		chrome->pids[numbers[i].index] = numbers[i].number + times * AGAIN;
	}
}

static void number_threads(struct dw_chrome *chrome, struct number *numbers)
{
	const struct dw_source *source = chrome->source;
	uint64_t times = 0;

	for (uint32_t i = 0; i < source->thread_count; i++)
		numbers[i] = (struct number){ source->threads[i].process, source->threads[i].tid, i };
	qsort(numbers, source->thread_count, sizeof *numbers, compare_numbers);
	for (size_t i = 0; i < source->thread_count; i++) {
		const struct number *number = &numbers[i];

		times = again(numbers, i, times);
		for (uint32_t nested = 0; nested < 2; nested++) {
			struct dw_chrome_track *track = &chrome->tracks[number->index * 2 + nested];

			track->pid = chrome->pids[number->process];
			track->tid = number->number + (times + nested * NESTED_AGAIN) * AGAIN;
			track->length = (uint32_t)snprintf(
				track->text, sizeof track->text,
				",\"pid\":%llu,\"tid\":%llu,\"ts\":", (unsigned long long)track->pid,
				(unsigned long long)track->tid);
		}
	}
}

int dw_chrome_tracks_make(struct dw_chrome *chrome)
{
	size_t most = chrome->source->process_count > chrome->source->thread_count
	                  ? chrome->source->process_count
	                  : chrome->source->thread_count;
	struct number *numbers = calloc(most + 1, sizeof *numbers);

	chrome->pids = calloc(chrome->source->process_count + 1, sizeof *chrome->pids);
	chrome->tracks = calloc(chrome->source->thread_count * 2 + 1, sizeof *chrome->tracks);
	if (numbers && chrome->pids && chrome->tracks) {
		number_processes(chrome, numbers);
		number_threads(chrome, numbers);
		free(numbers);
		return 0;
	}
	free(numbers);
	return -1;
}

/* ---- names and order of processes and threads --------------------------------------- */

static void write_fact(struct dw_chrome *chrome, const char *what, const struct dw_chrome_track *at,
                       bool of_thread, const char *name, uint64_t sort_index)
{
	bool labels = strcmp(what, "process_labels") == 0;
	struct dw_writer_out *out = chrome->out;

	dw_chrome_begin(chrome, 'M');
	dw_out_text(out, ",\"name\":\"");
	dw_out_text(out, what);
	dw_out_text(out, "\",\"pid\":");
	dw_out_u64(out, at->pid);
	dw_out_text(out, ",\"tid\":");
	dw_out_u64(out, of_thread ? at->tid : 0);
	dw_out_text(out, ",\"ts\":0,\"args\":{\"");
	dw_out_text(out, labels ? "labels" : name ? "name" : "sort_index");
	dw_out_text(out, "\":");
	if (name)
		dw_out_string(out, name);
	else
		dw_out_u64(out, sort_index);
	dw_out_text(out, "}}");
}

/* Ranks in their order, each with the processes it made, then who has none. */
static uint64_t sort_index_of(const struct dw_source *source, uint32_t index)
{
	uint32_t at = index;

	for (size_t hops = 0; at != DW_NO_INDEX && hops <= source->process_count; hops++) {
		if (source->processes[at].rank >= 0)
			return (uint64_t)(source->processes[at].rank % 100000) * 10000 + index % 10000;
		at = source->processes[at].parent;
	}
	return 1000000000 + index;
}

static void write_process_facts(struct dw_chrome *chrome, uint32_t index)
{
	const struct dw_source_process *process = &chrome->source->processes[index];
	const struct dw_chrome_track at = { .pid = chrome->pids[index] };
	char name[128];

	if (process->rank >= 0)
		snprintf(name, sizeof name, "rank %d: %.100s", (int)process->rank, process->label);
	else
		snprintf(name, sizeof name, "%.100s", process->label);
	write_fact(chrome, "process_name", &at, false, name, 0);
	write_fact(chrome, "process_labels", &at, false, "CPU", 0);
	write_fact(chrome, "process_sort_index", &at, false, NULL,
	           sort_index_of(chrome->source, index));
}

bool dw_chrome_is_silent(const struct dw_source *source, uint32_t process)
{
	if (!(source->processes[process].flags & DW_PROCESS_RUNNER))
		return false;
	for (size_t i = 0; i < source->stream_count; i++)
		if (source->streams[i].process == process)
			return false;
	return true;
}

/* Instants for the whole trace, on the first thread that has a track. */
static void write_instant(struct dw_chrome *chrome, const char *name, uint64_t ns)
{
	for (uint32_t i = 0; i < chrome->source->thread_count; i++) {
		if (dw_chrome_is_silent(chrome->source, chrome->source->threads[i].process))
			continue;
		dw_chrome_begin(chrome, 'i');
		dw_out_text(chrome->out, ",\"s\":\"g\",\"name\":\"");
		dw_out_text(chrome->out, name);
		dw_out_text(chrome->out, "\"");
		dw_chrome_place(chrome, i * 2, ns);
		dw_out_text(chrome->out, "}");
		return;
	}
}

void dw_chrome_window_end(struct dw_chrome *chrome)
{
	write_instant(chrome, "Record Window End", chrome->source->end_ns);
}

void dw_chrome_threads(struct dw_chrome *chrome)
{
	const struct dw_source *source = chrome->source;

	for (uint32_t i = 0; i < source->process_count; i++)
		if (!dw_chrome_is_silent(source, i))
			write_process_facts(chrome, i);
	for (uint32_t i = 0; i < source->thread_count; i++) {
		const struct dw_chrome_track *track = &chrome->tracks[i * 2];

		if (dw_chrome_is_silent(source, source->threads[i].process))
			continue;
		write_fact(chrome, "thread_name", track, true, source->threads[i].name, 0);
		write_fact(chrome, "thread_sort_index", track, true, NULL, i * 2);
	}
	write_instant(chrome, "Iteration Start: PyTorch Profiler", 0);
}

void dw_chrome_name_nested(struct dw_chrome *chrome, uint32_t thread)
{
	struct dw_chrome_track *track = &chrome->tracks[thread * 2 + 1];
	char name[256];

	if (track->named)
		return;
	track->named = true;
	snprintf(name, sizeof name, "%.200s (signal handlers)", chrome->source->threads[thread].name);
	write_fact(chrome, "thread_name", track, true, name, 0);
	write_fact(chrome, "thread_sort_index", track, true, NULL, thread * 2 + 1);
}
