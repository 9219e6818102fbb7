/*
 * A test harness in one header.
 *
 * cmocka is not used, because `make check-core` needs only a C compiler, Meson and Ninja. A test
 * file includes this once and defines tests:
 *
 *     TEST(the_name_says_what_holds)
 *     {
 *         CHECK_EQ(add(1, 2), 3);
 *     }
 *     CHECK_MAIN
 *
 * A failed check prints one line with both values, and the test continues. A test that cannot
 * continue uses REQUIRE(condition), which returns. The program prints "N passed, N failed" and
 * exits with 1 if a check failed. Arguments select tests by a part of their names.
 */
#pragma once

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_test {
	const char *name;
	void (*run)(void);
	struct check_test *next;
};

static struct check_test *check_tests;
/* unused: a test may have a second source file, without tests */
static __attribute__((unused)) struct check_test **check_last = &check_tests;
static unsigned long check_failures; /* of the test that runs */
static const char *check_name;

/* Programs take many times as long under ThreadSanitizer, and where DWELL_TEST_SLOW is set (under
 * qemu and AddressSanitizer). Tests then repeat less. */
static inline bool check_is_slow(void)
{
#ifdef __SANITIZE_THREAD__
	return true;
#else
	return getenv("DWELL_TEST_SLOW") != NULL;
#endif
}

#ifdef CHECK_ALONE
/* ThreadSanitizer does not see this program: one that starts a thread belongs to unit_threads in meson.build. The linker
 * puts this in the place of pthread_create(). */
int __wrap_pthread_create(void *thread, const void *attributes, void *(*run)(void *), void *argument);
__attribute__((weak)) int __wrap_pthread_create(void *thread, const void *attributes, void *(*run)(void *), void *argument)
{
	(void)thread, (void)attributes, (void)run, (void)argument;
	printf("FAIL %s starts a thread, and is not in unit_threads of tests/unit/meson.build\n", check_name ? check_name : "");
	fflush(stdout);
	abort();
}
#endif

#define TEST(test)                                                               \
	static void test(void);                                                      \
	static struct check_test check_entry_##test = { #test, test, NULL };         \
	__attribute__((constructor)) static void check_register_##test(void)         \
	{                                                                            \
		*check_last = &check_entry_##test;                                       \
		check_last = &check_entry_##test.next;                                   \
	}                                                                            \
	static void test(void)

#define CHECK_FAIL(...)                                                          \
	do {                                                                         \
		printf("%s:%d: %s: ", __FILE__, __LINE__, check_name);                   \
		printf(__VA_ARGS__);                                                     \
		printf("\n");                                                            \
		fflush(stdout);                                                          \
		check_failures++;                                                        \
	} while (0)

#define CHECK(condition)                                                         \
	do {                                                                         \
		if (!(condition))                                                        \
			CHECK_FAIL("not true: %s", #condition);                              \
	} while (0)

#define REQUIRE(condition)                                                       \
	do {                                                                         \
		if (!(condition)) {                                                      \
			CHECK_FAIL("not true, test ends: %s", #condition);                   \
			return;                                                              \
		}                                                                        \
	} while (0)

/* Numbers of any type, enums and booleans; fractions must be equal, too. */
#define CHECK_EQ(got, want)                                                      \
	do {                                                                         \
		__typeof__((got) + 0) check_got = (got);                                 \
		__typeof__((want) + 0) check_want = (want);                              \
		if ((long double)check_got != (long double)check_want)                   \
			CHECK_FAIL("%s is %.15Lg, not %.15Lg", #got, (long double)check_got, (long double)check_want); \
	} while (0)

/* low <= got <= high. */
#define CHECK_RANGE(got, low, high)                                              \
	do {                                                                         \
		long double check_got = (got), check_low = (low), check_high = (high);   \
		if (check_got < check_low || check_got > check_high)                     \
			CHECK_FAIL("%s is %.15Lg, not in %.15Lg..%.15Lg", #got, check_got,   \
			           check_low, check_high);                                   \
	} while (0)

#define CHECK_NEAR(got, want, tolerance)                                         \
	do {                                                                         \
		double check_got = (double)(got), check_want = (double)(want);           \
		if (!(fabs(check_got - check_want) <= (double)(tolerance)))              \
			CHECK_FAIL("%s is %.9g, not %.9g", #got, check_got, check_want);     \
	} while (0)

static inline bool check_same_text(const char *got, const char *want)
{
	return got == want || (got && want && strcmp(got, want) == 0);
}

#define CHECK_STR(got, want)                                                     \
	do {                                                                         \
		const char *check_got = (got), *check_want = (want);                     \
		if (!check_same_text(check_got, check_want))                             \
			CHECK_FAIL("%s is \"%s\", not \"%s\"", #got,                         \
			           check_got ? check_got : "(NULL)", check_want ? check_want : "(NULL)"); \
	} while (0)

/* `part` occurs in `got`. */
#define CHECK_HAS(got, part)                                                     \
	do {                                                                         \
		const char *check_got = (got), *check_part = (part);                     \
		if (!check_got || !strstr(check_got, check_part))                        \
			CHECK_FAIL("%s is \"%s\", without \"%s\"", #got,                     \
			           check_got ? check_got : "(NULL)", check_part);            \
	} while (0)

static inline int check_main(int count, char **arguments)
{
	unsigned long passed = 0, failed = 0;

	for (struct check_test *test = check_tests; test; test = test->next) {
		bool wanted = count < 2;

		for (int i = 1; i < count; i++)
			wanted |= strstr(test->name, arguments[i]) != NULL;
		if (!wanted)
			continue;
		check_name = test->name;
		check_failures = 0;
		test->run();
		if (check_failures)
			failed++;
		else
			passed++;
	}
	printf("%lu passed, %lu failed\n", passed, failed);
	return failed != 0;
}

#define CHECK_MAIN                                                               \
	int main(int count, char **arguments)                                        \
	{                                                                            \
		return check_main(count, arguments);                                     \
	}
