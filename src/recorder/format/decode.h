/*
 * Decodes the words of a chunk in one loop, with visitors that are inlined.
 *
 * For readers. dw_decode_words() calls `begin`, `end` or `other` for each record with the record's
 * time. The visitors are passed as constants and everything here is always inlined. So the compiler
 * makes one loop of them, without a call for each record. Every read is checked against the end of
 * the data: whatever the words are, nothing outside of them is read and the loop ends.
 *
 * Another process may write to the words while they are decoded. So each word is loaded once, and a
 * visitor gets a copy of the payload: it uses the same values that were checked.
 *
 * For a visitor time never decreases. If the counter did (an EXT TIME or the base of a chunk before
 * the last record), the latest time is used until the counter has reached it again, and `backward`
 * counts this.
 *
 * A longjmp() out of a step skips the ends of ranges. EXT SCOPE_BEGIN and SCOPE_END mark the begin
 * and the end of such a step. Ranges that began in between and are still open at SCOPE_END are
 * ended here, so that visitors see a matching end for each begin.
 *
 * The time of decoding is linear in the number of words. To end a range that is not the innermost
 * one, the ranges inside it are moved. If this takes more than DW_MOVES_A_WORD moves for each
 * decoded word, such ends are left out and counted in `skipped`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/layout.h"

#define DW_INLINE static inline __attribute__((always_inline))

/* The ids of a stream's open ranges, outermost first, for ends that name their range. */
#define DW_OPEN_BY_NAME 0x80000000u /* a plain END does not end this range */
struct dw_decode_open {
	uint32_t *ids;
	uint32_t depth;
	uint32_t capacity; /* ids of deeper ranges are not stored: see dw_open_grow() */
};

/* A stream's time, which continues from chunk to chunk. Zero at the stream's start. */
struct dw_decode_time {
	uint64_t ticks;    /* the counter, as recorded */
	uint64_t floor;    /* the smallest time that visitors may get */
	uint64_t backward; /* how often the counter decreased */
	uint64_t records;
	uint64_t cut;      /* ranges that a SCOPE_END ended */
	uint64_t skipped;  /* ends left out, because finding them took too long */
	uint64_t moves, most_moves; /* moves that ends of outer ranges took, and the limit */
	uint32_t inside;   /* open ranges that began after the SCOPE_BEGIN */
	bool in_scope;     /* a SCOPE_BEGIN has no SCOPE_END yet */
	bool damaged;      /* a word was not a record: the rest of the chunk was left out */
	struct dw_decode_open *open; /* owned by the caller; NULL: ends by name are not found */
};

/* Any record other than a BEGIN or a plain END. */
struct dw_record {
	uint32_t kind;           /* enum dw_kind */
	uint32_t id;             /* EXT: type << 12 | words */
	uint32_t words;          /* of the payload; at least as many as the kind needs */
	const uint32_t *payload; /* a copy of its first DW_PAYLOAD_KEPT words */
};
#define DW_PAYLOAD_KEPT 12u  /* words: as many as the longest known record has, which is ANSWERED */

DW_INLINE uint64_t dw_record_u64(const struct dw_record *record, uint32_t word)
{
	return (uint64_t)record->payload[word] | (uint64_t)record->payload[word + 1] << 32;
}

