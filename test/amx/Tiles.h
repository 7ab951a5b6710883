// SPDX-License-Identifier: Apache-2.0
// The registers of AMX, and what its instructions do to them. Source: Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 2, the pages of the instructions.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace amx {

constexpr int registers = 8, mostRows = 16, rowBytes = 64;

using Bytes = std::array<uint8_t, rowBytes>;

struct Tile {
  std::array<Bytes, mostRows> row{};

  template <typename T> T at(int r, int i) const {
    T value;
    memcpy(&value, row[r].data() + i * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void set(int r, int i, T value) { memcpy(row[r].data() + i * sizeof(T), &value, sizeof(T)); }
};

struct Shape {
  int rows, bytes;  // of a row
};

enum class Product { SignedSigned, SignedUnsigned, UnsignedSigned, UnsignedUnsigned, Bf16 };

class Tiles {
public:
  // Null, or why the processor would refuse 64 bytes of configuration.
  const char *configure(const Bytes &from);
  Bytes configuration() const { return known; }
  void release() { *this = Tiles(); }

  bool isConfigured() const { return known[0] != 0; }
  Shape shape(int number) const;
  Tile &operator[](int number) { return tiles[number]; }

  // Null, or why the processor would refuse it.
  const char *multiply(Product product, int sums, int a, int b);

private:
  Bytes known{};  // the configuration as it was loaded
  std::array<Tile, registers> tiles;
};

}  // namespace amx
