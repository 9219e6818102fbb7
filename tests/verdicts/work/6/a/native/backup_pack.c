/* backup_pack: content-defined chunking, deduplication and compression of a
 * directory image, as the nightly backup does.  The reader cuts chunks with a
 * rolling hash; workers deflate new chunks; a catalogue in SQLite records
 * chunks and files; at the end a sample of the chunks is restored and checked. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define FILES 240
#define FILE_BYTES (1u << 20)
#define MIN_CHUNK 4096u
#define MAX_CHUNK 65536u
#define MASK 0x3fffu
#define QUEUE 32
#define WORKERS 2

typedef struct {
    uint64_t id, off;
    uint32_t raw_len, packed_len;
    uint8_t raw[MAX_CHUNK];
    uint8_t packed[MAX_CHUNK + MAX_CHUNK / 500 + 64];
} job_t;

typedef struct {
    job_t *slot[QUEUE];
    int head, count, closed;
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
} queue_t;

static queue_t todo = { .lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER };
static queue_t spare = { .lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER };
static FILE *archive;
static uint64_t archive_at;
static pthread_mutex_t archive_lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3 *db;
static sqlite3_stmt *ins_chunk, *ins_ref;
static uint64_t gear[256];

static void check(int rc, int want, const char *what) {
    if (rc != want) { fprintf(stderr, "%s: %d %s\n", what, rc, db ? sqlite3_errmsg(db) : ""); exit(1); }
}

static void push(queue_t *q, job_t *j) {
    pthread_mutex_lock(&q->lock);
    while (q->count == QUEUE) pthread_cond_wait(&q->not_full, &q->lock);
    q->slot[(q->head + q->count++) % QUEUE] = j;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->lock);
}

static job_t *pop(queue_t *q) {
    pthread_mutex_lock(&q->lock);
    while (!q->count && !q->closed) pthread_cond_wait(&q->not_empty, &q->lock);
    job_t *j = NULL;
    if (q->count) {
        j = q->slot[q->head];
        q->head = (q->head + 1) % QUEUE;
        q->count--;
        pthread_cond_signal(&q->not_full);
    }
    pthread_mutex_unlock(&q->lock);
    return j;
}

static void *worker(void *arg) {
    z_stream z;
    memset(&z, 0, sizeof z);
    check(deflateInit(&z, 6), Z_OK, "deflateInit");
    for (job_t *j; (j = pop(&todo));) {
        deflateReset(&z);
        z.next_in = j->raw; z.avail_in = j->raw_len;
        z.next_out = j->packed; z.avail_out = sizeof j->packed;
        check(deflate(&z, Z_FINISH), Z_STREAM_END, "deflate");
        j->packed_len = (uint32_t)z.total_out;
        pthread_mutex_lock(&archive_lock);
        j->off = archive_at;
        if (fwrite(j->packed, 1, j->packed_len, archive) != j->packed_len) { perror("archive"); exit(1); }
        archive_at += j->packed_len;
        sqlite3_bind_int64(ins_chunk, 1, (sqlite3_int64)j->id);
        sqlite3_bind_int64(ins_chunk, 2, (sqlite3_int64)j->off);
        sqlite3_bind_int(ins_chunk, 3, (int)j->packed_len);
        sqlite3_bind_int(ins_chunk, 4, (int)j->raw_len);
        check(sqlite3_step(ins_chunk), SQLITE_DONE, "insert chunk");
        sqlite3_reset(ins_chunk);
        pthread_mutex_unlock(&archive_lock);
        push(&spare, j);
    }
    deflateEnd(&z);
    return arg;
}

static uint64_t hash_bytes(const uint8_t *p, size_t n) {
    uint64_t h = 0x9E3779B97F4A7C15ULL ^ n, v;
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&v, p, 8);
        h = (h ^ v) * 0xff51afd7ed558ccdULL;
        h ^= h >> 32;
    }
    for (; n; n--) h = (h ^ *p++) * 0x100000001b3ULL;
    return (h ^ (h >> 29)) >> 1;
}

static size_t next_cut(const uint8_t *p, size_t left) {
    if (left <= MIN_CHUNK) return left;
    size_t end = left < MAX_CHUNK ? left : MAX_CHUNK;
    uint64_t h = 0;
    for (size_t i = MIN_CHUNK - 64; i < end; i++) {
        h = (h << 1) + gear[p[i]];
        if (i >= MIN_CHUNK && !((h >> 40) & MASK)) return i;
    }
    return end;
}

/* Documents that share paragraphs, with local edits between generations. */
static void make_file(uint8_t *buf, uint32_t n) {
    static const char *const words[] = { "invoice", "shipment", "customer", "balance", "pending", "address", "total", "carrier",
        "warehouse", "return", "approved", "draft", "currency", "net", "gross", "due", "2024", "EUR", "USD", "order" };
    uint64_t s = 1234567 + (n % 80) * 977;
    size_t at = 0;
    while (at + 32 < FILE_BYTES) {
        s = s * 6364136223846793005ULL + 1442695040888963407ULL;
        at += (size_t)snprintf((char *)buf + at, 32, "%s%c", words[(s >> 40) % 20], (s >> 33) % 12 ? ' ' : '\n');
        if ((s >> 50) % 3 == 0) at += (size_t)snprintf((char *)buf + at, 32, "%llu ", (unsigned long long)(s >> 45) % 100000);
    }
    memset(buf + at, '\n', FILE_BYTES - at);
    for (uint32_t e = 0; e < n / 80 * 6; e++) {
        s = s * 6364136223846793005ULL + 1442695040888963407ULL;
        buf[(s >> 30) % FILE_BYTES] ^= 1;
    }
}

