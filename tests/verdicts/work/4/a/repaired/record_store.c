/* Append-only document store: documents are compressed one by one, packed
 * into segments on disk, then read back through the index and verified. */
#include <dwell/probe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define SEGMENTS 300
#define DOCS_PER_SEGMENT 600
#define MAX_DOC 1024
#define LEVEL 6

typedef struct {
    uint64_t offset;
    uint32_t packed, raw, crc;
} index_entry_t;

typedef struct {
    FILE *file;
    uint64_t end;
    index_entry_t *index;
    size_t n, cap;
    z_stream z;
    unsigned char *scratch;
    size_t scratch_cap;
} store_t;

static uint32_t seed = 20240611;

static uint32_t rnd(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static const char *CITIES[] = {"Rotterdam", "Gdansk", "Valencia", "Genoa", "Antwerp", "Piraeus"};
static const char *STATES[] = {"created", "packed", "in_transit", "customs", "delivered"};

static int make_document(char *out, uint32_t id)
{
    int n = sprintf(out, "{\"id\":%u,\"status\":\"%s\",\"origin\":\"%s\",\"dest\":\"%s\",\"items\":[", id,
                    STATES[rnd(5)], CITIES[rnd(6)], CITIES[rnd(6)]);
    int items = 1 + rnd(3);
    for (int i = 0; i < items; i++)
        n += sprintf(out + n, "%s{\"sku\":\"SKU-%05u\",\"qty\":%u,\"price\":%u.%02u}", i ? "," : "",
                     rnd(100000), 1 + rnd(40), rnd(500), rnd(100));
    n += sprintf(out + n, "]}");
    return n;
}

static void die(const char *what)
{
    fprintf(stderr, "record_store: %s failed\n", what);
    exit(1);
}

static void store_open(store_t *s, const char *path)
{
    memset(s, 0, sizeof *s);
    s->file = fopen(path, "w+b");
    if (!s->file)
        die("open");
    s->scratch_cap = compressBound(MAX_DOC) + 64;
    s->scratch = malloc(s->scratch_cap);
    if (deflateInit2(&s->z, LEVEL, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        die("deflateInit2");
}

static size_t pack(store_t *s, const char *doc, size_t len)
{
    deflateReset(&s->z);
    s->z.next_in = (unsigned char *)doc;
    s->z.avail_in = len;
    s->z.next_out = s->scratch;
    s->z.avail_out = s->scratch_cap;
    if (deflate(&s->z, Z_FINISH) != Z_STREAM_END)
        die("deflate");
    return s->z.total_out;
}

static void store_append(store_t *s, const char *doc, size_t len)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 1024;
        s->index = realloc(s->index, s->cap * sizeof *s->index);
    }
    index_entry_t *e = &s->index[s->n++];
    e->raw = len;
    e->crc = crc32(0, (const unsigned char *)doc, len);
    e->packed = pack(s, doc, len);
    e->offset = s->end;
    if (fwrite(s->scratch, 1, e->packed, s->file) != e->packed)
        die("write");
    s->end += e->packed;
}

static size_t store_verify(store_t *s, size_t from)
{
    unsigned char *segment, raw[MAX_DOC];
    uint64_t start = s->index[from].offset, bytes = s->end - start;
    size_t good = 0;
    segment = malloc(bytes);
    fflush(s->file);
    if (pread(fileno(s->file), segment, bytes, start) != (ssize_t)bytes)
        die("read");
    z_stream z;
    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, -15) != Z_OK)
        die("inflateInit2");
    for (size_t i = from; i < s->n; i++) {
        index_entry_t *e = &s->index[i];
        inflateReset(&z);
        z.next_in = segment + (e->offset - start);
        z.avail_in = e->packed;
        z.next_out = raw;
        z.avail_out = sizeof raw;
        if (inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == e->raw &&
            crc32(0, raw, e->raw) == e->crc)
            good++;
    }
    inflateEnd(&z);
    free(segment);
    return good;
}

int main(void)
{
    char path[] = "/tmp/record_store_XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        die("mkstemp");
    close(fd);
    store_t store;
    store_open(&store, path);
    unlink(path);

    char doc[MAX_DOC];
    uint64_t raw_bytes = 0;
    size_t verified = 0;
    for (int seg = 0; seg < SEGMENTS; seg++) {
        DWELL_STEP();
        size_t first = store.n;
        for (int d = 0; d < DOCS_PER_SEGMENT; d++) {
            int len = make_document(doc, (uint32_t)store.n);
            store_append(&store, doc, len);
            raw_bytes += len;
        }
        verified += store_verify(&store, first);
    }
    printf("documents=%zu verified=%zu raw=%llu packed=%llu ratio=%.3f\n", store.n, verified,
           (unsigned long long)raw_bytes, (unsigned long long)store.end,
           (double)store.end / raw_bytes);
    deflateEnd(&store.z);
    fclose(store.file);
    free(store.index);
    free(store.scratch);
    return verified == store.n ? 0 : 1;
}
