/* Rating of call detail records: a switch streams records over a local
 * connection, the rater looks up the longest matching prefix and bills. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_RECORDS 340000
#define N_PREFIXES 4000
#define MAX_LINE 128
#define N_ACCOUNTS 5000

typedef struct node {
    int child[10];
    int32_t rate;           /* millicents per started minute, -1: none */
} node_t;

typedef struct {
    node_t *nodes;
    int n, cap;
} trie_t;

typedef struct {
    int fd;
    int eof;
} reader_t;

static uint64_t mix(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static int trie_node(trie_t *t)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 256;
        t->nodes = realloc(t->nodes, t->cap * sizeof *t->nodes);
    }
    memset(&t->nodes[t->n], 0, sizeof(node_t));
    t->nodes[t->n].rate = -1;
    return t->n++;
}

static void trie_insert(trie_t *t, const char *prefix, int32_t rate)
{
    int at = 0;
    for (; *prefix; prefix++) {
        int d = *prefix - '0';
        if (!t->nodes[at].child[d]) {
            int fresh = trie_node(t);
            t->nodes[at].child[d] = fresh;
        }
        at = t->nodes[at].child[d];
    }
    t->nodes[at].rate = rate;
}

static int32_t trie_lookup(const trie_t *t, const char *number)
{
    int at = 0;
    int32_t best = t->nodes[0].rate;
    for (; *number >= '0' && *number <= '9'; number++) {
        at = t->nodes[at].child[*number - '0'];
        if (!at)
            break;
        if (t->nodes[at].rate >= 0)
            best = t->nodes[at].rate;
    }
    return best;
}

static void build_tariff(trie_t *t)
{
    uint64_t s = 77;
    char prefix[12];
    trie_node(t);
    t->nodes[0].rate = 9000;
    for (int i = 0; i < N_PREFIXES; i++) {
        int len = 1 + mix(&s) % 6;
        for (int k = 0; k < len; k++)
            prefix[k] = '0' + mix(&s) % 10;
        prefix[len] = 0;
        trie_insert(t, prefix, 100 + mix(&s) % 8000);
    }
}

/* The switch: emits records in bursts, as the real equipment does. */
static void *switch_main(void *arg)
{
    int fd = *(int *)arg;
    uint64_t s = 4711;
    static char out[65536];
    size_t used = 0;
    for (int i = 0; i < N_RECORDS; i++) {
        used += sprintf(out + used, "%u;%010llu;%llu;%u\n", (unsigned)(mix(&s) % N_ACCOUNTS),
                        (unsigned long long)(mix(&s) % 10000000000ull),
                        1700000000ull + i / 7, (unsigned)(mix(&s) % 1800));
        if (used > sizeof out - MAX_LINE || i == N_RECORDS - 1) {
            for (size_t done = 0; done < used;) {
                ssize_t n = write(fd, out + done, used - done);
                if (n <= 0)
                    return NULL;
                done += n;
            }
            used = 0;
        }
    }
    shutdown(fd, SHUT_WR);
    return NULL;
}

static int read_line(reader_t *r, char *line, size_t cap)
{
    size_t n = 0;
    char c;
    while (n + 1 < cap) {
        ssize_t got = read(r->fd, &c, 1);
        if (got <= 0) {
            r->eof = 1;
            break;
        }
        if (c == '\n')
            break;
        line[n++] = c;
    }
    line[n] = 0;
    return n > 0 || !r->eof;
}

static int parse(const char *line, unsigned *account, const char **number, unsigned *seconds)
{
    char *p;
    *account = strtoul(line, &p, 10);
    if (*p != ';')
        return 0;
    *number = p + 1;
    p = strchr(p + 1, ';');
    if (!p || !(p = strchr(p + 1, ';')))
        return 0;
    *seconds = strtoul(p + 1, NULL, 10);
    return *account < N_ACCOUNTS;
}

int main(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
        perror("socketpair");
        return 1;
    }
    trie_t tariff = {0};
    build_tariff(&tariff);
    uint64_t *billed = calloc(N_ACCOUNTS, sizeof *billed), total = 0;
    long records = 0, rejected = 0;

    pthread_t feeder;
    pthread_create(&feeder, NULL, switch_main, &pair[1]);
    reader_t reader = {.fd = pair[0]};
    char line[MAX_LINE];
    while (read_line(&reader, line, sizeof line)) {
        unsigned account, seconds;
        const char *number;
        if (!parse(line, &account, &number, &seconds)) {
            rejected++;
            continue;
        }
        uint64_t amount = (uint64_t)trie_lookup(&tariff, number) * ((seconds + 59) / 60);
        billed[account] += amount;
        total += amount;
        records++;
    }
    pthread_join(feeder, NULL);

    unsigned top = 0;
    for (unsigned a = 1; a < N_ACCOUNTS; a++)
        if (billed[a] > billed[top])
            top = a;
    printf("records=%ld rejected=%ld total=%.2f top account=%u (%.2f)\n", records, rejected,
           total / 1e5, top, billed[top] / 1e5);
    return 0;
}
