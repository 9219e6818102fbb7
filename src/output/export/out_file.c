/*
 * The destination of an output: a file that is renamed at the end, standard output, or a pipe or
 * device; compressed or not. See out.h.
 *
 * Invariant: until dw_out_close() has succeeded, an older file at the path is unchanged.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef DW_HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/error.h"
#include "export/out.h"

#define PACKED_BYTES 65536u

const char *dw_out_name(const struct dw_writer_out *out)
{
	return out->path ? out->path : "standard output";
}

/* ---- errors ------------------------------------------------------------------------- */

static const char *out_remedy(int number)
{
	switch (number) {
	case ENOSPC:
	case EDQUOT:
		return "free some space, name a file elsewhere, or end its name in .gz";
	case EFBIG:
		return "raise the limit (ulimit -f) or end its name in .gz";
	case EACCES:
	case EPERM:
	case EROFS:
		return "name a file in a folder that you may write to";
	case ENOENT:
	case ENOTDIR:
		return "make the folder first";
	case EISDIR:
		return "name a file in it";
	case ENAMETOOLONG:
		return "name it shorter";
	case EPIPE:
		return "what reads it has ended";
	case EMFILE:
	case ENFILE:
		return "close some files or raise the limit (ulimit -n)";
	case ENOMEM:
		return "free some memory";
	default:
		return "name a file elsewhere";
	}
}

static int out_set_error(const struct dw_writer_out *out, int number, struct dwell_error *error)
{
	int code = number == ENOSPC || number == EDQUOT ? DWELL_E_NOSPACE
	           : number == ENOMEM                   ? DWELL_E_NOMEM
	                                                : DWELL_E_IO;
	char buffer[128];

	return dw_error_set(error, code, "cannot write %s: %s; %s", dw_out_name(out),
	                    strerror_r(number, buffer, sizeof buffer), out_remedy(number));
}

/* ---- bytes -------------------------------------------------------------------------- */

static void out_write_all(struct dw_writer_out *out, const char *bytes, size_t length)
{
	while (length && !out->error) {
		ssize_t written = write(out->fd, bytes, length);

		if (written < 0 && errno != EINTR)
			out->error = errno;
		if (written > 0) {
			bytes += written;
			length -= (size_t)written;
		}
	}
}

#ifdef DW_HAVE_ZLIB
struct dw_out_gzip {
	z_stream stream;
	char packed[PACKED_BYTES];
};

