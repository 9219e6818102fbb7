/* Facts of gradients that no optimizer uses, as PyTorch's probe counted them (DW_KEY_TORCH_UNUSED_GRADIENTS). */
#include <stdlib.h>
#include <string.h>

#include "facts/sampled.h"
#include "format/keys.h"

/* Where the program calls backward. NULL: samples do not show it. */
static const char *gradients_place(struct dw_facts_work *work)
{
	struct samples_part backward = { work, true, false, 1u << DW_SHARE_BACKWARD, DW_NO_INDEX };
	const struct dw_sampled_function *caller;
	struct dw_sampled sampled;

	dw_sampled_find(work, dw_facts_sample_wanted, &backward, &sampled);
	caller = dw_sampled_caller(&sampled);
	return caller ? dw_sampled_text(work, caller) : NULL;
}

void dw_facts_of_gradients(struct dw_facts_work *work)
{
	static const char none[] = "all parameters that get gradients are an optimizer's, as far as PyTorch's probe saw";
	const char *text = dw_facts_meta(work, DW_KEY_TORCH_UNUSED_GRADIENTS);
	double unused = 0, all = 0;
	struct dw_fact *fact;
	char *end = NULL;

	if (text) {
		unused = strtod(text, &end);
		all = strtod(end, &end);
	}
	if (!(all > 0) || !(unused > 0)) {
		dw_fact_miss(work, DW_FACT_GRADIENTS_UNUSED, none);
		dw_fact_miss(work, DW_FACT_GRADIENTS_UNUSED_COUNT, none);
		return;
	}
	end += *end == ' ';
	fact = dw_fact_set_share(work, DW_FACT_GRADIENTS_UNUSED, unused, all, 1);
	fact->where = gradients_place(work);
	if (*end)
		fact->note = dw_facts_text(work, end, strlen(end));
	dw_fact_set(work, DW_FACT_GRADIENTS_UNUSED_COUNT, unused, 1);
}
