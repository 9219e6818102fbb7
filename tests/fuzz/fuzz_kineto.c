/*
 * Property: whatever the text of a Chrome trace, opening it ends, within memory and time that its
 * length bounds, without a fault; and what was translated is a trace without damage.
 */
#include "imported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* fuzz_source.c reads traces, fuzz_xspace.c XSpace files, fuzz_gunzip.c compressed ones. */
	if (!size || (data[0] != '{' && data[0] != '['))
		return 0;
	return imported_test(data, size, 128);
}
