// SPDX-License-Identifier: Apache-2.0

/// A key whose hash says nothing. Every collider has the same hash, and only `==` tells them apart.
public struct Collider: Hashable, Sendable, CustomStringConvertible {
  public let id: Int

  public init(_ id: Int) { self.id = id }
  public func hash(into hasher: inout Hasher) {}
  public var description: String { "collider \(id)" }
}

/// A key with one of `groups` hashes, so that some keys collide and others do not.
public struct GroupedKey: Hashable, Sendable, CustomStringConvertible {
  public static let groups = 5
  public let id: Int

  public init(_ id: Int) { self.id = id }
  public func hash(into hasher: inout Hasher) { hasher.combine(id % Self.groups) }
  public var description: String { "grouped \(id)" }
}
