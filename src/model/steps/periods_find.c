/*
 * The period in a sequence of events.
 *
 * Not by shifting the sequence over itself: an evaluation in between, a line that is logged or a sentence of another
 * length would end each match. Instead:
 *
 *     1. How often does the loop run? Names that recur over more than half of the busy time are sorted by how often
 *        they occur. Of ranges and functions, the loop runs as often as those that together have more than half of
 *        the time. Of operators and kernels that does not hold: a model repeats its layers, which have nearly all of
 *        its time. But what an iteration does beside the layers has other names. So the loop runs as often as all
 *        but the rarest sixth of the names: in that sixth are those of evaluations and of what is logged now and
 *        then. Phases count like operators.
 *     2. The sequence is cut where a name begins that occurs that often, the first in the sequence.
 *     3. What is in more than half of the pieces is what an iteration does. A piece with less than three quarters of
 *        these names is none, and belongs to the iteration before it: an evaluation, which begins as an iteration.
 *     4. If there are too few iterations, or what they have in common has not more than half of the busy time, this
 *        was not how often the loop runs. Then more common names are tried, then rarer ones.
 *     5. The begins move back by as many events as most pieces have in common with what is before the first cut:
 *        there the loop began.
 *
 * Each of these reads the sequence once or twice, and at most MOST_CUTS cuts are tried, so time is linear.
 */
#include "base/free.h"
#include "base/order.h"
#include "model/steps/periods_build.h"

#define MOST_CUTS 8u
#define MOST_SAMPLES 16u /* cuts that are compared with the first one */

struct name {
	uint32_t key;
	uint32_t count; /* the same operator several times in turn counts once */
	uint64_t ticks;
	uint64_t from, to; /* busy time before its first and before its last event */
	size_t first;      /* event */
};

struct search {
	const struct dw_period_names *names;
	const struct dw_period_events *events;
	size_t count; /* of events */
	struct name *by_key;
	struct name **recurring; /* by count, descending */
	size_t recurring_count;
	size_t longest;       /* event */
	const struct dw_period_events *busy; /* all work of the thread */
	size_t busy_longest;  /* of its events */
	uint64_t busy_ticks;  /* of them, but the longest */
	uint64_t ticks;       /* of all events but the longest */
	uint64_t named_ticks; /* of functions and ranges */
	/* Phases, compiled functions or loading data, if such recur: iterations begin with these, which are parts of them.
	 * Otherwise 0. */
	enum dw_period_kind parts;
	/* Of a cut. */
	uint32_t *begins; /* events with which iterations begin */
	size_t begin_count;
	uint32_t *ends;               /* by begin: the event after the last one of its piece */
	size_t pieces;                /* before those were left out that are no iterations */
	uint32_t *pieces_with, *seen; /* by key */
};

/* The time of an event that no event before it has. *until: the latest end so far. */
static uint64_t event_own(struct dw_period_event event, uint64_t *until)
{
	uint64_t from = event.start > *until ? event.start : *until;

	if (event.end <= from)
		return 0;
	*until = event.end;
	return event.end - from;
}

/* The event with most time of its own. Times are without it: what happens once, as the start of a device, can take
 * longer than all that repeats, and one long call beside many short ones is no repetition. Neither is the first call of a
 * function that is compiled then. */
static size_t find_longest(const struct dw_period_events *events)
{
	uint64_t until = 0, most = 0;
	size_t longest = 0;

	for (size_t i = 0; i < events->count; i++) {
		uint64_t own = event_own(dw_period_at(events, i), &until);

		longest = own > most ? i : longest;
		most = own > most ? own : most;
	}
	return longest;
}

static uint32_t search_key(const struct search *search, size_t i)
{
	return dw_period_key_at(search->events, i);
}

/* Whether an event's name occurs anew, and not as the same operator again. `before`: the key of the event before it. */
static bool search_is_new(const struct search *search, uint32_t key, uint32_t before)
{
	return before != key || search->names->kinds[key] != DW_PERIOD_OPERATOR;
}

/* ---- how often the loop runs --------------------------------------------------------------------- */

DW_ORDER_OF_POINTERS(search_compare_names, struct name, DW_DOWN(count) DW_UP(first))

/* The longest event, while the events are counted. */
struct longest {
	uint64_t own, counted; /* its time, and what of it is in the sums */
	uint64_t before;       /* the sum of all events before it */
};

