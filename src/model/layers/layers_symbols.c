/* What each symbol is to the walk over layers; see layers_inside.h. */
#include <stdlib.h>

#include "model/time/flops.h"
#include "model/layers/layer_tree.h"

static enum dw_layer_what what_of(uint32_t category)
{
	return category == DWELL_CATEGORY_OPERATOR ? DW_LAYER_IS_OPERATOR
	       : category == DWELL_CATEGORY_LAYER  ? DW_LAYER_IS_LAYER
	       : category == DWELL_CATEGORY_DEVICE ? DW_LAYER_IS_DEVICE : DW_LAYER_IS_NOTHING;
}

struct dw_layer_symbol *dw_layer_symbols(const struct dw_model *model)
{
	struct dw_layer_symbol *symbols = calloc(model->symbol_count + 1, sizeof *symbols);

	for (uint32_t i = 0; symbols && i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];
		enum dw_flops_why why;

		symbols[i].what = what_of(symbol->category);
		symbols[i].backward = dw_share_of(symbol) == DW_SHARE_BACKWARD;
		if (symbols[i].what == DW_LAYER_IS_OPERATOR)
			symbols[i].flops = dw_flops(symbol->name, symbol->shapes, &why);
	}
	return symbols;
}
