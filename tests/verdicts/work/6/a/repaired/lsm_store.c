/* Small LSM key-value store: an in-memory table that is flushed to sorted
 * tables on disk, Bloom filters, full compaction, and a mixed read/write
 * replay that stands in for the session-state traffic of the login tier. */
#include <dwell/probe.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VAL 96
#define REC (8 + VAL)
#define BLOCK_RECS 32
#define MEM_MAX 8192
#define MAX_TABLES 6
#define KEYSPACE 60000u
#define ROUNDS 400
#define OPS_PER_ROUND 1200

typedef struct { uint64_t key; char val[VAL]; } rec_t;

typedef struct {
    uint64_t magic, nrec, nblock, index_off, bloom_off, bloom_bits;
} footer_t;

typedef struct {
    char path[256];
    int fd;
    footer_t ft;
    uint64_t *first;            /* first key of each block */
    uint8_t *bloom;
} table_t;

typedef struct {
    char dir[200];
    rec_t *mem;                 /* kept sorted by key */
    size_t nmem;
    table_t tables[MAX_TABLES + 1];
    int ntables;
    unsigned next_file;
    uint64_t flushes, compactions, bloom_skips;
} store_t;

static uint64_t rng = 0x2545F4914F6CDD1DULL;
static uint64_t rnd(void) {
    rng ^= rng << 13; rng ^= rng >> 7; rng ^= rng << 17;
    return rng;
}

static void die(const char *what) { perror(what); exit(1); }

static uint64_t mix(uint64_t x) {
    x ^= x >> 33; x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

static void *xread(int fd, size_t n, off_t off) {
    char *p = malloc(n ? n : 1);
    if (!p || pread(fd, p, n, off) != (ssize_t)n) die("pread");
    return p;
}

static void table_open(table_t *t, const char *path) {
    snprintf(t->path, sizeof t->path, "%s", path);
    t->fd = open(path, O_RDONLY);
    struct stat st;
    if (t->fd < 0 || fstat(t->fd, &st)) die(path);
    if (pread(t->fd, &t->ft, sizeof t->ft, st.st_size - (off_t)sizeof t->ft) != sizeof t->ft) die("footer");
    if (t->ft.magic != 0x4c534d31) { fprintf(stderr, "bad table %s\n", path); exit(1); }
    t->first = xread(t->fd, t->ft.nblock * 8, t->ft.index_off);
    t->bloom = xread(t->fd, t->ft.bloom_bits / 8, t->ft.bloom_off);
}

static void table_close(table_t *t) {
    close(t->fd);
    free(t->first);
    free(t->bloom);
}

static int table_may_have(const table_t *t, uint64_t key) {
    uint64_t h = mix(key), step = (h >> 32) | 1;
    for (int i = 0; i < 6; i++, h += step) {
        uint64_t b = h % t->ft.bloom_bits;
        if (!(t->bloom[b >> 3] & (1 << (b & 7)))) return 0;
    }
    return 1;
}

static int table_get(const table_t *t, uint64_t key, char *out) {
    size_t lo = 0, hi = t->ft.nblock;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (t->first[mid] <= key) lo = mid; else hi = mid;
    }
    rec_t block[BLOCK_RECS];
    size_t n = t->ft.nrec - lo * BLOCK_RECS;
    if (n > BLOCK_RECS) n = BLOCK_RECS;
    if (pread(t->fd, block, n * REC, (off_t)(lo * BLOCK_RECS * REC)) != (ssize_t)(n * REC)) die("block");
    for (size_t i = 0; i < n; i++)
        if (block[i].key == key) { memcpy(out, block[i].val, VAL); return 1; }
    return 0;
}

static void table_write(store_t *s, const rec_t *r, size_t n, table_t *t) {
    char path[256];
    snprintf(path, sizeof path, "%s/%06u.sst", s->dir, s->next_file++);
    FILE *f = fopen(path, "wb");
    if (!f) die(path);
    footer_t ft = { 0x4c534d31, n, (n + BLOCK_RECS - 1) / BLOCK_RECS, n * REC, 0, (n * 12 + 63) / 64 * 64 };
    uint8_t *bloom = calloc(1, ft.bloom_bits / 8);
    fwrite(r, REC, n, f);
    for (size_t i = 0; i < n; i += BLOCK_RECS) fwrite(&r[i].key, 8, 1, f);
    for (size_t i = 0; i < n; i++) {
        uint64_t h = mix(r[i].key), step = (h >> 32) | 1;
        for (int k = 0; k < 6; k++, h += step) bloom[(h % ft.bloom_bits) >> 3] |= 1 << ((h % ft.bloom_bits) & 7);
    }
    ft.bloom_off = ft.index_off + ft.nblock * 8;
    fwrite(bloom, 1, ft.bloom_bits / 8, f);
    fwrite(&ft, sizeof ft, 1, f);
    if (fclose(f)) die(path);
    free(bloom);
    table_open(t, path);
}

