// SPDX-License-Identifier: Apache-2.0
// FOLDER: which cores count on machines that are made up in it, as /sys describes them.
#include "runtime/device/cpu/Cores.h"
#include "test/runtime/RuntimeChecks.h"

#include <filesystem>
#include <fstream>

namespace talc::test {
namespace {

struct Processor {
  int core;
  const char *file, *speed;  // what says how fast it is; null: nothing
};

bool check(const std::string &folder, const std::vector<Processor> &machine, int32_t expected, const char *what) {
  std::filesystem::remove_all(folder);
  std::vector<int> numbers;
  for (const Processor &processor : machine) {
    auto number = static_cast<int>(numbers.size());
    std::string cpuFolder = folder + "/cpu" + std::to_string(number);
    std::filesystem::create_directories(cpuFolder + "/topology");
    std::filesystem::create_directories(cpuFolder + "/cpufreq");
    std::ofstream(cpuFolder + "/topology/physical_package_id") << "0\n";
    std::ofstream(cpuFolder + "/topology/core_id") << processor.core << "\n";
    if (processor.file)
      std::ofstream(cpuFolder + "/" + processor.file) << processor.speed << "\n";
    numbers.push_back(number);
  }
  int32_t coreCount = fastCores(numbers, folder);
  return expect(coreCount == expected, std::string(what) + ": " + std::to_string(coreCount) + " cores");
}

}  // namespace

bool checkCores(const Arguments &arguments) {
  const std::string &folder = arguments.at(0);
  constexpr const char *capacity = "cpu_capacity", *frequency = "cpufreq/cpuinfo_max_freq";
  Processor little = {0, capacity, "446"}, big = {4, capacity, "1024"}, middle = {6, capacity, "871"};
  bool good = check(folder, {little, {1, capacity, "446"}, big, {5, capacity, "1024"}}, 2, "big and little cores");
  good &= check(folder, {little, middle, big}, 2, "a core that is nearly as fast");
  good &= check(folder, {little, {1, capacity, "446"}}, 2, "little cores alone");
  good &= check(folder, {{0, frequency, "5100000"}, {0, frequency, "5100000"}, {1, frequency, "3900000"}}, 1,
                "two threads of a fast core, and a slow core by its frequency");
  good &= check(folder, {{0, frequency, "5800000"}, {1, frequency, "5500000"}}, 2, "cores with a favourite");
  good &= check(folder, {{0, nullptr, nullptr}, {0, nullptr, nullptr}, {1, nullptr, nullptr}}, 2, "unknown speeds");
  good &= check(folder, {{0, nullptr, nullptr}, {1, capacity, "1024"}}, 2, "a speed of one core only");
  good &= expect(fastCores({0, 1}, folder + "/none") == 2, "no description");
  return good;
}

}  // namespace talc::test
