// SPDX-License-Identifier: Apache-2.0
// The checked tables of a Training section, and the copies that they describe.
#pragma once

#include "runtime/artifact/Artifact.h"
#include "runtime/training/TrainingFormat.h"

#include <string_view>
#include <vector>

namespace talc {

class TrainingTables {
public:
  // Checks that every tile lies inside what it copies from and to. `weightFloats`: of the weights that steps read.
  Status open(const Artifact &file, uint64_t weightFloats);

  const artifact::TrainingHeader &header() const { return head; }
  const std::vector<artifact::TrainingMatrix> &parameters() const { return parameterList; }
  const std::vector<artifact::TrainingMatrix> &weights() const { return weightList; }
  const std::vector<artifact::TrainingTensor> &tensors() const { return tensorList; }
  std::string_view tensorName(size_t index) const;
  size_t tensorSize(size_t index) const;

  // Rows [begin, end) of a weight from an area of parameters, and the other way round.
  void storeWeight(const artifact::TrainingMatrix &weight, uint64_t begin, uint64_t end, const float *area,
                   float *weights) const;
  void loadWeight(const artifact::TrainingMatrix &weight, const float *weights, float *area) const;

  // A tensor of the checkpoint from an area of parameters or of the same layout, and the other way round.
  // `isParameter`: parameters may be tensors plus a number.
  void readTensor(size_t index, const float *area, bool isParameter, float *tensor) const;
  void writeTensor(size_t index, const float *tensor, bool isParameter, float *area) const;

private:
  Status damaged(const Artifact &file) const;
  bool readTables(const unsigned char *bytes, uint64_t size);
  bool areTensorsSound() const;
  bool isSound(const artifact::TrainingMatrix &matrix, uint64_t end, bool isParameter) const;
  template <typename Copy> void eachElement(size_t tensor, Copy copy) const;

  artifact::TrainingHeader head = {};
  std::vector<artifact::TrainingMatrix> parameterList, weightList;
  std::vector<artifact::TrainingTensor> tensorList;
  std::vector<artifact::TrainingTile> tiles;
  std::string_view names;
};

}  // namespace talc
