/* The list of facts.def as a table: names, units, denominators and sources. */
#include <string.h>

#include "facts/facts.h"

static const struct dw_fact_kind kinds[] = {
#define RATIO DW_FACT_RATIO
#define CHANGE DW_FACT_CHANGED
#define TIMES DW_FACT_TIMES
#define NS DW_FACT_NS
#define COUNT DW_FACT_COUNTED
#define BYTES DW_FACT_BYTES
#define PER_SECOND DW_FACT_PER_SECOND
#define FACT(id, name_, unit_, denominator_, meaning_, source_) \
	{ name_, denominator_, meaning_, source_, unit_ },
#include "facts/facts.def"
#undef FACT
};

const struct dw_fact_kind *dw_fact_kind(enum dw_fact_id id)
{
	return &kinds[id];
}

const char *dw_fact_unit_name(enum dw_fact_unit unit)
{
	switch (unit) {
	case DW_FACT_RATIO: return "ratio";
	case DW_FACT_CHANGED: return "ratio";
	case DW_FACT_TIMES: return "times";
	case DW_FACT_NS: return "ns";
	case DW_FACT_BYTES: return "bytes";
	case DW_FACT_COUNTED: return "count";
	case DW_FACT_PER_SECOND: return "1/s";
	}
	return "";
}

enum dw_fact_id dw_fact_find(const char *name)
{
	unsigned id = 0;

	while (id < DW_FACT_COUNT && strcmp(kinds[id].name, name) != 0)
		id++;
	return (enum dw_fact_id)id;
}

const char *dw_facts_framework_name(enum dw_facts_framework framework)
{
	static const char *const names[DW_FACTS_FRAMEWORK_COUNT] = {
		"C", "Python", "PyTorch", "Lightning", "Ignite", "JAX",
	};

	return framework < DW_FACTS_FRAMEWORK_COUNT ? names[framework] : "C";
}

const char *dw_facts_missing_default(void)
{
	return "not computed";
}

void dw_facts_init(struct dw_facts *facts)
{
	*facts = (struct dw_facts){ .thread = DW_NO_INDEX };
	for (unsigned id = 0; id < DW_FACT_COUNT; id++)
		facts->at[id] = (struct dw_fact){ .missing = dw_facts_missing_default(), .symbol = DW_NO_INDEX };
}
