/*
 * The trace that a process writes: a shared mapping of a file that begins as traces do.
 *
 * A launcher has no trace of its own, so descendants are searched too, breadth first.
 */
#include <dirent.h>
#include <errno.h>

#include "base/error.h"
#include "base/grow.h"
#include "top/use.h"

struct find {
	uint32_t *pids;        /* the process, then its descendants */
	size_t count, capacity;
	bool denied;           /* the kernel did not show the mappings of one of them */
	bool deleted;          /* one of them writes a trace that has no name any more */
};

static bool find_is_trace(const char *path)
{
	char magic[8];
	FILE *file = fopen(path, "re");
	bool is_trace = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
	                memcmp(magic, DW_MAGIC, sizeof magic) == 0;

	if (file)
		fclose(file);
	return is_trace;
}

/* A line of /proc/PID/maps: "7f..-7f.. rw-s 00000000 fe:00 1234   /path of the file". */
static bool find_in_line(struct find *find, uint32_t pid, char *line, char *path, size_t size)
{
	static const char deleted[] = " (deleted)";
	char *name = strchr(line, '/'), *access = strchr(line, ' ');
	size_t length;

	if (!name || !access || strnlen(access, 5) < 5 || access[4] != 's')
		return false;
	name[strcspn(name, "\n")] = '\0';
	length = strlen(name);
	/* A process in a container has a root of its own. */
	if (snprintf(path, size, "%s", name) < (int)size && find_is_trace(path))
		return true;
	if (snprintf(path, size, "/proc/%u/root%s", pid, name) < (int)size && find_is_trace(path))
		return true;
	if (length > sizeof deleted && strcmp(name + length - sizeof deleted + 1, deleted) == 0) {
		name[length - sizeof deleted + 1] = '\0';
		find->deleted |= length > 16 && strcmp(name + length - sizeof deleted - 5, ".dwell") == 0;
	}
	return false;
}

static bool find_in_process(struct find *find, uint32_t pid, char *path, size_t size)
{
	char maps[40], *line = NULL;
	size_t capacity = 0;
	bool found = false;
	FILE *file;

	snprintf(maps, sizeof maps, "/proc/%u/maps", pid);
	file = fopen(maps, "re");
	while (file && !found && getline(&line, &capacity, file) > 0)
		found = find_in_line(find, pid, line, path, size);
	find->denied |= !file && (errno == EACCES || errno == EPERM);
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool find_add(struct find *find, uint32_t pid)
{
	return DW_APPEND(&find->pids, &find->capacity, &find->count, pid);
}

/* Adds the children of the processes from `from` on. */
static bool find_children(struct find *find, size_t from)
{
	size_t to = find->count;
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	bool good = true;

	while (processes && good && (entry = readdir(processes))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10), parent;

		parent = pid ? dw_top_use_parent(pid) : 0;
		for (size_t i = from; parent && i < to; i++)
			if (find->pids[i] == parent && !dw_top_use_is_witness(pid))
				good = find_add(find, pid);
	}
	if (processes)
		closedir(processes);
	return good;
}

static int find_nothing(const struct find *find, uint32_t pid, struct dwell_error *error)
{
	if (find->denied)
		return dw_error_set(error, DWELL_E_IO,
		                    "process %u belongs to another user: give the path of its trace, or use sudo", pid);
	if (find->deleted)
		return dw_error_set(error, DWELL_E_NO_DATA, "the trace of process %u was deleted", pid);
	return dw_error_set(error, DWELL_E_NO_DATA, "process %u writes no trace: start the program with dwell run", pid);
}

int dw_top_find(uint32_t pid, char *path, size_t size, struct dwell_error *error)
{
	struct find find = { 0 };
	bool found = false, good = find_add(&find, pid);
	int code = 0;

	if (!dw_top_use_parent(pid) && pid != 1)
		code = dw_error_set(error, DWELL_E_NO_DATA, "there is no process %u, and no file of this name", pid);
	for (size_t from = 0; !code && good && !found && from < find.count;) {
		size_t to = find.count;

		for (size_t i = from; i < to && !found; i++)
			found = find_in_process(&find, find.pids[i], path, size);
		if (!found)
			good = find_children(&find, from);
		from = to;
	}
	if (!code && !good)
		code = dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	else if (!code && !found)
		code = find_nothing(&find, pid, error);
	free(find.pids);
	return code;
}

int dw_top_find_processes(uint32_t pid, uint32_t **pids, size_t *count, struct dwell_error *error)
{
	struct find find = { 0 };
	bool good = find_add(&find, pid);

	for (size_t from = 0; good && from < find.count;) {
		size_t to = find.count;

		good = find_children(&find, from);
		from = to;
	}
	if (!good)
		free(find.pids);
	*pids = good ? find.pids : NULL;
	*count = good ? find.count : 0;
	return good ? 0 : dw_error_set(error, DWELL_E_NOMEM, "out of memory");
}
