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

/* "900 1000 Net.encoder": sets the numbers, and returns the name, which may be empty. NULL: there is no such text. */
static const char *gradients_read(struct dw_facts_work *work, const char *key, double *part, double *all)
{
	const char *text = dw_facts_meta(work, key);
	char *end = NULL;

	if (!text)
		return NULL;
	*part = strtod(text, &end);
	*all = strtod(end, &end);
	return *all > 0 && *part > 0 ? end + (*end == ' ') : NULL;
}

static void gradients_put(struct dw_facts_work *work, enum dw_fact_id id, double part, double all, const char *name)
{
	struct dw_fact *fact = dw_fact_set_share(work, id, part, all, 1);

	fact->where = id == DW_FACT_GRADIENTS_UNUSED ? gradients_place(work) : NULL;
	if (*name)
		fact->note = dw_facts_text(work, name, strlen(name));
}

void dw_facts_of_gradients(struct dw_facts_work *work)
{
	static const char none[] = "all parameters that get gradients are an optimizer's, as far as PyTorch's probe saw";
	double part = 0, all = 0;
	const char *name = gradients_read(work, DW_KEY_TORCH_UNUSED_GRADIENTS, &part, &all);

	if (name) {
		gradients_put(work, DW_FACT_GRADIENTS_UNUSED, part, all, name);
		dw_fact_set(work, DW_FACT_GRADIENTS_UNUSED_COUNT, part, 1);
	} else {
		dw_fact_miss(work, DW_FACT_GRADIENTS_UNUSED, none);
		dw_fact_miss(work, DW_FACT_GRADIENTS_UNUSED_COUNT, none);
	}
	name = gradients_read(work, DW_KEY_TORCH_DENSE_EMBEDDINGS, &part, &all);
	if (name && part >= DW_ACCOUNT_MOST * all)
		gradients_put(work, DW_FACT_GRADIENTS_EMBEDDINGS, part, all, name);
	else
		dw_fact_miss(work, DW_FACT_GRADIENTS_EMBEDDINGS, "no embeddings with dense gradients have half of the parameters");
}
