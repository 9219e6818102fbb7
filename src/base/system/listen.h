/* Sockets that listen at a TCP port of this machine. */
#pragma once

#include <stdint.h>

struct dwell_error;

#define DW_LISTEN_HERE UINT32_C(0x7f000001) /* 127.0.0.1: whoever is on this machine */

/* Listens at a port (0: any that is free) of an IPv4 address of this machine, given as a number. Returns the socket, which does
 * not block, and sets *port. -1 with errno, after setting `error`, which may be NULL, to a message for who gave --port. */
int dw_listen(uint32_t address, unsigned *port, struct dwell_error *error);
