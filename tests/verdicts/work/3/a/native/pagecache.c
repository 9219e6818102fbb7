#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

/* Replay of a cache front end: text requests GET/PUT/DEL against an in-memory
 * page cache with least-recently-used eviction. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY 20000
#define BUCKETS 32768
#define REQUESTS 300000

typedef struct Entry {
    char *key;
    char *body;
    size_t body_len;
    uint32_t hits;
    struct Entry *chain;
    struct Entry *newer, *older;
} Entry;

typedef struct {
    Entry *buckets[BUCKETS];
    Entry *newest, *oldest;
    int count;
    unsigned long hits, misses, evictions;
} Cache;

static uint64_t rng = 0x9E3779B97F4A7C15ull;

static uint32_t rnd(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 24) % n);
}

static uint32_t hash_key(const char *s)
{
    size_t len = strlen(s);
    size_t used = len < 48 ? len : 48;
    uint32_t h = (uint32_t)len;
    for (size_t i = 0; i < used; i++)
        h = h * 31 + (unsigned char)s[i];
    return h & (BUCKETS - 1);
}

static void unlink_lru(Cache *c, Entry *e)
{
    if (e->newer) e->newer->older = e->older; else c->newest = e->older;
    if (e->older) e->older->newer = e->newer; else c->oldest = e->newer;
    e->newer = e->older = NULL;
}

static void push_newest(Cache *c, Entry *e)
{
    e->older = c->newest;
    e->newer = NULL;
    if (c->newest) c->newest->newer = e;
    c->newest = e;
    if (!c->oldest) c->oldest = e;
}

static Entry *lookup(Cache *c, const char *key)
{
    for (Entry *e = c->buckets[hash_key(key)]; e; e = e->chain)
        if (strcmp(e->key, key) == 0)
            return e;
    return NULL;
}

static void drop(Cache *c, Entry *e)
{
    Entry **link = &c->buckets[hash_key(e->key)];
    while (*link != e)
        link = &(*link)->chain;
    *link = e->chain;
    unlink_lru(c, e);
    free(e->key);
    free(e->body);
    free(e);
    c->count--;
}

static void put(Cache *c, const char *key, const char *body, size_t len)
{
    Entry *e = lookup(c, key);
    if (e) {
        unlink_lru(c, e);
        free(e->body);
    } else {
        if (c->count == CAPACITY) {
            drop(c, c->oldest);
            c->evictions++;
        }
        uint32_t b = hash_key(key);
        e = calloc(1, sizeof *e);
        e->key = strdup(key);
        e->chain = c->buckets[b];
        c->buckets[b] = e;
        c->count++;
    }
    e->body = malloc(len);
    memcpy(e->body, body, len);
    e->body_len = len;
    push_newest(c, e);
}

static size_t render_page(char *out, uint32_t product, uint32_t shop)
{
    size_t n = (size_t)sprintf(out, "<html><h1>Product %u</h1><p>shop %u</p><ul>", product, shop);
    for (int i = 0; i < 24; i++)
        n += (size_t)sprintf(out + n, "<li>%u</li>", (product * 2654435761u + (uint32_t)i * 40503u) >> 12);
    n += (size_t)sprintf(out + n, "</ul></html>");
    return n;
}

static uint32_t digest(const char *p, size_t n, uint32_t h)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)p[i]) * 16777619u;
    return h;
}

static void build_request(char *line)
{
    uint32_t shop = rnd(40);
    uint32_t product = rnd(10) < 7 ? rnd(800) : rnd(24000);
    const char *verb = rnd(100) < 2 ? "DEL" : "GET";
    sprintf(line, "%s https://shop%02u.example.com/catalogue/product/%06u/details?lang=en&v=2", verb, shop / 8, product);
}

static uint32_t handle(Cache *c, const char *line, uint32_t h)
{
    static char page[4096];
    const char *key = line + 4;
    Entry *e = lookup(c, key);
    if (strncmp(line, "DEL", 3) == 0) {
        if (e)
            drop(c, e);
        return h;
    }
    if (e) {
        c->hits++;
        e->hits++;
        unlink_lru(c, e);
        push_newest(c, e);
        return digest(e->body, e->body_len, h);
    }
    c->misses++;
    const char *id = strstr(key, "/product/") + 9;
    size_t n = render_page(page, (uint32_t)atoi(id), (uint32_t)atoi(key + 12));
    put(c, key, page, n);
    return digest(page, n, h);
}

int main(void)
{
    Cache *cache = calloc(1, sizeof *cache);
    char line[256];
    uint32_t h = 2166136261u;
    for (int r = 0; r < REQUESTS; r++) {
        build_request(line);
        h = handle(cache, line, h);
        DWELL_STEP();
    }
    printf("hits %lu misses %lu evictions %lu entries %d digest %08x\n", cache->hits, cache->misses,
           cache->evictions, cache->count, h);
    while (cache->oldest)
        drop(cache, cache->oldest);
    free(cache);
    return 0;
}
