/* The processes of a program that runs; see processes.h. */
#include "program/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_THREADS 256u /* of a process; more are not read */

uint64_t dw_processes_ns(unsigned long long kernel_ticks)
{
	static long per_second;

	if (!per_second)
		per_second = sysconf(_SC_CLK_TCK);
	return kernel_ticks * (1000000000u / (uint64_t)(per_second > 0 ? per_second : 100));
}

/* Reads a process. Returns its CPU time and that of its child processes that have ended. */
static uint64_t processes_read_one(struct dw_processes *processes, size_t at)
{
	char path[64], text[1024];
	unsigned long long times[4], birth;
	const char *name_end;
	size_t length;
	FILE *file;

	processes->own_ns[at] = processes->birth[at] = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)processes->at[at]);
	file = fopen(path, "re");
	if (!file)
		return 0;
	length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = '\0';
	name_end = strrchr(text, ')'); /* the name may contain spaces and parentheses */
	if (!name_end || sscanf(name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %*d %*d %llu",
	                        &times[0], &times[1], &times[2], &times[3], &birth) != 5)
		return 0;
	processes->own_ns[at] = dw_processes_ns(times[0] + times[1]);
	processes->birth[at] = birth;
	return dw_processes_ns(times[0] + times[1] + times[2] + times[3]);
}

static void processes_add_children(struct dw_processes *processes, pid_t pid, const char *thread)
{
	char path[320];
	FILE *file;
	int child;

	snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, thread);
	file = fopen(path, "re");
	while (file && processes->count < DW_PROCESSES_MOST && fscanf(file, "%d", &child) == 1)
		processes->at[processes->count++] = (pid_t)child;
	if (file)
		fclose(file);
}

/* Opens the folder of a process's threads. NULL: the process has ended. */
static DIR *processes_open_threads(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	return opendir(path);
}

/* The next thread in a folder of threads, at most MOST_THREADS. NULL: there is none. */
static const char *processes_next_thread(DIR *folder, unsigned *threads)
{
	struct dirent *entry;

	while (*threads < MOST_THREADS && (entry = readdir(folder)))
		if (entry->d_name[0] != '.') {
			++*threads;
			return entry->d_name;
		}
	return NULL;
}

uint64_t dw_processes_read(struct dw_processes *processes, pid_t program)
{
	uint64_t cpu_ns = 0;

	processes->at[0] = program;
	processes->count = 1;
	for (size_t i = 0; i < processes->count; i++) {
		DIR *folder = processes_open_threads(processes->at[i]);
		const char *thread;
		unsigned threads = 0;

		cpu_ns += processes_read_one(processes, i);
		while (folder && (thread = processes_next_thread(folder, &threads)))
			processes_add_children(processes, processes->at[i], thread);
		if (folder)
			closedir(folder);
	}
	return cpu_ns;
}

/* Whether a thread runs or waits for a CPU. `folder` is that of its process's threads. */
static bool processes_is_ready(int folder, const char *thread)
{
	char path[280], text[512];
	const char *name_end;
	ssize_t length;
	int fd;

	snprintf(path, sizeof path, "%s/stat", thread);
	fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, sizeof text - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end && strncmp(name_end, ") R", 3) == 0;
}

/* Adds the CPUs that a thread may use. False: not known. */
static bool processes_add_cpus(const char *thread, cpu_set_t *cpus)
{
	cpu_set_t own;

	if (sched_getaffinity((pid_t)atoi(thread), sizeof own, &own) != 0)
		return false;
	CPU_OR(cpus, cpus, &own);
	return true;
}

unsigned dw_processes_count_ready(const struct dw_processes *processes, unsigned *cpus)
{
	unsigned ready = 0;
	bool known = true;
	cpu_set_t of_all;

	CPU_ZERO(&of_all);

	for (size_t i = 0; i < processes->count; i++) {
		DIR *folder = processes_open_threads(processes->at[i]);
		const char *thread;
		unsigned threads = 0;

		while (folder && (thread = processes_next_thread(folder, &threads)))
			if (processes_is_ready(dirfd(folder), thread)) {
				ready++;
				known &= processes_add_cpus(thread, &of_all);
			}
		if (folder)
			closedir(folder);
	}
	if (ready && known && (unsigned)CPU_COUNT(&of_all) < *cpus)
		*cpus = (unsigned)CPU_COUNT(&of_all);
	return ready;
}
