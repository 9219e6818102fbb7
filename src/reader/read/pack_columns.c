/*
 * The records of a chunk as columns, and back; format/pack.h has the layout.
 *
 * Called by pack_write.c and pack_read.c. Equal parts of records lie next to each other in columns, where a
 * compressor finds them. Only words are looked at: a chunk that does not consist of records has no columns. Columns
 * may have been made to harm their reader: no count of theirs is believed.
 */

#include "base/order.h"
#include "read/pack.h"

#define PAYLOAD_ADDRESS_WORDS 2u
#define SAMPLE_DELTAS 64u
#define SLOT_BITS 15
#define SLOTS (1u << SLOT_BITS) /* twice as many as words */

static uint32_t columns_payload_words(uint32_t second)
{
	static const uint8_t words[] = DW_PAYLOAD_WORDS;
	uint32_t kind = second >> DW_KIND_SHIFT;

	return kind == DW_EXT ? second & DW_EXT_WORDS_MASK : words[kind];
}

static uint32_t columns_address_words(uint32_t second)
{
	uint32_t kind = second >> DW_KIND_SHIFT;

	return kind == DW_ALLOC || kind == DW_FREE ? PAYLOAD_ADDRESS_WORDS : 0;
}

/* ---- making them ------------------------------------------------------------------------------ */

struct slot { uint32_t word, count, token; };

struct dw_pack_space {
	struct dw_pack_columns counts;
	uint32_t deltas[DW_PACK_MOST_WORDS];
	uint32_t seconds[DW_PACK_MOST_WORDS];   /* second words, of all but ends */
	uint16_t slot_of[DW_PACK_MOST_WORDS];   /* of each second word */
	bool is_end[DW_PACK_MOST_WORDS];
	uint32_t second_count;
	struct slot slots[SLOTS];               /* by hash; count 0: free */
	uint16_t used[DW_PACK_MOST_WORDS];      /* slots that are in use */
	struct slot sorted[DW_PACK_MOST_WORDS];
	uint32_t used_count, addresses[DW_PACK_MOST_WORDS], payload[DW_PACK_MOST_WORDS];
};

struct dw_pack_space *dw_pack_space_create(void)
{
	return calloc(1, sizeof(struct dw_pack_space));
}

static void columns_count_second(struct dw_pack_space *space, uint32_t second)
{
	uint32_t at = second * 0x9e3779b9u >> (32 - SLOT_BITS);

	while (space->slots[at].count && space->slots[at].word != second)
		at = (at + 1) % SLOTS;
	if (!space->slots[at].count++) {
		space->slots[at].word = second;
		space->used[space->used_count++] = (uint16_t)at;
	}
	space->slot_of[space->second_count] = (uint16_t)at;
	space->seconds[space->second_count++] = second;
}

/* Takes the records apart. Returns how many words they have. */
static uint32_t columns_split(struct dw_pack_space *space, const uint32_t *words, uint32_t count)
{
	struct dw_pack_columns *counts = &space->counts;
	uint32_t at = 0;

	while (at < count && words[at] & DW_WORD_PRESENT) {
		bool end = words[at] & DW_WORD_END;
		uint32_t second = end || at + 1 == count ? 0 : words[at + 1];
		uint32_t address = columns_address_words(second), more = columns_payload_words(second);

		if (!end && count - at < 2 + more)
			break;
		space->deltas[counts->records] = words[at] >> DW_DELTA_SHIFT;
		space->is_end[counts->records++] = end;
		if (end) {
			at++;
			continue;
		}
		columns_count_second(space, second);
		memcpy(space->addresses + counts->addresses, words + at + 2, address * 4);
		memcpy(space->payload + counts->payload, words + at + 2 + address, (more - address) * 4);
		counts->addresses += address;
		counts->payload += more - address;
		at += 2 + more;
	}
	return at;
}

DW_ORDER(columns_compare, struct slot, DW_DOWN(count) DW_UP(word))

/* Chooses the words of the table, and gives each word its token. */
static void columns_make_table(struct dw_pack_space *space)
{
	struct dw_pack_columns *counts = &space->counts;

	for (uint32_t i = 0; i < space->used_count; i++) {
		space->sorted[i] = space->slots[space->used[i]];
		space->sorted[i].token = space->used[i]; /* for now where it is */
	}
	qsort(space->sorted, space->used_count, sizeof *space->sorted, columns_compare);
	for (uint32_t i = 0; i < space->used_count; i++) {
		space->slots[space->sorted[i].token].token = i < DW_PACK_TABLE ? i + 1 : DW_PACK_OTHER;
		if (i >= DW_PACK_TABLE)
			counts->others += space->sorted[i].count;
	}
	counts->table = space->used_count < DW_PACK_TABLE ? space->used_count : DW_PACK_TABLE;
}

