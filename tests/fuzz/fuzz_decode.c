/*
 * Property: whatever the words, decoding stays inside them, ends, calls a visitor
 * once a record and once a range that a scope cut, never lets time run backward, and
 * gives each record its payload.
 */
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "format/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t last, records;
};

static void see(struct seen *seen, uint64_t ticks)
{
	demand(ticks >= seen->last);
	seen->last = ticks;
	seen->records++;
}

static void visit_begin(void *context, uint64_t ticks, uint32_t id)
{
	demand(id <= DW_ID_MASK);
	see(context, ticks);
}

static void visit_end(void *context, uint64_t ticks)
{
	see(context, ticks);
}

static void visit_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	static volatile uint32_t sum; /* so that a sanitizer sees each word read */

	see(context, ticks);
	demand(record->kind != DW_BEGIN);
	for (uint32_t i = 0; i < record->words && i < DW_PAYLOAD_KEPT; i++)
		sum += record->payload[i];
	(void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t count = (uint32_t)(size / 4), used;
	uint32_t *words = malloc(count * 4 + 1); /* exact, so that ASan sees one word too many */
	struct seen seen = { 0, 0 };
	struct dw_decode_open open = { 0 };
	struct dw_decode_time time = { .open = &open };

	bounds_begin();
	if (!words)
		return 0;
	if (count)
		memcpy(words, data, count * 4);
	used = dw_decode_words(words, count, &time, &seen, visit_begin, visit_end, visit_other);
	demand(used <= count && seen.records == time.records + time.cut && time.records <= used);
	demand(time.cut <= time.records);
	demand(open.depth <= used);
	free(open.ids);
	bounds_end(data, size, size);
	free(words);
	return 0;
}
