/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/books.h"

#include <glib.h>

#include "base/log.h"
#include "base/pack.h"
#include "core/ledger.h"

struct books {
	struct fanout *fanout;
	struct checkpoint *checkpoint; /* NULL if none can be kept */
	struct buffer offered, holding;
	bool waiting;
	struct buffer out;
	int failure; /* errno of the last write */
};

struct books *books_open(const char *folder, struct fanout *fanout, char *error, size_t error_size)
{
	struct books *books = g_new0(struct books, 1);
	bool locked;

	books->fanout = fanout;
	books->checkpoint = checkpoint_open(folder, &locked, error, error_size);
	if (!books->checkpoint && locked)
		g_clear_pointer(&books, books_close);
	return books;
}

void books_close(struct books *books)
{
	if (books->checkpoint)
		checkpoint_close(books->checkpoint);
	buffer_free(&books->offered);
	buffer_free(&books->holding);
	buffer_free(&books->out);
	g_free(books);
}

bool books_lasting(const struct books *books)
{
	return books->checkpoint != NULL;
}

enum checkpoint_state books_read(struct books *books, struct buffer *data, char *error, size_t error_size)
{
	return books->checkpoint ? checkpoint_read(books->checkpoint, data, error, error_size)
				 : CHECKPOINT_NONE;
}

void books_begin(struct books *books, const void *place, size_t size)
{
	books->holding.size = 0;
	buffer_put(&books->holding, place, size);
}

void books_offer(struct books *books, struct buffer *place)
{
	struct buffer before = books->offered;

	books->offered = *place;
	*place = before;
	fanout_mark(books->fanout);
	books->waiting = true;
}

bool books_waiting(const struct books *books)
{
	return books->waiting;
}

bool books_settle(struct books *books)
{
	struct buffer before = books->holding;

	if (!books->waiting || !fanout_settled(books->fanout))
		return false;
	books->holding = books->offered;
	books->offered = before;
	books->waiting = false;
	return true;
}

void books_write(struct books *books, const struct buffer *reached, bool sync)
{
	struct buffer *out = &books->out;
	int failure;

	if (!books->checkpoint)
		return;
	out->size = 0;
	pack_bytes(out, books->holding.data, books->holding.size);
	buffer_put(out, reached->data, reached->size);
	ledger_save(out);
	failure = checkpoint_write(books->checkpoint, out->data, out->size, sync);
	if (failure && failure != books->failure)
		log_warning(
			"the checkpoint in `state-directory` cannot be written (%s): were the agent killed "
			"now, what it delivers would be delivered again",
			g_strerror(failure));
	else if (!failure && books->failure)
		log_info("the checkpoint is written again");
	books->failure = failure;
}

size_t books_size(const struct books *books)
{
	return books->holding.size;
}

void books_forget(struct books *books)
{
	int failure = books->checkpoint ? checkpoint_remove(books->checkpoint) : 0;

	if (failure)
		log_warning("the checkpoint in `state-directory` cannot be removed: %s", g_strerror(failure));
}
