// SPDX-License-Identifier: Apache-2.0
// Takes the SPIR-V of an artifact, and brings the weights to a card.
#include "runtime/device/vulkan/VulkanDevice.h"

#include "runtime/device/gpu/LoadModel.h"
#include "runtime/device/vulkan/VulkanModel.h"

#include <cstring>

namespace talc {

using namespace vulkan;

static const char *const family = "vulkan";

namespace {

class VulkanDevice final : public Device {
public:
  explicit VulkanDevice(std::shared_ptr<const Card> card) : card(std::move(card)) {}

  const char *name() const override { return card->name().c_str(); }
  Status load(const Artifact &file, const artifact::ModelInfo &facts, const UploadProgress &progress,
              std::unique_ptr<LoadedModel> &model) const override;

private:
  const std::shared_ptr<const Card> card;
};

}  // namespace

Status VulkanDevice::load(const Artifact &file, const artifact::ModelInfo &facts, const UploadProgress &progress,
                          std::unique_ptr<LoadedModel> &model) const {
  auto explain = [this](const artifact::CodeHeader &, const char *target) {
    return std::string("the code for ") + target + " needs more than " + card->name() + " (" +
           card->facts().description + ") has; compile it with another --target";
  };
  const CodeFamily codes = {family, [](const char *) { return false; }, explain, TALC_ERROR_DEVICE};
  return loadModel<VulkanModel>(card, codes, file, facts, progress, model);
}

static Status openDevice(int32_t number, std::shared_ptr<const Device> &device) {
  std::shared_ptr<const Card> card;
  if (Status status = Card::open(number, card); status.failed())
    return status;
  device = std::make_shared<VulkanDevice>(std::move(card));
  return {};
}

// A card of its own, else one that shares the processors' memory. A driver that runs on processors is no match for code
// that was made for them.
static Status choose(bool elseProcessors, int32_t &number) {
  const Driver *driver = nullptr;
  std::vector<CardFacts> cards;
  if (Status status = Driver::open(driver); status.failed())
    return status;
  if (Status status = readCards(*driver, cards); status.failed())
    return status;
  for (CardType type :
       {CardType::Discrete, CardType::Integrated, CardType::Virtual, CardType::Other, CardType::Processor})
    for (size_t i = 0; i < cards.size(); ++i)
      if (cards[i].type == type && cards[i].lack.empty() && !(elseProcessors && type == CardType::Processor)) {
        number = static_cast<int32_t>(i);
        return {};
      }
  return Status::failure(TALC_ERROR_DEVICE, "vulkan: no card can be used: %s %s", cards[0].description.c_str(),
                         cards[0].lack.empty() ? "runs on the processors" : cards[0].lack.c_str());
}

static void list(std::vector<DeviceFacts> &devices) {
  const Driver *driver = nullptr;
  std::vector<CardFacts> cards;
  Status status = Driver::open(driver);
  if (!status.failed())
    status = readCards(*driver, cards);
  if (status.failed())
    devices.push_back({"vulkan", "", 0, 0, status.text()});
  for (size_t i = 0; i < cards.size(); ++i)
    devices.push_back({"vulkan:" + std::to_string(i), cards[i].description, cards[i].memory,
                       availableMemory(*driver, cards[i]), cards[i].lack,
                       cards[i].type == CardType::Processor ? "software" : ""});
}

const DeviceKind &vulkanDevices() {
  static const DeviceKind kind = {"vulkan", [](const char *code) { return strcmp(code, family) == 0; }, list, choose,
                                  openDevice};
  return kind;
}

}  // namespace talc
