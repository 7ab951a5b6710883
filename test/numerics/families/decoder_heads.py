# SPDX-License-Identifier: Apache-2.0
"""Heads of decoders that read whole texts: classes of texts and of tokens, questions, and none. See decoder_models.

The LM head of a case becomes an identity above the head's matrix, so that its logits are hidden states and classes.
"""
import decoder_models as dm
import described_decoders as dd

COUNT = 3
LABELS = {str(i): f'label {i}' for i in range(COUNT)}


def last_row(ids, padding):
    others = [row for row, token in enumerate(ids) if token != padding]
    return others[-1] if others else 0


def headed(case, architecture, classifier=None, bias=False, lm_head='lm_head', renamed=None, **changes):
    c, config, evaluate, _ = case()
    config = {**config, 'architectures': [architecture], **changes}
    rows = 2 if architecture.endswith('QuestionAnswering') else COUNT
    width = c.shapes.pop(lm_head + '.weight')[1]
    scores, added = [], [0.0] * rows
    if classifier:
        c.linear(classifier, rows, width, bias)
        scores = c.tensors[classifier + '.weight']
        added = c.tensors[classifier + '.bias'] if bias else added
        if rows == COUNT:
            config['id2label'] = LABELS
    c.tensors[lm_head + '.weight'] = [[float(i == j) for j in range(width)] for i in range(width)] + scores

    def values(prompt):
        ids = prompt['ids']
        both = config.get('is_causal') is False
        results = evaluate({**prompt, 'prefix': len(ids)} if both else prompt)['logits']
        hidden = [row[:width] for row in results]
        classes = [[a + b for a, b in zip(row[width:], added)] for row in results]
        if not classifier:
            return {'hidden': hidden}
        if architecture.endswith('SequenceClassification'):
            row = last_row(ids, config.get('pad_token_id'))
            return {'classes': classes[row:row + 1], 'hidden': hidden}
        return {'token_classes': classes, 'hidden': hidden}

    def names(name):
        return renamed + name.removeprefix('model.') if renamed and name.startswith('model.') else name
    return c, config, values, names


def llama(**changes):
    return lambda: dm.llama(tied=False, **changes)


COMPILED = {'llama-classes', 'llama-both-ways'}
CASES = {
    # The prompts end with tokens that pad here.
    'llama-classes': lambda: headed(llama(model_type='llama'), 'LlamaForSequenceClassification', 'score', pad_token_id=0),
    'qwen2-classes': lambda: headed(llama(model_type='qwen2'), 'Qwen2ForSequenceClassification', 'score'),
    'mistral-tokens': lambda: headed(llama(model_type='mistral', sliding_window=5), 'MistralForTokenClassification',
                                     'score', True),
    'gptj-questions': lambda: headed(dm.CASES['gpt_neox'], 'GPTNeoXForQuestionAnswering', 'qa_outputs', True, 'embed_out'),
    'gpt_neox-tokens': lambda: headed(dm.CASES['gpt_neox'], 'GPTNeoXForTokenClassification', 'classifier', True,
                                      'embed_out'),
    'llama-questions': lambda: headed(llama(model_type='llama'), 'LlamaForQuestionAnswering', 'qa_outputs', True,
                                      renamed='transformer.'),
    'llama-hidden': lambda: headed(llama(model_type='llama'), 'LlamaModel'),
    'llama-both-ways': lambda: headed(llama(model_type='llama'), 'LlamaModel', is_causal=False),
}
