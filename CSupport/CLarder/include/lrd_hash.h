// SPDX-License-Identifier: Apache-2.0
/* lrd_hash.h — keyed hashes of a word and of ASCII bytes, by multiply-folds; comparison of bytes.
 *
 *   word    x ─ ^seed0 ─ ×seed1 ─┬ low  ^A ┐
 *                                └ high ^B ┴ × ─ fold ─ hash
 *   bytes   16-byte blocks fold into a state; the last 16 bytes and the state end like a word
 *
 * A fold multiplies 64 x 64 -> 128 bits and xors the halves, so every bit of the result is good:
 * callers take the bucket from the top bits, the shard from bits 16 to 21, the tag from 24 to 31.
 *
 * SEEDS
 *   `seed0` has bit 63 set, `seed1` bits 63 and 0; the others are random and secret.
 *   lrd_hash_seed0() and lrd_hash_seed1() set those bits. The reasons:
 *   - A fold collapses when a factor is zero. The first product of a word keeps all 128 bits and is
 *     injective in x, and so is its low half (seed1 is odd). At most two x share a high half
 *     (seed1 >= 2^63). So the second fold has a zero factor for at most three words.
 *   - ASCII words have bit 63 clear, a seed has it set, so in a string's first product no factor
 *     is ever zero, whatever the text. Later blocks meet a secret state, zero once in 2^64.
 *   - The two lanes of a long string differ by a constant with high bits in its bytes. The xor of
 *     two ASCII words has none: no text can make one lane repeat, and so cancel, the other.
 *
 * STRENGTH
 *   An attacker who does not know the seeds cannot compute a hash. No set of keys is known that
 *   collides under all seeds (every product has a secret factor), so no flood can be prepared. The
 *   construction is that of wyhash, rapidhash and foldhash, with random secrets instead of their
 *   fixed ones. It is weaker than SipHash: no proof or cryptanalysis backs it. Whoever observes
 *   hashes, or an order that follows them, may recover the seeds: show neither.
 *
 * Nothing here allocates, locks, keeps state or reads outside the given bytes. */
#pragma once

#include "lrd_base.h"

#include <string.h>

/* Hexadecimal digits of pi. LANE has high bits in its bytes other than the top one. */
#define LRD_HASH_LOW 0x243F6A8885A308D3ull
#define LRD_HASH_HIGH 0x13198A2E03707344ull
#define LRD_HASH_LANE 0x24093822299F31D0ull

/// A hash of bytes. `any` is the bitwise or of all their words, and tells whether all were ASCII.
typedef struct {
  uint64_t hash;
  uint64_t any;
} lrd_hash_run;

static inline uint64_t lrd_hash_seed0(uint64_t random) LRD_NONBLOCKING {
  return random | UINT64_C(1) << 63;
}

static inline uint64_t lrd_hash_seed1(uint64_t random) LRD_NONBLOCKING {
  return random | UINT64_C(1) << 63 | 1;
}

/// The upper 48 bits of a hash, the rest 0: what the core keeps of it.
LRD_INLINE uint64_t lrd_hash48(uint64_t hash) LRD_NONBLOCKING {
  return hash & ~(uint64_t)0xffff;
}

