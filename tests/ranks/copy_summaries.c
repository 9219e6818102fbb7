/*
 * Many summaries from one, to measure how long their comparison takes.
 *
 *     copy_summaries SUMMARY FOLDER COUNT
 *
 * Writes COUNT files of one rank each: copies of the first rank of SUMMARY with other numbers, eight
 * ranks a host.
 */
#include <stdio.h>
#include <stdlib.h>

#include "summary/summary.h"

static bool copy_read(const char *path, struct dw_summary *summary)
{
	static char bytes[1 << 20];
	struct dwell_error error;
	FILE *file = fopen(path, "rb");
	size_t length = file ? fread(bytes, 1, sizeof bytes, file) : 0;

	if (file)
		fclose(file);
	if (length && !dw_summary_decode(summary, path, bytes, length, &error) && summary->count)
		return true;
	fprintf(stderr, "copy_summaries: %s is no summary of at most 1 MiB with a rank\n", path);
	return false;
}

static bool copy_write(struct dw_summary *summary, const char *folder, int number)
{
	struct dw_proto proto = { 0 };
	char path[4096];
	FILE *file;
	bool written;

	snprintf(path, sizeof path, "%s/%06d.sum", folder, number);
	dw_summary_encode(summary, &proto);
	file = proto.failed ? NULL : fopen(path, "wb");
	written = file && fwrite(proto.bytes, 1, proto.used, file) == proto.used;
	if (file)
		written &= fclose(file) == 0;
	if (!written)
		fprintf(stderr, "copy_summaries: cannot write %s\n", path);
	dw_proto_reset(&proto);
	return written;
}

int main(int argc, char **argv)
{
	struct dw_summary summary = { 0 };
	int count = argc == 4 ? atoi(argv[3]) : 0;
	bool good = count > 0 && copy_read(argv[1], &summary);
	char host[32];

	if (count <= 0)
		fprintf(stderr, "usage: copy_summaries SUMMARY FOLDER COUNT\n");
	summary.count = 1;
	for (int i = 0; good && i < count; i++) {
		struct dw_summary_rank *rank = &summary.ranks[0];

		snprintf(host, sizeof host, "node%05d", i / 8);
		rank->host = host;
		rank->rank = i;
		rank->local_rank = i % 8;
		rank->world_size = count;
		rank->pid = 1000 + (uint32_t)i;
		good = copy_write(&summary, argv[2], i);
	}
	dw_summary_reset(&summary);
	return good ? 0 : 1;
}
