/* Cells and texts of a summary, for both of its forms. */
#include "report_summary/report_summary.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

const struct dwell_table *dw_report_summary_part(const struct dwell_table *table, const char *part)
{
	const struct dwell_table *found = table;

	while (found && (!found->part || strcmp(found->part, part) != 0))
		found = found->next;
	assert(found || !table);
	return found;
}

const struct dw_cell *dw_report_summary_cell(const struct dwell_table *table, size_t row, const char *column)
{
	const struct dw_cell *cell = dw_table_cell(table, row, column);

	return cell->type != DW_CELL_NONE ? cell : NULL;
}

const char *dw_report_summary_cut(const char *text, size_t most, unsigned (*cost)(uint32_t code), char *to, size_t size)
{
	const char *at = text, *fits = text;
	size_t used = 0;

	while (*at) {
		used += cost(dw_utf8_next(&at));
		if (used > most || (size_t)(at - text) + 4 > size)
			break;
		if (used + 3 <= most)
			fits = at;
	}
	if (!*at && used <= most)
		fits = at;
	memcpy(to, text, (size_t)(fits - text));
	memcpy(to + (fits - text), *fits ? "..." : "", *fits ? 4 : 1);
	return to;
}

const char *dw_report_summary_what(const struct dw_fact *fact, char *to, size_t size)
{
	const char *const words[] = { fact->note, fact->name, fact->where };
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < 3 && used < size; i++)
		if (words[i])
			used += (size_t)snprintf(to + used, size - used, "%s%.100s", used ? ", " : "", words[i]);
	return to;
}
