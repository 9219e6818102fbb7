/* Where a process that runs announces the names of code that it made; base/code_names.h reads them. */
#include "process/inside.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system/proc.h"

static int64_t made_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec;
}

/* The time of the wall clock at which the process began. */
static int64_t made_begin(uint32_t pid)
{
	int64_t uptime = made_now(CLOCK_BOOTTIME);
	struct dw_proc_stat stat;
	bool lives = dw_proc_read_stat(pid, 0, &stat);

	return made_now(CLOCK_REALTIME) - uptime + (lives ? (int64_t)(dw_proc_ns(stat.birth) / 1000000000u) : uptime);
}

/* The number that the process has for itself: in a container it has two. */
static uint32_t made_own_pid(uint32_t pid)
{
	char text[4096], *at = dw_proc_read(pid, 0, "status", text, sizeof text) > 0 ? strstr(text, "\nNSpid:") : NULL;
	uint32_t own = pid;

	at = at ? at + strlen("\nNSpid:") : NULL;
	for (char *end; at && *at == '\t'; at = end)
		own = (uint32_t)strtoul(at, &end, 10);
	return own;
}

static int made_look_at_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *context)
{
	struct dw_unwind *unwind = context;
	const char *slash = strrchr(name, '/');
	char wanted[32];

	snprintf(wanted, sizeof wanted, "jit-%u.dump", unwind->made.process.pid);
	if (!slash || strcmp(slash + 1, wanted) != 0)
		return DWARF_CB_OK;
	unwind->made.process.dump = dw_arena_text(&unwind->process->arena, name, strlen(name));
	return DWARF_CB_ABORT;
}

void dw_made_find(struct dw_unwind *unwind)
{
	struct dw_code_process *process = &unwind->made.process;
	struct stat status;
	char path[32];

	if (!process->root) {
		snprintf(path, sizeof path, "/proc/%u", unwind->pid);
		process->owner = stat(path, &status) == 0 ? status.st_uid : geteuid();
		process->pid = made_own_pid(unwind->pid);
		process->since = made_begin(unwind->pid);
		process->root = dw_arena_printf(&unwind->process->arena, "%s/root", path);
	}
	if (!process->dump)
		dwfl_getmodules(unwind->dwfl, made_look_at_module, unwind, 0);
}

const char *dw_made_name(struct dw_made *made, uint64_t pc, char text[DW_CODE_NAME_BYTES])
{
	if (!made->was_read && made->process.root) {
		if (access(made->process.root, F_OK) != 0)
			made->process.root = ""; /* the process has ended */
		dw_code_names_add_process(&made->names, &made->process, made->lacks);
	}
	made->was_read = true;
	return dw_code_names_find(&made->names, pc, text);
}
