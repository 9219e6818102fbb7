/*
 * Property: whatever the bytes of a compressed file, unpacking it ends, and what it becomes
 * is bounded: a bomb is refused.
 */
#include "bounds.h"
#include "import/import.h"

/* Unpacked bytes for each compressed one, with the copy that growing takes, by what the bound
 * allows anyway. */
#define RATIO (2u * DW_GUNZIP_RATIO / BOUNDS_BYTES_A_BYTE)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *out;
	size_t out_size;

	bounds_begin();
	if (dw_import_gunzip("fuzz", data, size, &out, &out_size, NULL) == 0) {
		demand(out_size <= DW_GUNZIP_SPARE + DW_GUNZIP_RATIO * size);
		free(out);
	}
	bounds_end(data, size, size * RATIO);
	return 0;
}
