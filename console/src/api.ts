// The console's protocol with the server, described in docs/console-api.md: one WebSocket at /api?token=TOKEN. Text frames
// are JSON objects: commands have `do`, messages have `type`. The first byte of a binary frame is its kind, see `Frame`.
// Positions are in m, angles in rad, times in s; quaternions have w first; z is up.

import type { Message } from './api/generated'

export type * from './api/generated'

export type Vector = [number, number, number]

/** The message of a type: `MessageOf<'state'>`. */
export type MessageOf<Type extends Message['type']> = Extract<Message, { type: Type }>

/**
 * Kinds of binary frames. All numbers are little-endian.
 *
 * poses:    u8 1, 3 bytes 0, u32 generation of the scene, f64 tick, f64 time, then for each body but the world:
 *           3 x i24 position in 0.1 mm, 3 x u16 orientation. Bits 0 to 14 of each u16 are a quaternion component:
 *           0 to 32767 for -1/sqrt(2) to 1/sqrt(2). The largest component is omitted: it is positive and completes the
 *           quaternion to length 1. Bit 15 of the first and the second u16 are the high and the low bit of its index in
 *           w, x, y, z.
 * video:    u8 2, 3 bytes 0, u32 sequence number, then a JPEG file.
 * sound:    u8 3, u8 1 if it interrupts sound sent before, 2 bytes 0, u32 samples per second, then i16 samples, mono.
 *           A frame without samples means silence.
 * playback: u8 4, 3 bytes 0, u32 number of the frame, then a pose frame.
 */
export const Frame = { poses: 1, video: 2, sound: 3, playback: 4 } as const
