/* Serves one text by HTTP at a port of this machine, for `dwell watch --port`. */
#pragma once

#include <stddef.h>

/* Waits `ms` milliseconds. Meanwhile it answers each request for /metrics that comes from this machine with the text. A
 * signal ends the wait early. */
void dw_watch_serve(int listener, const char *text, size_t length, int ms);
