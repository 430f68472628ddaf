// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

// All the lines that code written for Foundation's cache must add.
private typealias NSCache = ObjectCache
private typealias NSCacheDelegate = ObjectCacheDelegate

/// Code like that in programs that use `NSCache`. It must compile here, and do what it did.
@Suite("Existing code")
struct ExistingCodeTests {
  /// A subclass with setters of its own, as image libraries have it.
  private class MemoryCache: NSCache<NSString, NSNumber> {
    var log: [String] = []
    var count = 0  // members that `NSCache` does not have are free to use
    var allKeys: Set<String> = []

    override init() {
      super.init()
      name = "memory"
      totalCostLimit = 100
    }

    override var countLimit: Int {
      didSet { log.append("countLimit \(oldValue) -> \(countLimit)") }
    }

    override var totalCostLimit: Int {
      get { super.totalCostLimit }
      set {
        log.append("totalCostLimit \(newValue)")
        super.totalCostLimit = newValue
      }
    }

    override weak var delegate: (any NSCacheDelegate)? {
      didSet { log.append("delegate") }
    }

    override func object(forKey key: NSString) -> NSNumber? {
      log.append("get \(key)")
      return super.object(forKey: key)
    }

    override func setObject(_ obj: NSNumber, forKey key: NSString, cost g: Int) {
      super.setObject(obj, forKey: key, cost: g)
      count += 1
      allKeys.insert(key as String)
    }

    override func removeObject(forKey key: NSString) {
      log.append("remove \(key)")
      super.removeObject(forKey: key)
    }

    override func removeAllObjects() {
      log.append("clear")
      super.removeAllObjects()
    }
  }

