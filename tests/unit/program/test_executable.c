/* What a program is, and what may be loaded into it: from files that are made here. */
#include "check.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/executable.h"

static char folder[64], path[128];
static struct dw_executable executable;

static bool begin(const char *name)
{
	snprintf(folder, sizeof folder, "/tmp/dwell-unit-XXXXXX");
	if (!mkdtemp(folder))
		return false;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return true;
}

static void end(void)
{
	unlink(path);
	rmdir(folder);
}

static int find_own_loader(struct dl_phdr_info *info, size_t size, void *loader)
{
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*(const char **)loader = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return 1; /* the first is the program */
}

/* The loader of this test, with which the command is linked too; NULL: it is linked statically. */
static const char *own_loader(void)
{
	const char *loader = NULL;

	dl_iterate_phdr(find_own_loader, &loader);
	return loader;
}

/* A program is made of its head, the name of its loader (NULL: it has none), the names for the dynamic linker, and other
 * texts. */
struct image {
	Elf64_Ehdr head;
	Elf64_Phdr part;
	Elf64_Shdr section;
	char loader[256], names[256], text[256];
};

static void write_program(const char *loader, const char *names, const char *text)
{
	struct image image = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 },
			.e_phoff = offsetof(struct image, part), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = loader ? 1 : 0,
			.e_shoff = offsetof(struct image, section), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 1 },
		.section = { .sh_type = SHT_STRTAB, .sh_flags = SHF_ALLOC, .sh_offset = offsetof(struct image, names),
			.sh_size = sizeof image.names },
	};
	FILE *file = fopen(path, "w");

	image.part = (Elf64_Phdr){ .p_type = PT_INTERP, .p_offset = offsetof(struct image, loader),
		.p_filesz = loader ? strlen(loader) + 1 : 0 };
	snprintf(image.loader, sizeof image.loader, "%s", loader ? loader : "");
	snprintf(image.names, sizeof image.names, "%s", names);
	snprintf(image.text, sizeof image.text, "%s", text);
	if (!file)
		return;
	fwrite(&image, sizeof image, 1, file);
	fclose(file);
	chmod(path, 0700);
}

TEST(a_program_of_this_libc_gets_the_libraries)
{
	REQUIRE(own_loader());
	REQUIRE(begin("app"));
	write_program(own_loader(), "libc.so.6", "");
	dw_executable_find(&executable, path);
	CHECK_STR(executable.name, path);
	CHECK_STR(executable.path, path);
	CHECK(!executable.refusal && !executable.own_refusal && !executable.rights);
	CHECK(!executable.is_python && !executable.may_use_mpi && !executable.may_use_ggml && !executable.may_use_onnx);
	CHECK_EQ(executable.contained_count, 0);
	end();
}

TEST(a_script_gets_them_too)
{
	FILE *file;

	REQUIRE(begin("train.sh"));
	file = fopen(path, "w");
	REQUIRE(file);
	fputs("#!/bin/sh\npython3 train.py\n", file);
	fclose(file);
	dw_executable_find(&executable, path);
	CHECK(!executable.refusal && !executable.own_refusal);
	end();
}

TEST(a_static_program_gets_none_and_what_it_starts_does)
{
	REQUIRE(begin("app"));
	write_program(NULL, "", "");
	dw_executable_find(&executable, path);
	CHECK(!executable.refusal);
	CHECK(executable.own_refusal && strstr(executable.own_refusal, "linked statically"));
	CHECK(dw_executable_process_refusal(path) != NULL);
	end();
}

TEST(a_static_program_that_contains_the_recorder_is_recorded)
{
	REQUIRE(begin("app"));
	write_program(NULL, "", "DWELL_TRACE");
	CHECK(dw_executable_process_refusal(path) == NULL);
	end();
}

TEST(a_program_of_another_libc_gets_none)
{
	REQUIRE(own_loader());
	REQUIRE(begin("app"));
	write_program("/lib/ld-musl-x86_64.so.1", "libc.so", "");
	dw_executable_find(&executable, path);
	CHECK(executable.refusal && strstr(executable.refusal, "another C library"));
	CHECK(executable.own_refusal == executable.refusal);
	end();
}

TEST(a_program_of_32_bits_gets_none)
{
	FILE *file;

	REQUIRE(begin("app"));
	write_program(own_loader(), "libc.so.6", "");
	file = fopen(path, "r+");
	REQUIRE(file);
	fseek(file, EI_CLASS, SEEK_SET);
	fputc(ELFCLASS32, file);
	fclose(file);
	dw_executable_find(&executable, path);
	CHECK(executable.refusal && strstr(executable.refusal, "32 bits"));
	CHECK(!strstr(executable.refusal, "attach"));
	end();
}

