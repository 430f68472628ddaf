// SPDX-License-Identifier: Apache-2.0

/// Generic work to do with one implementation.
protocol RivalVisitor {
  func visit<R: Rival>(_ type: R.Type) throws
}

/// Calls `visitor` with the Swift type for a variant's name. This leads from a word to code that is
/// specialised for one implementation. Catalog.swift lists the names.
func withRival(
  _ variant: String, keys: KeyKind, values: ValueKind, _ visitor: some RivalVisitor
) throws {
  switch (keys, values) {
  case (.int, .int): try visit(variant, UInt64.self, UInt64.self, visitor)
  case (.int, .object): try visit(variant, UInt64.self, Payload.self, visitor)
  case (.string, .int): try visit(variant, String.self, UInt64.self, visitor)
  case (.string, .object): try visit(variant, String.self, Payload.self, visitor)
  }
}

private func visit<Key: RequestKey, Value: Measurable>(
  _ variant: String, _ key: Key.Type, _ value: Value.Type, _ visitor: some RivalVisitor
) throws {
  typealias List = IndexList<Key, Value>
  typealias Nodes = NodeList<Key, Value>
  switch variant {
  case "larder": try visitor.visit(LarderRival<Key, Value>.self)
  case "larder-lend": try visitor.visit(LarderLending<Key, Value>.self)
  case "nscache": try visitor.visit(NSCacheRival<Key, Value>.self)
  case "dictionary-mutex":
    try visitor.visit(DictionaryCache<Key, Value, MutexGuard<[Key: Value]>>.self)
  case "dictionary-nslock":
    try visitor.visit(DictionaryCache<Key, Value, NSLockGuard<[Key: Value]>>.self)
  case "class-lru-mutex": try visitor.visit(ClassLRU<Key, Value, MutexGuard<Nodes>>.self)
  case "class-lru-nslock": try visitor.visit(ClassLRU<Key, Value, NSLockGuard<Nodes>>.self)
  case "index-lru-mutex": try visitor.visit(IndexLRU<Key, Value, MutexGuard<List>>.self)
  case "index-lru-nslock": try visitor.visit(IndexLRU<Key, Value, NSLockGuard<List>>.self)
  default: throw Failure("this program has no variant '\(variant)'")
  }
}
