// SPDX-License-Identifier: Apache-2.0

/// The requests of one ``Usage``.
struct UsageScript {
  /// What is counted by itself: a fill, or the final look at what is there.
  struct Part {
    let name: String
    /// Parts of one phase of a workload that turns into another belong together.
    let phase: Int
    let requests: Range<Int>
    let lookups: Int
    let kind: Kind

    enum Kind {
      case fill
      /// Neither a fill nor the last word.
      case between
      /// The final look. What it finds is what remains, and no hit.
      case look
    }
  }

  struct Settings {
    var limit: Int
    var fills = 10
    var turns = 3
    var rounds = 10
    var seed: UInt64 = 1
  }

  private(set) var keys: [UInt64] = []
  private(set) var actions: [Action] = []
  private(set) var parts: [Part] = []
  private let settings: Settings
  private let base: UInt64
  private var random: SeededGenerator
  private var stored = 0
  private var phase = 1

  init(_ usage: Usage, _ settings: Settings) {
    self.settings = settings
    base = scattered(settings.seed)
    random = SeededGenerator(seed: settings.seed)
    switch usage {
    case .storeThenRead: storeThenRead()
    case .sessions: sessions()
    case .stores: stores()
    case .scan: scan(isEarly: false)
    case .earlyScan: scan(isEarly: true)
    case .tiny: tiny()
    case .turningStoreThenRead: turning { $0.storeThenRead() }
    case .turningSessions: turning { $0.sessions() }
    }
  }

  /// At most so many requests, to be compared with the machine's memory.
  static func mostRequests(_ usage: Usage, _ settings: Settings) -> Int {
    let fill = 6.0 * Double(settings.limit)
    let phases =
      switch usage {
      case .turningStoreThenRead, .turningSessions: 2.0 * Double(settings.turns) + 1
      default: 1.0
      }
    return Int(min(1e15, fill * phases * Double(max(settings.fills, settings.rounds) + 4)))
  }

  // MARK: Workloads

  private mutating func storeThenRead() {
    for _ in 0..<settings.fills {
      part("store-then-read") { script in
        for _ in 0..<script.settings.limit {
          script.add(.store, script.stored)
          script.add(.lookUp, script.stored - script.settings.limit / 3)
          script.stored += 1
        }
      }
    }
  }

  private mutating func sessions() {
    let span = max(1, settings.limit / 4)
    // The keys that are due for a lookup after each of the next stores.
    var due = [[Int]](repeating: [], count: span + 1)
    for _ in 0..<settings.fills {
      part("sessions") { script in
        for _ in 0..<script.settings.limit {
          for _ in 0..<5 {
            let store = script.stored + Int.random(in: 1...span, using: &script.random)
            due[store % due.count].append(script.stored)
          }
          script.add(.store, script.stored)
          let now = script.stored % due.count
          for key in due[now] { script.add(.lookUp, key) }
          due[now].removeAll(keepingCapacity: true)
          script.stored += 1
        }
      }
    }
  }

  private mutating func stores() {
    for _ in 0..<settings.fills {
      part("stores") { script in
        for _ in 0..<script.settings.limit {
          script.add(.store, script.stored)
          script.stored += 1
        }
      }
    }
    look(at: stored - settings.limit / 2..<stored)
  }

  private mutating func scan(isEarly: Bool) {
    let hot = 0..<max(1, settings.limit * 4 / 5)
    if !isEarly {
      part("others", .between) { script in
        for number in 0..<script.settings.limit { script.add(.store, 1 << 40 + number) }
      }
    }
    for _ in 0..<(isEarly ? 2 : settings.rounds) {
      part("hot", .between) { script in
        for number in hot { script.add(.readThrough, number) }
      }
    }
    part("scan", .between) { script in
      for number in 0..<2 * script.settings.limit { script.add(.readThrough, hot.count + number) }
    }
    look(at: hot)
  }

  private mutating func tiny() {
    let count = 3 * settings.limit + 1
    part("stores", .between) { script in
      for number in 0..<count { script.add(.store, number) }
    }
    // Each by itself, so that the answer names them.
    for number in 0..<count { look(at: number..<number + 1) }
  }

  /// A workload that turns into read-through and back.
  private mutating func turning(_ usage: (inout Self) -> Void) {
    usage(&self)
    let sampler = ZipfSampler(keys: 10 * settings.limit)
    for turn in 0..<settings.turns {
      phase += 1
      for fill in 0..<settings.fills {
        let seed = scattered(settings.seed &+ UInt64(1 + turn * settings.fills + fill))
        // About a fifth of them miss, and is stored.
        let ranks = sampler.ranks(count: 5 * settings.limit, seed: seed)
        part("read-through") { script in
          for rank in ranks { script.add(.readThrough, 1 << 40 + rank) }
        }
      }
      phase += 1
      usage(&self)
    }
  }

  // MARK: Writing

  private mutating func add(_ action: Action, _ number: Int) {
    keys.append(scattered(base &+ UInt64(bitPattern: Int64(number))))
    actions.append(action)
  }

  private mutating func part(
    _ name: String, _ kind: Part.Kind = .fill, _ write: (inout Self) -> Void
  ) {
    let start = keys.count
    write(&self)
    let lookups = actions[start...].reduce(0) { $0 + ($1 == .store ? 0 : 1) }
    parts.append(
      Part(
        name: name, phase: phase, requests: start..<keys.count, lookups: lookups, kind: kind))
  }

  private mutating func look(at numbers: Range<Int>) {
    part("look", .look) { script in
      for number in numbers { script.add(.lookUp, number) }
    }
  }
}
