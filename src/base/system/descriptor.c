/* File descriptors in a process that belongs to somebody else; see descriptor.h. */
#include "base/system/descriptor.h"

#include <errno.h>
#include <fcntl.h>

#include "base/system/system.h"

#define STANDARD 3 /* the numbers below are standard input, output and error */

void dw_descriptor_close(int fd)
{
	if (fd >= 0)
		dw_call(SYS_close, fd);
}

int dw_descriptor_move(int fd)
{
	int moved = fd < 0 || dw_descriptor_is_apart(fd) ? fd : (int)dw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, DW_DESCRIPTOR_LEAST);

	if (moved < 0 || moved == fd)
		return fd;
	dw_descriptor_close(fd);
	return moved;
}

int dw_descriptor_copy(int fd)
{
	static const int least[] = { DW_DESCRIPTOR_COPY, DW_DESCRIPTOR_LEAST, STANDARD };
	int copy = -EINVAL;

	for (unsigned i = 0; i < sizeof least / sizeof *least && copy == -EINVAL; i++) /* the limit permits no such number */
		copy = (int)dw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least[i]);
	return copy;
}

/* Takes the standard numbers that are free. To the program they seem closed: nothing can be read or written there.
 * Returns one bit for each. */
static unsigned descriptor_fill_standard(void)
{
	unsigned filled = 0;

	for (int number = 0; number < STANDARD; number++) {
		int fd;

		if (dw_call(SYS_fcntl, number, F_GETFD) != -EBADF)
			continue;
		fd = (int)dw_call(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
		if (fd >= STANDARD)
			dw_descriptor_close(fd);
		else if (fd >= 0)
			filled |= 1u << fd;
	}
	return filled;
}

static void descriptor_free_standard(unsigned filled)
{
	for (int number = 0; number < STANDARD; number++)
		if (filled >> number & 1)
			dw_descriptor_close(number);
}

int dw_descriptor_open(const char *path, int flags, unsigned mode)
{
	unsigned filled = descriptor_fill_standard();
	int fd = (int)dw_call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);

	fd = dw_descriptor_move(fd);
	descriptor_free_standard(filled);
	if (fd < 0 || fd >= STANDARD)
		return fd;
	dw_descriptor_close(fd);
	return -EMFILE;
}
