/* A stack walk that reuses the last one always has the same result as a complete walk. */
#include "check.h"

#include "record/stack.c"

static struct dw_walked walked;
static uint64_t state = 88172645463325252u;
static uintptr_t high;
static unsigned long walks, known, wrong;

static unsigned pick(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % below;
}

static int plain(uintptr_t at, void **addresses)
{
	uintptr_t low = at;
	int count = 0;

	while (count < DEEPEST && stack_is_readable(at, low, high)) {
		const struct frame *frame = (const struct frame *)at;

		if (!frame->return_address)
			break;
		addresses[count++] = (void *)frame->return_address;
		low = at + sizeof *frame;
		at = (uintptr_t)frame->caller;
	}
	return count;
}

static uint64_t plain_hash(void *const *addresses, int count, bool ended)
{
	uint64_t hash = ended ? stack_hash_on(1, 0) : 1;

	while (count-- > 0)
		hash = stack_hash_on(hash, (uintptr_t)addresses[count]);
	return hash;
}

static __attribute__((noinline)) void look(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	void *expected[DEEPEST], *got[DEEPEST];
	struct way way;
	int count = plain(here, expected), listed;
	uint64_t hash;

	stack_walk(&way, here, high, &walked, walked.count);
	listed = stack_list(&way, &walked, got);
	hash = stack_keep(&walked, &way, true);
	walks++;
	known += way.known;
	wrong += listed != count || memcmp(got, expected, (size_t)count * sizeof *got) != 0 ||
	         (hash != plain_hash(expected, count, false) && hash != plain_hash(expected, count, true));
}

/* Frames of different sizes and call sites, so that frames lie at the places of others. */
#define BRANCH(name, bytes, first, second)                 \
	static __attribute__((noinline)) void name(int depth)  \
	{                                                      \
		volatile char room[bytes];                         \
                                                           \
		room[0] = 1;                                       \
		for (unsigned n = pick(3) + 1; n; n--) {           \
			if (depth <= 0 || walks > 300000)              \
				look();                                    \
			else if (pick(2))                              \
				first(depth - 1 - (int)pick(2));           \
			else                                           \
				second(depth - 1);                         \
		}                                                  \
		room[bytes - 1] = room[0];                         \
	}

static void one(int depth), two(int depth), three(int depth);
BRANCH(one, 16, two, three)
BRANCH(two, 16, three, one)
BRANCH(three, 48, one, two)

static __attribute__((noinline)) void straight(int depth)
{
	if (depth)
		straight(depth - 1);
	else
		look();
	__asm__ volatile("" ::: "memory");
}

TEST(a_compared_walk_is_a_walk)
{
	high = stack_end();
	for (int round = 0; round < 200; round++) {
		one((int)pick(12));
		straight((int)pick(160)); /* some are cut short */
		two((int)pick(6));
	}
	CHECK_EQ(wrong, 0);
	CHECK(walks > 1000);
	CHECK(known > walks); /* it does save something */
}

CHECK_MAIN
