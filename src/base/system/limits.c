/* What the calling process may use of its machine; see limits.h. */
#include "base/system/limits.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUP_BYTES 4096 /* longest path of a control group */

/* Files of a control group, by version: [0] is of version 2, and has "max" if there is no limit. */
static const struct {
	const char *controller;
	const char *limit[2];
	const char *period; /* of version 1; version 2 has it in the same file */
} limits[] = {
	[DW_LIMIT_CPUS] = { "cpu", { "cpu.max", "cpu.cfs_quota_us" }, "cpu.cfs_period_us" },
	[DW_LIMIT_MEMORY] = { "memory", { "memory.max", "memory.limit_in_bytes" }, NULL },
};

/* Reads up to two numbers of a file of a control group; returns how many there are. */
static int limits_read(const char *group, const char *name, double numbers[2])
{
	char path[GROUP_BYTES + 512];
	FILE *file;
	int count;

	snprintf(path, sizeof path, "%s/%s", group, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	count = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
	fclose(file);
	return count;
}

/* The limit of one group; 0: none. */
static double limits_of_one(enum dw_limit limit, bool first_version, const char *group)
{
	double numbers[2], period[2] = { 0, 0 };
	int count = limits_read(group, limits[limit].limit[first_version], numbers);

	if (count < 1 || !(numbers[0] > 0))
		return 0;
	if (limit == DW_LIMIT_MEMORY)
		return numbers[0];
	if (count == 2)
		period[0] = numbers[1];
	else
		limits_read(group, limits[limit].period, period);
	return period[0] > 0 ? numbers[0] / period[0] : 0;
}

/* Whether a list such as "cpu,cpuacct" has a name. */
static bool limits_has(const char *list, size_t length, const char *name)
{
	while (length) {
		size_t part = strcspn(list, ",");

		if (part > length)
			part = length;
		if (part == strlen(name) && memcmp(list, name, part) == 0)
			return true;
		list += part < length ? part + 1 : part;
		length -= part < length ? part + 1 : part;
	}
	return false;
}

/* The smallest limit of a group and of those around it. `path` is the group's folder; its first `root` bytes are
 * where groups are mounted. In a container the folder may be missing, because it is the root there. */
static double limits_of_path(enum dw_limit limit, bool first_version, char *path, size_t root)
{
	double least = 0;

	for (;;) {
		double one = limits_of_one(limit, first_version, path);
		char *parent = strrchr(path + root, '/');

		if (one > 0 && !(least > 0 && least < one))
			least = one;
		if (!parent)
			return least;
		*parent = '\0';
	}
}

/* Reads the next line of /proc/PID/cgroup that names a group with a controller: its folder in `path`, whose first bytes are where
 * groups are mounted. Returns their number; 0: there are no more. */
static size_t limits_next_group(FILE *file, const char *controller, const char *folder, char path[GROUP_BYTES + 256], bool *first_version)
{
	char line[GROUP_BYTES];

	while (file && fgets(line, sizeof line, file)) {
		const char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
		int root;

		*first_version = group && group > list + 1;
		if (!group || (*first_version && !limits_has(list + 1, (size_t)(group - list - 1), controller)))
			continue;
		line[strcspn(line, "\n")] = '\0';
		root = snprintf(path, GROUP_BYTES + 256, "%s%s%s", folder, *first_version ? "/" : "", *first_version ? controller : "");
		if (root <= 0 || root >= GROUP_BYTES + 256)
			continue;
		snprintf(path + root, GROUP_BYTES + 256 - (size_t)root, "%s", group + 1);
		return (size_t)root;
	}
	return 0;
}

double dw_limits_of_groups(enum dw_limit limit, const char *groups, const char *folder)
{
	FILE *file = fopen(groups, "re");
	char path[GROUP_BYTES + 256];
	bool first_version;
	double least = 0;
	size_t root;

	while ((root = limits_next_group(file, limits[limit].controller, folder, path, &first_version)) != 0) {
		double one = limits_of_path(limit, first_version, path, root);

		if (one > 0 && !(least > 0 && least < one))
			least = one;
	}
	if (file)
		fclose(file);
	return least;
}

unsigned dw_limits_cpus(void)
{
	double quota = dw_limits_of_groups(DW_LIMIT_CPUS, "/proc/self/cgroup", "/sys/fs/cgroup");
	unsigned cpus = 1, whole;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
		cpus = (unsigned)CPU_COUNT(&set);
	if (!(quota > 0 && quota < cpus))
		return cpus;
	whole = (unsigned)quota;
	return whole + (whole < quota);
}

double dw_limits_memory(void)
{
	double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	double limit = dw_limits_of_groups(DW_LIMIT_MEMORY, "/proc/self/cgroup", "/sys/fs/cgroup");

	return limit > 0 && limit < memory ? limit : memory;
}

/* The number after `format` in the first line of a file that has one; 0: there is none. */
static unsigned long long limits_read_number(const char *path, const char *format)
{
	unsigned long long number = 0;
	char line[256];
	FILE *file = fopen(path, "re");

	while (file && !number && fgets(line, sizeof line, file))
		if (sscanf(line, format, &number) != 1)
			number = 0;
	if (file)
		fclose(file);
	return number;
}

uint64_t dw_limits_resident(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%u/statm", pid);
	return limits_read_number(path, "%*u %llu") * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t dw_limits_left(uint64_t used)
{
	uint64_t available = limits_read_number("/proc/meminfo", "MemAvailable: %llu") * 1024;
	double limit = dw_limits_of_groups(DW_LIMIT_MEMORY, "/proc/self/cgroup", "/sys/fs/cgroup");

	if (limit > 0 && limit < (double)used + (double)available)
		return limit > (double)used ? (uint64_t)limit - used : 1;
	return available;
}

void dw_limits_count_kills(struct dw_limit_kills *kills, const char *groups, const char *folder)
{
	FILE *file = fopen(groups, "re");
	char path[GROUP_BYTES + 256], events[GROUP_BYTES + 512];
	bool first_version;

	*kills = (struct dw_limit_kills){ 0, limits_read_number("/proc/vmstat", "oom_kill %llu") };
	while (limits_next_group(file, "memory", folder, path, &first_version)) {
		snprintf(events, sizeof events, "%s/%s", path, first_version ? "memory.oom_control" : "memory.events");
		kills->of_group += limits_read_number(events, "oom_kill %llu");
	}
	if (file)
		fclose(file);
}