/* Counts an event. */
static void search_count_event(struct search *search, size_t i, uint32_t before, uint64_t *until, struct longest *longest)
{
	const struct dw_period_event event = dw_period_at(search->events, i);
	uint32_t key = search->events->paths[event.path].key;
	enum dw_period_kind kind = search->names->kinds[key];
	struct name *name = &search->by_key[key];
	uint64_t own = event_own(event, until), counted = kind == DW_PERIOD_COMPILED && !name->count ? 0 : own;

	if (own > longest->own) {
		*longest = (struct longest){ own, counted, search->ticks };
		search->longest = i;
	}
	if (!name->count)
		*name = (struct name){ .key = key, .from = search->ticks, .first = i };
	name->count += search_is_new(search, key, before);
	name->to = search->ticks;
	name->ticks += counted;
	search->ticks += counted;
	search->busy_ticks += own;
	if (kind >= DW_PERIOD_FUNCTION && kind <= DW_PERIOD_RANGE)
		search->named_ticks += counted;
}

/* Takes the longest event out of all sums. What was summed up after it is more than what was before it. */
static void search_leave_out(struct search *search, const struct longest *longest)
{
	struct name *name = &search->by_key[search_key(search, search->longest)];
	enum dw_period_kind kind = search->names->kinds[name->key];

	for (uint32_t i = 0; i < search->names->count; i++) {
		search->by_key[i].from -= search->by_key[i].from > longest->before ? longest->counted : 0;
		search->by_key[i].to -= search->by_key[i].to > longest->before ? longest->counted : 0;
	}
	name->ticks -= longest->counted;
	search->ticks -= longest->counted;
	search->busy_ticks -= longest->own;
	if (kind >= DW_PERIOD_FUNCTION && kind <= DW_PERIOD_RANGE)
		search->named_ticks -= longest->counted;
}

/* Counts the names, and makes space for cuts at any of them. False: out of memory. */
static bool search_count(struct search *search)
{
	size_t names = search->names->count + (size_t)1, most = 0;
	struct longest longest = { 0, 0, 0 };
	uint32_t before = DW_NO_INDEX;
	uint64_t until = 0;

	if (!DW_NEW(&search->by_key, names) || !DW_NEW(&search->recurring, names) || !DW_NEW(&search->pieces_with, names) ||
	    !DW_NEW(&search->seen, names))
		return false;
	for (size_t i = 0; i < search->count; i++) {
		search_count_event(search, i, before, &until, &longest);
		before = search_key(search, i);
	}
	search_leave_out(search, &longest);
	search->busy_longest = search->longest;
	for (uint32_t i = 0; i < search->names->count; i++)
		most = search->by_key[i].count > most ? search->by_key[i].count : most;
	return DW_NEW(&search->begins, most + 1) && DW_NEW(&search->ends, most + 1);
}

/* Whether the name occurs several times, and over more than half of the time. */
static bool search_recurs(const struct search *search, uint32_t key)
{
	const struct name *name = &search->by_key[key];

	return name->count > 1 && name->to - name->from > search->ticks / 2;
}

static enum dw_period_kind search_find_parts(const struct search *search)
{
	bool has_ranges = search->named_ticks > search->ticks / 2;
	enum dw_period_kind parts = 0, least = has_ranges ? DW_PERIOD_COMPILED : DW_PERIOD_DATA;

	for (uint32_t i = 0; i < search->names->count; i++) {
		enum dw_period_kind kind = search->names->kinds[i];

		if (kind >= least && kind > parts && search_recurs(search, i) &&
		    search->by_key[i].count >= DW_PERIOD_LEAST)
			parts = kind;
	}
	return parts;
}

/* Whether names count by the time that they have. */
static bool search_is_by_time(const struct search *search)
{
	if (search->parts)
		return search->parts == DW_PERIOD_COMPILED || search->parts == DW_PERIOD_ITERATION;
	return search->named_ticks > search->ticks / 2;
}

/* The names that may begin an iteration, in order. */
static void search_choose_names(struct search *search)
{
	search->recurring_count = 0;
	for (uint32_t i = 0; i < search->names->count; i++) {
		enum dw_period_kind kind = search->names->kinds[i];

		if (!search_recurs(search, i))
			continue;
		if (search->parts ? kind == search->parts : !search_is_by_time(search) || kind != DW_PERIOD_OPERATOR)
			search->recurring[search->recurring_count++] = &search->by_key[i];
	}
	DW_SORT(search->recurring, search->recurring_count, search_compare_names);
}

