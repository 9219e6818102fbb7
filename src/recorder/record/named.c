/*
 * Names that the program makes at run time: at most NAMED_MOST in a process.
 *
 * A name is never released. A program that makes a name of a counter ("step 4711") would fill memory
 * and the file with names. After the limit, ranges with a new name are called "(other names)"; each
 * interning of such a name is counted. Names in the program's text and those of probes have no limit.
 */
#include "record/chunks.h"
#include "record/ids.h"
#include "record/record.h"
#include "record/slot.h"

#include <string.h>

#define NAMED_MOST 131072u

static uint32_t named_count; /* atomic */

/* Interns a string if it is known, or if there are few enough. */
static uint32_t named_intern(struct dw_entry *entry)
{
	uint32_t id = dw_intern_find(entry);

	if (!id && DW_LOAD(named_count) < NAMED_MOST && (id = dw_intern(entry)) != 0)
		__atomic_fetch_add(&named_count, 1, __ATOMIC_RELAXED);
	return id;
}

uint32_t dw_intern_made(uint32_t category, const char *name, const char *detail, uint32_t shapes)
{
	uint32_t id = name ? dw_intern_string_by(name, strlen(name), named_intern) : 0;

	if (id || !name || DW_LOAD(named_count) < NAMED_MOST)
		return dw_intern_op_of(category, name, id, detail, shapes, NULL, 0);
	dw_slot_lost(dw_slot_here(NULL), DW_LOSS_NAMES, 1);
	return dw_intern_op(category, "(other names)", NULL, 0, NULL, 0);
}
