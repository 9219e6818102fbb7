/* Names of functions that the C library chooses for the processor, and of those that its short functions jump to. */
#include "check.h"

#include <dlfcn.h>

#include "symbolize/symbolize_chosen.h"

/* Where the function that a name stands for in this process begins, in its library's file. */
static uint64_t offset_of(const char *name, const char **module)
{
	void *address = dlsym(RTLD_DEFAULT, name);
	Dl_info info;

	CHECK(address && dladdr(address, &info));
	*module = info.dli_fname;
	return (uint64_t)((uintptr_t)address - (uintptr_t)info.dli_fbase);
}

TEST(what_the_library_chose_has_the_name_that_programs_call)
{
	static const char *const names[] = { "strlen", "strcmp", "strchr" };
	const char *module, *found;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint64_t offset = offset_of(names[i], &module);

		found = dw_chosen_name(module, offset);
		/* A C library without such functions, as musl's, has chosen nothing; functions with the same code may have one
		 * name. */
		CHECK(!found || strncmp(found, "str", 3) == 0 || strcmp(found, "index") == 0);
		CHECK(!dw_chosen_name(module, offset + 1));
		CHECK(!dw_chosen_name(module, 0));
	}
}

#if defined __x86_64__
/* vsnprintf() sets one argument and jumps to a function that is in no table. */
TEST(what_a_short_function_jumps_to_has_its_name)
{
	const char *module, *found;
	uint64_t offset = offset_of("vsnprintf", &module);
	const unsigned char *code = dlsym(RTLD_DEFAULT, "vsnprintf");
	int32_t distance;
	size_t at = 0;

	while (at < 32 && code[at] != 0xe9)
		at++;
	if (at == 32)
		return; /* this library's does the work itself */
	memcpy(&distance, &code[at + 1], sizeof distance);
	found = dw_chosen_name(module, offset + at + 5 + (uint64_t)(int64_t)distance);
	CHECK_STR(found, "vsnprintf");
	CHECK(!dw_chosen_name(module, offset + at + 6 + (uint64_t)(int64_t)distance));
}
#endif

TEST(files_that_this_process_did_not_load_have_none)
{
	const char *module;
	uint64_t offset = offset_of("strlen", &module);

	CHECK(!dw_chosen_name("/", offset));
	CHECK(!dw_chosen_name("/nowhere/libc.so.6", offset));
	CHECK(!dw_chosen_name("[vdso]", offset));
}

CHECK_MAIN
