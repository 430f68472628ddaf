// SPDX-License-Identifier: Apache-2.0
// liburcu's lock-free hash table as the bare limit of a lookup without locks: no order of eviction,
// no limit. An integer is read inside the read-side section; of an object a counted reference is
// taken there and dropped afterwards, as whoever hands objects out has to.
#include <urcu/urcu-memb.h>

#include <urcu/rculfhash.h>

#include "rival.hpp"

#include <atomic>

struct Counted : Payload {
  std::atomic<uint64_t> references{1};
  using Payload::Payload;
};

template <class Key, class Value>
class URCUTable {
 public:
  struct Thread {
    Thread() { urcu_memb_register_thread(); }
    ~Thread() { urcu_memb_unregister_thread(); }
  };

  explicit URCUTable(size_t capacity)
      // It grows by itself: beyond this size no harm is done by beginning small.
      : table_(cds_lfht_new_flavor(std::bit_ceil(std::clamp<size_t>(capacity, 64, 1 << 24)), 64, 0,
                                   CDS_LFHT_AUTO_RESIZE, &urcu_memb_flavor, nullptr)) {}

  // The process ends before its one table does.
  URCUTable(const URCUTable &) = delete;

  bool read(const Key &key, uint64_t *number) {
    urcu_memb_read_lock();
    cds_lfht_iter iterator;
    cds_lfht_lookup(table_, hash(key), match, &key, &iterator);
    cds_lfht_node *found = cds_lfht_iter_get_node(&iterator);
    if (!found) {
      urcu_memb_read_unlock();
      return false;
    }
    Node *node = caa_container_of(found, Node, node);
    if constexpr (is_number) {
      *number = node->value;
      urcu_memb_read_unlock();
    } else {
      Counted *object = node->value;
      object->references.fetch_add(1, std::memory_order_relaxed);
      urcu_memb_read_unlock();
      *number = object->number;
      if (object->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete object;
    }
    return true;
  }

  bool get_or_put(const Key &key, uint64_t fresh, uint64_t *number) {
    if (read(key, number)) return true;
    put(key, made(fresh));
    return false;
  }

  using Stored = std::conditional_t<std::is_same_v<Value, uint64_t>, uint64_t, Counted *>;

  static Stored made(uint64_t number) {
    if constexpr (is_number) return number;
    else return new Counted(number);
  }

  /// Stores under a key that has no value; one that has keeps it.
  void put(const Key &key, Stored value) {
    Node *node = new Node{{}, key, value};
    cds_lfht_node_init(&node->node);
    urcu_memb_read_lock();
    cds_lfht_node *there = cds_lfht_add_unique(table_, hash(key), match, &key, &node->node);
    urcu_memb_read_unlock();
    if (there != &node->node) {
      if constexpr (!is_number) delete node->value;
      delete node;
    }
  }

 private:
  static constexpr bool is_number = std::is_same_v<Value, uint64_t>;

  struct Node {
    cds_lfht_node node;
    Key key;
    Stored value;
  };

  static unsigned long hash(const Key &key) {
    if constexpr (std::is_same_v<Key, uint64_t>) return scattered(key);
    else return std::hash<Key>()(key);
  }

  static int match(cds_lfht_node *node, const void *key) {
    return caa_container_of(node, Node, node)->key == *static_cast<const Key *>(key);
  }

  cds_lfht *table_;
};

int main(int count, char **arguments) { return rival_main<URCUTable>(count, arguments); }
