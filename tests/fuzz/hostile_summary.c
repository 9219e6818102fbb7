/*
 * Summaries that were made to cost their reader memory or time, too large to be stored. The target's
 * bounds decide (bounds.h, fuzz_summary.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/proto.h"
#include "bounds.h"
#include "summary/fields.h"
#include "summary/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dw_proto file;

static void put_span(uint64_t index, uint64_t part_ns)
{
	size_t at = dw_proto_open(&file, RANK_SPAN);

	dw_proto_varint(&file, index);
	dw_proto_varint(&file, 1);
	dw_proto_varint(&file, 1);
	dw_proto_varint(&file, index);
	dw_proto_varint(&file, DW_PART_DATA);
	dw_proto_varint(&file, part_ns);
	dw_proto_close(&file, at);
}

static void put_name(uint32_t list, const char *form, unsigned number)
{
	size_t at = dw_proto_open(&file, list);
	char name[32];

	snprintf(name, sizeof name, form, number);
	dw_proto_text(&file, NAME_NAME, name);
	dw_proto_u64(&file, NAME_SELF, 1000000 - number);
	dw_proto_close(&file, at);
}

static void put_collective(const char *group, uint64_t enter_ns, unsigned arrivals)
{
	size_t at = dw_proto_open(&file, RANK_COLLECTIVE), list;

	dw_proto_text(&file, COLLECTIVE_GROUP, group);
	dw_proto_u64(&file, COLLECTIVE_COUNT, 1);
	list = dw_proto_open(&file, COLLECTIVE_ARRIVALS);
	for (unsigned i = 0; i < arrivals; i++) {
		dw_proto_varint(&file, 1);
		dw_proto_varint(&file, i ? 1 : enter_ns);
		dw_proto_varint(&file, 1);
		dw_proto_varint(&file, 1);
	}
	dw_proto_close(&file, list);
	dw_proto_close(&file, at);
}

/* The shortest messages that are ranks. */
static void many_ranks(void)
{
	for (unsigned i = 0; i < bounds_many(200000); i++)
		dw_proto_close(&file, dw_proto_open(&file, SUMMARY_RANK));
}

static size_t rank_open(unsigned number)
{
	size_t at = dw_proto_open(&file, SUMMARY_RANK);

	dw_proto_u64(&file, RANK_RANK, number + 1);
	return at;
}

/* Each rank has one step, far from those of the others. */
static void ranks_of_unlike_steps(void)
{
	for (unsigned i = 0; i < bounds_many(20000); i++) {
		size_t at = rank_open(i);

		put_span((uint64_t)i << 40, 1000);
		dw_proto_close(&file, at);
	}
}

/* Each step of each rank is slower than all before it, and each second rank is slow. */
static void steps_that_become_slower(void)
{
	for (unsigned i = 0; i < bounds_many(5000); i++) {
		size_t at = rank_open(i);

		for (unsigned s = 0; s < 30; s++)
			put_span(s, s % 5 ? 100 : 1000 + (uint64_t)i * i * (s + 1));
		dw_proto_close(&file, at);
	}
}

static void many_slow_ranks(void)
{
	for (unsigned i = 0; i < bounds_many(5000); i++) {
		size_t at = rank_open(i);

		for (unsigned s = 0; s < 40; s++)
			put_span(s, i % 5 ? 1000000 : 2000000);
		dw_proto_u64(&file, RANK_NAMED_STEPS, 1);
		for (unsigned n = 0; n < 16; n++)
			put_name(RANK_NAME, "n%u", i * 16 + n);
		dw_proto_close(&file, at);
	}
}

/* The clock of each host is known only through the host before. */
static void chain_of_hosts(void)
{
	for (unsigned i = 0; i < bounds_many(20000); i++) {
		size_t at = rank_open(i);
		char name[32];

		snprintf(name, sizeof name, "h%u", i);
		dw_proto_text(&file, RANK_HOST, name);
		put_span(0, 1000);
		for (unsigned group = i; group < i + 2; group++) {
			snprintf(name, sizeof name, "g%u", group);
			put_collective(name, 1000000, 2);
		}
		dw_proto_close(&file, at);
	}
}

static void many_kinds_of_collectives(void)
{
	for (unsigned i = 0; i < bounds_many(3000); i++) {
		size_t at = rank_open(i);

		put_span(0, 1000);
		for (unsigned c = 0; c < DW_SUMMARY_COLLECTIVES; c++) {
			char name[32];

			snprintf(name, sizeof name, "%u.%u", i, c);
			put_collective(name, 1, 1);
		}
		dw_proto_close(&file, at);
	}
}

static const struct {
	const char *name;
	void (*make)(void);
} all[] = {
	{ "many ranks", many_ranks },
	{ "ranks of unlike steps", ranks_of_unlike_steps },
	{ "steps that become slower", steps_that_become_slower },
	{ "many slow ranks", many_slow_ranks },
	{ "chain of hosts", chain_of_hosts },
	{ "many kinds of collectives", many_kinds_of_collectives },
};

int main(int argc, char **argv)
{
	unsigned ran = 0;

	bounds_ask_all = true;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (argc > 1 && !strstr(all[i].name, argv[1]))
			continue;
		printf("%s\n", all[i].name);
		fflush(stdout);
		memset(&file, 0, sizeof file);
		for (unsigned at = 0; at < HEAD_BYTES; at++)
			dw_proto_varint(&file, 0);
		memcpy(file.bytes, MAGIC, sizeof MAGIC - 1);
		file.bytes[8] = DW_SUMMARY_VERSION;
		all[i].make();
		LLVMFuzzerTestOneInput(file.bytes, file.used);
		dw_proto_reset(&file);
		ran++;
	}
	printf("%u passed, 0 failed\n", ran);
	return ran == 0;
}
