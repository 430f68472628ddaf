// SPDX-License-Identifier: Apache-2.0

/// How services use caches apart from read-through: workloads in which stores and lookups are told
/// apart, and hits are counted fill by fill. A fill is as many stores as the cache has room for.
enum Usage: String, Choice {
  /// Stores a key, then looks up the one stored a third of a fill earlier.
  case storeThenRead = "store-then-read"
  /// Each key is stored once and looked up five times within the next quarter of a fill.
  case sessions
  /// Stores and nothing else. Then: how many of the newest half fill are there?
  case stores
  /// In a cache full of others: hot keys for 80 % of the room, read through one after the other in
  /// several rounds; then one scan of twice the room, read through as well. Then: how many hot keys
  /// are there?
  case scan
  /// The hot keys fill the empty cache and are found once; then the same scan.
  case earlyScan = "early-scan"
  /// So few stores that their keys can be named: three fills and one. Then: which are there?
  case tiny
  case turningStoreThenRead = "turning-store-then-read"
  case turningSessions = "turning-sessions"
  static let what = "workload"

  var defaultLimit: Int { self == .tiny ? 3 : 1_000 }
}
