/* Processes into which no library of dwell can be loaded; see run_apart.h. */
#include "cli/run_apart.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/preload.h"
#include "dwell/probe.h"
#include "format/keys.h"

#define APART_CPU_NS 50000000u /* of a process, from which on it is looked at */
#define APART_LOOKED 4096u     /* processes; later ones are looked at in place of these */
#define APART_MOST 4u          /* programs that are named */

static pid_t apart_looked[APART_LOOKED]; /* at the place of its number's rest */
static struct apart_program {
	char name[64];
	const char *why;
	unsigned count;
	struct apart_process {
		pid_t pid;
		uint64_t cpu_ns; /* at the last look */
	} last;
	uint64_t cpu_ns; /* of those before the last one */
} apart_programs[APART_MOST];

static void apart_add(pid_t pid, uint64_t cpu_ns, const char *why)
{
	char link[64], path[PATH_MAX];
	const char *name;
	ssize_t length;

	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	length = readlink(link, path, sizeof path - 1);
	if (length <= 0)
		return;
	path[length] = '\0';
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (size_t i = 0; i < APART_MOST; i++) {
		struct apart_program *program = &apart_programs[i];

		if (program->count && strncmp(program->name, name, sizeof program->name - 1) != 0)
			continue;
		snprintf(program->name, sizeof program->name, "%.63s", name);
		program->why = why;
		program->count++;
		program->cpu_ns += program->last.cpu_ns;
		program->last = (struct apart_process){ pid, cpu_ns };
		return;
	}
}

void dw_apart_look(const struct dw_processes *processes)
{
	for (size_t i = 0; i < processes->count; i++) {
		pid_t pid = processes->at[i], *looked = &apart_looked[(unsigned)pid % APART_LOOKED];
		uint64_t cpu_ns = processes->cpu_ns[i];
		const char *why;
		char path[64];

		for (size_t k = 0; k < APART_MOST; k++)
			if (apart_programs[k].last.pid == pid && cpu_ns > apart_programs[k].last.cpu_ns)
				apart_programs[k].last.cpu_ns = cpu_ns;
		if (cpu_ns < APART_CPU_NS || *looked == pid)
			continue;
		*looked = pid;
		snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
		why = dw_preload_process_refusal(path);
		if (why)
			apart_add(pid, cpu_ns, why);
	}
}

void dw_apart_note(const char *program)
{
	char text[2048] = "";
	size_t length = 0;

	if (dw_preload_library_refusal(program))
		return;
	for (size_t i = 0; i < APART_MOST && apart_programs[i].count; i++) {
		const struct apart_program *apart = &apart_programs[i];

		length += (size_t)snprintf(text + length, sizeof text - length, "%s%s (%u process%s, %s of CPU time or more): %s",
		                           i ? "; " : "", apart->name, apart->count, apart->count == 1 ? "" : "es",
		                           dw_text_ns((double)(apart->cpu_ns + apart->last.cpu_ns), " ").at, apart->why);
	}
	if (!length)
		return;
	dw_say("not recorded: %s", text);
	dwell_meta(DW_KEY_APART, text);
}
