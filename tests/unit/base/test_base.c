/* Arena, pool, nearest name, growing arrays. */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/code/demangle.h"
#include "base/glob.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/system/limits.h"
#include "base/system/pool.h"

TEST(an_arena_gives_zeroed_aligned_memory)
{
	struct dw_arena arena = { 0 };

	for (size_t size = 0; size < 5000; size += 37) {
		char *memory = dw_arena_alloc(&arena, size);

		REQUIRE(memory);
		CHECK_EQ((uintptr_t)memory % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			if (memory[i])
				CHECK_FAIL("byte %zu is not zero", i);
		memset(memory, 0xff, size);
	}
	CHECK(dw_arena_alloc(&arena, (size_t)8 << 20));
	CHECK(!dw_arena_alloc(&arena, SIZE_MAX - 5));
	CHECK_STR(dw_arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
	CHECK_STR(dw_arena_text(&arena, "abcdef", 3), "abc");
	dw_arena_reset(&arena);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	REQUIRE(file);
	fputs(text, file);
	fclose(file);
}

TEST(a_limit_is_the_smallest_of_a_group_and_those_around_it)
{
	static const char *const folders[] = { "outer", "outer/inner", "cpu", "cpu/old", "memory", "memory/old" };
	static const char *const files[] = { "groups", "cpu.max", "outer/cpu.max", "outer/inner/cpu.max",
		"outer/memory.max", "cpu/old/cpu.cfs_quota_us", "cpu/old/cpu.cfs_period_us",
		"cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us", "memory/old/memory.limit_in_bytes",
		"outer/inner/memory.events", "memory/old/memory.oom_control" };
	struct dw_limit_kills kills;
	char folder[] = "/tmp/dwell-groups-XXXXXX", groups[64], path[128];

	REQUIRE(mkdtemp(folder));
	snprintf(groups, sizeof groups, "%s/groups", folder);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
		REQUIRE(mkdir(path, 0700) == 0);
	}
	CHECK(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder) == 0); /* no such file */
	write_file(folder, "groups", "3:cpu,cpuacct:/old\n2:memory:/old\n0::/outer/inner\n");
	CHECK(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder) == 0); /* no limit */
	write_file(folder, "outer/inner/cpu.max", "max 100000\n");
	CHECK(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder) == 0);
	write_file(folder, "outer/cpu.max", "150000 100000\n");
	CHECK_NEAR(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder), 1.5, 1e-9);
	write_file(folder, "outer/inner/cpu.max", "50000 100000\n");
	CHECK_NEAR(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder), 0.5, 1e-9);
	CHECK(dw_limits_of_groups(DW_LIMIT_MEMORY, groups, folder) == 0);
	write_file(folder, "outer/memory.max", "3000000\n");
	CHECK_NEAR(dw_limits_of_groups(DW_LIMIT_MEMORY, groups, folder), 3000000, 1e-9);
	write_file(folder, "memory/old/memory.limit_in_bytes", "2000000\n");
	CHECK_NEAR(dw_limits_of_groups(DW_LIMIT_MEMORY, groups, folder), 2000000, 1e-9);
	write_file(folder, "outer/inner/memory.events", "low 0\noom 3\noom_kill 2\n");
	dw_limits_count_kills(&kills, groups, folder);
	CHECK_EQ(kills.of_group, 2);
	write_file(folder, "memory/old/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
	dw_limits_count_kills(&kills, groups, folder);
	CHECK_EQ(kills.of_group, 3);
	write_file(folder, "groups", "0::/\n"); /* as within a container */
	CHECK(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder) == 0);
	write_file(folder, "cpu.max", "400000 100000\n");
	CHECK_NEAR(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder), 4, 1e-9);
	write_file(folder, "groups", "4:cpuset:/\n3:cpu,cpuacct:/old\n");
	write_file(folder, "cpu/old/cpu.cfs_quota_us", "-1\n");
	write_file(folder, "cpu/old/cpu.cfs_period_us", "100000\n");
	CHECK(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder) == 0);
	write_file(folder, "cpu/old/cpu.cfs_quota_us", "250000\n");
	CHECK_NEAR(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder), 2.5, 1e-9);
	write_file(folder, "groups", "3:cpuacct,cpu:/docker/not-in-here\n"); /* the container sees its own as the root */
	CHECK(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder) == 0);
	write_file(folder, "cpu/cpu.cfs_quota_us", "100000\n");
	write_file(folder, "cpu/cpu.cfs_period_us", "100000\n");
	CHECK_NEAR(dw_limits_of_groups(DW_LIMIT_CPUS, groups, folder), 1, 1e-9);
	CHECK(dw_limits_cpus() >= 1 && dw_limits_memory() > 0);
	for (size_t i = sizeof files / sizeof *files; i-- > 0;) {
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		CHECK(remove(path) == 0);
	}
	for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) {
		snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
		CHECK(remove(path) == 0);
	}
	CHECK(remove(folder) == 0);
}

