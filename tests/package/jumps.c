/*
 * Jumps around scopes: goto, switch, return and break, with whatever the stack held before.
 *
 * Compiled by tests/package/headers at several optimisation levels. The recorder is a
 * stand-in of this file that keeps a stack of open ranges, so that an end which belongs to
 * another range shows at once. A jump past a scope's declaration must end nothing.
 */
#include <dwell/probe.h>
#include <dwell/compat/lightning.h>

#include <stdio.h>
#include <string.h>

#define DEEPEST 16

static uint32_t open_ids[DEEPEST], depth, failures, ends, steps, profiles, site_count;
static struct dwell_stream busy = { .busy = 1 };
static struct dwell_gate_word everything = { DWELL_MASK_DEFAULT };
const struct dwell_gate_word *dwell_gate = &everything;
__thread struct dwell_stream *dwell_this_stream __attribute__((tls_model("initial-exec"))) = &busy;

/* ---- the stand-in ---------------------------------------------------------------------- */

void dwell_slow_begin(uint32_t id)
{
	if (depth < DEEPEST)
		open_ids[depth++] = id;
}

void dwell_slow_end(uint64_t ticks)
{
	(void)ticks;
	ends++;
	if (depth)
		depth--;
	else
		failures++;
}

uint32_t dwell_slow_site(struct dwell_site *site)
{
	return site->id = ++site_count;
}

unsigned dwell_slow_range(uint32_t id, uint32_t category)
{
	(void)category;
	dwell_slow_begin(id);
	return everything.mask & DWELL_DETAIL_STACKS ? id << 2 | 3 : DWELL_BEGUN;
}

void dwell_slow_range_end(unsigned began)
{
	if ((began & 3) == 3 && depth && open_ids[depth - 1] == began >> 2)
		dwell_slow_end(0);
	else
		failures++;
}

unsigned dwell_op_begin(struct dwell_site *site, const struct dwell_tensor *tensors, unsigned count)
{
	(void)tensors;
	(void)count;
	return dwell_slow_range(dwell_site_id(site), DWELL_CATEGORY_OPERATOR);
}

unsigned dwell_begin_id(uint32_t id, enum dwell_category category)
{
	return dwell_slow_range(id, category);
}

void dwell_step_scope_begin(const void *scope)
{
	(void)scope;
	steps++;
}

void dwell_step_scope_end(const void *scope)
{
	(void)scope;
	steps--;
}

int dwell_profile_start(struct dwell_profile *profile, struct dwell_error *error)
{
	(void)profile;
	(void)error;
	profiles++;
	return 0;
}

int dwell_profile_stop(struct dwell_profile *profile, struct dwell_error *error)
{
	(void)profile;
	(void)error;
	profiles--;
	return 0;
}

/* ---- what the stack held before -------------------------------------------------------- */

/* Small numbers, as handles of an earlier begin would be. */
static __attribute__((noinline)) void fill_with(unsigned value)
{
	volatile unsigned words[256];

	for (int i = 0; i < 256; i++)
		words[i] = value;
	(void)words[value];
}

/* Each word holds its own address, as the head of an empty list does. */
static __attribute__((noinline)) void fill_with_addresses(void)
{
	volatile uintptr_t words[128];

	for (int i = 0; i < 128; i++)
		words[i] = (uintptr_t)&words[i];
	(void)words[0];
}

/* ---- the ways to jump -------------------------------------------------------------------- */

/* How C programs clean up. */
static __attribute__((noinline)) int clean_up(int error)
{
	int result = -1;

	if (error)
		goto out;
	DWELL_OP("conv");
	result = 0;
out:
	return result;
}

static __attribute__((noinline)) int several(int error)
{
	int64_t sizes[1] = { 1 };
	struct dwell_tensor tensor = { sizes, 1, DWELL_FLOAT32 };

	if (error == 1)
		goto out;
	DWELL_OP_SHAPES("conv", &tensor, 1);
	if (error == 2)
		goto out;
	DWELL_SCOPE_ID(DWELL_CATEGORY_LAYER, 1000);
	if (error == 3)
		return error;
	DWELL_STEP();
	if (error == 4)
		goto out;
	DWELL_PROFILE(NULL);
out:
	return error;
}

static __attribute__((noinline)) int pick(int what)
{
	switch (what) {
	case 0:;
		DWELL_ZONE("zero");
		if (what)
			return 1;
		/* fall through */
	case 1:
		return 2;
	default:
		break;
	}
	return 3;
}

static __attribute__((noinline)) void act(struct dwell_lightning_profiler *actions, int error)
{
	if (error)
		goto out;
	DWELL_LIGHTNING_ACTION(actions, "action");
out:
	return;
}

/* Inlined into the loop of main(), where each turn finds what the one before left. */
static inline __attribute__((always_inline)) void turn(int error)
{
	if (error)
		goto out;
	DWELL_ZONE("turn");
out:
	return;
}

static void look(const char *where)
{
	if (depth == 1 && open_ids[0] == 77 && !steps && !profiles && !failures)
		return;
	printf("%s: %u open ranges, %u steps, %u profiles, %u ends without a range\n", where, depth, steps,
	       profiles, failures);
	failures++;
	depth = 1;
	steps = profiles = 0;
}

int main(void)
{
	static const struct dwell_lightning_methods methods = { .size = sizeof methods, .name = "simple" };
	struct dwell_lightning_profiler actions = { .methods = &methods, .records = true, .local_rank = -1 };
	uint32_t expected = 0;

	dwell_slow_begin(77); /* the caller's range, which no jump may end */
	for (int i = 0; i < 60; i++) {
		if (i == 30) /* ranges have other handles from here on */
			everything.mask |= DWELL_DETAIL_STACKS;
		if (i % 3 == 0)
			fill_with(1);
		else if (i % 3 == 1)
			fill_with_addresses();
		clean_up(i % 2);
		look("clean up");
		several(i % 5);
		look("several");
		pick(i % 3);
		look("switch");
		act(&actions, i % 2);
		look("action");
		turn(i % 2);
		look("loop");
		expected += 3 * (i % 2 == 0) + (i % 5 != 1) + (i % 5 == 0 || i % 5 > 2) + (i % 3 == 0);
	}
	if (ends != expected)
		printf("%u ranges ended, not %u\n", ends, expected);
	return failures != 0 || ends != expected;
}
