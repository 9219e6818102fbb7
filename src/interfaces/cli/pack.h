/* Stores traces in their stored form (format/pack.h). */
#pragma once

/* Replaces the trace of a finished run, with the other files of its run, by the stored form. Says what failed. */
void dw_pack_after_run(const char *trace);