DW_INLINE double dw_record_f64(const struct dw_record *record, uint32_t word)
{
	uint64_t bits = dw_record_u64(record, word);
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

typedef void dw_visit_begin(void *context, uint64_t ticks, uint32_t id);
typedef void dw_visit_end(void *context, uint64_t ticks);
typedef void dw_visit_other(void *context, uint64_t ticks, const struct dw_record *record);
/* Optional, after a begin: whether nothing that is in the range matters. */
typedef bool dw_visit_over(void *context);
/* Optional. Reads a run of begins and ends that starts at `at`; *ticks is the time of the record before. Sets *ticks to the time of the
 * last record that it read, adds to dw_decode_time.records, and returns the word behind it. Returns `at` if it reads none. */
typedef const uint32_t *dw_visit_burst(void *context, const uint32_t *at, const uint32_t *limit, uint64_t *ticks);
#define DW_BURST_WORTH 64 /* words; after a shorter run twice as many words as before are read one by one */

DW_INLINE uint64_t dw_time_now(const struct dw_decode_time *time)
{
	return time->ticks > time->floor ? time->ticks : time->floor;
}

/* No clock gets there in a lifetime, even at some GHz. A larger value is damage. Below it, the
 * deltas of a chunk cannot overflow. */
#define DW_TICKS_MAX ((uint64_t)1 << 62)

/* Sets an absolute time: a chunk's base or an EXT. */
DW_INLINE void dw_time_set(struct dw_decode_time *time, uint64_t ticks)
{
	uint64_t now = dw_time_now(time);

	if (ticks > DW_TICKS_MAX) {
		time->damaged = true;
		return;
	}
	if (ticks < now) {
		time->floor = now;
		time->backward++;
	}
	time->ticks = ticks;
}

/* ---- ends by name ---------------------------------------------------------------------- */

/* An n for an END_OF that ends no range. */
#define DW_NOT_OPEN UINT32_MAX
#define DW_OPEN_MOST (1u << 20)

/* If memory or the limit does not suffice, deeper ids are not stored and their ends are not
 * found. */
__attribute__((noinline, unused)) static void dw_open_grow(struct dw_decode_open *open)
{
	uint32_t capacity = open->capacity ? open->capacity * 2 : 256;
	uint32_t *ids = open->depth == open->capacity && capacity <= DW_OPEN_MOST
	                    ? realloc(open->ids, capacity * sizeof *ids) : NULL;

	if (!ids)
		return;
	open->ids = ids;
	open->capacity = capacity;
}

/* How many ranges the ends of outer ranges may move, for each word decoded, and in addition to
 * that. Programs need few; a file that is made to harm its reader may need any number. */
#define DW_MOVES_A_WORD 64u
#define DW_MOVES_SPARE ((uint64_t)1 << 20)

/* Whether `moves` more are within the limit. */
DW_INLINE bool dw_may_move(struct dw_decode_time *time, uint64_t moves)
{
	if (time->moves + moves > time->most_moves + DW_MOVES_SPARE) {
		time->skipped++;
		return false;
	}
	time->moves += moves;
	return true;
}

/* Removes the n-th open range from the list. DW_NOT_OPEN: that would take too long. */
__attribute__((noinline, unused)) static uint32_t dw_open_take(struct dw_decode_time *time,
                                                               struct dw_decode_open *open,
                                                               uint32_t n)
{
	uint32_t *at;

	/* Without a list the depth is unknown; visitors move at most DW_OPEN_MOST. */
	if (open ? n >= open->depth : n > DW_OPEN_MOST)
		return n;
	if (!dw_may_move(time, n))
		return DW_NOT_OPEN;
	if (!open)
		return n;
	if (open->depth <= open->capacity) {
		at = &open->ids[open->depth - 1 - n];
		memmove(at, at + 1, n * sizeof *at);
	}
	open->depth--;
	return n;
}

/* The position, from the innermost, of the range that an END_OF ends; removes that range. With an id,
 * `n` counts the open ranges of this id alone. */
__attribute__((noinline, unused)) static uint32_t dw_open_end(struct dw_decode_time *time,
                                                              struct dw_decode_open *open,
                                                              uint32_t id, uint32_t n)
{
	if (id) {
		uint32_t inner = n;

		if (!open || open->depth > open->capacity)
			return DW_NOT_OPEN;
		for (n = 0; n < open->depth && ((open->ids[open->depth - 1 - n] & DW_ID_MASK) != id || inner-- != 0);) {
			/* Comparing takes less time than moving. */
			if (++n % 8 == 0 && !dw_may_move(time, 1))
				return DW_NOT_OPEN;
		}
		if (n == open->depth)
			return DW_NOT_OPEN;
	}
	return dw_open_take(time, open, n);
}

/* The same for an END without an id if the innermost range must be ended by name. */
__attribute__((noinline, unused)) static uint32_t dw_open_end_nested(struct dw_decode_time *time,
                                                                     struct dw_decode_open *open)
{
	uint32_t n = 1;

	while (n < open->depth && open->ids[open->depth - 1 - n] & DW_OPEN_BY_NAME)
		if (++n % 8 == 0 && !dw_may_move(time, 1))
			return DW_NOT_OPEN;
	return n < open->depth ? dw_open_take(time, open, n) : DW_NOT_OPEN;
}

/* ---- scopes ---------------------------------------------------------------------------- */

/* No range is open any more: called by visitors and callers at a gap or another thread. */
DW_INLINE void dw_decode_end_all(struct dw_decode_time *time)
{
	time->inside = 0;
	time->in_scope = false;
	if (time->open)
		time->open->depth = 0;
}

/* Ends the ranges that began since the SCOPE_BEGIN and are still open, at the SCOPE_END. */
__attribute__((noinline, unused)) static void dw_decode_cut(struct dw_decode_time *time,
                                                            void *context, uint64_t now,
                                                            dw_visit_end *end)
{
	for (; time->inside; time->inside--) {
		if (time->open && time->open->depth)
			time->open->depth--;
		time->cut++;
		end(context, now);
	}
}

/* ---- the loop ------------------------------------------------------------------------------ */

/* Goes over the begins and ends in the range that has just begun, up to its end or a record of another kind. What is open there
 * begins there for the visitor, without a name, so that each end finds its begin. The loop has no branch that depends on the records,
 * so the processor need not guess whether a begin or an end comes next. Returns the next word. */
DW_INLINE const uint32_t *dw_decode_over(const uint32_t *at, const uint32_t *limit, uint64_t *ticks, uint64_t floor,
                                         void *context, dw_visit_begin *begin)
{
	uint32_t open = 0;

	while (limit - at > 1) {
		uint32_t word0 = __atomic_load_n(at, __ATOMIC_RELAXED), word1 = __atomic_load_n(at + 1, __ATOMIC_RELAXED);
		uint32_t end = (word0 & DW_WORD_END) / DW_WORD_END, begins = word1 >> DW_KIND_SHIFT == DW_BEGIN;

		if (!(word0 & DW_WORD_PRESENT) | !((end & (open != 0)) | (~end & begins)))
			break;
		*ticks += word0 >> DW_DELTA_SHIFT;
		open += 1 - 2 * end;
		at += 2 - end;
	}
	for (; open; open--)
		begin(context, *ticks > floor ? *ticks : floor, 0);
	return at;
}

/* `named` and `scoped` are constants. Without `named`, open ranges are not stored; without
 * `scoped`, they are not counted, and the loop ends at a SCOPE_BEGIN. */
DW_INLINE uint32_t dw_decode_loop(const uint32_t *words, uint32_t count,
                                  struct dw_decode_time *time, void *context,
                                  dw_visit_begin *begin, dw_visit_end *end,
                                  dw_visit_other *other, dw_visit_over *over, dw_visit_burst *burst, const bool named, const bool scoped)
{
	static const uint8_t payload_words[16] = DW_PAYLOAD_WORDS;
	const uint32_t *at = words, *const limit = words + count, *again = words;
	uint64_t ticks = time->ticks, floor = time->floor, records = 0;
	ptrdiff_t wait = 1;
	struct dw_decode_open *open = named ? time->open : NULL;
	uint32_t *ids = open ? open->ids : NULL;
	uint32_t depth = open ? open->depth : 0, capacity = open ? open->capacity : 0;
	uint32_t inside = time->inside;

	time->most_moves += (uint64_t)count * DW_MOVES_A_WORD;
	while (at < limit) {
		if (!named && !scoped && burst && at >= again) {
			again = ticks >= floor ? burst(context, at, limit, &ticks) : at;
			wait = again == limit || again - at >= DW_BURST_WORTH || *again & DW_WORD_END ? 1 : 2 * wait;
			at = again;
			if (at == limit)
				break;
			again += wait;
		}
		uint32_t word0 = __atomic_load_n(at, __ATOMIC_RELAXED);
		uint64_t now;

		if (__builtin_expect(!(word0 & DW_WORD_PRESENT), 0)) {
			time->damaged |= word0 != 0;
			break;
		}
		ticks += word0 >> DW_DELTA_SHIFT;
		now = ticks > floor ? ticks : floor;
		if (word0 & DW_WORD_END) {
			at++;
			records++;
			if (named && __builtin_expect(depth - 1 < capacity && ids[depth - 1] & DW_OPEN_BY_NAME, 0)) {
				open->depth = depth;
				uint32_t n = dw_open_end_nested(time, open);
				inside -= scoped && n < inside;
				other(context, now, &(struct dw_record){ DW_END_OF, 0, 1, &n });
				depth = open->depth;
				continue;
			}
			depth -= named && depth != 0;
			inside -= scoped && inside != 0;
			end(context, now);
			continue;
		}
		if (__builtin_expect(limit - at < 2, 0))
			break; /* the data ends within this record */
		uint32_t word1 = __atomic_load_n(at + 1, __ATOMIC_RELAXED);
		if (__builtin_expect(word1 >> DW_KIND_SHIFT == DW_BEGIN, 1)) {
			at += 2;
			records++;
			if (named && __builtin_expect(depth == capacity, 0)) {
				open->depth = depth;
				dw_open_grow(open);
				ids = open->ids;
				capacity = open->capacity;
			}
			if (named && __builtin_expect(depth < capacity, 1))
				ids[depth] = word1;
			depth += named;
			inside += scoped;
			begin(context, now, word1);
			if (!named && !scoped && over && over(context))
				at = dw_decode_over(at, limit, &ticks, floor, context, begin);
			continue;
		}
		uint32_t payload[DW_PAYLOAD_KEPT];
		struct dw_record record = { word1 >> DW_KIND_SHIFT, word1 & DW_ID_MASK, 0, payload };
		record.words = record.kind == DW_EXT ? record.id & DW_EXT_WORDS_MASK
		                                     : payload_words[record.kind];
		if (limit - at - 2 < (ptrdiff_t)record.words)
			break;
		for (uint32_t i = 0; i < record.words && i < DW_PAYLOAD_KEPT; i++)
			payload[i] = __atomic_load_n(at + 2 + i, __ATOMIC_RELAXED);
		at += 2 + record.words;
		records++;
		if (record.kind == DW_EXT && record.words >= 2) {
			time->ticks = ticks;
			dw_time_set(time, dw_record_u64(&record, 0));
			ticks = time->ticks;
			floor = time->floor;
			now = ticks > floor ? ticks : floor;
		}
		if (open)
			open->depth = depth;
		time->inside = inside;
		if (record.kind == DW_END_OF) {
			payload[0] = dw_open_end(time, open, record.id, payload[0]);
			time->inside -= scoped && payload[0] < inside;
		}
		if (record.kind == DW_EXT && record.id == DW_EXT_BY_NAME << DW_EXT_TYPE_SHIFT &&
		    depth - 1 < capacity)
			ids[depth - 1] |= DW_OPEN_BY_NAME;
		if (record.kind == DW_EXT && record.id == DW_EXT_SCOPE_BEGIN << DW_EXT_TYPE_SHIFT) {
			time->inside = 0;
			time->in_scope = true;
		}
		if (record.kind == DW_EXT && record.id == DW_EXT_SCOPE_END << DW_EXT_TYPE_SHIFT) {
			if (time->in_scope)
				dw_decode_cut(time, context, now, end);
			time->in_scope = false;
		}
		/* The ends were lost, or belong to a thread that has ended. */
		if (record.kind == DW_THREAD || record.kind == DW_LOSS)
			time->in_scope = false;
		other(context, now, &record);
		depth = open ? open->depth : 0; /* a visitor may end all that is open */
		inside = time->inside;
		if (!scoped && time->in_scope)
			break;
	}
	time->inside = inside;
	if (open)
		open->depth = depth;
	time->ticks = ticks;
	time->records += records;
	return (uint32_t)(at - words);
}

/*
 * Decodes up to `count` words, to the first zero word or to the first damage. `time` must contain
 * the chunk's base. Returns how many words were decoded. Records that `over` leaves out are not in
 * time->records.
 */
DW_INLINE uint32_t dw_decode_words_over(const uint32_t *words, uint32_t count, struct dw_decode_time *time, void *context,
                                        dw_visit_begin *begin, dw_visit_end *end, dw_visit_other *other, dw_visit_over *over,
                                        dw_visit_burst *burst)
{
	uint32_t used = 0;

	if (__builtin_expect(time->open != NULL, 0))
		return dw_decode_loop(words, count, time, context, begin, end, other, over, burst, true, true);
	if (!time->in_scope)
		used = dw_decode_loop(words, count, time, context, begin, end, other, over, burst, false, false);
	if (time->in_scope)
		used += dw_decode_loop(words + used, count - used, time, context, begin, end, other, over, burst,
		                       false, true);
	return used;
}

DW_INLINE uint32_t dw_decode_words(const uint32_t *words, uint32_t count, struct dw_decode_time *time, void *context,
                                   dw_visit_begin *begin, dw_visit_end *end, dw_visit_other *other)
{
	return dw_decode_words_over(words, count, time, context, begin, end, other, NULL, NULL);
}

DW_INLINE void dw_decode_no_begin(void *context, uint64_t ticks, uint32_t id)
{
}

DW_INLINE void dw_decode_no_end(void *context, uint64_t ticks)
{
}

DW_INLINE void dw_decode_no_other(void *context, uint64_t ticks, const struct dw_record *record)
{
}

/* Visits nothing: for how many words are whole records, and the time of the last one, in `time`. */
__attribute__((unused)) static inline uint32_t dw_decode_skip(const uint32_t *words, uint32_t count, struct dw_decode_time *time)
{
	return dw_decode_words(words, count, time, NULL, dw_decode_no_begin, dw_decode_no_end, dw_decode_no_other);
}
