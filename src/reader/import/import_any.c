/*
 * Which importer a file belongs to; see import.h.
 *
 * Called by the reader for files that are no traces of dwell.
 */

#include "base/error.h"
#include "import/database.h"

/* An SQLite file: which profiler wrote it, its tables tell. */
static int import_database(const struct dw_import_file *file, int image_fd, struct dw_arena *arena,
                           struct dw_import_result *result, struct dwell_error *error)
{
	struct dw_database database;
	int code = dw_database_open(&database, file, error);

	if (code)
		return code;
	if (dw_database_has_table(&database, "StringIds"))
		code = dw_import_nsight(&database, file, image_fd, arena, result, error);
	else if (dw_database_has_table(&database, "StringTable"))
		code = dw_import_nvprof(&database, file, image_fd, arena, result, error);
	else if (dw_database_has_table(&database, "async_ranges") && dw_database_has_table(&database, "device_events"))
		code = dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is an SQLite file that dwell exported: name the trace itself, or ask it with sqlite3", file->path);
	else if (dw_database_has_prefix(&database, "rocpd_"))
		code = dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is a database of rocprofv3 (rocpd): record with rocprofv3 --output-format json, which dwell reads",
		                    file->path);
	else
		code = dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is an SQLite file without the tables StringIds (Nsight Systems) or "
		                    "StringTable (nvprof): it is no profile", file->path);
	dw_database_close(&database);
	return code;
}

int dw_import_files(const struct dw_import_file *files, size_t count, int image_fd,
                    struct dw_arena *arena, struct dw_import_result *result, struct dwell_error *error)
{
	int code;

	*result = (struct dw_import_result){ .image = NULL };
	if (count == 1 && dw_database_is(files))
		return import_database(files, image_fd, arena, result, error);
	code = dw_import_chrome(files, count, image_fd, arena, result, error);
	return code || result->image || count > 1 ? code : dw_import_xspace(files, arena, result, error);
}

int dw_import_open(const struct dw_import_file *file, struct dw_arena *arena,
                   struct dw_import_result *result, struct dwell_error *error)
{
	return dw_import_files(file, 1, -1, arena, result, error);
}
