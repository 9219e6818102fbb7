/*
 * Captures of graphs in Chrome traces; see chrome_graphs.h.
 */
#include "import/chrome_graphs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"

#define FOLDER "capture_traces"

void chrome_graphs_reset(struct chrome_graphs *graphs)
{
	for (size_t i = 0; i < graphs->file_count; i++)
		munmap((void *)(uintptr_t)graphs->files[i].file.data, graphs->files[i].file.size_bytes);
	DW_FREE(graphs->works, graphs->made, graphs->captured, graphs->bounds, graphs->all, graphs->launched, graphs->files,
	        graphs->ranges, graphs->nodes);
	*graphs = (struct chrome_graphs){ .launches = 0 };
}

/* ---- what a call is ------------------------------------------------------------------------------- */

/* Whether the call may make a node of a graph that the device works for. */
static bool graphs_makes_node(const struct dw_json_string *name)
{
	return (chrome_name_has(name, "Launch") && !chrome_name_has(name, "LaunchHostFunc")) || chrome_name_has(name, "Memcpy") ||
	       chrome_name_has(name, "Memset");
}

/* ---- the folder ------------------------------------------------------------------------------------ */

/* The path of the folder beside a file. */
static bool graphs_folder(const struct dw_import_file *file, char *path, size_t size)
{
	const char *slash = strrchr(file->path, '/');

	return snprintf(path, size, "%.*s" FOLDER, slash ? (int)(slash + 1 - file->path) : 0, file->path) < (int)size;
}

