// SPDX-License-Identifier: Apache-2.0
// LIBRARY: a shared library that carries an artifact opens it by itself, also after the working directory changed.
#include "runtime/talc.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace talc::test {

using OpenFunction = talc_status (*)(const talc_open_options *, talc_model **, talc_error *);

bool checkLibrary(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  size_t slash = path.rfind('/');
  if (!expect(slash != std::string::npos && chdir(path.substr(0, slash).c_str()) == 0, "enter the folder"))
    return false;
  void *library = dlopen(("./" + path.substr(slash + 1)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!expect(library && chdir("/") == 0, library ? "leave the folder" : dlerror()))
    return false;
  auto open = reinterpret_cast<OpenFunction>(dlsym(library, "fake_open"));
  auto close = reinterpret_cast<decltype(&talc_model_close)>(dlsym(library, "talc_model_close"));
  auto getInfo = reinterpret_cast<decltype(&talc_model_get_info)>(dlsym(library, "talc_model_get_info"));
  talc_model *model = nullptr;
  talc_error error = {};
  talc_model_info info = {};
  bool good = expect(open && close && getInfo, "exported functions") &&
              expect(open(nullptr, &model, &error) == TALC_OK, error.text) &&
              expect(getInfo(model, &info, nullptr) == TALC_OK && strcmp(info.name, "fake") == 0, "model info");
  if (close)
    close(model);
  return good;
}

}  // namespace talc::test
