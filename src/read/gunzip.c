/*
 * A gzip file in memory, for foreign formats that are stored so.
 *
 * Called by file.c. What a small file may become is bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "read/read.h"

#ifndef DW_HAVE_ZLIB
int dw_read_gunzip(const char *path, const void *bytes, size_t size, unsigned char **out,
                   size_t *out_size, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOT_TRACE,
	                    "%s is compressed, and this dwell was built without zlib: gunzip it first",
	                    path);
}
#else
#include <zlib.h>

#define MOST_BYTES ((size_t)2 << 30) /* of a protocol buffer */
#define FIRST_BYTES ((size_t)1 << 20)

static int inflate_all(z_stream *stream, unsigned char **out, size_t *used)
{
	size_t size = 0;
	int result = Z_OK;

	while (result == Z_OK || result == Z_BUF_ERROR) {
		if (*used == size) {
			size_t wanted = size ? size * 2 : FIRST_BYTES;
			unsigned char *grown = wanted > MOST_BYTES ? NULL : realloc(*out, wanted);

			if (!grown)
				return Z_MEM_ERROR;
			*out = grown;
			size = wanted;
		}
		stream->next_out = *out + *used;
		stream->avail_out = (uInt)(size - *used);
		result = inflate(stream, Z_NO_FLUSH);
		*used = size - stream->avail_out;
		if (result == Z_BUF_ERROR && stream->avail_out)
			return Z_DATA_ERROR; /* the input ended first */
	}
	return result == Z_STREAM_END ? Z_OK : result;
}

int dw_read_gunzip(const char *path, const void *bytes, size_t size, unsigned char **out,
                   size_t *out_size, struct dwell_error *error)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)bytes };
	int result;

	*out = NULL;
	*out_size = 0;
	if (size > UINT32_MAX)
		return dw_error_set(error, DWELL_E_NOMEM, "%s is too large: gunzip it first", path);
	stream.avail_in = (uInt)size;
	result = inflateInit2(&stream, 16 + MAX_WBITS);
	if (result == Z_OK) {
		result = inflate_all(&stream, out, out_size);
		inflateEnd(&stream);
	}
	if (result == Z_OK)
		return 0;
	free(*out);
	*out = NULL;
	if (result == Z_MEM_ERROR)
		return dw_error_set(error, DWELL_E_NOMEM,
		                    "%s does not fit in memory, or in 2 GiB, when it is unpacked", path);
	return dw_error_set(error, DWELL_E_CORRUPT,
	                    "%s: the compressed data are damaged or end too early (of %zu bytes, %zu "
	                    "were unpacked); copy it again, in binary mode", path, size, *out_size);
}
#endif
