/*
 * Property: whatever the bytes of an XSpace, opening it ends, within memory that their
 * number bounds, without a fault; and what was translated is a trace without damage.
 */
#include "imported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* fuzz_source.c reads traces. */
	if (!size || data[0] == 0x89)
		return 0;
	return imported_test(data, size, 256);
}
