/* Serves map tile requests out of a packed archive: sorted directory plus payload area. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TILES 300000
#define BLOBS 4000
#define BLOB_BYTES 3072
#define REQUESTS 330000

typedef struct {
    uint64_t key;
    uint32_t offset;
    uint32_t length;
} DirEntry;

typedef struct {
    int fd;
    uint64_t count;
    off_t dir_start;
} Archive;

static uint64_t rng_state = 88172645463325252ull;
static uint64_t next_random(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

static void die(const char *what) { perror(what); exit(1); }

static void write_all(int fd, const void *p, size_t n)
{
    const char *c = p;
    while (n) {
        ssize_t k = write(fd, c, n);
        if (k <= 0) die("write");
        c += k;
        n -= (size_t)k;
    }
}

static void build_archive(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (fd < 0) die("open");
    uint64_t count = TILES;
    write_all(fd, &count, sizeof count);
    DirEntry *dir = malloc(sizeof *dir * TILES);
    uint64_t key = 17;
    for (uint32_t i = 0; i < TILES; i++) {
        key += 1 + next_random() % 2;
        dir[i].key = key;
        dir[i].offset = (uint32_t)(next_random() % BLOBS) * BLOB_BYTES;
        dir[i].length = BLOB_BYTES - (uint32_t)(next_random() % 256) * 4;
    }
    write_all(fd, dir, sizeof *dir * TILES);
    free(dir);
    uint32_t *blob = malloc(BLOB_BYTES);
    for (int b = 0; b < BLOBS; b++) {
        for (int i = 0; i < BLOB_BYTES / 4; i++) blob[i] = (uint32_t)next_random() & 0x0fff0fffu;
        write_all(fd, blob, BLOB_BYTES);
    }
    free(blob);
    close(fd);
}

static void archive_open(Archive *a, const char *path)
{
    a->fd = open(path, O_RDONLY);
    if (a->fd < 0) die("open");
    if (pread(a->fd, &a->count, sizeof a->count, 0) != sizeof a->count) die("header");
    a->dir_start = sizeof a->count;
}

static void entry_at(const Archive *a, uint64_t i, DirEntry *e)
{
    off_t where = a->dir_start + (off_t)(i * sizeof *e);
    if (pread(a->fd, e, sizeof *e, where) != sizeof *e) die("directory");
}

static int archive_find(const Archive *a, uint64_t key, DirEntry *e)
{
    uint64_t lo = 0, hi = a->count;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        entry_at(a, mid, e);
        if (e->key < key) lo = mid + 1;
        else hi = mid;
    }
    if (lo == a->count) return 0;
    entry_at(a, lo, e);
    return e->key == key;
}

static uint64_t decode_tile(const uint32_t *words, size_t n, uint16_t *heights)
{
    uint64_t sum = 0;
    uint16_t level = 0;
    for (size_t i = 0; i < n; i++) {
        level = (uint16_t)(level + (words[i] & 0xffff));
        heights[2 * i] = level;
        level = (uint16_t)(level ^ (words[i] >> 16));
        heights[2 * i + 1] = level;
    }
    for (size_t i = 1; i + 1 < 2 * n; i++) {
        int slope = (int)heights[i + 1] - (int)heights[i - 1];
        sum = sum * 31 + (uint64_t)(slope < 0 ? -slope : slope);
    }
    return sum;
}

static uint64_t serve(const Archive *a, uint64_t key, uint32_t *raw, uint16_t *heights)
{
    DirEntry e;
    if (!archive_find(a, key, &e)) return 0;
    off_t payload = a->dir_start + (off_t)(a->count * sizeof e) + e.offset;
    if (pread(a->fd, raw, e.length, payload) != (ssize_t)e.length) die("payload");
    return decode_tile(raw, e.length / 4, heights) | 1;
}

int main(void)
{
    char dir[] = "/tmp/tilesXXXXXX", path[64];
    if (!mkdtemp(dir)) die("mkdtemp");
    snprintf(path, sizeof path, "%s/area.arc", dir);
    build_archive(path);
    Archive a;
    archive_open(&a, path);
    uint32_t *raw = malloc(BLOB_BYTES);
    uint16_t *heights = malloc(BLOB_BYTES);
    uint64_t hits = 0, digest = 0;
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t got = serve(&a, 17 + next_random() % (TILES * 3ull / 2), raw, heights);
        if (!got) got = serve(&a, 17 + next_random() % (TILES * 3ull / 2), raw, heights);
        hits += got != 0;
        digest = digest * 1000003 + got;
    }
    printf("hits %llu digest %016llx\n", (unsigned long long)hits, (unsigned long long)digest);
    free(raw);
    free(heights);
    close(a.fd);
    unlink(path);
    rmdir(dir);
    return 0;
}
