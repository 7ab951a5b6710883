// SPDX-License-Identifier: Apache-2.0
// The artifact that this program or library carries, once talc compile has put it there.
#pragma once

extern "C" __attribute__((visibility("hidden"))) const unsigned char talc_embedded_artifact[];
