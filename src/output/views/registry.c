/* The views by name; see views.h. */
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "views/views.h"

static const struct dw_view *const views[] = {
#define VIEW(name) &dw_view_##name,
#include "views/views.def"
#undef VIEW
};
#define VIEW_COUNT (sizeof views / sizeof *views)

const struct dw_view *dw_view_at(size_t index)
{
	return index < VIEW_COUNT ? views[index] : NULL;
}

const struct dw_view *dw_view_find(const char *name, struct dwell_error *error)
{
	struct dw_nearest nearest;

	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < VIEW_COUNT; i++) {
		if (strcmp(views[i]->name, name) == 0)
			return views[i];
		dw_nearest_try(&nearest, views[i]->name);
	}
	dw_error_set(error, DWELL_E_NAME, "no view '%s'%s (dwell report --help lists all)", name, dw_nearest_question(&nearest).at);
	return NULL;
}

/* Whether a list before `table`, or a column before `at` in it, has the name. */
static bool view_has_column(const struct dw_view *view, const struct dw_column_list *const *table, size_t at)
{
	for (const struct dw_column_list *const *other = view->tables; other <= table; other++)
		for (size_t i = 0; i < (other == table ? at : (*other)->count); i++)
			if (strcmp((*other)->at[i].name, (*table)->at[at].name) == 0)
				return true;
	return false;
}

const char *dw_view_column(const struct dw_view *view, size_t index)
{
	for (const struct dw_column_list *const *table = view->tables; table && *table; table++)
		for (size_t i = 0; i < (*table)->count; i++)
			if (!view_has_column(view, table, i) && !index--)
				return (*table)->at[i].name;
	return NULL;
}