/* How many names recur often enough for an iteration. */
static size_t search_often(const struct search *search)
{
	size_t often = 0;

	while (often < search->recurring_count && search->recurring[often]->count >= DW_PERIOD_LEAST)
		often++;
	return often;
}

/* The place in `recurring` of the rarest name that the most common ones need to be enough. Names that are too rare for
 * an iteration do not count, unless most are: then the run has too few iterations. */
static size_t search_enough(const struct search *search)
{
	size_t often = search_often(search);
	uint64_t ticks = 0, all = search->parts ? 0 : search->ticks;

	if (!search_is_by_time(search))
		return often * 2 > search->recurring_count ? (often * 5 + 5) / 6 - 1 : search->recurring_count;
	for (size_t i = 0; search->parts && i < search->recurring_count; i++)
		all += search->recurring[i]->ticks;
	for (size_t i = 0; i < search->recurring_count; i++) {
		ticks += search->recurring[i]->ticks;
		if (ticks > all / 2)
			return i;
	}
	return search->recurring_count;
}

/* Whether two counts are those of names that occur equally often, but for some at the begin or the end. */
static bool find_is_close(uint32_t count, uint32_t other)
{
	return count <= other + other / 20 + 1 && other <= count + count / 20 + 1;
}

/* Names that occur about equally often: places in `recurring`. */
struct level {
	size_t from, to;
};

static struct level search_level(const struct search *search, size_t place)
{
	struct level level = { place, place + 1 };
	uint32_t count = search->recurring[place]->count;

	while (level.from && find_is_close(search->recurring[level.from - 1]->count, count))
		level.from--;
	while (level.to < search->recurring_count && find_is_close(search->recurring[level.to]->count, count))
		level.to++;
	return level;
}

/* The name at which to cut: of those whose count most names of the level have, with most time if it is a tie, the first
 * in the sequence. A name that also occurs in a preparation has a count of its own. */
static const struct name *search_pick(const struct search *search, struct level level)
{
	const struct name *best = NULL;
	uint64_t most_ticks = 0;
	size_t most = 0;

	for (size_t i = level.from, end; i < level.to; i = end) {
		uint64_t ticks = 0;

		for (end = i; end < level.to && search->recurring[end]->count == search->recurring[i]->count; end++)
			ticks += search->recurring[end]->ticks;
		if (end - i < most || (end - i == most && ticks <= most_ticks))
			continue;
		best = search->recurring[i];
		most = end - i;
		most_ticks = ticks;
	}
	return best;
}

/* ---- a cut --------------------------------------------------------------------------------------- */

/* Cuts where the name begins. */
static void search_cut(struct search *search, uint32_t key)
{
	uint32_t before = DW_NO_INDEX;

	search->begin_count = 0;
	for (size_t i = 0; i < search->count; i++) {
		uint32_t here = search_key(search, i);

		if (here == key && search_is_new(search, key, before))
			search->begins[search->begin_count++] = (uint32_t)i;
		before = here;
	}
	for (size_t p = 0; p < search->begin_count; p++)
		search->ends[p] = p + 1 < search->begin_count ? search->begins[p + 1] : search->count;
	search->pieces = search->begin_count;
}

static bool search_is_common(const struct search *search, uint32_t key)
{
	return search->pieces_with[key] > search->pieces / 2;
}

/* Counts the pieces with each name. Returns how many names most pieces have. */
static size_t search_count_pieces(struct search *search)
{
	size_t common = 0;

	memset(search->pieces_with, 0, search->names->count * sizeof *search->pieces_with);
	memset(search->seen, 0, search->names->count * sizeof *search->seen);
	for (size_t p = 0; p < search->begin_count; p++)
		for (size_t i = search->begins[p]; i < search->ends[p]; i++) {
			uint32_t key = search_key(search, i);

			search->pieces_with[key] += search->seen[key] != p + 1;
			search->seen[key] = (uint32_t)p + 1;
		}
	for (uint32_t i = 0; i < search->names->count; i++)
		common += search_is_common(search, i);
	return common;
}

/* Keeps the pieces that have at least three quarters of the `common` names; and the last one in any case, if `last` is
 * set. */
