/* account_import - folds a partner's sign-up feed into the accounts database:
 * known addresses (compared without regard to case) get their profile updated,
 * new ones are created, and every event lands in the audit table. */
#include <ctype.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_SEED 6000
#define N_EVENTS 20000

static uint64_t lcg = 42;

static uint32_t rnd(uint32_t n)
{
    lcg = lcg * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(lcg >> 33) % n;
}

static void check(sqlite3 *db, int rc, const char *what)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
        exit(1);
    }
}

static void run(sqlite3 *db, const char *sql)
{
    check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *prep(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    check(db, sqlite3_prepare_v2(db, sql, -1, &st, NULL), sql);
    return st;
}

static void make_email(uint32_t who, char *out, size_t n)
{
    static const char *dom[] = {"example.org", "mail.example.com", "post.example.net"};
    snprintf(out, n, "user%05u.%c%c@%s", who, 'a' + who % 26, 'a' + who / 7 % 26, dom[who % 3]);
}

static void scramble_case(char *s)
{
    for (; *s && *s != '@'; s++)
        if (rnd(4) == 0)
            *s = (char)toupper((unsigned char)*s);
}

static void create_schema(sqlite3 *db)
{
    run(db, "PRAGMA journal_mode=WAL");
    run(db, "CREATE TABLE account(id INTEGER PRIMARY KEY, email TEXT NOT NULL, country TEXT,"
            " plan INTEGER, logins INTEGER DEFAULT 0, score REAL DEFAULT 0)");
    run(db, "CREATE UNIQUE INDEX account_email ON account(email)");
    run(db, "CREATE INDEX account_country ON account(country, plan)");
    run(db, "CREATE TABLE audit(seq INTEGER PRIMARY KEY, account INTEGER, kind TEXT, note TEXT)");
}

static void seed_accounts(sqlite3 *db)
{
    sqlite3_stmt *ins = prep(db, "INSERT INTO account(email, country, plan) VALUES(?,?,?)");
    static const char *cc[] = {"DE", "FR", "US", "BR", "JP", "IN"};
    char email[96];
    run(db, "BEGIN");
    for (uint32_t i = 0; i < N_SEED; i++) {
        make_email(i, email, sizeof email);
        sqlite3_bind_text(ins, 1, email, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(ins, 2, cc[rnd(6)], -1, SQLITE_STATIC);
        sqlite3_bind_int(ins, 3, (int)rnd(4));
        check(db, sqlite3_step(ins), "seed");
        sqlite3_reset(ins);
    }
    run(db, "COMMIT");
    sqlite3_finalize(ins);
}

typedef struct { sqlite3_stmt *find, *create, *touch, *audit; } stmts_t;

static sqlite3_int64 lookup(sqlite3 *db, stmts_t *s, const char *email)
{
    sqlite3_int64 id = -1;
    sqlite3_bind_text(s->find, 1, email, -1, SQLITE_TRANSIENT);
    int rc = sqlite3_step(s->find);
    check(db, rc, "find");
    if (rc == SQLITE_ROW)
        id = sqlite3_column_int64(s->find, 0);
    sqlite3_reset(s->find);
    return id;
}

static int apply_event(sqlite3 *db, stmts_t *s, const char *email, double score)
{
    char lowered[96];
    size_t i;
    for (i = 0; email[i] && i < sizeof lowered - 1; i++)
        lowered[i] = (char)tolower((unsigned char)email[i]);
    lowered[i] = 0;

    sqlite3_int64 id = lookup(db, s, email);
    int fresh = id < 0;
    if (fresh) {
        sqlite3_bind_text(s->create, 1, lowered, -1, SQLITE_TRANSIENT);
        check(db, sqlite3_step(s->create), "create");
        sqlite3_reset(s->create);
        id = sqlite3_last_insert_rowid(db);
    }
    sqlite3_bind_double(s->touch, 1, score);
    sqlite3_bind_int64(s->touch, 2, id);
    check(db, sqlite3_step(s->touch), "touch");
    sqlite3_reset(s->touch);

    sqlite3_bind_int64(s->audit, 1, id);
    sqlite3_bind_text(s->audit, 2, fresh ? "signup" : "update", -1, SQLITE_STATIC);
    sqlite3_bind_text(s->audit, 3, email, -1, SQLITE_TRANSIENT);
    check(db, sqlite3_step(s->audit), "audit");
    sqlite3_reset(s->audit);
    return fresh;
}

static double query_double(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = prep(db, sql);
    check(db, sqlite3_step(st), sql);
    double v = sqlite3_column_double(st, 0);
    sqlite3_finalize(st);
    return v;
}

int main(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/account_import_XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0) { perror("mkstemp"); return 1; }
    sqlite3 *db;
    check(NULL, sqlite3_open(path, &db), "open");
    create_schema(db);
    seed_accounts(db);

    stmts_t s = {
        prep(db, "SELECT id FROM account WHERE lower(email) = lower(?1)"),
        prep(db, "INSERT INTO account(email, country, plan) VALUES(?1, 'XX', 0)"),
        prep(db, "UPDATE account SET logins = logins + 1, score = 0.9 * score + ?1 WHERE id = ?2"),
        prep(db, "INSERT INTO audit(account, kind, note) VALUES(?1, ?2, ?3)"),
    };
    int created = 0;
    char email[96];
    run(db, "BEGIN");
    for (int i = 0; i < N_EVENTS; i++) {
        make_email(rnd(N_SEED + N_SEED / 3), email, sizeof email);
        scramble_case(email);
        created += apply_event(db, &s, email, rnd(1000) / 1000.0);
        if (i % 1000 == 999) { run(db, "COMMIT"); run(db, "BEGIN"); }
    }
    run(db, "COMMIT");
    printf("created %d accounts %.0f audit %.0f score %.6f\n", created,
           query_double(db, "SELECT count(*) FROM account"),
           query_double(db, "SELECT count(*) FROM audit"),
           query_double(db, "SELECT sum(score) FROM account"));
    sqlite3_finalize(s.find); sqlite3_finalize(s.create);
    sqlite3_finalize(s.touch); sqlite3_finalize(s.audit);
    sqlite3_close(db);
    close(fd);
    unlink(path);
    return 0;
}
