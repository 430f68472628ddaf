// SPDX-License-Identifier: Apache-2.0
// The sessions of a server: they end half an hour after the last visit, and after a working day in
// any case. Reads commands, one a line:
//
//     login NAME     begins a session, and prints its token
//     visit TOKEN    uses a session, which puts its end off
//     logout TOKEN   ends it
//     wait SECONDS   lets time pass, as a test of such a server would
//
//     printf 'login ann\nvisit ann-1\n' | swift run --package-path Examples sessions
import Larder

struct Session: Sendable {
  let user: String
}

// A server leaves the clock out. A test has one that it can move.
let clock = ManualClock()
let sessions = Cache<String, Session>(
  countLimit: 100_000, name: "sessions",
  expiration: Expiration(afterWrite: .seconds(8 * 3_600), afterAccess: .seconds(1_800)),
  options: .init(clock: .manual(clock)))

var logins = 0
while let line = readLine() {
  let words = line.split(separator: " ").map(String.init)
  switch (words.first, words.dropFirst().first) {
  case ("login", let user?):
    // A server draws tokens at random. These can be typed.
    logins += 1
    let token = "\(user)-\(logins)"
    sessions[token] = Session(user: user)
    print(token)
  case ("visit", let token?):
    print(sessions[token].map { "Hello \($0.user)." } ?? "Please log in.")
  case ("logout", let token?):
    print(sessions.removeValue(forKey: token) == nil ? "There is no session." : "Bye.")
  case ("wait", let seconds?):
    clock.advance(by: .seconds(max(0, Int(seconds) ?? 0)))
  default:
    print("login NAME, visit TOKEN, logout TOKEN or wait SECONDS")
  }
}
print("\(sessions.statistics.hits) visits, \(sessions.removeExpired()) sessions ended by time")
