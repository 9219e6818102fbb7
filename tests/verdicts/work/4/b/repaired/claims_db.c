/* Nightly claims run: matches the day's claims with policies, applies
 * deductible and limit, and posts reserves and a ledger per product. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLICIES 10000
#define CLAIMS 5200
#define PRODUCTS 6

static uint32_t seed = 7;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % n;
}

static void check(sqlite3 *db, int rc, const char *what)
{
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW) return;
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void run_sql(sqlite3 *db, const char *sql)
{
    check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st;
    check(db, sqlite3_prepare_v2(db, sql, -1, &st, NULL), sql);
    return st;
}

static void policy_number(char *out, size_t n, uint32_t id)
{
    snprintf(out, n, "PL-%c%c-%07u", 'A' + id % 26, 'A' + id / 26 % 26, id * 37u % 9999991u);
}

static void load_policies(sqlite3 *db)
{
    run_sql(db, "CREATE TABLE policy(id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE,"
                " product INTEGER, deductible REAL, ceiling REAL, starts INTEGER, ends INTEGER,"
                " used REAL DEFAULT 0)");
    run_sql(db, "CREATE TABLE claim(id INTEGER PRIMARY KEY, policy INTEGER REFERENCES policy(id),"
                " day INTEGER, amount REAL, paid REAL, status TEXT)");
    run_sql(db, "CREATE INDEX claim_policy ON claim(policy, day)");
    sqlite3_stmt *st = prepare(db, "INSERT INTO policy(number, product, deductible, ceiling,"
                                   " starts, ends) VALUES(?,?,?,?,?,?)");
    run_sql(db, "BEGIN");
    for (uint32_t i = 0; i < POLICIES; i++) {
        char num[32];
        policy_number(num, sizeof num, i);
        int start = (int)rnd(300);
        sqlite3_bind_text(st, 1, num, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(st, 2, (int)rnd(PRODUCTS));
        sqlite3_bind_double(st, 3, 50.0 * rnd(10));
        sqlite3_bind_double(st, 4, 5000.0 + 1000.0 * rnd(40));
        sqlite3_bind_int(st, 5, start);
        sqlite3_bind_int(st, 6, start + 365);
        check(db, sqlite3_step(st), "insert policy");
        sqlite3_reset(st);
    }
    run_sql(db, "COMMIT");
    sqlite3_finalize(st);
}

typedef struct {
    sqlite3_stmt *find, *use, *post;
    int paid, unknown, lapsed, below;
    double total;
} Run;

static void settle(sqlite3 *db, Run *r, const char *number, int day, double amount)
{
    const char *status = "paid";
    double pay = 0;
    sqlite3_int64 id = 0;
    sqlite3_bind_text(r->find, 1, number, -1, SQLITE_STATIC);
    if (sqlite3_step(r->find) != SQLITE_ROW) {
        r->unknown++;
        status = "unknown";
    } else {
        id = sqlite3_column_int64(r->find, 0);
        double deductible = sqlite3_column_double(r->find, 1);
        double room = sqlite3_column_double(r->find, 2) - sqlite3_column_double(r->find, 5);
        if (day < sqlite3_column_int(r->find, 3) || day > sqlite3_column_int(r->find, 4)) {
            r->lapsed++;
            status = "lapsed";
        } else if (amount <= deductible) {
            r->below++;
            status = "below";
        } else {
            pay = amount - deductible;
            if (pay > room) pay = room;
            r->paid++;
            r->total += pay;
        }
    }
    sqlite3_reset(r->find);
    if (pay > 0) {
        sqlite3_bind_double(r->use, 1, pay);
        sqlite3_bind_int64(r->use, 2, id);
        check(db, sqlite3_step(r->use), "update policy");
        sqlite3_reset(r->use);
    }
    sqlite3_bind_int64(r->post, 1, id);
    sqlite3_bind_int(r->post, 2, day);
    sqlite3_bind_double(r->post, 3, amount);
    sqlite3_bind_double(r->post, 4, pay);
    sqlite3_bind_text(r->post, 5, status, -1, SQLITE_STATIC);
    check(db, sqlite3_step(r->post), "post claim");
    sqlite3_reset(r->post);
}

int main(void)
{
    sqlite3 *db;
    check(NULL, sqlite3_open(":memory:", &db), "open");
    load_policies(db);
    Run r = { 0 };
    r.find = prepare(db, "SELECT id, deductible, ceiling, starts, ends, used FROM policy"
                         " WHERE number = upper(trim(?1))");
    r.use = prepare(db, "UPDATE policy SET used = used + ?1 WHERE id = ?2");
    r.post = prepare(db, "INSERT INTO claim(policy, day, amount, paid, status) VALUES(?,?,?,?,?)");
    run_sql(db, "BEGIN");
    for (int i = 0; i < CLAIMS; i++) {
        char num[32];
        policy_number(num, sizeof num, rnd(POLICIES + 60));
        settle(db, &r, num, (int)rnd(500), 20.0 + rnd(9000));
    }
    run_sql(db, "COMMIT");
    sqlite3_finalize(r.find);
    sqlite3_finalize(r.use);
    sqlite3_finalize(r.post);

    sqlite3_stmt *st = prepare(db, "SELECT p.product, count(*), sum(c.paid) FROM claim c"
                                   " JOIN policy p ON p.id = c.policy GROUP BY 1 ORDER BY 1");
    while (sqlite3_step(st) == SQLITE_ROW)
        printf("product %d: %d claims, %.2f paid\n", sqlite3_column_int(st, 0),
               sqlite3_column_int(st, 1), sqlite3_column_double(st, 2));
    sqlite3_finalize(st);
    printf("paid %d unknown %d lapsed %d below %d total %.2f\n", r.paid, r.unknown, r.lapsed,
           r.below, r.total);
    sqlite3_close(db);
    return 0;
}
