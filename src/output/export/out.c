/*
 * An output: its buffer, the formatting of numbers and strings, and the destination, which is a
 * file that is renamed at the end, standard output, or a pipe or device; compressed or not. See
 * out.h.
 *
 * Invariant: until dw_out_close() has succeeded, an older file at the path is unchanged. printf is
 * used only for numbers that need more than six decimals, because it is slow.
 */
#include "export/out.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef DW_HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/error.h"
#include "base/free.h"
#include "base/text.h"

#define ROW(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"
const char dw_digit_pairs[200] =
	ROW("0") ROW("1") ROW("2") ROW("3") ROW("4") ROW("5") ROW("6") ROW("7") ROW("8") ROW("9");

void dw_out_init_memory(struct dw_writer_out *out)
{
	memset(out, 0, sizeof *out);
	out->memory = true;
	out->fd = -1;
}

void dw_out_reset(struct dw_writer_out *out)
{
	free(out->buffer);
	out->buffer = NULL;
	out->used = out->size = 0;
}

static void out_grow(struct dw_writer_out *out, size_t bytes)
{
	size_t size = out->size ? out->size : 256;
	char *grown;

	while (size - out->used < bytes) {
		if (size > SIZE_MAX / 2) {
			out->error = ENOMEM;
			return;
		}
		size *= 2;
	}
	grown = realloc(out->buffer, size);
	if (!grown) {
		out->error = ENOMEM;
		return;
	}
	out->buffer = grown;
	out->size = size;
}

void dw_out_make_space(struct dw_writer_out *out, size_t bytes)
{
	if (out->memory)
		out_grow(out, bytes);
	else
		dw_out_drain(out);
}

void dw_out_bytes(struct dw_writer_out *out, const char *bytes, size_t length)
{
	while (length) {
		size_t part = length < DW_OUT_MOST ? length : DW_OUT_MOST;
		char *to = dw_out_reserve(out, part);

		if (!to)
			return;
		dw_out_wrote(out, dw_copy(to, bytes, part));
		bytes += part;
		length -= part;
	}
}

void dw_out_text(struct dw_writer_out *out, const char *text)
{
	dw_out_bytes(out, text, strlen(text));
}

/* ---- numbers ------------------------------------------------------------------------ */

void dw_out_u64(struct dw_writer_out *out, uint64_t value)
{
	char *to = dw_out_reserve(out, DW_PUT_U64);

	if (to)
		dw_out_wrote(out, dw_put_u64(to, value));
}

void dw_out_us(struct dw_writer_out *out, uint64_t ns)
{
	char *to = dw_out_reserve(out, DW_PUT_US);

	if (to)
		dw_out_wrote(out, dw_put_us(to, ns));
}

