/*
 * Which functions of a file --step-on can take, and how their instructions are read: for tools/measure/step_on_moved.
 *
 * moved FILE: each line of its input is the address of a function in the file and its bytes, in base 16. It prints
 * "function ADDRESS WHY", with "ok" as WHY if it can, "breakpoint" if the kernel can stop there, and of each instruction "ADDRESS BYTES KIND TARGET"; of x86-64
 * without a target.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/code/instruction_arm.h"
#include "entry_move.h"

static uint8_t *base; /* where the file is in memory, as the loader puts it there */

static struct dws_move_file load(const uint8_t *data)
{
	const Elf64_Ehdr *head = (const void *)data;
	const Elf64_Phdr *parts = (const void *)(data + head->e_phoff);
	struct dws_move_file file = { .count = 0 };
	uint64_t most = 0;

	for (unsigned i = 0; i < head->e_phnum; i++)
		if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr + parts[i].p_memsz > most)
			most = parts[i].p_vaddr + parts[i].p_memsz;
	base = mmap(NULL, most + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		exit(2);
	for (unsigned i = 0; i < head->e_phnum && file.count < DWS_MOVE_PARTS; i++) {
		if (parts[i].p_type != PT_LOAD || !(parts[i].p_flags & PF_R))
			continue;
		memcpy(base + parts[i].p_vaddr, data + parts[i].p_offset, parts[i].p_filesz);
		file.parts[file.count++] =
			(struct dws_move_part){ base + parts[i].p_vaddr, parts[i].p_filesz, (parts[i].p_flags & PF_X) != 0,
			                        (parts[i].p_flags & PF_W) != 0 };
	}
	return file;
}

static void list_x86(uint64_t at, uint64_t end)
{
	struct dw_instruction next;

	for (; at < end && dw_instruction_read(base + at, (unsigned)(end - at), &next); at += next.bytes)
		printf("%lx %u %d 0\n", (unsigned long)at, next.bytes, next.kind);
	if (at < end)
		printf("%lx 0 0 0\n", (unsigned long)at);
}

static void list_arm(uint64_t at, uint64_t end)
{
	uint32_t word;

	for (; at + 4 <= end; at += 4) {
		memcpy(&word, base + at, sizeof word);
		printf("%lx 4 %d %lx\n", (unsigned long)at, dw_arm_kind(word), (unsigned long)dw_arm_target(at, word));
	}
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	struct dws_move_file file;
	struct dws_arm_move arm;
	struct dws_move move;
	unsigned long at, bytes;
	struct stat status;
	uint8_t *data;
	bool is_arm;

	if (fd < 0 || fstat(fd, &status) != 0)
		return 2;
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return 2;
	is_arm = ((const Elf64_Ehdr *)(const void *)data)->e_machine == EM_AARCH64;
	file = load(data);
	while (scanf("%lx %lx", &at, &bytes) == 2) {
		const char *why =
			is_arm ? dws_arm_choose(&arm, &file, base + at, bytes) : dws_move_choose(&move, &file, base + at, bytes);

		if (why && !is_arm && dws_move_begins_once(&file, base + at, bytes))
			why = "breakpoint";
		printf("function %lx %s\n", at, why ? why : "ok");
		(is_arm ? list_arm : list_x86)(at, at + bytes);
	}
	return 0;
}
