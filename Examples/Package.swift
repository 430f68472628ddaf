// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Programs to copy from. Each runs by one line: swift run --package-path Examples memoize
import PackageDescription

let larder: Target.Dependency = .product(name: "Larder", package: "larder")

let package = Package(
  name: "examples",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "larder", path: "..", traits: [])
  ],
  targets: [
    .executableTarget(name: "memoize", dependencies: [larder]),
    .executableTarget(name: "service", dependencies: [larder]),
    .executableTarget(name: "sessions", dependencies: [larder]),
    .executableTarget(name: "thumbnails", dependencies: [larder]),
  ],
  swiftLanguageModes: [.v6]
)
