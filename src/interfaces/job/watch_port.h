/* Serves one text by HTTP at a port of this machine, for `dwell watch --port`. */
#pragma once

#include "dwell/dwell.h"

/* Listens at that port of 127.0.0.1; 0: any free one. Returns the socket, and sets *port; or -1 with an error. */
int dw_watch_listen(unsigned *port, struct dwell_error *error);
/* Waits `ms` milliseconds. Meanwhile it answers each request for /metrics that comes from this machine with the text. A
 * signal ends the wait early. */
void dw_watch_serve(int listener, const char *text, size_t length, int ms);
