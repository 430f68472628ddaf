// SPDX-License-Identifier: Apache-2.0
// What the code in articles and comments takes for granted. Tests/check-dependency compiles it with
// that code, in which whatever matters to it is declared.
import Dispatch
import Foundation
import Larder
import LarderObjects

typealias ID = Int
struct Answer: Sendable {}
struct Page: Sendable {
  var visits = 0
  var bytes: [UInt8] = []
}
struct Price: Sendable {}
struct Session: Sendable {}
struct Token: Sendable { var secondsLeft = 60 }
struct User: Sendable {}
final class Model: Sendable {}
@MainActor final class View {}

struct File: Sendable {
  func close() {}
}

final class Image: Sendable {
  let width = 0
  let byteCount = 0
}

struct ImageKey: Hashable, Sendable {
  enum Kind: Hashable, Sendable { case profile, other }
  var kind: Kind
}

struct Layout: Sendable {
  let height: Int
  init(of number: NSNumber) throws { height = number.intValue }
}

final class Picture: DiscardableContent, Sendable {
  let pixels: [UInt8] = []
  let width = 0
  func rotate() {}
  func beginContentAccess() -> Bool { true }
  func endContentAccess() {}
  func discardContentIfPossible() {}
  func isContentDiscarded() -> Bool { false }
}

func elided() -> Never { fatalError("What the reader fills in is not run.") }
func expect(_ condition: Bool) { precondition(condition) }
func log(_ text: String) {}

func fetch(_ url: URL) throws -> Page { Page() }
func fetch(_ url: URL) async throws -> Page { Page() }
func fetch(_ symbol: String) async throws -> Price { Price() }
func fetch(_ ids: [Int]) throws -> [Int: User] { [:] }
func fetch(_ ids: [Int]) async throws -> [Int: User] { [:] }

func decode(_ file: NSURL) -> Data { Data() }
func draw(_ pixels: [UInt8], _ width: Int = 1) {}
func draw(_ pixels: UnsafeRawBufferPointer) {}
func measure(_ number: NSNumber) -> Int { 0 }

let answer = Answer()
let host = "example.com"
let icon = Image()
let id: ID = 7
let ids = [1, 2]
let image = Image()
let name = "kitten"
let new = Page()
let offer = Price()
let other = Image()
let page = Page()
let path = "/index"
let number = 7 as NSNumber
let address = url as NSURL
let queue = DispatchQueue(label: "release")
let request = Data()
let token = Token()
let url = URL(string: "https://example.com/kitten")!

let cache = Cache<String, Image>(countLimit: 100)
let counters = Cache<String, Int>(countLimit: 100)
let images = Cache<URL, Image>(countLimit: 100)
let pages = Cache<URL, Page>(countLimit: 100)
let pictures = Cache<String, Picture>(countLimit: 100)
let sessions = Cache<UInt64, Session>(countLimit: 100)
let thumbnails = Cache<String, Image>(countLimit: 100)
let tiles = Cache<Int, Image>(countLimit: 100)
let tokens = Cache<ID, Token>(countLimit: 100)
let users = Cache<Int, User>(countLimit: 100)
let site = LoadingCache<URL, Page>(countLimit: 100) { url in try await fetch(url) }
@MainActor let files = ObjectCache<NSURL, PurgeableData>()
@MainActor let layouts = ObjectCache<NSNumber, Discardable<Layout>>()
let cached = Picture()
@MainActor let lists = LocalCache<String, [Image]>(countLimit: 100)

@MainActor var metrics = (tooSmall: 0, tooLate: 0)
@MainActor var response = (headers: [String: String](), status: 200)
