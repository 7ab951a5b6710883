// SPDX-License-Identifier: Apache-2.0
// Writes a checkpoint of Hugging Face: model.safetensors (https://github.com/huggingface/safetensors) and the files
// that were beside the tensors when the model was compiled. A file appears under its name when it is complete.
#include "runtime/training/Trainer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace talc {

using namespace artifact;

namespace {

// A file with `.partial` behind its name until it is finished.
class CheckpointWriter {
public:
  explicit CheckpointWriter(std::string path) : path(std::move(path)), file(fopen(partial().c_str(), "wb")) {}
  CheckpointWriter(const CheckpointWriter &) = delete;
  ~CheckpointWriter() {
    if (!file)
      return;
    fclose(file);
    remove(partial().c_str());
  }

  bool write(const void *bytes, size_t count) { return file && fwrite(bytes, 1, count, file) == count; }
  bool finish() {
    if (!file || fflush(file) != 0 || fsync(fileno(file)) != 0)
      return false;
    FILE *complete = std::exchange(file, nullptr);
    if (fclose(complete) == 0 && rename(partial().c_str(), path.c_str()) == 0)
      return true;
    remove(partial().c_str());
    return false;
  }
  Status failure() const {
    return Status::failure(TALC_ERROR_OUTPUT, "%s: cannot be written: %s", path.c_str(), strerror(errno));
  }

private:
  std::string partial() const { return path + ".partial"; }

  std::string path;
  FILE *file;
};

std::string quote(std::string_view name) {
  std::string text = "\"";
  for (char c : name) {
    char escaped[8];
    snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned char>(c));
    if (static_cast<unsigned char>(c) < 0x20)
      text += escaped;
    else
      (text += c == '"' || c == '\\' ? "\\" : "") += c;
  }
  return text + "\"";
}

std::string makeHeader(const TrainingTables &tables) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}";
  size_t offset = 0;
  for (size_t i = 0; i < tables.tensors().size(); ++i) {
    const TrainingTensor &tensor = tables.tensors()[i];
    size_t end = offset + tables.tensorSize(i) * sizeof(float);
    header += "," + quote(tables.tensorName(i)) + ":{\"dtype\":\"F32\",\"shape\":[";
    for (uint32_t d = 0; d < tensor.rank; ++d)
      header += (d ? "," : "") + std::to_string(tensor.shape[d]);
    header += "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(end) + "]}";
    offset = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');  // aligns the values
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof(length)) + header;
}

Status writeFiles(const Artifact &artifact, const std::string &directory) {
  const Artifact::LocatedSection *section = artifact.find(SectionKind::Files);
  const unsigned char *bytes = section ? section->bytes : nullptr;
  uint64_t rest = section ? section->header.size : 0;
  Status damaged = Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'files' is damaged; compile the model again",
                                   artifact.name().c_str());
  while (rest > 0) {
    CheckpointFile entry;
    if (rest < sizeof(entry))
      return damaged;
    memcpy(&entry, bytes, sizeof(entry));
    rest -= sizeof(entry);
    if (entry.nameLength == 0 || entry.nameLength > rest || entry.size > rest - entry.nameLength)
      return damaged;
    std::string name(reinterpret_cast<const char *>(bytes) + sizeof(entry), entry.nameLength);
    if (name.find('/') != std::string::npos || name[0] == '.' || name.find('\0') != std::string::npos)
      return damaged;
    CheckpointWriter file(directory + "/" + name);
    if (!file.write(bytes + sizeof(entry) + entry.nameLength, entry.size) || !file.finish())
      return file.failure();
    bytes += sizeof(entry) + entry.nameLength + entry.size;
    rest -= entry.nameLength + entry.size;
  }
  return {};
}

}  // namespace

Status Trainer::save(const std::string &directory) const {
  if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
    return Status::failure(TALC_ERROR_OUTPUT, "%s: cannot be made: %s", directory.c_str(), strerror(errno));
  if (Status status = writeFiles(model.artifact(), directory); status.failed())
    return status;
  CheckpointWriter file(directory + "/model.safetensors");
  std::string header = makeHeader(trainingTables);
  if (!file.write(header.data(), header.size()))
    return file.failure();
  std::vector<float> values;
  for (size_t i = 0; i < trainingTables.tensors().size(); ++i) {
    values.assign(trainingTables.tensorSize(i), 0);
    read(i, TALC_PARAMETER, values.data());
    if (!file.write(values.data(), values.size() * sizeof(float)))
      return file.failure();
  }
  return file.finish() ? Status() : file.failure();
}

}  // namespace talc
