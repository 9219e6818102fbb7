/*
 * States in the trace which libraries with a probe the process has loaded (format/libraries.h), so that a reader can
 * say what was not recorded.
 *
 * Libraries are loaded at any time. So the list is written when the third step begins, for a process that is killed
 * later, and when the process ends, if it has changed. The thread that steps may hold locks of the program, for which
 * another thread may wait in the loader. So its list is that of the kernel, /proc/self/maps. At its end a process is in
 * the loader anyway, and may be in a sandbox that permits no file: there the loader is asked.
 */
#include "record/about_process.h"
#include "record/ids.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/stacks.h"

#include "format/keys.h"
#include "format/libraries.h"

static struct dw_libraries_search libraries_asked[DW_LIBRARIES_COUNT]; /* read when the library is loaded */

void dw_libraries_read_environment(void)
{
	dw_libraries_begin(libraries_asked);
}

static void libraries_write(const char *list)
{
	static uint64_t written; /* a hash of the list */
	uint64_t hash = dw_hash(list, strlen(list), (uint64_t)DW_LOAD(dw_process->pid) << 32 | DW_LOAD(dw_session.generation));

	if (DW_LOAD(written) == hash)
		return;
	DW_STORE(written, hash);
	dw_meta(DW_KEY_LIBRARIES, list, 0);
}

static void libraries_see(const char *path, void *searches)
{
	dw_libraries_see(searches, path);
}

void dw_libraries_note(void)
{
	struct dw_libraries_search searches[DW_LIBRARIES_COUNT];
	char list[DW_LIBRARIES_BYTES];

	memcpy(searches, libraries_asked, sizeof searches);
	if (searches->id && dw_module_each_file(libraries_see, searches) && dw_libraries_write(searches, list))
		libraries_write(list);
}

void dw_libraries_note_at_end(void)
{
	char list[DW_LIBRARIES_BYTES];

	if (dw_libraries_list(list))
		libraries_write(list);
}
