/*
 * Decompresses a gzip file in memory, for foreign formats that are stored compressed.
 *
 * Called by xspace_planes.c. The size of the output is limited: captures of XLA's profiler become about
 * ten times larger, but a file that was made to fill memory can become a thousand times larger.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "import/import.h"

#ifndef DW_HAVE_ZLIB
int dw_import_gunzip(const char *path, const void *bytes, size_t size, unsigned char **out,
                   size_t *out_size, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOT_TRACE,
	                    "%s is compressed with gzip, and this dwell was built without zlib: gunzip it first", path);
}
#else
#include <zlib.h>

#define MOST_BYTES ((size_t)2 << 30) /* of a protocol buffer */
#define FIRST_BYTES ((size_t)64 << 10)

static int gunzip_inflate_all(z_stream *stream, size_t most, unsigned char **out, size_t *used)
{
	size_t size = 0;
	int result = Z_OK;

	while (result == Z_OK || result == Z_BUF_ERROR) {
		if (*used == size) {
			size_t wanted = !size ? FIRST_BYTES : size < most / 2 ? size * 2 : most;
			unsigned char *grown = size >= most ? NULL : realloc(*out, wanted);

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
			return Z_DATA_ERROR; /* the input ended too early */
	}
	return result == Z_STREAM_END ? Z_OK : result;
}

int dw_import_gunzip(const char *path, const void *bytes, size_t size, unsigned char **out,
                   size_t *out_size, struct dwell_error *error)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)bytes };
	size_t most = DW_GUNZIP_SPARE + DW_GUNZIP_RATIO * size;
	int result;

	*out = NULL;
	*out_size = 0;
	if (size > UINT32_MAX)
		return dw_error_set(error, DWELL_E_NOMEM, "%s is too large: gunzip it first", path);
	stream.avail_in = (uInt)size;
	result = inflateInit2(&stream, 16 + MAX_WBITS);
	if (result == Z_OK) {
		result = gunzip_inflate_all(&stream, most < MOST_BYTES ? most : MOST_BYTES, out, out_size);
		inflateEnd(&stream);
	}
	if (result == Z_OK)
		return 0;
	free(*out);
	*out = NULL;
	if (result == Z_MEM_ERROR)
		return dw_error_set(error, DWELL_E_NOMEM,
		                    "%s does not fit in memory, in 2 GiB, or in what a capture of %zu bytes "
		                    "can be, when it is unpacked: gunzip it first", path, size);
	return dw_error_set(error, DWELL_E_CORRUPT,
	                    "%s: the compressed data are damaged or end too early (of %zu bytes, %zu "
	                    "were unpacked); copy it again, in binary mode", path, size, *out_size);
}
#endif
