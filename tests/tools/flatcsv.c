/* flatcsv TRACE: the model's operators as second_reader.py prints them; for tests. */
#include <stdio.h>

#include "model/model.h"

int main(int count, char **arguments)
{
	const char *path = count > 1 ? arguments[1] : "";
	struct dwell_error error = { 0, "" };
	struct dw_source *source;
	struct dw_model *model;
	const struct dw_flat *flat = NULL;
	size_t symbol_count;

	if (dw_source_open(&source, &path, 1, &error) ||
	    dw_model_create(&model, source, NULL, &error) ||
	    !(flat = dw_model_flat(model, 1u << DWELL_CATEGORY_OPERATOR, &error))) {
		fprintf(stderr, "flatcsv: %s\n", error.message);
		return 1;
	}
	const struct dw_symbol *symbols = dw_model_symbols(model, &symbol_count);
	puts("name,calls,self_ns,total_ns");
	for (size_t i = 0; i < flat->count; i++)
		printf("%s,%llu,%llu,%llu\n", symbols[flat->rows[i].symbol].name,
		       (unsigned long long)flat->rows[i].stat.count,
		       (unsigned long long)flat->rows[i].stat.self_ns,
		       (unsigned long long)(flat->rows[i].stat.total_ns +
		                            flat->rows[i].stat.nested_ns));
	dw_model_destroy(model);
	dw_source_close(source);
	return 0;
}
