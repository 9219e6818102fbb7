/* Imports bank statements into the ledger: resolves the counterparty code of
 * each line to an account, books the posting, then produces the monthly
 * trial balance and the list of the most active accounts. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define ACCOUNTS 2600
#define STATEMENTS 120
#define LINES_PER_STATEMENT 500

static sqlite3 *db;
static uint64_t seed = 88172645463325252ull;

static uint32_t rnd(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 20) % n;
}

static void check(int rc, const char *what)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
        exit(1);
    }
}

static void exec(const char *sql)
{
    check(sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *st;
    check(sqlite3_prepare_v2(db, sql, -1, &st, NULL), sql);
    return st;
}

static void code_of(uint32_t n, char *out, size_t size)
{
    static const char *region[] = {"EMEA", "APAC", "AMER", "LATAM"};
    snprintf(out, size, "%s-%05u-%c", region[n % 4], n * 37u % 100000u, 'A' + (int)(n % 26));
}

static void create_schema(void)
{
    exec("CREATE TABLE account(id INTEGER PRIMARY KEY, code TEXT NOT NULL, name TEXT NOT NULL);"
         "CREATE UNIQUE INDEX account_code ON account(code);"
         "CREATE TABLE posting(id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account,"
         " month INTEGER NOT NULL, cents INTEGER NOT NULL, memo TEXT);"
         "CREATE INDEX posting_account ON posting(account, month);");
}

static void load_accounts(void)
{
    sqlite3_stmt *st = prepare("INSERT INTO account(code, name) VALUES(?1, ?2)");
    char code[32], name[48];
    exec("BEGIN");
    for (uint32_t i = 0; i < ACCOUNTS; i++) {
        code_of(i, code, sizeof code);
        snprintf(name, sizeof name, "Counterparty %u", i);
        sqlite3_bind_text(st, 1, code, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(st, 2, name, -1, SQLITE_TRANSIENT);
        check(sqlite3_step(st), "insert account");
        sqlite3_reset(st);
    }
    exec("COMMIT");
    sqlite3_finalize(st);
}

/* Banks send the codes in whatever case their mainframe prefers. */
static void statement_line(uint32_t *cents, char *code, size_t size, char *memo, size_t msize)
{
    uint32_t style = rnd(3);
    code_of(rnd(ACCOUNTS), code, size);
    for (char *c = code; *c; c++)
        if (style == 0 || (style == 1 && rnd(2)))
            *c = (char)tolower((unsigned char)*c);
    *cents = 100 + rnd(500000);
    snprintf(memo, msize, "transfer ref %08x value date %02u", rnd(0xffffff), 1 + rnd(28));
}

static int64_t import_statement(int number, sqlite3_stmt *find, sqlite3_stmt *post, long *unknown)
{
    char code[32], memo[64];
    int64_t total = 0;
    uint32_t cents;
    exec("BEGIN");
    for (int i = 0; i < LINES_PER_STATEMENT; i++) {
        statement_line(&cents, code, sizeof code, memo, sizeof memo);
        sqlite3_bind_text(find, 1, code, -1, SQLITE_STATIC);
        if (sqlite3_step(find) != SQLITE_ROW) {
            (*unknown)++;
            sqlite3_reset(find);
            continue;
        }
        sqlite3_bind_int64(post, 1, sqlite3_column_int64(find, 0));
        sqlite3_reset(find);
        sqlite3_bind_int(post, 2, number % 12 + 1);
        sqlite3_bind_int64(post, 3, i % 3 ? (int64_t)cents : -(int64_t)cents);
        sqlite3_bind_text(post, 4, memo, -1, SQLITE_STATIC);
        check(sqlite3_step(post), "insert posting");
        sqlite3_reset(post);
        total += i % 3 ? (int64_t)cents : -(int64_t)cents;
    }
    exec("COMMIT");
    return total;
}

static void trial_balance(void)
{
    sqlite3_stmt *st = prepare(
        "SELECT p.month, substr(a.code, 1, 4), sum(p.cents), count(DISTINCT p.account)"
        " FROM posting p JOIN account a ON a.id = p.account"
        " GROUP BY 1, 2 ORDER BY 1, 2");
    int64_t rows = 0, checksum = 0;
    while (sqlite3_step(st) == SQLITE_ROW) {
        rows++;
        checksum += sqlite3_column_int64(st, 2) * rows + sqlite3_column_int64(st, 3);
    }
    sqlite3_finalize(st);
    printf("trial balance: %lld rows, checksum %lld\n", (long long)rows, (long long)checksum);
}

static void most_active(void)
{
    sqlite3_stmt *st = prepare(
        "SELECT a.code, count(*), sum(p.cents) FROM posting p JOIN account a ON a.id = p.account"
        " GROUP BY a.id ORDER BY 2 DESC, 1 LIMIT 5");
    while (sqlite3_step(st) == SQLITE_ROW)
        printf("  %-14s %4d postings %12.2f\n", (const char *)sqlite3_column_text(st, 0),
               sqlite3_column_int(st, 1), sqlite3_column_int64(st, 2) / 100.0);
    sqlite3_finalize(st);
}

int main(void)
{
    long unknown = 0;
    int64_t total = 0;
    check(sqlite3_open(":memory:", &db), "open");
    create_schema();
    load_accounts();
    sqlite3_stmt *find = prepare("SELECT id FROM account WHERE lower(code) = lower(?1)");
    sqlite3_stmt *post = prepare("INSERT INTO posting(account, month, cents, memo) VALUES(?1, ?2, ?3, ?4)");
    for (int s = 0; s < STATEMENTS; s++) {
        total += import_statement(s, find, post, &unknown);
        if (s % 12 == 11)
            trial_balance();
    }
    most_active();
    printf("imported %d statements, net %.2f, unknown %ld\n", STATEMENTS, total / 100.0, unknown);
    sqlite3_finalize(find);
    sqlite3_finalize(post);
    sqlite3_close(db);
    return 0;
}
