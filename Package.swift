// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Concurrency contracts of the C core are part of its types: breaking one is a compile error.
let coreSettings: [CSetting] = [
  .define("LRD_JEMALLOC", .when(traits: ["Jemalloc"])),
  .define("LRD_DEBUG", .when(configuration: .debug)),
  .enableWarning("thread-safety"), .treatWarning("thread-safety", as: .error),
  .enableWarning("function-effects"), .treatWarning("function-effects", as: .error),
]

// Headers that only the core itself includes lie beside their sources, in its rooms.
let rooms = [
  "store", "reclaim", "shard", "policies", "policies/adaptive", "writes", "background", "pressure",
]

let package = Package(
  name: "Larder",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "larder", type: .dynamic, targets: ["CLarderABI"]),
    .library(name: "LarderObjects", targets: ["LarderObjects"]),
  ],
  traits: [
    .default(enabledTraits: ["Jemalloc"]),
    .trait(
      name: "Jemalloc",
      description:
        "Link jemalloc, which replaces malloc for the whole process. Sanitizers need it off."
    ),
  ],
  targets: [
    .systemLibrary(
      name: "CJemalloc", path: "CSupport/CJemalloc", pkgConfig: "jemalloc",
      providers: [.apt(["libjemalloc-dev"]), .brew(["jemalloc"])]),
    .target(
      name: "CLarder",
      dependencies: [.target(name: "CJemalloc", condition: .when(traits: ["Jemalloc"]))],
      path: "CSupport/CLarder", cSettings: coreSettings + rooms.map { .headerSearchPath($0) }),
    .target(
      name: "CLarderABI", dependencies: ["CLarder"], path: "CSupport/CLarderABI",
      cSettings: coreSettings),
    .target(name: "CMemory", path: "CSupport/CMemory"),
    .target(name: "Larder", dependencies: ["CLarder", "CMemory"]),
    .target(name: "CPurgeable", path: "CSupport/CPurgeable"),
    .target(name: "LarderObjects", dependencies: ["Larder", "CPurgeable"]),
    .target(
      name: "LarderTestSupport", dependencies: ["Larder"], path: "Tests/LarderTestSupport"),
    .target(
      name: "CLarderTestSupport", dependencies: ["CLarder"], path: "Tests/CLarderTestSupport",
      cSettings: rooms.map { .headerSearchPath("../../CSupport/CLarder/\($0)") }),
    .testTarget(
      name: "CLarderTests",
      dependencies: ["Larder", "CLarder", "CMemory", "CLarderTestSupport", "LarderTestSupport"]),
    .testTarget(
      name: "LarderTests", dependencies: ["Larder", "CLarder", "LarderTestSupport"]),
    .testTarget(
      name: "LarderObjectsTests", dependencies: ["Larder", "LarderObjects", "LarderTestSupport"]),
  ],
  swiftLanguageModes: [.v6]
)
