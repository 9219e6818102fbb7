/* rpc_gateway: load test of the line protocol spoken by our edge gateways.
 * A pool of clients sends requests (header lines, blank line, body) over
 * socket pairs; one gateway thread per connection parses, routes, applies a
 * token bucket, evaluates the request on a shard, and answers. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNS 2
#define REQUESTS 24000
#define MAX_LINE 256
#define MAX_BODY 4096
#define SHARDS 16
#define SLOTS 4096

typedef struct {
    int fd;
    char in[8192];
    size_t in_at, in_end;
    char out[8192];
    size_t nout;
} stream_t;

typedef struct {
    char method[16], path[96], session[40];
    size_t body_len;
    char body[MAX_BODY + 1];
} request_t;

typedef struct {
    pthread_mutex_t lock;
    uint64_t key[SLOTS], count[SLOTS];
} shard_t;

typedef struct {
    int fd, id;
    uint64_t served, rejected, bytes;
    double tokens;
} gateway_t;

typedef struct {
    int fd, id;
    uint64_t ok, limited, crc;
} client_t;

static shard_t shards[SHARDS];

static void flush_out(stream_t *s) {
    for (size_t at = 0; at < s->nout;) {
        ssize_t n = write(s->fd, s->out + at, s->nout - at);
        if (n <= 0) { perror("write"); exit(1); }
        at += (size_t)n;
    }
    s->nout = 0;
}

static void put(stream_t *s, const char *p, size_t n) {
    if (s->nout + n > sizeof s->out) flush_out(s);
    memcpy(s->out + s->nout, p, n);
    s->nout += n;
}

static int fill_in(stream_t *s) {
    ssize_t n = read(s->fd, s->in, sizeof s->in);
    if (n <= 0) return 0;
    s->in_at = 0;
    s->in_end = (size_t)n;
    return 1;
}

static int read_line(stream_t *s, char *line, size_t cap) {
    size_t n = 0;
    for (;;) {
        if (s->in_at == s->in_end && !fill_in(s)) return 0;
        char c = s->in[s->in_at++];
        if (c == '\n') {
            if (n && line[n - 1] == '\r') n--;
            line[n] = 0;
            return 1;
        }
        if (n + 1 < cap) line[n++] = c;
    }
}

static int read_full(stream_t *s, char *p, size_t n) {
    while (n) {
        if (s->in_at == s->in_end && !fill_in(s)) return 0;
        size_t k = s->in_end - s->in_at;
        if (k > n) k = n;
        memcpy(p, s->in + s->in_at, k);
        s->in_at += k;
        p += k;
        n -= k;
    }
    return 1;
}

static int read_request(stream_t *s, request_t *rq) {
    char line[MAX_LINE];
    if (!read_line(s, line, sizeof line)) return 0;
    if (sscanf(line, "%15s %95s", rq->method, rq->path) != 2) return 0;
    rq->body_len = 0;
    rq->session[0] = 0;
    while (read_line(s, line, sizeof line) && line[0]) {
        char *v = strchr(line, ':');
        if (!v) return 0;
        *v++ = 0;
        while (*v == ' ') v++;
        if (!strcmp(line, "Content-Length")) rq->body_len = strtoul(v, NULL, 10);
        else if (!strcmp(line, "Session")) snprintf(rq->session, sizeof rq->session, "%.39s", v);
    }
    if (rq->body_len > MAX_BODY || !read_full(s, rq->body, rq->body_len)) return 0;
    rq->body[rq->body_len] = 0;
    return 1;
}

static uint64_t fnv(const char *p, size_t n) {
    uint64_t h = 1469598103934665603ULL;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)p[i]) * 1099511628211ULL;
    return h;
}

/* Sums the numbers of a body such as {"qty":12,"price":3310,...} by field and
 * signs the result, as the pricing back end does. */
static uint64_t evaluate(const request_t *rq) {
    uint64_t total = 0, field = 0;
    for (size_t i = 0; i < rq->body_len;) {
        if (rq->body[i] == '"') {
            size_t from = ++i;
            while (i < rq->body_len && rq->body[i] != '"') i++;
            field = fnv(rq->body + from, i - from);
            i++;
        } else if (rq->body[i] >= '0' && rq->body[i] <= '9') {
            char *end;
            uint64_t v = strtoull(rq->body + i, &end, 10);
            i = (size_t)(end - rq->body);
            total += v * (1 + field % 13);
        } else i++;
    }
    uint64_t sig = total;
    for (int round = 0; round < 24; round++) sig = fnv(rq->body, rq->body_len) ^ (sig * 0x9E3779B97F4A7C15ULL + (uint64_t)round);
    return sig;
}

