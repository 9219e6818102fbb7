/*
 * What a file is that no importer reads, and what to do about it; see import.h.
 *
 * Called when nothing else knows the file, so it may look at it once more. Only the first bytes are looked at, of a
 * compressed file those that they become.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef DW_HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/code/elf_kind.h"
#include "base/proto.h"
#include "import/import.h"

#define LOOKED_AT ((size_t)64 << 10)
#define FEWEST 4u /* fields of a protocol buffer that show what it is */

/* ---- protocol buffers -------------------------------------------------------------------- */

/* A trace of Perfetto is a list of packets, in field 1. Nearly all have a time (8) or the number of their sequence
 * (10). */
bool dw_form_is_perfetto(const void *bytes, size_t size)
{
	struct dw_proto_reader reader = dw_proto_read(bytes, size < LOOKED_AT ? size : LOOKED_AT);
	unsigned packets = 0, numbered = 0;
	struct dw_proto_field field;

	while (packets < 64 && dw_proto_next(&reader, &field)) {
		struct dw_proto_reader packet = dw_proto_read(field.bytes, field.length);
		struct dw_proto_field inside;
		bool found = false;

		if (field.field != 1 || field.wire != DW_PROTO_BYTES)
			return false;
		while (dw_proto_next(&packet, &inside))
			found |= (inside.field == 8 || inside.field == 10) && inside.wire == DW_PROTO_VARINT;
		if (packet.bad)
			return false;
		packets++;
		numbered += found;
	}
	return numbered && numbered * 2 >= packets;
}

/* A profile of pprof: lists of messages and numbers in fields 1 to 15, and strings in field 6, of which the first is
 * empty. */
static bool form_is_pprof(const void *bytes, size_t size)
{
	static const char wires[] = " BBBBBBVVVVBVEVV"; /* by field: bytes, a number, or either */
	struct dw_proto_reader reader = dw_proto_read(bytes, size < LOOKED_AT ? size : LOOKED_AT);
	struct dw_proto_field field;
	bool strings = false;
	unsigned fields = 0;

	while (dw_proto_next(&reader, &field)) {
		if (field.field >= sizeof wires - 1)
			return false;
		if (field.wire != DW_PROTO_BYTES && (field.wire != DW_PROTO_VARINT || wires[field.field] == 'B'))
			return false;
		if (field.field == 6 && !strings && field.length)
			return false;
		strings |= field.field == 6;
		fields++;
	}
	return strings && fields >= FEWEST;
}

/* ---- texts ------------------------------------------------------------------------------- */

static const char *form_of_text(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size && i < 64; i++)
		if (data[i] == '{' || data[i] == '[')
			return "it looks like JSON (a Chrome trace, perhaps)";
		else if (data[i] != ' ' && data[i] != '\n' && data[i] != '\r' && data[i] != '\t')
			break;
	for (size_t i = 0; i < size && i < 64; i++)
		if ((data[i] < 0x20 && data[i] != '\n' && data[i] != '\r' && data[i] != '\t') || data[i] >= 0x7f)
			return NULL;
	return "it looks like text";
}

/* ---- all --------------------------------------------------------------------------------- */

static const char *form_of(const char *bytes, size_t size)
{
	static const struct {
		const char *magic;
		size_t length;
		const char *text;
	} known[] = {
		{ "\x28\xb5\x2f\xfd", 4, "it looks like zstd: unzstd it first" },
		{ "\xfd"
		  "7zXZ",
		  5, "it looks like xz: unxz it first" },
		{ "BZh", 3, "it looks like bzip2: bunzip2 it first" },
		{ "PK\x03\x04", 4, "it looks like a zip archive: unzip it first" },
		{ "SQLite format 3", 15, "it looks like an SQLite database" },
		{ "PERFILE2", 8,
		  "it is data of perf, which dwell does not read: perf report shows it; dwell run --sample 100 records call stacks" },
		{ "#!", 2, "it is a script: dwell run records what it starts" },
		{ "NVR", 4, "it is a report of Nsight Compute, which dwell does not read: ncu --import shows it" },
	};
	const struct dw_elf_kind kind = dw_elf_kind(bytes, size);

	if (kind.kind != DW_ELF_NONE)
		return dw_elf_kind_said(&kind);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (size >= known[i].length && memcmp(bytes, known[i].magic, known[i].length) == 0)
			return known[i].text;
	if (size >= 263 && memcmp(bytes + 257, "ustar", 5) == 0)
		return "it looks like a tar archive: tar -xf unpacks it";
	if (dw_form_is_perfetto(bytes, size))
		return "it is a trace of Perfetto: traceconv json (perfetto.dev) makes Chrome JSON of it, which dwell reads. If dwell "
			   "exported it, name the trace itself";
	if (form_is_pprof(bytes, size))
		return "it is a profile of pprof, which has sums without times: pprof shows it. If dwell exported it, name the "
			   "trace itself";
	return form_of_text((const unsigned char *)bytes, size);
}

