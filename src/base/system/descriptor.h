/*
 * File descriptors in a process that belongs to somebody else.
 *
 * The kernel gives each new descriptor the lowest free number, and programs rely on that: the first file of a program
 * has number 3, and a shell tests whether 3 is open. If a program was started without a standard error, a file of dwell
 * would become its standard error. So whatever is opened inside a program is moved to a number that programs do not
 * reach, and never has one of the numbers 0 to 2, not even while it is opened.
 *
 * For an instant it has the lowest free number above 2. A thread that opens a file in this instant gets the next
 * number. The functions enter the kernel directly, and may run in signal handlers.
 */
#pragma once

#include <stdbool.h>

/* The lowest number that is used. */
#define DW_DESCRIPTOR_LEAST 100
/* And of copies, which are checked and then written to: while a program closes whatever is open, a file of its own gets the lowest free
 * number, and none of these. The usual limit is 1024. */
#define DW_DESCRIPTOR_COPY 1000

/* Opens a file, closed by exec. Returns its descriptor or a negative errno. If the limit on descriptors permits no
 * number from DW_DESCRIPTOR_LEAST on, it has the number that the kernel gave it, and is not to be kept open. */
int dw_descriptor_open(const char *path, int flags, unsigned mode);

/* Moves an open descriptor (negative: does nothing) there. Returns its number, the old one if the limit permits no
 * other. */
int dw_descriptor_move(int fd);

/* Another descriptor of the same file, which no other code knows; a negative errno if there is none. */
int dw_descriptor_copy(int fd);

void dw_descriptor_close(int fd);

/* Whether it may stay open. */
static inline bool dw_descriptor_is_apart(int fd)
{
	return fd >= DW_DESCRIPTOR_LEAST;
}