static uint64_t account(const char *session) {
    uint64_t k = fnv(session, strlen(session)) | 1;
    shard_t *s = &shards[(k >> 8) % SHARDS];
    pthread_mutex_lock(&s->lock);
    size_t at = (k >> 16) % SLOTS;
    while (s->key[at] && s->key[at] != k) at = (at + 1) % SLOTS;
    s->key[at] = k;
    uint64_t n = ++s->count[at];
    pthread_mutex_unlock(&s->lock);
    return n;
}

static void *gateway_main(void *arg) {
    gateway_t *g = arg;
    stream_t s = { .fd = g->fd };
    request_t *rq = malloc(sizeof *rq);
    char reply[256];
    g->tokens = 100;
    while (read_request(&s, rq)) {
        g->tokens += 0.96;
        if (g->tokens > 100) g->tokens = 100;
        int n;
        if (g->tokens < 1) {
            n = snprintf(reply, sizeof reply, "429 limited\n\n");
            g->rejected++;
        } else {
            g->tokens -= 1;
            uint64_t v = evaluate(rq), seen = account(rq->session);
            n = snprintf(reply, sizeof reply, "200 ok\nresult: %016llx\nseen: %llu\nroute: %s\n\n", (unsigned long long)v,
                         (unsigned long long)seen, rq->path);
            g->served++;
        }
        g->bytes += rq->body_len;
        put(&s, reply, (size_t)n);
        flush_out(&s);
    }
    free(rq);
    close(g->fd);
    return NULL;
}

static void *client_main(void *arg) {
    client_t *c = arg;
    stream_t s = { .fd = c->fd };
    uint32_t r = (uint32_t)c->id * 7919u + 17;
    char head[512], body[2048], in[512];
    size_t have = 0;
    for (int i = 0; i < REQUESTS; i++) {
        int nb = 1;
        body[0] = '{';
        r = r * 1664525u + 1013904223u;
        for (int k = 0; k < 20 + (int)((r >> 20) % 16); k++) {
            r = r * 1664525u + 1013904223u;
            nb += snprintf(body + nb, sizeof body - (size_t)nb, "\"field_%u\":%u,", (r >> 24) % 40, (r >> 8) & 0xffff);
        }
        body[nb - 1] = '}';
        int nh = snprintf(head, sizeof head, "POST /v2/quotes/%u\r\nHost: edge-%d.internal\r\nSession: c%d-%u\r\nTrace: %08x%08x\r\n"
                          "Accept: application/json\r\nUser-Agent: loadgen/3.1 (edge; x86_64)\r\nContent-Length: %d\r\n\r\n",
                          (r >> 12) % 500, c->id, c->id, (r >> 9) % 900, r, ~r, nb);
        put(&s, head, (size_t)nh);
        put(&s, body, (size_t)nb);
        flush_out(&s);
        char *end;
        while (in[have] = 0, !(end = strstr(in, "\n\n"))) {
            ssize_t n = read(c->fd, in + have, sizeof in - 1 - have);
            if (n <= 0) { perror("client read"); exit(1); }
            have += (size_t)n;
        }
        if (in[0] == '2') c->ok++; else c->limited++;
        c->crc = c->crc * 31 + fnv(in, (size_t)(end - in));
        have -= (size_t)(end + 2 - in);
        memmove(in, end + 2, have);
    }
    close(c->fd);
    return NULL;
}

int main(void) {
    static gateway_t gw[CONNS];
    static client_t cl[CONNS];
    pthread_t tg[CONNS], tc[CONNS];
    for (int i = 0; i < SHARDS; i++) pthread_mutex_init(&shards[i].lock, NULL);
    for (int i = 0; i < CONNS; i++) {
        int sv[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) { perror("socketpair"); return 1; }
        gw[i].fd = sv[0]; cl[i].fd = sv[1];
        gw[i].id = cl[i].id = i;
        pthread_create(&tg[i], NULL, gateway_main, &gw[i]);
        pthread_create(&tc[i], NULL, client_main, &cl[i]);
    }
    uint64_t served = 0, rejected = 0, bytes = 0, crc = 0;
    for (int i = 0; i < CONNS; i++) {
        pthread_join(tc[i], NULL);
        pthread_join(tg[i], NULL);
        served += gw[i].served; rejected += gw[i].rejected; bytes += gw[i].bytes; crc ^= cl[i].crc;
    }
    printf("served %llu rejected %llu bytes %llu crc %016llx\n", (unsigned long long)served, (unsigned long long)rejected,
           (unsigned long long)bytes, (unsigned long long)crc);
    return 0;
}
