// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderTestSupport

#if canImport(Glibc)
  import Glibc

  /// A directory that stands for the root of the file system. It is removed when the process ends.
  struct FakeRoot {
    let path: String

    private static let made = Protected<[String]>([])
    private static let removal: Int32 = atexit {
      for path in FakeRoot.made.withLock({ $0 }) {
        try? FileManager.default.removeItem(atPath: path)
      }
    }

    init() {
      var template = Array("/tmp/larder-root-XXXXXX".utf8CString)
      let path = String(cString: mkdtemp(&template)!)
      precondition(Self.removal == 0)
      Self.made.withLock { $0.append(path) }
      self.path = path
    }

    /// Writes a file, or takes it away if there is no text.
    func set(_ name: String, _ text: String?) {
      let file = path + "/" + name
      guard let text else {
        unlink(file)
        return
      }
      var folder = path
      for part in name.split(separator: "/").dropLast() {
        folder += "/" + part
        mkdir(folder, 0o755)
      }
      let new = open(file + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
      precondition(new >= 0 && write(new, text, text.utf8.count) == text.utf8.count)
      close(new)
      rename(file + ".new", file)
    }

    func stalls(_ name: String, some: String, full: String = "0.00") {
      set(
        name,
        "some avg10=\(some) avg60=0.00 avg300=0.00 total=1\n"
          + "full avg10=\(full) avg60=0.00 avg300=0.00 total=1\n")
    }

    func memory(available: Int) {
      set("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 5 kB\nMemAvailable:  \(available) kB\n")
    }

    /// A group within one that has a limit of 1,000,000.
    func group(version: Int = 2, used: Int, idle: Int = 0) {
      if version == 1 {
        let files = "sys/fs/cgroup/memory/a/"
        set(files + "b/memory.limit_in_bytes", "9223372036854771712\n")
        set(files + "memory.limit_in_bytes", "1000000\n")
        set(files + "memory.usage_in_bytes", "\(used)\n")
        set(files + "memory.stat", "cache 1\ninactive_file 7\ntotal_inactive_file \(idle)\n")
        set("proc/self/cgroup", "7:blkio,memory:/a/b\n0::/\n")
      } else {
        set("sys/fs/cgroup/a/b/memory.pressure", "")
        set("sys/fs/cgroup/a/memory.pressure", "")
        set("sys/fs/cgroup/a/b/memory.max", "max\n")
        set("sys/fs/cgroup/a/memory.max", "1000000\n")
        set("sys/fs/cgroup/a/memory.high", "max\n")
        set("sys/fs/cgroup/a/memory.current", "\(used)\n")
        set("sys/fs/cgroup/a/memory.stat", "anon 1\nfile 9\ninactive_file \(idle)\n")
        set("proc/self/cgroup", "0::/a/b\n")
      }
    }
  }
#endif
