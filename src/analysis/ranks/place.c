/*
 * Where slow ranks are: on one host, or on hosts whose names have a part in common (a rack, a switch).
 *
 * A pattern of a host's name keeps some of its numbers: of gpu-r03-n17 these are gpu-r03-n* and gpu-r*-n17. A host is
 * named if it has at least two slow ranks and more than half of all. A pattern is named if at least two of its hosts have
 * slow ranks, and its hosts have more than half of all slow ranks. Either must have more than chance explains: if as many
 * slow ranks (for a pattern: hosts with slow ranks) were drawn from all, it would have as many in less than one of 1,000
 * jobs, whatever the number of hosts and patterns.
 */
#include <ctype.h>
#include <math.h>

#include "base/free.h"
#include "base/order.h"
#include "ranks/ranks.h"

#define MOST_CHANCE 0.001
#define MOST_NUMBERS 8u /* of a host's name */

struct place_host {
	const char *name;
	size_t ranks, slow;
};

/* A pattern of one host's name. */
struct place_pattern {
	char text[128];
	const struct place_host *host;
};

DW_ORDER(place_compare_hosts, struct place_host, DW_TEXT(name))

/* Descending: of two patterns of the same hosts, that with the first numbers comes before one with stars in their place. */
static int place_compare_patterns(const void *left, const void *right)
{
	return strcmp(((const struct place_pattern *)right)->text, ((const struct place_pattern *)left)->text);
}

static double place_log_choose(size_t n, size_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double dw_ranks_chance(size_t all, size_t marked, size_t drawn, size_t least)
{
	size_t most = marked < drawn ? marked : drawn;
	double sum = 0, first = 0;

	for (size_t k = least; k <= most; k++) {
		double term;

		if (drawn - k > all - marked)
			continue;
		term = place_log_choose(marked, k) + place_log_choose(all - marked, drawn - k) - place_log_choose(all, drawn);
		if (sum <= 0)
			first = term;
		sum += exp(term - first);
	}
	return sum > 0 ? fmin(0, first + log(sum)) : -INFINITY;
}

/* The hosts, by name. */
static struct place_host *place_hosts(const struct dw_ranks *ranks, size_t *count)
{
	struct place_host *hosts = calloc(ranks->count + 1, sizeof *hosts);
	size_t kept = 0;

	for (size_t i = 0; hosts && i < ranks->count; i++)
		hosts[i] = (struct place_host){ ranks->results[i].rank->host, 1, ranks->results[i].slow };
	if (hosts)
		DW_SORT(hosts, ranks->count, place_compare_hosts);
	for (size_t i = 0; hosts && i < ranks->count; i++)
		if (kept && strcmp(hosts[kept - 1].name, hosts[i].name) == 0) {
			hosts[kept - 1].ranks++;
			hosts[kept - 1].slow += hosts[i].slow;
		} else {
			hosts[kept++] = hosts[i];
		}
	*count = kept;
	return hosts;
}

/* Writes the name with a star for each number that `keeps` has no bit of. The star of the last number stands for all that
 * follows. */
static void place_write_pattern(const char *name, unsigned keeps, char *text, size_t size)
{
	size_t length = 0;
	unsigned number = 0;

	while (*name && length + 2 < size) {
		if (!isdigit((unsigned char)*name)) {
			text[length++] = *name++;
			continue;
		}
		if (!(keeps >> number & 1)) {
			text[length++] = '*';
			if (!(keeps >> number))
				break;
		}
		for (; isdigit((unsigned char)*name) && length + 2 < size; name++)
			if (keeps >> number & 1)
				text[length++] = *name;
		number++;
	}
	text[length] = '\0';
}

/* Adds the patterns of a host: its first numbers, and each number alone. */
static void place_add_patterns(struct place_pattern *patterns, size_t *count, const struct place_host *host)
{
	unsigned numbers = 0;

	for (const char *at = host->name; *at; at++)
		numbers += isdigit((unsigned char)*at) && !isdigit((unsigned char)at[1]);
	numbers = numbers < MOST_NUMBERS ? numbers : MOST_NUMBERS;
	for (unsigned kind = 0; kind < 2; kind++)
		for (unsigned i = kind; i < numbers && numbers > 1; i++) {
			unsigned keeps = kind ? 1u << i : (2u << i) - 1;

			if (keeps == (1u << numbers) - 1)
				continue; /* the host itself */
			place_write_pattern(host->name, keeps, patterns[*count].text, sizeof patterns->text);
			patterns[(*count)++].host = host;
		}
}

/* The best place so far, and by what it is one. */
struct place_search {
	struct dw_ranks_place *place;
	double chance; /* its logarithm */
	double limit;
};

static void place_try(struct place_search *search, const char *name, bool host, size_t ranks, size_t inside, double chance)
{
	if (2 * inside <= search->place->slow || chance > search->limit || chance >= search->chance)
		return;
	search->chance = chance;
	search->place->host = host;
	search->place->inside = inside;
	search->place->ranks = ranks;
	snprintf(search->place->name, sizeof search->place->name, "%.127s", name);
}

static void place_try_patterns(struct place_search *search, const struct place_pattern *patterns, size_t count)
{
	for (size_t from = 0, to; from < count; from = to) {
		size_t hosts = 0, slow_hosts = 0, ranks = 0, slow = 0;

		for (to = from; to < count && strcmp(patterns[from].text, patterns[to].text) == 0; to++) {
			hosts++;
			slow_hosts += patterns[to].host->slow > 0;
			ranks += patterns[to].host->ranks;
			slow += patterns[to].host->slow;
		}
		if (slow_hosts >= 2)
			place_try(search, patterns[from].text, false, ranks, slow,
			          dw_ranks_chance(search->place->hosts, hosts, search->place->slow_hosts, slow_hosts));
	}
}

static size_t place_count_distinct(const struct place_pattern *patterns, size_t count)
{
	size_t distinct = 0;

	for (size_t i = 0; i < count; i++)
		distinct += !i || strcmp(patterns[i - 1].text, patterns[i].text) != 0;
	return distinct;
}

bool dw_ranks_find_place(struct dw_ranks *ranks)
{
	struct dw_ranks_place *place = &ranks->place;
	size_t host_count, count = 0;
	struct place_host *hosts = place_hosts(ranks, &host_count);
	struct place_pattern *patterns = hosts ? calloc(2 * MOST_NUMBERS * host_count + 1, sizeof *patterns) : NULL;
	struct place_search search = { place, 0, 0 };

	*place = (struct dw_ranks_place){ .hosts = host_count };
	for (size_t h = 0; patterns && h < host_count; h++) {
		place->slow += hosts[h].slow;
		place->slow_hosts += hosts[h].slow > 0;
		place_add_patterns(patterns, &count, &hosts[h]);
	}
	if (patterns && place->slow >= 2 && host_count >= 2) {
		DW_SORT(patterns, count, place_compare_patterns);
		search.limit = log(MOST_CHANCE / (double)(host_count + place_count_distinct(patterns, count)));
		for (size_t h = 0; h < host_count; h++)
			if (hosts[h].slow >= 2)
				place_try(&search, hosts[h].name, true, hosts[h].ranks, hosts[h].slow,
				          dw_ranks_chance(ranks->count, hosts[h].ranks, place->slow, hosts[h].slow));
		place_try_patterns(&search, patterns, count);
	}
	DW_FREE(hosts, patterns);
	return patterns != NULL;
}
