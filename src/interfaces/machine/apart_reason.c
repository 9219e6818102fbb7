/* Why a process is not recorded; see apart_reason.h. */
#include "machine/apart_reason.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/proc.h"
#include "program/executable.h"
#include "program/installed.h"
#include "record/session_state.h"

#define LIBRARY "/libdwell-" /* in the paths of dwell's libraries */

/* What the process has mapped. */
struct reason_maps {
	bool any;             /* a process that is ending has no memory any more, and is still there */
	bool library, trace;  /* one of dwell, the trace of this run */
	char other[PATH_MAX]; /* another trace, or "" */
};

static bool reason_take_mapping(void *context, const struct dw_proc_mapping *mapping)
{
	struct reason_maps *maps = context;
	size_t length = strlen(mapping->path);

	maps->any = true;
	maps->library |= strstr(mapping->path, LIBRARY) != NULL;
	if (strcmp(mapping->path, dw_session.path) == 0)
		maps->trace = true;
	else if (length > 6 && strcmp(mapping->path + length - 6, ".dwell") == 0)
		snprintf(maps->other, sizeof maps->other, "%s", mapping->path);
	return true;
}

/* Whether LD_PRELOAD named dwell's libraries when the program was executed. */
static bool reason_has_environment(pid_t pid)
{
	size_t size = 0;
	char path[64], *variable = NULL;
	bool has = false;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	while (file && !has && getdelim(&variable, &size, '\0', file) > 0)
		has = strncmp(variable, "LD_PRELOAD=", 11) == 0 && strstr(variable, LIBRARY);
	free(variable);
	if (file)
		fclose(file);
	return has;
}

static bool reason_sees(pid_t pid, const char *path)
{
	char seen[PATH_MAX + 64];

	snprintf(seen, sizeof seen, "/proc/%d/root%s", (int)pid, path);
	return access(seen, F_OK) == 0 || errno != ENOENT;
}

/* Whether the process sees the libraries that its LD_PRELOAD names. That may be a link, because LD_PRELOAD divides
 * at spaces and colons. This process would follow it here, so the file is looked for by its own name, too. */
static bool reason_is_visible(pid_t pid)
{
	char library[4096], file[PATH_MAX];

	if (!dw_installed_find_preload(DW_INSTALLED_ATTACH, library))
		return true;
	return reason_sees(pid, library) && (!realpath(library, file) || reason_sees(pid, file));
}

/* Whether the process has no memory any more, so that its files in /proc are empty. */
static bool reason_has_ended(pid_t pid)
{
	struct reason_maps maps = { .any = false };
	int error = dw_proc_read_maps((uint32_t)pid, reason_take_mapping, &maps);

	return error == ENOENT || error == ESRCH || (!error && !maps.any);
}

bool dw_apart_reason(pid_t pid, char reason[DW_APART_REASON_BYTES])
{
	const char *text, *refusal;
	struct reason_maps maps = { .library = false };
	char path[64];
	int error = dw_proc_read_maps((uint32_t)pid, reason_take_mapping, &maps);

	*reason = '\0';
	if (error == ENOENT || error == ESRCH || (!error && !maps.any))
		return false;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	refusal = error || maps.library ? NULL : dw_executable_process_refusal(path);
	if (error)
		text = "it runs with other rights or as another user, and dwell's libraries are not loaded into it";
	else if (maps.trace || (maps.library && !*maps.other))
		text = "";
	else if (maps.library)
		text = NULL;
	else if (refusal)
		text = refusal;
	else if (!reason_has_environment(pid))
		text = "LD_PRELOAD does not name dwell's libraries in its environment, which a program such as env -i, su or sudo changed; "
		       "put dwell run behind that program";
	else if (!reason_is_visible(pid))
		text = "dwell's folder is not visible in its sandbox or container; make it visible, or put dwell run inside";
	else
		text = "no library of dwell was loaded into it";
	if (reason_has_ended(pid)) /* before all of it was read */
		return false;
	snprintf(reason, DW_APART_REASON_BYTES, text ? "%s" : "it may not write to this trace, and records to %.190s",
	         text ? text : maps.other);
	return true;
}

bool dw_apart_name(pid_t pid, char *name, size_t size)
{
	char path[PATH_MAX];

	if (!dw_proc_read_link((uint32_t)pid, "exe", path, sizeof path)) { /* of another user: the kernel shows 15 bytes of the name */
		if (dw_proc_read((uint32_t)pid, 0, "comm", name, size) <= 0)
			return false;
		name[strcspn(name, "\n")] = '\0';
		return true;
	}
	snprintf(name, size, "%s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	return true;
}
