/* Names of functions without a demangler. */
#include "../check.h"

#include <stdio.h>

#include "format/symbol_match.h"

static const char *name_of(const char *symbol)
{
	static char name[DW_SYMBOL_NAME_BYTES];

	return dw_symbol_name(symbol, name) ? name : "";
}

TEST(symbols_have_the_names_of_the_source)
{
	CHECK_STR(name_of("train_step"), "train_step");
	CHECK_STR(name_of("train_step.constprop.0"), "train_step");
	CHECK_STR(name_of("memcpy@@GLIBC_2.14"), "memcpy");
	CHECK_STR(name_of("_Z10train_stepi"), "train_step");
	CHECK_STR(name_of("_ZL6staticd"), "static");
	CHECK_STR(name_of("_ZN6engine3Net5trainEd"), "engine::Net::train");
	CHECK_STR(name_of("_ZNK6engine3Net5trainEv"), "engine::Net::train");
	CHECK_STR(name_of("_ZN12_GLOBAL__N_14stepEd"), "step");
	CHECK_STR(name_of("_ZN6engineL4stepEd"), "engine::step");
	CHECK_STR(name_of("_ZN6engine12_GLOBAL__N_14stepEd"), "engine::step");
	CHECK_STR(name_of("_ZN3NetC2Ev"), "Net::Net");
	CHECK_STR(name_of("_ZN1a3NetD1Ev"), "a::Net::~Net");
	CHECK_STR(name_of("_ZN6engine9templatedIfEEdT_"), "engine::templated");
	CHECK_STR(name_of("_ZN1aIN1b1cILi42EEES_E1fEv"), "a::f");
	CHECK_STR(name_of("_ZSt4sortIPiEvT_S1_"), "std::sort");
	CHECK_STR(name_of("_ZNSt6vectorIiSaIiEE9push_backEOi"), "std::vector::push_back");
	CHECK_STR(name_of("_ZN3lib4stepB5cxx11Ev"), "lib::step");
	CHECK_STR(name_of("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
}

TEST(what_is_not_understood_or_damaged_has_no_name)
{
	static const char *const symbols[] = { "",
		                                   "_Z",
		                                   "_ZN",
		                                   "_ZNE",
		                                   "_ZN3ab",
		                                   "_Z99999999999999999999x",
		                                   "_ZN1aI",
		                                   "_ZN1aIL",
		                                   "_ZplRK1aS1_",
		                                   "_ZZ4mainENKUlvE_clEv",
		                                   "_ZN1aI1bIILi",
		                                   "_ZNS_1aE",
		                                   "_ZN0E",
		                                   "_ZN1aB",
		                                   "_ZN1aC",
		                                   "_ZNSt" };

	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
		CHECK_STR(name_of(symbols[i]), "");
}

TEST(long_names_are_refused)
{
	char symbol[3 * DW_SYMBOL_NAME_BYTES];
	int used = snprintf(symbol, sizeof symbol, "_ZN");

	for (int i = 0; i < 12; i++)
		used += snprintf(symbol + used, sizeof symbol - (size_t)used, "63a%062d", i);
	snprintf(symbol + used, sizeof symbol - (size_t)used, "E");
	CHECK_STR(name_of(symbol), "");
	memset(symbol, 'a', sizeof symbol - 1);
	symbol[sizeof symbol - 1] = '\0';
	CHECK_STR(name_of(symbol), "");
}

static unsigned rank(const char *symbol, const char *clear, const char *wanted)
{
	return dw_symbol_rank(symbol, clear, wanted);
}

TEST(a_name_matches_as_a_whole_or_at_its_end)
{
	static const char symbol[] = "_ZN1a1b1fEd", clear[] = "a::b::f(double)";

	CHECK_EQ(rank(symbol, clear, symbol), DW_SYMBOL_EXACT);
	CHECK_EQ(rank(symbol, clear, clear), DW_SYMBOL_EXACT);
	CHECK_EQ(rank(symbol, clear, "a::b::f( double )"), DW_SYMBOL_EXACT);
	CHECK_EQ(rank(symbol, clear, "a::b::f"), DW_SYMBOL_WHOLE);
	CHECK_EQ(rank(symbol, clear, "b::f"), DW_SYMBOL_END);
	CHECK_EQ(rank(symbol, clear, "b::f(double)"), DW_SYMBOL_END);
	CHECK_EQ(rank(symbol, clear, "b::f(float)"), 0);
	CHECK_EQ(rank(symbol, clear, "f"), DW_SYMBOL_END);
	CHECK_EQ(rank(symbol, clear, "ff"), 0);
	CHECK_EQ(rank(symbol, clear, ""), 0);
	CHECK_EQ(rank(symbol, clear, "_ZN1a1b1fEf"), 0);
	CHECK_EQ(rank(symbol, NULL, "a::b::f"), DW_SYMBOL_WHOLE); /* nothing demangles */
	CHECK_EQ(rank(symbol, NULL, "b::f(double)"), DW_SYMBOL_END);
	CHECK_EQ(rank("f.constprop.0", NULL, "f"), DW_SYMBOL_EXACT);
	CHECK_EQ(rank("f@@VERSION_1", NULL, "f"), DW_SYMBOL_EXACT);
	CHECK_EQ(rank("f.part.0", NULL, "f"), 0);
	CHECK_EQ(rank("f.part.0", NULL, "f.part.0"), DW_SYMBOL_EXACT);
	CHECK_EQ(rank("ff", NULL, "f"), 0);
}

TEST(template_arguments_and_anonymous_namespaces_may_be_left_out)
{
	static const char member[] = "caffe::SGDSolver<float, std::pair<int, int> >::ApplyUpdate() const";
	static const char function[] = "void (anonymous namespace)::free_step<float>(std::vector<float>&, int)";

	CHECK_EQ(rank("_ZM", member, "SGDSolver::ApplyUpdate"), DW_SYMBOL_END);
	CHECK_EQ(rank("_ZM", member, "SGDSolver<float, std::pair<int,int>>::ApplyUpdate"), DW_SYMBOL_END);
	CHECK_EQ(rank("_ZM", member, "SGDSolver<double>::ApplyUpdate"), 0);
	CHECK_EQ(rank("_ZM", member, "caffe::SGDSolver::ApplyUpdate()"), DW_SYMBOL_WHOLE);
	CHECK_EQ(rank("_ZM", member, "ApplyUpdate"), DW_SYMBOL_END);
	CHECK_EQ(rank("_ZF", function, "free_step"), DW_SYMBOL_WHOLE);
	CHECK_EQ(rank("_ZF", function, "free_step<float>"), DW_SYMBOL_WHOLE);
	CHECK_EQ(rank("_ZF", function, "(anonymous namespace)::free_step"), DW_SYMBOL_WHOLE);
	CHECK_EQ(rank("_ZF", function, "free_step<double>"), 0);
	CHECK_EQ(rank("_ZF", function, "float"), 0);
	CHECK_EQ(rank("_ZF", "f[abi:cxx11](int)", "f"), DW_SYMBOL_WHOLE);
}

TEST(operators_lambdas_and_what_lies_in_functions)
{
	CHECK_EQ(rank("_ZO", "Op::operator()(float)", "Op::operator()"), DW_SYMBOL_WHOLE);
	CHECK_EQ(rank("_ZO", "Op::operator<(Op const&) const", "operator<"), DW_SYMBOL_END);
	CHECK_EQ(rank("_ZO", "Op::operator<<(Op const&) const", "operator<"), 0);
	CHECK_EQ(rank("_ZO", "Op::operator unsigned int() const", "Op::operator unsigned int"), DW_SYMBOL_WHOLE);
	CHECK_EQ(rank("_ZO", "A::operator->()", "A::operator->"), DW_SYMBOL_WHOLE);
	CHECK_EQ(rank("_ZL", "step(int)::{lambda(int)#1}::operator()(int) const", "step"), 0);
	CHECK_EQ(rank("_ZL", "A::step(int) const::{lambda(int)#1}::operator()(int) const", "{lambda(int)#1}::operator()"),
	         DW_SYMBOL_END);
	CHECK_EQ(rank("_ZL", "A::step(int) const::inner(long)", "A::step"), 0);
	CHECK_EQ(rank("_ZR", "<run::Model as run::Step>::forward", "forward"), DW_SYMBOL_END);
	CHECK_EQ(rank("_ZR", "operators::f(int)", "operators::f"), DW_SYMBOL_WHOLE);
}

TEST(names_have_any_length)
{
	static char clear[40000], wanted[40000];
	size_t used = 0;

	for (int i = 0; i < 1000; i++)
		used += (size_t)snprintf(clear + used, sizeof clear - used, "layer_%d<", i);
	for (int i = 0; i < 1000; i++)
		used += (size_t)snprintf(clear + used, sizeof clear - used, " >");
	snprintf(clear + used, sizeof clear - used, "::forward(tensor)");
	CHECK_EQ(rank("_ZX", clear, "layer_0::forward"), DW_SYMBOL_WHOLE);
	snprintf(wanted, sizeof wanted, "%s", clear);
	CHECK_EQ(rank("_ZX", clear, wanted), DW_SYMBOL_EXACT);
	*strchr(wanted + 5000, '9') = '8';
	CHECK_EQ(rank("_ZX", clear, wanted), 0);
}

static const char *last_of(const char *wanted)
{
	static struct dw_symbol_last last;

	dw_symbol_last_word(wanted, &last);
	return last.mangled;
}

TEST(symbols_without_the_last_word_need_not_be_demangled)
{
	struct dw_symbol_last last;
	char name[600];

	CHECK_STR(last_of("a::b<c::d>::f<e>(g::h)"), "1f");
	CHECK_STR(last_of("Net::~Net"), "3Net");
	CHECK_STR(last_of("train_one_step_of_all"), "21train_one_step_of_all");
	CHECK_STR(last_of("A::operator()"), "");
	CHECK_STR(last_of("_ZN1aE"), "");
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	CHECK_STR(last_of(name), "");
	dw_symbol_last_word("a::step", &last);
	CHECK(dw_symbol_may_match("step.constprop.0", &last));
	CHECK(dw_symbol_may_match("_ZN1a4stepEv", &last));
	CHECK(!dw_symbol_may_match("_ZN1a6stepupEv", &last));
	CHECK(dw_symbol_may_match("_RNvCs1_3run4step", &last));
}

TEST(marks_of_copies_and_versions_are_no_part_of_the_base)
{
	CHECK_EQ(dw_symbol_base("f.constprop.0"), 1);
	CHECK_EQ(dw_symbol_base("f@@V"), 1);
	CHECK_EQ(dw_symbol_base("_ZN4core3ops..f$LT$a..b$GT$17h0E.llvm.1"), 32);
}

TEST(parts_that_the_compiler_put_apart_are_no_copies)
{
	static const char *const parts[] = { "f.cold",
		                                 "f.cold.12",
		                                 "f.part.0",
		                                 "f.constprop.0.cold",
		                                 "f._omp_fn.0",
		                                 "f.omp_outlined",
		                                 "f.omp_outlined_debug__.1",
		                                 ".omp_outlined.",
		                                 "f..omp_par",
		                                 "f._loopfn.2",
		                                 "f.resolver",
		                                 "_Z1fv.actor",
		                                 "_Z1fv.destroy",
		                                 "f.isra.0.part.1" };
	static const char *const copies[] = { "f",
		                                  "f.constprop.0",
		                                  "f.isra.0",
		                                  "f.constprop.0.isra.0",
		                                  "f.lto_priv.3",
		                                  "f.llvm.123",
		                                  "f.avx2.0",
		                                  "f.default.1",
		                                  "inner.0",
		                                  "partial",
		                                  "cold",
		                                  "main.resume",
		                                  "f.__uniq.42" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		CHECK(dw_symbol_is_part(parts[i]));
	for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
		CHECK(!dw_symbol_is_part(copies[i]));
}

CHECK_MAIN
