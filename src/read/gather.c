/*
 * What stands around a file: others of its run, and its writers, if they live.
 *
 * Called by source.c. A process that cannot reach the run's file writes
 * NAME.HOST.PID.RANDOM.dwell beside it, where NAME is the run's file with or
 * without ".dwell"; the run id in the head decides. Whether a process lives is a
 * question to this machine alone: a pid of another host or another boot is dead
 * to us, and one that started after it should have joined is somebody else's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "read/read.h"

/* ---- files of the same run -------------------------------------------------------- */

static bool of_run(int folder, const char *name, const struct dw_head *main)
{
	struct dw_head head;
	int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool same = file >= 0 && pread(file, &head, sizeof head, 0) == (ssize_t)sizeof head &&
	            memcmp(head.magic, DW_MAGIC, sizeof head.magic) == 0 &&
	            memcmp(head.run_id, main->run_id, sizeof head.run_id) == 0;

	if (file >= 0)
		close(file);
	return same;
}

static bool has_form(const char *name, const char *stem, size_t stem_length, const char *self)
{
	size_t length = strlen(name);

	return length > stem_length + 7 && strncmp(name, stem, stem_length) == 0 &&
	       name[stem_length] == '.' && strcmp(name + length - 6, ".dwell") == 0 &&
	       strcmp(name, self) != 0;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int dw_read_gather(const struct dw_read_file *file, struct dw_arena *arena, const char ***paths,
                   size_t *count, struct dwell_error *error)
{
	static const uint8_t none[16];
	const char *slash = strrchr(file->path, '/');
	const char *name = slash ? slash + 1 : file->path;
	int folder_length = slash ? (int)(slash - file->path) + 1 : 0;
	size_t stem = strlen(name), capacity = 0;
	char *folder = dw_arena_printf(arena, "%.*s.", folder_length, file->path);
	struct dirent *item;
	DIR *directory;

	*paths = NULL;
	*count = 0;
	if (memcmp(file->head->run_id, none, sizeof none) == 0)
		return 0; /* made by hand: no run to belong to */
	if (stem > 6 && strcmp(name + stem - 6, ".dwell") == 0)
		stem -= 6;
	directory = folder ? opendir(folder) : NULL;
	while (directory && (item = readdir(directory))) {
		if (!has_form(item->d_name, name, stem, name) ||
		    !of_run(dirfd(directory), item->d_name, file->head))
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
		(*paths)[*count] =
		    dw_arena_printf(arena, "%.*s%s", folder_length, file->path, item->d_name);
		if (!(*paths)[*count])
			break;
		++*count;
	}
	if (directory)
		closedir(directory);
	if (*count)
		qsort(*paths, *count, sizeof **paths, compare_paths); /* not the directory's order */
	return 0;
}

/* ---- writers that live -------------------------------------------------------------- */

static bool this_machine(const struct dw_head *head)
{
	char host[64] = "", text[40] = "", digits[33];
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	unsigned count = 0;
	ssize_t length;

	gethostname(host, sizeof host - 1);
	if (strncmp(host, head->hostname, sizeof host) != 0 || file < 0) {
		if (file >= 0)
			close(file);
		return false;
	}
	length = read(file, text, sizeof text - 1);
	close(file);
	for (const char *at = text; length > 0 && *at && count < 32; at++)
		if (*at != '-')
			digits[count++] = *at;
	digits[count] = '\0';
	for (unsigned i = 0; i < 16 && count == 32; i++) {
		char byte[3] = { digits[2 * i], digits[2 * i + 1], '\0' };

		if (strtoul(byte, NULL, 16) != head->boot_id[i])
			return false;
	}
	return count == 32;
}

/* When the process that has the pid now began, in ns of the monotonic clock. */
static bool began_at(uint32_t pid, double *monotonic_ns)
{
	char path[32], text[1024], *at;
	unsigned long long ticks;
	struct timespec boot, monotonic;
	int file, field = 2;
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	length = read(file, text, sizeof text - 1);
	close(file);
	if (length <= 0)
		return false;
	text[length] = '\0';
	at = strrchr(text, ')'); /* the name may hold anything; field 3 follows it */
	while (at && *at && field < 22)
		field += *at++ == ' ';
	if (!at || sscanf(at, "%llu", &ticks) != 1)
		return false;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	*monotonic_ns = (double)ticks * 1e9 / (double)sysconf(_SC_CLK_TCK) -
	                (double)(boot.tv_sec - monotonic.tv_sec) * 1e9 -
	                (double)(boot.tv_nsec - monotonic.tv_nsec);
	return true;
}

bool dw_read_process_alive(const struct dw_read_file *file, const struct dw_read_process *process)
{
	double began_ns, joined_ns;

	if (!process->pid || process->pid > INT32_MAX || process->flags & DW_PROCESS_RUNNER ||
	    !this_machine(file->head))
		return false;
	if (kill((pid_t)process->pid, 0) != 0 && errno != EPERM)
		return false;
	joined_ns = (double)file->head->start_monotonic_ns +
	            ((double)process->start_ticks - (double)file->head->start_ticks) *
	                file->ns_per_tick;
	return !began_at(process->pid, &began_ns) || began_ns < joined_ns + 1e9;
}
