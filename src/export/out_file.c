/*
 * Where an output goes: a file that takes its name at the end, standard output, or
 * what is no plain file; compressed or not. See out.h.
 *
 * Invariant: until dw_out_close() has succeeded, what was at the path is untouched.
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

static const char *remedy(int number)
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

static int say(const struct dw_writer_out *out, int number, struct dwell_error *error)
{
	int code = number == ENOSPC || number == EDQUOT ? DWELL_E_NOSPACE
	           : number == ENOMEM                   ? DWELL_E_NOMEM
	                                                : DWELL_E_IO;
	char buffer[128];

	return dw_error_set(error, code, "cannot write %s: %s; %s", dw_out_name(out),
	                    strerror_r(number, buffer, sizeof buffer), remedy(number));
}

/* ---- bytes -------------------------------------------------------------------------- */

static void write_all(struct dw_writer_out *out, const char *bytes, size_t length)
{
	while (length && !out->error) {
		ssize_t written = write(out->descriptor, bytes, length);

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

/* Level 3: twice as fast as the default, for files that are 1.4 times as large. */
static bool gzip_open(struct dw_writer_out *out)
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

static void gzip_write(struct dw_writer_out *out, bool last)
{
	z_stream *stream = &out->gzip->stream;

	stream->next_in = (Bytef *)out->buffer;
	stream->avail_in = (uInt)out->used;
	do {
		stream->next_out = (Bytef *)out->gzip->packed;
		stream->avail_out = PACKED_BYTES;
		deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
		write_all(out, out->gzip->packed, PACKED_BYTES - stream->avail_out);
	} while (stream->avail_out == 0 && !out->error);
}

static void gzip_close(struct dw_writer_out *out)
{
	deflateEnd(&out->gzip->stream);
	free(out->gzip);
	out->gzip = NULL;
}
#else
static bool gzip_open(struct dw_writer_out *out)
{
	return false;
}

static void gzip_write(struct dw_writer_out *out, bool last)
{
}

static void gzip_close(struct dw_writer_out *out)
{
}
#endif

static void drain(struct dw_writer_out *out, bool last)
{
	out->bytes += out->used;
	if (out->error)
		; /* dropped: the error is reported at the end */
	else if (out->gzip)
		gzip_write(out, last);
	else
		write_all(out, out->buffer, out->used);
	out->used = 0;
}

void dw_out_drain(struct dw_writer_out *out)
{
	drain(out, false);
}

/* ---- opening and closing ------------------------------------------------------------ */

static bool ends_in_gz(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* Pipes, devices and open descriptors are written in place: 0 or an errno. */
static int open_in_place(struct dw_writer_out *out)
{
	out->descriptor = strcmp(out->path, "/dev/stdout") == 0
	                      ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
	                      : open(out->path, O_WRONLY | O_CLOEXEC);
	return out->descriptor < 0 ? errno : 0;
}

/* As mkostemp(), but the file's mode follows the umask, which a library cannot read without
 * changing it. `path` ends in XXXXXX. */
static int create_unique(char *path)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	char *unique = path + strlen(path) - 6;
	int descriptor = -1;

	for (int attempt = 0; attempt < 100 && descriptor < 0; attempt++) {
		unsigned char random[6];

		if (getentropy(random, sizeof random) != 0)
			return -1;
		for (int i = 0; i < 6; i++)
			unique[i] = letters[random[i] % 32];
		descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (descriptor < 0 && errno != EEXIST)
			break;
	}
	return descriptor;
}

static int open_temporary(struct dw_writer_out *out)
{
	/* A link stays a link: what it leads to is replaced. */
	out->target = realpath(out->path, NULL);
	if (!out->target)
		out->target = strdup(out->path);
	if (!out->target || asprintf(&out->temporary, "%s.tmpXXXXXX", out->target) < 0) {
		out->temporary = NULL;
		return ENOMEM;
	}
	out->descriptor = create_unique(out->temporary);
	if (out->descriptor >= 0)
		return 0;
	free(out->temporary); /* nothing to remove */
	out->temporary = NULL;
	return errno;
}

static int open_path(struct dw_writer_out *out)
{
	struct stat found;

	if (!out->path) {
		out->descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return out->descriptor < 0 ? errno : 0;
	}
	if (strncmp(out->path, "/dev/", 5) == 0 || strncmp(out->path, "/proc/", 6) == 0)
		return open_in_place(out);
	if (stat(out->path, &found) == 0 && S_ISDIR(found.st_mode))
		return EISDIR;
	if (stat(out->path, &found) == 0 && !S_ISREG(found.st_mode))
		return open_in_place(out);
	return open_temporary(out);
}

int dw_out_open(struct dw_writer_out *out, const char *path, struct dwell_error *error)
{
	int number;

	memset(out, 0, sizeof *out);
	out->descriptor = -1;
	out->path = path && strcmp(path, "-") != 0 ? path : NULL;
#ifndef DW_HAVE_ZLIB
	if (out->path && ends_in_gz(out->path))
		return dw_error_set(error, DWELL_E_UNSUPPORTED,
		                    "cannot write %s: this dwell was built without zlib; leave out "
		                    "\".gz\" and run gzip, or build with -Dzlib=enabled",
		                    out->path);
#endif
	out->size = DW_OUT_BYTES;
	out->buffer = malloc(out->size);
	number = out->buffer ? open_path(out) : ENOMEM;
	if (!number && out->path && ends_in_gz(out->path) && !gzip_open(out))
		number = ENOMEM;
	if (!number)
		return 0;
	out->error = number;
	return dw_out_close(out, false, error);
}

int dw_out_close(struct dw_writer_out *out, bool keep, struct dwell_error *error)
{
	if (keep)
		drain(out, true);
	if (out->gzip)
		gzip_close(out);
	/* Some file systems say only now that the disk is full. */
	if (out->descriptor >= 0 && close(out->descriptor) && errno != EINTR && !out->error)
		out->error = errno;
	if (keep && !out->error && out->temporary && rename(out->temporary, out->target))
		out->error = errno;
	if (out->temporary && (out->error || !keep))
		unlink(out->temporary);
	free(out->temporary);
	free(out->target);
	free(out->buffer);
	out->buffer = out->target = out->temporary = NULL;
	return out->error ? say(out, out->error, error) : 0;
}
