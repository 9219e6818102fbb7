/* Nightly archive job: text documents are chunked by content, duplicate chunks
 * are stored once, new ones are deflated into a single growing shelf. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define DOCUMENTS 1000
#define DOC_BYTES (220 * 1024)
#define MIN_CHUNK 4096
#define MAX_CHUNK 65536
#define TABLE (1 << 17)

typedef struct {
    uint64_t digest;
    uint32_t offset, packed, raw;
} Slot;

typedef struct {
    Slot *slots;
    size_t used;
    unsigned char *bytes;
    size_t length, capacity;
    size_t duplicates, raw_in;
    z_stream z;
} Shelf;

static uint64_t rng = 31337;
static uint32_t gear[256];

static uint32_t next_u32(void)
{
    rng = rng * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(rng >> 32);
}

static void gear_init(void)
{
    for (int i = 0; i < 256; i++)
        gear[i] = next_u32();
}

static void write_document(unsigned char *doc, size_t len)
{
    static const char *words[] = {"clause", "party", "agreement", "shall", "notwithstanding", "the", "of",
                                  "delivery", "seller", "buyer", "term", "hereby", "payment", "interest", "to"};
    size_t n = 0;
    while (n + 24 < len) {
        uint32_t r = next_u32();
        if (r % 9 == 0)
            n += (size_t)sprintf((char *)doc + n, "%u.%u ", r >> 20, (r >> 8) & 63);
        else
            n += (size_t)sprintf((char *)doc + n, "%s ", words[(r >> 5) % 15]);
    }
    memset(doc + n, '\n', len - n);
}

static void revise_document(unsigned char *doc, size_t len)
{
    int edits = 8 + (int)(next_u32() % 8);
    for (int i = 0; i < edits; i++) {
        size_t at = next_u32() % (len - 64);
        for (int k = 0; k < 40; k++)
            doc[at + (size_t)k] = (unsigned char)('a' + next_u32() % 26);
    }
}

static size_t chunk_length(const unsigned char *p, size_t left)
{
    if (left <= MIN_CHUNK)
        return left;
    size_t limit = left < MAX_CHUNK ? left : MAX_CHUNK;
    uint32_t h = 0;
    for (size_t i = MIN_CHUNK - 64; i < limit; i++) {
        h = (h << 1) + gear[p[i]];
        if (i >= MIN_CHUNK && (h & 0xfff80000u) == 0)
            return i;
    }
    return limit;
}

static uint64_t digest_of(const unsigned char *p, size_t n)
{
    uint64_t h = 0x9E3779B97F4A7C15ull ^ n, w;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&w, p + i, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    for (; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3ull;
    return h ? h : 1;
}

static Slot *find_slot(Shelf *s, uint64_t digest)
{
    size_t at = (size_t)(digest * 0x9E3779B97F4A7C15ull >> 47) & (TABLE - 1);
    while (s->slots[at].digest && s->slots[at].digest != digest)
        at = (at + 1) & (TABLE - 1);
    return &s->slots[at];
}

static void reserve(Shelf *s, size_t extra)
{
    if (s->length + extra <= s->capacity)
        return;
    while (s->length + extra > s->capacity)
        s->capacity *= 2;
    s->bytes = realloc(s->bytes, s->capacity);
    if (!s->bytes)
        exit(1);
}

static void store_chunk(Shelf *s, const unsigned char *p, size_t n)
{
    uint64_t digest = digest_of(p, n);
    Slot *slot = find_slot(s, digest);
    s->raw_in += n;
    if (slot->digest) {
        s->duplicates++;
        return;
    }
    reserve(s, compressBound(n));
    deflateReset(&s->z);
    s->z.next_in = (unsigned char *)p;
    s->z.avail_in = (uInt)n;
    s->z.next_out = s->bytes + s->length;
    s->z.avail_out = (uInt)(s->capacity - s->length);
    if (deflate(&s->z, Z_FINISH) != Z_STREAM_END)
        exit(1);
    size_t packed = s->z.total_out;
    *slot = (Slot){digest, (uint32_t)s->length, (uint32_t)packed, (uint32_t)n};
    s->length += packed;
    s->used++;
}

static void store_document(Shelf *s, const unsigned char *doc, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t n = chunk_length(doc + at, len - at);
        store_chunk(s, doc + at, n);
        at += n;
    }
}

int main(void)
{
    Shelf shelf = {.slots = calloc(TABLE, sizeof(Slot)), .bytes = malloc(1 << 20), .capacity = 1 << 20};
    if (deflateInit(&shelf.z, 6) != Z_OK)
        return 1;
    unsigned char *doc = malloc(DOC_BYTES);
    gear_init();
    for (int d = 0; d < DOCUMENTS; d++) {
        if (d % 4 == 0)
            write_document(doc, DOC_BYTES);
        else
            revise_document(doc, DOC_BYTES);
        store_document(&shelf, doc, DOC_BYTES);
    }
    printf("raw %zu chunks %zu duplicates %zu stored %zu crc %08lx\n", shelf.raw_in, shelf.used, shelf.duplicates,
           shelf.length, crc32(0, shelf.bytes, (uInt)shelf.length));
    deflateEnd(&shelf.z);
    free(shelf.bytes);
    free(shelf.slots);
    free(doc);
    return 0;
}