#define SEEN (1u << 16)
static uint64_t seen[SEEN];
static int is_new(uint64_t id) {
    size_t at = id % SEEN;
    while (seen[at] && seen[at] != id) at = (at + 1) % SEEN;
    if (seen[at]) return 0;
    seen[at] = id;
    return 1;
}

int main(void) {
    char path[] = "/tmp/backup_pack.XXXXXX";
    int fd = mkstemp(path);
    archive = fdopen(fd, "w+b");
    check(sqlite3_open(":memory:", &db), SQLITE_OK, "open");
    check(sqlite3_exec(db, "create table chunk(id integer primary key, off int, packed int, raw int);"
                           "create table ref(file int, seq int, chunk int, primary key(file, seq)) without rowid; begin", NULL, NULL, NULL), SQLITE_OK, "schema");
    check(sqlite3_prepare_v2(db, "insert into chunk values(?,?,?,?)", -1, &ins_chunk, NULL), SQLITE_OK, "prepare");
    check(sqlite3_prepare_v2(db, "insert into ref values(?,?,?)", -1, &ins_ref, NULL), SQLITE_OK, "prepare");
    uint64_t s = 42;
    for (int i = 0; i < 256; i++) { s = s * 6364136223846793005ULL + 1442695040888963407ULL; gear[i] = s ^ (s >> 31); }
    for (int i = 0; i < QUEUE; i++) push(&spare, malloc(sizeof(job_t)));
    pthread_t th[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&th[i], NULL, worker, NULL);
    uint8_t *buf = malloc(FILE_BYTES);
    uint64_t refs = 0, fresh = 0;
    for (uint32_t f = 0; f < FILES; f++) {
        make_file(buf, f);
        int seq = 0;
        for (size_t at = 0; at < FILE_BYTES;) {
            size_t n = next_cut(buf + at, FILE_BYTES - at);
            uint64_t id = hash_bytes(buf + at, n);
            if (is_new(id)) {
                job_t *j = pop(&spare);
                j->id = id; j->raw_len = (uint32_t)n;
                memcpy(j->raw, buf + at, n);
                push(&todo, j);
                fresh++;
            }
            pthread_mutex_lock(&archive_lock);
            sqlite3_bind_int(ins_ref, 1, (int)f);
            sqlite3_bind_int(ins_ref, 2, seq++);
            sqlite3_bind_int64(ins_ref, 3, (sqlite3_int64)id);
            check(sqlite3_step(ins_ref), SQLITE_DONE, "insert ref");
            sqlite3_reset(ins_ref);
            pthread_mutex_unlock(&archive_lock);
            refs++;
            at += n;
        }
    }
    pthread_mutex_lock(&todo.lock);
    todo.closed = 1;
    pthread_cond_broadcast(&todo.not_empty);
    pthread_mutex_unlock(&todo.lock);
    for (int i = 0; i < WORKERS; i++) pthread_join(th[i], NULL);
    check(sqlite3_exec(db, "commit", NULL, NULL, NULL), SQLITE_OK, "commit");
    fflush(archive);
    sqlite3_stmt *q;
    check(sqlite3_prepare_v2(db, "select id, off, packed, raw from chunk where id % 4 = 0 order by off", -1, &q, NULL), SQLITE_OK, "select");
    static uint8_t packed[2 * MAX_CHUNK], raw[MAX_CHUNK];
    uint64_t good = 0, bad = 0;
    while (sqlite3_step(q) == SQLITE_ROW) {
        int np = sqlite3_column_int(q, 2);
        uLongf nr = MAX_CHUNK;
        int ok = pread(fd, packed, (size_t)np, sqlite3_column_int64(q, 1)) == np && uncompress(raw, &nr, packed, (uLong)np) == Z_OK &&
                 hash_bytes(raw, nr) == (uint64_t)sqlite3_column_int64(q, 0);
        if (ok) good++; else bad++;
    }
    sqlite3_finalize(q); sqlite3_finalize(ins_chunk); sqlite3_finalize(ins_ref);
    sqlite3_close(db);
    printf("chunks %llu new %llu, %.1f MB to %.1f MB, verified %llu bad %llu\n", (unsigned long long)refs, (unsigned long long)fresh,
           FILES * (double)FILE_BYTES / 1e6, (double)archive_at / 1e6, (unsigned long long)good, (unsigned long long)bad);
    fclose(archive);
    unlink(path);
    return bad != 0;
}