static uint32_t columns_multiples(const struct dw_pack_space *space, uint32_t step, uint32_t stride)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < space->counts.records; i += stride)
		found += space->deltas[i] % step == 0;
	return found;
}

/* Clocks often count in steps of several ticks. The largest number of which nearly all deltas are multiples. */
static uint32_t columns_find_step(const struct dw_pack_space *space)
{
	uint32_t count = space->counts.records, stride = count / SAMPLE_DELTAS + 1;
	uint32_t sample = (count + stride - 1) / stride;

	for (uint32_t step = UINT8_MAX; step > 1; step--)
		if (columns_multiples(space, step, stride) + sample / 32 >= sample &&
		    columns_multiples(space, step, 1) + count / 50 >= count)
			return step;
	return 1;
}

static uint8_t *columns_put(uint8_t *to, const uint32_t *words, uint32_t count)
{
	memcpy(to, words, (size_t)count * 4);
	return to + (size_t)count * 4;
}

/* Writes the bytes of each record. Returns their end. */
static uint8_t *columns_put_records(struct dw_pack_space *space, uint8_t *to, uint32_t *ends)
{
	uint32_t count = space->counts.records, step = space->counts.step, second = 0;
	uint8_t *token = to, *low = to + count, *high = low + count, *rest = high + count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t value = space->deltas[i] / step;

		token[i] = space->is_end[i] ? 0 : (uint8_t)space->slots[space->slot_of[second++]].token;
		low[i] = (uint8_t)value;
		high[i] = value >> 8 < UINT8_MAX ? (uint8_t)(value >> 8) : UINT8_MAX;
		if (step > 1)
			rest[i] = (uint8_t)(space->deltas[i] % step);
	}
	for (int i = 0; i < 3; i++)
		ends[i] = count;
	return step > 1 ? rest + count : rest;
}

/* Writes the words that the bytes of the records refer to. Returns their end. */
static uint8_t *columns_put_others(struct dw_pack_space *space, uint8_t *to)
{
	struct dw_pack_columns *counts = &space->counts;

	for (uint32_t i = 0; counts->others && i < space->second_count; i++)
		if (space->slots[space->slot_of[i]].token == DW_PACK_OTHER)
			to = columns_put(to, &space->seconds[i], 1);
	for (uint32_t i = 0; i < counts->records; i++) {
		uint32_t high = space->deltas[i] / counts->step >> 8;

		if (high < UINT8_MAX)
			continue;
		to = columns_put(to, &high, 1);
		counts->highs++;
	}
	return to;
}

uint32_t dw_pack_to_columns(struct dw_pack_space *space, const uint32_t *words, uint32_t count, uint8_t *columns,
                            uint32_t pieces[DW_PACK_PIECES])
{
	uint8_t *at = columns + sizeof space->counts, *from;
	uint32_t used;

	for (uint32_t i = 0; i < space->used_count; i++)
		space->slots[space->used[i]].count = 0;
	space->used_count = space->second_count = 0;
	memset(&space->counts, 0, sizeof space->counts);
	used = columns_split(space, words, count);
	columns_make_table(space);
	space->counts.step = columns_find_step(space);
	for (uint32_t i = 0; i < space->counts.table; i++)
		at = columns_put(at, &space->sorted[i].word, 1);
	pieces[0] = (uint32_t)(at - columns);
	from = at;
	at = columns_put_records(space, at, pieces + 1);
	at = columns_put_others(space, at);
	pieces[4] = (uint32_t)(at - from) - 3 * space->counts.records;
	at = columns_put(at, space->addresses, space->counts.addresses);
	pieces[5] = space->counts.addresses * 4;
	columns_put(at, space->payload, space->counts.payload);
	pieces[6] = space->counts.payload * 4;
	memcpy(columns, &space->counts, sizeof space->counts);
	return used;
}

/* ---- reading them ----------------------------------------------------------------------------- */

/* Where the next items of each column are, and where the words that must suffice for them end. */
struct columns {
	const uint8_t *tokens, *lows, *highs, *rests;
	const uint8_t *other, *other_end, *high, *high_end, *address, *address_end, *payload, *payload_end;
	uint32_t records, step;
	struct word { uint32_t word; bool more; uint16_t addresses, payload; } table[UINT8_MAX + 1]; /* more: a payload, or other */
};