void dw_out_i64(struct dw_writer_out *out, int64_t value)
{
	if (value < 0)
		dw_out_bytes(out, "-", 1);
	dw_out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void dw_out_json(struct dw_writer_out *out, const char *json, const struct dw_out_value *values,
                 void (*put_text)(struct dw_writer_out *out, const char *text))
{
	for (const char *from = json;; from = ++json) {
		while (*json && *json != '\'' && *json != '#')
			json++;
		dw_out_bytes(out, from, (size_t)(json - from));
		if (!*json)
			return;
		if (*json == '\'')
			dw_out_bytes(out, "\"", 1);
		else if (values->type == DW_OUT_U64)
			dw_out_u64(out, values++->number);
		else if (values->type == DW_OUT_I64)
			dw_out_i64(out, values++->signed_number);
		else if (values->type == DW_OUT_REAL)
			dw_out_real(out, values++->real);
		else
			put_text(out, values++->text);
	}
}

void dw_out_big(struct dw_writer_out *out, uint64_t value)
{
	bool big = value > (uint64_t)1 << 53;

	dw_out_bytes(out, "\"", big);
	dw_out_u64(out, value);
	dw_out_bytes(out, "\"", big);
}

void dw_out_hex(struct dw_writer_out *out, uint64_t value)
{
	char text[24], *at = text + sizeof text;

	*--at = '"';
	do {
		*--at = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	at -= 3;
	memcpy(at, "\"0x", 3);
	dw_out_bytes(out, at, (size_t)(text + sizeof text - at));
}

/* Writes a value with up to six decimals, which covers most counters. Returns false if it has
 * more. */
static bool out_put_short(struct dw_writer_out *out, double magnitude, bool negative)
{
	char text[40], *end = text;
	uint64_t scaled, whole, rest;

	if (magnitude >= 1e9)
		return false;
	scaled = (uint64_t)(magnitude * 1e6 + 0.5);
	if ((double)scaled / 1e6 != magnitude)
		return false;
	whole = scaled / 1000000;
	rest = scaled % 1000000;
	if (negative)
		*end++ = '-';
	end = dw_put_u64(end, whole);
	if (rest) {
		/* a leading 1 keeps the zeros after the point */
		char *point = end;

		end = dw_put_u64(end, rest + 1000000);
		*point = '.';
		while (end[-1] == '0')
			end--;
	}
	dw_out_bytes(out, text, (size_t)(end - text));
	return true;
}

void dw_out_real(struct dw_writer_out *out, double value)
{
	char text[40];
	int length;

	if (!isfinite(value)) {
		dw_out_text(out, "null");
		return;
	}
	if (fabs(value) <= 9007199254740992.0 && value == (double)(int64_t)value) {
		dw_out_i64(out, (int64_t)value);
		return;
	}
	if (out_put_short(out, fabs(value), value < 0))
		return;
	length = snprintf(text, sizeof text, "%.17g", value);
	/* the program's locale may have another decimal point */
	for (int i = 0; i < length; i++)
		if (!strchr("0123456789+-e", text[i]))
			text[i] = '.';
	dw_out_bytes(out, text, (size_t)length);
}

/* ---- strings ------------------------------------------------------------------------ */

static void out_put_part(void *to, const char *bytes, size_t length)
{
	dw_out_bytes(to, bytes, length);
}

/* Returns the length of the ASCII text at the start that needs no escapes in JSON. */
static size_t out_plain_length(const char *text)
{
	const char *at = text;

	while ((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - text);
}

void dw_out_string(struct dw_writer_out *out, const char *text)
{
	size_t plain;

	if (!text) {
		dw_out_text(out, "null");
		return;
	}
	plain = out_plain_length(text);
	if (text[plain]) {
		dw_json_text(out_put_part, out, text);
		return;
	}
	dw_out_bytes(out, "\"", 1);
	dw_out_bytes(out, text, plain);
	dw_out_bytes(out, "\"", 1);
}

void dw_out_put(void *out, const char *bytes, size_t length)
{
	dw_out_bytes(out, bytes, length);
}

/* ---- the destination ------------------------------------------------------------------ */

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
	case EDQUOT: return "free some space, name a file elsewhere, or end its name in .gz";
	case EFBIG: return "raise the limit (ulimit -f) or end its name in .gz";
	case EACCES:
	case EPERM:
	case EROFS: return "name a file in a folder that you may write to";
	case ENOENT:
	case ENOTDIR: return "make the folder first";
	case EISDIR: return "name a file in it";
	case ENAMETOOLONG: return "name it shorter";
	case EPIPE: return "what reads it has ended";
	case EMFILE:
	case ENFILE: return "close some files or raise the limit (ulimit -n)";
	case ENOMEM: return "free some memory";
	default: return "name a file elsewhere";
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
		return dw_error_set(error, DWELL_E_UNSUPPORTED, "cannot write %s: this dwell was built without zlib; leave out "
		                    "\".gz\" and run gzip, or build with -Dzlib=enabled", out->path);
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
	DW_FREE(out->temporary, out->target, out->buffer);
	out->buffer = out->target = out->temporary = NULL;
	return out->error ? out_set_error(out, out->error, error) : 0;
}
