// SPDX-License-Identifier: Apache-2.0
// The exception for what a kernel does wrong or this emulator does not know.
#pragma once

#include <stdexcept>
#include <string>

namespace talc::ptx {

class Fault : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// The PTX itself cannot be taken: a line of it is named.
class SyntaxFault final : public Fault {
public:
  SyntaxFault(int line, const std::string &text, const std::string &what)
      : Fault("line " + std::to_string(line) + ": " + what + ": " + text) {}
};

}  // namespace talc::ptx
