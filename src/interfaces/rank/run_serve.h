/* The capture service of `dwell run --serve`, a process of its own. Not thread-safe. */
#pragma once

#include <sys/types.h>

/* Opens a socket that listens at the port ("0" means any free port). Returns its descriptor, or -1 after an error message.
 * The socket is opened before the program starts, so that a long run cannot go on without the service that it was started
 * with. */
int dw_run_listen(const char *text, unsigned *port);
/* Starts the service. It ends at the latest with this process, which keeps the channel open. Returns -1 after an error
 * message if it did not start. */
pid_t dw_run_serve_start(int listener, unsigned port, const char *trace);
/* Ends the service, if the pid is above 0. */
void dw_run_serve_end(pid_t server);
