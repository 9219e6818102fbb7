/* The function symbols of an ELF file: of this program itself. */
#include "../check.h"

#include "base/code/elf_symbols.h"

static struct dw_elf_symbols elf;

TEST(functions_are_in_the_order_of_their_begin)
{
	uint32_t wrong = 0;

	REQUIRE(dw_elf_open(&elf, "/proc/self/exe", NULL, 0, NULL, 0) == 0);
	CHECK(elf.count > 10);
	for (size_t i = 1; i < elf.count; i++)
		wrong += elf.functions[i - 1].start > elf.functions[i].start;
	CHECK_EQ(wrong, 0);
	dw_elf_close(&elf);
}

TEST(each_function_is_found_by_an_address_in_it)
{
	uint32_t wrong = 0;
	bool main_found = false;

	REQUIRE(dw_elf_open(&elf, "/proc/self/exe", NULL, 0, NULL, 0) == 0);
	for (size_t i = 0; i < elf.count; i++) {
		const struct dw_elf_function *function = &elf.functions[i];
		const char *name = dw_elf_find(&elf, function->start + (function->end - function->start) / 2);

		wrong += !name; /* another name of the same code is right too */
		main_found |= name && strcmp(name, "main") == 0;
	}
	CHECK_EQ(wrong, 0);
	CHECK(main_found);
	dw_elf_close(&elf);
}

TEST(addresses_that_are_said_before_have_the_same_names)
{
	struct dw_elf_symbols few;
	uint64_t near[40];
	uint32_t wrong = 0;

	REQUIRE(dw_elf_open(&elf, "/proc/self/exe", NULL, 0, NULL, 0) == 0);
	for (size_t all = 1; all <= 40; all++) {
		for (size_t i = 0; i < all; i++)
			near[i] = elf.functions[0].start - 8 + (elf.functions[elf.count - 1].end - elf.functions[0].start) / 40 * i;
		REQUIRE(dw_elf_open(&few, "/proc/self/exe", NULL, 0, near, all) == 0);
		for (size_t i = 0; i < all; i++) {
			const char *name = dw_elf_find(&elf, near[i]), *same = dw_elf_find(&few, near[i]);

			wrong += !name != !same || (name && strcmp(name, same) != 0);
		}
		wrong += all == 1 && few.count > elf.count / 2;
		dw_elf_close(&few);
	}
	CHECK_EQ(wrong, 0);
	dw_elf_close(&elf);
}

CHECK_MAIN
