/*
 * The trace that a process writes: a shared mapping of a file that begins as traces do.
 *
 * A launcher has no trace of its own, so descendants are searched too, breadth first.
 */
#include <dirent.h>
#include <errno.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/system/proc.h"
#include "top/top.h"

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

/* Whether a process has a trace mapped. */
struct find_mapped {
	struct find *find;
	uint32_t pid;
	char *path; /* receives the trace's path */
	size_t size;
	bool found;
};

static bool find_take_mapping(void *context, const struct dw_proc_mapping *mapping)
{
	static const char deleted[] = " (deleted)";
	struct find_mapped *mapped = context;
	size_t length = strlen(mapping->path);

	if (!length || mapping->access[3] != 's')
		return true;
	/* A process in a container has a root of its own. */
	mapped->found = (snprintf(mapped->path, mapped->size, "%s", mapping->path) < (int)mapped->size &&
	                 find_is_trace(mapped->path)) ||
	                (snprintf(mapped->path, mapped->size, "/proc/%u/root%s", mapped->pid, mapping->path) < (int)mapped->size &&
	                 find_is_trace(mapped->path));
	if (!mapped->found && length > 16 && strcmp(mapping->path + length - sizeof deleted + 1, deleted) == 0)
		mapped->find->deleted |= strncmp(mapping->path + length - sizeof deleted - 5, ".dwell", 6) == 0;
	return !mapped->found;
}

static bool find_in_process(struct find *find, uint32_t pid, char *path, size_t size)
{
	struct find_mapped mapped = { find, pid, path, size, false };
	int error = dw_proc_read_maps(pid, find_take_mapping, &mapped);

	find->denied |= error == EACCES || error == EPERM;
	return mapped.found;
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
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		struct dw_proc_stat stat;

		if (!pid || !dw_proc_read_stat(pid, 0, &stat) || !stat.parent || strcmp(stat.name, DW_TOP_WITNESS) == 0)
			continue;
		for (size_t i = from; i < to; i++)
			if (find->pids[i] == stat.parent)
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
	struct dw_proc_stat stat;
	int code = 0;

	if (!dw_proc_read_stat(pid, 0, &stat))
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
