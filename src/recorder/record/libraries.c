/*
 * States in the trace which libraries with a probe the process has loaded (format/libraries.h), so that a reader can
 * say what was not recorded.
 *
 * Libraries are loaded at any time. So the list is written when the third step begins, for a process that is killed
 * later, and when the process ends, if it has changed.
 */
#include "record/record.h"

#include <unistd.h>

#include "format/keys.h"
#include "format/libraries.h"

void dw_libraries_note(void)
{
	static uint64_t written; /* a hash of the list */
	char list[DW_LIBRARIES_BYTES];
	uint64_t hash;

	if (!dw_libraries_list(list))
		return;
	hash = dw_hash(list, strlen(list), (uint64_t)getpid() << 32 | DW_LOAD(dw_session.generation));
	if (DW_LOAD(written) == hash)
		return;
	DW_STORE(written, hash);
	dw_meta(DW_KEY_LIBRARIES, list, 0);
}
