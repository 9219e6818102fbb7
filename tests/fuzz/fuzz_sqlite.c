/*
 * Property: whatever the bytes of an SQLite file, opening it ends, within memory and time that its
 * size bounds, without a fault; and what was translated is a trace without damage.
 */
#include "imported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 16 || memcmp(data, "SQLite format 3", 16) != 0)
		return 0;
	return imported_test(data, size, 128);
}
