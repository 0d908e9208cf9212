/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of a live trace whose stream class is declared later.
 *
 * A program registers its events first, and then the channel that they are recorded in. In between, for good
 * if it is stopped or killed there, the metadata of its user's trace declare event classes of a stream class
 * that they do not declare. babeltrace2's plugin ctf fails on such metadata, and with them on the whole
 * session: no user's programs could be read live. No event of these classes was recorded yet.
 *
 * The plugin hands the text that the relay daemon sends to fmemopen. There is another fmemopen in front of
 * that here, which holds back the declarations of events that come too early, and adds them to the text that
 * declares their stream class. All other text is left as it is. Whose text it is, is in the packets that it
 * came in: the plugin of babeltrace2 2.0 hands them to fmemopen before, and that of 2.1 only receives them,
 * by a recv that is here, too.
 */
#ifndef READER_DECODE_LATECLASSES_H
#define READER_DECODE_LATECLASSES_H

/* From now on metadata that this thread reads are looked at; what was held back before is forgotten. */
void lateclasses_hold(void);

/* Not any more. */
void lateclasses_forget(void);

#endif
