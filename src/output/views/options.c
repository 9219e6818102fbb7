/* Which options of views and layouts a caller has given; see views.h. */
#include "views/views.h"

uint64_t dw_view_options_given(const struct dwell_view_options *options)
{
	uint64_t given = 0;

#define GIVEN_TEXT(field) (options->field != NULL)
#define GIVEN_FLAG(field) (options->field)
#define GIVEN_ROWS(field) (options->field != 0)
#define GIVEN_NUMBER(field) (options->has_##field)
#define OPTION(scope, kind, field, name, letter, argument, choices, help) \
	given |= GIVEN_##kind(field) ? DW_VIEW_TAKES(field) : 0;
#include "views/view_options.def"
#undef OPTION
	return given;
}

uint64_t dw_view_options_for_views(void)
{
	uint64_t options = 0;

#define FOR_ALL 0
#define FOR_VIEWS 1
#define FOR_LAYOUTS 0
#define OPTION(scope, kind, field, name, letter, argument, choices, help) \
	options |= FOR_##scope ? DW_VIEW_TAKES(field) : 0;
#include "views/view_options.def"
#undef OPTION
	return options;
}

const char *dw_view_option_name(uint64_t options)
{
	static const char *const names[] = {
#define OPTION(scope, kind, field, name, letter, argument, choices, help) name,
#include "views/view_options.def"
#undef OPTION
	};

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (options >> i & 1)
			return names[i];
	return NULL;
}
