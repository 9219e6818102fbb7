/*
 * Property: whatever the bytes of an XSpace, opening it ends, within memory that their
 * number bounds, without a fault; and what was translated is a trace without damage.
 */
#include "file.h"
#include "imported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_source *source;
	const char *path = FILE_PATH;

	/* fuzz_source.c reads traces. */
	if (!size || data[0] == 0x89)
		return 0;
	file_begin(size);
	file_write(0, data, size);
	bounds_begin();
	if (dw_source_open(&source, &path, 1, NULL) == 0) {
		/* The image is mapped: a block takes a page and what its records take. */
		demand(source->files[0].size_bytes / DW_BLOCK_BYTES <= 3 * 4096 + 64 + size / 256);
		imported_check(source, data, size);
		dw_source_close(source);
	}
	bounds_end(data, size, size);
	return 0;
}