static struct word columns_word(uint32_t word)
{
	uint32_t addresses = columns_address_words(word), all = columns_payload_words(word);

	return (struct word){ word, all != 0, (uint16_t)addresses, (uint16_t)(all - addresses) };
}

static uint32_t columns_load(const uint8_t **at)
{
	uint32_t word;

	memcpy(&word, *at, sizeof word);
	*at += sizeof word;
	return word;
}

/* Finds the columns. False: their lengths are not those of all bytes. */
static bool columns_find(struct columns *columns, const uint8_t *bytes, size_t size)
{
	struct dw_pack_columns counts;
	const uint8_t *at = bytes + sizeof counts;
	uint64_t words, rows;

	if (size < sizeof counts)
		return false;
	memcpy(&counts, bytes, sizeof counts);
	if (counts.table > DW_PACK_TABLE || !counts.step || counts.step > UINT8_MAX)
		return false;
	words = (uint64_t)counts.table + counts.others + counts.highs + counts.addresses + counts.payload;
	rows = counts.step > 1 ? 4 : 3;
	if (sizeof counts + words * 4 + rows * counts.records != size)
		return false;
	memset(columns->table, 0, sizeof columns->table);
	columns->table[DW_PACK_OTHER].more = true;
	for (uint32_t i = 0; i < counts.table; i++)
		columns->table[i + 1] = columns_word(columns_load(&at));
	columns->records = counts.records;
	columns->step = counts.step;
	columns->tokens = at;
	columns->lows = at + counts.records;
	columns->highs = columns->lows + counts.records;
	columns->rests = columns->highs + counts.records;
	columns->other = at + rows * counts.records;
	columns->other_end = columns->high = columns->other + (size_t)counts.others * 4;
	columns->high_end = columns->address = columns->high + (size_t)counts.highs * 4;
	columns->address_end = columns->payload = columns->address + (size_t)counts.addresses * 4;
	columns->payload_end = columns->payload + (size_t)counts.payload * 4;
	return true;
}

static bool columns_copy(uint32_t *to, const uint8_t **from, const uint8_t *end, uint32_t words)
{
	if ((size_t)(end - *from) < (size_t)words * 4)
		return false;
	memcpy(to, *from, (size_t)words * 4);
	*from += (size_t)words * 4;
	return true;
}

/* Adds the second word and the payload of a record. Returns how many words it has; 0: they do not suffice. */
static uint32_t columns_join_long(struct columns *columns, uint32_t token, uint32_t *words, uint32_t left)
{
	struct word second = columns->table[token];

	if (token == DW_PACK_OTHER) {
		if (!columns_copy(&second.word, &columns->other, columns->other_end, 1))
			return 0;
		second = columns_word(second.word);
	}
	if (left < 1u + second.addresses + second.payload)
		return 0;
	words[0] = second.word;
	return columns_copy(words + 1, &columns->address, columns->address_end, second.addresses) &&
	               columns_copy(words + 1 + second.addresses, &columns->payload, columns->payload_end, second.payload)
	           ? 1 + second.addresses + second.payload : 0;
}

/* Puts the records together. Most have no payload; the fields that these need are in registers. */
static bool columns_join(struct columns *columns, uint32_t *words, uint32_t count)
{
	const uint8_t *tokens = columns->tokens, *lows = columns->lows, *highs = columns->highs, *rests = columns->rests;
	const uint32_t records = columns->records, step = columns->step;
	uint32_t *at = words, *const end = words + count;

	for (uint32_t i = 0; i < records; i++) {
		uint32_t token = tokens[i], high = highs[i], more;

		if (at == end || (high == UINT8_MAX && !columns_copy(&high, &columns->high, columns->high_end, 1)))
			return false;
		more = (lows[i] | high << 8) * step + (step > 1 ? rests[i] : 0);
		*at++ = more << DW_DELTA_SHIFT | (token ? 0 : DW_WORD_END) | DW_WORD_PRESENT;
		if (!token)
			continue;
		if (!columns->table[token].more && at < end) {
			*at++ = columns->table[token].word;
			continue;
		}
		more = columns_join_long(columns, token, at, (uint32_t)(end - at));
		if (!more)
			return false;
		at += more;
	}
	return at == end;
}

bool dw_pack_from_columns(const uint8_t *bytes, size_t size, uint32_t *words, uint32_t count)
{
	struct columns columns;

	return columns_find(&columns, bytes, size) && columns_join(&columns, words, count);
}