static unsigned times[1000];

static void count_task(void *context, unsigned worker, size_t index)
{
	__atomic_fetch_add(&times[index], 1, __ATOMIC_RELAXED);
	__atomic_fetch_or((unsigned *)context, 1u << (worker % 32), __ATOMIC_RELAXED);
}

TEST(a_pool_does_every_task_once)
{
	unsigned workers = 0;

	dw_pool_run(1000, 4, count_task, &workers);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(times[i], 1);
	CHECK_EQ(workers & ~0xfu, 0);
	dw_pool_run(0, 4, count_task, &workers);
	CHECK_EQ(dw_pool_workers(0), 1);
}

static const char *nearest(const char *wanted)
{
	struct dw_nearest found;

	dw_nearest_init(&found, wanted);
	dw_nearest_try(&found, "operators");
	dw_nearest_try(&found, "overview");
	dw_nearest_try(&found, "steps");
	return found.best;
}

TEST(the_nearest_name_is_found)
{
	CHECK_STR(nearest("operatrs"), "operators");
	CHECK_STR(nearest("Stpes"), "steps");
	CHECK_STR(nearest("oper"), "operators");
	CHECK_STR(nearest("zzzzzz"), NULL);
	CHECK_STR(nearest(""), NULL);
}

TEST(arrays_grow)
{
	uint64_t *numbers = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < 1000; i++) {
		uint64_t *slot = DW_GROW(&numbers, &capacity, i);

		REQUIRE(slot);
		CHECK_EQ(*slot, 0);
		*slot = i;
	}
	for (size_t i = 0; i < 1000; i++)
		CHECK_EQ(numbers[i], i);
	free(numbers);
}

static bool matches(const char *pattern, const char *text)
{
	return dw_glob_match(pattern, strlen(pattern), text);
}

TEST(a_median_is_between_the_two_in_the_middle)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 };

	CHECK_NEAR(dw_median(odd, 3), 2, 0);
	CHECK_NEAR(dw_median(even, 4), 2.5, 0);
	CHECK_NEAR(dw_median(even, 0), 0, 0);
}

/* Of any numbers, in any order, with many that are equal. */
TEST(a_selected_median_is_the_median)
{
	double values[64], sorted[64];
	uint64_t random = 1;

	for (unsigned round = 0; round < 20000; round++) {
		size_t count = round % 64, kinds = 1 + round / 64 % 70;

		for (size_t i = 0; i < count; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			values[i] = sorted[i] = round % 3 ? (double)((random >> 33) % kinds) : (double)(i < count / 2 ? i : count - i);
		}
		if (!(dw_select_median(values, count) == dw_median(sorted, count)))
			CHECK_FAIL("round %u: %zu numbers", round, count);
		dw_sort_numbers(values, count);
		CHECK(memcmp(values, sorted, count * sizeof *values) == 0);
	}
}