#ifdef DW_HAVE_ZLIB
static size_t form_inflate(const struct dw_import_file *file, char *to, size_t space)
{
	unsigned char part[16384];
	z_stream stream = { .next_in = part, .next_out = (Bytef *)to, .avail_out = (uInt)space };
	size_t taken = 0;
	int result = inflateInit2(&stream, 16 + MAX_WBITS);

	if (result != Z_OK)
		return 0;
	while (result == Z_OK && stream.avail_out && (stream.avail_in || taken < file->size_bytes)) {
		if (!stream.avail_in) {
			size_t count = file->size_bytes - taken < sizeof part ? file->size_bytes - taken : sizeof part;

			dw_copy_shared(part, file->data + taken, count);
			taken += count;
			stream.next_in = part;
			stream.avail_in = (uInt)count;
		}
		result = inflate(&stream, Z_NO_FLUSH);
	}
	inflateEnd(&stream);
	return result == Z_OK || result == Z_STREAM_END ? space - stream.avail_out : 0;
}
#else
static size_t form_inflate(const struct dw_import_file *file, char *to, size_t space)
{
	return 0;
}
#endif

static bool form_ends_in(const char *path, const char *what)
{
	size_t length = strlen(path), tail = strlen(what);

	return length >= tail && strcmp(path + length - tail, what) == 0;
}

void dw_form_guess(const struct dw_import_file *file, char text[DW_FORM_TEXT])
{
	size_t size = file->size_bytes < LOOKED_AT ? file->size_bytes : LOOKED_AT;
	bool packed = size >= 2 && memcmp(file->data, "\x1f\x8b", 2) == 0;
	char *bytes = malloc(LOOKED_AT);
	const char *what = NULL;

	*text = '\0';
	if (!bytes)
		return;
	if (packed)
		size = form_inflate(file, bytes, LOOKED_AT);
	else
		dw_copy_shared(bytes, file->data, size);
	if (size)
		what = form_of(bytes, size);
	if (!what && (form_ends_in(file->path, ".nsys-rep") || form_ends_in(file->path, ".qdrep")))
		what = "it is a report of Nsight Systems: nsys export --type sqlite makes a file of it that dwell reads";
	if (packed && !size)
		what = "it looks like gzip: no trace can be read in it. Copy it again, or gunzip it first";
	if (what)
		snprintf(text, DW_FORM_TEXT, "%s%s", packed && size ? "it is compressed with gzip; unpacked, " : "", what);
	else if (packed)
		snprintf(text, DW_FORM_TEXT, "it is compressed with gzip, and in it is nothing that dwell reads");
	free(bytes);
}

void dw_form_of_path(const char *path, char text[DW_FORM_TEXT])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO has no writer, perhaps */
	struct stat status;
	const char *what = NULL;
	void *map;

	*text = '\0';
	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
		what = S_ISDIR(status.st_mode) ? "it is a directory" : "it is no regular file";
	else if (status.st_size == 0)
		what = "it is an empty file";
	if (what) {
		snprintf(text, DW_FORM_TEXT, "%s", what);
	} else if ((map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0)) != MAP_FAILED) {
		dw_form_guess(&(struct dw_import_file){ path, map, (size_t)status.st_size }, text);
		munmap(map, (size_t)status.st_size);
	}
	close(fd);
}
