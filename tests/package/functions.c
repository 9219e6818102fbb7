/* A program that knows nothing of dwell; its functions are recorded all the same. */
static volatile long total;

static void add_all(int count)
{
	for (int i = 0; i < count; i++)
		total += i;
}

int main(void)
{
	for (int i = 0; i < 100; i++)
		add_all(1000);
	return total < 0;
}
