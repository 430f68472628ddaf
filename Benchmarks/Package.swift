// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Its own package, so that users of Larder never fetch or build any of this. Larder comes with its
// default traits: what is measured is what a user gets, jemalloc included.
let package = Package(
  name: "LarderBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Larder", path: "..")],
  targets: [
    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .target(name: "CBench"),
    .target(name: "CCallgrind"),
    .target(name: "PolicyFacts", dependencies: [.product(name: "Larder", package: "Larder")]),
    .executableTarget(
      name: "larder-bench",
      dependencies: [
        "CBench", "CZstd", "PolicyFacts", .product(name: "Larder", package: "Larder"),
      ]),
    .executableTarget(
      name: "larder-hit-probe", dependencies: [.product(name: "Larder", package: "Larder")]),
    .executableTarget(
      name: "larder-count-probe",
      dependencies: ["CCallgrind", "PolicyFacts", .product(name: "Larder", package: "Larder")]),
    .executableTarget(
      name: "larder-objects-bench",
      dependencies: [.product(name: "LarderObjects", package: "Larder")]),
  ],
  swiftLanguageModes: [.v6]
)
