/* What /proc shows of processes and threads; see proc.h. */
#include "base/system/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void proc_path(uint32_t pid, uint32_t tid, const char *name, char path[64])
{
	if (tid)
		snprintf(path, 64, "/proc/%u/task/%u/%s", pid, tid, name);
	else
		snprintf(path, 64, "/proc/%u/%s", pid, name);
}

ssize_t dw_proc_read(uint32_t pid, uint32_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	text[0] = '\0';
	proc_path(pid, tid, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, size - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got;
}

bool dw_proc_read_link(uint32_t pid, const char *name, char *target, size_t size)
{
	char path[64];
	ssize_t length;

	proc_path(pid, 0, name, path);
	length = readlink(path, target, size - 1);
	target[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* ---- stat -------------------------------------------------------------------------------------- */

uint64_t dw_proc_ns(uint64_t kernel_ticks)
{
	long per_second = sysconf(_SC_CLK_TCK);

	return kernel_ticks * (1000000000u / (uint64_t)(per_second > 0 ? per_second : 100));
}

/* Numbers of fields, as in proc(5). */
enum { STATE = 3, PARENT = 4, USER = 14, SYSTEM = 15, USER_ENDED = 16, SYSTEM_ENDED = 17, THREADS = 20, BIRTH = 22,
       RESIDENT = 24, STACK = 28 };

bool dw_proc_parse_stat(const char *text, struct dw_proc_stat *stat)
{
	const char *begin = strchr(text, '('), *at = strrchr(text, ')'); /* the name may contain any character */
	uint64_t fields[STACK + 1] = { 0 };

	memset(stat, 0, sizeof *stat);
	if (!begin || !at || at < begin || at[1] != ' ' || !at[2])
		return false;
	snprintf(stat->name, sizeof stat->name, "%.*s", (int)(at - begin - 1), begin + 1);
	stat->state = at[2];
	at += 3;
	for (unsigned field = PARENT; field <= STACK; field++) {
		if (*at != ' ')
			return false;
		fields[field] = strtoull(at + 1, NULL, 10);
		at += 1 + strcspn(at + 1, " \n");
	}
	stat->parent = (uint32_t)fields[PARENT];
	stat->cpu_ns = dw_proc_ns(fields[USER] + fields[SYSTEM]);
	stat->ended_ns = dw_proc_ns(fields[USER_ENDED] + fields[SYSTEM_ENDED]);
	stat->threads = fields[THREADS];
	stat->birth = fields[BIRTH];
	stat->resident_pages = fields[RESIDENT];
	stat->stack = fields[STACK];
	return true;
}

bool dw_proc_read_stat(uint32_t pid, uint32_t tid, struct dw_proc_stat *stat)
{
	char text[DW_PROC_STAT_BYTES];

	dw_proc_read(pid, tid, "stat", text, sizeof text);
	return dw_proc_parse_stat(text, stat);
}

/* A process whose first thread has ended is shown as a zombie while others run. Where /proc hides it, a signal that is none finds
 * it. */
bool dw_proc_lives(uint32_t pid)
{
	struct dw_proc_stat stat;

	if (!dw_proc_read_stat(pid, 0, &stat))
		return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
	return (stat.state != 'Z' && stat.state != 'X') || stat.threads > 1;
}

/* ---- other files ------------------------------------------------------------------------------- */

bool dw_proc_read_schedule(uint32_t pid, uint32_t tid, struct dw_proc_schedule *schedule)
{
	unsigned long long cpu_ns, ready_ns, slices;
	char text[128];

	*schedule = (struct dw_proc_schedule){ 0 };
	if (dw_proc_read(pid, tid, "schedstat", text, sizeof text) <= 0 ||
	    sscanf(text, "%llu %llu %llu", &cpu_ns, &ready_ns, &slices) != 3)
		return false;
	*schedule = (struct dw_proc_schedule){ cpu_ns, ready_ns, slices };
	return true;
}

size_t dw_proc_read_command(uint32_t pid, char *text, size_t size, char *words[DW_PROC_WORDS])
{
	ssize_t got = dw_proc_read(pid, 0, "cmdline", text, size);
	size_t count = 0;

	for (ssize_t at = 0; at < got && count < DW_PROC_WORDS - 1; at += (ssize_t)strlen(text + at) + 1)
		words[count++] = text + at;
	words[count] = NULL;
	return got > 0 ? (size_t)got : 0;
}

/* "7f02-7f03 r-xp 014c4000 fe:00 260689   /usr/bin/node" */
static bool proc_parse_mapping(char *line, struct dw_proc_mapping *mapping)
{
	char *at;

	line[strcspn(line, "\n")] = '\0';
	mapping->low = strtoull(line, &at, 16);
	if (*at != '-')
		return false;
	mapping->high = strtoull(at + 1, &at, 16);
	if (*at != ' ' || strcspn(at + 1, " ") != 4)
		return false;
	snprintf(mapping->access, sizeof mapping->access, "%.4s", at + 1);
	mapping->offset = strtoull(at + 5, &at, 16);
	at += strspn(at, " ");
	at += strcspn(at, " "); /* the device */
	mapping->inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	mapping->path = *at == '/' ? at : "";
	return true;
}

int dw_proc_read_maps(uint32_t pid, bool (*take)(void *context, const struct dw_proc_mapping *mapping), void *context)
{
	struct dw_proc_mapping mapping;
	char path[64], *line = NULL;
	size_t capacity = 0;
	FILE *file;
	int error;

	proc_path(pid, 0, "maps", path);
	file = fopen(path, "re");
	if (!file)
		return errno;
	errno = 0;
	while (getline(&line, &capacity, file) > 0)
		if (proc_parse_mapping(line, &mapping) && !take(context, &mapping))
			break;
	error = ferror(file) ? errno : 0;
	free(line);
	fclose(file);
	return error;
}