/// The full product of `a` and `b`, its halves xored.
static inline uint64_t lrd_hash_fold(uint64_t a, uint64_t b) LRD_NONBLOCKING {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/// Spreads the upper 48 bits of a hash over all 64. Shards and tables pick by the bits of the hash
/// itself. Shadows and sketches pick by the bits of this result, and so pick independently.
static inline uint64_t lrd_hash_mix(uint64_t hash48) LRD_NONBLOCKING {
  return lrd_hash_fold(hash48 ^ 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu);
}

/// The hash of a word. A hasher that keeps LRD_HASH_LOW and LRD_HASH_HIGH beside its seeds spares
/// the two instructions that load them.
static inline uint64_t lrd_hash_word_by(uint64_t word, uint64_t seed0, uint64_t seed1, uint64_t low,
                                        uint64_t high) LRD_NONBLOCKING {
  unsigned __int128 product = (unsigned __int128)(word ^ seed0) * seed1;
  return lrd_hash_fold((uint64_t)product ^ low, (uint64_t)(product >> 64) ^ high);
}

/// Two multiplications with all 128 bits kept between them; `length` separates equal words.
static inline uint64_t lrd_hash_finish(uint64_t a, uint64_t b, uint64_t length) LRD_NONBLOCKING {
  unsigned __int128 product = (unsigned __int128)a * b;
  return lrd_hash_fold((uint64_t)product ^ LRD_HASH_LOW ^ length,
                       (uint64_t)(product >> 64) ^ LRD_HASH_HIGH);
}

/// lrd_hash_word_by() with those constants.
static inline uint64_t lrd_hash_word(uint64_t word, uint64_t seed0,
                                     uint64_t seed1) LRD_NONBLOCKING {
  return lrd_hash_word_by(word, seed0, seed1, LRD_HASH_LOW, LRD_HASH_HIGH);
}

static inline uint64_t lrd_hash_load64(const uint8_t *_Nonnull p) LRD_NONBLOCKING {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

static inline uint64_t lrd_hash_load32(const uint8_t *_Nonnull p) LRD_NONBLOCKING {
  uint32_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

/// The `count` < 8 bytes at `p` as a word, zeroes above them. No load crosses the aligned word of a
/// small string that was just stored on the stack: the processor can forward that store.
static inline uint64_t lrd_hash_load_tail(const uint8_t *_Nonnull p, size_t count) LRD_NONBLOCKING {
  if (count >= 4) return lrd_hash_load32(p) | lrd_hash_load32(p + count - 4) << (8 * (count - 4));
  if (count == 0) return 0;
  size_t middle = count / 2, last = count - 1;
  return (uint64_t)p[0] | (uint64_t)p[middle] << (8 * middle) | (uint64_t)p[last] << (8 * last);
}

/// True when `count` bytes are the same. Up to 64 are compared in line, word by word; the last two
/// words overlap. Pure: Swift would otherwise retain a stored string during the call.
__attribute__((pure)) static inline bool
lrd_same_bytes(const void *_Nonnull a, const void *_Nonnull b, size_t count) LRD_NONBLOCKING {
  const uint8_t *p = (const uint8_t *)a, *q = (const uint8_t *)b;
  if (count < 8 || count > 64) return memcmp(p, q, count) == 0;
  size_t last = count - 8;
  uint64_t different = lrd_hash_load64(p + last) ^ lrd_hash_load64(q + last);
  for (size_t i = 0; i < last; i += 8) different |= lrd_hash_load64(p + i) ^ lrd_hash_load64(q + i);
  return different == 0;
}

/// The hash of fewer than 16 bytes, given as two words with zeroes above them. The length goes into
/// the top byte, which is always free, so different strings give different words.
static inline lrd_hash_run lrd_hash_short(uint64_t a, uint64_t b, uint64_t length, uint64_t seed0,
                                          uint64_t seed1) LRD_NONBLOCKING {
  lrd_hash_run run = {lrd_hash_finish(a ^ seed1, b ^ length << 56 ^ seed0, 0), a | b};
  return run;
}

/// The hash of at least 16 bytes: 32 at a time in two lanes, then 16, then the last 16.
static inline lrd_hash_run lrd_hash_long(const uint8_t *_Nonnull p, size_t count, uint64_t seed0,
                                         uint64_t seed1) LRD_NONBLOCKING {
  uint64_t state = seed0, any = 0, length = count;
  if (count > 32) {
    uint64_t lane = seed0;
    do {
      uint64_t a = lrd_hash_load64(p), b = lrd_hash_load64(p + 8);
      uint64_t c = lrd_hash_load64(p + 16), d = lrd_hash_load64(p + 24);
      any |= a | b | c | d;
      state = lrd_hash_fold(a ^ seed1, b ^ state);
      lane = lrd_hash_fold(c ^ seed1 ^ LRD_HASH_LANE, d ^ lane);
      p += 32;
      count -= 32;
    } while (count > 32);
    state ^= lane;
  }
  if (count > 16) {
    uint64_t a = lrd_hash_load64(p), b = lrd_hash_load64(p + 8);
    any |= a | b;
    state = lrd_hash_fold(a ^ seed1, b ^ state);
    p += 16;
    count -= 16;
  }
  /* 1 to 16 bytes are left. The last 16 overlap bytes that were hashed before. */
  uint64_t a = lrd_hash_load64(p + count - 16), b = lrd_hash_load64(p + count - 8);
  lrd_hash_run run = {lrd_hash_finish(a ^ seed1, b ^ state, length), any | a | b};
  return run;
}

/// The hash of `count` bytes. It means something only if lrd_hash_is_ascii() says they are ASCII.
static inline lrd_hash_run lrd_hash_bytes(const uint8_t *_Nullable bytes, size_t count,
                                          uint64_t seed0, uint64_t seed1) LRD_NONBLOCKING {
  if (!bytes || count == 0) return lrd_hash_short(0, 0, 0, seed0, seed1);
  if (count >= 16) return lrd_hash_long(bytes, count, seed0, seed1);
  if (count < 8) return lrd_hash_short(lrd_hash_load_tail(bytes, count), 0, count, seed0, seed1);
  return lrd_hash_short(lrd_hash_load64(bytes), lrd_hash_load_tail(bytes + 8, count - 8), count,
                        seed0, seed1);
}

/// True when every byte of the run was below 0x80.
static inline bool lrd_hash_is_ascii(lrd_hash_run run) LRD_NONBLOCKING {
  return (run.any & UINT64_C(0x8080808080808080)) == 0;
}
