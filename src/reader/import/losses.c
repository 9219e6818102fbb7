/* What an imported trace says of its file; see import.h. */
#include "format/encode.h"
#include "format/keys.h"
#include "import/import.h"

void dw_import_put_losses(struct dw_encode_process *journal, uint64_t lost, const char *left_out, const char *other)
{
	const struct {
		const char *key, *value;
	} notes[] = { { DW_KEY_IMPORT_LOST, left_out }, { DW_KEY_IMPORT_NOTES, other } };

	dw_encode_head(journal->encode)->lost[DW_LOSS_IMPORT] = lost;
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
		if (notes[i].value)
			dw_encode_entry(journal, DW_ENTRY_META, dw_encode_string(journal, notes[i].key),
			                dw_encode_string(journal, notes[i].value), sizeof(struct dw_entry_meta));
}
