/* A thread beside the others: its signals, its sleep and its end. */
#include "check.h"

#include "base/system/background.h"
#include "base/system/clock.h"

static struct dw_background background;
static sigset_t blocked;
static unsigned rounds;

static void *work(void *context)
{
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	while (dw_background_sleep(&background, *(const uint64_t *)context))
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
	return NULL;
}

TEST(its_sleep_ends_when_it_is_ended)
{
	uint64_t hour = UINT64_C(3600000000000), begin = dw_clock_monotonic_ms();

	rounds = 0;
	dw_background_begin(&background, work, &hour);
	CHECK(background.started);
	dw_background_end(&background);
	CHECK_EQ(rounds, 0);
	CHECK(dw_clock_monotonic_ms() - begin < 60000);
}

TEST(it_works_again_and_again_until_it_is_ended)
{
	uint64_t short_ns = 100000;
	unsigned last;

	rounds = 0;
	dw_background_begin(&background, work, &short_ns);
	while (__atomic_load_n(&rounds, __ATOMIC_RELAXED) < 3)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	dw_background_end(&background);
	last = rounds;
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
	CHECK_EQ(rounds, last);
	dw_background_end(&background); /* nothing */
}

TEST(signals_are_blocked_in_it_and_only_there)
{
	uint64_t hour = UINT64_C(3600000000000);
	sigset_t own;

	dw_background_begin(&background, work, &hour);
	dw_background_end(&background);
	CHECK_EQ(sigismember(&blocked, SIGTERM), 1);
	CHECK_EQ(sigismember(&blocked, SIGCHLD), 1);
	CHECK_EQ(sigismember(&blocked, SIGBUS), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &own);
	CHECK_EQ(sigismember(&own, SIGTERM), 0);
}

CHECK_MAIN
