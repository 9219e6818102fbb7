/* How much of a batch is padding, as PyTorch's probe counted it (DW_KEY_TORCH_PADDING). */
#include <stdlib.h>
#include <string.h>

#include "facts/work.h"
#include "format/keys.h"

void dw_facts_of_padding(struct dw_facts_work *work)
{
	const char *text = dw_facts_meta(work, DW_KEY_TORCH_PADDING);
	double numbers[4] = { 0, 0, 0, 0 }; /* padded, all; the longest row, all of a row */
	struct dw_fact *fact;
	char *end = (char *)text;

	for (unsigned i = 0; text && i < sizeof numbers / sizeof *numbers; i++)
		numbers[i] = strtod(end, &end);
	if (!(numbers[1] > 0) || !(numbers[3] > 0)) {
		dw_fact_miss(work, DW_FACT_DATA_PADDING, "no batch of rows of numbers was seen in the memory of the process");
		dw_fact_miss(work, DW_FACT_DATA_LONGEST, "no batch of rows of numbers was seen in the memory of the process");
		return;
	}
	fact = dw_fact_set_share(work, DW_FACT_DATA_PADDING, numbers[0], numbers[1], 1);
	if (*end == ' ')
		fact->note = dw_facts_text(work, end + 1, strlen(end + 1));
	dw_fact_set_share(work, DW_FACT_DATA_LONGEST, numbers[2], numbers[3], 1);
}
