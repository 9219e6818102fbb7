/*
 * Runs a fuzz target on files, without a fuzzer: `replay FILE...`. A folder means all files in it.
 * For `make check` without clang.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long ran;

static void replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, got;

	if (!file) {
		fprintf(stderr, "replay: cannot open %s\n", path);
		exit(1);
	}
	do {
		uint8_t *grown = realloc(data, size + 65536);

		if (!grown)
			exit(1);
		data = grown;
		got = fread(data + size, 1, 65536, file);
		size += got;
	} while (got);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	ran++;
}

static void replay(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *item;
	char name[4096];

	if (!folder) {
		replay_file(path);
		return;
	}
	while ((item = readdir(folder))) {
		if (item->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, item->d_name);
		replay_file(name);
	}
	closedir(folder);
}

int main(int count, char **paths)
{
	bounds_ask_all = true;
	for (int i = 1; i < count; i++)
		replay(paths[i]);
	printf("%lu inputs\n", ran);
	return ran == 0;
}
