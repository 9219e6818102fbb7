/* What `dwell run` says of libraries that are not recorded: see src/recorder/format/libraries.h. */
#pragma once

#include <stdbool.h>

struct dw_executable;
struct dw_source;

/* Before the program starts: notes in the trace which probes it does not get, and why. The
 * last five say whether the user leaves them in. */
void dw_lacks_note(const struct dw_executable *executable, bool mpi, bool ggml, bool cuda, bool nvtx, bool itt);
/* After its end: says what it used and the trace does not have. */
void dw_lacks_say(const struct dw_source *source);
