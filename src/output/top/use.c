/* What the kernel says about a process; from /proc. */
#include "top/use.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the fields of /proc/PID/stat after the name, which may contain blanks and brackets. The first
 * of them is field 3, the state. */
static bool use_read(uint32_t pid, char *line, size_t size, const char **fields)
{
	char path[40], *end;
	FILE *file;
	size_t length;

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	length = fread(line, 1, size - 1, file);
	fclose(file);
	line[length] = '\0';
	end = strrchr(line, ')');
	*fields = end ? end + 1 : NULL;
	return end != NULL;
}

/* Field number `wanted` of proc(5), from 3 on. */
static uint64_t use_field(const char *fields, unsigned wanted)
{
	for (unsigned i = 3; i < wanted; i++) {
		fields += strspn(fields, " ");
		fields += strcspn(fields, " ");
	}
	return strtoull(fields, NULL, 10);
}

void dw_top_use_add(struct dw_top_use *use, uint32_t pid)
{
	enum { USER = 14, SYSTEM = 15, THREADS = 20, RESIDENT = 24 };
	char line[1024];
	const char *fields;
	long ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);

	if (!use_read(pid, line, sizeof line, &fields) || ticks <= 0)
		return;
	use->processes++;
	use->threads += use_field(fields, THREADS);
	use->cpu_ns += (use_field(fields, USER) + use_field(fields, SYSTEM)) * (1000000000u / (uint64_t)ticks);
	use->resident_bytes += use_field(fields, RESIDENT) * (uint64_t)page;
}

uint32_t dw_top_use_parent(uint32_t pid)
{
	char line[1024];
	const char *fields;

	return use_read(pid, line, sizeof line, &fields) ? (uint32_t)use_field(fields, 4) : 0;
}

bool dw_top_use_is_witness(uint32_t pid)
{
	char line[1024];
	const char *fields;

	return use_read(pid, line, sizeof line, &fields) && strstr(line, "(" DW_TOP_WITNESS ")") != NULL;
}