TEST(a_program_with_a_sanitizer_gets_none)
{
	REQUIRE(own_loader());
	REQUIRE(begin("app"));
	write_program(own_loader(), "libasan.so.8", "");
	dw_executable_find(&executable, path);
	CHECK(executable.refusal && strstr(executable.refusal, "sanitizer"));
	write_program(own_loader(), "libc.so.6", "libasan.so.8"); /* it only has the word */
	dw_executable_find(&executable, path);
	CHECK(!executable.refusal);
	end();
}

TEST(what_is_linked_may_be_called)
{
	REQUIRE(begin("app"));
	write_program(own_loader(), "libmpi.so.40", "");
	dw_executable_find(&executable, path);
	CHECK(executable.may_use_mpi && !executable.may_use_ggml && !executable.may_use_onnx);
	write_program(own_loader(), "libllama.so", "GGML_ASSERT(x)");
	dw_executable_find(&executable, path);
	CHECK(!executable.may_use_mpi && executable.may_use_ggml);
	CHECK_EQ(executable.contained_count, 0);
	write_program(own_loader(), "libonnxruntime.so.1", "");
	dw_executable_find(&executable, path);
	CHECK(executable.may_use_onnx);
	end();
}

TEST(what_is_a_part_of_the_file_is_named_with_a_remedy)
{
	REQUIRE(begin("app"));
	write_program(own_loader(), "libc.so.6", "GGML_ASSERT(x) torch/csrc/autograd/engine.cpp");
	dw_executable_find(&executable, path);
	CHECK_EQ(executable.contained_count, 2);
	CHECK_STR(executable.contained[0].name, "ggml");
	CHECK_STR(executable.contained[1].name, "PyTorch");
	CHECK(strstr(executable.contained[1].remedy, "LibTorch"));
	end();
}

TEST(python_may_load_mpi_and_ggml_and_has_another_onnx_runtime)
{
	REQUIRE(begin("python3.11"));
	write_program(own_loader(), "libonnxruntime.so", "GGML_ASSERT(x)");
	dw_executable_find(&executable, path);
	CHECK(executable.is_python && executable.may_use_mpi && executable.may_use_ggml && !executable.may_use_onnx);
	CHECK_EQ(executable.contained_count, 0);
	CHECK(dw_executable_is_python("python3") && !dw_executable_is_python("/python/app"));
	end();
}

TEST(a_launcher_starts_ranks_that_use_mpi)
{
	REQUIRE(begin("mpirun.openmpi"));
	write_program(own_loader(), "libc.so.6", "");
	dw_executable_find(&executable, path);
	CHECK(executable.may_use_mpi);
	end();
}

TEST(a_program_is_found_in_the_path_as_a_shell_finds_it)
{
	char before[4096], both[4300];

	snprintf(before, sizeof before, "%s", getenv("PATH") ? getenv("PATH") : "");
	REQUIRE(begin("app-of-test"));
	write_program(own_loader(), "libc.so.6", "");
	snprintf(both, sizeof both, "/nowhere:%s", folder);
	setenv("PATH", both, 1);
	dw_executable_find(&executable, "app-of-test");
	CHECK_STR(executable.path, path);
	dw_executable_find(&executable, "no-such-app-of-test");
	CHECK_STR(executable.path, "");
	CHECK(!executable.refusal && !executable.own_refusal && !executable.may_use_mpi);
	unsetenv("PATH");
	CHECK(dw_executable_search("sh", both));
	CHECK_STR(both, "/bin/sh");
	setenv("PATH", before, 1);
	end();
}

TEST(a_part_of_the_path_that_is_empty_is_this_folder)
{
	char before[4096], found[4096], here[4096];

	snprintf(before, sizeof before, "%s", getenv("PATH") ? getenv("PATH") : "");
	REQUIRE(getcwd(here, sizeof here));
	REQUIRE(begin("app-of-test"));
	write_program(own_loader(), "libc.so.6", "");
	REQUIRE(chdir(folder) == 0);
	setenv("PATH", "/nowhere:", 1);
	CHECK(dw_executable_search("app-of-test", found));
	CHECK_STR(found, "app-of-test");
	setenv("PATH", ":/nowhere", 1);
	CHECK(dw_executable_search("app-of-test", found));
	setenv("PATH", before, 1);
	CHECK_EQ(chdir(here), 0);
	end();
}

CHECK_MAIN
