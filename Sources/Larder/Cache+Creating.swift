// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// Creates an empty cache with shards and observers beside the limits, where that reads better.
  ///
  ///     let files = Cache<String, File>(
  ///       countLimit: 100, onRemoval: { _, file, _, _ in file.close() })
  ///
  /// - Parameters:
  ///   - countLimit: The most entries the cache may hold, like all others as for
  ///     ``init(countLimit:totalCostLimit:policy:name:cost:expiration:options:file:line:)``.
  ///   - totalCostLimit: The most their costs may add up to.
  ///   - policy: How to choose what to evict.
  ///   - name: A name for people who debug the cache.
  ///   - shards: Takes the place of ``Options/shards``, unless it is `nil`.
  ///   - onRemoval: Takes the place of ``Options/onRemoval``, unless it is `nil`.
  ///   - onInsertion: Takes the place of ``Options/onInsertion``, unless it is `nil`.
  ///   - cost: Computes the cost of a value inserted without one.
  ///   - expiration: When entries expire.
  ///   - options: Everything else.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(`shards`). Traps if there is no memory for an empty cache.
  public convenience init(
    countLimit: Int = 0, totalCostLimit: Int = 0, policy: EvictionPolicy = .default,
    name: String = "", shards: Int? = nil, onRemoval: RemovalObserver? = nil,
    onInsertion: InsertionObserver? = nil, cost: CostFunction? = nil,
    expiration: Expiration = .never, options: Options = Options(),
    file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(
      countLimit: countLimit, totalCostLimit: totalCostLimit, policy: policy, name: name,
      cost: cost, expiration: expiration,
      options: options.with(shards: shards, onRemoval: onRemoval, onInsertion: onInsertion),
      file: file, line: line)
  }
}

extension Cache.Options {
  /// These options, with those of the arguments that are not `nil` in place of their own.
  func with(
    shards: Int?, onRemoval: Cache.RemovalObserver?, onInsertion: Cache.InsertionObserver?
  ) -> Self {
    var options = self
    options.shards = shards ?? self.shards
    options.onRemoval = onRemoval ?? self.onRemoval
    options.onInsertion = onInsertion ?? self.onInsertion
    return options
  }
}
