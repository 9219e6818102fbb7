/* A session in its own folder, for tests of the recorder's modules. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/about_process.h"
#include "record/chunks.h"
#include "record/entry.h"
#include "record/ids.h"
#include "record/layer_paths.h"
#include "record/open_ranges.h"
#include "record/process_state.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/stacks.h"
#include "record/steps.h"
#include "record/streams.h"
#include "record/usages.h"
#include "record/windows.h"

static char session_folder[64];
static char session_path[96];

/* false: no session; the reason is printed. */
static inline bool session_begin(uint64_t max_size_bytes)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error = { 0 };

	snprintf(session_folder, sizeof session_folder, "/tmp/dwell-unit-XXXXXX");
	if (!mkdtemp(session_folder))
		return false;
	snprintf(session_path, sizeof session_path, "%s/t.dwell", session_folder);
	options.path = session_path;
	options.max_size_bytes = max_size_bytes;
	if (dwell_start(&options, &error) == 0)
		return true;
	printf("%s\n", error.message);
	return false;
}

static inline void session_end(void)
{
	dwell_stop(NULL);
	unlink(session_path);
	rmdir(session_folder);
}
