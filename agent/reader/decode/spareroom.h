/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Room for what babeltrace2's iterators store, in live traces whose metadata grow.
 *
 * While it decodes a packet, an iterator of the plugin ctf keeps the values that other fields need: the tag
 * of a variant, the length of a sequence. Up to 2.0.4 it makes an array for as many as the metadata need by
 * then, and writes behind its end when later metadata need more (mended by 839df1da, in 2.0.5). Metadata
 * without a class of streams need none: what a program of that user recorded then was written to address 0. A
 * program that registers events with sequences while it is read wrote into other memory.
 *
 * So g_array_new, by which the plugin makes the array, has another one in front of it here, which reserves
 * room in arrays that look like it: of zeroed 64-bit numbers. Nothing else changes for who makes one.
 */
#ifndef READER_DECODE_SPAREROOM_H
#define READER_DECODE_SPAREROOM_H

/* From now on the arrays that this thread makes have room to spare. */
void spareroom_lend(void);

#endif
