/*
 * dispatch: assigns delivery jobs of a day to the vans of a city and sums the
 * driving time, by shortest paths on the street network.
 */
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define W 320
#define H 240
#define NODES (W * H)
#define JOBS 480
#define VANS 24

struct edge {
    int to;
    float secs;
};

struct net {
    int first[NODES + 1];
    struct edge *edge;
};

struct entry {
    float key;
    int node;
};

struct planner {
    float dist[NODES];
    int prev[NODES];
    uint32_t stamp[NODES], now;
    struct entry *heap;
    int heap_len, heap_cap;
};

static uint64_t seed = 1442695040888963407ull;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((seed >> 33) % n);
}

static void *xmalloc(size_t n)
{
    void *p = calloc(1, n);
    if (!p) {
        perror("calloc");
        exit(1);
    }
    return p;
}

static void build_net(struct net *g)
{
    static const int dx[4] = { 1, -1, 0, 0 }, dy[4] = { 0, 0, 1, -1 };
    g->edge = xmalloc(sizeof(struct edge) * 4 * NODES);
    int m = 0;
    for (int v = 0; v < NODES; v++) {
        int x = v % W, y = v / W;
        g->first[v] = m;
        for (int k = 0; k < 4; k++) {
            int nx = x + dx[k], ny = y + dy[k];
            if (nx < 0 || ny < 0 || nx >= W || ny >= H)
                continue;
            int avenue = (k < 2) ? (y % 16 == 0) : (x % 16 == 0);
            if (!avenue && rnd(100) < 6)
                continue; /* one-way street */
            g->edge[m].to = ny * W + nx;
            g->edge[m].secs = (avenue ? 6.0f : 14.0f) + 0.1f * (float)rnd(60);
            m++;
        }
    }
    g->first[NODES] = m;
}

static void heap_push(struct planner *p, float key, int node)
{
    if (p->heap_len == p->heap_cap) {
        p->heap_cap = p->heap_cap ? 2 * p->heap_cap : 1024;
        p->heap = realloc(p->heap, sizeof *p->heap * (size_t)p->heap_cap);
        if (!p->heap) {
            perror("realloc");
            exit(1);
        }
    }
    int i = p->heap_len++;
    while (i > 0 && p->heap[(i - 1) / 2].key > key) {
        p->heap[i] = p->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    p->heap[i] = (struct entry){ key, node };
}

static struct entry heap_pop(struct planner *p)
{
    struct entry top = p->heap[0], last = p->heap[--p->heap_len];
    int i = 0;
    for (;;) {
        int c = 2 * i + 1;
        if (c >= p->heap_len)
            break;
        if (c + 1 < p->heap_len && p->heap[c + 1].key < p->heap[c].key)
            c++;
        if (p->heap[c].key >= last.key)
            break;
        p->heap[i] = p->heap[c];
        i = c;
    }
    p->heap[i] = last;
    return top;
}

static float shortest(struct planner *p, const struct net *g, int from, int to)
{
    p->now++;
    p->heap_len = 0;
    p->dist[from] = 0.0f;
    p->prev[from] = -1;
    p->stamp[from] = p->now;
    heap_push(p, 0.0f, from);
    while (p->heap_len) {
        struct entry e = heap_pop(p);
        if (e.key > p->dist[e.node])
            continue;
        for (int i = g->first[e.node]; i < g->first[e.node + 1]; i++) {
            int v = g->edge[i].to;
            float d = e.key + g->edge[i].secs;
            if (p->stamp[v] == p->now && p->dist[v] <= d)
                continue;
            p->stamp[v] = p->now;
            p->dist[v] = d;
            p->prev[v] = e.node;
            heap_push(p, d, v);
        }
    }
    return p->stamp[to] == p->now ? p->dist[to] : FLT_MAX;
}

static int hops(const struct planner *p, int to)
{
    int n = 0;
    for (int v = to; p->prev[v] >= 0; v = p->prev[v])
        n++;
    return n;
}

static int nearest_van(const int *van, int at)
{
    int best = 0, best_d = W + H;
    for (int i = 0; i < VANS; i++) {
        int d = abs(van[i] % W - at % W) + abs(van[i] / W - at / W);
        if (d < best_d) {
            best_d = d;
            best = i;
        }
    }
    return best;
}

int main(void)
{
    struct net *g = xmalloc(sizeof *g);
    struct planner *p = xmalloc(sizeof *p);
    build_net(g);
    int van[VANS];
    for (int i = 0; i < VANS; i++)
        van[i] = (int)rnd(NODES);
    double total = 0.0;
    long links = 0, unreachable = 0;
    for (int job = 0; job < JOBS; job++) {
        DWELL_STEP();
        int pickup = (int)rnd(NODES);
        int drop = (int)rnd(NODES);
        int v = nearest_van(van, pickup);
        float a = shortest(p, g, van[v], pickup);
        long n = a < FLT_MAX ? hops(p, pickup) : 0;
        float b = shortest(p, g, pickup, drop);
        n += b < FLT_MAX ? hops(p, drop) : 0;
        if (a == FLT_MAX || b == FLT_MAX) {
            unreachable++;
            continue;
        }
        total += (double)a + (double)b;
        links += n;
        van[v] = drop;
    }
    printf("jobs %d hours %.3f links %ld unreachable %ld\n", JOBS, total / 3600.0, links, unreachable);
    free(p->heap);
    free(p);
    free(g->edge);
    free(g);
    return 0;
}