static void search_keep_usual(struct search *search, size_t common, bool last)
{
	size_t kept = 0;

	memset(search->seen, 0, search->names->count * sizeof *search->seen);
	for (size_t p = 0; p < search->begin_count; p++) {
		size_t has = 0;

		for (size_t i = search->begins[p]; i < search->ends[p]; i++) {
			uint32_t key = search_key(search, i);

			has += search->seen[key] != p + 1 && search_is_common(search, key);
			search->seen[key] = (uint32_t)p + 1;
		}
		if (has * 4 < common * 3 && !(last && p + 1 == search->begin_count))
			continue;
		search->begins[kept] = search->begins[p];
		search->ends[kept++] = search->ends[p];
	}
	search->begin_count = kept;
}

/* ---- where an iteration begins ------------------------------------------------------------------- */

static bool search_same(const struct search *search, size_t a, size_t b)
{
	const struct dw_period_path *paths = search->events->paths;
	const struct dw_period_path *left = &paths[dw_period_path_at(search->events, a)];
	const struct dw_period_path *right = &paths[dw_period_path_at(search->events, b)];

	return left->key == right->key && left->around == right->around;
}

/* How many events before the begin of the piece are those before the first piece. */
static size_t search_matches(const struct search *search, size_t piece)
{
	size_t first = search->begins[0], begin = search->begins[piece], room = begin - search->begins[piece - 1] - 1;
	size_t length = 0;

	while (length < first && length < room &&
	       search_same(search, first - length - 1, begin - length - 1))
		length++;
	return length;
}

/* How many events before the first cut belong to its iteration: the median of what some pieces have in common with
 * them. */
static size_t search_before(const struct search *search)
{
	uint64_t lengths[MOST_SAMPLES] = { 0 };
	size_t count = search->begin_count - 1 < MOST_SAMPLES ? search->begin_count - 1 : MOST_SAMPLES;

	for (size_t i = 0; i < count; i++)
		lengths[i] = search_matches(search, i + 1);
	qsort(lengths, count, sizeof *lengths, dw_compare_u64);
	return lengths[count / 2];
}

/* Whether the iterations may begin `before` events earlier: nearly all have the same event there, and the same one ends
 * the iteration before it. */
static bool search_can_begin(const struct search *search, size_t before)
{
	uint32_t key = search_key(search, search->begins[0] - before), ends_with;
	size_t same = 0;

	ends_with = search_key(search, search->begins[1] - before - 1);
	for (size_t p = 1; p < search->begin_count; p++) {
		size_t begin = search->begins[p];

		if (begin - search->begins[p - 1] > before)
			same += search_key(search, begin - before) == key && search_key(search, begin - before - 1) == ends_with;
	}
	return same * 4 > (search->begin_count - 1) * 3;
}

/* Where a piece begins that has other events than most have: at the event with the key that is nearest to there. */
static size_t search_begin_near(const struct search *search, size_t from, size_t begin, size_t before, uint32_t key)
{
	size_t best = begin, least = SIZE_MAX;

	for (size_t i = begin; i > from; i--) {
		size_t here = begin - i > before ? begin - i - before : before - (begin - i);

		if (search_key(search, i) != key || here >= least)
			continue;
		best = i;
		least = here;
	}
	return best;
}

static void search_move_begins(struct search *search)
{
	size_t before = search_before(search), from = 0;
	uint32_t key;

	if (!before || search->begins[1] - search->begins[0] <= before || !search_can_begin(search, before))
		return;
	key = search_key(search, search->begins[0] - before);
	for (size_t p = 0; p < search->begin_count; p++) {
		size_t begin = search->begins[p];

		search->begins[p] = p ? search_begin_near(search, from, begin, before, key) : begin - before;
		search->ends[p] = search->ends[p] < search->count ? search->ends[p] - before : search->count;
		from = begin;
	}
}

/* ---- where the last one ends --------------------------------------------------------------------- */

/* With what most iterations end, by a vote in which each other key takes one back. */
static uint32_t search_last_key(const struct search *search)
{
	uint32_t key = DW_NO_INDEX;
	size_t votes = 0;

	for (size_t p = 0; p + 1 < search->begin_count; p++) {
		uint32_t with = search_key(search, search->ends[p] - 1);

		if (!votes)
			key = with;
		votes = with == key ? votes + 1 : votes - 1;
	}
	return key;
}

/* The last event of the last iteration: with the key that most end with, as far as the longest one went. */
static size_t search_last_event(const struct search *search)
{
	size_t begin = search->begins[search->begin_count - 1], end = search->ends[search->begin_count - 1], longest = 1;
	uint32_t key = search_last_key(search);

	for (size_t p = 0; p + 1 < search->begin_count; p++)
		if (search->ends[p] - search->begins[p] > longest)
			longest = search->ends[p] - search->begins[p];
	if (end - begin > longest)
		end = begin + longest;
	for (size_t i = end; i > begin; i--)
		if (search_key(search, i - 1) == key)
			return i - 1;
	return end - 1;
}

