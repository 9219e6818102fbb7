/* The nodes of a run as operators; see nodes.h. */
#include "nodes.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dwell/probe.h>

#include "format/keys.h"

#define MOST_OPTIONS 64u /* of the program that are in use */
#define MOST_DEPTH 32u   /* nodes inside nodes: loops and branches */
#define MOST_TENSORS 16u
#define MOST_DIMENSIONS 8u

/* Places in the table. */
enum { CREATE_RUN_OPTIONS = 39, RELEASE_STATUS = 93, RELEASE_RUN_OPTIONS = 97, ENABLE_PROFILING = 415, DISABLE_PROFILING = 416 };

/* ---- the folder of the files ------------------------------------------------------------------------ */

static struct {
	pthread_once_t once;
	char path[256]; /* "": none */
	pid_t process;  /* that made it */
	uint64_t opening; /* ticks that it takes to open a new file there */
} folder = { .once = PTHREAD_ONCE_INIT };

/* The least of several tries: other programs may disturb one. */
static uint64_t nodes_time_opening(void)
{
	char path[sizeof folder.path + 8];
	uint64_t least = UINT64_MAX;

	snprintf(path, sizeof path, "%s/tried", folder.path);
	for (int i = 0; i < 8; i++) {
		uint64_t begun = dwell_device_ticks(), took;
		FILE *file = fopen(path, "w");

		if (!file)
			return 0;
		took = dwell_device_ticks() - begun;
		least = took < least ? took : least;
		fclose(file);
		unlink(path);
	}
	return least;
}

static void nodes_make_folder(void)
{
	static const char *const parents[] = { "/dev/shm", "/tmp" };

	folder.process = getpid();
	for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
		snprintf(folder.path, sizeof folder.path, "%s/dwell-onnx-XXXXXX", parents[i]);
		if (mkdtemp(folder.path)) {
			folder.opening = nodes_time_opening();
			dwell_meta(DW_KEY_ONNX_NODES, "by the profile of each run, which costs 5 us a node inside the run and as "
			                              "much after it (profiler)");
			return;
		}
	}
	folder.path[0] = '\0';
}

/* A run that was cut short may have left a file. */
static __attribute__((destructor)) void nodes_remove_folder(void)
{
	DIR *files = folder.path[0] && folder.process == getpid() ? opendir(folder.path) : NULL;

	if (!files)
		return;
	for (struct dirent *file; (file = readdir(files));)
		unlinkat(dirfd(files), file->d_name, 0);
	closedir(files);
	rmdir(folder.path);
}