bool chrome_graphs_wanted(const struct chrome_graphs *graphs, const struct dw_import_file *files, size_t count)
{
	char path[4096];
	struct stat status;

	for (size_t i = 0; i < count; i++) {
		if (!graphs[i].launches)
			continue;
		if (graphs[i].captures ||
		    (graphs_folder(&files[i], path, sizeof path) && stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
			return true;
	}
	return false;
}

static bool graphs_is_trace(const char *name)
{
	size_t length = strlen(name);

	return (length > 5 && strcmp(name + length - 5, ".json") == 0) || (length > 3 && strcmp(name + length - 3, ".gz") == 0);
}

/* Maps a file of the folder. */
static void graphs_map(struct chrome *chrome, const char *folder, const char *name)
{
	struct chrome_graphs *graphs = chrome->graphs;
	const char *path = dw_arena_printf(chrome->arena, "%s/%s", folder, name);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat status;
	void *map = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
		map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return;
	if (!DW_APPEND(&graphs->files, &graphs->file_capacity, &graphs->file_count,
	               (struct chrome_capture_file){ { path, map, (size_t)status.st_size }, strrchr(path, '/') + 1, false })) {
		munmap(map, (size_t)status.st_size);
		graphs->failed = true;
	}
}

DW_ORDER(graphs_compare_files, struct chrome_capture_file, DW_TEXT(name))

static void graphs_open_folder(struct chrome *chrome, const struct dw_import_file *file)
{
	struct chrome_graphs *graphs = chrome->graphs;
	char path[4096];
	DIR *folder = graphs_folder(file, path, sizeof path) ? opendir(path) : NULL;
	struct dirent *entry;

	while (folder && graphs->file_count < CHROME_MOST_CAPTURE_FILES && (entry = readdir(folder)))
		if (graphs_is_trace(entry->d_name))
			graphs_map(chrome, path, entry->d_name);
	if (folder)
		closedir(folder);
	DW_SORT(graphs->files, graphs->file_count, graphs_compare_files);
}

/* ---- collecting ------------------------------------------------------------------------------------- */

static void graphs_take_work(struct chrome *chrome, const struct chrome_event *event)
{
	struct chrome_graphs *graphs = chrome->graphs;
	struct chrome_work work = { .correlation = chrome_unsigned(event, CHROME_CORRELATION, 0), .start_ns = event->start_ns,
		.stream = chrome_stream_of(event), .name = chrome_hash(graphs->seed, event->name.at, event->name.length) };

	/* Drivers of AMD copy and set by kernels. */
	work.kind = event->category == CHROME_IS_COPY || chrome_name_has(&event->name, "rocclr_copyBuffer") ? CHROME_WORK_COPY
	            : event->category == CHROME_IS_SET || chrome_name_has(&event->name, "rocclr_fillBuffer") ? CHROME_WORK_SET
	                                                                                               : CHROME_WORK_KERNEL;
	if (work.correlation)
		graphs->failed |= !DW_APPEND(&graphs->works, &graphs->work_capacity, &graphs->work_count, work);
}

static void graphs_take_launch(struct chrome *chrome, const struct chrome_event *event)
{
	struct chrome_graphs *graphs = chrome->graphs;
	struct chrome_graph_launch launch = { chrome_unsigned(event, CHROME_CORRELATION, 0), event->start_ns, event->pid };

	if (graphs->file)
		return;
	if (launch.pid.is_text) /* it is in the window */
		launch.pid.text.at = dw_arena_text(chrome->arena, launch.pid.text.at, launch.pid.text.length);
	graphs->failed |= (launch.pid.is_text && !launch.pid.text.at) ||
	                  !DW_APPEND(&graphs->launched, &graphs->launched_capacity, &graphs->launched_count, launch);
}

static void graphs_take_call(struct chrome *chrome, const struct chrome_event *event)
{
	struct chrome_graphs *graphs = chrome->graphs;
	const struct chrome_value *kernel = &event->values[CHROME_KERNEL];
	struct chrome_captured made = { .correlation = chrome_unsigned(event, CHROME_CORRELATION, 0), .start_ns = event->start_ns,
		.pid = chrome_key_of(chrome, &event->pid), .tid = chrome_key_of(chrome, &event->tid) };

	if (chrome_name_has(&event->name, "GraphLaunch")) {
		graphs_take_launch(chrome, event);
	} else if (chrome_name_has(&event->name, "StreamBeginCapture")) {
		graphs->failed |= !DW_APPEND(&graphs->bounds, &graphs->bound_capacity, &graphs->bound_count,
		                             (struct chrome_bound){ event->start_ns + event->length_ns, true });
	} else if (chrome_name_has(&event->name, "StreamEndCapture")) {
		graphs->failed |= !DW_APPEND(&graphs->bounds, &graphs->bound_capacity, &graphs->bound_count,
		                             (struct chrome_bound){ event->start_ns, false });
	} else if (graphs_makes_node(&event->name)) {
		made.kind = chrome_name_has(&event->name, "Memcpy") ? CHROME_WORK_COPY
		            : chrome_name_has(&event->name, "Memset") ? CHROME_WORK_SET : CHROME_WORK_KERNEL;
		if (chrome_has(event, CHROME_KERNEL) && kernel->kind == CHROME_TEXT)
			made.name = chrome_hash(graphs->seed, kernel->text.at, kernel->text.length);
		graphs->failed |= !DW_APPEND(&graphs->made, &graphs->made_capacity, &graphs->made_count, made);
	}
}

DW_ORDER(graphs_compare_works, struct chrome_work, DW_UP(correlation) DW_UP(start_ns) DW_UP(stream))
DW_ORDER(graphs_compare_made, struct chrome_captured, DW_UP(start_ns) DW_UP(tid))
DW_ORDER(graphs_compare_launches, struct chrome_graph_launch, DW_UP(correlation) DW_UP(start_ns))
DW_ORDER(graphs_compare_bounds, struct chrome_bound, DW_UP(ns) DW_UP(begins))

/* A call in a capture that has an event of its own worked outside of the capture. */
static void graphs_add_capture(struct chrome_graphs *graphs, int64_t begin_ns, int64_t end_ns)
{
	struct chrome_capture capture = { begin_ns, end_ns, graphs->file, graphs->captured_count, 0, false, false };

	for (size_t i = DW_FIRST(m, 0, graphs->made_count, graphs->made[m].start_ns >= begin_ns);
	     i < graphs->made_count && graphs->made[i].start_ns < end_ns; i++) {
		size_t work = chrome_graphs_first_work(graphs, graphs->made[i].correlation);

		if (!graphs->made[i].correlation || work == graphs->work_count ||
		    graphs->works[work].correlation != graphs->made[i].correlation)
			graphs->failed |=
				!DW_APPEND(&graphs->captured, &graphs->captured_capacity, &graphs->captured_count, graphs->made[i]);
	}
	capture.count = graphs->captured_count - capture.first;
	for (size_t i = capture.first; i < graphs->captured_count; i++)
		capture.unnamed |= graphs->captured[i].kind == CHROME_WORK_KERNEL && !graphs->captured[i].name;
	if (capture.count)
		graphs->failed |= !DW_APPEND(&graphs->all, &graphs->all_capacity, &graphs->all_count, capture);
}

/* Keeps the events of graphs. */
static void graphs_keep_works(struct chrome_graphs *graphs)
{
	size_t count = 0;

	DW_SORT(graphs->launched, graphs->launched_count, graphs_compare_launches);
	for (size_t i = 0; i < graphs->work_count; i++) {
		uint64_t id = graphs->works[i].correlation;
		size_t launch = DW_FIRST(l, 0, graphs->launched_count, graphs->launched[l].correlation >= id);

		if (launch < graphs->launched_count && graphs->launched[launch].correlation == id)
			graphs->works[count++] = graphs->works[i];
	}
	graphs->work_count = count;
}

static void graphs_collect_file(struct chrome *chrome, const struct dw_import_file *file)
{
	struct chrome_graphs *graphs = chrome->graphs;
	struct chrome_work *own = graphs->works;
	size_t own_count = graphs->work_count, own_capacity = graphs->work_capacity;

	graphs->works = NULL;
	graphs->work_count = graphs->work_capacity = graphs->made_count = graphs->bound_count = 0;
	if (!graphs->read(chrome, file))
		graphs->unread = dw_arena_printf(chrome->arena, "%s%s%s", graphs->unread ? graphs->unread : "", graphs->unread ? ", " : "",
		                                 graphs->file ? graphs->files[graphs->file - 1].name : file->path);
	DW_SORT(graphs->works, graphs->work_count, graphs_compare_works);
	DW_SORT(graphs->made, graphs->made_count, graphs_compare_made);
	DW_SORT(graphs->bounds, graphs->bound_count, graphs_compare_bounds);
	for (size_t i = 0; i + 1 < graphs->bound_count; i++)
		if (graphs->bounds[i].begins && !graphs->bounds[i + 1].begins)
			graphs_add_capture(graphs, graphs->bounds[i].ns, graphs->bounds[i + 1].ns);
	if (!graphs->file) {
		graphs_keep_works(graphs);
		return;
	}
	free(graphs->works);
	graphs->works = own;
	graphs->work_count = own_count;
	graphs->work_capacity = own_capacity;
}

void chrome_graphs_collect(struct chrome *chrome, const struct dw_import_file *file,
                           bool (*read)(struct chrome *, const struct dw_import_file *))
{
	struct chrome_graphs *graphs = chrome->graphs;

	if (!graphs->launches)
		return;
	graphs->read = read;
	graphs->seed = chrome->names.seed;
	graphs_collect_file(chrome, file);
	graphs_open_folder(chrome, file);
	for (size_t i = 0; i < graphs->file_count && !graphs->failed; i++) {
		graphs->file = (uint32_t)i + 1;
		graphs_collect_file(chrome, &graphs->files[i].file);
	}
	if (!graphs->failed)
		chrome_graphs_match(graphs);
	graphs->compared = graphs->all_count;
	graphs->all_count = 0;
	for (size_t i = 0; i < graphs->compared; i++) {
		if (!graphs->all[i].used)
			continue;
		graphs->all[graphs->all_count++] = graphs->all[i];
		if (graphs->all[i].file)
			graphs->files[graphs->all[i].file - 1].used = true;
	}
}

/* ---- ranges of another file ------------------------------------------------------------------------- */

/* Whether the event is in a capture of the file that some launch is of, or around it. */
static bool graphs_at_capture(const struct chrome_graphs *graphs, int64_t start_ns, int64_t end_ns)
{
	size_t found = DW_FIRST(i, 0, graphs->all_count, graphs->all[i].file > graphs->file ||
	                                                     (graphs->all[i].file == graphs->file && graphs->all[i].end_ns > start_ns));

	return found < graphs->all_count && graphs->all[found].file == graphs->file && graphs->all[found].begin_ns < end_ns;
}

/* The event as one of the process that launches the graphs, in a thread named after the captured one. */
static void graphs_move(const struct chrome *chrome, uint64_t tid, struct chrome_event *event)
{
	struct chrome_graphs *graphs = chrome->graphs;

	if (!graphs->moved_name || graphs->moved_tid != tid)
		graphs->moved_name = dw_arena_printf(chrome->arena, "captured graphs, in order without times (%s, thread %lld)",
		                                     graphs->files[graphs->file - 1].name, (long long)tid / 2);
	graphs->moved_tid = tid;
	graphs->failed |= !graphs->moved_name;
	event->pid = graphs->launched[0].pid;
	event->tid = (struct chrome_id){ true, true, 0, { graphs->moved_name, 0, false } };
	event->tid.text.length = graphs->moved_name ? (uint32_t)strlen(graphs->moved_name) : 0;
}

static void graphs_take_range(struct chrome *chrome, const struct chrome_event *event)
{
	struct chrome_event moved;

	if (event->phase != 'X' || !event->has_start ||
	    !graphs_at_capture(chrome->graphs, event->start_ns, event->start_ns + event->length_ns))
		return;
	if (event->category > CHROME_IS_PYTHON && event->category != CHROME_IS_COMMUNICATION)
		return;
	moved = *event;
	graphs_move(chrome, chrome_key_of(chrome, &event->tid), &moved);
	chrome_take_range(chrome, &moved);
}

void chrome_graphs_take(struct chrome *chrome, const struct chrome_event *event)
{
	if (chrome->graphs->places)
		graphs_take_range(chrome, event);
	else if (event->phase != 'X' || !event->has_start)
		return;
	else if (event->category == CHROME_IS_KERNEL || event->category == CHROME_IS_COPY || event->category == CHROME_IS_SET)
		graphs_take_work(chrome, event);
	else if (event->category == CHROME_IS_RUNTIME)
		graphs_take_call(chrome, event);
}

DW_ORDER(graphs_compare_ranges, struct dw_sort_event, DW_UP(thread) DW_UP(start_ns) DW_DOWN(length_ns))
DW_ORDER(graphs_compare_nodes, struct chrome_node, DW_UP(thread) DW_UP(made_ns) DW_UP(node))

/* The ranges that are open while a thread is gone through. */
struct graphs_sweep {
	struct chrome *chrome;
	struct dw_sort_event *ranges;
	int64_t *begins;      /* by range: its place in the order; -1: no node is in it */
	uint32_t *open;
	size_t open_count;
	int64_t at;           /* the next place */
	int64_t capture_ns, capture_at; /* the begin of the capture of the node before, and its place */
};

/* Ends the ranges that end at `ns` or before. Those with a node in them are added to the list of the file. */
static void graphs_close(struct graphs_sweep *sweep, int64_t ns)
{
	while (sweep->open_count) {
		uint32_t range = sweep->open[sweep->open_count - 1];
		struct dw_sort_event item = sweep->ranges[range];

		if (item.start_ns + (int64_t)item.length_ns > ns)
			return;
		sweep->open_count--;
		if (sweep->begins[range] < 0)
			continue;
		item.start_ns = sweep->chrome->first_ns + sweep->begins[range];
		item.length_ns = (uint64_t)(sweep->at++ - sweep->begins[range]);
		dw_sort_add(&sweep->chrome->sort, &item);
	}
}

/* Gives a node a place in the order, and before it those of its ranges that have none: the ranges around the capture, the begin of
 * the capture, and the ranges in it. */
static void graphs_place(struct graphs_sweep *sweep, struct chrome_node *node)
{
	size_t o = 0;

	for (; o < sweep->open_count && sweep->ranges[sweep->open[o]].start_ns < node->begin_ns; o++)
		if (sweep->begins[sweep->open[o]] < 0)
			sweep->begins[sweep->open[o]] = sweep->at++;
	if (sweep->capture_ns != node->begin_ns) {
		sweep->capture_ns = node->begin_ns;
		sweep->capture_at = sweep->at++;
	}
	for (; o < sweep->open_count; o++)
		if (sweep->begins[sweep->open[o]] < 0)
			sweep->begins[sweep->open[o]] = sweep->at++;
	node->begin_ns = sweep->chrome->first_ns + sweep->capture_at;
	node->made_ns = sweep->chrome->first_ns + sweep->at++;
}

/* Gives the ranges around nodes, and nodes, their places in the order. */
static void graphs_sweep_file(struct chrome *chrome, struct graphs_sweep *sweep, struct chrome_node *nodes, size_t node_count)
{
	const struct chrome_graphs *graphs = chrome->graphs;
	uint32_t thread = UINT32_MAX;
	size_t range = 0;

	for (size_t i = 0; i <= node_count; i++) {
		bool same = i < node_count && nodes[i].thread == thread;

		for (; same && range < graphs->range_count && graphs->ranges[range].thread == thread &&
		       graphs->ranges[range].start_ns <= nodes[i].made_ns; range++) {
			graphs_close(sweep, graphs->ranges[range].start_ns);
			sweep->open[sweep->open_count++] = (uint32_t)range;
		}
		graphs_close(sweep, same ? nodes[i].made_ns : INT64_MAX);
		if (i == node_count)
			return;
		if (!same) {
			thread = nodes[i--].thread; /* once more, as one of this thread */
			sweep->at = 0;
			sweep->capture_ns = INT64_MIN;
			range = DW_FIRST(r, 0, graphs->range_count, graphs->ranges[r].thread >= thread);
			continue;
		}
		graphs_place(sweep, &nodes[i]);
	}
}

/* Adds the captured calls of a file as nodes. `thread_of` finds the thread of one. */
static void graphs_add_nodes(struct chrome *chrome, uint32_t file, uint32_t (*thread_of)(struct chrome *, const struct chrome_captured *))
{
	struct chrome_graphs *graphs = chrome->graphs;

	for (size_t i = 0; i < graphs->all_count; i++)
		for (size_t c = graphs->all[i].first; graphs->all[i].file == file && c < graphs->all[i].first + graphs->all[i].count; c++) {
			struct chrome_node node = { c + 1, graphs->all[i].begin_ns, graphs->captured[c].start_ns,
				thread_of(chrome, &graphs->captured[c]) };

			if (node.thread != UINT32_MAX)
				graphs->failed |= !DW_APPEND(&graphs->nodes, &graphs->node_capacity, &graphs->node_count, node);
		}
}

static uint32_t graphs_moved_thread(struct chrome *chrome, const struct chrome_captured *captured)
{
	struct chrome_event event = { .phase = 'X' };

	graphs_move(chrome, captured->tid, &event);
	return chrome_thread_of(chrome, &event);
}

static uint32_t graphs_own_thread(struct chrome *chrome, const struct chrome_captured *captured)
{
	struct chrome_event event = { .phase = 'X', .pid = { .given = true, .number = (int64_t)captured->pid / 2 },
		.tid = { .given = true, .number = (int64_t)captured->tid / 2 } };

	return captured->pid % 2 || captured->tid % 2 ? UINT32_MAX : chrome_thread_of(chrome, &event);
}

static void graphs_read_file(struct chrome *chrome, uint32_t file)
{
	struct chrome_graphs *graphs = chrome->graphs;
	struct graphs_sweep sweep = { .chrome = chrome };
	size_t first = graphs->node_count;

	graphs->file = file;
	graphs->moved_name = NULL;
	graphs->range_count = 0;
	graphs->places = true;
	graphs->read(chrome, &graphs->files[file - 1].file);
	graphs->places = false;
	graphs_add_nodes(chrome, file, graphs_moved_thread);
	DW_SORT(graphs->ranges, graphs->range_count, graphs_compare_ranges);
	DW_SORT(graphs->nodes + first, graphs->node_count - first, graphs_compare_nodes);
	sweep.ranges = graphs->ranges;
	sweep.begins = malloc((graphs->range_count + 1) * sizeof *sweep.begins);
	sweep.open = malloc((graphs->range_count + 1) * sizeof *sweep.open);
	graphs->failed |= !sweep.begins || !sweep.open;
	for (size_t i = 0; sweep.begins && i < graphs->range_count; i++)
		sweep.begins[i] = -1;
	if (!graphs->failed)
		graphs_sweep_file(chrome, &sweep, graphs->nodes + first, graphs->node_count - first);
	free(sweep.begins);
	free(sweep.open);
}

void chrome_graphs_read_ranges(struct chrome *chrome)
{
	struct chrome_graphs *graphs = chrome->graphs;

	if (!graphs || !graphs->matched)
		return;
	graphs_add_nodes(chrome, 0, graphs_own_thread);
	for (size_t i = 0; i < graphs->file_count && !graphs->failed; i++)
		if (graphs->files[i].used)
			graphs_read_file(chrome, (uint32_t)i + 1);
	chrome->failed |= graphs->failed;
}

void chrome_graphs_put(struct chrome *chrome)
{
	for (size_t i = 0; chrome->graphs && i < chrome->graphs->node_count; i++)
		chrome_put_node(chrome, &chrome->graphs->nodes[i]);
}

/* ---- what is said ------------------------------------------------------------------------------------ */

/* The files that captures are in. */
static const char *graphs_sources(struct chrome *chrome)
{
	const struct chrome_graphs *graphs = chrome->graphs;
	const char *text = graphs->all_count && !graphs->all[0].file ? "this file" : "";

	for (size_t i = 0; i < graphs->file_count && text; i++)
		if (graphs->files[i].used)
			text = dw_arena_printf(chrome->arena, "%s%s" FOLDER "/%s", text, *text ? ", " : "", graphs->files[i].name);
	return text ? text : "?";
}

const char *chrome_graphs_note(struct chrome *chrome, const char *note)
{
	const struct chrome_graphs *graphs = chrome->graphs;
	struct dw_import_result all = { .note = note };

	if (!graphs || !graphs->matched)
		return note;
	if (graphs->unread)
		dw_import_note(&all, chrome->arena, 1,
		               dw_arena_printf(chrome->arena, "or more files of " FOLDER " are no traces of Kineto: %s", graphs->unread));
	dw_import_note(&all, chrome->arena, graphs->joined,
	               dw_arena_printf(chrome->arena, "launches of graphs: their work belongs to the ranges of their captures, in %s%s",
	                               graphs_sources(chrome), !graphs->unnamed ? "" : ", by the number and order of calls alone, "
	                                                                               "because these have no names of kernels"));
	if (!graphs->compared)
		dw_import_note(&all, chrome->arena, graphs->launched_count, "launches of graphs: no capture is in " FOLDER
		               ", so their work belongs to the launches");
	else
		dw_import_note(&all, chrome->arena, graphs->without,
		               dw_arena_printf(chrome->arena, "launches of graphs fit no capture, so their work belongs to the launches "
		                               "(the first has %zu kernels, copies and sets; %zu captures were compared)",
		                               graphs->without_works, graphs->compared));
	return all.note;
}
