// SPDX-License-Identifier: Apache-2.0
#include "lrd_list.h"

void lrd_list_add_after(lrd_list *list, lrd_slots slots, uint32_t colder, lrd_entry *entry,
                        uint32_t id) {
  uint32_t *from_colder = colder == LRD_NIL ? &list->tail : &lrd_slots_entry(slots, colder)->prev;
  uint32_t hotter = *from_colder;
  uint32_t *from_hotter = hotter == LRD_NIL ? &list->head : &lrd_slots_entry(slots, hotter)->next;
  entry->prev = hotter;
  entry->next = colder;
  *from_colder = *from_hotter = id;
}
