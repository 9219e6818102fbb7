/* Names of functions without a demangler. */
#include "../check.h"

#include <stdio.h>

#include "format/symbol_name.h"

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
	static const char *const symbols[] = { "", "_Z", "_ZN", "_ZNE", "_ZN3ab", "_Z99999999999999999999x", "_ZN1aI", "_ZN1aIL", "_ZplRK1aS1_",
		"_ZZ4mainENKUlvE_clEv", "_ZN1aI1bIILi", "_ZNS_1aE", "_ZN0E", "_ZN1aB", "_ZN1aC", "_ZNSt" };

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

TEST(a_name_matches_as_a_whole_or_at_its_end)
{
	char plain[DW_SYMBOL_NAME_BYTES];

	CHECK_EQ(dw_symbol_matches("a::b::f", "a::b::f"), 2);
	CHECK_EQ(dw_symbol_matches("a::b::f", "b::f"), 1);
	CHECK_EQ(dw_symbol_matches("a::b::f", "f"), 1);
	CHECK_EQ(dw_symbol_matches("a::b::ff", "f"), 0);
	CHECK_EQ(dw_symbol_matches("a::b::f", "::f"), 0);
	CHECK_EQ(dw_symbol_matches("a::b::f", ""), 0);
	dw_symbol_plain("a::(anonymous namespace)::f", plain);
	CHECK_STR(plain, "a::f");
}

TEST(parts_that_the_compiler_put_apart_are_no_copies)
{
	static const char *const parts[] = { "f.cold", "f.cold.12", "f.part.0", "f.constprop.0.cold", "f._omp_fn.0", "f.omp_outlined",
		"f.omp_outlined_debug__.1", ".omp_outlined.", "f..omp_par", "f._loopfn.2", "f.resolver", "_Z1fv.actor", "_Z1fv.destroy",
		"f.isra.0.part.1" };
	static const char *const copies[] = { "f", "f.constprop.0", "f.isra.0", "f.constprop.0.isra.0", "f.lto_priv.3", "f.llvm.123",
		"f.avx2.0", "f.default.1", "inner.0", "partial", "cold", "main.resume", "f.__uniq.42" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		CHECK(dw_symbol_is_part(parts[i]));
	for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
		CHECK(!dw_symbol_is_part(copies[i]));
}

CHECK_MAIN
