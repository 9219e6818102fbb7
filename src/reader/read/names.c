/* The names of categories and of causes of losses; see source.h. */
#include "dwell/probe.h"
#include "read/source.h"

const char *dw_category_name(uint32_t category)
{
	static const char *const names[] = {
#define X(name, value, text) [value] = text,
		DWELL_CATEGORIES(X)
#undef X
	};

	return category < sizeof names / sizeof *names ? names[category] : NULL;
}

static const char *const names_losses[][2] = {
#define X(name, label, text) [DW_LOSS_##name] = { label, text },
	DW_LOSS_CAUSES(X)
#undef X
};

const char *dw_loss_cause(size_t cause)
{
	return cause < DW_LOSS_COUNT ? names_losses[cause][0] : NULL;
}

const char *dw_loss_text(size_t cause)
{
	return cause < DW_LOSS_COUNT ? names_losses[cause][1] : NULL;
}