static size_t merge(const rec_t *newer, size_t a, const rec_t *older, size_t b, rec_t *out) {
    size_t i = 0, j = 0, n = 0;
    while (i < a || j < b) {
        if (j == b || (i < a && newer[i].key <= older[j].key)) {
            if (j < b && newer[i].key == older[j].key) j++;
            out[n++] = newer[i++];
        } else out[n++] = older[j++];
    }
    return n;
}

static void compact(store_t *s) {
    rec_t *acc = NULL;
    size_t n = 0;
    for (int i = 0; i < s->ntables; i++) {      /* oldest first */
        table_t *t = &s->tables[i];
        rec_t *r = xread(t->fd, t->ft.nrec * REC, 0), *out = malloc((n + t->ft.nrec) * REC);
        n = merge(r, t->ft.nrec, acc, n, out);
        free(acc); free(r);
        acc = out;
        table_close(t);
        unlink(t->path);
    }
    table_write(s, acc, n, &s->tables[0]);
    s->ntables = 1;
    s->compactions++;
    free(acc);
}

static size_t mem_pos(const store_t *s, uint64_t key) {
    size_t lo = 0, hi = s->nmem;
    while (lo < hi) { size_t m = (lo + hi) / 2; if (s->mem[m].key < key) lo = m + 1; else hi = m; }
    return lo;
}

static void put_batch(store_t *s, rec_t *batch, size_t n) {
    rec_t *out = malloc((s->nmem + n) * REC);
    size_t m = merge(batch, n, s->mem, s->nmem, out);
    free(s->mem);
    s->mem = out; s->nmem = m;
    if (m < MEM_MAX) return;
    table_write(s, s->mem, s->nmem, &s->tables[s->ntables++]);
    s->nmem = 0; s->flushes++;
    if (s->ntables == MAX_TABLES) compact(s);
}

static int get(store_t *s, uint64_t key, char *out) {
    size_t p = mem_pos(s, key);
    if (p < s->nmem && s->mem[p].key == key) { memcpy(out, s->mem[p].val, VAL); return 1; }
    for (int i = s->ntables - 1; i >= 0; i--) {
        const table_t *t = &s->tables[i];
        if (!table_may_have(t, key)) { s->bloom_skips++; continue; }
        if (table_get(t, key, out)) return 1;
    }
    return 0;
}

static int is_recent(const rec_t *r, int round) {
    const char *p = strrchr(r->val, ' ');
    return p && round - atoi(p + 1) < 60;
}

/* Counts the versions of the last sixty rounds, for the page of active users. */
static uint64_t count_recent(const store_t *s, int round) {
    uint64_t fresh = 0;
    for (size_t k = 0; k < s->nmem; k++) fresh += is_recent(&s->mem[k], round);
    for (int i = 0; i < s->ntables; i++) {
        const table_t *t = &s->tables[i];
        rec_t *r = xread(t->fd, t->ft.nrec * REC, 0);
        for (size_t k = 0; k < t->ft.nrec; k++) fresh += is_recent(&r[k], round);
        free(r);
    }
    return fresh;
}

static int by_key(const void *a, const void *b) {
    uint64_t x = ((const rec_t *)a)->key, y = ((const rec_t *)b)->key;
    return (x > y) - (x < y);
}

int main(void) {
    store_t s = { .next_file = 1 };
    snprintf(s.dir, sizeof s.dir, "/tmp/lsm_store.XXXXXX");
    if (!mkdtemp(s.dir)) die("mkdtemp");
    uint64_t hits = 0, misses = 0, sum = 0, recent = 0;
    static rec_t batch[OPS_PER_ROUND];
    for (int round = 0; round < ROUNDS; round++) {
        DWELL_STEP();
        size_t n = 0;
        for (int i = 0; i < OPS_PER_ROUND / 4; i++) {
            rec_t *r = &batch[n++];
            r->key = mix(rnd() % KEYSPACE);
            snprintf(r->val, VAL, "session %016llx round %d", (unsigned long long)r->key, round);
        }
        qsort(batch, n, REC, by_key);
        size_t u = 0;
        for (size_t i = 0; i < n; i++) if (!u || batch[u - 1].key != batch[i].key) batch[u++] = batch[i];
        put_batch(&s, batch, u);
        for (int i = 0; i < OPS_PER_ROUND; i++) {
            char val[VAL];
            if (get(&s, mix(rnd() % KEYSPACE), val)) { hits++; sum += (unsigned char)val[10] + strlen(val); }
            else misses++;
        }
        recent += count_recent(&s, round);
    }
    printf("hits %llu misses %llu skips %llu flushes %llu compactions %llu recent %llu sum %llu\n",
           (unsigned long long)hits, (unsigned long long)misses, (unsigned long long)s.bloom_skips,
           (unsigned long long)s.flushes, (unsigned long long)s.compactions, (unsigned long long)recent, (unsigned long long)sum);
    for (int i = 0; i < s.ntables; i++) { table_close(&s.tables[i]); unlink(s.tables[i].path); }
    free(s.mem);
    return rmdir(s.dir) != 0;
}
