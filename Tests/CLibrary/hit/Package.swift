// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The inlined Swift path of Tests/CLibrary/hit/run. Without jemalloc, like the C library.
let package = Package(
  name: "hit",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Larder", path: "../../..", traits: [])],
  targets: [
    .executableTarget(name: "hit", dependencies: [.product(name: "Larder", package: "Larder")])
  ],
  swiftLanguageModes: [.v6]
)
