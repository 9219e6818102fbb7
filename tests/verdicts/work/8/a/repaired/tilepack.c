/*
 * tilepack: packs vector map tiles into one archive for the mobile clients.
 *
 * Every tile holds the features of a map square, encoded as zig-zag varints
 * with a small attribute dictionary, and is deflated on its own so that a
 * client can fetch it with a range request.  The pack is verified at the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define ZOOM_TILES 300          /* tiles per side */
#define PASSES 4                /* layers: roads, water, buildings, labels */
#define TILE_MAX 4096

struct index_entry {
    uint64_t offset;
    uint32_t packed, plain;
    uint32_t crc;
};

struct archive {
    uint8_t *data;
    size_t used, cap;
    struct index_entry *index;
    size_t ntiles;
    z_stream z;
};

struct buffer {
    uint8_t bytes[TILE_MAX];
    size_t len;
};

static const char *const NAMES[] = {
    "highway=residential", "highway=primary", "surface=asphalt", "waterway=stream",
    "building=yes", "building=garage", "natural=water", "place=hamlet",
};

static uint32_t tile_random(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

static void put_varint(struct buffer *b, int32_t v)
{
    uint32_t z = ((uint32_t)v << 1) ^ (uint32_t)(v >> 31);
    while (z >= 0x80) {
        b->bytes[b->len++] = (uint8_t)(z | 0x80);
        z >>= 7;
    }
    b->bytes[b->len++] = (uint8_t)z;
}

static void put_text(struct buffer *b, const char *s)
{
    size_t n = strlen(s);
    put_varint(b, (int32_t)n);
    memcpy(b->bytes + b->len, s, n);
    b->len += n;
}

/* Encodes the features of a tile of one layer. */
static void encode_tile(struct buffer *b, int layer, int tx, int ty)
{
    uint32_t s = (uint32_t)(layer * 7919 + tx * 104729 + ty * 1299709 + 17);
    int features = 4 + (int)(tile_random(&s) % 9);

    b->len = 0;
    put_varint(b, layer);
    put_varint(b, features);
    for (int f = 0; f < features; f++) {
        int points = 4 + (int)(tile_random(&s) % 12);
        int dx = 3, dy = 2;
        put_text(b, NAMES[(layer * 2 + (int)(tile_random(&s) % 3)) % 8]);
        put_varint(b, (int)(tile_random(&s) % 4096));
        put_varint(b, (int)(tile_random(&s) % 4096));
        put_varint(b, points);
        for (int p = 0; p < points; p++) {
            dx += (int)(tile_random(&s) % 5) - 2;
            dy += (int)(tile_random(&s) % 5) - 2;
            put_varint(b, dx);
            put_varint(b, dy);
        }
    }
}

static void reserve(struct archive *a, size_t more)
{
    if (a->used + more <= a->cap)
        return;
    while (a->used + more > a->cap)
        a->cap = a->cap ? a->cap * 2 : 1 << 20;
    a->data = realloc(a->data, a->cap);
    if (!a->data)
        abort();
}

static size_t deflate_tile(z_stream *z, uint8_t *dst, size_t cap, const struct buffer *src)
{
    if (deflateReset(z) != Z_OK)
        abort();
    z->next_in = (Bytef *)src->bytes;
    z->avail_in = (uInt)src->len;
    z->next_out = dst;
    z->avail_out = (uInt)cap;
    if (deflate(z, Z_FINISH) != Z_STREAM_END)
        abort();
    return z->total_out;
}

static void add_tile(struct archive *a, const struct buffer *b)
{
    reserve(a, TILE_MAX + 256);
    struct index_entry *e = &a->index[a->ntiles++];
    e->offset = a->used;
    e->plain = (uint32_t)b->len;
    e->crc = (uint32_t)crc32(0, b->bytes, (uInt)b->len);
    e->packed = (uint32_t)deflate_tile(&a->z, a->data + a->used, TILE_MAX + 256, b);
    a->used += e->packed;
}

static size_t verify(const struct archive *a, size_t every)
{
    uint8_t plain[TILE_MAX];
    size_t good = 0;
    z_stream z;

    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, -15) != Z_OK)
        abort();
    for (size_t i = 0; i < a->ntiles; i += every) {
        const struct index_entry *e = &a->index[i];
        inflateReset(&z);
        z.next_in = a->data + e->offset;
        z.avail_in = e->packed;
        z.next_out = plain;
        z.avail_out = sizeof plain;
        if (inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == e->plain &&
            crc32(0, plain, e->plain) == e->crc)
            good++;
    }
    inflateEnd(&z);
    return good;
}

int main(void)
{
    struct archive a;
    static struct buffer tile;
    size_t plain = 0;

    memset(&a, 0, sizeof a);
    a.index = calloc((size_t)PASSES * ZOOM_TILES * ZOOM_TILES, sizeof *a.index);
    if (!a.index)
        return 1;
    /* Tiles are at most TILE_MAX bytes: a small window and hash table do. */
    if (deflateInit2(&a.z, 6, Z_DEFLATED, -12, 5, Z_DEFAULT_STRATEGY) != Z_OK)
        return 1;
    for (int layer = 0; layer < PASSES; layer++)
        for (int ty = 0; ty < ZOOM_TILES; ty++)
            for (int tx = 0; tx < ZOOM_TILES; tx++) {
                encode_tile(&tile, layer, tx, ty);
                plain += tile.len;
                add_tile(&a, &tile);
            }
    size_t good = verify(&a, 3);
    printf("tiles %zu  plain %zu  packed %zu  ratio %.4f\n",
           a.ntiles, plain, a.used, (double)a.used / (double)plain);
    printf("verified %zu  archive crc %08lx\n", good,
           crc32(0, a.data, (uInt)a.used));
    deflateEnd(&a.z);
    free(a.data);
    free(a.index);
    return 0;
}
