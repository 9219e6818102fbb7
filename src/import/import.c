/*
 * Which importer a file belongs to; see import.h.
 *
 * Called by the reader for files that are no traces of dwell.
 */
#include "import/import.h"

void dw_import_note(struct dw_import_result *result, struct dw_arena *arena, size_t count,
                    const char *what)
{
	if (count)
		result->note = dw_arena_printf(arena, "%s%s%zu %s", result->note ? result->note : "",
		                               result->note ? "; " : "", count, what);
}

int dw_import_files(const struct dw_import_file *files, size_t count, int image_fd,
                    struct dw_arena *arena, struct dw_import_result *result,
                    struct dwell_error *error)
{
	int code;

	*result = (struct dw_import_result){ .image = NULL };
	code = dw_import_chrome(files, count, image_fd, arena, result, error);
	return code || result->image || count > 1 ? code
	                                          : dw_import_xspace(files, arena, result, error);
}

int dw_import_open(const struct dw_import_file *file, struct dw_arena *arena,
                   struct dw_import_result *result, struct dwell_error *error)
{
	return dw_import_files(file, 1, -1, arena, result, error);
}
