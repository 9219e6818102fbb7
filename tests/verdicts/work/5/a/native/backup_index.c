/*
 * backup_index: nightly backup of mail folders. Cuts each file into chunks at
 * content-defined borders, keeps each chunk once, packs new chunks with zlib.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <dwell/probe.h>

#define FILES 620
#define FILE_BYTES (768 * 1024)
#define MIN_CHUNK 2048
#define MAX_CHUNK 65536
#define BORDER_MASK 0x1fffULL

struct digest {
    uint64_t a, b;
};

struct entry {
    struct digest key;
    uint64_t offset;
    uint32_t size, packed;
};

struct index {
    struct entry *slot;
    size_t cap, used;
};

struct pack {
    FILE *out;
    z_stream z;
    uint8_t *buf;
    uint64_t offset;
};

static uint64_t gear[256];
static uint64_t rng_state = 88172645463325252ULL;

static uint64_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

/* Mail text: words of a fixed vocabulary, and a share of attachments without structure. */
static void make_pool(uint8_t *pool, size_t n)
{
    char words[1024][12];
    for (int i = 0; i < 1024; i++) {
        int len = 2 + (int)(rng() % 8);
        for (int k = 0; k < len; k++)
            words[i][k] = (char)('a' + rng() % 26);
        words[i][len] = '\0';
    }
    size_t at = 0;
    while (at + 16 < n) {
        if (rng() % 4000 == 0) {
            for (size_t end = at + 3000 < n ? at + 3000 : n; at < end; at++)
                pool[at] = (uint8_t)rng();
            continue;
        }
        uint64_t r = rng();
        const char *w = words[(r & 1023) * (r >> 10 & 1023) >> 10];
        size_t len = strlen(w);
        memcpy(pool + at, w, len);
        at += len;
        pool[at++] = ' ';
    }
    memset(pool + at, '\n', n - at);
}

/* A file is a run of extents out of the pool, with small local edits. */
static void make_file(uint8_t *dst, const uint8_t *pool, size_t pool_n)
{
    size_t at = 0;
    while (at < FILE_BYTES) {
        size_t len = 20000 + rng() % 90000, from = rng() % 512 * ((pool_n - 131072) / 512);
        if (len > FILE_BYTES - at)
            len = FILE_BYTES - at;
        memcpy(dst + at, pool + from, len);
        for (int e = 0; e < 3; e++)
            dst[at + rng() % len] = (uint8_t)('A' + rng() % 26);
        at += len;
    }
}

static size_t next_border(const uint8_t *p, size_t n)
{
    if (n <= MIN_CHUNK)
        return n;
    size_t limit = n < MAX_CHUNK ? n : MAX_CHUNK;
    uint64_t h = 0;
    for (size_t i = MIN_CHUNK - 64; i < limit; i++) {
        h = (h << 1) + gear[p[i]];
        if (i >= MIN_CHUNK && !(h >> 40 & BORDER_MASK))
            return i + 1;
    }
    return limit;
}

static inline uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9fb21c651e98df25ULL;
    return h ^ h >> 35;
}

static struct digest digest_of(const uint8_t *p, size_t n)
{
    struct digest d = {n * 0x9e3779b97f4a7c15ULL, ~n};
    uint64_t w[2];
    for (; n >= 16; p += 16, n -= 16) {
        memcpy(w, p, 16);
        d.a = mix(d.a, w[0] ^ d.b >> 32);
        d.b = mix(d.b, w[1] + d.a);
    }
    w[0] = w[1] = 0;
    memcpy(w, p, n);
    d.a = mix(d.a, w[0]);
    d.b = mix(d.b, w[1] + d.a);
    return d;
}

static struct entry *probe(struct entry *slot, size_t cap, struct digest k)
{
    size_t i = k.b & (cap - 1);
    while (slot[i].size && (slot[i].key.a != k.a || slot[i].key.b != k.b))
        i = (i + 1) & (cap - 1);
    return &slot[i];
}

static struct entry *index_get(struct index *ix, struct digest k)
{
    if (ix->used * 10 >= ix->cap * 6) {
        size_t cap = ix->cap ? ix->cap * 2 : 4096;
        struct entry *slot = calloc(cap, sizeof *slot);
        if (!slot)
            abort();
        for (size_t i = 0; i < ix->cap; i++)
            if (ix->slot[i].size)
                *probe(slot, cap, ix->slot[i].key) = ix->slot[i];
        free(ix->slot);
        ix->slot = slot;
        ix->cap = cap;
    }
    return probe(ix->slot, ix->cap, k);
}

static void pack_chunk(struct pack *pk, const uint8_t *p, size_t n, struct entry *e)
{
    deflateReset(&pk->z);
    pk->z.next_in = (uint8_t *)p;
    pk->z.avail_in = (uInt)n;
    pk->z.next_out = pk->buf;
    pk->z.avail_out = 2 * MAX_CHUNK;
    if (deflate(&pk->z, Z_FINISH) != Z_STREAM_END)
        abort();
    e->offset = pk->offset;
    e->size = (uint32_t)n;
    e->packed = (uint32_t)(2 * MAX_CHUNK - pk->z.avail_out);
    if (fwrite(pk->buf, 1, e->packed, pk->out) != e->packed)
        abort();
    pk->offset += e->packed;
}

int main(void)
{
    const size_t pool_n = 64u << 20;
    uint8_t *pool = malloc(pool_n), *file = malloc(FILE_BYTES);
    struct pack pk = {.out = tmpfile(), .buf = malloc(2 * MAX_CHUNK)};
    struct index ix = {0};
    if (!pool || !file || !pk.out || !pk.buf || deflateInit(&pk.z, 5) != Z_OK)
        return 1;
    for (int i = 0; i < 256; i++)
        gear[i] = rng();
    make_pool(pool, pool_n);

    uint64_t total = 0, chunks = 0;
    for (int f = 0; f < FILES; f++) {
        DWELL_STEP();
        make_file(file, pool, pool_n);
        for (size_t at = 0; at < FILE_BYTES;) {
            size_t n = next_border(file + at, FILE_BYTES - at);
            struct digest k = digest_of(file + at, n);
            struct entry *e = index_get(&ix, k);
            if (!e->size) {
                e->key = k;
                ix.used++;
                pack_chunk(&pk, file + at, n, e);
            }
            at += n;
            chunks++;
        }
        total += FILE_BYTES;
    }
    printf("%d files, %.1f MB in %llu chunks; %zu unique, %.1f MB packed\n", FILES, (double)total / 1e6,
           (unsigned long long)chunks, ix.used, (double)pk.offset / 1e6);
    deflateEnd(&pk.z);
    fclose(pk.out);
    free(ix.slot);
    free(pk.buf);
    free(pool);
    free(file);
    return 0;
}
