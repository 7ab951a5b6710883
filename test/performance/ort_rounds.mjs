// SPDX-License-Identifier: Apache-2.0
// Runs an ONNX model in ONNX Runtime once for every line on standard input, and prints how many seconds it took:
// node ort_rounds.mjs PACKAGES MODEL.onnx THREADS [dimension=value ...]. With repeat=N a round is N runs.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [packages, model, threads, ...dimensions] = process.argv.slice(2);
const ort = createRequire(`${packages}/package.json`)('onnxruntime-node');
const sizes = Object.fromEntries(dimensions.map((text) => [text.split('=')[0], Number(text.split('=')[1])]));
const session = await ort.InferenceSession.create(model, {
  executionProviders: ['cpu'], intraOpNumThreads: Number(threads), interOpNumThreads: 1, graphOptimizationLevel: 'all',
});

function input({ name, type, shape }) {
  const dims = shape.map((size) => (typeof size === 'number' && size >= 0 ? size : sizes[size]));
  const length = dims.reduce((a, b) => a * b, 1);
  const value = (i) => (name === 'positions' ? i + (sizes.past ?? 0) : (i * 7919) % 30000);
  const data = type === 'int64' ? BigInt64Array.from({ length }, (_, i) => BigInt(value(i)))
    : Float32Array.from({ length }, (_, i) => ((i * 7919) % 2048) / 1024 - 1);
  return [name, new ort.Tensor(type, data, dims)];
}

const feeds = Object.fromEntries(session.inputMetadata.map(input));
for await (const line of createInterface({ input: process.stdin })) {
  const begin = performance.now();
  for (let i = 0; i < (sizes.repeat ?? 1); ++i) await session.run(feeds);
  console.log(((performance.now() - begin) / 1e3).toFixed(9));
}
