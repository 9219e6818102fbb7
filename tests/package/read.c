/* A program that reads a trace through libdwell-read: read TRACE VIEW */
#include <dwell/trace.h>

int main(int count, char **arguments)
{
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace = NULL;
	struct dwell_table *table = NULL;
	struct dwell_view_options options = { sizeof options, NULL, 0 };
	struct dwell_print_options print = { sizeof print, "csv", 0, false };
	const char *path = count > 1 ? arguments[1] : "";
	int result = dwell_trace_open(&trace, &path, 1, NULL, &error);

	if (result == 0)
		result = dwell_trace_view(trace, count > 2 ? arguments[2] : "operators", &options, &table,
		                          &error);
	dwell_trace_close(trace); /* a table outlives its trace */
	if (result == 0) {
		const struct dwell_table *tables[] = { table };

		result = dwell_table_print(tables, 1, stdout, &print, &error);
	}
	dwell_table_destroy(table);
	if (result)
		fprintf(stderr, "%s: %s\n", dwell_error_text(result), error.message);
	return result != 0;
}
