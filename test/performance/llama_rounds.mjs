// SPDX-License-Identifier: Apache-2.0
// Runs a GGUF model in llama.cpp once for every line on standard input, and prints how many seconds it took:
// node llama_rounds.mjs PACKAGES MODEL.gguf THREADS prompt|decode TOKENS PAST
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [packages, modelPath, threadText, kind, tokenText, pastText] = process.argv.slice(2);
const [threads, tokens, past] = [Number(threadText), Number(tokenText), Number(pastText)];
const { getLlama } = await import(pathToFileURL(`${packages}/node_modules/node-llama-cpp/dist/index.js`).href);
const llama = await getLlama({ gpu: false, build: 'never', maxThreads: threads, logLevel: 'error' });
const model = await llama.loadModel({ modelPath, gpuLayers: 0 });
const context = await model.createContext({
  contextSize: tokens + past + 8, batchSize: Math.max(tokens, past, 1), threads, flashAttention: true,
});
const sequence = context.getSequence();
const ids = (count) => Array.from({ length: count }, (_, i) => 300 + ((i * 7919) % 20000));

// Evaluates tokens and takes the likeliest next one: without asking for any, the library leaves out the logits.
async function evaluate(tokens) {
  const last = [tokens.at(-1), { generateNext: { token: true, options: { temperature: 0 } } }];
  await sequence.controlledEvaluate([...tokens.slice(0, -1), last]);
}

for await (const line of createInterface({ input: process.stdin })) {
  await sequence.clearHistory();
  if (past > 0) await sequence.evaluateWithoutGeneratingNewTokens(ids(past));
  const steps = kind === 'decode' ? ids(tokens).map((id) => [id]) : [ids(tokens)];
  const begin = performance.now();
  for (const step of steps) await evaluate(step);
  console.log(((performance.now() - begin) / 1e3).toFixed(9));
}
await llama.dispose();
