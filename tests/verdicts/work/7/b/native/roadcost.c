/*
 * roadcost - travel-cost matrix between depots and customers on a road
 * network.  The network is a perturbed street grid with a few fast arterials;
 * one goal-directed search (A*) per origin/destination pair.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/probe.h>

#define W 480
#define H 420
#define NNODES (W * H)
#define NQUERIES 800
#define ARTERIAL 24
#define FASTEST 30.0f       /* m/s, bound for the heuristic */

typedef struct {
    uint32_t *first;        /* NNODES + 1 */
    uint32_t *head;
    float *seconds;
    float *x, *y;
} network_t;

typedef struct {
    float key;
    uint32_t node;
} entry_t;

typedef struct {
    entry_t *heap;
    uint32_t size;
    float *dist;
    uint32_t *stamp;        /* query that wrote dist[] */
    uint32_t *closed;
    uint32_t query;
} search_t;

static uint64_t rng_state = 20260401;
static uint32_t rnd(void)
{
    rng_state = rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(rng_state >> 32);
}

static float uniform(void)
{
    return (float)(rnd() >> 8) / 16777216.0f;
}

static void *must_alloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) {
        perror("roadcost");
        exit(1);
    }
    return p;
}

static void build_network(network_t *g)
{
    static const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    uint32_t m = 0;
    g->first = must_alloc(NNODES + 1, sizeof *g->first);
    g->head = must_alloc((size_t)NNODES * 4, sizeof *g->head);
    g->seconds = must_alloc((size_t)NNODES * 4, sizeof *g->seconds);
    g->x = must_alloc(NNODES, sizeof *g->x);
    g->y = must_alloc(NNODES, sizeof *g->y);
    for (int v = 0; v < NNODES; v++) {
        g->x[v] = 100.0f * (float)(v % W) + 60.0f * (uniform() - 0.5f);
        g->y[v] = 100.0f * (float)(v / W) + 60.0f * (uniform() - 0.5f);
    }
    for (int v = 0; v < NNODES; v++) {
        g->first[v] = m;
        int cx = v % W, cy = v / W;
        for (int k = 0; k < 4; k++) {
            int nx = cx + dx[k], ny = cy + dy[k];
            if (nx < 0 || ny < 0 || nx >= W || ny >= H)
                continue;
            int fast = (k < 2 && cy % ARTERIAL == 0) || (k >= 2 && cx % ARTERIAL == 0);
            if (!fast && uniform() < 0.08f)
                continue;       /* one-way or closed */
            int u = ny * W + nx;
            float len = hypotf(g->x[u] - g->x[v], g->y[u] - g->y[v]);
            float speed = fast ? 18.0f + 12.0f * uniform() : 7.0f + 6.0f * uniform();
            g->head[m] = (uint32_t)u;
            g->seconds[m++] = len / speed;
        }
    }
    g->first[NNODES] = m;
}

static void push(search_t *s, float key, uint32_t node)
{
    uint32_t i = s->size++;
    while (i > 0) {
        uint32_t parent = (i - 1) / 2;
        if (s->heap[parent].key <= key)
            break;
        s->heap[i] = s->heap[parent];
        i = parent;
    }
    s->heap[i] = (entry_t){key, node};
}

static uint32_t pop(search_t *s)
{
    uint32_t top = s->heap[0].node;
    entry_t last = s->heap[--s->size];
    uint32_t i = 0;
    for (;;) {
        uint32_t c = 2 * i + 1;
        if (c >= s->size)
            break;
        if (c + 1 < s->size && s->heap[c + 1].key < s->heap[c].key)
            c++;
        if (last.key <= s->heap[c].key)
            break;
        s->heap[i] = s->heap[c];
        i = c;
    }
    s->heap[i] = last;
    return top;
}

static float travel_time(const network_t *g, search_t *s, uint32_t from, uint32_t to, long *settled)
{
    const float tx = g->x[to], ty = g->y[to];
    s->query++;
    s->size = 0;
    s->dist[from] = 0.0f;
    s->stamp[from] = s->query;
    push(s, 0.0f, from);
    while (s->size) {
        uint32_t v = pop(s);
        if (s->closed[v] == s->query)
            continue;
        s->closed[v] = s->query;
        ++*settled;
        if (v == to)
            return s->dist[v];
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            uint32_t u = g->head[e];
            float d = s->dist[v] + g->seconds[e];
            if (s->stamp[u] == s->query && s->dist[u] <= d)
                continue;
            s->stamp[u] = s->query;
            s->dist[u] = d;
            float hx = g->x[u] - tx, hy = g->y[u] - ty;
            push(s, d + sqrtf(hx * hx + hy * hy) / FASTEST, u);
        }
    }
    return -1.0f;
}

int main(void)
{
    network_t g;
    search_t s = {0};
    build_network(&g);
    s.heap = must_alloc((size_t)NNODES * 4, sizeof *s.heap);
    s.dist = must_alloc(NNODES, sizeof *s.dist);
    s.stamp = must_alloc(NNODES, sizeof *s.stamp);
    s.closed = must_alloc(NNODES, sizeof *s.closed);

    double total = 0.0, worst = 0.0;
    long settled = 0, unreachable = 0;
    for (int i = 0; i < NQUERIES; i++) {
        DWELL_STEP();
        float t = travel_time(&g, &s, rnd() % NNODES, rnd() % NNODES, &settled);
        if (t < 0.0f) {
            unreachable++;
            continue;
        }
        total += t;
        worst = t > worst ? t : worst;
    }
    printf("%d pairs, mean %.1f s, longest %.1f s, settled %ld, unreachable %ld\n", NQUERIES,
           total / (double)(NQUERIES - unreachable), worst, settled, unreachable);
    free(g.first), free(g.head), free(g.seconds), free(g.x), free(g.y);
    free(s.heap), free(s.dist), free(s.stamp), free(s.closed);
    return 0;
}