/* Opens the file of the calling thread's run and removes it. -1: there is none, or more than one. */
static int nodes_take_file(void)
{
	DIR *files = opendir(folder.path);
	char mine[32];
	int fd = -1;
	size_t length = (size_t)snprintf(mine, sizeof mine, "%ld_", (long)syscall(SYS_gettid));

	for (struct dirent *file; files && (file = readdir(files));) {
		if (strncmp(file->d_name, mine, length) != 0)
			continue;
		if (fd < 0)
			fd = openat(dirfd(files), file->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		unlinkat(dirfd(files), file->d_name, 0);
	}
	if (files)
		closedir(files);
	return fd;
}

/* ---- the library ------------------------------------------------------------------------------------ */

static bool nodes_enable(const dwo_function *table, void *options)
{
	void *(*enable)(void *, const char *), (*release_status)(void *);
	char prefix[sizeof folder.path + 32];
	void *failed;

	*(dwo_function *)&enable = table[ENABLE_PROFILING];
	*(dwo_function *)&release_status = table[RELEASE_STATUS];
	snprintf(prefix, sizeof prefix, "%s/%ld", folder.path, (long)syscall(SYS_gettid));
	failed = enable(options, prefix);
	if (failed)
		release_status(failed);
	return !failed;
}

static void nodes_disable(const dwo_function *table, void *options)
{
	void *(*disable)(void *);

	*(dwo_function *)&disable = table[DISABLE_PROFILING];
	disable(options);
}

static void *nodes_make_options(const dwo_function *table)
{
	void *(*create)(void **), *options = NULL;

	*(dwo_function *)&create = table[CREATE_RUN_OPTIONS];
	return create(&options) ? NULL : options;
}

static void nodes_release_options(const dwo_function *table, void *options)
{
	void (*release)(void *);

	*(dwo_function *)&release = table[RELEASE_RUN_OPTIONS];
	release(options);
}

/* ---- options of the program ------------------------------------------------------------------------- */

/* Options that several runs use at once are not changed: another run may read them now. */
static struct {
	pthread_mutex_t lock;
	struct {
		const void *options;
		unsigned runs;
		bool shared; /* several runs have used them at once */
	} used[MOST_OPTIONS];
} programs = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool nodes_enable_program(const dwo_function *table, void *options)
{
	size_t at = MOST_OPTIONS;
	bool enabled = false;

	pthread_mutex_lock(&programs.lock);
	for (size_t i = 0; i < MOST_OPTIONS; i++)
		if (programs.used[i].options == options || (!programs.used[i].options && at == MOST_OPTIONS))
			at = i;
	if (at < MOST_OPTIONS) {
		programs.used[at].options = options;
		programs.used[at].shared |= programs.used[at].runs++ > 0;
		enabled = !programs.used[at].shared && nodes_enable(table, options);
	}
	pthread_mutex_unlock(&programs.lock);
	return enabled;
}

static void nodes_disable_program(const dwo_function *table, void *options, bool enabled)
{
	pthread_mutex_lock(&programs.lock);
	if (enabled)
		nodes_disable(table, options);
	for (size_t i = 0; i < MOST_OPTIONS; i++)
		if (programs.used[i].options == options && programs.used[i].runs && --programs.used[i].runs == 0 &&
		    !programs.used[i].shared)
			programs.used[i].options = NULL;
	pthread_mutex_unlock(&programs.lock);
}

/* ---- the file --------------------------------------------------------------------------------------- */

/* A line of the file. Texts in it end at its end. */
struct line {
	const char *at, *end;
};

/* What follows `key` in the line; NULL: it is not there. */
static const char *nodes_after(struct line line, const char *key)
{
	size_t length = strlen(key);
	const char *found = memmem(line.at, (size_t)(line.end - line.at), key, length);

	return found ? found + length : NULL;
}

static uint64_t nodes_number(struct line line, const char *key)
{
	const char *at = nodes_after(line, key);
	uint64_t value = 0;

	for (; at && at < line.end && *at >= '0' && *at <= '9' && value < UINT32_MAX * (uint64_t)1000; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

/* Copies the text that follows `key` up to a quote, without `suffix`. */
static bool nodes_text(struct line line, const char *key, const char *suffix, char *to, size_t capacity)
{
	const char *at = nodes_after(line, key), *end = at ? memchr(at, '"', (size_t)(line.end - at)) : NULL;
	size_t length = end ? (size_t)(end - at) : 0, cut = strlen(suffix);

	if (!end || length < cut || memcmp(end - cut, suffix, cut) != 0)
		return false;
	length -= cut;
	length = length < capacity - 1 ? length : capacity - 1;
	memcpy(to, at, length);
	to[length] = '\0';
	return true;
}

static uint8_t nodes_type(const char *name, size_t length)
{
	static const struct {
		const char *name;
		uint8_t type;
	} types[] = {
		{ "float", DWELL_FLOAT32 }, { "double", DWELL_FLOAT64 }, { "float16", DWELL_FLOAT16 },
		{ "bfloat16", DWELL_BFLOAT16 }, { "int64", DWELL_INT64 }, { "int32", DWELL_INT32 }, { "int16", DWELL_INT16 },
		{ "int8", DWELL_INT8 }, { "uint8", DWELL_UINT8 }, { "bool", DWELL_BOOL },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
			return types[i].type;
	return DWELL_DTYPE_OTHER;
}

/* Reads [{"float":[16,256]},{"int64":[]}] into at most MOST_TENSORS tensors; returns how many. */
static unsigned nodes_shapes(struct line line, struct dwell_tensor *tensors, int64_t (*sizes)[MOST_DIMENSIONS])
{
	const char *at = nodes_after(line, "\"input_type_shape\" : [");
	unsigned count = 0;

	while (at && at + 1 < line.end && *at != ']' && count < MOST_TENSORS) {
		const char *type = at + 2, *end = at[0] == '{' && at[1] == '"' ? memchr(type, '"', (size_t)(line.end - type)) : NULL;
		uint8_t dimensions = 0;

		if (!end || line.end - end < 4 || end[2] != '[')
			break;
		for (at = end + 3; at < line.end && *at != ']' && dimensions < MOST_DIMENSIONS; at += *at == ',') {
			int64_t size = 0;
			const char *digits = at;

			for (; at < line.end && *at >= '0' && *at <= '9' && size < INT64_MAX / 100; at++)
				size = size * 10 + (*at - '0');
			if (at == digits)
				return count;
			sizes[count][dimensions++] = size;
		}
		tensors[count] = (struct dwell_tensor){ sizes[count], dimensions, nodes_type(type, (size_t)(end - type)) };
		count++;
		at = at + 2 < line.end ? at + 2 : line.end; /* behind "]}" */
		at += at < line.end && *at == ',';
	}
	return count;
}

struct node {
	uint64_t start_us, end_us, tid;
	uint32_t id;
};

/* Reads the times of an event. False: it is no node. */
static bool nodes_read_line(struct line line, struct node *node)
{
	struct dwell_tensor tensors[MOST_TENSORS];
	int64_t sizes[MOST_TENSORS][MOST_DIMENSIONS];
	char name[256], operator[64];

	node->start_us = nodes_number(line, "\"ts\" :");
	node->end_us = node->start_us + nodes_number(line, "\"dur\" :");
	if (!nodes_text(line, "\"name\" :\"", "_kernel_time", name, sizeof name) ||
	    !nodes_text(line, "\"op_name\" : \"", "", operator, sizeof operator))
		return false;
	node->tid = nodes_number(line, "\"tid\" :");
	node->id = dwell_intern_op(operator, name, tensors, nodes_shapes(line, tensors, sizes));
	return node->id != 0;
}

/* Puts the last node where its start belongs. The file has nodes in the order of their ends: one that contains others comes
 * after them. */
static void nodes_sort_last(struct node *nodes, size_t count)
{
	struct node last = nodes[count - 1];
	size_t at = count - 1;

	for (; at && (nodes[at - 1].start_us > last.start_us ||
	              (nodes[at - 1].start_us == last.start_us && nodes[at - 1].end_us < last.end_us)); at--)
		nodes[at] = nodes[at - 1];
	nodes[at] = last;
}

/* *end_us: of the last event, which is the whole run. */
static size_t nodes_read(const char *text, size_t bytes, struct node *nodes, size_t capacity, uint64_t *end_us)
{
	const char *end = text + bytes;
	size_t count = 0;

	while (text < end && count < capacity) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct line line = { text, stop ? stop : end };
		struct node node;
		bool recorded = nodes_read_line(line, &node);

		*end_us = node.end_us > *end_us ? node.end_us : *end_us;
		if (recorded) {
			nodes[count] = node;
			nodes_sort_last(nodes, ++count);
		}
		text = line.end + 1;
	}
	return count;
}

/* Records the nodes, and counts as lost those that another thread computes at the same time as one of them. The file
 * has whole microseconds, rounded down: half of one is added to each node, as far as the next one permits. */
static void nodes_put(const struct node *nodes, size_t count, uint64_t start, double ticks_of_us, uint64_t now)
{
	struct {
		uint64_t end_us, tid, end;
	} open[MOST_DEPTH] = { { 0, 0, 0 } };
	uint64_t lost = 0;
	unsigned depth = 0;

	for (size_t i = 0; i <= count; i++) {
		uint64_t from_us = i < count ? nodes[i].start_us : UINT64_MAX;
		uint64_t from = i < count ? start + (uint64_t)((double)from_us * ticks_of_us) : UINT64_MAX;

		while (depth && open[depth - 1].end_us <= from_us) {
			depth--;
			dwell_late_put(0, open[depth].end < from ? open[depth].end : from);
		}
		if (i == count || depth == MOST_DEPTH || from > now)
			continue;
		if (depth && open[depth - 1].tid != nodes[i].tid) {
			lost += 2;
			continue;
		}
		open[depth].end_us = nodes[i].end_us;
		open[depth].tid = nodes[i].tid;
		open[depth].end = start + (uint64_t)(((double)nodes[i].end_us + 0.5) * ticks_of_us);
		if (open[depth].end > (depth ? open[depth - 1].end : now))
			open[depth].end = depth ? open[depth - 1].end : now;
		depth++;
		dwell_late_put(nodes[i].id, from);
	}
	if (lost)
		dwell_probe_lost(lost);
}

/* Returns the end of the run, when the library began to write the file. */
static uint64_t nodes_record(int fd, uint64_t start, uint64_t now)
{
	double ticks_of_us = (double)dwell_ticks_of_ms() / 1e3;
	uint64_t end_us = 0, end;
	struct stat file;

	if (fstat(fd, &file) != 0 || file.st_size <= 0)
		return start;
	size_t bytes = (size_t)file.st_size, capacity = bytes / 100 + 1; /* a node has more */
	char *text = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	struct node *nodes = mmap(NULL, capacity * sizeof *nodes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text != MAP_FAILED && nodes != MAP_FAILED)
		nodes_put(nodes, nodes_read(text, bytes, nodes, capacity, &end_us), start, ticks_of_us, now);
	if (text != MAP_FAILED)
		munmap(text, bytes);
	if (nodes != MAP_FAILED)
		munmap(nodes, capacity * sizeof *nodes);
	end = start + (uint64_t)((double)end_us * ticks_of_us);
	return end < now ? end : now;
}

/* ---- around a run ----------------------------------------------------------------------------------- */

bool dwo_nodes_known(const char *version)
{
	char *rest;
	long major = version ? strtol(version, &rest, 10) : 0;

	return major > 1 || (major == 1 && *rest == '.' && strtol(rest + 1, NULL, 10) >= 25);
}

const void *dwo_nodes_begin(struct dwo_nodes *nodes, const dwo_function *table, const void *options)
{
	*nodes = (struct dwo_nodes){ .table = NULL };
	if (!dwell_wants(DWELL_DETAIL_SHAPES) || !table)
		return options;
	pthread_once(&folder.once, nodes_make_folder);
	if (!folder.path[0])
		return options;
	nodes->made = !options;
	nodes->options = options ? (void *)options : nodes_make_options(table);
	if (!nodes->options)
		return options;
	nodes->table = table;
	nodes->enabled = nodes->made ? nodes_enable(table, nodes->options) : nodes_enable_program(table, nodes->options);
	nodes->enabled = nodes->enabled && dwell_late_begin();
	nodes->start = dwell_device_ticks() + folder.opening; /* the file's times are from then on */
	return nodes->options;
}

void dwo_nodes_end(struct dwo_nodes *nodes)
{
	uint64_t now = dwell_device_ticks(), start = nodes->start < now ? nodes->start : now; /* a run may open no file */
	uint32_t profiler;
	int fd;

	if (!nodes->table)
		return;
	if (nodes->made)
		nodes_release_options(nodes->table, nodes->options);
	else
		nodes_disable_program(nodes->table, nodes->options, nodes->enabled);
	if (!nodes->enabled)
		return;
	profiler = dwell_intern(DWELL_CATEGORY_PROFILER, "dwell: nodes of ONNX Runtime", NULL);
	fd = nodes_take_file();
	dwell_late_put(profiler, fd >= 0 ? nodes_record(fd, start, now) : start);
	dwell_late_end();
	dwell_late_put(0, dwell_device_ticks());
	if (fd >= 0)
		close(fd);
}
