/* Monthly account statements: lays out one HTML page per customer and digests it. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUSTOMERS 1500
#define MAX_ENTRIES 1400

typedef struct {
    int day, kind;
    long cents;
    char memo[40];
} Entry;

typedef struct {
    int id, entries;
    long opening;
    Entry entry[MAX_ENTRIES];
} Account;

typedef struct {
    char *text;
    size_t capacity;
} Page;

static uint32_t seed = 12345;
static uint32_t draw(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 4) * n) >> 28);
}

static void page_reset(Page *p)
{
    if (!p->text) {
        p->capacity = 4096;
        p->text = malloc(p->capacity);
    }
    p->text[0] = '\0';
}

static void page_put(Page *p, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t used = strlen(p->text);
    if (used + (size_t)n + 1 > p->capacity) {
        p->capacity = 2 * (used + (size_t)n + 1);
        p->text = realloc(p->text, p->capacity);
    }
    memcpy(p->text + used, line, (size_t)n + 1);
}

static void fill_account(Account *a, int id)
{
    static const char *shop[] = {"grocer", "railway", "pharmacy", "bookshop", "power company", "bakery"};
    a->id = id;
    a->opening = (long)draw(500000);
    a->entries = 900 + (int)draw(500);
    for (int i = 0; i < a->entries; i++) {
        Entry *e = &a->entry[i];
        e->day = 1 + i * 30 / a->entries;
        e->kind = (int)draw(4);
        e->cents = (long)draw(20000) - 9000;
        snprintf(e->memo, sizeof e->memo, "%s ref %u", shop[draw(6)], draw(100000));
    }
}

static void put_amount(Page *p, const char *tag, long cents)
{
    const char *sign = cents < 0 ? "-" : "";
    long a = labs(cents);
    page_put(p, "<%s>%s%ld.%02ld</%s>", tag, sign, a / 100, a % 100, tag);
}

static void put_entry(Page *p, const Entry *e, long balance)
{
    static const char *kind[] = {"card", "transfer", "cash", "standing order"};
    page_put(p, "<tr><td>%02d</td>", e->day);
    page_put(p, "<td>%s</td>", kind[e->kind]);
    page_put(p, "<td>%s</td>", e->memo);
    put_amount(p, "td", e->cents);
    put_amount(p, "td", balance);
    page_put(p, "</tr>\n");
}

static long lay_out(Page *p, const Account *a)
{
    long balance = a->opening, in = 0, out = 0;
    page_reset(p);
    page_put(p, "<html><head><title>Statement %06d</title></head><body>\n", a->id);
    put_amount(p, "h2", a->opening);
    page_put(p, "<table>\n");
    for (int i = 0; i < a->entries; i++) {
        const Entry *e = &a->entry[i];
        balance += e->cents;
        if (e->cents > 0) in += e->cents;
        else out -= e->cents;
        put_entry(p, e, balance);
    }
    page_put(p, "</table>\n");
    put_amount(p, "p", in);
    put_amount(p, "p", out);
    page_put(p, "</body></html>\n");
    return balance;
}

static uint64_t digest(uint64_t h, const Page *p)
{
    for (const unsigned char *c = (const unsigned char *)p->text; *c; c++) h = (h ^ *c) * 1099511628211ull;
    return h;
}

int main(void)
{
    Account *account = malloc(sizeof *account);
    Page page = {0};
    uint64_t h = 1469598103934665603ull;
    long total = 0;
    for (int id = 0; id < CUSTOMERS; id++) {
        fill_account(account, id);
        total += lay_out(&page, account);
        h = digest(h, &page);
    }
    printf("closing %ld digest %016llx\n", total, (unsigned long long)h);
    free(page.text);
    free(account);
    return 0;
}
