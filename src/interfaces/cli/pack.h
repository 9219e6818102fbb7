/* Stores traces in their stored form (format/pack.h). */
#pragma once

#include "read/pack.h"
#include "read/source.h"

/* "job.WORD.dwell" for the trace "job.dwell"; `end` in place of ".dwell". */
void dw_pack_part_path(const char *trace, const char *word, const char *end, char *path, size_t size);
/* Stores the part of a trace in `path`, with the access rights of the trace. Fills what the window lacks from `source`,
 * which is that of the trace. Returns the bytes of the file; 0 after setting `error`. */
uint64_t dw_pack_store_part(const struct dw_source *source, struct dw_pack_window *window, const char *path,
                            struct dwell_error *error);
/* Replaces the trace of a finished run, with the other files of its run, by the stored form. Says what failed. */
void dw_pack_after_run(const char *trace);
