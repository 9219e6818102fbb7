/* Assigns a driving time and a route length to every courier order of a day.
 *
 * The city is a grid of junctions with one-way costs (seconds per segment).
 * Orders are short hops inside a district, so a plain Dijkstra that stops at the
 * drop-off point is enough; no contraction hierarchy needed. */
#include <dwell/probe.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CITY_W 2000
#define CITY_H 1900
#define N_NODES (CITY_W * CITY_H)
#define N_ORDERS 6000
#define MAX_HOP 32

typedef struct { uint32_t first_edge; } Node;
typedef struct { uint32_t to; uint32_t seconds; } Edge;
typedef struct { uint32_t key; uint32_t node; } HeapItem;
typedef struct { uint32_t from, to; } Order;

typedef struct {
    uint32_t *dist;
    uint32_t *parent;
    uint8_t *settled;
    HeapItem *heap;
    size_t heap_len, heap_cap;
} Search;

static Node *nodes;
static Edge *edges;
static uint64_t rng_state = 0x9E3779B97F4A7C15ull;

static uint32_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 32);
}

static void *xmalloc(size_t n)
{
    void *p = malloc(n);
    if (!p) { perror("malloc"); exit(1); }
    return p;
}

static void build_city(void)
{
    static const int dx[4] = { 1, -1, 0, 0 }, dy[4] = { 0, 0, 1, -1 };
    uint32_t m = 0;
    nodes = xmalloc((N_NODES + 1) * sizeof *nodes);
    edges = xmalloc((size_t)N_NODES * 4 * sizeof *edges);
    for (int y = 0; y < CITY_H; y++)
        for (int x = 0; x < CITY_W; x++) {
            nodes[y * CITY_W + x].first_edge = m;
            for (int k = 0; k < 4; k++) {
                int nx = x + dx[k], ny = y + dy[k];
                if (nx < 0 || ny < 0 || nx >= CITY_W || ny >= CITY_H)
                    continue;
                /* avenues (every eighth street) are faster */
                uint32_t base = (y % 8 == 0 && dy[k] == 0) || (x % 8 == 0 && dx[k] == 0) ? 9 : 18;
                edges[m].to = (uint32_t)(ny * CITY_W + nx);
                edges[m].seconds = base + rnd() % 25;
                m++;
            }
        }
    nodes[N_NODES].first_edge = m;
}

static void heap_push(Search *s, uint32_t key, uint32_t node)
{
    if (s->heap_len == s->heap_cap) {
        s->heap_cap *= 2;
        s->heap = realloc(s->heap, s->heap_cap * sizeof *s->heap);
        if (!s->heap) { perror("realloc"); exit(1); }
    }
    size_t i = s->heap_len++;
    while (i > 0) {
        size_t up = (i - 1) / 2;
        if (s->heap[up].key <= key)
            break;
        s->heap[i] = s->heap[up];
        i = up;
    }
    s->heap[i] = (HeapItem){ key, node };
}

static HeapItem heap_pop(Search *s)
{
    HeapItem top = s->heap[0], last = s->heap[--s->heap_len];
    size_t i = 0;
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= s->heap_len)
            break;
        if (c + 1 < s->heap_len && s->heap[c + 1].key < s->heap[c].key)
            c++;
        if (s->heap[c].key >= last.key)
            break;
        s->heap[i] = s->heap[c];
        i = c;
    }
    s->heap[i] = last;
    return top;
}

static Search *search_new(void)
{
    Search *s = xmalloc(sizeof *s);
    s->dist = xmalloc(N_NODES * sizeof *s->dist);
    s->parent = xmalloc(N_NODES * sizeof *s->parent);
    s->settled = xmalloc(N_NODES);
    s->heap_cap = 1024;
    s->heap = xmalloc(s->heap_cap * sizeof *s->heap);
    return s;
}

static void search_begin(Search *s)
{
    for (int i = 0; i < N_NODES; i++) {
        s->dist[i] = UINT32_MAX;
        s->parent[i] = UINT32_MAX;
    }
    memset(s->settled, 0, N_NODES);
    s->heap_len = 0;
}

static uint32_t drive_time(Search *s, uint32_t from, uint32_t to, int *hops)
{
    search_begin(s);
    s->dist[from] = 0;
    heap_push(s, 0, from);
    while (s->heap_len) {
        HeapItem it = heap_pop(s);
        if (s->settled[it.node])
            continue;
        s->settled[it.node] = 1;
        if (it.node == to)
            break;
        for (uint32_t e = nodes[it.node].first_edge; e < nodes[it.node + 1].first_edge; e++) {
            uint32_t v = edges[e].to, d = it.key + edges[e].seconds;
            if (d < s->dist[v]) {
                s->dist[v] = d;
                s->parent[v] = it.node;
                heap_push(s, d, v);
            }
        }
    }
    *hops = 0;
    for (uint32_t v = to; v != from; v = s->parent[v])
        ++*hops;
    return s->dist[to];
}

int main(void)
{
    Order *orders = xmalloc(N_ORDERS * sizeof *orders);
    Search *s;
    uint64_t total = 0, total_hops = 0;
    uint32_t worst = 0;

    build_city();
    for (int i = 0; i < N_ORDERS; i++) {
        int x = MAX_HOP + (int)(rnd() % (CITY_W - 2 * MAX_HOP)), y = MAX_HOP + (int)(rnd() % (CITY_H - 2 * MAX_HOP));
        int tx = x - MAX_HOP + (int)(rnd() % (2 * MAX_HOP + 1)), ty = y - MAX_HOP + (int)(rnd() % (2 * MAX_HOP + 1));
        orders[i] = (Order){ (uint32_t)(y * CITY_W + x), (uint32_t)(ty * CITY_W + tx) };
    }
    s = search_new();
    for (int i = 0; i < N_ORDERS; i++) {
        DWELL_STEP();
        int hops;
        uint32_t t = drive_time(s, orders[i].from, orders[i].to, &hops);
        total += t;
        total_hops += (uint64_t)hops;
        if (t > worst)
            worst = t;
    }
    printf("orders %d  mean %.2f s  worst %u s  mean hops %.3f\n", N_ORDERS, (double)total / N_ORDERS, worst,
           (double)total_hops / N_ORDERS);
    return 0;
}