  @Test("A subclass may override everything, and overrides are called")
  func subclassOverridesEverything() {
    let cache = MemoryCache()
    cache.countLimit = 2
    cache.setObject(1, forKey: "one")
    cache.setObject(2, forKey: "two", cost: 50)
    cache.delegate = nil
    #expect(cache.object(forKey: "one") == 1)
    cache.removeObject(forKey: "one")
    cache.removeAllObjects()
    #expect(cache.count == 2 && cache.allKeys == ["one", "two"])
    #expect(
      cache.log == [
        "totalCostLimit 100", "countLimit 0 -> 2", "delegate", "get one", "remove one", "clear",
      ])
    let base: NSCache<NSString, NSNumber> = cache
    _ = base.object(forKey: "zero")
    #expect(cache.log.last == "get zero")
    #expect(cache.isEqual(cache) && (cache as NSObject) is NSCache<NSString, NSNumber>)
  }

  /// Setters that keep what they get, do more than they should, and refuse.
  private final class Wilful: NSCache<NSString, NSNumber> {
    private var wanted = 0

    override var countLimit: Int {
      get { wanted }
      set {
        wanted = newValue
        removeAllObjects()
        setObject(newValue as NSNumber, forKey: "limit")
      }
    }

    override var totalCostLimit: Int {
      get { super.totalCostLimit }
      set { super.totalCostLimit = min(newValue, 10) }
    }

    override var name: String {
      get { super.name.uppercased() }
      set {}
    }

    override weak var delegate: (any NSCacheDelegate)? {
      get { nil }
      set { countLimit += 1 }
    }

    override var evictsObjectsWithDiscardedContent: Bool {
      get { false }
      set { super.evictsObjectsWithDiscardedContent = !newValue }
    }
  }

  @Test("A subclass's setters may do as they like, and the cache keeps its own limits")
  func wilfulSubclass() {
    let cache = Wilful()
    cache.countLimit = 2
    for number in 0..<50 as Range<Int> {
      cache.setObject(1, forKey: "\(number)" as NSString)
    }
    #expect(cache.countLimit == 2 && ObjectCacheContents(of: cache).count == 51)
    cache.totalCostLimit = 1_000
    for number in 0..<50 as Range<Int> {
      cache.setObject(1, forKey: "\(number)" as NSString, cost: 3)
    }
    #expect(cache.totalCostLimit == 10 && ObjectCacheContents(of: cache).totalCost == 9)
    cache.name = "ignored"
    #expect(cache.name == "")
    let store = Store()
    cache.delegate = store
    #expect(cache.delegate == nil && cache.object(forKey: "limit") == 3)
    cache.evictsObjectsWithDiscardedContent = true
    #expect(!cache.evictsObjectsWithDiscardedContent)
  }

  /// A wrapper with keys and values of any type, as in many tutorials.
  private final class AnyCache<Key: Hashable, Value> {
    private final class WrappedKey: NSObject {
      let key: Key
      init(_ key: Key) { self.key = key }
      override var hash: Int { key.hashValue }
      override func isEqual(_ object: Any?) -> Bool { (object as? WrappedKey)?.key == key }
    }

    private final class Entry {
      let value: Value
      init(_ value: Value) { self.value = value }
    }

    private let wrapped = NSCache<WrappedKey, Entry>()

    subscript(key: Key) -> Value? {
      get { wrapped.object(forKey: WrappedKey(key))?.value }
      set {
        guard let newValue else { return wrapped.removeObject(forKey: WrappedKey(key)) }
        wrapped.setObject(Entry(newValue), forKey: WrappedKey(key))
      }
    }
  }

  @Test("A wrapper for values of any type works")
  func wrapperForAnyValue() {
    let cache = AnyCache<String, [Int]>()
    cache["a"] = [1, 2]
    cache["b"] = [3]
    cache["b"] = nil
    #expect(cache["a"] == [1, 2] && cache["b"] == nil)
  }

  /// An owner that is the delegate of its cache and tells it from others.
  private final class Store: NSObject, NSCacheDelegate {
    let images: NSCache<NSURL, NSData> = {
      let cache = NSCache<NSURL, NSData>()
      cache.countLimit = 1
      return cache
    }()
    let other = NSCache<AnyObject, AnyObject>()
    var evicted: [(isImage: Bool, Any)] = []

    override init() {
      super.init()
      images.delegate = self
      other.delegate = self
    }

    func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
      evicted.append((cache === images, obj))
    }
  }

  @Test("A delegate can tell its caches apart, and gets what it stored")
  func delegateTellsCachesApart() {
    let store = Store()
    let url = NSURL(string: "https://example.com/a")!
    let data = Data([1, 2, 3]) as NSData
    store.images.setObject(data, forKey: url)
    #expect(store.images.object(forKey: NSURL(string: "https://example.com/a")!) === data)
    store.images.setObject(NSData(), forKey: NSURL(string: "https://example.com/b")!)
    store.other.setObject("x" as NSString, forKey: 1 as NSNumber)
    store.other.removeAllObjects()
    #expect(store.evicted.map(\.isImage) == [true, false])
    #expect((store.evicted.first?.1 as? NSData) === data)
    #expect((store.evicted.last?.1 as? NSString) == "x")
  }

  @Test("A delegate may go on using the cache it is shown")
  func shownCache() {
    final class Refilling: NSObject, NSCacheDelegate {
      func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
        guard cache.object(forKey: "evicted" as NSString) == nil else { return }
        cache.setObject(obj as AnyObject, forKey: "evicted" as NSString)
      }
    }
    let refilling = Refilling()
    let cache = MemoryCache()
    cache.delegate = refilling
    cache.setObject(7, forKey: "a")
    cache.removeObject(forKey: "a")
    #expect(cache.object(forKey: "evicted") == 7)
    #expect(cache.log.contains("get evicted"), "overrides are reached through the untyped cache")
  }

  /// A function that takes any such cache.
  private func fill<Key: AnyObject, Object: AnyObject>(
    _ cache: NSCache<Key, Object>, _ pairs: [(Key, Object)]
  ) -> Int {
    for (key, object) in pairs { cache.setObject(object, forKey: key, cost: 1) }
    return pairs.count { cache.object(forKey: $0.0) === $0.1 }
  }

  @Test("Generic code takes caches of strings, numbers and own classes")
  func genericCode() {
    #expect(fill(NSCache<NSString, NSNumber>(), [("a", 1), ("b", 2)]) == 2)
    #expect(fill(NSCache<NSNumber, NSObject>(), [(1, NSObject()), (2, NSObject())]) == 2)
    #expect(fill(NSCache<NumberedKey, PlainKey>(), [(NumberedKey(1), PlainKey(1))]) == 1)
    #expect(fill(NSCache<AnyObject, AnyObject>(), [("a" as NSString, PlainKey(1))]) == 1)
  }
}
