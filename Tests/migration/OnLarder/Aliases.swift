// SPDX-License-Identifier: Apache-2.0
import LarderObjects

// All that a program adds to run on Larder.
typealias NSCache = ObjectCache
typealias NSCacheDelegate = ObjectCacheDelegate
typealias NSDiscardableContent = DiscardableContent