/* ---- whether it is one --------------------------------------------------------------------------- */

/* The time of pieces. If only parts of iterations are known, all that the thread does in them; otherwise of the events
 * that most pieces have. */
static uint64_t search_covers(const struct search *search)
{
	const struct dw_period_events *items = search->parts ? search->busy : search->events;
	size_t piece = 0, longest = search->parts ? search->busy_longest : search->longest;
	uint64_t until = 0, covered = 0, last = dw_period_at(search->events, search_last_event(search)).end;
	uint64_t start = dw_period_at(search->events, search->begins[0]).start, end = last;

	if (search->begin_count > 1)
		end = dw_period_at(search->events, search->ends[0]).start;
	for (size_t i = 0; i < items->count; i++) {
		const struct dw_period_event item = dw_period_at(items, i);
		uint64_t own = event_own(item, &until);

		while (piece + 1 < search->begin_count && item.start >= end) {
			piece++;
			start = dw_period_at(search->events, search->begins[piece]).start;
			end = piece + 1 < search->begin_count ? dw_period_at(search->events, search->ends[piece]).start : last;
		}
		if (i != longest && item.start >= start && item.start < end &&
		    (search->parts || search_is_common(search, items->paths[item.path].key)))
			covered += own;
	}
	return covered;
}

/* The time of all work, if it is more than the events. */
static void search_find_busy(struct search *search)
{
	uint64_t until = 0;

	if (search->busy == search->events)
		return;
	search->busy_ticks = 0;
	search->busy_longest = find_longest(search->busy);
	for (size_t i = 0; i < search->busy->count; i++)
		search->busy_ticks += event_own(dw_period_at(search->busy, i), &until) * (i != search->busy_longest);
}

static bool search_is_period(struct search *search, uint32_t key)
{
	enum dw_period_kind kind = search->names->kinds[key];
	size_t common;

	search_cut(search, key);
	common = search_count_pieces(search);
	if (common < 2 && kind == DW_PERIOD_OPERATOR)
		return false; /* an operator alone is no iteration */
	search_keep_usual(search, common, true); /* the last one can get more by a move */
	if (search->begin_count < DW_PERIOD_LEAST)
		return false;
	search_move_begins(search);
	search_keep_usual(search, common, false);
	return search->begin_count >= DW_PERIOD_LEAST && search_covers(search) > search->busy_ticks / 2;
}

static bool search_try(struct search *search, struct level level, struct dw_period_found *found)
{
	const struct name *name = search_pick(search, level);

	if (name->count < DW_PERIOD_LEAST || !search_is_period(search, name->key))
		return false;
	*found = (struct dw_period_found){ search->begins, search->begin_count, search_last_event(search), search->parts };
	search->begins = NULL;
	return true;
}

static void search_cuts(struct search *search, struct dw_period_found *found)
{
	struct level first, level;
	size_t place, least;
	unsigned tried = 1;

	search_choose_names(search);
	place = search_enough(search);
	least = search_is_by_time(search) ? place : search_often(search) / 2;
	if (place >= search->recurring_count)
		return;
	first = level = search_level(search, place);
	if (search_try(search, first, found))
		return;
	while (tried++ < MOST_CUTS / 2 && level.from > least) {
		level = search_level(search, level.from - 1);
		if (search_try(search, level, found))
			return;
	}
	for (level = first; tried++ < MOST_CUTS && level.to < search->recurring_count;) {
		level = search_level(search, level.to);
		if (search_try(search, level, found))
			return;
	}
}

bool dw_period_find(const struct dw_period_names *names, const struct dw_period_events *events,
                    const struct dw_period_events *busy, struct dw_period_found *found)
{
	struct search search = { .names = names, .events = events, .busy = busy, .count = events->count };
	bool good;

	*found = (struct dw_period_found){ NULL, 0, 0, false };
	if (!events->count)
		return true;
	good = search_count(&search);
	if (good) {
		search_find_busy(&search);
		search.parts = search_find_parts(&search);
		search_cuts(&search, found);
	}
	if (good && !found->count && search.parts) {
		search.parts = 0;
		search_cuts(&search, found);
	}
	DW_FREE(search.by_key, search.recurring, search.begins, search.ends, search.pieces_with, search.seen);
	return good;
}
