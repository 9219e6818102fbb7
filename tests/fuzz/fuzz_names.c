/*
 * Property: whatever the bytes of a file with names of made code, reading it ends, and each name found is a text that
 * steers no terminal.
 */
#include <string.h>

#include "base/code/code_names.h"
#include "bounds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_code_names names = { .count = 0 };
	char name[DW_CODE_NAME_BYTES], *text;

	bounds_begin();
	text = malloc(size + 1);
	demand(text);
	memcpy(text, data, size);
	text[size] = '\0';
	(void)dw_code_names_take(&names, text, size);
	for (size_t i = 0; i < names.count && i < 1000; i++) {
		const struct dw_code_range *range = &names.ranges[i];

		demand(range->start < range->end && range->reach >= range->end);
		demand(range->name >= text && range->name + range->bytes <= text + size);
		demand(dw_code_names_find(&names, range->start, name) && strlen(name) < sizeof name);
		for (const char *at = name; *at; at++)
			demand((unsigned char)*at >= 32 && *at != 127);
		dw_code_names_find(&names, range->end, name);
	}
	dw_code_names_reset(&names);
	bounds_end(data, size, size);
	return 0;
}