/* Level 3 is twice as fast as the default level, and its files are 1.4 times as large. */
static bool out_gzip_open(struct dw_writer_out *out)
{
	out->gzip = calloc(1, sizeof *out->gzip);
	if (!out->gzip)
		return false;
	if (deflateInit2(&out->gzip->stream, 3, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
		return true;
	free(out->gzip);
	out->gzip = NULL;
	return false;
}

static void out_gzip_write(struct dw_writer_out *out, bool last)
{
	z_stream *stream = &out->gzip->stream;

	stream->next_in = (Bytef *)out->buffer;
	stream->avail_in = (uInt)out->used;
	do {
		stream->next_out = (Bytef *)out->gzip->packed;
		stream->avail_out = PACKED_BYTES;
		deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
		out_write_all(out, out->gzip->packed, PACKED_BYTES - stream->avail_out);
	} while (stream->avail_out == 0 && !out->error);
}

static void out_gzip_close(struct dw_writer_out *out)
{
	deflateEnd(&out->gzip->stream);
	free(out->gzip);
	out->gzip = NULL;
}
#else
static bool out_gzip_open(struct dw_writer_out *out)
{
	return false;
}

static void out_gzip_write(struct dw_writer_out *out, bool last)
{
}

static void out_gzip_close(struct dw_writer_out *out)
{
}
#endif

static void out_drain(struct dw_writer_out *out, bool last)
{
	out->bytes += out->used;
	if (out->error)
		; /* dropped; the error is reported at the end */
	else if (out->gzip)
		out_gzip_write(out, last);
	else
		out_write_all(out, out->buffer, out->used);
	out->used = 0;
}

void dw_out_drain(struct dw_writer_out *out)
{
	out_drain(out, false);
}

/* ---- opening and closing ------------------------------------------------------------ */

static bool out_is_gzip_name(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* Opens a pipe, a device or an open file descriptor, which are written in place. Returns 0 or
 * errno. */
static int out_open_in_place(struct dw_writer_out *out)
{
	out->fd = strcmp(out->path, "/dev/stdout") == 0
	                      ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
	                      : open(out->path, O_WRONLY | O_CLOEXEC);
	return out->fd < 0 ? errno : 0;
}

/* Like mkostemp(), but the mode of the file follows the umask. A library cannot read the umask
 * without changing it. `path` ends in XXXXXX. */
static int out_create_unique(char *path)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	char *unique = path + strlen(path) - 6;
	int fd = -1;

	for (int attempt = 0; attempt < 100 && fd < 0; attempt++) {
		unsigned char random[6];

		if (getentropy(random, sizeof random) != 0)
			return -1;
		for (int i = 0; i < 6; i++)
			unique[i] = letters[random[i] % 32];
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static int out_open_temporary(struct dw_writer_out *out)
{
	/* If the path is a symbolic link, the link is kept and its target is replaced. */
	out->target = realpath(out->path, NULL);
	if (!out->target)
		out->target = strdup(out->path);
	if (!out->target || asprintf(&out->temporary, "%s.tmpXXXXXX", out->target) < 0) {
		out->temporary = NULL;
		return ENOMEM;
	}
	out->fd = out_create_unique(out->temporary);
	if (out->fd >= 0)
		return 0;
	free(out->temporary); /* nothing to remove */
	out->temporary = NULL;
	return errno;
}

static int out_open_path(struct dw_writer_out *out)
{
	struct stat found;

	if (!out->path) {
		out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return out->fd < 0 ? errno : 0;
	}
	if (strncmp(out->path, "/dev/", 5) == 0 || strncmp(out->path, "/proc/", 6) == 0)
		return out_open_in_place(out);
	if (stat(out->path, &found) == 0 && S_ISDIR(found.st_mode))
		return EISDIR;
	if (stat(out->path, &found) == 0 && !S_ISREG(found.st_mode))
		return out_open_in_place(out);
	return out_open_temporary(out);
}

int dw_out_open(struct dw_writer_out *out, const char *path, struct dwell_error *error)
{
	int number;

	memset(out, 0, sizeof *out);
	out->fd = -1;
	out->path = path && strcmp(path, "-") != 0 ? path : NULL;
#ifndef DW_HAVE_ZLIB
	if (out->path && out_is_gzip_name(out->path))
		return dw_error_set(error, DWELL_E_UNSUPPORTED,
		                    "cannot write %s: this dwell was built without zlib; leave out "
		                    "\".gz\" and run gzip, or build with -Dzlib=enabled",
		                    out->path);
#endif
	out->size = DW_OUT_BYTES;
	out->buffer = malloc(out->size);
	number = out->buffer ? out_open_path(out) : ENOMEM;
	if (!number && out->path && out_is_gzip_name(out->path) && !out_gzip_open(out))
		number = ENOMEM;
	if (!number)
		return 0;
	out->error = number;
	return dw_out_close(out, false, error);
}

int dw_out_close(struct dw_writer_out *out, bool keep, struct dwell_error *error)
{
	if (keep)
		out_drain(out, true);
	if (out->gzip)
		out_gzip_close(out);
	/* Some file systems report a full disk only when the file is closed. */
	if (out->fd >= 0 && close(out->fd) && errno != EINTR && !out->error)
		out->error = errno;
	if (keep && !out->error && out->temporary && rename(out->temporary, out->target))
		out->error = errno;
	if (out->temporary && (out->error || !keep))
		unlink(out->temporary);
	free(out->temporary);
	free(out->target);
	free(out->buffer);
	out->buffer = out->target = out->temporary = NULL;
	return out->error ? out_set_error(out, out->error, error) : 0;
}
