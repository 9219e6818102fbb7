/* Parses the text of --group-by; see grouping.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/time/grouping.h"

int dw_grouping_parse(const char *text, struct dw_grouping *group, struct dwell_error *error)
{
	memset(group, 0, sizeof *group);
	while (text && *text) {
		size_t length = strcspn(text, ",");
		char *end;

		if (strncmp(text, "shape", length) == 0 && length == 5) {
			group->shapes = true;
		} else if (strncmp(text, "overload", length) == 0 && length == 8) {
			group->overload = true;
		} else if (length > 6 && strncmp(text, "stack:", 6) == 0) {
			unsigned long frames = strtoul(text + 6, &end, 10);

			if (text[6] < '1' || text[6] > '9' || end != text + length || frames > 10000)
				return dw_error_set(error, DWELL_E_ARGUMENT,
				                    "--group-by stack:N takes a number of frames, at least 1; not '%.*s'",
				                    (int)length, text);
			group->stack_frames = (uint32_t)frames;
		} else {
			return dw_error_set(error, DWELL_E_NAME, "--group-by takes shape, overload or stack:N, not '%.*s'",
			                    (int)(length > 100 ? 100 : length), text);
		}
		text += length + (text[length] == ',');
	}
	return 0;
}
