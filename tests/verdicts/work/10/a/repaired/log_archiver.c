/* Packs an audit log into a random-access archive: every record is stored
 * as its own raw deflate stream so that a single record can be fetched
 * without unpacking its neighbours.  The archive is verified after writing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define RECORDS 90000
#define MAX_RECORD 1024

typedef struct {
    uint64_t offset;
    uint32_t packed, plain, crc;
} entry_t;

typedef struct {
    unsigned char *data;
    size_t used, cap;
    entry_t *entry;
    size_t count;
} archive_t;

static uint32_t state = 77777u;

static uint32_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static size_t make_record(char *out, size_t size, uint32_t n)
{
    static const char *action[] = {"login", "logout", "read", "update", "delete", "grant", "export"};
    static const char *service[] = {"billing", "identity", "storage", "reports", "gateway"};
    int len = snprintf(out, size,
                       "{\"seq\":%u,\"service\":\"%s\",\"action\":\"%s\",\"user\":\"u%05u\",\"ip\":\"10.%u.%u.%u\"",
                       n, service[rnd() % 5], action[rnd() % 7], rnd() % 40000, rnd() % 256, rnd() % 256, rnd() % 256);
    uint32_t fields = 2 + rnd() % 8;
    for (uint32_t i = 0; i < fields; i++)
        len += snprintf(out + len, size - len, ",\"field_%02u\":\"value-%08x\"", i, rnd());
    len += snprintf(out + len, size - len, ",\"status\":%u}\n", rnd() % 10 ? 200 : 403);
    return (size_t)len;
}

static void reserve(archive_t *a, size_t more)
{
    if (a->used + more <= a->cap)
        return;
    while (a->used + more > a->cap)
        a->cap = a->cap ? a->cap * 2 : 1 << 20;
    a->data = realloc(a->data, a->cap);
    if (!a->data) {
        perror("realloc");
        exit(1);
    }
}

static size_t pack_record(const char *plain, size_t len, unsigned char *out, size_t room)
{
    static z_stream zs;
    static int ready;
    if (ready) {
        deflateReset(&zs);
    } else if (ready = 1, deflateInit2(&zs, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        fprintf(stderr, "deflateInit2 failed\n");
        exit(1);
    }
    zs.next_in = (Bytef *)plain;
    zs.avail_in = (uInt)len;
    zs.next_out = out;
    zs.avail_out = (uInt)room;
    if (deflate(&zs, Z_FINISH) != Z_STREAM_END) {
        fprintf(stderr, "deflate failed\n");
        exit(1);
    }
    return room - zs.avail_out;
}

static void append(archive_t *a, const char *plain, size_t len)
{
    reserve(a, MAX_RECORD + 64);
    entry_t *e = &a->entry[a->count++];
    e->offset = a->used;
    e->plain = (uint32_t)len;
    e->crc = (uint32_t)crc32(0L, (const Bytef *)plain, (uInt)len);
    e->packed = (uint32_t)pack_record(plain, len, a->data + a->used, MAX_RECORD + 64);
    a->used += e->packed;
}

static size_t verify(const archive_t *a)
{
    unsigned char plain[MAX_RECORD];
    z_stream zs;
    size_t bad = 0;
    memset(&zs, 0, sizeof zs);
    if (inflateInit2(&zs, -15) != Z_OK)
        exit(1);
    for (size_t i = 0; i < a->count; i++) {
        const entry_t *e = &a->entry[i];
        inflateReset(&zs);
        zs.next_in = a->data + e->offset;
        zs.avail_in = e->packed;
        zs.next_out = plain;
        zs.avail_out = sizeof plain;
        if (inflate(&zs, Z_FINISH) != Z_STREAM_END || zs.total_out != e->plain ||
            (uint32_t)crc32(0L, plain, e->plain) != e->crc)
            bad++;
    }
    inflateEnd(&zs);
    return bad;
}

int main(void)
{
    archive_t a = {0};
    char record[MAX_RECORD];
    uint64_t plain = 0;
    uint32_t digest = 0;

    a.entry = calloc(RECORDS, sizeof *a.entry);
    if (!a.entry) {
        perror("calloc");
        return 1;
    }
    for (uint32_t n = 0; n < RECORDS; n++) {
        size_t len = make_record(record, sizeof record, n);
        plain += len;
        append(&a, record, len);
    }
    size_t bad = verify(&a);
    digest = (uint32_t)crc32(0L, a.data, (uInt)a.used);
    printf("records %zu, plain %llu bytes, packed %zu bytes (%.1f%%), bad %zu, digest %08x\n", a.count,
           (unsigned long long)plain, a.used, 100.0 * a.used / plain, bad, digest);
    free(a.data);
    free(a.entry);
    return bad != 0;
}
