/* Reserving blocks: never above the budget, smaller near its end, returned if unused. */
#include "check.h"

#include "record/window.c"

static struct dw_head budget_of(uint32_t blocks, uint32_t reserve)
{
	return (struct dw_head){ .next_block = 1, .max_blocks = blocks, .reserve_blocks = reserve };
}

TEST(windows_are_whole_while_there_is_much_left)
{
	struct dw_head head = budget_of(32768, 4096);
	uint32_t count = 0;

	CHECK_EQ(window_claim(&head, DW_CLAIM_STREAM, &count), 1);
	CHECK_EQ(count, 63); /* up to the next multiple of 4 MiB: large folios are aligned */
	CHECK_EQ(window_claim(&head, DW_CLAIM_STREAM, &count), 64);
	CHECK_EQ(count, 64);
}

TEST(claims_shrink_and_end_at_the_budget)
{
	struct dw_head head = budget_of(1024, 128);
	uint32_t count = 0, first, last = 64, end = 1;

	while ((first = window_claim(&head, DW_CLAIM_STREAM, &count)) != 0) {
		CHECK_EQ(first, end);
		CHECK_RANGE(count, 1, 64);
		if (1024 - 128 - first < 512)
			CHECK(count <= (1024 - 128 - first) / 8 || count == 1);
		last = count;
		end = first + count;
		CHECK(end <= 1024 - 128);
	}
	CHECK_EQ(end, 1024 - 128);
	CHECK_EQ(last, 1);
	/* The reserve is given out block by block, to processes that have no block. */
	for (int i = 0; i < 128; i++) {
		CHECK_EQ(window_claim(&head, DW_CLAIM_RESERVED, &count), end + (uint32_t)i);
		CHECK_EQ(count, 1);
	}
	CHECK_EQ(window_claim(&head, DW_CLAIM_RESERVED, &count), 0);
	CHECK_EQ(head.next_block, 1024);
}

TEST(the_smallest_budget_serves_several)
{
	struct dw_head head = budget_of(16, 2);
	uint32_t count = 0, claims = 0;

	while (window_claim(&head, DW_CLAIM_STREAM, &count))
		claims++;
	CHECK_EQ(claims, 13);
}

TEST(what_was_not_reserved_is_given_back)
{
	struct dw_head head = budget_of(32768, 4096);
	uint32_t count = 0, first = window_claim(&head, DW_CLAIM_STREAM, &count);

	window_give_back(&head, first, count, 3);
	CHECK_EQ(head.next_block, first + 3);
	first = window_claim(&head, DW_CLAIM_STREAM, &count);
	window_claim(&head, DW_CLAIM_STREAM, &(uint32_t){ 0 });
	uint32_t next = head.next_block;
	window_give_back(&head, first, count, 0); /* another process has claimed behind */
	CHECK_EQ(head.next_block, next);
}

TEST(a_limit_on_file_sizes_is_seen_before_it_kills)
{
	struct rlimit limit, old;

	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 10 * DW_BLOCK_BYTES;
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(!window_over_file_limit(10));
	CHECK(window_over_file_limit(11));
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK(old.rlim_cur != RLIM_INFINITY || !window_over_file_limit(UINT32_MAX));
}

TEST(touching_pages_changes_no_byte)
{
	const size_t bytes = 4 * 4096;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned changed = 0;

	REQUIRE(memory != MAP_FAILED);
	for (size_t i = 0; i < bytes; i += 2)
		memory[i] = (char)(i / 2 % 251); /* the first byte of a page is 0 and not 0 */
	window_touch_pages(memory, bytes);
	for (size_t i = 0; i < bytes; i++)
		changed += memory[i] != (i % 2 ? 0 : (char)(i / 2 % 251));
	CHECK_EQ(changed, 0);
	munmap(memory, bytes);
}

CHECK_MAIN
