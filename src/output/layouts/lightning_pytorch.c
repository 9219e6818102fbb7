/*
 * Lightning: the report of PyTorchProfiler, a table of operators for each action that it records.
 *
 * It records the steps and the backward of any object, and the actions that the name of the layout
 * lists ("lightning-pytorch:NAME,NAME"). If none of them ran, there is one table of the whole
 * stage. The tables are those of torch.c, with PyTorchProfiler's default order and 20 rows.
 */
#include <string.h>

#include "layouts/python.h"
#include "layouts/torch_parts.h"

#define OPERATORS (1u << DWELL_CATEGORY_OPERATOR)
#define ACTIONS (1u << DWELL_CATEGORY_ACTION)

/* Whether `text`, or its part after the last dot, is one of the names. */
static bool lightning_pytorch_is_among(const char *names, const char *text)
{
	const char *dot = strrchr(text, '.');

	for (size_t length; *names; names += length + (names[length] == ',')) {
		length = strcspn(names, ",");
		if ((strncmp(text, names, length) == 0 && !text[length]) ||
		    (dot && strncmp(dot + 1, names, length) == 0 && !dot[1 + length]))
			return true;
	}
	return false;
}

/* Whether a table is printed for an action. "[Strategy]SingleDeviceStrategy.training_step" counts
 * as training_step. */
static bool lightning_pytorch_is_recorded(const char *action, const char *more)
{
	static const char defaults[] = "training_step,backward,validation_step,test_step,predict_step";

	return lightning_pytorch_is_among(defaults, action) || (more && lightning_pytorch_is_among(more, action));
}

static int lightning_pytorch_put_table(struct dw_model *model, const char *action,
                                       const struct dwell_view_options *options, FILE *file, struct dwell_error *error)
{
	struct dwell_view_options table = *options;
	const struct dw_layout_request request = { NULL, &table };

	if (!(dw_model_categories(model) & OPERATORS))
		return 0;
	if (!table.sort)
		table.sort = "cpu_time_total";
	if (!table.limit)
		table.limit = 20;
	fprintf(file, "Profile stats for: %s\n", action);
	return dw_torch_print(model, &request, file, error);
}

static int lightning_pytorch_put_action(struct dw_model *model, const char *action,
                                        const struct dwell_view_options *options, FILE *file, struct dwell_error *error)
{
	struct dw_scope scope = *dw_model_scope(model);
	struct dw_model *part;
	int code;

	scope.action = action;
	code = dw_model_within(model, &scope, &part, error);
	if (code)
		return code;
	code = lightning_pytorch_put_table(part, action, options, file, error);
	dw_model_forget(part); /* frees memory: there may be many actions */
	return code;
}

static int lightning_pytorch_print_stage(struct dw_model *model, const char *stage, FILE *file, void *context,
                                         struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, ACTIONS, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const struct dw_layout_request *request = context;
	bool any = false;
	int code = 0;

	if (!flat)
		return DWELL_E_NOMEM;
	dw_layout_put_stage(file, stage);
	if (dw_model_scope(model)->action)
		return lightning_pytorch_put_table(model, dw_model_scope(model)->action, request->options, file, error);
	for (size_t i = 0; i < flat->count && !code; i++) {
		const char *name = symbols[flat->rows[i].symbol].name;

		if (!lightning_pytorch_is_recorded(name, request->version))
			continue;
		any = true;
		code = lightning_pytorch_put_action(model, name, request->options, file, error);
	}
	return any ? code : lightning_pytorch_put_table(model, "records", request->options, file, error);
}

static int lightning_pytorch_print(struct dw_model *model, const struct dw_layout_request *request,
                                   FILE *file, struct dwell_error *error)
{
	return dw_layout_stages(model, lightning_pytorch_print_stage, file, (void *)request, error);
}

const struct dw_layout dw_layout_lightning_pytorch = {
	.name = "lightning-pytorch", .what = "Lightning's PyTorchProfiler: operators of each step and backward",
	.print = lightning_pytorch_print,
};
