/* Stores parts of traces in the stored form (format/pack.h). */
#pragma once

#include "read/pack.h"
#include "read/source.h"

/* "job.WORD.dwell" for the trace "job.dwell"; `end` in place of ".dwell". */
void dw_pack_part_path(const char *trace, const char *word, const char *end, char *path, size_t size);
/* Sets what of the trace's lists belongs to the window, from the trace's source. */
void dw_pack_fill_window(const struct dw_source *source, struct dw_pack_window *window);
/* Stores the part of a trace in `path`, with the access rights of the trace. Fills what the window lacks from `source`,
 * which is that of the trace. Returns the bytes of the file; 0 after setting `error`. */
uint64_t dw_pack_store_part(const struct dw_source *source, struct dw_pack_window *window, const char *path,
                            struct dwell_error *error);
