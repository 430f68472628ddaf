// SPDX-License-Identifier: Apache-2.0

/// The implementations that can be compared, by the names used on the command line.
enum Implementation: String, CaseIterable {
  case larder
  case nscache
  case classLRU = "class-lru"
  case classLRUMutex = "class-lru-mutex"
  case indexLRU = "index-lru"
  case indexLRUNSLock = "index-lru-nslock"
  case dictionary
  case dictionaryNSLock = "dictionary-nslock"

  init(named name: String) throws {
    guard let known = Self(rawValue: name) else {
      let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure("unknown implementation '\(name)'; there are \(names)")
    }
    self = known
  }

  var title: String {
    switch self {
    case .larder: "Larder"
    case .nscache: "NSCache"
    case .classLRU: "class-node LRU, NSLock"
    case .classLRUMutex: "class-node LRU, Mutex"
    case .indexLRU: "index-linked LRU, Mutex"
    case .indexLRUNSLock: "index-linked LRU, NSLock"
    case .dictionary: "Dictionary, Mutex (no eviction)"
    case .dictionaryNSLock: "Dictionary, NSLock (no eviction)"
    }
  }

  /// Calls `visitor` with the type behind the name: the way from a word on the command line to
  /// code that is specialised for one implementation.
  func accept<Visitor: RivalVisitor>(_ visitor: Visitor) throws -> Visitor.Output {
    switch self {
    case .larder: try visitor.visit(LarderRival<UInt64, Payload>.self)
    case .nscache: try visitor.visit(NSCacheRival<UInt64, Payload>.self)
    case .classLRU: try visitor.visit(ClassLRUWithNSLock<Payload>.self)
    case .classLRUMutex: try visitor.visit(ClassLRUWithMutex<Payload>.self)
    case .indexLRU:
      try visitor.visit(IndexLRU<UInt64, Payload, MutexGuard<IndexList<UInt64, Payload>>>.self)
    case .indexLRUNSLock:
      try visitor.visit(IndexLRU<UInt64, Payload, NSLockGuard<IndexList<UInt64, Payload>>>.self)
    case .dictionary: try visitor.visit(DictionaryWithMutex<Payload>.self)
    case .dictionaryNSLock:
      try visitor.visit(DictionaryCache<UInt64, Payload, NSLockGuard<[UInt64: Payload]>>.self)
    }
  }
}

typealias ClassLRUWithNSLock<Value: Sendable> =
  ClassLRU<UInt64, Value, NSLockGuard<NodeList<UInt64, Value>>>
typealias ClassLRUWithMutex<Value: Sendable> =
  ClassLRU<UInt64, Value, MutexGuard<NodeList<UInt64, Value>>>
typealias DictionaryWithMutex<Value: Sendable> =
  DictionaryCache<UInt64, Value, MutexGuard<[UInt64: Value]>>

/// Generic work to be done with one implementation.
protocol RivalVisitor {
  associatedtype Output
  func visit<R: Rival>(_ type: R.Type) throws -> Output
  where R.Key == UInt64, R.Value == Payload
}
