/*
 * Property: whatever the words, decoding stays inside them, ends, calls a visitor
 * once a record, never lets time run backward, and gives each record its payload.
 */
#include <stdlib.h>
#include <string.h>

#include "format/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	const uint32_t *words, *end;
	uint64_t last, records;
};

static void demand(bool holds)
{
	if (!holds)
		abort();
}

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
	struct seen *seen = context;

	see(seen, ticks);
	demand(record->kind != DW_BEGIN);
	if (record->kind == DW_END_OF) /* its n is what dw_open_end() found */
		demand(record->words == 1 && (record->payload[0] || true));
	else
		demand(record->payload >= seen->words && record->payload + record->words <= seen->end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t count = (uint32_t)(size / 4), used;
	uint32_t *words = malloc(count * 4 + 1); /* exact, so that ASan sees one word too many */
	struct seen seen = { words, words + count, 0, 0 };
	struct dw_decode_open open = { 0 };
	struct dw_decode_time time = { .open = &open };

	if (!words)
		return 0;
	if (count)
		memcpy(words, data, count * 4);
	used = dw_decode_words(words, count, &time, &seen, visit_begin, visit_end, visit_other);
	demand(used <= count && seen.records == time.records && seen.records <= used);
	demand(open.depth <= used);
	free(open.ids);
	free(words);
	return 0;
}
