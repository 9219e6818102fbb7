/* A library that the stepped program loads and unloads. */
int stepped_plugin(int value);

static int begun;

__attribute__((constructor)) static void plugin_begin(void)
{
	begun = 7;
}

int stepped_plugin(int value)
{
	return value * begun;
}
