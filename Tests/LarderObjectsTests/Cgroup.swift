// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
  import Foundation

  /// A memory control group of the kernel with this process in it, so that a test can run short of
  /// memory alone. It takes root, and a writable file system of control groups.
  struct Cgroup {
    private let path: String
    private let root: String

    private static let roots = [
      (path: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes"),
      (path: "/sys/fs/cgroup", limit: "memory.max"),
    ]

    /// Whether this process may create one.
    static var isThere: Bool {
      guard let group = make(limit: 1 << 40) else { return false }
      return rmdir(group.path) == 0
    }

    private static func make(limit: Int) -> Cgroup? {
      for root in roots {
        let path = root.path + "/larder-tests-\(getpid())"
        guard mkdir(path, 0o755) == 0 else { continue }
        if write("\(limit)", to: path + "/" + root.limit) {
          return Cgroup(path: path, root: root.path)
        }
        rmdir(path)
      }
      return nil
    }

    private init(path: String, root: String) {
      self.path = path
      self.root = root
    }

    /// Moves this process into a new group that may use `limit` bytes more than nothing.
    init?(limit: Int) {
      guard let group = Self.make(limit: limit) else { return nil }
      self = group
      guard Self.write("\(getpid())", to: path + "/cgroup.procs") else {
        rmdir(path)
        return nil
      }
    }

    /// Moves this process back, and removes the group.
    func leave() {
      _ = Self.write("\(getpid())", to: root + "/cgroup.procs")
      rmdir(path)
    }

    private static func write(_ text: String, to path: String) -> Bool {
      guard let file = fopen(path, "w") else { return false }
      let written = fputs(text, file) >= 0
      return fclose(file) == 0 && written
    }
  }
#endif
