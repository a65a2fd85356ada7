// SPDX-License-Identifier: MIT
// openai.mjs -- scenes with OpenAI's client. usage: node openai.mjs NPM_FOLDER [SCENE…]

import { load, ofError, play, schema, tools, wanted } from "./scenes.mjs";

const OpenAI = load("openai");
const client = new OpenAI();

function asks(text, more) {
  return { model: "m-2", messages: [{ role: "user", content: text }], ...more };
}

function responds(text, more) {
  return { model: "m-3", input: [{ role: "user", content: text }], store: false, ...more };
}

const functions = Object.keys(tools).map((name) => ({ name, description: `The tool ${name}.`, parameters: schema }));
const described = functions.map((one) => ({ type: "function", function: one }));

await play({
  // The helper puts the completion together.
  stream: async () => {
    const heard = [];
    const stream = client.chat.completions.stream(asks("stream", { tools: described,
                                                                   stream_options: { include_usage: true } }));
    for (const kind of ["content", "message", "tool_calls.function.arguments.done"])
      stream.on(kind, (...told) => heard.push([kind, told]));
    return { whole: await stream.finalChatCompletion(), heard };
  },

  // The client calls the tools by itself, and asks on with their results.
  tools: async () => {
    const own = functions.map((one) => ({ type: "function",
                                          function: { ...one, function: tools[one.name], parse: JSON.parse } }));
    const runner = client.chat.completions.runTools(asks("tools", { stream: true, tools: own }));
    return { last: await runner.finalContent(), all: runner.messages };
  },

  create: async () => {
    const { data, response, request_id } = await client.chat.completions.create(asks("create")).withResponse();
    return { data, request_id, left: response.headers.get("x-ratelimit-remaining") };
  },

  chunks: async () => {
    const heard = [];
    for await (const one of await client.chat.completions.create(asks("chunks", { stream: true }))) heard.push(one);
    return heard;
  },

  // The other API: the same with items, until no function is called.
  responses: async () => {
    const body = responds("responses", { include: ["reasoning.encrypted_content"],
                                         tools: functions.map((f) => ({ type: "function", strict: false, ...f })) });
    for (;;) {
      const whole = await client.responses.stream(body).finalResponse();
      body.input.push(...whole.output);
      const calls = whole.output.filter((item) => item.type === "function_call");
      if (!calls.length) return { input: body.input, text: whole.output_text, usage: whole.usage };
      body.input.push(...calls.map((call) => ({ type: "function_call_output", call_id: call.call_id,
                                                output: tools[call.name](JSON.parse(call.arguments)) })));
    }
  },

  // The conversation is left to the API, and goes on by the id of its last reply.
  chain: async () => {
    const texts = [];
    let body = responds("chain", { store: true });
    for (;;) {
      const whole = await client.responses.create(body);
      texts.push(whole.output_text);
      const calls = whole.output.filter((item) => item.type === "function_call");
      if (!calls.length) return texts;
      const results = calls.map((call) => ({ type: "function_call_output", call_id: call.call_id, output: "ok" }));
      body = { model: "m-3", store: true, previous_response_id: whole.id, input: results };
    }
  },

  items: async () => {
    const heard = [];
    for await (const e of await client.responses.create(responds("items", { stream: true }))) heard.push(e);
    return heard;
  },

  response: async () => (await client.responses.create(responds("response"))).output_text,

  models: async () => {
    const found = [];
    for await (const one of client.models.list()) found.push(one);
    return found;
  },

  // Asked for in base 64, and given as numbers.
  embeddings: () => client.embeddings.create({ model: "m-4", input: ["embeddings", "two"] }),

  // The client tries again by itself: 429, 500, and then an answer.
  retry: () => client.chat.completions.create(asks("retry")),

  refused: () => client.chat.completions.create(asks("refused")),

  busy: () => client.chat.completions.create(asks("busy"), { maxRetries: 0 }),

  // The stream tells of an error in its midst.
  fails: async () => {
    const heard = [];
    try {
      for await (const one of await client.chat.completions.create(asks("fails", { stream: true }))) heard.push(one);
    } catch (e) {
      return { heard, ...ofError(e) };
    }
    return { heard };
  },

  abort: async () => {
    const controller = new AbortController();
    const heard = [];
    const body = asks("abort", { stream: true });
    for await (const one of await client.chat.completions.create(body, { signal: controller.signal })) {
      heard.push(one);
      if (one.choices[0].delta.content) controller.abort(); // nothing follows it
    }
    return { heard, aborted: controller.signal.aborted };
  },

  // It is asked for by name only, where it was never recorded.
  ...(wanted.includes("none") && { none: () => client.chat.completions.create(asks("none")) }),
});
