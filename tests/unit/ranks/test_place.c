/* Where slow ranks are, and by what chance. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "ranks/ranks.h"

/* The place of the slow ranks; host h has the name names(h), eight ranks, and slow[h] slow ones. */
static const char *place(size_t hosts, void (*name)(size_t host, char text[64]), unsigned (*slow)(size_t host))
{
	static struct dw_ranks ranks;
	static char names[2000][64];
	struct dw_rank_result *results = calloc(8 * hosts, sizeof *results);
	struct dw_summary_rank *summaries = calloc(8 * hosts, sizeof *summaries);

	if (!results || !summaries)
		abort();
	ranks = (struct dw_ranks){ .results = results, .count = 8 * hosts };
	for (size_t i = 0; i < ranks.count; i++) {
		name(i / 8, names[i / 8]);
		summaries[i].host = names[i / 8];
		results[i].rank = &summaries[i];
		results[i].slow = i % 8 < slow(i / 8);
	}
	CHECK(dw_ranks_find_place(&ranks));
	free(results);
	free(summaries);
	return ranks.place.name;
}

static void of_rack(size_t host, char text[64])
{
	snprintf(text, 64, "gpu-r%02zu-n%02zu", host / 20, host % 20 + 1);
}

static void of_address(size_t host, char text[64])
{
	snprintf(text, 64, "ip-10-0-%zu-%zu.example.org", host / 16, host % 16);
}

static void without_numbers(size_t host, char text[64])
{
	snprintf(text, 64, "host%c%c", 'a' + (int)(host / 26), 'a' + (int)(host % 26));
}

static unsigned host_63(size_t host)
{
	return host == 63 ? 8 : 0;
}

static unsigned most_of_host_63(size_t host)
{
	return host == 63 ? 5 : host == 2 || host == 40;
}

static unsigned rack_3(size_t host)
{
	return host / 20 == 3 ? 8 : host == 5;
}

static unsigned subnet_2(size_t host)
{
	return host / 16 == 2 ? 2 : 0;
}

static unsigned one_in_ten(size_t host)
{
	return host % 10 == 3;
}

static unsigned everywhere(size_t host)
{
	return (host * 7919 + 11) % 13 == 0;
}

static unsigned two_of_a_rack(size_t host)
{
	return host == 61 || host == 70;
}

static unsigned one(size_t host)
{
	return host == 9;
}

TEST(a_host_or_a_part_of_the_names)
{
	CHECK_STR(place(1250, of_rack, host_63), "gpu-r03-n04");
	CHECK_STR(place(1250, of_rack, most_of_host_63), "gpu-r03-n04");
	CHECK_STR(place(1250, of_rack, rack_3), "gpu-r03-n*");
	CHECK_STR(place(160, of_address, subnet_2), "ip-10-0-2-*");
	CHECK_STR(place(100, without_numbers, host_63), "hostcl");
}

TEST(what_chance_explains_has_no_place)
{
	CHECK_STR(place(1250, of_rack, everywhere), "");
	CHECK_STR(place(1250, of_rack, two_of_a_rack), "");
	CHECK_STR(place(1250, of_rack, one), "");
	CHECK_STR(place(200, of_rack, one_in_ten), "");
}

/* Of a slow rank on each of 20 hosts that are drawn, hardly any draw has a place. */
static size_t drawn[20];

static unsigned as_drawn(size_t host)
{
	for (size_t i = 0; i < 20; i++)
		if (drawn[i] == host)
			return 1;
	return 0;
}

TEST(hosts_that_are_drawn_have_no_place_in_999_of_1000_jobs)
{
	uint64_t state = 5;
	unsigned named = 0;

	for (unsigned job = 0; job < (check_is_slow() ? 100 : 1000); job++) {
		for (size_t i = 0; i < 20; i++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			drawn[i] = (state >> 33) % 400;
		}
		named += *place(400, of_rack, as_drawn) != '\0';
	}
	CHECK(named <= 1);
}

TEST(the_chance_of_a_draw)
{
	/* Of 10 things 3 are marked; of 2 that are drawn both are marked in 3 of 45 cases, and at least one in 24. */
	CHECK(fabs(exp(dw_ranks_chance(10, 3, 2, 2)) - 3.0 / 45) < 1e-9);
	CHECK(fabs(exp(dw_ranks_chance(10, 3, 2, 1)) - 24.0 / 45) < 1e-9);
	CHECK(fabs(dw_ranks_chance(10, 3, 2, 0)) < 1e-9);
	CHECK(dw_ranks_chance(10, 3, 2, 3) == -INFINITY);
}

CHECK_MAIN
