// SPDX-License-Identifier: Apache-2.0
// CONTRACT of everything that reads words of users: suggests what a mistyped word may have meant, the same everywhere.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace talc {

// The number of letters to insert, drop, change or swap with their neighbors until one word is the other (Damerau,
// Levenshtein).
inline size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> before, last(to.size() + 1), row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (from[i - 1] != to[j - 1])});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

// Returns the shortest candidate that begins with these letters, if they are more than two, or null.
inline const std::string *completion(std::string_view letters, const std::vector<std::string> &candidates) {
  const std::string *shortest = nullptr;
  for (const std::string &candidate : candidates)
    if (candidate.compare(0, letters.size(), letters) == 0 && (!shortest || candidate.size() < shortest->size()))
      shortest = &candidate;
  size_t dashes = std::min(letters.find_first_not_of('-'), letters.size());
  return letters.size() - dashes > 2 ? shortest : nullptr;
}

// Returns " (did you mean 'this'?)" for the nearest candidate, or else for one that begins like the word; empty if
// there is none.
inline std::string suggestion(std::string_view word, const std::vector<std::string> &candidates) {
  size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  size_t best = std::max<size_t>(letters / 3, 1) + 1;
  const std::string *nearest = nullptr;
  for (const std::string &candidate : candidates)
    if (size_t distance = editDistance(word, candidate); distance < best && distance < candidate.size()) {
      best = distance;
      nearest = &candidate;
    }
  if (!nearest)
    nearest = completion(word, candidates);
  return nearest ? " (did you mean '" + *nearest + "'?)" : "";
}

}  // namespace talc
