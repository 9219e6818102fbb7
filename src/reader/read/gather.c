/*
 * Finds other files of a file's run, and whether the processes that wrote to it are alive.
 *
 * Called by source_open.c and processes.c. A process that cannot write to the run's file writes
 * NAME.HOST.PID.RANDOM.dwell in the same folder, where NAME is the run's file with or without
 * ".dwell". A file belongs to the run if its head has the same run id. A process of another boot or
 * another machine counts as dead; for others see base/system/host.h.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/order.h"
#include "base/system/proc.h"
#include "read/read.h"

/* ---- files of the same run -------------------------------------------------------- */

static bool gather_is_of_run(int folder, const char *name, const struct dw_head *main)
{
	struct dw_head head;
	int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool same = file >= 0 && pread(file, &head, sizeof head, 0) == (ssize_t)sizeof head &&
	            (memcmp(head.magic, DW_MAGIC, sizeof head.magic) == 0 || dw_pack_is(&head, sizeof head)) &&
	            memcmp(head.run_id, main->run_id, sizeof head.run_id) == 0;

	if (file >= 0)
		close(file);
	return same;
}

static bool gather_has_form(const char *name, const char *stem, size_t stem_length, const char *self)
{
	size_t length = strlen(name);

	return length > stem_length + 7 && strncmp(name, stem, stem_length) == 0 &&
	       name[stem_length] == '.' && strcmp(name + length - 6, ".dwell") == 0 && strcmp(name, self) != 0;
}

static int gather_compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int dw_read_gather(const struct dw_read_file *file, struct dw_arena *arena, const char ***paths,
                   size_t *count, struct dwell_error *error)
{
	static const uint8_t none[16];
	const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
	int folder_length = slash ? (int)(slash - file->path) + 1 : 0;
	size_t stem = strlen(name), capacity = 0;
	char *folder = dw_arena_printf(arena, "%.*s.", folder_length, file->path);
	struct dirent *item;
	DIR *directory;

	*paths = NULL;
	*count = 0;
	if (memcmp(file->head->run_id, none, sizeof none) == 0)
		return 0; /* made by hand, without a run */
	if (stem > 6 && strcmp(name + stem - 6, ".dwell") == 0)
		stem -= 6;
	directory = folder ? opendir(folder) : NULL;
	while (directory && (item = readdir(directory))) {
		if (!gather_has_form(item->d_name, name, stem, name) ||
		    !gather_is_of_run(dirfd(directory), item->d_name, file->head))
			continue;
		if (*count == capacity) {
			const char **grown = dw_arena_alloc(arena, (capacity * 2 + 16) * sizeof *grown);

			if (!grown)
				break;
			if (*count)
				memcpy(grown, *paths, *count * sizeof *grown);
			*paths = grown;
			capacity = capacity * 2 + 16;
		}
		(*paths)[*count] = dw_arena_printf(arena, "%.*s%s", folder_length, file->path, item->d_name);
		if (!(*paths)[*count])
			break;
		++*count;
	}
	if (directory)
		closedir(directory);
	DW_SORT(*paths, *count, gather_compare_paths); /* readdir() has any order */
	return 0;
}

/* ---- writers that live -------------------------------------------------------------- */

/* Compares boot ids, because containers of one machine have different host names. */
static bool gather_is_this_boot(const struct dw_head *head)
{
	static const uint8_t unknown[sizeof head->boot_id];
	uint8_t boot_id[sizeof head->boot_id];
	char host[sizeof head->hostname] = "";

	if (dw_host_boot_id(boot_id))
		return memcmp(boot_id, head->boot_id, sizeof boot_id) == 0;
	gethostname(host, sizeof host - 1);
	return memcmp(head->boot_id, unknown, sizeof unknown) == 0 && strncmp(host, head->hostname, sizeof host) == 0;
}

/* When the process that now has the pid began, in ns of the monotonic clock. */
static bool gather_began_at(uint32_t pid, double *monotonic_ns)
{
	struct timespec boot, monotonic;
	struct dw_proc_stat stat;

	if (!dw_proc_read_stat(pid, 0, &stat))
		return false;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	*monotonic_ns = (double)stat.birth * 1e9 / (double)sysconf(_SC_CLK_TCK) -
	                (double)(boot.tv_sec - monotonic.tv_sec) * 1e9 - (double)(boot.tv_nsec - monotonic.tv_nsec);
	return true;
}

/* Older traces do not have the time when a process began. If the process that has its pid now began
 * after the trace's process joined the run, it is a different one. */
static bool gather_began_later(const struct dw_read_file *file, const struct dw_read_process *process)
{
	double began_ns, joined_ns;

	joined_ns = (double)file->head->start_monotonic_ns +
	            ((double)process->start_ticks - (double)file->head->start_ticks) * file->ns_per_tick;
	return gather_began_at(process->pid, &began_ns) && began_ns >= joined_ns + 1e9;
}

enum dw_alive dw_read_process_alive(struct dw_read_file *file, const struct dw_read_process *process)
{
	struct dw_identity identity = { process->pid, process->pid_namespace, process->birth };
	enum dw_alive alive;

	if (!process->pid || process->flags & DW_PROCESS_RUNNER || file->foreign ||
	    __atomic_load_n(&file->head->end_blocks, __ATOMIC_RELAXED) || !gather_is_this_boot(file->head))
		return DW_DEAD;
	alive = dw_process_lives(&identity, &file->scans_left);
	if (!identity.pid_namespace)
		return alive == DW_ALIVE && !gather_began_later(file, process) ? DW_ALIVE : DW_DEAD;
	return alive;
}
