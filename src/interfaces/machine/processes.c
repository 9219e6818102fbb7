/* The processes of a program that runs; see processes.h. */
#include "machine/processes.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/system/proc.h"

#define MOST_THREADS 256u /* of a process; more are not read */

/* Reads a process. Returns its CPU time and that of its child processes that have ended. */
static uint64_t processes_read_one(struct dw_processes *processes, size_t at)
{
	struct dw_proc_stat stat;

	dw_proc_read_stat((uint32_t)processes->at[at], 0, &stat);
	processes->own_ns[at] = stat.cpu_ns;
	processes->birth[at] = stat.birth;
	return stat.cpu_ns + stat.ended_ns;
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

/* Whether a thread runs or waits for a CPU. */
static bool processes_is_ready(pid_t pid, const char *thread)
{
	struct dw_proc_stat stat;

	return dw_proc_read_stat((uint32_t)pid, (uint32_t)atoi(thread), &stat) && stat.state == 'R';
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
			if (processes_is_ready(processes->at[i], thread)) {
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
