// SPDX-License-Identifier: Apache-2.0
/* lrd_list.h — a doubly linked list of entries by slot ids, hottest first.
 *
 *   head ─▶ hottest ⇄ … ⇄ coldest ◀─ tail
 *
 * Guard: the lock of the shard that owns the list. An entry is on at most one list. */
#pragma once

#include "lrd_pool.h"

#pragma clang assume_nonnull begin

typedef struct lrd_list {
  uint32_t head;
  uint32_t tail;
} lrd_list;

static inline void lrd_list_open(lrd_list *list) {
  list->head = list->tail = LRD_NIL;
}

static inline void lrd_list_add_hottest(lrd_list *list, lrd_slots slots, lrd_entry *entry,
                                        uint32_t id) {
  entry->prev = LRD_NIL;
  entry->next = list->head;
  if (list->head == LRD_NIL) {
    list->tail = id;
  } else {
    lrd_slots_entry(slots, list->head)->prev = id;
  }
  list->head = id;
}

/// Unlinks the entry; returns its slot id.
static inline uint32_t lrd_list_remove(lrd_list *list, lrd_slots slots, lrd_entry *entry) {
  uint32_t id;
  if (entry->prev == LRD_NIL) {
    id = list->head;
    list->head = entry->next;
  } else {
    lrd_entry *hotter = lrd_slots_entry(slots, entry->prev);
    id = hotter->next;
    hotter->next = entry->next;
  }
  if (entry->next == LRD_NIL) {
    list->tail = entry->prev;
  } else {
    lrd_slots_entry(slots, entry->next)->prev = entry->prev;
  }
  return id;
}

/// Unlinks the coldest entry.
static inline void lrd_list_remove_coldest(lrd_list *list, lrd_slots slots,
                                           const lrd_entry *entry) {
  list->tail = entry->prev;
  if (list->tail == LRD_NIL) {
    list->head = LRD_NIL;
  } else {
    lrd_slots_entry(slots, list->tail)->next = LRD_NIL;
  }
}

/// Puts the entry in slot `id` in the place of `old`; returns the slot id of `old`.
static inline uint32_t lrd_list_replace(lrd_list *list, lrd_slots slots, const lrd_entry *old,
                                        lrd_entry *entry, uint32_t id) {
  uint32_t *from_hotter =
      old->prev == LRD_NIL ? &list->head : &lrd_slots_entry(slots, old->prev)->next;
  uint32_t *from_colder =
      old->next == LRD_NIL ? &list->tail : &lrd_slots_entry(slots, old->next)->prev;
  uint32_t old_id = *from_hotter;
  *from_hotter = *from_colder = id;
  entry->prev = old->prev;
  entry->next = old->next;
  return old_id;
}

/// Links an entry at the hot side of the one in slot `colder`; LRD_NIL: at the cold end.
void lrd_list_add_after(lrd_list *list, lrd_slots slots, uint32_t colder, lrd_entry *entry,
                        uint32_t id);

#pragma clang assume_nonnull end
