/*
 * Names of the kernel's functions, from the table that the kernel shows.
 *
 * The table has some 100,000 lines in no order, and a trace has some hundred places. So the places are sorted, and each
 * line of the table is kept for the first place that it is not behind, if it is nearer than what is kept there. The
 * function of a place is then the last one that is kept for it or for a place before it.
 */
#include "symbolize/symbolize_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "format/keys.h"
#include "record/about_process.h"
#include "say/say.h"
#include "symbolize/symbolize_made.h"

#define KERNEL_NAME_BYTES 128u

struct kernel_place {
	uint64_t address, start; /* start: of the function; 0: none is kept */
	uint32_t id;
	char name[KERNEL_NAME_BYTES];
};

DW_ORDER(kernel_compare, struct kernel_place, DW_UP(address) DW_UP(id))

/* Returns whether the table has addresses. */
static bool kernel_read_table(struct kernel_place *places, size_t count)
{
	FILE *table = fopen("/proc/kallsyms", "r");
	char line[512], kind, name[KERNEL_NAME_BYTES];
	bool shown = false;
	uint64_t start;

	while (table && fgets(line, sizeof line, table)) {
		size_t at;

		if (sscanf(line, "%" SCNx64 " %c %127s", &start, &kind, name) != 3 || !start || !strchr("tTwW", kind))
			continue;
		shown = true;
		at = DW_FIRST(i, 0, count, places[i].address >= start);
		if (at < count && start > places[at].start) {
			places[at].start = start;
			memcpy(places[at].name, name, sizeof name);
		}
	}
	if (table)
		fclose(table);
	return shown;
}

void dw_symbolize_kernel(const struct dw_source_file *file)
{
	static const char lacks[] = "they have no names, because /proc/kallsyms shows no addresses: set kernel.kptr_restrict to 0";
	struct kernel_place *places = calloc(file->symbol_count + (size_t)1, sizeof *places);
	const struct kernel_place *last = NULL;
	size_t count = 0;

	for (uint32_t id = 0; places && id < file->symbol_count; id++) {
		const struct dw_source_frame *frame = file->frames[id];

		if (frame && frame->offset && frame->module && strcmp(frame->module, DW_KERNEL) == 0)
			places[count++] = (struct kernel_place){ .address = frame->offset, .id = id };
	}
	if (count) {
		DW_SORT(places, count, kernel_compare);
		if (!kernel_read_table(places, count)) {
			dw_say("functions of the kernel: %s", lacks);
			dw_meta(DW_KEY_SAMPLE_KERNEL_LACKS, lacks, 0);
		}
	}
	for (size_t i = 0; i < count; i++) {
		last = places[i].start ? &places[i] : last;
		if (last)
			dw_symbolize_put(places[i].id, 0, last->name, DW_KERNEL, 0, DW_CODE_OTHER);
	}
	free(places);
}