TEST(patterns)
{
	CHECK(matches("Net.stem", "Net.stem") && !matches("Net.stem", "Net.stem2"));
	CHECK(!matches("Net.stem2", "Net.stem") && !matches("", "x") && matches("", ""));
	CHECK(matches("*", "") && matches("*", "a.b") && matches("Net.*", "Net.a.b"));
	CHECK(matches("*.conv?", "Net.0.conv1") && !matches("*.conv?", "Net.0.conv"));
	CHECK(matches("a*b*c", "aXbXbXc") && !matches("a*b*c", "aXcXb"));
	CHECK(matches("**a", "ba") && !matches("?", ""));
	CHECK(dw_glob_any("x, Net.*,y", "Net.1") && dw_glob_any("Net.1 ,", "Net.1"));
	CHECK(!dw_glob_any("", "") && !dw_glob_any(", ,", "") && !dw_glob_any("a,b", "a,b"));
}

TEST(a_pattern_of_stars_is_not_tried_for_ever)
{
	char text[2000];

	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	CHECK(!matches("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

TEST(a_function_has_its_name_of_the_source)
{
	static const char *const names[] = { "train.constprop.0", "train._omp_fn.12", "train.part.0.isra.3", "train.cold",
		                                 "train [clone .lto_priv.0]", "train" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK_EQ(dw_plain_length(names[i]), 5);
	CHECK_EQ(dw_plain_length(".cold"), 5);
}

static const char *shortened(const char *name)
{
	static char text[300];

	snprintf(text, sizeof text, "%s", name);
	dw_name_shorten(text);
	return text;
}

TEST(arguments_of_templates_are_left_out_before_a_name_is_cut)
{
	char name[1200] = "engine::Table<", text[40];

	for (unsigned i = 0; i < 50; i++)
		snprintf(name + strlen(name), sizeof name - strlen(name), "std::pair<int, int>, ");
	snprintf(name + strlen(name), sizeof name - strlen(name), "int>::Table(engine::Table const&)");
	CHECK_STR(dw_name_short(text, sizeof text, name), "engine::Table::Table");
	CHECK(dw_name_is_of_object(name));
	CHECK_STR(dw_name_short(text, 10, "engine::train(int)"), "engine::t");
}

TEST(long_names_of_cpp_are_shortened)
{
	CHECK_STR(shortened("engine::Net::train(double, std::vector<int, std::allocator<int> > const&) const"), "engine::Net::train");
	CHECK_STR(shortened("std::map<int, a::b<c> >::operator[](int const&)"), "std::map::operator[]");
	CHECK_STR(shortened("void engine::apply<float>(float*, unsigned long)"), "engine::apply");
	CHECK_STR(shortened("std::vector<int> engine::(anonymous namespace)::rows(int)"), "engine::rows");
	CHECK_STR(shortened("node::Scheduler::Start()::{lambda(void*)#1}::_FUN(void*)"), "node::Scheduler::Start::{lambda#1}::_FUN");
	CHECK_STR(shortened("a::operator<(a::b const&, a::b const&)"), "a::operator<");
	CHECK_STR(shortened("a::b::operator()(int) const"), "a::b::operator()");
	CHECK_STR(shortened("outer.<locals>.<lambda>"), "outer.<locals>.<lambda>");
	CHECK_STR(shortened("<frozen importlib._bootstrap>"), "<frozen importlib._bootstrap>");
	CHECK_STR(shortened("f(int)"), "f");
	CHECK_STR(shortened("void apply<float>(float*, unsigned long)"), "apply");
	CHECK_STR(shortened("operator new(unsigned long)"), "operator new");
	CHECK_STR(shortened("a::b::operator unsigned int() const"), "a::b::operator unsigned int");
	CHECK_STR(shortened("decode (several tokens)"), "decode (several tokens)");
	CHECK_STR(shortened("(in no range)"), "(in no range)");
	CHECK_STR(shortened("a::b<"), "a::b");
	CHECK_STR(shortened("a::(("), "a::");
	CHECK_STR(shortened("<&mut alloc::vec::Vec<u8> as core::iter::Extend<fn(u8) -> u8>>::extend"), "alloc::vec::Vec::extend");
	CHECK_STR(shortened("<impl core::fmt::Debug for net::Layer<T>>::fmt"), "net::Layer::fmt");
	CHECK_STR(shortened("<a as ::"), "a");
}

TEST(a_comprehension_of_python_is_a_part_of_its_function)
{
	static const char *const names[][2] = { { "clean.<locals>.<listcomp>", "clean" }, { "outer.<locals>.<lambda>", "outer" },
		                                    { "outer.<locals>.inner", "outer.<locals>.inner" }, { "<module>", "<module>" } };
	char text[60];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(text, sizeof text, "%s", names[i][0]);
		dw_name_take_outer(text);
		CHECK_STR(text, names[i][1]);
	}
}

static const char *demangled(const char *name)
{
	static char text[3000];
	char *found = dw_demangle(name);

	snprintf(text, sizeof text, "%s", found ? found : "none");
	free(found);
	return text;
}

/* The first three were made by rustc. */
TEST(names_of_rust_are_demangled)
{
	CHECK_STR(demangled("_RNvMNtCscmw449OM9Q0_6panics4deepINtB2_6WorkermE9rust_workB4_"), "panics::deep::Worker<u32>::rust_work");
	CHECK_STR(demangled("_RINvNtNtCsdyIG5SqMl5y_3std10sys_common9backtrace28___rust_begin_short_backtraceNCNCNvCscmw449OM9Q0_6panics4"
	                    "mains_00TyyEEB1l_"),
	          "std::sys_common::backtrace::__rust_begin_short_backtrace<panics::main::{closure#1}::{closure#0}, (u64, u64)>");
	CHECK_STR(demangled("_RNSNvYNCNvC1a1f0INtNtNtC4core3ops8function6FnOnceuE9call_once6vtable"),
	          "<a::f::{closure#0} as core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}");
	CHECK_STR(demangled("_RNvXs_C1aRSNtB4_1bNtB4_1c1d"), "<&[a::b] as a::c>::d");
	CHECK_STR(demangled("_RINvC1a1bAhj10_Kin5_Kb1_DNtB2_1cp1dOlEL_FUKCQbPeEzE"),
	          "a::b<[u8; 16], -5, true, dyn a::c<d = *mut i32>, fn(&mut bool, *const str) -> !>");
	CHECK_STR(demangled("_RNvC1a"), "none");
	CHECK_STR(demangled("_RNvC99999999999999999999999a1b"), "none");
	CHECK_STR(demangled("_RB_"), "none");
	CHECK_STR(demangled("_RNvB0_1a"), "none");
	CHECK_STR(demangled("_R"), "none");
	CHECK_STR(demangled("_RINvC1a1bTBc_BcEE"), "none");
}

/* A name that doubles itself forty times, and one that is very deep. */
TEST(names_of_rust_are_bounded)
{
	char text[2000] = "_RINvC1a1bTTllE";
	size_t at = strlen(text);

	for (unsigned i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "TB%c_B%c_E", i % 2 ? '7' : '6', '6');
	snprintf(text + at, sizeof text - at, "EE");
	CHECK(strlen(demangled(text)) < sizeof text);
	memset(text, 'R', sizeof text - 1);
	text[0] = '_';
	CHECK_STR(demangled(text), "none");
	memset(text + 2, 'N', sizeof text - 3);
	CHECK_STR(demangled(text), "none");
}

TEST(older_names_of_rust_are_demangled)
{
	if (strcmp(demangled("_ZN1a1bE"), "none") == 0)
		return; /* this machine has no C++ library */
	CHECK_STR(demangled("_ZN6panics4deep15Worker$LT$T$GT$9rust_work17he5d35670d211802cE"), "panics::deep::Worker<T>::rust_work");
	CHECK_STR(demangled("_ZN50_$LT$$RF$mut$u20$W$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE"),
	          "<&mut W as core::fmt::Write>::write_str");
	CHECK_STR(demangled("_ZN1a17hello_of_this_oneE"), "a::hello_of_this_one");
	CHECK_STR(demangled("_ZN4$odd17h0123456789abcdefE"), "$odd");
}

CHECK_MAIN
