/*
 * parquet: a folder with a file for each table of rows.h, for pandas, polars and DuckDB.
 *
 * The format is large, and libraries of Python that write it are where it is read. So the command starts Python, which
 * gets the columns in memory (columns.h): python/dwell/frames.py.
 */
#include "export/export.h"

const struct dw_export_format dw_export_parquet = {
	.name = "parquet", .what = "a folder with a Parquet file for each table, for pandas, polars and DuckDB; needs pyarrow",
};
